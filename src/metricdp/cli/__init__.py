"""The command ``metricdp``: one thin file for each verb, loaded when it is called.

A command of another package is registered by an entry point of the group ``metricdp.commands``, whose name is the verb
and whose object is a function or a `typer.Typer`.
"""

from __future__ import annotations

import difflib
import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

import metricdp
from metricdp.cli import console
from metricdp.cli.commands import REGISTRY, load_command
from metricdp.lazy import listing

__all__ = ["app"]

__dir__ = listing(__all__)

_EPILOG = """Begin with `metricdp demo`; `metricdp COMMAND --help` has examples.

- `-` is the standard input or output.

- `--json` prints one object with the keys {keys}; after an error too.

- `metricdp --install-completion` lets your shell complete commands and options.

Exit status of every command:

{statuses}
""".format(
    keys=", ".join(console.ENVELOPE),
    statuses="\n\n".join(f"- {status}: {words}" for status, words in console.STATUSES.items()),
)


class _Verbs(TyperGroup):
    """Finds a command when it is called; says what is wrong in one line, and never with a traceback."""

    def list_commands(self, ctx: Any) -> list[str]:
        return list(REGISTRY)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        return load_command(cmd_name)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        try:
            return super().resolve_command(ctx, args)
        except console.USAGE_ERROR as error:
            alike = difflib.get_close_matches(args[0], REGISTRY.names, n=1)
            if alike:
                error.message = f"{error.message.rstrip('.')}. Did you mean {alike[0]!r}?"
            raise

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: Any,
    ) -> Any:
        if not standalone_mode:
            return super().main(args, prog_name, complete_var, standalone_mode, windows_expand_args, **extra)
        given = list(sys.argv[1:] if args is None else args)

        def command() -> Any:
            self._main_shell_completion(extra, "metricdp", complete_var)  # ends here where a shell asks
            with self.make_context("metricdp", given, **extra) as context:
                return self.invoke(context)

        name = next((argument for argument in given if not argument.startswith("-")), None)
        sys.exit(console.run(command, given, name if name in REGISTRY else None))


# Typer's own tracebacks can show the values of local variables, and those are secrets here.
app = typer.Typer(
    name="metricdp",
    cls=_Verbs,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["--help", "-h"]},
)


def _version(asked: bool) -> None:
    if asked:
        console.print_text(f"metricdp {metricdp.__version__}")
        raise typer.Exit


@app.callback(epilog=_EPILOG)
def main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Metric differential privacy: release secrets, exactly as private as promised.

    You say how far apart two secrets are: metres on a map, dollars, days, steps in a taxonomy. Secrets that are close
    become nearly indistinguishable; secrets that are far apart may be told apart.

    A mechanism K is *d-private* when `K(x)(Z) <= exp(d(x, x')) K(x')(Z)` for all secrets x, x' and every set Z of
    outputs. So an adversary who sees the release can move the odds between two secrets by a factor `exp(d(x, x'))` at
    most, whatever they knew before.
    """
