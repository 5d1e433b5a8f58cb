"""What a person sees: names from outside steer no terminal, every error is a line, and no message holds a secret."""

import html
import json
import os
import signal
import subprocess
import sys
import time
import warnings
from html.parser import HTMLParser
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.ipc
import pyarrow.parquet
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from typer.testing import CliRunner

from metricdp.cli import app
from tests.attacks.effort import attack

DONE, REFUSED, MISTAKEN, INTERRUPTED, PIPE_CLOSED = 0, 1, 2, 130, 141
"""As `metricdp --help` says."""

SECRET = "Zebulon4711"
NUMBER = 471104711047
SPOOF = "SPOOFED LINE"

PIECES = [
    "\x1b[31m",
    "\x1b]0;title\x07",
    "\x1b[2J",
    "\x9b31m",
    "\x00",
    "\x07",
    "\x08",
    "\r",
    "\n",
    f"-\n{SPOOF}",
    "\t",
    "\x7f",
    "\x85",
    "\u202e",
    "\u2066",
    "\u200b",
    "\u200d",
    "\ufeff",
    "\u2028",
    "\u034f",
    "\u3164",
    "\ufe0f",
    "\U000e0041",
    "\U0001f600",
    "[red]",
    "[/]",
    "[link=x]",
    "<script>alert(1)</script>",
    "</title>",
    "&amp;",
    '"',
    "'",
    "\\",
    "$\\frac{$",
    "$",
    "{0}",
    "%s",
    "{name}",
    "é",
    "日本",
    "columns",
    "#",
    "=",
    ",",
    ";",
    " ",
]
names = st.lists(st.sampled_from(PIECES) | st.text("abc", max_size=3), min_size=1, max_size=4).map("".join)
LONG = "x" * 10**6


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("screen")


@pytest.fixture(autouse=True)
def here(folder, monkeypatch):
    monkeypatch.chdir(folder)


def run(*arguments, allowed=(DONE, REFUSED, MISTAKEN)):
    """Run the command in this process, and hold what it prints against everything that is promised of it."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit), repr(result.exception)
    assert result.exit_code in allowed, result.stderr
    check_screen(result.stdout)
    check_screen(result.stderr)
    assert result.exit_code == DONE or result.stdout or result.stderr
    assert len(result.stderr) < 10_000
    return result


def check_screen(text):
    assert "Traceback" not in text
    steering = sorted({sign for sign in text if sign != "\n" and not sign.isprintable()})
    assert not steering, steering
    assert not any(sign in text for sign in ("\u034f", "\u3164", "\ufe0f"))
    assert SECRET not in text
    assert str(NUMBER) not in text
    assert not any(line.strip().startswith(SPOOF) for line in text.splitlines())


def toml(text):
    """A text as TOML writes it."""
    plain = "".join(sign if " " <= sign <= "~" and sign not in '"\\' else f"\\U{ord(sign):08x}" for sign in text)
    return f'"{plain}"'


class Page(HTMLParser):
    """The tags of a page and its text."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.words = set(), []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)

    def handle_data(self, data):
        self.words.append(data)


# Names


