"""``metricdp ledger``: what has been spent, on disk."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from metricdp.cli.options.ledger import LedgerOption, WitnessOption, open_ledger
from metricdp.visible import visible

if TYPE_CHECKING:
    from metricdp.ledger import Balance, Receipt
    from metricdp.metrics import Guarantee

__all__ = ["ledger"]

AccountOption = Annotated[str | None, typer.Option("--account", "-a", metavar="NAME", help="Of this account alone.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]

ledger = typer.Typer(
    no_args_is_help=True, add_completion=False, rich_markup_mode="markdown", pretty_exceptions_enable=False
)


@ledger.callback()
def about() -> None:
    """Keep account of what is released: accounts with caps, balances, the whole history, and a check of it.

    To begin with:

    - `metricdp ledger create spent.db`

    - `metricdp ledger account city -l spent.db --metric 'ln 2/200 great_circle' --dataset rides --receiver 'the city'`

    - `metricdp ledger balance -l spent.db`

    A ledger that is set in the environment as METRICDP_LEDGER needs no --ledger. All verbs take --json.

    Exit status: 0 if it was done, and a check found nothing; 1 if a check found something; 2 if the command has a
    mistake, or there is no such ledger or account.
    """


@ledger.command()
def create(
    url: Annotated[str, typer.Argument(metavar="URL", help="A SQLite file to make, or `postgresql://host/name`.")],
    witness: WitnessOption = None,
    json: JsonOption = False,
) -> None:
    """Make a new ledger.

    Where there is one already it is refused: a second ledger would forget what the first one knows.

    To begin with: `metricdp ledger create spent.db`

    Exit status: 0 if the ledger was made; 2 if it could not be.
    """
    from metricdp.cli.console import print_result, print_text
    from metricdp.ledger import Ledger

    with Ledger.create(url, witness=witness) as made:
        if json:
            print_result({"ledger": made.id, "address": made.address})
        else:
            print_text(f"The ledger {visible(made.address)} is ready. Open an account: metricdp ledger account --help")


@ledger.command()
def account(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Of the new account.")],
    ledger: LedgerOption = None,
    metric: Annotated[
        str | None,
        typer.Option(
            "--metric", "-m", metavar="M", help="The cap: a level and a metric, as in `'ln 2/200 great_circle'`."
        ),
    ] = None,
    attribute: Annotated[
        list[str] | None,
        typer.Option(
            "--attribute", metavar="NAME=M", help="The cap of one column, as in `'age=ln 2/5 absolute'`; once for each."
        ),
    ] = None,
    policy: Annotated[
        Path | None,
        typer.Option("--policy", "-p", metavar="P", help="The cap is so many times a policy's metric; see --times."),
    ] = None,
    times: Annotated[
        str, typer.Option("--times", metavar="N", help="How many releases under the policy the cap takes.")
    ] = "1",
    delta: Annotated[str | None, typer.Option("--delta", metavar="D", help="The cap's delta.")] = None,
    advanced: Annotated[
        str | None,
        typer.Option("--advanced", metavar="D", help="The part of the delta that advanced composition uses."),
    ] = None,
    dataset: Annotated[str, typer.Option("--dataset", metavar="TEXT", help="Which data set it is for.")] = "",
    receiver: Annotated[str, typer.Option("--receiver", metavar="TEXT", help="Whom the answers go to.")] = "",
    parent: Annotated[
        str | None, typer.Option("--parent", metavar="NAME", help="An account that is charged with this one.")
    ] = None,
    unit: Annotated[str, typer.Option("--unit", metavar="TEXT", help="Whom the metric protects: `a person`.")] = "",
    witness: WitnessOption = None,
    json: JsonOption = False,
) -> None:
    """Open an account with a cap: the most that all charges together may tell.

    - on a map: `metricdp ledger account city --metric 'ln 2/200 great_circle'`

    - by columns: `metricdp ledger account staff --attribute 'age=ln 2/5 absolute' --attribute 'sex=0.5 discrete'`

    - for ten questions about any column of a policy: `metricdp ledger account staff --policy staff.toml --times 10`

    - receivers who may collude: `metricdp ledger account press --parent everybody --metric '2 hamming'`

    Exit status: 0 if the account is open; 2 if the cap, the name or the ledger is at fault.
    """
    from metricdp.cli.console import mistakes, print_result, print_text

    with mistakes("the cap"):
        cap = _cap(metric, attribute or [], policy, times, delta)
    with open_ledger(ledger, witness) as found:
        made = found.open_account(
            name, cap, dataset=dataset, receiver=receiver, parent=parent, privacy_unit=unit, advanced=advanced
        )
        if json:
            print_result(made.to_json(), cap.to_json())
        else:
            print_text(f"Account {visible(name)} is open. All its charges together stay {cap}.")


@ledger.command()
def balance(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="The account; all where none is given.")] = None,
    ledger: LedgerOption = None,
    json: JsonOption = False,
) -> None:
    """Say what accounts have spent and have left, in the units of their metrics.

    To begin with: `metricdp ledger balance city -l spent.db`

    Exit status: 0 if the balance was printed; 2 if there is no such account or ledger.
    """
    from metricdp.cli.console import print_result, print_text

    with open_ledger(ledger) as found:
        names = [name] if name is not None else found.account_names()
        balances = [found.balance(one) for one in names]
    if json:
        print_result([one.to_json() for one in balances])
    else:
        print_text("\n\n".join(map(_balance_text, balances)) or "There are no accounts.")


@ledger.command()
def history(
    account: AccountOption = None,
    ledger: LedgerOption = None,
    after: Annotated[int, typer.Option("--after", metavar="N", help="Begin after the entry of this number.")] = 0,
    most: Annotated[int | None, typer.Option("--most", metavar="N", help="How many entries at most.")] = None,
    json: JsonOption = False,
) -> None:
    """Print the entries of a ledger in order.

    To begin with: `metricdp ledger history -l spent.db --account city --most 20`

    Exit status: 0 if the entries were printed; 2 if there is no such account or ledger.
    """
    from metricdp.cli.console import print_result, print_text

    with open_ledger(ledger) as found:
        entries = list(found.history(account, after=after, most=most))
    if json:
        print_result([entry.to_json() for entry in entries])
        return
    lines = []
    for entry in entries:
        what = entry.body.get("what", {}).get("description", "")
        promise = (entry.body.get("guarantee") or entry.body.get("cap") or {}).get("formula", "")
        words = f"answers {entry.charge}" if entry.charge else promise
        when = entry.at.replace("+00:00", "Z")
        lines.append(
            visible("  ".join(filter(None, [f"{entry.sequence:>6}", when, entry.kind, entry.account, words, what])))
        )
    print_text("\n".join(lines) or "There are no entries.")


@ledger.command()
def check(
    ledger: LedgerOption = None,
    receipts: Annotated[
        list[Path] | None,
        typer.Option("--receipts", metavar="FILE", help="JSON files with receipts."),
    ] = None,
    witness: WitnessOption = None,
    json: JsonOption = False,
) -> None:
    """Check the whole history: chained, in order, adding up, and as receipts and a witness remember it.

    To begin with: `metricdp ledger check -l spent.db --receipts receipts.json`

    Exit status: 0 if nothing was found; 1 if the ledger is not as it was written; 2 if the command or a file is at
    fault.
    """
    from metricdp.cli.console import REFUSED, mistakes, print_result, print_text, spinner

    kept = []
    for path in receipts or []:
        with mistakes(path):
            kept += _receipts(path)
    with open_ledger(ledger) as found, spinner("checking"):
        result = found.check(kept, witness=witness)
    if json:
        print_result(result.to_json())
    else:
        print_text(str(result))
    if not result:
        raise typer.Exit(REFUSED)


@ledger.command()
def export(
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="FILE", help="The file to make: .csv or .json; `-` prints it as CSV.")
    ],
    account: AccountOption = None,
    ledger: LedgerOption = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace FILE if it exists.")] = False,
    json: JsonOption = False,
) -> None:
    """Write the history with the fields that registries of deployments ask for.

    To begin with: `metricdp ledger export -l spent.db -o releases.csv`

    Exit status: 0 if the file was written; 2 if it could not be.
    """
    from metricdp.cli.console import print_result
    from metricdp.cli.options.output import check_output, refuse_two_on_one
    from metricdp.cli.options.streams import delivered, is_dash, say

    refuse_two_on_one(json, out=out)
    check_output("--out", out, (".csv", ".json"), overwrite)
    with open_ledger(ledger) as found, delivered(out, ".csv") as path:
        found.export(path, account, overwrite=overwrite)
    if json:
        print_result({"out": str(out)})
    elif not is_dash(out):
        say(f"Written to {visible(str(out))}")


def _cap(metric: str | None, columns: list[str], policy: Path | None, times: str, delta: str | None) -> Guarantee:
    from metricdp.cli.options.metric import read_guarantee, read_metric
    from metricdp.errors import ArgumentError
    from metricdp.metrics import Guarantee, attributes

    if (metric is not None) + bool(columns) + (policy is not None) != 1:
        raise ArgumentError("give --metric for the whole secret, or --attribute for each column, or --policy")
    if metric is not None:
        return read_guarantee(metric, None, delta)
    if policy is not None:
        from metricdp.ledger.charging import policy_cap
        from metricdp.policies import Policy

        cap = policy_cap(Policy.load(policy), times)
        return cap if delta is None else Guarantee(cap.metric, delta)
    named = {}
    for column in columns:
        name, equals, text = column.partition("=")
        if not equals or not name.strip() or name.strip() in named:
            raise ArgumentError(f"{column!r}: write NAME=METRIC, each name once, as in 'age=ln 2/5 absolute'")
        named[name.strip()] = read_metric(text)
    return Guarantee(attributes(named), delta or 0)


def _receipts(path: Path) -> list[Receipt]:
    import json

    from metricdp.errors import ArgumentError
    from metricdp.ledger import Receipt

    try:
        tree = json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        raise ArgumentError("it is not JSON that can be read") from None
    return [Receipt.from_json(one) for one in (tree if isinstance(tree, list) else [tree])]


def _balance_text(balance: Balance) -> str:
    about = balance.account
    head = ", ".join(filter(None, [about.name, about.dataset, f"for {about.receiver}" if about.receiver else ""]))
    lines = [visible(f"{head}: {balance.counted}; the cap is {balance.cap}")]
    lines += [f"  {_bar(part.share)} {part.share:>4.0%} spent  {part.words()}" for part in balance.parts]
    if balance.cap.delta:
        lines.append(f"  delta: {float(balance.delta_left):.3g} left")
    if about.parent is not None:
        lines.append(visible(f"  charged to {about.parent} as well"))
    return "\n".join(lines)


def _bar(share: float, width: int = 20) -> str:
    full = round(share * width)
    return "█" * full + "░" * (width - full)
