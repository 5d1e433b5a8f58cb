"""``metricdp estimate``: corrected answers for people and programs, and mistakes in one line."""

import json
import shutil
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from metricdp.cli import app
from tests.guides import SOURCE

DATA = SOURCE / "cli" / "demo" / "data"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("estimate")
    for ending in ("csv", "toml"):
        shutil.copy(DATA / f"health_insurance.{ending}", place / f"people.{ending}")
    for name in ("released.parquet", "released.csv"):
        out = ["people.csv", "-p", "people.toml", "-o", name, "--seed", "3"]
        done = subprocess.run(
            [sys.executable, "-m", "metricdp", "sanitize", *out],
            cwd=place,
            env={"PYTHONPATH": str(SOURCE.parent), "PATH": "/usr/bin:/bin"},
            capture_output=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
    return place


def run(*arguments):
    return CliRunner().invoke(app, ["estimate", *map(str, arguments)])


def test_it_prints_corrected_values_beside_those_as_released(folder):
    result = run(folder / "released.parquet", "select count(*), avg(income) group by health")
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert lines[0].split() == ["health", "corrected", "from", "to", "as", "released"]
    assert lines[1].startswith("excellent  count(*)")
    assert "5,630 rows" in result.stdout


def test_json_holds_the_same(folder):
    result = run(folder / "released.parquet", "select count(*) where sex = 'female'", "--json")
    tree = json.loads(result.stdout)
    assert tree["command"] == "estimate"
    assert tree["guarantee"] is None
    one = tree["result"]["answers"][0]["count(*)"]
    assert one["interval"][0] <= one["value"] <= one["interval"][1]
    assert one["naive"] != one["value"]


def test_a_csv_file_needs_its_policy(folder):
    question = "select avg(age), avg(income), count(general_health), count(*) where health = 'good'"
    alone = run(folder / "released.csv", question)
    assert alone.exit_code == 2
    assert "released.csv does not say how it was released" in alone.stderr
    with_policy = run(folder / "released.csv", question, "-p", folder / "people.toml")
    assert with_policy.exit_code == 0, with_policy.output


def test_mistakes_exit_with_status_2_and_edited_tables_with_1(folder):
    assert run(folder / "released.parquet", "select nothing").exit_code == 2
    assert run(folder / "released.parquet", "select avg(education)").exit_code == 2
    text = (folder / "released.csv").read_text().splitlines()
    row = text[1].split(",")
    row[2] = "200"
    (folder / "edited.csv").write_text("\n".join([text[0], ",".join(row), *text[2:]]) + "\n")
    edited = run(folder / "edited.csv", "select avg(age)", "-p", folder / "people.toml")
    assert edited.exit_code == 1
    assert "row 0" in edited.stderr
    assert "200" not in edited.stderr


def test_the_population_is_wider(folder):
    wide, narrow = (
        json.loads(run(folder / "released.parquet", "select avg(income)", "--json", *more).stdout)["result"]["answers"][
            0
        ]
        for more in (["--population"], [])
    )
    assert wide["avg(income)"]["noise"] > narrow["avg(income)"]["noise"]
