"""One policy file, word for word the same, explains, sanitizes and answers questions about the demo's table."""

import hashlib
import json

import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from metricdp.cli import app
from tests.guides import SOURCE

DATA = SOURCE / "cli" / "demo" / "data"
TABLE, POLICY = str(DATA / "health_insurance.csv"), str(DATA / "health_insurance.toml")


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def run(*arguments):
    result = CliRunner().invoke(app, list(arguments))
    assert result.exit_code == 0, result.output
    return result.stdout


def test_explained():
    report = json.loads(run("explain", POLICY, "--json"))["result"]
    assert report["policy_sha256"] == hashlib.sha256((DATA / "health_insurance.toml").read_bytes()).hexdigest()
    assert len(report["columns"]) == 12


def test_sanitized():
    run("sanitize", TABLE, "-p", POLICY, "-o", "released.parquet")
    released = pq.read_table("released.parquet")
    assert released.num_rows == 5630
    assert "education" not in released.column_names


@pytest.mark.parametrize(
    "question",
    [
        "select count(*) from people",
        "select count(*), avg(income) from people where sex = 'female' group by health",
        "select median(age), count(general_health) from people where site in (1, 2)",
        "select sum(doctor_visits) from people group by coinsurance",
    ],
)
def test_asked(question):
    answers = json.loads(run("query", TABLE, question, "-p", POLICY, "--json"))["result"]
    assert answers["records"] == 5630
    assert answers["groups"]


def test_the_distance_is_the_same_in_both():
    report = json.loads(run("explain", POLICY, "--json"))["result"]
    formulas = {column["name"]: column["formula"] for column in report["columns"]}
    asked = json.loads(run("query", TABLE, "select avg(income) from people", "-p", POLICY, "--json"))["result"]
    assert formulas["income"] in asked["guarantee"]["formula"]
