"""Which commands there are, and where: our own, and those that other packages register.

A package outside adds a command by one line in its ``pyproject.toml``; the object is a function with typer's
annotations, or a `typer.Typer` with commands of its own:

    [project.entry-points."metricdp.commands"]
    greet = "my_package:greet"
"""

from __future__ import annotations

import functools
from typing import Any

import typer

from metricdp.cli import console
from metricdp.errors import ArgumentError
from metricdp.extensions import Registry

__all__ = ["COMMANDS", "REGISTRY", "load_command"]

_OURS = "metricdp"

_TABLES, _MECHANISMS, _SERVICES, _OTHERS = "Tables", "Mechanisms", "Services", "Of other packages"

COMMANDS = {
    "demo": _TABLES,
    "init": _TABLES,
    "explain": _TABLES,
    "sanitize": _TABLES,
    "inspect": _TABLES,
    "estimate": _TABLES,
    "compare": _TABLES,
    "query": _TABLES,
    "synthesize": _TABLES,
    "ledger": _TABLES,
    "verify": _MECHANISMS,
    "leakage": _MECHANISMS,
    "optimal": _MECHANISMS,
    "capacity": _MECHANISMS,
    "kernels": _MECHANISMS,
    "audit": _MECHANISMS,
    "papers": _MECHANISMS,
}
"""Our own commands, each under its heading in the help; `metricdp.cli.NAME` holds the function NAME."""


def _wrong(target: Any) -> str:
    return "" if callable(target) else "a command is a function or a typer.Typer"


REGISTRY: Registry[Any] = Registry(
    "commands", "command", {name: f"metricdp.cli.{name}:{name}" for name in COMMANDS}, _wrong
)


def load_command(name: str) -> Any:
    """The command of this name as typer runs it; None where there is none.

    One that cannot be loaded is listed all the same: its help says why, and so does its error.
    """
    if name not in REGISTRY:
        return None
    try:
        return _as_command(name, REGISTRY[name])
    except ArgumentError as error:
        command = _as_command(name, _refusal(error))
        command.allow_extra_args = command.ignore_unknown_options = True  # whatever was asked, this is the answer
        return command


def _refusal(error: ArgumentError) -> Any:
    def refused() -> None:
        raise error

    refused.__doc__ = f"Cannot be used: {error}."
    return refused


def _heading(name: str) -> str:
    """Of a command that is registered by an entry point: by this package's folders above, or by another package."""
    return _SERVICES if _package(name) == _OURS else _OTHERS


@functools.cache
def _as_command(name: str, target: Any) -> Any:
    """A function or a `typer.Typer` as a command, which tells the console its options before it runs."""
    if not isinstance(target, typer.Typer):
        alone = typer.Typer(add_completion=False, rich_markup_mode="markdown", pretty_exceptions_enable=False)
        alone.command(name, context_settings={"help_option_names": ["--help", "-h"]})(target)
        target = alone
    command: Any = typer.main.get_command(target)
    command.name = name
    command.rich_help_panel = COMMANDS.get(name) or _heading(name)
    if command.callback is not None:
        command.callback = _telling_its_options(command.callback, command.params, _package(name))
    for part in getattr(command, "commands", {}).values():  # of a typer.Typer with commands of its own
        if part.callback is not None and _package(name) != _OURS:
            part.callback = _telling_its_options(part.callback, part.params, _package(name))
    return command


def _package(name: str) -> str:
    """Whose command it is; ours where two claim it, since it is refused here."""
    try:
        extension = REGISTRY.extension(name)
    except ArgumentError:
        return _OURS
    return _OURS if extension is None else extension.package


def _telling_its_options(callback: Any, params: Any, package: str) -> Any:
    """The callback, which first tells the console its options, so that errors of Python functions name those."""
    options = {
        param.name: max(param.opts, key=len) for param in params if any(text.startswith("--") for text in param.opts)
    }

    @functools.wraps(callback)
    def run(*arguments: Any, **named: Any) -> Any:
        console.know_options(options, package)
        _refuse_two_from_one(
            {param.name: options.get(param.name, param.human_readable_name) for param in params}, named
        )
        return callback(*arguments, **named)

    return run


def _refuse_two_from_one(called: dict[str, str], named: dict[str, Any]) -> None:
    """Refuse two files on the standard input: the first to be read would take what is there."""
    dashes = [called[name] for name, value in named.items() if name not in _OUTPUTS and str(value) == "-"]
    if len(dashes) > 1:
        raise typer.BadParameter(f"{' and '.join(dashes)} cannot both be the standard input: give one as a file")


_OUTPUTS = ("out", "report")
"""Parameters whose ``-`` is the standard output."""