@pytest.mark.long
@attack(5)
@given(
    st.lists(names, min_size=6, max_size=6, unique=True), st.lists(names, min_size=3, max_size=3, unique=True), names
)
@example(
    ["\x1b[31mred", f"a\n{SPOOF}", "[bold]b[/]", "<script>", "\u202ec", LONG], ["\x1b[2J", "[red]", "</p>"], "\x1b[1mm"
)
def test_names_of_columns_and_labels_are_shown_escaped(columns, labels, unit):
    number, category, tree, kept, dropped, place = columns
    parents = [f"{toml(label)} = 'branch {place}'" for place, label in enumerate(labels)]
    parents += [f"'branch {place}' = 'root'" for place in range(len(labels))]
    policy = f"""
        format = 2
        [columns]
        {toml(number)} = {{type = "number", within = {toml("5 " + unit.replace(chr(10), "_"))}, bounds = [0, 100]}}
        {toml(category)} = {{type = "category", values = [{", ".join(map(toml, labels))}], epsilon = 1}}
        {toml(tree)} = {{type = "category", epsilon = 1, parents = {{{", ".join(parents)}}}}}
        {toml(kept)} = "keep"
        {toml(dropped)} = "drop"
        {toml(place)} = {{type = "integer", within = 3, missing = "public"}}
    """
    Path("names.toml").write_text(policy, encoding="utf-8")
    row = {number: 7.5, category: labels[0], tree: labels[0], kept: "k", dropped: SECRET, place: 3}
    pa.parquet.write_table(pa.Table.from_pylist([row] * 3), "names.parquet")

    assert run("explain", "names.toml").exit_code == DONE
    for form in ("html", "txt", "json"):
        command = ["sanitize", "names.parquet", "-p", "names.toml", "-o", "out.parquet", "--report", f"report.{form}"]
        assert run(*command, "--overwrite").exit_code == DONE
    assert run("inspect", "out.parquet").exit_code == DONE
    assert pa.parquet.read_schema("out.parquet").names == [name for name in row if name != dropped]
    printed = json.loads(run("explain", "names.toml", "--json").stdout)["result"]
    written = json.loads(Path("report.json").read_text(encoding="utf-8"))
    for tree_of_report in (printed, written):
        assert [column["name"] for column in tree_of_report["columns"]] == [number, category, tree, place]
        assert tree_of_report["kept"] == [kept]
    check_screen(Path("report.txt").read_text(encoding="utf-8"))
    page = Path("report.html").read_text(encoding="utf-8")
    check_screen(page)
    read = Page(page)
    assert "script" not in read.tags
    assert "title" in read.tags
    if kept.isprintable() and kept.isascii() and len(kept) < 100:
        assert any(kept in words or kept in html.unescape(words) for words in read.words)


@attack(12)
@given(names, names, st.sampled_from(["explain", "sanitize", "inspect", "verify", "leakage", "capacity"]))
@example("\x1b[31m", f"a\n{SPOOF}", "explain")
def test_names_of_files_and_of_unknown_things_are_shown_escaped(file, other, command):
    path = file.replace("/", "").replace("\x00", "")[:60] or "x"
    Path("plain.toml").write_text("format = 2\n[columns]\na = 'keep'\n")
    wanted = {
        "explain": [path],
        "sanitize": [path, "-p", "plain.toml", "--dry-run"],
        "inspect": [path],
        "verify": [path, "-m", f"ln 2 {other}".replace("\x00", "")],
        "leakage": [path, "--prior", other.replace("\x00", "")],
        "capacity": [path, "-m", other.replace("\x00", "")],
    }[command]
    assert run(command, *wanted).exit_code in (MISTAKEN, REFUSED)
    for ending in (".csv", ".toml", ".parquet"):
        Path(path + ending).write_text(f'"{other.replace(chr(34), "")}",b\n1,2\n', encoding="utf-8")
        run(command, path + ending, *wanted[1:])
        Path(path + ending).unlink()
    run(command, *wanted, other)
    run(f"{command}{other}")
    run(command, f"--{other}")


