"""``metricdp optimal``: points from a file, the channel, its proof, its picture; mistakes in one line."""

import importlib
import json
import re
import signal
import sys
from contextlib import contextmanager

import pytest
from typer.testing import CliRunner

import metricdp
from metricdp.channels import verify
from metricdp.cli import app
from metricdp.cli.options.points import read_points
from metricdp.errors import ArgumentError
from metricdp.exact.progress import Update
from metricdp.metrics import Space, absolute, great_circle
from metricdp.sources.channel_files import read_channel

command = importlib.import_module("metricdp.cli.optimal")  # the package holds the command by that name

FILES = {
    "line.csv": "value\n0\n1\n2\n",
    "named.csv": "name,value,weight\nlow,0,1\nmiddle,1,2\nhigh,2,1\n",
    "square.csv": "place,y,x,staff\na,0,0,1\nb,0,1,2\nc,1,0,3\nd,1,1,4\n",
    "paris.csv": "name,lon,lat,population\nLouvre,2.3376,48.8606,5\nOrsay,2.3266,48.8600,3\nOpéra,2.3316,48.8719,4\n",
    "teas.csv": "name\nEarl Grey\nOolong\nSencha\n",
    "distances.csv": ",Earl Grey,Oolong,Sencha\nEarl Grey,0,1,2\nOolong,1,0,1\nSencha,2,1,0\n",
    "two.csv": "value\n0.5\n1.5\n",
    "cost.csv": ",yes,no\nhigh,0,1\nlow,1,0\nmiddle,1/2,1/4\n",
    "plain.csv": "0,1,4\n1,0,1\n4,1,0\n",
    "short.csv": ",yes,no\nhigh,0,1\nlow,1,0\n",
    "large.csv": "x,y\n" + "".join(f"{i},{j}\n" for i in range(10) for j in range(10)),
}


def run(*arguments):
    return CliRunner().invoke(app, ["optimal", *arguments])


def words(result):
    return " ".join(result.stdout.split())


def test_the_truncated_geometric_of_three(here):
    """Uniform prior, three points, ln 2: the best is the truncated geometric mechanism, with a loss of 5/9."""
    result = run("line.csv", "-m", "ln 2 absolute", "-o", "channel.json")
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert lines[0] == "line.csv: 3 points by value; prior: uniform"
    assert lines[2].split()[:2] in (["loss", "0.555556"], ["loss", "0.555557"])
    assert "0.5555" in lines[3]
    assert "no private mechanism loses less: proved" in lines[3]
    assert "0.666667  by releasing 1, whatever the secret" in result.stdout
    assert "ln 2·|x − y|-private, verified" in result.stdout
    assert "Written to channel.json. To prove it again: metricdp verify channel.json" in result.stdout
    assert max(map(len, lines)) <= 80
    assert "\x1b" not in result.output
    channel = read_channel("channel.json")
    assert verify(channel, Space([0, 1, 2], metricdp.ln(2) * absolute()))
    assert float(channel.probability(0, 0)) == pytest.approx(2 / 3, abs=1e-3)
    assert CliRunner().invoke(app, ["verify", "channel.json"]).exit_code == 0


def test_the_exponential_mechanism_beside_it(here):
    """By hand: weights exp(-d/2) = 1, 2^-1/2, 1/2."""
    root = 2**-0.5
    ends, middle = (root + 1) / (1.5 + root), 2 * root / (1 + 2 * root)
    expected = (2 * ends + middle) / 3
    assert f"{expected:.5g}" in run("line.csv", "-m", "ln 2 absolute").stdout.replace(",", "")


def test_json(here):
    envelope = json.loads(run("named.csv", "-m", "ln 2 absolute", "--json").stdout)
    assert envelope["guarantee"]["formula"] == "ln 2·|x − y|-private"
    tree = envelope["result"]
    assert (tree["points"], tree["outputs"], tree["prior"], tree["loss_by"]) == (3, 3, "by weight", "distance")
    assert tree["finished"] is True
    assert tree["bound"] <= 0.5 <= tree["loss"] + 1e-12, "to release the middle loses 1/2, and nothing is better"
    assert tree["gap"] <= 1e-4
    assert tree["verdict"]["holds"] is True


