"""Check a ledger from its first entry to its last."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from metricdp.errors import MetricDPError
from metricdp.exact.level_sums import LevelSum
from metricdp.ledger.accounts import Account
from metricdp.ledger.caps import DELTA
from metricdp.ledger.directory import Directory
from metricdp.ledger.entries import UNREADABLE, Receipt, canonical, digest, head_after
from metricdp.ledger.reading import read_rows
from metricdp.ledger.stores.store import Run, Store
from metricdp.ledger.totals import AccountTotals, Price, guarantee_from

__all__ = ["Check", "check_ledger"]

_MOST_PROBLEMS = 20
_PROGRESS = 5_000

UNKNOWN = (
    "whether entries were cut from the end, whether an older copy was restored, and whether the whole history was "
    "rewritten: only receipts or a witness, kept outside of the ledger, tell"
)


@dataclass(frozen=True)
class Check:
    """The answer of `Ledger.check`.

    Attributes:
        holds: whether nothing was found.
        entries: how many were read.
        head: of the last one.
        problems: what was found, the first ones.
        witness: the number of the first entry that is not as it was written; None where that is not known.
        receipts: how many heads from outside were compared.
        unknown: what this check cannot know.
    """

    holds: bool
    entries: int
    head: str
    problems: tuple[str, ...]
    witness: int | None
    receipts: int
    unknown: str

    @property
    def reason(self) -> str:
        """In words."""
        found = "; ".join(self.problems) or f"{self.entries:,} entries are chained, in order, and add up"
        agree = "1 receipt agrees" if self.receipts == 1 else f"{self.receipts:,} receipts agree"
        against = f"; {agree}" if self.receipts and self.holds else ""
        return f"{found}{against}" + (f". Not known: {self.unknown}" if self.unknown else "")

    def __bool__(self) -> bool:
        return self.holds

    def __str__(self) -> str:
        return f"{'Holds' if self.holds else 'DOES NOT HOLD'}: {self.reason}"

    def to_json(self) -> dict[str, Any]:
        """Plain values for programs."""
        return {
            "holds": self.holds,
            "entries": self.entries,
            "head": self.head,
            "problems": list(self.problems),
            "witness": self.witness,
            "receipts": self.receipts,
            "unknown": self.unknown,
        }


def check_ledger(
    store: Store,
    identity: str,
    receipts: Sequence[Receipt],
    progress: Callable[[int, int | None], object] | None = None,
) -> Check:
    """See `metricdp.ledger.Ledger.check`."""
    with store.reading() as run:
        walk = _Walk(run, identity, receipts)
        ((total,),) = run("select count(*) from ledger_entries", {})
        for count, row in enumerate(read_rows(run), 1):
            walk.entry(row)
            if progress is not None and count % _PROGRESS == 0:
                progress(count, total)
        walk.end()
    if progress is not None:
        progress(walk.count, total)
    problems = tuple(text for _, text in walk.problems)
    first = min((number for number, _ in walk.problems if number is not None), default=None)
    return Check(not problems, walk.count, walk.head, problems, first, len(receipts), walk.unknown)


class _Walk:
    """One pass over all entries, which knows what the next one must be."""

    def __init__(self, run: Run, identity: str, receipts: Sequence[Receipt]) -> None:
        self.run, self.identity = run, identity
        self.receipts: dict[int, list[Receipt]] = {}
        self.compared = max((receipt.sequence for receipt in receipts if receipt.ledger == identity), default=0)
        for receipt in receipts:
            self.receipts.setdefault(receipt.sequence, []).append(receipt)
        self.directory = Directory()
        self.problems: list[tuple[int | None, str]] = []
        self.count, self.head, self.sequence = 0, "", 0
        self.accounts: dict[int, Account] = {}
        self.totals: dict[int, AccountTotals] = {}
        self.prices: dict[str, Price] = {}
        self.exact: dict[int, list[Price]] = {}
        self.charges: set[int] = set()
        self.answers: set[int] = set()
        self.keys: set[tuple[int, str]] = set()
        self._check_metrics()

    def problem(self, number: int | None, text: str) -> None:
        if len(self.problems) < _MOST_PROBLEMS:
            self.problems.append((number, text if number is None else f"entry {number}: {text}"))

    def entry(self, row: tuple[Any, ...]) -> None:
        sequence, number, kind, at, key, request, charge, body, head = row
        self.count += 1
        if sequence != self.sequence + 1:
            self.problem(sequence, f"follows entry {self.sequence}: entries between them are missing")
        self.sequence = sequence
        name = self.accounts[number].name if number in self.accounts else ""
        try:
            if kind == "opened":
                name = json.loads(body)["name"]
            if head_after(self.head, (sequence, name, kind, at, key, request, charge, body)) != head:
                self.problem(sequence, "was changed, or something before it was: its head does not follow")
            self.head = head
            self._look_at_receipts(sequence, head)
            self._understand(sequence, number, kind, key, charge, body)
        except (MetricDPError, *UNREADABLE) as error:
            self.problem(sequence, f"cannot be read ({type(error).__name__})")

    def _look_at_receipts(self, sequence: int, head: str) -> None:
        for receipt in self.receipts.pop(sequence, ()):
            if receipt.ledger != self.identity:
                self.problem(None, f"a receipt for entry {sequence} is from another ledger")
            elif receipt.head != head:
                self.problem(sequence, "is not the one that its receipt tells of: the history was rewritten")

    def _understand(self, sequence: int, number: int, kind: str, key: Any, charge: Any, body: str) -> None:
        if (kind == "created") != (self.count == 1):
            self.problem(sequence, "is not what a ledger begins with" if self.count == 1 else "begins a ledger again")
        if kind == "created":
            if number or sequence != 1 or json.loads(body)["ledger"] != self.identity:
                self.problem(sequence, "says that another ledger begins here")
        elif kind == "opened":
            self._opened(sequence, number, body)
        elif kind == "charged":
            self._charged(sequence, number, key, body)
        elif kind == "answered":
            if charge not in self.charges or charge in self.answers:
                self.problem(sequence, f"answers entry {charge}, which is no charge that waits for an answer")
            self.answers.add(charge)
        else:
            self.problem(sequence, f"is of no kind that there is: {kind}")

    def _opened(self, sequence: int, number: int, body: str) -> None:
        account = Account.from_body(body, sequence, self.directory.unit(self.run))
        if account.number != number or account.name in self.directory.accounts:
            self.problem(sequence, "opens an account that is there already")
        if account.parent is not None and account.parent not in self.directory.accounts:
            self.problem(sequence, "opens an account below one that is not there")
        self.accounts[number] = self.directory.accounts[account.name] = account
        self.totals[number] = AccountTotals()

    def _charged(self, sequence: int, number: int, key: Any, body: str) -> None:
        self.charges.add(sequence)
        if key is not None:
            if (number, key) in self.keys:
                self.problem(sequence, "uses a request key for the second time")
            self.keys.add((number, key))
        if number not in self.accounts:
            self.problem(sequence, "charges an account that is not there")
            return
        price = self._price(body)
        for account in self._line(self.accounts[number]):
            self.totals[account.number] = self.totals[account.number].plus(price, account.cap)
            self.exact.setdefault(account.number, []).append(price)

    def _line(self, account: Account) -> Iterable[Account]:
        line: dict[str, Account] = {}
        found: Account | None = account
        while found is not None and found.name not in line:  # a history that somebody wrote can have one above itself
            line[found.name] = found
            found = None if found.parent is None else self.directory.accounts.get(found.parent)
        return line.values()

    def _price(self, body: str) -> Price:
        tree = json.loads(body)["guarantee"]
        name = canonical(tree)
        if name not in self.prices:
            self.prices[name] = Price.of(guarantee_from(tree, self.directory.unit(self.run)))
        return self.prices[name]

    def _check_metrics(self) -> None:
        for name, text in self.run("select digest, written from ledger_metrics", {}):
            if digest(text) != name:
                self.problem(None, f"the metric {name[:8]} was changed")

    def end(self) -> None:
        if not self.count:
            self.problem(None, "there are no entries, not even the one that a ledger begins with")
        for sequence, receipts in sorted(self.receipts.items()):
            if receipts[0].ledger != self.identity:
                self.problem(None, f"a receipt for entry {sequence} is from another ledger")
            else:
                self.problem(sequence, "has a receipt and is missing: the end was cut, or an older copy was restored")
        rows = self.run("select number, name, parent, body, totals from ledger_accounts order by number", {})
        stored = {number: rest for number, *rest in rows}
        if set(stored) != set(self.accounts):
            self.problem(None, "the list of accounts is not what the entries say")
        for number, (name, parent, body, totals) in stored.items():
            account = self.accounts.get(number)
            if account is None:
                continue
            above = None if account.parent is None else self.directory.accounts.get(account.parent)
            written = (account.name, None if above is None else above.number, canonical(account.body()))
            if (name, parent, body) != written:
                self.problem(account.opened, f"account {account.name!r} is not as it was opened")
            if canonical(self.totals[number].to_json()) != totals:
                self.problem(None, f"account {account.name!r}: its totals are not what its charges add up to")
            refusal = account.cap.refusal(self.totals[number], lambda key, number=number: self._exactly(number, key))  # type: ignore[misc]
            if refusal is not None:
                self.problem(None, f"account {account.name!r} is beyond its cap: {refusal}")

    def _exactly(self, number: int, key: str) -> LevelSum:
        cap = self.accounts[number].cap
        prices = [cap.priced(price)[0] for price in self.exact.get(number, ())]
        if key == DELTA:
            return LevelSum(sum((price.guarantee.delta for price in prices), Fraction(0)))
        return LevelSum.total(price.terms[key][1].bound for price in prices if key in price.terms)

    @property
    def unknown(self) -> str:
        """What cannot be known: what came after the last entry that was compared with something from outside."""
        if self.compared < 1:
            return UNKNOWN
        return f"whether entries after number {self.compared} were cut or rewritten: no receipt here is later"
