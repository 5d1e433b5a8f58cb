"""``metricdp verify``: the verdict in words, as JSON and as an exit status; mistakes in one line."""

import json
import sys

import numpy as np
import pytest
from typer.testing import CliRunner

import metricdp as mdp
from metricdp.channels.channel import Channel
from metricdp.channels.proved import Proved
from metricdp.cli import app
from metricdp.metrics import Guarantee, absolute, matrix
from metricdp.sources.channel_files import write_channel

LINE = Channel.from_matrix([0, 1, 2], "abc", [["2/3", "1/6", "1/6"], ["1/3"] * 3, ["1/6", "1/6", "2/3"]])
FILES = {
    "noise.csv": ",a,b,c\n0,2/3,1/6,1/6\n1,1/3,1/3,1/3\n2,1/6,1/6,2/3\n",
    "hair.csv": ",a,b,c\n0,0.666666666667666667,1/6,0.166666666665666666333333\n1,1/3,1/3,1/3\n2,1/6,1/6,2/3\n",
    "zero.csv": "1,0\n0.5,0.5\n",
    "even.csv": "0.5,0.5\n0.5,0.5\n",
    "sum.csv": ",a,b\nx,0.5,0.5\ny,0.5,0.4\n",
    "negative.csv": ",a,b\nx,0.5,0.5\ny,-0.5,1.5\n",
    "twice.csv": ",a,b\nx,0.5,0.5\nx,0.5,0.5\n",
    "few.csv": ",0,1\n0,0,1\n1,1,0\n",
    "twins.csv": ",0,1,2\n0,0,0,1\n1,0,0,1\n2,1,1,0\n",
    "free.csv": ",0,1,2\n0,0,inf,inf\n1,inf,0,inf\n2,inf,inf,0\n",
    "metric.toml": 'metric = "scaled"\nlevel = "ln 2"\nunit = { metric = "absolute" }\n',
}


def run(*arguments):
    return CliRunner().invoke(app, ["verify", *arguments])


def words(result):
    return " ".join(result.stdout.split())


def test_what_holds_exactly(here):
    result = run("noise.csv", "--metric", "ln 2 absolute")
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines() == [
        "noise.csv: a channel of 3 inputs and 3 outputs",
        "Holds: ln 2·|x − y|-private, and exactly so: nothing stronger is true.",
        "",
        "The tightest case: the output 'a' is 2 times as likely from the secret 0 as from",
        "1. They are 0.6931 apart, so a factor 2 is allowed.",
    ]
    assert "\x1b" not in result.output


@pytest.mark.parametrize("arguments", [("metric.toml",), ("absolute", "--epsilon", "ln 2"), ("0.7 absolute",)])
def test_metrics_in_many_forms(here, arguments):
    assert run("noise.csv", "-m", *arguments).exit_code == 0


def test_what_holds_with_room(here):
    result = run("noise.csv", "-m", "2 ln 2 absolute")
    assert result.exit_code == 0
    assert "private even at 0.5 times that distance" in words(result)
    assert "so a factor 4 is allowed" in words(result)


def test_what_does_not_hold(here):
    result = run("noise.csv", "--metric", "0.6 absolute")
    assert result.exit_code == 1
    assert "Does NOT hold: 0.6·|x − y|-private: it takes 1.15525 times that distance." in words(result)
    assert "They are 0.6 apart, so no more than a factor 1.822 is allowed." in words(result)
    assert "What to do: promise less" in words(result)
    assert max(map(len, result.stdout.splitlines())) <= 80


def test_a_hair_is_seen_and_shown(here):
    result = run("hair.csv", "--metric", "ln 2 absolute")
    assert result.exit_code == 1
    assert "the output 'c' is 2.00000000001 times as likely from the secret 1 as from 0" in words(result)


def test_told_apart_for_certain(here):
    result = run("zero.csv", "--metric", "absolute")
    assert result.exit_code == 1
    assert "nor at any multiple of that distance" in words(result)
    assert "the output 1 can come from the secret 1 and never from 0" in words(result)
    assert "promise less" not in words(result), "no level would do"


def test_twins(here):
    result = run("noise.csv", "--metric", "twins.csv")
    assert result.exit_code == 1
    assert "They are at distance 0, and must be indistinguishable." in words(result)


