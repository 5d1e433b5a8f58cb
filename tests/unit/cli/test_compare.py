"""``metricdp compare`` and ``metricdp explain --question``, and pictures of estimates."""

import json
import shutil

import pytest
from typer.testing import CliRunner

from metricdp.cli import app
from tests.guides import SOURCE

DATA = SOURCE / "cli" / "demo" / "data"


def run(*arguments):
    return CliRunner().invoke(app, [*map(str, arguments)])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("compare")
    for ending in ("csv", "toml"):
        shutil.copy(DATA / f"health_insurance.{ending}", place / f"people.{ending}")
    done = run("sanitize", place / "people.csv", "-p", place / "people.toml", "-o", place / "out.parquet", "--seed", 3)
    assert done.exit_code == 0, done.output
    return place


def test_a_comparison_is_printed_with_its_warning(folder):
    found = run("compare", folder / "people.csv", folder / "out.parquet", "-q", "select count(*) group by sex")
    assert found.exit_code == 0, found.output
    assert found.stdout.startswith("NOT TO BE RELEASED")
    assert "female: count(*)" in found.stdout
    assert "income: half of the rows move by" in found.stdout


@pytest.mark.long
def test_a_comparison_as_a_page_and_as_json(folder):
    out = folder / "private.html"
    found = run("compare", folder / "people.csv", folder / "out.parquet", "-o", out)
    assert found.exit_code == 0, found.output
    assert "not to be released" in found.stderr
    assert out.read_text().count("<svg") > 5
    again = run("compare", folder / "people.csv", folder / "out.parquet", "-o", out)
    assert again.exit_code == 2
    tree = json.loads(run("compare", folder / "people.csv", folder / "out.parquet", "--json").stdout)
    assert tree["result"]["not_to_be_released"] is True


def test_tables_that_do_not_belong_together_exit_with_status_2(folder):
    lines = (folder / "people.csv").read_text().splitlines()
    (folder / "few.csv").write_text("\n".join(lines[:100]) + "\n")
    found = run("compare", folder / "few.csv", folder / "out.parquet")
    assert found.exit_code == 2
    assert "not one table before and after" in found.stderr


def test_explain_says_how_well_a_question_could_be_answered(folder):
    asked = ["explain", folder / "people.toml", "--rows", 100_000, "--question", "select avg(income)"]
    found = run(*asked)
    assert found.exit_code == 0, found.output
    assert "± " in found.stdout
    assert "no data was read" in found.stdout
    tree = json.loads(run(*asked, "--within", 1, "--json").stdout)["result"]
    assert tree["suffices"] is False
    assert tree["factor"] > 1


@pytest.mark.parametrize(
    "more", [["--rows", 5], ["--within", 5], ["--question", "select avg(income)"], ["--question", "x", "--rows", 0]]
)
def test_options_of_explain_that_want_each_other_exit_with_status_2(folder, more):
    assert run("explain", folder / "people.toml", *more).exit_code == 2


def test_an_estimate_is_drawn(folder):
    out = folder / "health.svg"
    found = run("estimate", folder / "out.parquet", "select count(*), avg(income) group by health", "--plot", out)
    assert found.exit_code == 0, found.output
    assert "<svg" in out.read_text()
    assert run("estimate", folder / "out.parquet", "select count(*)", "--plot", out).exit_code == 2
    assert run("estimate", folder / "out.parquet", "select count(*)", "--plot", folder / "x.gif").exit_code == 2