@attack(6)
@given(st.lists(names, min_size=3, max_size=3, unique=True), names)
@example(["\x1b[31mred", f"a\n{SPOOF}", "c"], "\x1b[1mx")
def test_points_and_channels_with_any_labels(labels, header):
    texts = [label.replace("\x00", "").strip().strip('"') or str(number) for number, label in enumerate(labels)]
    quoted = ['"' + text.replace('"', '""') + '"' for text in texts]
    column = '"' + (header.replace("\x00", "").replace('"', "").strip() or "h") + '"'
    points = f"name,value,{column}\n" + "".join(f"{name},{place},1\n" for place, name in enumerate(quoted))
    Path("points.csv").write_text(points, encoding="utf-8", newline="")
    channel = f",{','.join(quoted)}\n" + "".join(f"{name},1/2,1/4,1/4\n" for name in quoted)
    Path("channel.csv").write_text(channel, encoding="utf-8", newline="")
    run("optimal", "points.csv", "-m", "ln 2 absolute", "--picture", "map.svg", "--overwrite", "-g", "0.1")
    run("optimal", "points.csv", "-m", "ln 2 discrete", "--prior", header, "-g", "0.1")
    run("kernels", "points.csv", "-m", "ln 2 absolute")
    run("capacity", "points.csv", "-m", "ln 2 absolute")
    run("verify", "channel.csv", "-m", "0.5 discrete")
    run("leakage", "channel.csv")


def claimed(changed):
    """Inspect a released file whose claim was changed, value by value."""
    Path("claim.toml").write_text("format = 2\n[columns]\na = {type = 'integer', within = 5}\nb = 'keep'\n")
    table = pa.table({"a": [1, 2], "b": [1, 2]})
    if not Path("claimed.parquet").exists():
        pa.parquet.write_table(table, "claim.parquet")
        run("sanitize", "claim.parquet", "-p", "claim.toml", "-o", "claimed.parquet")
    claim = json.loads(pa.parquet.read_schema("claimed.parquet").metadata[b"metricdp.report"])

    def spoilt(tree):
        if isinstance(tree, dict):
            return {key: spoilt(value) for key, value in tree.items()}
        return [spoilt(value) for value in tree] if isinstance(tree, list) else changed(tree)

    metadata = {b"metricdp.report": json.dumps(spoilt(claim)).encode(), b"metricdp.version": b"\x1b[31m\xff"}
    pa.parquet.write_table(table.replace_schema_metadata(metadata), "spoilt.parquet")
    json.loads(run("inspect", "spoilt.parquet", "--json").stdout or "{}")
    return run("inspect", "spoilt.parquet").stdout


@attack(15)
@given(st.data())
def test_a_claim_that_somebody_else_wrote_steers_no_terminal(data):
    other = st.sampled_from([None, "", [], {}, 10**400, -1, 1e308, "inf", True])

    def changed(value):
        if data.draw(st.integers(0, 5)):
            return value
        return data.draw(names if isinstance(value, str) else names | other)

    claimed(changed)


def test_a_claim_adds_no_line_of_its_own():
    printed = claimed(lambda value: f"-\n{SPOOF}" if isinstance(value, str) else value)
    assert f"-\\n{SPOOF}" in printed


# Broken files

