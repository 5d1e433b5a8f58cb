"""``metricdp synthesize``: a file of rows, a report in each form, and mistakes in one line."""

import json

import pytest
from typer.testing import CliRunner

from metricdp.cli import app

POLICY = """format = 2
records = 40

[columns]
sex = {type = "category", values = ["F", "M"], epsilon = 1, missing = "refuse"}
age = {type = "integer", bounds = [0, 99], epsilon = 1, missing = "refuse", count_by = 50}
"""
FILES = {
    "people.csv": "name,sex,age\n" + "".join(f"p{n},{'FM'[n % 2]},{n * 2}\n" for n in range(40)),
    "people.toml": POLICY,
    "outside.csv": "name,sex,age\n" + "p,QQQ,3\n" * 40,
}


def run(*arguments):
    return CliRunner().invoke(app, ["synthesize", *arguments])


def test_rows_and_words(here):
    result = run("people.csv", "-p", "people.toml", "-o", "made.csv")
    assert result.exit_code == 0, result.output
    lines = (here / "made.csv").read_text().splitlines()
    assert lines[0].replace('"', "") == "sex,age"
    assert len(lines) == 41
    assert "Written to made.csv" in result.stdout
    assert "sex, age" in result.stdout
    assert "Not read: name" in result.stdout


def test_json_and_reports(here):
    for ending in ("html", "txt", "json"):
        result = run(
            "people.csv", "-p", "people.toml", "-o", f"made-{ending}.parquet", "--report", f"r.{ending}", "--json",
            "--marginals", "sex,age", "--seed", "1",
        )  # fmt: skip
        assert result.exit_code == 0, result.output
        tree = json.loads(result.stdout)
        assert [one["columns"] for one in tree["result"]["marginals"]] == [["sex"], ["age"]]
        assert tree["result"]["private"] is False
        assert "age" in (here / f"r.{ending}").read_text()


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        (["people.csv", "-p", "people.toml", "-o", "people.csv"], 2, "people.csv"),
        (["people.csv", "-p", "people.toml", "-o", "made.csv", "--marginals", "0"], 2, "1, 2"),
        (["people.csv", "-p", "people.toml", "-o", "made.csv", "--marginals", "sex+town"], 2, "town"),
        (["people.csv", "-p", "people.toml", "-o", "made.csv", "--columns", "town"], 2, "declares"),
        (["outside.csv", "-p", "people.toml", "-o", "made.csv"], 1, "outside the declared values"),
        (["people.csv", "-p", "people.toml", "-o", "made.xyz"], 2, ".xyz"),
    ],
)
def test_mistakes(here, arguments, status, words):
    result = run(*arguments)
    assert result.exit_code == status, result.output
    assert words in result.output
    assert "QQQ" not in result.output
    assert not (here / "made.csv").exists()
