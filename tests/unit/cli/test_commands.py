"""What every command does alike, whichever it is: a test that goes through all of them."""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import typer
from typer.testing import CliRunner

import metricdp
from metricdp import extensions
from metricdp.cli import app, console
from metricdp.cli.commands import COMMANDS, load_command

POLICY = """
format = 2
records = 4

[columns.age]
type = "integer"
within = "5 years"
bounds = [0, 100]
missing = "refuse"
"""
FILES = {
    "people.csv": "age\n20\n30\n40\n50\n",
    "people.toml": POLICY,
    "noise.csv": ",a,b\na,2/3,1/3\nb,1/3,2/3\n",
    "points.csv": "name,value\nlow,0\nhigh,1\n",
    "boxes.py": "import metricdp as mdp\n\nbox = mdp.laplace(mdp.metrics.absolute())\n",
}

GOOD = {
    "demo": ["--seed", "1"],
    "init": ["people.csv", "-o", "draft.toml"],
    "explain": ["people.toml"],
    "sanitize": ["people.csv", "-p", "people.toml", "-o", "out.parquet"],
    "inspect": ["released.parquet"],
    "estimate": ["released.parquet", "select avg(age)"],
    "compare": ["people.csv", "released.parquet"],
    "query": ["people.csv", "select avg(age)", "-p", "people.toml"],
    "synthesize": ["people.csv", "-p", "people.toml", "-o", "made.parquet"],
    "verify": ["noise.csv", "-m", "ln 2 discrete"],
    "leakage": ["noise.csv"],
    "optimal": ["points.csv", "-m", "ln 2 absolute"],
    "capacity": ["points.csv", "-m", "ln 2 absolute"],
    "kernels": ["points.csv", "-m", "ln 2 absolute"],
    "audit": ["boxes:box", "-m", "absolute", "--pairs", "0 ~ 1", "-n", "2000"],
    "papers": ["5", "--item", "fig1", "--quick"],
    "ledger create": ["new.db"],
    "ledger account": ["more", "-l", "spent.db", "-m", "ln 2 absolute"],
    "ledger balance": ["city", "-l", "spent.db"],
    "ledger history": ["-l", "spent.db"],
    "ledger check": ["-l", "spent.db"],
    "ledger export": ["-l", "spent.db", "-o", "out.csv"],
}
"""Arguments with which each command ends well."""

MISSING = {
    "init": ["gone.file", "-o", "draft.toml"],
    "explain": ["gone.file"],
    "sanitize": ["gone.file", "-p", "people.toml", "-o", "out.parquet"],
    "inspect": ["gone.file"],
    "estimate": ["gone.file", "select avg(age)"],
    "compare": ["gone.file", "released.parquet"],
    "query": ["gone.file", "select count(*)", "-p", "people.toml"],
    "synthesize": ["gone.file", "-p", "people.toml", "-o", "made.parquet"],
    "verify": ["gone.file", "-m", "ln 2 discrete"],
    "leakage": ["gone.file"],
    "optimal": ["gone.file", "-m", "ln 2 absolute"],
    "capacity": ["gone.file", "-m", "ln 2 absolute"],
    "kernels": ["gone.file", "-m", "ln 2 absolute"],
    "audit": ["gone.file", "noise.csv", "--pairs", "0 ~ 1", "-m", "absolute"],
    "ledger account": ["more", "-l", "gone.file", "-m", "ln 2 absolute"],
    "ledger balance": ["city", "-l", "gone.file"],
    "ledger history": ["-l", "gone.file"],
    "ledger check": ["-l", "gone.file"],
    "ledger export": ["-l", "gone.file", "-o", "out.csv"],
}
"""Arguments with a file that is not there; the demo reads none, and a ledger is created where none is."""


def loaded(command):
    """The command as typer runs it; of a group, such as the ledger, one of its commands."""
    first, *rest = command.split()
    return load_command(first).commands[rest[0]] if rest else load_command(first)


def leaves(name):
    return [f"{name} {inner}" for inner in getattr(load_command(name), "commands", ())] or [name]


ALL = [leaf for name in COMMANDS for leaf in leaves(name)]


@pytest.fixture
def files(here, monkeypatch):
    monkeypatch.syspath_prepend(str(here))
    sys.modules.pop("boxes", None)
    if not (here / "released.parquet").exists():
        run("sanitize", "people.csv", "-p", "people.toml", "-o", "released.parquet", "--report", "report.json")
        run("ledger", "create", "spent.db")
        run("ledger", "account", "city", "-l", "spent.db", "-m", "ln 2 absolute")
    return here


def run(*arguments, text=None):
    return CliRunner().invoke(app, list(arguments), input=text)


def words(text):
    return " ".join(re.sub(r"[│╭╮╰╯─•]", " ", text).split())


