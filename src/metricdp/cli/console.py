"""The one way to the screen: what is printed, what is said of an error, and the exit status.

Whatever holds a name from outside is printed by this file alone, so that nothing in it steers the terminal.

With ``--json`` a command prints one object, its envelope, whether it ends well or not:

=============  ====================================================================================
key            what it holds
=============  ====================================================================================
``format``     the version of this layout, an integer
``command``    which command it was, such as ``"verify"``; null where none was recognised
``version``    of metricdp
``guarantee``  what metricdp promises of what this run released or proved; null where it promises nothing
``result``     what the command found; null after an error
``error``      null, or an object with ``status``, ``kind`` (the class of the error) and ``messages``
=============  ====================================================================================
"""

from __future__ import annotations

import codecs
import errno
import json
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import typer

from metricdp.errors import BudgetError, DataError, MetricDPError, MissingExtraError, PolicyError
from metricdp.lazy import missing_extra
from metricdp.visible import visible, visible_name

__all__ = [
    "DEFECT",
    "DONE",
    "ENVELOPE",
    "FORMAT",
    "INTERRUPTED",
    "MISTAKEN",
    "PIPE_CLOSED",
    "REFUSED",
    "STATUSES",
    "USAGE_ERROR",
    "as_json",
    "complain",
    "mistakes",
    "note",
    "print_json",
    "print_result",
    "print_text",
    "run",
    "spinner",
]

DONE, REFUSED, MISTAKEN, DEFECT, INTERRUPTED, PIPE_CLOSED = 0, 1, 2, 3, 130, 141
STATUSES = {
    DONE: "it did what was asked, and the answer, if there is one, is yes",
    REFUSED: "the answer is no, or the data was refused: it breaks a rule of its policy, a promise does not hold, a "
    "claim does not fit, or a search ended early",
    MISTAKEN: "a mistake in the command, a policy or a metric; or a file that is missing, cannot be read or written, "
    "or exists already",
    DEFECT: "a defect in metricdp",
    INTERRUPTED: "Ctrl-C",
    PIPE_CLOSED: "the reader of a pipe went away",
}
"""Every exit status that a command can have, and what it says."""

FORMAT = 1
"""The version of the envelope of ``--json``."""

ENVELOPE = ("format", "command", "version", "guarantee", "result", "error")
"""Its keys, in this order."""

