"""Ask, as a person would use it."""

import pytest

from metricdp.ledger import Ledger
from metricdp.ledger.charging import policy_cap
from metricdp.policies import Policy

pytestmark = pytest.mark.xdist_group("studio")

POLICY = """format = 2
records = 4
[columns.sex]
type = "category"
values = ["F", "M"]
factor = 3
missing = "refuse"
[columns.age]
type = "integer"
within = "5 years"
bounds = [0, 100]
missing = "refuse"
"""


def question(visitor, text):
    visitor.page.get_by_role("textbox", name="SQL", exact=True).fill(text)


def test_the_story_of_the_shipped_table(visit, axe):
    visitor = visit()
    page = visitor.goto("ask")
    visitor.button("Use the table that comes with the package").click()
    visitor.shows("0 charges so far.")
    visitor.button("Preview").click()
    visitor.shows("would cost")
    visitor.shows("0 charges so far.")
    visitor.button("Ask").click()
    visitor.shows("1 charge so far.")
    visitor.shows("This spent")
    assert page.locator("svg[aria-label^='count(*): excellent']").count() == 1
    visitor.shot("ask")
    assert visitor.violations(axe) == []
    visitor.button("Ask").click()
    visitor.shows("nothing: it was answered before")
    visitor.goto("ask")
    visitor.shows("This spent")
    visitor.shows("1 charge so far.")
    question(visitor, "select name from people")
    visitor.button("Ask").click()
    page.wait_for_function("[...document.querySelectorAll('.problem')].some(one => one.innerText.trim())")


def test_a_ledger_of_ones_own_and_its_end(visit, tmp_path):
    (tmp_path / "people.csv").write_text("sex,age\nF,30\nM,41\nF,52\nM,18\n")
    (tmp_path / "people.toml").write_text(POLICY)
    with Ledger.create(tmp_path / "spent.db") as ledger:
        ledger.open_account("city", policy_cap(Policy.parse(POLICY), 1))
    visitor = visit(viewport={"width": 390, "height": 800})
    page = visitor.goto("ask")
    visitor.upload("A table", tmp_path / "people.csv")
    visitor.shows("Table: people.csv. Policy: none yet.")
    visitor.upload("Its policy", tmp_path / "people.toml")
    visitor.shows("Policy: as on the page Sanitize.")
    page.get_by_label("Ledger, a file on this machine").fill(str(tmp_path / "spent.db"))
    question(visitor, "select count(*) from people group by sex")
    visitor.button("Ask").click()
    visitor.shows("1 charge so far.")
    visitor.shows("sex: used up")
    question(visitor, "select count(*) from people where sex = 'F'")
    visitor.button("Ask").click()
    page.wait_for_function("[...document.querySelectorAll('.problem')].some(one => one.innerText.trim())")
    with Ledger(tmp_path / "spent.db") as ledger:
        assert ledger.balance("city").charges == 1
    assert visitor.fits()
    visitor.shot("ask-390")


def test_a_preview_fixes_nothing_and_wrong_files_are_refused(visit, tmp_path):
    (tmp_path / "photo.csv").write_bytes(b"\x89PNG\r\n\x1a\n\xff")
    (tmp_path / "bad.toml").write_text("[columns.a\n")
    visitor = visit()
    page = visitor.goto("ask")
    visitor.shows("Give a table and a policy first.")
    visitor.upload("A table", tmp_path / "photo.csv")
    visitor.shows("photo.csv was not taken")
    visitor.upload("Its policy", tmp_path / "bad.toml")
    visitor.shows("bad.toml was not taken: a policy is TOML, and this is something else")
    visitor.goto("sanitize")
    visitor.goto("ask")
    visitor.button("Use the table that comes with the package").click()
    visitor.button("Preview").click()
    visitor.shows("would cost")
    page.get_by_label("Promises that may be spent").fill("7")
    visitor.shows("7 times the policy's promise may be spent in all.")
