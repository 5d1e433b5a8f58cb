"""``metricdp kernels``: counted, shown, written; mistakes in one line."""

import importlib
import json

import pytest
from typer.testing import CliRunner

from metricdp.channels import Channel, verify
from metricdp.cli import app
from metricdp.exact import ln
from metricdp.exact.progress import Update
from metricdp.metrics import Space, absolute

FILES = {
    "line.csv": "name,value\nlow,0\nmiddle,1\nhigh,2\n",
    "teas.csv": "name\nEarl Grey\nOolong\nSencha\n",
    "square.csv": "x,y\n0,0\n0,1\n1,0\n1,1\n",
}


def run(*arguments):
    return CliRunner().invoke(app, ["kernels", *arguments])


def test_in_words(here):
    """Three points on a line: the truncated geometric, and the one that says how far from the middle."""
    result = run("line.csv", "--metric", "ln 2 absolute")
    assert result.exit_code == 0, result.output
    lines = [line.split() for line in result.stdout.splitlines()]
    assert lines[2:4] == [["vertices", "4"], ["kernels", "2"]]
    assert ["low", "2/3", "1/6", "1/6"] in lines
    assert ["middle", "1/3", "1/3", "1/3"] in lines
    assert ["middle", "2/3", "1/3"] in lines
    assert "more are not shown" not in result.stdout


def test_counts(here):
    counted = run("teas.csv", "-m", "0.3 discrete", "--count")
    assert counted.exit_code == 0, counted.output
    assert counted.stdout.splitlines()[2:] == ["  vertices  6", "  kernels   5"]
    tree = json.loads(run("teas.csv", "-m", "0.3 discrete", "--count", "--json").stdout)["result"]
    assert (tree["vertices"], tree["kernels"], tree["first"], tree["finished"]) == (6, 5, [], True)
    shown = run("teas.csv", "-m", "0.3 discrete").stdout
    assert shown.count("\nkernel ") == 3
    assert "2 more are not shown." in " ".join(shown.split())


def test_a_line_for_each(here):
    result = run("line.csv", "-m", "ln 2 absolute", "-o", "kernels.jsonl")
    assert result.exit_code == 0, result.output
    assert "2 kernels are written to kernels.jsonl" in result.stdout
    space = Space([0, 1, 2], ln(2) * absolute())
    written = [Channel.from_json(json.loads(line)) for line in (here / "kernels.jsonl").read_text().splitlines()]
    assert len(written) == 2
    assert all(verify(channel, space).scale == 1 for channel in written), "a kernel is tight somewhere"
    assert "kernels.jsonl exists already" in run("line.csv", "-m", "ln 2 absolute", "-o", "kernels.jsonl").stderr


def test_no_more_than(here):
    result = run("square.csv", "-m", "ln 2 manhattan", "--most", "4", "-o", "some.jsonl")
    assert result.exit_code == 0, result.output
    assert len((here / "some.jsonl").read_text().splitlines()) == 4
    assert "vertices  " not in result.stdout, "nothing was counted"
    assert "1 more are not shown" in " ".join(result.stdout.split())


def test_an_interruption_says_how_many_there_are(here, monkeypatch):
    module = importlib.import_module("metricdp.design")

    class Interrupted:
        def __init__(self, space, *, progress):
            self.progress = progress

        def count(self):
            self.progress(Update(done=1234, unit="vertices"))
            raise KeyboardInterrupt

    monkeypatch.setattr(module, "vertices", Interrupted)
    result = run("line.csv", "-m", "ln 2 absolute", "-o", "kernels.jsonl")
    assert result.exit_code == 1
    assert "Ended before all were found; there are at least 1,234 vertices." in result.stdout
    assert not (here / "kernels.jsonl").exists()


def test_too_many_to_count(here, monkeypatch):
    monkeypatch.setattr(importlib.import_module("metricdp.cli.kernels"), "_MOST_VERTICES", 3)
    result = run("line.csv", "-m", "ln 2 absolute")
    assert result.exit_code == 2
    assert result.stderr == (
        "metricdp: line.csv: 4 vertices: their kernels are too many to count; --most 10 finds some of them\n"
    )
    assert run("line.csv", "-m", "ln 2 absolute", "--most", "1").exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["teas.csv", "-m", "absolute"], "teas.csv: line 2: no point of |x − y| (name)"),
        (["teas.csv", "-m", "discrete", "-o", "kernels.json"], "--out: kernels.json must end in one of .jsonl"),
        (["teas.csv", "-m", "discrete", "--count", "--most", "3"], "leave out --most and --out"),
        (["teas.csv", "-m", "discrete", "--most", "0"], "--most"),
    ],
)
def test_mistakes(here, arguments, expected):
    result = run(*arguments)
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    assert expected in " ".join(result.stderr.replace("│", "").split())


def test_help_teaches():
    output = " ".join(CliRunner().invoke(app, ["kernels", "--help"], env={"COLUMNS": "200"}).output.split())
    assert "metricdp kernels stops.csv --metric 'ln 2 absolute'" in output
