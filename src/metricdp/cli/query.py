"""``metricdp query``: private answers to a question about a table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from metricdp.cli.options.ledger import (
    ChargedAccountOption,
    LedgerOption,
    WitnessOption,
    open_ledger,
    refuse_without_ledger,
)
from metricdp.cli.options.report import PolicyOption
from metricdp.cli.options.seed import noise
from metricdp.cli.options.streams import is_dash
from metricdp.cli.options.table import EngineOption, TableArgument, TableOption, called, read_source

if TYPE_CHECKING:
    from metricdp.policies.sql.public_tables import PublicTable
    from metricdp.queries.select.asking import Asking

__all__ = ["query"]


def query(
    source: TableArgument,
    question: Annotated[
        str, typer.Argument(metavar="QUESTION", help="`'select .. [from ..] [where ..] [group by ..]'`, see above.")
    ],
    policy: PolicyOption,
    table: TableOption = None,
    public: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=FILE",
            help="A public table that the question may join by that name, on a column of the policy; may be repeated.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FILE", help="Write the answers too: .csv or .json; - prints CSV."),
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace FILE if it exists.")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Check the policy and the question, and stop: no table is read.")
    ] = False,
    engine: EngineOption = "auto",
    seed: Annotated[
        int | None,
        typer.Option(metavar="N", help="Draw the noise from this seed, the same each time. **Not private.**"),
    ] = None,
    ledger: LedgerOption = None,
    account: ChargedAccountOption = None,
    witness: WitnessOption = None,
    json: Annotated[bool, typer.Option("--json", help="Print the answers as JSON.")] = False,
) -> None:
    """Answer a question about a table privately, each answer with its error bar.

    The policy says what the columns can hold, how many records there are, and how far apart two of them are:

        format = 2
        records = 5630

        [columns]
        sex = {type = "category", values = ["female", "male"], epsilon = 0.5}
        age = {type = "integer", bounds = [0, 100], within = "5 years"}

    Two people who differ in sex cannot be told apart by more than a factor exp(0.5), and two whose ages are 5 years
    apart by a factor 2: by all answers to a question together. Where the number of records is a secret, write
    `capacity = 10000` and `absent = 0.5` in place of `records`.

    To begin with:

    - `metricdp query people.csv -p people.toml 'select count(*) from people where age >= 18'`

    - by group: `metricdp query people.csv -p people.toml 'select count(*), avg(age) from people group by sex'`

    - a histogram: `metricdp query people.csv -p people.toml 'select count(*) from people group by age' -o ages.csv`

    - with a public table beside it: `metricdp query people.csv -p people.toml --public regions=regions.csv 'select
    r.name, count(*) from people p join regions r on p.region = r.code group by r.name'`

    What can be asked: `count(*)`, `count(x)`, `sum(x)`, `avg(x)`, `median(x)`, `min(x)`, `max(x)`,
    `percentile(x, 0.9)`. Conditions compare columns with values by `= <> < <= > >=`, `between`, `in` and `is null`,
    joined by `and`, `or`, `not`. Groups come from the policy, never from the table: empty ones are answered too.

    Each run draws new noise and spends the promise once more. With `--ledger spent.db --account city` it is charged
    first, and a question that was answered before about the same file is answered from the ledger, for nothing.

    Exit status: 0 if the question was answered; 1 if the table breaks a rule of the policy, or the account cannot bear
    it; 2 if the command, the policy, the question or a file is at fault.
    """
    from metricdp.cli.console import print_result, print_text, spinner
    from metricdp.cli.options.output import check_output, refuse_two_on_one
    from metricdp.cli.options.streams import say
    from metricdp.cli.words.query import csv_text, json_text, plan_in_words, plan_tree, what_was_found

    refuse_without_ledger(ledger, account, seed, witness)
    refuse_two_on_one(json, out=out)
    check_output("--out", out, (".csv", ".json"), overwrite, policy, Path(source))
    asking = _read(question, policy, _public(public))
    if dry_run:
        if json:
            print_result(plan_tree(asking))
        else:
            print_text(plan_in_words(asking))
        return
    place = read_source(source, table)
    with noise(seed), spinner("answering"):
        asking.policy.policy.refuse_without_ledger(ledger is not None)
        if ledger is None:
            answers = asking.answer(place, engine)
        else:
            from metricdp.sessions import Session

            with open_ledger(ledger, witness) as opened:
                session = Session(place, asking.policy.policy, opened, account, engine=engine, public=_given(asking))
                answers = session.ask(question)
    if out is not None:
        from metricdp.sources.whole_files import appearing

        text = json_text(answers) if out.suffix.lower() == ".json" else csv_text(answers)
        if is_dash(out):
            print_text(text)
        else:
            with appearing(out, overwrite) as temporary:
                temporary.write_text(text, encoding="utf-8")
    if json:
        promise = None if answers.guarantee is None else answers.guarantee.to_json()
        print_result(answers.to_json() | {"table": called(place), "out": out and str(out)}, promise)
    else:
        say(what_was_found(answers, None if is_dash(out) else out), out)


def _given(asking: Asking) -> dict[str, PublicTable]:
    """The public tables that a question joins, as they were read."""
    return {one.table.name: one.table for one in asking.select.public}


def _public(given: list[str] | None) -> dict[str, PublicTable]:
    """The public tables that are written as NAME=FILE, read."""
    from metricdp.cli.console import mistakes
    from metricdp.policies.sql.public_tables import public_tables

    found = {}
    for text in given or ():
        name, equal, path = text.partition("=")
        if not equal or not name or not path:
            raise typer.BadParameter("write NAME=FILE, such as regions=regions.csv", param_hint="--public")
        if not Path(path).exists():
            raise typer.BadParameter(f"there is no file {path}", param_hint="--public")
        found[name] = Path(path)
    with mistakes("--public"):
        return public_tables(found)


def _read(question: str, policy: Path, public: dict[str, PublicTable]) -> Asking:
    from metricdp.cli.console import mistakes
    from metricdp.cli.options.report import policy_mistakes, read_policy

    with mistakes("the question"):
        from metricdp.queries.select.asking import Asking

        with policy_mistakes(policy):
            rules = read_policy(policy).askable
            return Asking.of(question, rules, public=public)
