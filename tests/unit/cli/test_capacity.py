"""``metricdp capacity``: both capacities in words and as JSON; mistakes in one line."""

import json
from fractions import Fraction

import pytest
from typer.testing import CliRunner

from metricdp.adversaries import capacity
from metricdp.cli import app
from metricdp.sources.channel_files import read_channel

FILES = {
    "teas.csv": "name\nEarl Grey\nOolong\nSencha\n",
    "line.csv": "value,weight\n0,5\n1,1\n2,0\n",
    "map.csv": "name,lat,lon\nLouvre,48.8606,2.3376\nOrsay,48.8600,2.3266\nOpéra,48.8719,2.3316\n",
}


def run(*arguments):
    return CliRunner().invoke(app, ["capacity", *arguments])


def test_in_words(here):
    """Three points all ln 2 apart: 3 * 2 / (2 + 1 + 1) = 3/2, and 1 - 3 / (1 + 2 + 2) = 2/5."""
    result = run("teas.csv", "--metric", "ln 2 discrete")
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert lines[0] == "teas.csv: 3 points by name; ln 2·[x ≠ y]-private mechanisms"
    assert lines[2:4] == ["  multiplicative  3/2 or 1.5; 0.585 bits", "  additive        2/5 or 0.4"]
    assert "at most 1.5 times as large; and if gains lie between 0 and 1, larger by at most 0.4." in " ".join(lines)
    assert "33.3% before a release, and of up to 50.0% after it" in " ".join(lines)
    assert "Proofs: of the first, the tight-constraints mechanism" in " ".join(lines)
    assert max(map(len, lines)) <= 80


def test_as_json(here):
    tree = json.loads(run("line.csv", "-m", "ln 2 absolute", "--json").stdout)["result"]
    assert (tree["points"], tree["metric"]) == (3, "ln 2·|x − y|")
    assert Fraction(tree["multiplicative"]["exact"]) == Fraction(5, 3), "the truncated geometric: 2/3 + 1/3 + 2/3"
    assert Fraction(tree["additive"]["exact"]) == Fraction(1, 2), "1 - 1/6 - 1/6 - 1/6"
    assert tree["bits"] == pytest.approx(0.736966, abs=1e-6)
    irrational = json.loads(run("map.csv", "-m", "ln 2/500 great_circle", "--json").stdout)["result"]
    assert irrational["multiplicative"]["exact"] is None
    assert 1 < irrational["multiplicative"]["value"] < 3


def test_the_channels_that_reach_them(here):
    result = run("teas.csv", "-m", "ln 2 discrete", "--multiplicative", "most.json", "--additive", "least.csv")
    assert result.exit_code == 0, result.output
    assert result.stdout.endswith("Written to most.json.\nWritten to least.csv.\n")
    assert capacity(read_channel("most.json")).multiplicative == Fraction(3, 2)
    assert capacity(read_channel("least.csv")).additive == Fraction(2, 5)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["teas.csv", "-m", "absolute"], "teas.csv: line 2: no point of |x − y| (name)"),
        (["teas.csv", "-m", "equal"], "--metric: 'equal' is no metric"),
        (["teas.csv", "-m", "discrete", "--additive", "teas.csv"], "--additive: teas.csv is another file"),
        (["teas.csv", "-m", "discrete", "--multiplicative", "most.txt"], "must end in one of .json"),
    ],
)
def test_mistakes_are_one_line(here, arguments, expected):
    result = run(*arguments)
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    assert len(result.stderr.splitlines()) == 1
    assert expected in result.stderr


def test_help_teaches():
    output = " ".join(CliRunner().invoke(app, ["capacity", "--help"], env={"COLUMNS": "200"}).output.split())
    assert "metricdp capacity teas.csv --metric '0.5 discrete'" in output