def test_priors(here):
    def prior(*arguments):
        return json.loads(run("named.csv", "-m", "ln 2 absolute", "--json", *arguments).stdout)["result"]

    assert prior("--prior", "uniform")["loss"] == pytest.approx(5 / 9, rel=1e-4)
    assert prior("--prior", "weights")["loss"] == prior("--prior", "weight")["loss"] == prior()["loss"]
    assert prior("--prior", "value")["prior"] == "by value"


def test_the_worst_case(here):
    """Four sevenths on three points; releasing the middle always loses 1 at the ends."""
    result = run("line.csv", "-m", "ln 2 absolute", "--worst-case")
    assert "prior: none, the worst case counts" in result.stdout
    assert "for the point where it is largest" in result.stdout
    assert re.search(r"instead .*\n +1 +by releasing 1, whatever", result.stdout)
    tree = json.loads(run("line.csv", "-m", "ln 2 absolute", "--worst-case", "--json").stdout)["result"]
    assert tree["bound"] <= 4 / 7 <= tree["loss"] <= 4 / 7 + 1e-4


def test_names_are_told_and_coordinates_are_the_labels(here):
    result = run("paris.csv", "-m", "ln 2/500 great_circle", "-o", "paris.parquet")
    assert result.exit_code == 0, result.output
    assert "3 points by lat, lon; prior: by population" in result.stdout
    assert "The tightest case: the output '" in words(result)
    assert any(f"'{name}'" in result.stdout for name in ("Louvre", "Orsay", "Opéra"))
    channel = read_channel("paris.parquet")
    assert channel.inputs[0] == (48.8606, 2.3376), "latitude first, wherever its column stands"
    assert channel.guarantee.metric == great_circle() * metricdp.ln(2) / 500


def test_points_by_name(here):
    alike = run("teas.csv", "-m", "ln 2 discrete", "--loss", "bin", "-o", "teas.csv.json")
    assert alike.exit_code == 0, alike.output
    assert "the probability of releasing another point" in alike.stdout
    assert json.loads(run("teas.csv", "-m", "ln 2 discrete", "--loss", "bin", "--json").stdout)["result"][
        "loss"
    ] == pytest.approx(0.5)
    listed = json.loads(run("teas.csv", "-m", "ln 2 distances.csv", "--json").stdout)["result"]
    assert listed["loss"] == pytest.approx(5 / 9, rel=1e-4)


def test_a_loss_in_a_file(here):
    """Two releases for three points, in an order of its own; solved by hand."""
    result = run("named.csv", "-m", "ln 2 absolute", "--prior", "uniform", "--loss", "cost.csv", "--json")
    assert result.exit_code == 0, result.output
    tree = json.loads(result.stdout)["result"]
    assert tree["outputs"] == 2
    # With K(yes | low, middle, high) = p, q, r the loss is (p + (1/4 + q/4) + (1 - r)) / 3: least at 1/6, 1/3, 2/3,
    # for p >= q / 2, r <= 2 q and r <= (1 + q) / 2 are tight there.
    assert tree["loss"] == pytest.approx(5 / 18, rel=1e-4)
    assert tree["bound"] <= 5 / 18 <= tree["loss"]
    plain = json.loads(run("line.csv", "-m", "ln 2 absolute", "--loss", "plain.csv", "--json").stdout)["result"]
    assert plain["outputs"] == 3


def test_outputs_of_their_own(here):
    result = run("line.csv", "-m", "ln 2 absolute", "--outputs", "two.csv", "-o", "channel.csv")
    assert result.exit_code == 0, result.output
    assert "CSV has no room for the promise" in result.stdout
    assert read_channel("channel.csv").outputs == (0.5, 1.5)