_LONGEST_MESSAGE = 2000
USAGE_ERROR: Any = next(kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException")
"""What typer raises where a command line is wrong."""

_PLAIN = {
    "·": "*", "−": "-", "–": "-", "—": "-", "×": "x", "≠": "!=", "≤": "<=", "≥": ">=", "≈": "~", "±": "+/-",
    "…": "...", "′": "'", "’": "'", "∅": "null", "∞": "inf", "Δ": "Delta", "∈": "in", "√": "sqrt", "•": "*",
    "ε": "epsilon", "δ": "delta", "²": "^2", "‖": "||", "Σ": "sum", "△": "symmetric difference", "π": "pi",
    "₀": "0", "₁": "1", "₂": "2", "₃": "3", "ℓ": "l",
    "→": "->", "←": "<-", "∪": "union", "∩": "intersection",
    "█": "#", "▉": "#", "▊": "#", "▋": "#", "▌": "#", "▍": "|", "▎": "|", "▏": "|", "░": ".", "▒": ":", "▓": "#",
    "─": "-", "━": "=", "│": "|", "┃": "|", "╭": "+", "╮": "+", "╰": "+", "╯": "+", "┌": "+", "┐": "+", "└": "+",
    "┘": "+", "├": "+", "┤": "+", "┬": "+", "┴": "+", "┼": "+", "╴": "-", "╶": "-", "╵": "|", "╷": "|",
    "┏": "+", "┓": "+", "┗": "+", "┛": "+", "┡": "+", "┩": "+", "╇": "+", "┳": "+", "╸": "=", "╺": "=",
}  # fmt: skip
"""Our own signs, for terminals that do not have them."""


@dataclass
class _Run:
    """The command that runs: which it is, whether it prints JSON, and what was said of errors so far."""

    command: str | None = None
    as_json: bool = False
    answered: bool = False
    kind: str | None = None
    messages: list[str] = field(default_factory=list)
    options: dict[str, str] = field(default_factory=dict)
    package: str = "metricdp"


_RUN: ContextVar[_Run | None] = ContextVar("run", default=None)


# What is printed


def print_text(text: str) -> None:
    """Print lines of text."""
    _write(sys.stdout, "\n".join(map(visible, text.rstrip("\n").split("\n"))))


def print_json(tree: Any) -> None:
    """Print as JSON, in ASCII, so that no sign in it can steer a terminal."""
    _write(sys.stdout, as_json(tree))


def print_result(result: Any, guarantee: Any = None) -> None:
    """Print what a command found in the envelope of ``--json``.

    Args:
        result: plain values for JSON.
        guarantee: what metricdp promises of what this run released or proved, as plain values; None for nothing.
    """
    running = _RUN.get() or _Run()
    running.answered = True
    print_json(_envelope(running, guarantee, result, None))


def _envelope(running: _Run, guarantee: Any, result: Any, error: Any) -> dict[str, Any]:
    import metricdp

    values = (FORMAT, running.command, metricdp.__version__, guarantee, result, error)
    return dict(zip(ENVELOPE, values, strict=True))


def as_json(tree: Any) -> str:
    """The tree as JSON, in ASCII and indented; numbers of other kinds are floats there."""
    return json.dumps(tree, indent=2, allow_nan=False, default=float)


def complain(message: str, about: str = "metricdp", kind: str | None = None) -> None:
    """Say one line about what is wrong on the standard error, and keep it for the envelope of ``--json``."""
    line = visible(message, _LONGEST_MESSAGE)
    running = _RUN.get()
    if running is not None:
        running.messages.append(line if about == "metricdp" else f"{visible(about)}: {line}")
        running.kind = running.kind or kind
    with suppress(OSError):  # nobody listens
        _write(sys.stderr, f"{visible(about)}: {line}")


def note(message: str) -> None:
    """Say one line on the standard error that is no error, where the standard output is for something else."""
    _write(sys.stderr, visible(message))


@contextmanager
def spinner(what: str) -> Iterator[Callable[[str], object]]:
    """A sign of life on a terminal, whose words can be changed; nothing elsewhere."""
    if not sys.stderr.isatty():
        yield lambda words: None
        return
    from rich.console import Console
    from rich.text import Text

    with Console(stderr=True).status(Text(what)) as status:
        yield lambda words: status.update(Text(words))


# What is wrong, and the exit status


@contextmanager
def mistakes(about: str | Path) -> Iterator[None]:
    """Say in one line what is wrong with an argument or a file that the command is about, and exit with status 2."""
    try:
        yield
    except (MetricDPError, OSError, RecursionError, MemoryError) as error:
        if _is_closed_pipe(error):
            raise
        message = _in_words(error)
        named = message.startswith(str(about)) or isinstance(error, MissingExtraError)
        complain(message if named else f"{about}: {message}", kind=type(error).__name__)
        raise typer.Exit(MISTAKEN) from None


def run(command: Callable[[], Any], arguments: Sequence[str] = (), name: str | None = None) -> int:
    """Run a command to its end, and say which exit status it has earned; no exception leaves, and no traceback.

    Args:
        command: what to run.
        arguments: of the command line, among them perhaps ``--json``: an error is then printed as JSON too.
        name: of the command.
    """
    options = arguments[: arguments.index("--")] if "--" in arguments else arguments
    running = _Run(name, "--json" in options)
    token = _RUN.set(running)
    try:
        return _to_the_end(command, running)
    finally:
        _RUN.reset(token)


def _to_the_end(command: Callable[[], Any], running: _Run) -> int:
    for stream in (sys.stdout, sys.stderr):
        _ready(stream)
    try:
        status = _status(command)
        if running.as_json and not running.answered and running.messages:
            error = {"status": status, "kind": running.kind, "messages": running.messages}
            print_json(_envelope(running, None, None, error))
        if sys.stdout is not None:
            sys.stdout.flush()
    except SystemExit as leaving:  # so rich ends where the reader of its help went away
        if not isinstance(leaving.__context__, BrokenPipeError):
            raise
        _forget_output()
        status = PIPE_CLOSED
    except OSError as error:
        if not _is_closed_pipe(error) and _in_words(error) not in running.messages:  # the command may have said so
            complain(_in_words(error))
        _forget_output()
        status = PIPE_CLOSED if _is_closed_pipe(error) else MISTAKEN
    return status


def _status(command: Callable[[], Any]) -> int:
    try:
        earned = command()
        return earned if isinstance(earned, int) else DONE
    except typer.Exit as leaving:
        return int(leaving.exit_code)
    except (KeyboardInterrupt, EOFError, typer.Abort):
        complain("interrupted", kind="KeyboardInterrupt")
        return INTERRUPTED
    except USAGE_ERROR as error:
        return _usage(error)
    except PolicyError as error:
        for problem in error.problems:
            complain(problem, kind="PolicyError")
        return MISTAKEN
    except (MetricDPError, OSError, RecursionError, MemoryError) as error:
        if _is_closed_pipe(error):
            raise
        complain(_in_words(error), kind=type(error).__name__)
        return REFUSED if isinstance(error, (BudgetError, DataError)) else MISTAKEN
    except Exception as error:
        running = _RUN.get()
        asking = f"metricdp.cli.{running.command if running is not None else None}"
        missing = missing_extra(error, asking) if isinstance(error, ImportError) else None
        if missing is not None:
            complain(str(missing), kind="MissingExtraError")
            return MISTAKEN
        if os.environ.get("METRICDP_TRACEBACK"):
            raise
        # Its message may hold a private value, so that only its kind and place are printed.
        whose = "metricdp" if running is None else visible_name(running.package)
        complain(
            f"a defect in {whose}: {type(error).__name__} at {_place(error)}. Please report it. METRICDP_TRACEBACK=1 "
            "shows more of it, which may hold private values",
            kind=type(error).__name__,
        )
        return DEFECT


def _usage(error: Any) -> int:
    """What typer finds wrong with a command, in one line."""
    context = getattr(error, "ctx", None)
    if type(error).__name__ == "NoArgsIsHelpError":
        error.show()
    else:
        message = " ".join(error.format_message().splitlines()).strip().removesuffix(".")
        path = _called() if context is None else context.command_path
        if "unexpected extra argument" in message:
            message += "; a text with spaces, such as a question, stands in quotes"
        ended = message if message.endswith("?") else f"{message}."
        complain(f"{visible(ended, _LONGEST_MESSAGE)} See {path} --help", kind="UsageError")
    return int(error.exit_code)


def _called() -> str:
    """The command that runs, as it is typed."""
    running = _RUN.get()
    return "metricdp" if running is None or running.command is None else f"metricdp {running.command}"


def _in_words(error: BaseException) -> str:
    if isinstance(error, RecursionError):
        return "it is nested too deeply to be read"
    if isinstance(error, MemoryError):
        return "there is not enough memory"
    if isinstance(error, OSError) and not isinstance(error, MetricDPError):
        file = "writing failed" if error.filename is None else os.fsdecode(error.filename)
        return f"{file}: {error.strerror or type(error).__name__}"
    return in_options(str(error))


def know_options(options: dict[str, str], package: str = "metricdp") -> None:
    """Tell which option of the running command stands for which argument of a Python function, and whose command it is.

    Args:
        options: by the names of the arguments.
        package: the package that has registered the command.
    """
    running = _RUN.get()
    if running is not None:
        running.options, running.package = options, package


def in_options(message: str) -> str:
    """A message of a Python function in the words of the command: its options in place of keyword arguments.

    >>> know_options({"overwrite": "--overwrite"})  # without effect: no command runs
    >>> in_options("a.csv exists already; choose another name, or overwrite=True")
    'a.csv exists already; choose another name, or overwrite=True'
    """
    running = _RUN.get()
    for name, option in ({} if running is None else running.options).items():
        message = re.sub(rf"\b{name}=True\b", option, message)
        message = re.sub(rf"\b{name}=(?=[^\s=])", f"{option} ", message)
    return message


def _place(error: BaseException) -> str:
    """The last line of this package that the error went through."""
    place, step = "an unknown line", error.__traceback__
    while step is not None:
        parts = Path(step.tb_frame.f_code.co_filename).parts
        if "metricdp" in parts:
            inside = parts[len(parts) - parts[::-1].index("metricdp") :]
            place = f"{'/'.join(inside)}, line {step.tb_lineno}"
        step = step.tb_next
    return place


def _is_closed_pipe(error: BaseException) -> bool:
    return isinstance(error, OSError) and error.errno == errno.EPIPE


def _forget_output() -> None:
    """Let what cannot be printed go nowhere, so that Python does not try again when it ends."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())


# Terminals that do not know every sign


def _write(stream: Any, text: str) -> None:
    """Write a line; where there is no stream, because it was closed before, nothing."""
    if stream is not None:
        _ready(stream)
        stream.write(text + "\n")
        stream.flush()


def _ready(stream: Any) -> None:
    """Let a stream write every text: a sign that it does not have in other words, or as an escape."""
    if hasattr(stream, "reconfigure"):
        stream.reconfigure(errors=_HANDLER)


def _in_other_words(error: UnicodeError) -> tuple[str | bytes, int]:
    assert isinstance(error, UnicodeEncodeError)
    signs = error.object[error.start : error.end]
    words = "".join(_PLAIN.get(sign, sign.encode("unicode_escape").decode("ascii")) for sign in signs)
    return words, error.end


_HANDLER = "metricdp.other_words"
codecs.register_error(_HANDLER, _in_other_words)
