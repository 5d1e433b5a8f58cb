"""The one way to the screen: every exit status is earned, and every error is one line without a traceback."""

import pytest
import typer

from metricdp.cli import console
from metricdp.errors import DataError, FileError, LevelError, MissingExtraError, PolicyError


def failing(error):
    def command():
        raise error

    return command


@pytest.mark.parametrize(
    ("error", "status", "said"),
    [
        (DataError("a number is wanted", 3), console.REFUSED, "metricdp: row 3: a number is wanted\n"),
        (FileError("out.csv exists already"), console.MISTAKEN, "metricdp: out.csv exists already\n"),
        (FileNotFoundError(2, "No such file", "a\nb"), console.MISTAKEN, "metricdp: a\\nb: No such file\n"),
        (
            OSError(28, "No space left on device"),
            console.MISTAKEN,
            "metricdp: writing failed: No space left on device\n",
        ),
        (
            PolicyError(["line 1: x", "line\x1b 2: y"]),
            console.MISTAKEN,
            "metricdp: line 1: x\nmetricdp: line\\x1b 2: y\n",
        ),
        (
            typer.BadParameter("no \x1b[31m"),
            console.MISTAKEN,
            "metricdp: Invalid value: no \\x1b[31m. See metricdp --help\n",
        ),
        (typer.Exit(7), 7, ""),
        (RecursionError(), console.MISTAKEN, "metricdp: it is nested too deeply to be read\n"),
        (MemoryError(), console.MISTAKEN, "metricdp: there is not enough memory\n"),
        (KeyboardInterrupt(), console.INTERRUPTED, "metricdp: interrupted\n"),
        (BrokenPipeError(32, "Broken pipe"), console.PIPE_CLOSED, ""),
    ],
)
def test_every_end_has_its_status_and_its_line(error, status, said, capsys, monkeypatch):
    monkeypatch.setattr(console, "_forget_output", lambda: None)  # these tests still want theirs
    assert console.run(failing(error)) == status
    assert capsys.readouterr().err == said
    assert status in (*console.STATUSES, 7)


def test_a_defect_tells_its_place_and_not_its_message(capsys, monkeypatch):
    assert console.run(lambda: console.as_json({"a": object()})) == console.DEFECT
    said = capsys.readouterr().err
    assert said.startswith("metricdp: a defect in metricdp: TypeError at cli/console.py, line ")
    assert console.run(failing(ZeroDivisionError("secret"))) == console.DEFECT
    assert "secret" not in capsys.readouterr().err
    monkeypatch.setenv("METRICDP_TRACEBACK", "1")
    with pytest.raises(ZeroDivisionError):
        console.run(failing(ZeroDivisionError("secret")))


def test_a_defect_of_another_package_is_its_own(capsys):
    def command():
        console.know_options({}, "acme")
        raise ZeroDivisionError

    assert console.run(command) == console.DEFECT
    assert capsys.readouterr().err.startswith("metricdp: a defect in acme: ZeroDivisionError")


def test_a_mistake_names_what_it_is_about_once(capsys):
    for error in (LevelError("a level is positive"), LevelError("--metric: a level is positive")):
        with pytest.raises(typer.Exit) as leaving, console.mistakes("--metric"):
            raise error
        assert leaving.value.exit_code == console.MISTAKEN
        assert capsys.readouterr().err == "metricdp: --metric: a level is positive\n"
    with pytest.raises(typer.Exit), console.mistakes("--metric"):
        raise MissingExtraError("pyarrow", "tables")
    assert capsys.readouterr().err.startswith("metricdp: pyarrow is not installed")


def test_text_keeps_its_lines_and_json_is_ascii(capsys):
    console.print_text("one\x1b[31m\ntwo\r\n")
    assert capsys.readouterr().out == "one\\x1b[31m\ntwo\\r\n"
    console.print_json({"é\x1b": 1})
    assert capsys.readouterr().out == '{\n  "\\u00e9\\u001b": 1\n}\n'


def test_a_long_message_is_cut(capsys):
    console.complain("x" * 10**6)
    assert len(capsys.readouterr().err) < 2100


def test_help_that_nobody_reads_any_more_is_a_closed_pipe(monkeypatch):
    def printed():
        try:
            raise BrokenPipeError(32, "Broken pipe")
        except BrokenPipeError:
            raise SystemExit(1)  # as rich does  # noqa: B904

    monkeypatch.setattr(console, "_forget_output", lambda: None)
    assert console.run(printed) == console.PIPE_CLOSED
    with pytest.raises(SystemExit):
        console.run(failing(SystemExit(1)))


def test_a_stream_that_was_closed_takes_nothing(monkeypatch):
    monkeypatch.setattr("sys.stdout", None)
    assert console.run(lambda: console.print_text("x")) == console.DONE