def test_other_columns(here):
    result = run("square.csv", "-m", "euclidean", "--at", "y,x", "--prior", "staff", "--name", "place", "--json")
    assert json.loads(result.stdout)["result"]["prior"] == "by staff"


def test_a_limit_of_time(here):
    result = run("large.csv", "-m", "ln 2 euclidean", "--gap", "1e-9", "--time-limit", "0.2", "-o", "channel.json")
    assert result.exit_code == 1, result.output
    assert "ended before the 1e-07% that was wanted" in words(result)
    assert "verified" in result.stdout
    assert CliRunner().invoke(app, ["verify", "channel.json"]).exit_code == 0, "private all the same"


def test_a_gap_that_integers_do_not_reach(here):
    result = run("line.csv", "-m", "ln 2 absolute", "--gap", "1e-17")
    assert result.exit_code == 1, result.output
    assert "1e-15% that was wanted" in result.stdout
    assert (
        json.loads(run("line.csv", "-m", "ln 2 absolute", "--gap", "1e-17", "--json").stdout)["result"]["finished"]
        is False
    )


def test_no_loss_at_all(here):
    """Points at infinite distance: each is released as it is, and a gap of nothing is reached."""
    (here / "free.csv").write_text(
        ",Earl Grey,Oolong,Sencha\nEarl Grey,0,inf,inf\nOolong,inf,0,inf\nSencha,inf,inf,0\n"
    )
    result = run("teas.csv", "-m", "free.csv", "--loss", "bin")
    assert result.exit_code == 0, result.output
    assert "nothing is constrained" in result.stdout


def test_an_interruption(here, monkeypatch):
    """Ctrl-C in the second round."""

    @contextmanager
    def bar(gap):
        yield lambda update: signal.raise_signal(signal.SIGINT) if update.done == 2 else None

    monkeypatch.setattr(command, "_bar", bar)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # Spark, if it ran here, has put in its own
    try:
        result = run("large.csv", "-m", "ln 2 euclidean", "--gap", "1e-9", "-o", "channel.json")
    finally:
        signal.signal(signal.SIGINT, before)
    assert result.exit_code == 1, result.output
    assert "ended before the 1e-07% that was wanted" in words(result)
    assert "2 rounds" in result.stdout
    assert CliRunner().invoke(app, ["verify", "channel.json"]).exit_code == 0


@pytest.mark.parametrize("suffix", ["svg", "png", "pdf"])
def test_pictures(here, suffix):
    begin = {"svg": b"<?xml", "png": b"\x89PNG", "pdf": b"%PDF"}[suffix]
    assert run("paris.csv", "-m", "ln 2/500 great_circle", "--picture", f"map.{suffix}").exit_code == 0
    assert run("line.csv", "-m", "ln 2 absolute", "--picture", f"line.{suffix}").exit_code == 0
    for name in ("map", "line"):
        assert (here / f"{name}.{suffix}").read_bytes().startswith(begin)