def process(*arguments, text=b"", **environment):
    known = os.environ | {"PYTHONPATH": str(Path(metricdp.__file__).parents[1])} | environment
    return subprocess.run(
        [sys.executable, "-m", "metricdp", *arguments], input=text, capture_output=True, env=known, check=False
    )


def test_these_are_all_commands():
    assert set(GOOD) == set(ALL)
    assert set(MISSING) == set(ALL) - {"demo", "ledger create", "papers"}
    folder = Path(console.__file__).parent
    shared = {"__init__", "commands", "console"}
    files = {path.stem for path in folder.glob("*.py")} - shared | {"demo"}
    assert files == set(COMMANDS), "one file for each command"


@pytest.mark.parametrize("command", ALL)
def test_help_has_an_example_and_the_statuses(command):
    result = run(*command.split(), "--help")
    assert result.exit_code == 0
    text = words(result.stdout)
    assert f"metricdp {command}" in text.split("Usage:")[1].split("[OPTIONS]", 1)[1], "an example, after the usage"
    assert "Exit status: 0 if" in text
    assert "--json" in text
    assert run(*command.split(), "-h").stdout == result.stdout


@pytest.mark.parametrize("command", ALL)
def test_json_is_the_envelope(command, files):
    result = run(*command.split(), *GOOD[command], "--json")
    assert result.exit_code == 0, result.output
    tree = json.loads(result.stdout)
    assert tuple(tree) == console.ENVELOPE
    assert (tree["format"], tree["command"], tree["version"]) == (
        console.FORMAT,
        command.split()[0],
        metricdp.__version__,
    )
    assert tree["error"] is None
    assert tree["result"]
    assert tree["guarantee"] is None or tree["guarantee"]["formula"].endswith("-private")
    assert result.stdout.isascii()


def test_who_vouches_for_a_guarantee(files):
    def guarantee(command):
        more = ["--overwrite"] if command in ("init", "sanitize", "synthesize", "ledger export") else []
        return json.loads(run(*command.split(), *GOOD[command], "--json", *more).stdout)["guarantee"]

    promised = {command for command in ALL if guarantee(command)}
    assert promised == {
        "explain", "sanitize", "query", "synthesize", "verify", "optimal", "capacity", "kernels", "ledger account",
    }  # fmt: skip
    broken = json.loads(run("verify", "noise.csv", "-m", "0.1 discrete", "--json").stdout)
    assert (broken["guarantee"], broken["error"], broken["result"]["holds"]) == (None, None, False)


@pytest.mark.parametrize("command", list(MISSING))
@pytest.mark.parametrize("form", [[], ["--json"]])
def test_a_missing_file_is_named(command, form, files):
    result = run(*command.split(), *MISSING[command], *form)
    assert result.exit_code == console.MISTAKEN, result.output
    assert "gone.file" in result.stderr
    assert "Traceback" not in result.output
    if not form:
        assert result.stdout == ""
        return
    tree = json.loads(result.stdout)
    assert tuple(tree) == console.ENVELOPE
    assert (tree["command"], tree["result"], tree["guarantee"]) == (command.split()[0], None, None)
    assert tree["error"]["status"] == console.MISTAKEN
    assert tree["error"]["kind"].endswith("Error")
    assert "gone.file" in tree["error"]["messages"][0]


@pytest.mark.parametrize("command", ALL)
def test_an_unknown_option_exits_with_status_2(command, files):
    result = run(*command.split(), *GOOD[command], "--no-such-option")
    assert result.exit_code == 2
    assert "--no-such-option" in result.stderr
    assert f"metricdp {command} --help" in result.stderr
    tree = json.loads(run(*command.split(), *GOOD[command], "--no-such-option", "--json").stdout)
    assert tree["error"]["kind"] == "UsageError"


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        (["sanitise"], "No such command 'sanitise'. Did you mean 'sanitize'? See metricdp --help"),
        (["quxx"], "No such command 'quxx'. See metricdp --help"),
        (["ledger", "balence"], "No such command 'balence'. Did you mean 'balance'? See metricdp ledger --help"),
        (["sanitize", "--policy"], "Option '--policy' requires an argument. See metricdp sanitize --help"),
    ],
)
def test_what_is_mistyped_is_answered_with_what_there_is(typed, said):
    result = run(*typed)
    assert (result.exit_code, result.stderr) == (console.MISTAKEN, f"metricdp: {said}\n")


@pytest.mark.parametrize("command", ALL)
def test_ctrl_c_exits_with_status_130(command, files, monkeypatch):
    def interrupted(*arguments, **named):
        raise KeyboardInterrupt

    monkeypatch.setattr(loaded(command), "callback", interrupted)
    result = run(*command.split(), *GOOD[command])
    assert result.exit_code == console.INTERRUPTED
    assert result.stderr == "metricdp: interrupted\n"
    assert "Traceback" not in result.output