DIGITS = "9" * 5000
BROKEN = {
    "empty": b"",
    "blank": b"\n\n \n",
    "bytes": bytes(range(256)) * 30,
    "wide": "format = 2\n".encode("utf-16"),
    "latin": b"format = 2\n[columns]\n\xe9 = 'keep'\n",
    "zero": b"a,b\x00,c\n1,2,3\n",
    "nested": b"[" * 50_000,
    "nested objects": b'{"a":' * 50_000,
    "huge": f"a,b\n1e999999999,{DIGITS}\n".encode(),
    "not a number": b",a,b\nx,nan,1\ny,1,inf\n",
    "twice": b"a,a\n1,2\n",
    "long": LONG.encode() + b",b\n1,2\n",
    "quote": f'a,b\n"1,{SECRET}\n'.encode(),
    "parquet": b"PAR1" + b"junk" * 9 + b"PAR1",
    "arrow": b"ARROW1\0\0junk",
    "points": b"name,value\nx,1e400\ny,-1e400\n",
    "globe": b"name,lat,lon\n\x1b[31mred,91,0\nb,0,999\n",
    "channel": b",a,b\nx,1/2,1/2\ny,1/3,2/3\n",
    "divided": b",a,b\nx,1/0,1\ny,1,0\n",
    "tiny": b",a,b\nx,1e-99999999,1\ny,1,0\n",
    "json": f'{{"format":1,"inputs":[1e999],"outputs":[NaN],"weights":[[1e400]],"total":{DIGITS}}}'.encode(),
    "surrogates": b'{"format":1,"inputs":["\\ud800"],"outputs":["\\udfff"],"weights":[["1"]],"total":"1"}',
    "policy of digits": f'format = 2\n[columns]\na = {{type="integer", within=1, bounds=[0,{DIGITS}]}}\n'.encode(),
    "policy of nan": b'format = 2\n[columns]\na = {type="number", within=nan}\nb = {type="number", within=inf}\n',
    "policy of exponents": b'format = 2\n[columns]\na = {type="number", within="1e99999"}\n',
    "policy of small numbers": b'format = 2\n[columns]\nb = {type="number", within=1e-320}\n',
    "policy of names": b'format = 2\n[columns]\n"a\\u001b[31m\\n" = {type="nmber"}\n"\\u202e" = 3\n',
    "policy of a long name": b'format = 2\n[columns]\n"' + LONG.encode() + b'" = {type="nmber"}\n',
    "policy of all time": b'format = 2\n[columns]\na = {type="time", within=1, bounds=[0001-01-01, 9999-12-31]}\n',
    "policy of a cycle": b'format = 2\n[columns]\na = {type="category", parents={x="y",y="x"}, epsilon=1}\n',
    "policy of a metric": b"[metric]\nkind = 5\n",
}
ENDINGS = [".csv", ".toml", ".json", ".parquet", ".arrow", ".txt", ""]
METRICS = [
    "ln 2 absolute",
    "0.5 discrete",
    "ln 2/200 great_circle",
    "1e99999 absolute",
    "0 absolute",
    "-1 discrete",
    "nan absolute",
    "ln 0 absolute",
    f"{DIGITS} discrete",
    "1/0 absolute",
    "",
    "\x1b[31m",
    "ln 2 " + "x" * 10_000,
    "1e-400 absolute",
    "hamming",
    f"ln {DIGITS} absolute",
    "\u202e absolute",
    "dates",
    "euclidean",
]
NUMBERS = ["1", "0", "-1", "nan", "inf", "1e-300", "1e999", DIGITS, "x", "1/0", "0.5,0.5", "1e999999999,1"]


@pytest.fixture(scope="module")
def broken(folder):
    for name, content in BROKEN.items():
        for ending in ENDINGS:
            (folder / f"{name}{ending}").write_bytes(content)
    for name in ("folder.parquet", "folder.csv", "folder.toml", "parts.parquet"):
        (folder / name).mkdir()
    (folder / "parts.parquet" / "part.parquet").write_bytes(b"PAR1x")
    return [f"{name}{ending}" for name in BROKEN for ending in ENDINGS] + [
        "folder.csv",
        "parts.parquet",
        "not there.csv",
    ]


def test_distances_beyond_floats_have_a_capacity(broken):
    assert "points.csv" in broken
    told = run("capacity", "points.csv", "-m", "ln 2 absolute", allowed=(DONE,))
    assert "infinity" not in told.stdout