def test_without_matplotlib_the_line_to_install_it(here, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    result = run("line.csv", "-m", "absolute", "--picture", "map.svg")
    assert one_line(result) == "metricdp: matplotlib is not installed; run: pip install 'metricdp[plots]'\n"


def test_the_secret_of_a_picture(here, monkeypatch):
    drawn = []
    import metricdp.plots.channel_maps as maps

    draw = maps.channel_map
    monkeypatch.setattr(maps, "channel_map", lambda *arguments: drawn.append(arguments[1]) or draw(*arguments))
    metric = ("paris.csv", "-m", "ln 2/500 great_circle", "--overwrite", "--picture", "map.png")
    assert run(*metric).exit_code == 0
    assert run(*metric, "--secret", "Opéra").exit_code == 0
    assert drawn == [(48.8606, 2.3376), (48.8719, 2.3316)], "the likeliest, and the one that was asked for"
    assert run(*metric, "--secret", "Eiffel").exit_code == 2


def test_files_are_refused_before_the_search(here, monkeypatch):
    (here / "there.json").write_text("mine")
    monkeypatch.setattr(command, "_bar", None)  # would fail, were it reached
    for arguments, expected in [
        (["-o", "there.json"], "--out: there.json exists already; choose another name, or --overwrite"),
        (["-o", "channel.txt"], "--out: channel.txt must end in one of .json"),
        (["-o", "nowhere/channel.json"], "there is no folder nowhere"),
        (["-o", "line.csv", "--overwrite"], "another file of this command"),
        (["--picture", "map.gif"], "--picture: map.gif must end in one of .svg, .png, .pdf"),
    ]:
        assert expected in one_line(run("line.csv", "-m", "absolute", *arguments))
    assert (here / "there.json").read_text() == "mine"


def one_line(result):
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    assert len(result.stderr.splitlines()) == 1
    assert result.stderr.startswith("metricdp: ")
    return result.stderr


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("name,value\na,1\nb,2\n\nc,2\n", "line 5: the same point as in line 3"),
        ("name,value\na,1\na,2\n", "line 3: the same name as in line 2"),
        ("name,value\na,1\n,2\n", "line 3: an empty name"),
        ("value\n1\n1.0\n", "line 3: the same point as in line 2"),
        ("value\n1\nnan\n", "line 3: NaN or infinity where a number belongs, in column 'value'"),
        ("value\n1\ninf\n", "line 3: NaN or infinity where a number belongs, in column 'value'"),
        ("x,y\n1,2\n3,\n", "line 3: an empty cell, where one such as 0.25, 2/3 or 1e-9 belongs, in column 'y'"),
        ("x,y\n1,2\n3\n", "line 3: 1 cells, where the header has 2"),
        ('name,value\n"a\nb",1\nc,1\n', "line 4: the same point as in line 2"),
        ("1,2\n3,4\n", "line 1: the first line names the columns"),
        ("value,value\n3,4\n", "line 1: the column 'value' stands twice"),
        ("value,\n3,4\n", "line 1: column 2 has no name"),
        ("colour\nred\n", "line 1: none of the columns colour is known"),
        ("x,y,lat,lon\n1,2,3,4\n", "line 1: (lat, lon) and (x, y) could both be the coordinates"),
        ("value\n", "has a header alone"),
        ("", "is empty"),
        ("value,weight\n1,2\n2,-1\n", "line 3: a negative weight in column 'weight'"),
        ("value,weight\n1,0\n2,0\n", "all weights in column 'weight' are 0"),
        ("value,weight\n1,x\n2,0\n", "line 2: a cell that is no number"),
        ("value,weight,visits\n1,1,1\n2,1,1\n", "several columns of weights, 'weight' and 'visits'"),
        ('name,value\n"a,1\n', "it cannot be read as CSV"),
    ],
)
def test_mistakes_in_the_points(here, text, expected):
    (here / "bad.csv").write_text(text)
    assert expected in one_line(run("bad.csv", "-m", "absolute"))


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["paris.csv", "-m", "euclid"], "--metric: 'euclid' is no metric"),
        (["paris.csv", "-m", "great_circle", "--at", "lon"], "paris.csv: line 2: no point of great-circle(m) (lon)"),
        (["teas.csv", "-m", "absolute"], "teas.csv: line 2: no point of |x − y| (name)"),
        (["line.csv", "-m", "absolute", "--at", "height"], "line.csv has no column 'height'; it has value"),
        (["line.csv", "-m", "absolute", "--prior", "weights"], "line.csv has no weights"),
        (["line.csv", "-m", "absolute", "--prior", "people"], "line.csv has no column 'people'"),
        (
            ["line.csv", "-m", "absolute", "--worst-case", "--prior", "uniform"],
            "--worst-case: the worst case is the same",
        ),
        (["line.csv", "-m", "absolute", "--gap", "0"], "--gap: the gap must be positive"),
        (["line.csv", "-m", "absolute", "--time-limit", "0"], "--time-limit: the time limit must be positive"),
        (["line.csv", "-m", "absolute", "--loss", "square"], "--loss: 'square' is no loss"),
        (["line.csv", "-m", "absolute", "--loss", "none.csv"], "--loss: there is no file none.csv"),
        (["named.csv", "-m", "absolute", "--loss", "short.csv"], "there is no row for the point 'middle'"),
        (["large.csv", "-m", "euclidean", "--loss", "plain.csv"], "3 rows for 100 points"),
        (["line.csv", "-m", "absolute", "--outputs", "teas.csv"], "--outputs: teas.csv has no column 'value'"),
    ],
)
def test_mistakes_are_one_line(here, arguments, expected):
    assert expected in one_line(run(*arguments))


