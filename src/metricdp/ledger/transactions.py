"""One writing transaction of a ledger: entries are appended, accounts are charged, nothing is half done."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from metricdp.errors import ArgumentError, BudgetError
from metricdp.exact.level_sums import LevelSum
from metricdp.ledger.accounts import Account
from metricdp.ledger.balances import Balance
from metricdp.ledger.caps import DELTA
from metricdp.ledger.entries import ANSWERED, CHARGED, as_written, canonical, head_after
from metricdp.ledger.terms import written
from metricdp.ledger.totals import AccountTotals, Price, guarantee_from
from metricdp.visible import visible_name

if TYPE_CHECKING:
    from metricdp.ledger.stores.store import Run
    from metricdp.metrics import Metric

__all__ = ["Charge", "Directory", "State", "Transaction"]

_CHUNK = 10_000
_MOST_NAMES = 20

INSERT = (
    "insert into ledger_entries (sequence, account, kind, at, key, request, charge, body, head) "
    "values (:sequence, :account, :kind, :at, :key, :request, :charge, :body, :head)"
)


@dataclass(frozen=True)
class Charge:
    """A charge that is ready to be written.

    Attributes:
        account: its name.
        price: what it costs.
        body: the entry's text.
        key: the request key, if there is one.
        request: the digest that the key is bound to.
    """

    account: str
    price: Price
    body: str
    key: str | None
    request: str | None


@dataclass
class State:
    """The end of a ledger as this process last saw it; good for as long as the head is the same.

    Attributes:
        sequence: the last entry's number.
        head: and its head.
        at: and its time.
        totals: of the accounts that were looked at.
    """

    sequence: int
    head: str
    at: str
    totals: dict[int, AccountTotals] = field(default_factory=dict)


class Directory:
    """What never changes once it is written, and is therefore remembered: accounts and metrics."""

    def __init__(self) -> None:
        self.accounts: dict[str, Account] = {}
        self.units: dict[str, Metric] = {}
        self.stored: set[str] = set()

    def unit(self, run: Run) -> Callable[[str], Metric]:
        """A function that finds the metric of a digest."""
        from metricdp.metrics import Metric

        def find(name: str) -> Metric:
            if name not in self.units:
                found = run("select written from ledger_metrics where digest = :digest", {"digest": name})
                with as_written(f"the metric {name[:8]}"):
                    self.units[name] = Metric.from_toml(found[0][0])
                self.stored.add(name)
            return self.units[name]

        return find

    def load_accounts(self, run: Run) -> None:
        """Read the accounts that are not known yet."""
        least = max((account.number for account in self.accounts.values()), default=0)
        rows = run(
            "select a.body, e.sequence from ledger_accounts a join ledger_entries e on e.account = a.number "
            "and e.kind = 'opened' where a.number > :least order by a.number",
            {"least": least},
        )
        for body, opened in rows:
            with as_written("an account"):
                account = Account.from_body(body, opened, self.unit(run))
            self.accounts[account.name] = account

    def account(self, run: Run, name: str) -> Account:
        """The account of a name."""
        if not isinstance(name, str):
            raise ArgumentError(f"the name of an account is text, not {type(name).__name__}")
        if name not in self.accounts:
            self.load_accounts(run)
        if name not in self.accounts:
            raise ArgumentError(f"there is no account {name!r}; there are: {some_of(self.accounts)}")
        return self.accounts[name]

    def line(self, run: Run, name: str) -> list[Account]:
        """An account, its parent, and so on."""
        line = [self.account(run, name)]
        while line[-1].parent is not None:
            line.append(self.account(run, line[-1].parent))
        return line

    def below(self, account: Account) -> list[int]:
        """The numbers of an account and of all whose charges go to it as well."""
        numbers = [account.number]
        names = {account.name}
        for other in sorted(self.accounts.values(), key=lambda one: one.number):  # parents come before children
            if other.parent in names:
                names.add(other.name)
                numbers.append(other.number)
        return numbers


class Transaction:
    """Writes into a ledger, inside one transaction of its store."""

    def __init__(self, run: Run, directory: Directory, state: State | None, now: Callable[[], datetime]) -> None:
        self.run, self.directory = run, directory
        self.at = now().astimezone(UTC).isoformat(timespec="microseconds")
        rows = run("select sequence, head, at from ledger_entries order by sequence desc limit 1", {})
        sequence, head, at = rows[0] if rows else (0, "", "")
        known = state is not None and (state.sequence, state.head) == (sequence, head)
        self.before = sequence
        self.state = State(sequence, head, at, dict(state.totals) if state is not None and known else {})
        self.kept: set[str] = set()
        self._changed: set[int] = set()

    # Entries

    def append(
        self,
        account: Account | None,
        kind: str,
        body: str,
        *,
        key: str | None = None,
        request: str | None = None,
        charge: int | None = None,
    ) -> tuple[int, str]:
        """Write one entry; its number and the head after it."""
        state = self.state
        if self.at < state.at:  # the clock ran backwards: entries keep their order by number, and say so
            body = canonical({**json.loads(body), "clock": f"ran backwards from {state.at}"})
        number, name = (0, "") if account is None else (account.number, account.name)
        state.sequence += 1
        state.head = head_after(state.head, (state.sequence, name, kind, self.at, key, request, charge, body))
        state.at = self.at
        self.run(
            INSERT,
            {
                "sequence": state.sequence,
                "account": number,
                "kind": kind,
                "at": self.at,
                "key": key,
                "request": request,
                "charge": charge,
                "body": body,
                "head": state.head,
            },
        )
        return state.sequence, state.head

    def keep(self, metrics: Iterable[tuple[str, Metric]]) -> None:
        """Write metrics down by their digests, each once."""
        for name, metric in metrics:
            if name not in self.directory.stored and name not in self.kept:
                self.run(
                    "insert into ledger_metrics (digest, written) values (:digest, :written) on conflict do nothing",
                    {"digest": name, "written": written(metric)},
                )
                self.kept.add(name)
                self.directory.units.setdefault(name, metric)

    # Charges and answers

    def earlier(self, account: Account, key: str, request: str | None) -> tuple[int, str] | None:
        """The charge under this key, if there is one; refused where it was for another request."""
        found = self.run(
            "select sequence, head, request from ledger_entries where account = :account and key = :key",
            {"account": account.number, "key": key},
        )
        if not found:
            return None
        sequence, head, bound = found[0]
        if bound != request:
            raise ArgumentError(
                f"the key {key!r} belongs to another request of account {account.name!r}: every request has its own"
            )
        return sequence, head

    def charge(self, charge: Charge) -> tuple[int, str, bool]:
        """Charge an account and all above it, or none of them; the entry, its head, and whether it was there before.

        Raises:
            BudgetError: it is not proved that the cap of one of them holds.
        """
        line = self.directory.line(self.run, charge.account)
        if charge.key is not None:
            earlier = self.earlier(line[0], charge.key, charge.request)
            if earlier is not None:
                return *earlier, True
        sequence, head = self.append(line[0], CHARGED, charge.body, key=charge.key, request=charge.request)
        for account in line:
            before = self.totals(account)
            after = before.plus(charge.price, account.cap)
            refusal = account.cap.refusal(after, lambda term, account=account: self._exactly(account, term))  # type: ignore[misc]
            if refusal is not None:
                raise BudgetError(account.name, refusal, Balance(account, before).words())
            if after.spent.keys() != before.spent.keys():
                self.keep(
                    (one.term.digest, one.term.unit) for key, one in after.spent.items() if key not in before.spent
                )
            self.state.totals[account.number] = after
            self._changed.add(account.number)
        self.keep([(charge.price.unit, charge.price.guarantee.metric.unit)])
        return sequence, head, False

    def refusal(self, account: Account, price: Price) -> str | None:
        """Why an account would refuse a charge that is not written yet; None where it would not."""
        priced, _ = account.cap.priced(price)

        def exactly(key: str) -> LevelSum:
            own = priced.delta if key == DELTA else priced.terms[key][1] if key in priced.terms else None
            return self._exactly(account, key) + (LevelSum() if own is None else own.bound)

        return account.cap.refusal(self.totals(account).plus(price, account.cap), exactly)

    def answer(self, charge: int, account: Account, body: Mapping[str, Any]) -> tuple[int, str, str]:
        """Write the answer of a charge, unless it has one already: the entry, its head, and the answer that stands."""
        found = self.run("select sequence, head, body from ledger_entries where charge = :charge", {"charge": charge})
        if found:
            earlier, its_head, text = found[0]
            return earlier, its_head, text
        text = canonical(body)
        sequence, head = self.append(account, ANSWERED, text, charge=charge)
        return sequence, head, text

    def finish(self) -> None:
        """Write the new totals."""
        for number in self._changed:
            totals = canonical(self.state.totals[number].to_json())
            self.run(
                "update ledger_accounts set totals = :totals where number = :number",
                {"totals": totals, "number": number},
            )

    # AccountTotals

    def totals(self, account: Account) -> AccountTotals:
        """What an account has spent so far."""
        known = self.state.totals.get(account.number)
        if known is None:
            known = read_totals(self.run, self.directory, account)
            self.state.totals[account.number] = known
        return known

    def _exactly(self, account: Account, key: str) -> LevelSum:
        """A sum added up again from the entries, for the case that its enclosure meets the cap."""
        self.directory.load_accounts(self.run)  # somebody else may have opened one below
        sums = []
        after, numbers = 0, self.directory.below(account)
        places = ", ".join(str(number) for number in numbers)
        while True:
            rows = self.run(
                f"select sequence, body from ledger_entries where kind = 'charged' and account in ({places}) "
                "and sequence > :after order by sequence limit :most",
                {"after": after, "most": _CHUNK},
            )
            for number, body in rows:
                with as_written(f"entry {number}"):
                    charged = self._price(json.loads(body)["guarantee"])
                price, _ = account.cap.priced(charged)
                if key == DELTA:
                    sums.append(price.delta.bound)
                elif key in price.terms:
                    sums.append(price.terms[key][1].bound)
            if len(rows) < _CHUNK:
                return LevelSum.total(sums)
            after = rows[-1][0]

    def _price(self, tree: Mapping[str, Any]) -> Price:
        return Price.of(guarantee_from(tree, self.directory.unit(self.run)))


def read_totals(run: Run, directory: Directory, account: Account) -> AccountTotals:
    """What an account has spent, as it is written beside it."""
    ((text,),) = run("select totals from ledger_accounts where number = :number", {"number": account.number})
    with as_written(f"what account {account.name!r} has spent"):
        return AccountTotals.from_json(json.loads(text), directory.unit(run))


def some_of(names: Iterable[str]) -> str:
    """Names for an error: the first of them, however many there are."""
    every = sorted(names)
    more = f" and {len(every) - _MOST_NAMES:,} more" if len(every) > _MOST_NAMES else ""
    return (", ".join(map(visible_name, every[:_MOST_NAMES])) or "none") + more