def test_nothing_to_constrain(here):
    result = run("noise.csv", "--metric", "free.csv")
    assert result.exit_code == 0
    assert "nothing is constrained" in words(result)
    assert run("noise.csv", "--metric", "free.csv", "--json").exit_code == 0


def test_far_beyond_floats(here):
    result = run("even.csv", "--metric", "1e9 absolute")
    assert result.exit_code == 0
    assert "just as likely from the secret 0 as from 1" in words(result)
    assert "a factor exp(1e+9) is allowed" in words(result)


def test_weights_beyond_floats(here):
    total = (1 << 20_000) + 1
    weights = np.array([[1, total - 1], [total - 1, 1]], dtype=object)
    write_channel(Channel((0, 1), (0, 1), weights, total), here / "large.json")
    result = run("large.json", "--metric", "ln 2 absolute")
    assert result.exit_code == 1
    assert "it takes 20000 times that distance" in words(result)
    assert "3.98e+6020 times as likely" in words(result)
    tree = json.loads(run("large.json", "--metric", "ln 2 absolute", "--json").stdout)["result"]
    assert tree["ratio"] == "3.98028e+6020", "finite, so it must not say infinite"
    far = json.loads(run("even.csv", "--metric", "9000 absolute", "--json").stdout)["result"]
    assert far["allowed"].endswith("e+3908")


def test_with_a_delta(here):
    broken = run("noise.csv", "--metric", "ln 1.9 absolute", "--delta", "0.01")
    assert broken.exit_code == 1
    assert "likelier from 0 by 0.065 in all, and delta allows 0.01" in words(broken)
    assert run("noise.csv", "--metric", "ln 1.9 absolute", "--delta", "0.07").exit_code == 0
    # From 0 to 2: 2/3 - 3.61/6 = 0.065, exactly what the first delta would have to be.
    assert run("noise.csv", "--metric", "ln 1.9 absolute", "--delta", "0.065").exit_code == 0
    assert run("noise.csv", "--metric", "ln 1.9 absolute", "--delta", "0.0649999999999").exit_code == 1


def test_json(here):
    tree = json.loads(run("noise.csv", "--metric", "ln 2 absolute", "--json").stdout)["result"]
    assert tree["holds"] is True
    assert (tree["scale"], tree["scale_below"], tree["ratio"], tree["allowed"]) == (1, 1, 2, 2)
    assert tree["witness"] == [0, 1, "a"]
    assert (tree["file"], tree["inputs"], tree["outputs"]) == ("noise.csv", 3, 3)
    broken = run("zero.csv", "--metric", "absolute", "--json")
    assert broken.exit_code == 1
    assert json.loads(broken.stdout)["result"]["ratio"] == "infinite"
    assert json.loads(broken.stdout)["result"]["scale"] == "infinite"


@pytest.mark.parametrize("suffix", [".json", ".parquet", ".arrow"])
def test_the_promise_of_a_file(here, suffix):
    write_channel(LINE.promising(Guarantee(mdp.ln(2) * absolute())), here / f"kept{suffix}")
    kept = run(f"kept{suffix}")
    assert kept.exit_code == 0
    assert "Holds: ln 2·|x − y|-private, and exactly so" in words(kept)
    write_channel(LINE.promising(Proved(absolute() / 2)), here / f"broken{suffix}")  # a writer who lies
    broken = run(f"broken{suffix}")
    assert broken.exit_code == 1
    assert "Does NOT hold: 0.5·|x − y|-private" in words(broken)
    assert run(f"broken{suffix}", "-m", "ln 2 absolute").exit_code == 0, "another promise is another question"


