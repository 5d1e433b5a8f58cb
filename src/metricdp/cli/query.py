"""``metricdp query``: private answers to a question about a table."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from metricdp.cli.seeding import noise

if TYPE_CHECKING:
    from metricdp.queries.select.asking import Asking

__all__ = ["query"]


class Engine(StrEnum):
    """What reads the table."""

    duckdb = "duckdb"
    spark = "spark"


def query(
    source: Annotated[
        str,
        typer.Argument(
            metavar="TABLE",
            help="A Parquet or CSV file or a folder of Parquet parts; or a .duckdb file or the address of a database, "
            "such as `postgres://host/name`, with --table.",
        ),
    ],
    question: Annotated[
        str, typer.Argument(metavar="QUESTION", help="`'select .. [from ..] [where ..] [group by ..]'`, see above.")
    ],
    policy: Annotated[
        Path,
        typer.Option("--policy", "-p", metavar="P", exists=True, dir_okay=False, help="The policy, a TOML file."),
    ],
    table: Annotated[
        str | None, typer.Option("--table", "-t", metavar="NAME", help="The table's name in a database.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FILE", help="Write the answers too: .csv or .json.")
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace FILE if it is there.")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Check the policy and the question, and stop: no table is read.")
    ] = False,
    engine: Annotated[Engine, typer.Option(help="What reads files.")] = Engine.duckdb,
    seed: Annotated[
        int | None,
        typer.Option(metavar="N", help="Draw the noise from this seed, the same each time. **Not private.**"),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the answers as JSON.")] = False,
) -> None:
    """Answer a question about a table privately, each answer with its error bar.

    The policy says what the columns can hold, how many records there are, and how far apart two of them are:

        format = 1
        records = 5630

        [universe]
        sex = { type = "category", values = ["female", "male"] }
        age = { type = "integer", bounds = [0, 100] }

        [metric]
        sex = 0.5
        age = "ln 2/5 absolute"

    Two people who differ in sex cannot be told apart by more than a factor exp(0.5), and two whose ages are 5 years
    apart by a factor 2: by all answers to a question together. Where the number of records is a secret, write
    `capacity = 10000` and `absent = 0.5` in place of `records`.

    To begin with:

    - `metricdp query people.csv -p people.toml 'select count(*) from people where age >= 18'`

    - by group: `metricdp query people.csv -p people.toml 'select count(*), avg(age) from people group by sex'`

    - a histogram: `metricdp query people.csv -p people.toml 'select count(*) from people group by age' -o ages.csv`

    What can be asked: `count(*)`, `count(x)`, `sum(x)`, `avg(x)`, `median(x)`, `min(x)`, `max(x)`,
    `percentile(x, 0.9)`. Conditions compare columns with values by `= <> < <= > >=`, `between`, `in` and `is null`,
    joined by `and`, `or`, `not`. Groups come from the policy, never from the table: empty ones are answered too.

    Each run draws new noise and spends the promise once more. Leaves with 2 for a mistaken policy, question or
    command, with 1 for a table that is not as the policy says.
    """
    from metricdp.cli.channel_argument import printable
    from metricdp.cli.output_files import check_output
    from metricdp.cli.query_words import csv_text, json_text, plan_in_words, what_was_found
    from metricdp.cli.reports import print_json, print_text

    check_output("--out", out, (".csv", ".json"), overwrite, policy, Path(source))
    asking = _read(question, policy)
    if dry_run:
        print_text(printable(plan_in_words(asking)))
        return
    with _opened(source, table, engine) as (held, connection), noise(seed), _telling():
        answers = asking.answer(held, connection)
    if out is not None:
        from metricdp.tables.whole_files import appearing

        text = csv_text(answers) if out.suffix.lower() == ".csv" else json_text(answers)
        with appearing(out, overwrite) as temporary:
            temporary.write_text(text, encoding="utf-8")
    if json:
        print_json(answers.to_json() | {"table": table or Path(source).name, "out": out and str(out)})
    else:
        print_text(printable(what_was_found(answers, out)))


def _read(question: str, policy: Path) -> Asking:
    from metricdp.cli.channel_argument import mistakes
    from metricdp.cli.reports import policy_mistakes
    from metricdp.errors import MissingExtraError

    with mistakes("the question"):
        try:
            from metricdp.queries.select.asking import Asking
            from metricdp.queries.select.query_policy import QueryPolicy
        except ModuleNotFoundError as error:
            raise MissingExtraError(error.name or "ibis", "queries") from None
        with policy_mistakes(policy):
            rules = QueryPolicy.load(policy)
        return Asking.of(question, rules)


@contextmanager
def _opened(source: str, table: str | None, engine: Engine) -> Iterator[tuple[Any, Any]]:
    """The table and what reads it, as `histogram` takes them."""
    path = Path(source)
    address = "://" in source
    if not address and path.suffix.lower() not in (".duckdb", ".ddb", ".db"):
        if table is not None:
            raise typer.BadParameter("it goes with a database; a file is one table", param_hint="--table")
        if not path.exists():
            raise typer.BadParameter(f"there is no {source}", param_hint="TABLE")
        yield path, engine.value
        return
    if table is None:
        raise typer.BadParameter("which table of the database?", param_hint="--table")
    if not address and not path.is_file():
        raise typer.BadParameter(f"there is no {source}", param_hint="TABLE")
    connection = _connected(source, address)
    try:
        yield table, connection
    finally:
        connection.disconnect()


def _connected(source: str, address: bool) -> Any:
    from metricdp.errors import InputError, MissingExtraError
    from metricdp.queries.universes.engines.dialects import load_ibis

    ibis = load_ibis()
    try:
        return ibis.connect(source) if address else ibis.duckdb.connect(source, read_only=True)
    except ImportError as error:
        raise MissingExtraError(error.name or "psycopg", "postgres") from None
    except Exception:  # of any engine: its message may hold the address, and with it a password
        raise InputError(
            "the database could not be reached: look at its address, and whether you may read it"
        ) from None


@contextmanager
def _telling() -> Iterator[None]:
    """A word on a terminal while the table is read and noise is shared out; nothing elsewhere."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status("answering"):
        yield