@attack(100)
@given(st.data())
def test_whatever_a_file_holds_the_command_ends_in_a_line(broken, data):
    def pick(*endings):
        return data.draw(st.sampled_from([name for name in broken if not endings or name.endswith(endings)]))

    def one(*options):
        return list(data.draw(st.sampled_from(options)))

    def number():
        return data.draw(st.sampled_from(NUMBERS))

    metric = data.draw(st.sampled_from(METRICS) | st.sampled_from(broken))
    points = [pick(".csv", ".txt"), "-m", metric]
    command, arguments = (
        data.draw(
            st.sampled_from(
                ["sanitize", "explain", "inspect", "verify", "leakage", "optimal", "capacity", "kernels", "query"]
            )
        ),
        [],
    )
    if command == "sanitize":
        out = one(["--dry-run"], ["-o", "made.parquet"], ["-o", "made.csv"], ["-o", "made"], ["-o", "no/made.arrow"])
        arguments = [pick(), "-p", pick(".toml"), *out, *one([], ["--json"], ["--seed", number()])]
    elif command == "explain":
        arguments = [pick(".toml", ".csv"), *one([], ["--json"], ["--report", "made.html"], ["--report", "folder.csv"])]
    elif command == "inspect":
        arguments = [pick(), *one([], ["--json"])]
    elif command == "verify":
        arguments = [
            pick(".csv", ".json", ".parquet"),
            *one([], ["-m", metric]),
            *one([], ["-e", number()], ["--delta", number()]),
        ]
    elif command == "leakage":
        arguments = [pick(".csv", ".json"), *one([], ["--prior", number()], ["--prior", pick()])]
    elif command == "query":
        question = data.draw(st.sampled_from(["select count(*)", "select avg(a) from b", "\x1b[31m", "select", ""]))
        arguments = [pick(), question, "-p", pick(".toml"), *one([], ["--dry-run"])]
    elif command == "optimal":
        more = one(
            [], ["-g", number()], ["--loss", pick()], ["--prior", number()], ["--secret", "\x1b"], ["--outputs", pick()]
        )
        arguments = [*points, "--time-limit", "1", *more]
    elif command == "kernels":
        arguments = [*points, "--most", number()]
    else:
        arguments = points
    before = sorted(path.name for path in Path().iterdir())
    result = run(command, *arguments)
    made = sorted({path.name for path in Path().iterdir()} - set(before))
    assert not [name for name in made if name.startswith(".")], "something unfinished was left behind"
    if result.exit_code != DONE:
        assert result.stderr or command in ("inspect", "verify", "optimal", "kernels")
        assert not made or command in ("optimal", "kernels")
    for name in made:
        Path(name).unlink()


def test_an_integer_of_thousands_of_digits_is_a_mistake_of_the_policy(broken):
    result = run("explain", "policy of digits.toml")
    assert result.exit_code == MISTAKEN
    assert result.stderr.count("\n") == 1
    assert "digits" in result.stderr


@pytest.mark.long
def test_a_level_of_thousands_of_digits_is_a_mistake_of_the_command(broken):
    for metric in (f"{DIGITS} discrete", f"ln {DIGITS} absolute", f"1/{DIGITS} discrete"):
        result = run("verify", "channel.csv", "-m", metric)
        assert result.exit_code == MISTAKEN
        assert result.stderr == "metricdp: --metric: a level lies between 1e-100 and 1e100\n"


# Secrets

WRONG = [
    SECRET,
    [SECRET],
    {SECRET: 1},
    {SECRET: {SECRET: SECRET}},
    [{SECRET: 1.5}],
    NUMBER,
    float(NUMBER),
    NUMBER * 10**8,
    [NUMBER],
    SECRET.encode(),
    None,
    float("nan"),
    float("inf"),
    True,
    [(SECRET, 1)],
    {},
]
ENTRIES = [
    "{type = 'number', within = 5, bounds = [0, 10]}",
    "{type = 'number', within = 5, missing = 'refuse'}",
    "{type = 'integer', within = 5, bounds = [0, 10], missing = 'refuse'}",
    "{type = 'integer', within = 5}",
    "{type = 'boolean', factor = 2}",
    "{type = 'category', values = ['a', 'b'], factor = 2, missing = 'refuse'}",
    "{type = 'category', values = [1, 2], factor = 2}",
    "{type = 'category', parents = {a = 'x', b = 'x'}, epsilon = 1}",
    "{type = 'time', within = '3 days'}",
    "{type = 'set', values = ['a', 'b'], factor = 3}",
    "{type = 'series', length = 2, within = 1}",
    "'keep'",
    "'drop'",
]