def test_a_real_ctrl_c_ends_a_search(files):
    lines = "\n".join(f"{x},{y}" for x in range(12) for y in range(12))
    (files / "grid.csv").write_text(f"x,y\n{lines}\n")
    known = os.environ | {"PYTHONPATH": str(Path(metricdp.__file__).parents[1])}
    program = [sys.executable, "-m", "metricdp", "kernels", "grid.csv", "-m", "ln 2 euclidean"]
    with subprocess.Popen(program, env=known, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as running:
        try:
            running.wait(4)
        except subprocess.TimeoutExpired:
            running.send_signal(signal.SIGINT)
        _, said = running.communicate(timeout=60)
    assert running.returncode in (console.INTERRUPTED, console.REFUSED, console.MISTAKEN)
    assert "Traceback" not in said


def test_a_short_option_means_one_thing():
    meanings = {}
    for command in ALL:
        for param in loaded(command).params:
            long = [text for text in param.opts if text.startswith("--")]
            for text in param.opts:
                if re.fullmatch("-[a-zA-Z]", text):
                    meanings.setdefault(text, set()).update(long)
    assert {text: meant for text, meant in meanings.items() if len(meant) > 1} == {}
    assert meanings["-p"] == {"--policy"}
    assert meanings["-t"] == {"--table"}
    assert meanings["-o"] == {"--out"}


def test_no_option_is_called_html():
    names = {text for command in ALL for param in loaded(command).params for text in param.opts}
    assert "--html" not in names
    assert "--report" in names


def test_the_help_tells_the_statuses_the_envelope_and_the_completion():
    text = words(run("--help").stdout)
    for status, meaning in console.STATUSES.items():
        assert f"{status}: {meaning}" in text
    assert ", ".join(console.ENVELOPE) in text
    assert "--install-completion" in text
    page = (Path(metricdp.__file__).parents[2] / "docs" / "command.md").read_text(encoding="utf-8")
    for status, meaning in console.STATUSES.items():
        assert f"| {status} | {meaning} |" in page
    for key in console.ENVELOPE:
        assert f"| `{key}` |" in page


@pytest.mark.parametrize(
    ("so_far", "wanted"), [("metricdp ver", "verify"), ("metricdp sanitize --pol", "--policy"), ("metricdp ", "demo")]
)
def test_a_shell_completes(so_far, wanted):
    asked = {"_METRICDP_COMPLETE": "complete_bash", "COMP_WORDS": so_far, "COMP_CWORD": str(so_far.count(" "))}
    done = process(**asked)
    assert done.returncode == 0
    assert wanted in done.stdout.decode().split()


def test_the_script_for_a_shell_is_shown():
    done = process("--show-completion", "bash", _TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION="1")
    assert done.returncode == 0
    assert b"_METRICDP_COMPLETE=complete_bash" in done.stdout


# Standard input and output


@pytest.mark.long
def test_the_standard_input_and_output_are_files_too(files):
    table = "age\n" + "30\n" * 200
    piped = process("sanitize", "-", "-p", "people.toml", "-o", "-", text=table.encode())
    assert piped.returncode == 0, piped.stderr
    lines = piped.stdout.decode().split()
    assert lines[0] == '"age"'
    assert len(lines) == 201
    assert all(0 <= int(line) <= 100 for line in lines[1:])
    assert len(set(lines[1:])) > 5
    assert b"Promised for each row" in piped.stderr
    explained = process("explain", "-", text=POLICY.encode())
    assert b"odds within a factor 2 at 5 years" in explained.stdout
    found = process("optimal", "-", "-m", "ln 2 absolute", "-o", "-", text=b"value\n0\n1\n")
    assert found.returncode == 0, found.stderr
    assert process("verify", "-", text=found.stdout).returncode == 0
    answered = process(
        "query", "-", "select count(*)", "-p", "people.toml", "-o", "-", text=FILES["people.csv"].encode()
    )
    assert answered.stdout.splitlines()[0].startswith(b"count")
    kernels = process("kernels", "points.csv", "-m", "ln 2 absolute", "-o", "-")
    assert [json.loads(line)["format"] for line in kernels.stdout.splitlines()] == ["metricdp channel"]
    seen = process("inspect", "-", text=(files / "released.parquet").read_bytes())
    assert seen.returncode == 0


def test_two_things_on_one_output_are_refused(files):
    for arguments in (["-o", "-", "--json"], ["-o", "-", "--report", "-"]):
        result = run("sanitize", "people.csv", "-p", "people.toml", *arguments)
        assert result.exit_code == 2
        assert "both print on the standard output" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "both"),
    [
        (["sanitize", "-", "-p", "-", "-o", "out.csv"], "--policy and TABLE"),
        (["query", "-", "select avg(age)", "-p", "-"], "--policy and TABLE"),
        (["inspect", "-", "--against", "-"], "--against and FILE"),
    ],
)
def test_two_things_from_one_input_are_refused(arguments, both, files):
    result = run(*arguments)
    assert result.exit_code == 2
    assert f"{both} cannot both be the standard input" in result.stderr


