"""Estimate and audit, as a person would use it."""

import pytest

import metricdp as mdp
from metricdp.studio.shipped import shipped_policy, shipped_table

pytestmark = pytest.mark.xdist_group("studio")


def test_the_story_of_a_released_table_and_a_broken_mechanism(visit, axe, tmp_path):
    released = tmp_path / "released.parquet"
    mdp.tables.sanitize(shipped_table().path, mdp.policies.Policy.parse(shipped_policy()), released)
    visitor = visit()
    page = visitor.goto("estimate")
    visitor.upload("A released table", released)
    visitor.shows("Released table: released.parquet.")
    visitor.button("Estimate").click()
    visitor.shows("5,630 rows were released.")
    visitor.shows("at face value")
    page.get_by_label("A broken mechanism").select_option("rounded before noise")
    visitor.shows("What is wrong with it")
    visitor.button("Audit it").click()
    page.locator(".sentence", has_text="0.999").wait_for()
    visitor.shot("estimate")
    assert visitor.violations(axe) == []
    visitor.goto("estimate")
    visitor.shows("5,630 rows were released.")
    assert visitor.fits()


def test_a_policy_is_checked_when_it_is_given_and_goes_with_its_table(visit, tmp_path):
    (tmp_path / "photo.toml").write_bytes(b"\x89PNG\r\n\x1a\n\xff")
    (tmp_path / "good.toml").write_text('format = 2\n[columns]\na = "keep"\n')
    (tmp_path / "one.csv").write_text("a\n1\n")
    visitor = visit()
    visitor.goto("estimate")
    visitor.upload("Its policy", tmp_path / "photo.toml")
    visitor.shows("photo.toml was not taken: it is not text in UTF-8")
    visitor.upload("A released table", tmp_path / "one.csv")
    visitor.shows("Released table: one.csv.")
    visitor.upload("Its policy", tmp_path / "good.toml")
    visitor.shows("Released table: one.csv. Policy: good.toml.")
    visitor.upload("A released table", tmp_path / "one.csv")
    visitor.until(lambda: visitor.page.get_by_text("Policy: good.toml.").count() == 0)
