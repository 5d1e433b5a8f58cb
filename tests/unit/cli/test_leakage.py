"""``metricdp leakage``: the table of a channel file for a prior; mistakes in one line."""

import json
from fractions import Fraction

import pytest
from typer.testing import CliRunner

from metricdp.cli import app
from metricdp.cli.leakage import read_prior
from metricdp.errors import ArgumentError, MetricDPError

INPUTS = ("tea", "milk", "water")


FILES = {
    "noise.csv": ",a,b,c\ntea,2/3,1/6,1/6\nmilk,1/3,1/3,1/3\nwater,1/6,1/6,2/3\n",
    "sum.csv": ",a,b\nx,0.5,0.5\ny,0.5,0.4\n",
}


def run(*arguments):
    return CliRunner().invoke(app, ["leakage", *arguments])


def test_the_table(here):
    result = run("noise.csv")
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert lines[0] == "noise.csv: a channel of 3 inputs and 3 outputs; prior: uniform"
    # By hand: the columns' largest entries sum to 2/3 + 1/3 + 2/3 = 5/3.
    assert any(line.split()[-4:] == ["1/3", "5/9", "5/3", "2/9"] for line in lines)
    assert "33.3% before an output, and of 55.6% after" in " ".join(result.stdout.split())
    assert max(map(len, lines)) <= 80


def test_another_prior(here):
    (here / "belief.csv").write_text("input,probability\ntea,0.5\nmilk,0.3\nwater,0.2\n")
    for prior in ("0.5,0.3,0.2", "1/2, 3/10, 1/5", "belief.csv"):
        tree = json.loads(run("noise.csv", "--prior", prior, "--json").stdout)["result"]
        # By hand: max(1/3, 1/10, 1/30) + max(1/12, 1/10, 1/30) + max(1/12, 1/10, 2/15).
        assert tree["rows"][0]["after"]["exact"] == "17/30"
        assert tree["prior"] == prior
        assert tree["capacity"]["multiplicative"]["exact"] == "5/3"


def test_a_prior_may_call_the_points_by_their_names(here):
    (here / "towns.csv").write_text("name,x,y\nZürich HB,0,0\nSão Paulo,0,1\n", encoding="utf-8")
    made = CliRunner().invoke(app, ["optimal", "towns.csv", "-m", "0.5 euclidean", "-o", "towns.json"])
    assert made.exit_code == 0, made.output
    (here / "belief.csv").write_text('Zürich HB,3/4\n"(0, 1)",1/4\n', encoding="utf-8")
    result = run("towns.json", "--prior", "belief.csv")
    assert result.exit_code == 0, result.output
    assert "of 75.0% before an output" in " ".join(result.stdout.split())
    (here / "belief.csv").write_text('Zürich HB,3/4\n"(0, 0)",1/4\n', encoding="utf-8")
    assert "stands twice" in run("towns.json", "--prior", "belief.csv").stderr


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["noise.csv", "--prior", "0.5,0.5"], "--prior: a prior of 2 probabilities for 3 secrets"),
        (["noise.csv", "--prior", "0.5,0.4,0"], "--prior: the prior sums to 0.9, not to one"),
        (["noise.csv", "--prior", "1.5,-0.5,0"], "a negative probability"),
        (["noise.csv", "--prior", "0.5,x,0.5"], "row 1: a cell that is no number"),
        (["noise.csv", "--prior", "0.5,,0.5"], "row 1: an empty cell"),
        (["noise.csv", "--prior", "flat"], "'flat' is no prior"),
        (["noise.csv", "--prior", "nowhere.csv"], "there is no file nowhere.csv"),
        (["sum.csv"], "sum.csv: row 1: input 'y': its probabilities sum to 0.9, not to one"),
    ],
)
def test_mistakes_are_one_line(here, arguments, expected):
    result = run(*arguments)
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    assert len(result.stderr.splitlines()) == 1
    assert result.stderr.startswith("metricdp: ")
    assert expected in result.stderr


@pytest.mark.parametrize(
    "content",
    [
        "tea,1/2\nmilk,1/3\nwater,1/6\n",
        "milk,1/3\nwater,1/6\n\ntea,0.5\n",
        ",p\ntea,1/2\nmilk,1/3\nwater,1/6\n",
        "1/2,1/3,1/6\n",
        "1/2\n1/3\n1/6\n",
        "p\n1/2\n1/3\n1/6\n",
    ],
)
def test_priors_in_files(here, content):
    (here / "p.csv").write_text(content)
    assert read_prior("p.csv", INPUTS).fractions == [Fraction(1, 2), Fraction(1, 3), Fraction(1, 6)]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "p.csv is empty"),
        ("tea,1/2\ntea,1/2\n", "the input 'tea' stands twice"),
        ("tea,1/2\ncoffee,1/2\n", "names 'coffee', which is not among the secrets"),
        ("tea,1/2\nmilk,1/2,0\n", "row 1: 3 cells"),
        ("tea,1/2\nmilk,1/3\n", "sums to 0.8333"),
    ],
)
def test_files_that_are_no_prior(here, content, words):
    (here / "p.csv").write_text(content)
    with pytest.raises(MetricDPError, match=words):
        read_prior("p.csv", INPUTS)


def test_rounded_decimals_are_divided_by_their_sum():
    assert read_prior("0.3333333,0.3333333,0.3333333", INPUTS).fractions == [Fraction(1, 3)] * 3
    with pytest.raises(ArgumentError, match="sums to"):
        read_prior("33333333/100000000,1/3,1/3", INPUTS)


def test_help_teaches():
    output = " ".join(CliRunner().invoke(app, ["leakage", "--help"], env={"COLUMNS": "200"}).output.split())
    assert "metricdp leakage noise.csv --prior 0.5,0.3,0.2" in output