@pytest.mark.parametrize(
    ("table", "words"), [("", "this one is empty"), ("s3://bucket/people.csv", "fetch"), ("https://x/a.csv", "fetch")]
)
def test_a_table_that_is_no_place_here(table, words, files):
    result = run("sanitize", table, "-p", "people.toml", "--dry-run")
    assert result.exit_code == 2
    assert words in result.stderr


def test_a_folder_is_not_overwritten(files):
    (files / "made.csv").mkdir()
    result = run("sanitize", "people.csv", "-p", "people.toml", "-o", "made.csv", "--overwrite")
    assert result.exit_code == 2
    assert "made.csv is a folder" in result.stderr


def test_a_secret_from_the_standard_input_lies_in_no_file(files, monkeypatch):
    from metricdp.cli.options import streams

    if not hasattr(os, "memfd_create"):
        pytest.skip("only Linux has files in memory")
    with (files / "people.csv").open("rb") as content:
        monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=content))
        with streams.taken(Path("-")) as place:
            assert place.is_symlink()
            assert str(place.readlink()).startswith("/proc/")
            assert place.read_bytes() == FILES["people.csv"].encode()
            assert place.read_bytes() == FILES["people.csv"].encode(), "as often as need be"
    assert not place.parent.exists()


# Terminals


ENCODINGS = [
    {"PYTHONIOENCODING": "cp1252"},
    {"PYTHONIOENCODING": "ascii"},
    {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
]
SHOWN = [
    ["explain", "people.toml"],
    ["optimal", "points.csv", "-m", "ln 2 absolute"],
    ["demo", "--seed", "1"],
    ["--help"],
    ["verify", "--help"],
]


@pytest.mark.long
@pytest.mark.parametrize("environment", ENCODINGS)
@pytest.mark.parametrize("arguments", SHOWN)
def test_other_encodings_are_read_as_well(files, environment, arguments):
    done = process(*arguments, **environment)
    assert done.returncode == 0, done.stderr
    text = done.stdout.decode(environment.get("PYTHONIOENCODING", "ascii"))
    assert "\\u" not in text
    assert "?" not in text.replace("[?", "")
    if arguments[0] == "explain":
        assert "ln 2/5" in text
        assert "|x - y|" in text


# Commands of other packages


def greet(name: str = typer.Option("you", "--name")) -> None:
    """Say hello."""
    console.print_text(f"hello, {name}")


group = typer.Typer(name="group")
group.command("first")(greet)
group.command("second")(greet)


@pytest.fixture
def outside(monkeypatch):
    """Commands that another package registers."""

    def register(**references):
        found = tuple(extensions.Extension(name, where, "other-package") for name, where in references.items())
        monkeypatch.setattr(extensions, "_outside", lambda group: found if group == "metricdp.commands" else ())

    monkeypatch.setitem(sys.modules, "other_commands", sys.modules[__name__])
    return register


def test_another_package_registers_a_command(outside):
    outside(greet="other_commands:greet", group="other_commands:group")
    assert run("greet", "--name", "Ada").stdout == "hello, Ada\n"
    assert run("group", "second", "--name", "Ada").stdout == "hello, Ada\n"
    text = words(run("--help").stdout)
    assert "Of other packages greet Say hello." in text
    assert json.loads(run("greet", "--json").stdout)["command"] == "greet"


def test_a_command_that_cannot_be_loaded_says_why_and_spoils_no_other(outside):
    outside(gone="no_such_module:x", verify="other_commands:greet", number="other_commands:COUNT")
    shown = words(run("--help").stdout)
    assert "gone Cannot be used: the command 'gone' of the package other-package cannot be loaded" in shown
    result = run("gone")
    assert result.exit_code == 2
    assert "no_such_module" in result.stderr
    clash = run("verify", "x.csv")
    assert clash.exit_code == 2
    assert "is registered by metricdp and other-package" in clash.stderr
    assert "is a function or a typer.Typer" in run("number").stderr
    assert run("leakage", "--help").exit_code == 0


COUNT = 3


def test_errors_of_functions_name_options_not_arguments(capsys):
    def command():
        console.know_options({"overwrite": "--overwrite", "time_limit": "--time-limit"})
        raise metricdp.errors.FileError("a.csv exists already; choose another name, overwrite=True or time_limit=5")

    assert console.run(command) == console.MISTAKEN
    assert capsys.readouterr().err == (
        "metricdp: a.csv exists already; choose another name, --overwrite or --time-limit 5\n"
    )