@attack(40)
@given(
    st.sampled_from(WRONG), st.sampled_from(ENTRIES), st.sampled_from([".parquet", ".arrow", ".csv"]), st.integers(0, 3)
)
@example({SECRET: 1}, ENTRIES[0], ".parquet", 0)
@example({SECRET: 1}, "'keep'", ".parquet", 0)
def test_no_message_holds_a_secret(wrong, entry, ending, unnamed):
    named = "" if unnamed == 0 else "whose = 'drop'\n"
    Path("secret.toml").write_text(f"format = 2\n[columns]\nvalue = {entry}\n{named}")
    try:
        table = pa.table({"value": [wrong, wrong], "whose": [SECRET, {"a": SECRET}["a"]]})
    except (pa.ArrowException, OverflowError):
        return  # nothing that Arrow holds
    source = Path(f"secret{ending}")
    try:
        if ending == ".parquet":
            pa.parquet.write_table(table, source)
        elif ending == ".arrow":
            with pa.ipc.new_file(source, table.schema) as file:
                file.write_table(table)
        else:
            source.write_text(f'value,whose\n{json.dumps(wrong, default=str)!s},"{SECRET}"\n', encoding="utf-8")
    except (pa.ArrowException, TypeError, ValueError):
        return
    for out in (["--dry-run"], ["-o", "secret_out.parquet"], ["--json", "-o", "secret_out.csv"]):
        result = run("sanitize", source, "-p", "secret.toml", *out, "--overwrite")
        if result.exit_code != DONE:
            assert not Path(out[-1]).exists()
        Path(out[-1]).unlink(missing_ok=True)


# Real processes


def start(*arguments, **streams):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **streams.pop("environment", {})}
    program = "import sys; from metricdp.cli import app; print('+', file=sys.stderr, flush=True); app()"
    command = [sys.executable, "-c", program, *map(str, arguments)]
    return subprocess.Popen(command, stderr=subprocess.PIPE, env=environment, **streams)


def ended(process):
    """The exit status, and what was said on the standard error after the start."""
    with process:
        said = process.stderr.read().decode()
        return process.wait(60), said.removeprefix("+\n")


@pytest.fixture(scope="module")
def policy(folder):
    path = folder / "real.toml"
    path.write_text("format = 2\n[columns]\na = {type = 'number', within = 5, bounds = [0, 100]}\n")
    return path


def test_a_closed_pipe_ends_the_command_in_silence(policy):
    process = start("explain", "real.toml", stdout=subprocess.PIPE)
    process.stdout.close()
    assert ended(process) == (PIPE_CLOSED, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no disk that is always full")
@pytest.mark.parametrize("arguments", [["explain", "real.toml"], ["--version"]])
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_full_disk_is_one_line(policy, arguments, unbuffered):
    with Path("/dev/full").open("w") as full:
        status, said = ended(start(*arguments, stdout=full, environment={"PYTHONUNBUFFERED": unbuffered}))
    assert status == MISTAKEN
    assert said.startswith("metricdp: ")
    assert said.count("\n") == 1
    assert "No space left" in said


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="a named pipe keeps the command waiting")
def test_an_interrupt_is_one_line(folder):
    os.mkfifo(folder / "waiting.toml")
    process = start("explain", "waiting.toml", stdout=subprocess.DEVNULL)
    assert process.stderr.read(2) == b"+\n"
    time.sleep(2)
    process.send_signal(signal.SIGINT)
    assert ended(process) == (INTERRUPTED, "metricdp: interrupted\n")


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
def test_an_old_terminal_reads_other_words(policy, encoding):
    process = start("explain", "real.toml", stdout=subprocess.PIPE, environment={"PYTHONIOENCODING": encoding})
    printed = process.stdout.read().decode(encoding)
    assert ended(process) == (DONE, "")
    wanted = {"ascii": "ln 2/5*(|x - y| with null at 100)", "cp1252": "ln 2/5·(|x - y| with null at 100)"}
    assert wanted[encoding] in printed