def test_not_text(here):
    (here / "bad.csv").write_bytes(b"name,value\n\xff\xfe,1\n")
    assert "bad.csv is not text in UTF-8" in one_line(run("bad.csv", "-m", "absolute"))


def test_a_level_that_was_forgotten_is_asked_for(here):
    result = run("paris.csv", "--metric", "great_circle")
    assert "Was the level left out? It stands before the metric" in words(result)
    assert "level left out" not in words(run("paris.csv", "--metric", "ln 2/200 great_circle"))


def test_labels_cannot_steer_the_terminal(here):
    (here / "evil.csv").write_text("name,value\n\x1b[31m,1\nb,2\n")
    for arguments in (("-m", "absolute"), ("-m", "absolute", "--json"), ("-m", "great_circle")):
        assert "\x1b" not in run("evil.csv", *arguments).output


def test_coordinates_are_read_exactly(here):
    (here / "mixed.csv").write_text("x,y\n1,0.1\n+2,.5\n2/3,1e1\n")
    points = read_points(here / "mixed.csv").coordinates
    assert [[type(part).__name__ for part in point] for point in points] == [
        ["int", "float"],
        ["int", "Fraction"],
        ["Fraction", "float"],
    ]
    assert [[float(part) for part in point] for point in points] == [[1, 0.1], [2, 0.5], [2 / 3, 10]]


def test_a_point_that_is_not_there(here):
    with pytest.raises(ArgumentError, match="no point 'top' in named\\.csv; there is low, middle, high"):
        read_points(here / "named.csv").index("top")


def test_the_bar_closes_the_gap(monkeypatch):
    """On a terminal: it begins empty, and is full where the gap is reached."""
    parts = []
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    import rich.progress

    update = rich.progress.Progress.update
    monkeypatch.setattr(
        rich.progress.Progress,
        "update",
        lambda bar, task, **new: parts.append(new["completed"]) or update(bar, task, **new),
    )
    with command._bar(1e-4) as tell:
        for apart in (2.0, 0.1, 1e-3, 5e-5, 0.0):
            tell(Update(done=1, unit="rounds", best=1.0, bound=1.0 - apart))
    assert parts[0] == 0
    assert parts[-2:] == [1, 1]
    assert parts == sorted(parts)


def test_help_teaches():
    output = " ".join(CliRunner().invoke(app, ["optimal", "--help"], env={"COLUMNS": "200"}).output.split())
    assert "metricdp optimal places.csv --metric 'ln 2/200 great_circle' -o channel.json --picture map.svg" in output
    assert "Exit status: 0 if" in output


@pytest.mark.parametrize("delimiter", [";", "\t"])
def test_other_delimiters_are_recognised(here, delimiter):
    (here / "other.csv").write_text((here / "named.csv").read_text().replace(",", delimiter))
    for name in ("named.csv", "other.csv"):
        assert run(name, "-m", "ln 2 absolute").exit_code == 0
    assert read_points(here / "other.csv").rows == read_points(here / "named.csv").rows
