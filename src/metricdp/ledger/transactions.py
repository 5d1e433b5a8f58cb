"""One writing transaction of a ledger: entries are appended, accounts are charged, nothing is half done."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from metricdp.errors import ArgumentError, BudgetError
from metricdp.exact.level_sums import LevelSum
from metricdp.ledger.accounts import Account
from metricdp.ledger.balances import Balance
from metricdp.ledger.caps import DELTA
from metricdp.ledger.directory import BELOW, LONGEST_NAME, Directory, is_name
from metricdp.ledger.entries import ANSWERED, CHARGED, OPENED, as_written, canonical, head_after
from metricdp.ledger.opening import refuse_foreign
from metricdp.ledger.terms import written
from metricdp.ledger.totals import AccountTotals, Price, guarantee_from

if TYPE_CHECKING:
    from metricdp.ledger.stores.store import Rows, Run, Values
    from metricdp.metrics import Metric

__all__ = ["Charge", "State", "Transaction", "read_totals"]

_CHUNK = 10_000
_MOST_TOTALS = 4096
"""Accounts whose totals are remembered from one transaction to the next."""

_NOTHING_SPENT = canonical(AccountTotals().to_json())

INSERT = (
    "insert into ledger_entries (sequence, account, kind, at, key, request, charge, body, head) "
    "values (:sequence, :account, :kind, :at, :key, :request, :charge, :body, :head)"
)

INSERT_ACCOUNT = (
    "insert into ledger_accounts (number, name, parent, body, totals) values (:number, :name, :parent, :body, :totals)"
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


class Transaction:
    """Writes into a ledger, inside one transaction of its store.

    New entries and accounts are held back and written together, before a statement that could ask for them and at the
    end.

    Attributes:
        opened: the accounts that were opened in it, by their names; others know of them when it is durable.
    """

    def __init__(self, run: Run, directory: Directory, state: State | None, now: Callable[[], datetime]) -> None:
        self._run, self.directory = run, directory
        self.at = now().astimezone(UTC).isoformat(timespec="microseconds")
        rows = run("select sequence, head, at from ledger_entries order by sequence desc limit 1", {})
        sequence, head, at = rows[0] if rows else (0, "", "")
        known = state is not None and (state.sequence, state.head) == (sequence, head)
        small = state is not None and len(state.totals) <= _MOST_TOTALS
        self.before = sequence
        self.state = State(sequence, head, at, dict(state.totals) if state is not None and known and small else {})
        self.kept: set[str] = set()
        self._changed: set[int] = set()
        self.opened: dict[str, Account] = {}
        self._rows: list[dict[str, Any]] = []
        self._account_rows: list[dict[str, Any]] = []
        self._free_number: int | None = None
        self._absent: set[str] = set()

    def run(self, statement: str, values: Values) -> Rows:
        """Run a statement, after the entries and accounts that were held back."""
        self._write_rows()
        return self._run(statement, values)

    def _write_rows(self) -> None:
        if self._account_rows:
            accounts, self._account_rows = self._account_rows, []
            self._run(INSERT_ACCOUNT, accounts)
        if self._rows:
            rows, self._rows = self._rows, []
            self._run(INSERT, rows)

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
        self._rows.append(
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
            }
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

    # Accounts

    def find(self, name: str) -> Account | None:
        """The account of a name, if there is one, here or among those that were opened just now."""
        found = self.opened.get(name) or self.directory.find(self._run, name)  # what is held back is in `opened`
        if found is None:
            self._absent.add(name)
        return found

    def open(self, account: Account) -> Account:
        """Open an account, which gets a number of its own.

        Raises:
            ArgumentError: the name is taken, or the parent's cap is in another metric.
        """
        if not is_name(account.name):
            raise ArgumentError(f"an account has a name of 1 to {LONGEST_NAME} characters")
        if account.name not in self._absent and self.find(account.name) is not None:
            raise ArgumentError(
                f"there is an account {account.name!r} already; two of one name would be charged as one"
            )
        above = None if account.parent is None else self.line(account.parent)[0]
        if above is not None:
            refuse_foreign(account.name, account.cap.guarantee, above)
        if self._free_number is None:
            ((self._free_number,),) = self.run("select coalesce(max(number), 0) + 1 from ledger_accounts", {})
        made = replace(account, number=self._free_number)
        self.keep(made.units().items())
        body = canonical(made.body())
        self._free_number += 1
        self._account_rows.append(
            {
                "number": made.number,
                "name": made.name,
                "parent": None if above is None else above.number,
                "body": body,
                "totals": _NOTHING_SPENT,
            }
        )
        self._absent.discard(made.name)
        sequence, _ = self.append(made, OPENED, body)
        self.state.totals[made.number] = AccountTotals()
        self.opened[made.name] = replace(made, opened=sequence)
        return self.opened[made.name]

    def line(self, name: str) -> list[Account]:
        """An account, its parent, and so on."""
        new = self.opened.get(name) if isinstance(name, str) else None
        if new is None:
            return self.directory.line(self._run, name)
        return [new] if new.parent is None else [new, *self.line(new.parent)]

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
        line = self.line(charge.account)
        if charge.key is not None:
            earlier = self.earlier(line[0], charge.key, charge.request)
            if earlier is not None:
                return *earlier, True
        found = [self.after(account, charge.price) for account in line]  # nothing is written where one of them refuses
        for account, after in zip(line, found, strict=True):
            before = self.totals(account)
            if after.spent.keys() != before.spent.keys():
                self.keep(
                    (one.term.digest, one.term.unit) for key, one in after.spent.items() if key not in before.spent
                )
            self.state.totals[account.number] = after
            self._changed.add(account.number)
        self.keep([(charge.price.unit, charge.price.guarantee.metric.unit)])
        sequence, head = self.append(line[0], CHARGED, charge.body, key=charge.key, request=charge.request)
        return sequence, head, False

    def after(self, account: Account, price: Price) -> AccountTotals:
        """What an account will have spent after a charge that is not written yet.

        Raises:
            BudgetError: it is not proved that the cap holds.
        """

        def exactly(key: str) -> LevelSum:
            priced, _ = account.cap.priced(price)
            own = priced.delta if key == DELTA else priced.terms[key][1] if key in priced.terms else None
            return self._exactly(account, key) + (LevelSum() if own is None else own.bound)

        before = self.totals(account)
        after = before.plus(price, account.cap)
        refusal = account.cap.refusal(after, exactly)
        if refusal is not None:
            raise BudgetError(account.name, refusal, Balance(account, before).words())
        return after

    def answer(self, charge: int, account: Account, text: str, *, new: bool = False) -> tuple[int, str, str]:
        """Write the answer of a charge, unless it has one already: the entry, its head, and the text that stands.

        A charge that is ``new``, made in this transaction, has none.
        """
        ask = "select sequence, head, body from ledger_entries where charge = :charge"
        found = [] if new else self.run(ask, {"charge": charge})
        if found:
            earlier, its_head, stands = found[0]
            return earlier, its_head, stands
        sequence, head = self.append(account, ANSWERED, text, charge=charge)
        return sequence, head, text

    def finish(self) -> None:
        """Write what was held back, and the new totals."""
        self._write_rows()
        if self._changed:
            changed = [
                {"totals": canonical(self.state.totals[number].to_json()), "number": number} for number in self._changed
            ]
            self.run("update ledger_accounts set totals = :totals where number = :number", changed)

    # AccountTotals

    def totals(self, account: Account) -> AccountTotals:
        """What an account has spent so far."""
        known = self.state.totals.get(account.number)
        if known is None:
            known = read_totals(self._run, self.directory, account)  # written at the end: nothing is held back of it
            self.state.totals[account.number] = known
        return known

    def _exactly(self, account: Account, key: str) -> LevelSum:
        """A sum added up again from the entries, for the case that its enclosure meets the cap."""
        sums = []
        after = 0
        while True:
            rows = self.run(
                f"select sequence, body from ledger_entries where kind = 'charged' and account in ({BELOW}) "
                "and sequence > :after order by sequence limit :most",
                {"account": account.number, "after": after, "most": _CHUNK},
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