def one_line(result):
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    assert len(result.stderr.splitlines()) == 1
    assert result.stderr.startswith("metricdp: ")
    return result.stderr


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["sum.csv", "-m", "discrete"], "sum.csv: row 1: input 'y': its probabilities sum to 0.9, not to one"),
        (["negative.csv", "-m", "discrete"], "negative.csv: column 'a', row 1: a negative probability"),
        (["twice.csv", "-m", "discrete"], "twice.csv: row 1: the input 'x' stands twice, at 0 and 1"),
        (["noise.csv", "-m", "few.csv"], "noise.csv: the input 2 is no point of D(2 points)"),
        (["noise.csv", "-m", "great_circle"], "the input 0 is no point of great-circle(m)"),
        (["noise.csv", "-m", "hamming"], "the input 0 is no point of"),
        (["noise.csv"], "carries no promise; say which with --metric"),
        (["noise.csv", "-e", "1"], "go with --metric"),
        (["noise.csv", "-m", "euclid"], "--metric: 'euclid' is no metric"),
        (["noise.csv", "-m", "0.5 absolute", "-e", "1"], "has its level already"),
        (["noise.csv", "-m", "absolute", "-e", "0"], "a level is positive"),
        (["noise.csv", "-m", "absolute", "--delta", "1"], "a delta is at least 0 and below 1"),
        (["noise.csv", "-m", "absolute", "--delta", "-0.1"], "a delta is at least 0 and below 1"),
        (["noise.csv", "-m", "absolute", "--delta", "x"], "--delta: a cell that is no number"),
        (["metric.toml", "-m", "absolute"], "ends in one of .csv, .json"),
    ],
)
def test_mistakes_are_one_line(here, arguments, expected):
    assert expected in one_line(run(*arguments))


def test_a_promise_that_has_no_form(here):
    lost = matrix([None, 2], [[0, 1], [1, 0]])
    channel = Channel.from_matrix([None, 2], [0, 1], [["2/3", "1/3"], ["1/3", "2/3"]])
    write_channel(channel.promising(Guarantee(lost)), here / "lost.json")
    assert "its metric has no form in a file" in one_line(run("lost.json"))


def test_a_missing_file(here):
    result = run("nobody.csv", "-m", "absolute")
    assert result.exit_code == 2
    assert "Traceback" not in result.output


def test_labels_cannot_steer_the_terminal(here):
    channel = Channel(("\x1b[31m", "b"), ("\x9b1m",), np.array([[1], [1]], dtype=object), 1)
    write_channel(channel, here / "evil.json")
    for arguments in (("-m", "discrete"), ("-m", "absolute"), ("-m", "discrete", "--json")):
        output = run("evil.json", *arguments).output
        assert "\x1b" not in output
        assert "\x9b" not in output


@pytest.mark.parametrize("verb", ["verify", "leakage"])
def test_without_pyarrow_the_line_to_install_it(here, monkeypatch, verb):
    write_channel(LINE.promising(Guarantee(mdp.ln(2) * absolute())), here / "kept.parquet")
    for name in [name for name in sys.modules if name.split(".")[0] == "pyarrow" or name.startswith("metricdp.tables")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    result = CliRunner().invoke(app, [verb, "kept.parquet"])
    assert result.exit_code == 2, "1 would say that the promise is broken"
    assert result.stderr == "metricdp: pyarrow is not installed; run: pip install 'metricdp[tables]'\n"


def test_help_teaches():
    output = " ".join(CliRunner().invoke(app, ["verify", "--help"], env={"COLUMNS": "200"}).output.split())
    assert "metricdp verify noise.csv --metric 'ln 2 absolute'" in output
    assert "Exit status: 0 if" in output


@pytest.mark.parametrize("suffix", [".json", ".parquet", ".arrow"])
def test_names_of_points_survive_from_optimal(here, suffix):
    (here / "stops.csv").write_text("name,lat,lon\nOpera,45.7676,4.8361\nBellecour,45.7578,4.8320\n")
    made = CliRunner().invoke(app, ["optimal", "stops.csv", "-m", "ln 2/500 great_circle", "-o", f"stops{suffix}"])
    assert made.exit_code == 0, made.output
    told = run(f"stops{suffix}")
    assert "'Opera'" in told.stdout
    assert "'Bellecour'" in told.stdout
    assert "45.7" not in told.stdout
    tree = json.loads(run(f"stops{suffix}", "--json").stdout)["result"]
    assert set(tree["witness_names"]) == {"Opera", "Bellecour"}


def test_names_that_do_not_fit_are_refused(here):
    (here / "stops.csv").write_text("name,lat,lon\nOpera,45.7676,4.8361\nBellecour,45.7578,4.8320\n")
    CliRunner().invoke(app, ["optimal", "stops.csv", "-m", "ln 2/500 great_circle", "-o", "stops.json"])
    tree = json.loads((here / "stops.json").read_text())
    (here / "stops.json").write_text(json.dumps(tree | {"names": {"inputs": ["Opera"], "outputs": []}}))
    result = run("stops.json")
    assert result.exit_code == 2
    assert "the names of the outputs are a list with a text for each of them" in result.stderr
