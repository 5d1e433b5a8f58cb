"""The command ``metricdp``: one thin file for each verb."""

from __future__ import annotations

import errno
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

import metricdp
from metricdp.cli.capacity import capacity
from metricdp.cli.demo import demo
from metricdp.cli.explain import explain
from metricdp.cli.inspect import inspect
from metricdp.cli.kernels import kernels
from metricdp.cli.leakage import leakage
from metricdp.cli.optimal import optimal
from metricdp.cli.query import query
from metricdp.cli.sanitize import sanitize
from metricdp.cli.verify import verify
from metricdp.errors import MetricDPError

__all__ = ["app"]


class _Verbs(TyperGroup):
    """Says an expected error in one line instead of a traceback."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except (MetricDPError, OSError) as error:
            if isinstance(error, OSError) and error.errno == errno.EPIPE:  # the reader of a pipe went away
                raise
            typer.echo(f"metricdp: {error}", err=True)
            raise typer.Exit(1) from None


# Typer's own tracebacks can show the values of local variables, and those are secrets here.
app = typer.Typer(
    name="metricdp",
    cls=_Verbs,
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
)
app.command()(demo)
app.command()(sanitize)
app.command()(explain)
app.command()(inspect)
app.command()(verify)
app.command()(leakage)
app.command()(optimal)
app.command()(capacity)
app.command()(kernels)
app.command()(query)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"metricdp {metricdp.__version__}")
        raise typer.Exit


@app.callback(epilog="Begin with `metricdp demo`; `metricdp demo --help` says what it shows.")
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
