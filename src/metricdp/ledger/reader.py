"""The part of a ledger that only reads: accounts, balances, history, answers and the check."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from metricdp.errors import ArgumentError, BudgetError
from metricdp.exact.lists import as_list
from metricdp.ledger.accounts import Account
from metricdp.ledger.balances import Balance
from metricdp.ledger.checking import Check, check_ledger
from metricdp.ledger.directory import Directory
from metricdp.ledger.entries import CHARGED, LedgerEntry, Receipt, as_receipt, as_written
from metricdp.ledger.exporting import export_rows, write_export
from metricdp.ledger.reading import read_entries
from metricdp.ledger.stores.store import Run, Store, open_store
from metricdp.ledger.totals import Name, Price
from metricdp.ledger.transactions import State, Transaction, read_totals
from metricdp.ledger.witnesses import Witness
from metricdp.metrics import Guarantee

__all__ = ["Answered", "LedgerReader", "answer_in"]


@dataclass(frozen=True)
class Answered:
    """An answer that is in the ledger, and may leave.

    Attributes:
        answer: as it is stored; plain values.
        charge: the receipt of its charge.
        receipt: the receipt of the answer.
        repeated: whether an earlier request with the same key got it, so that this one cost nothing.
    """

    answer: Any
    charge: Receipt
    receipt: Receipt
    repeated: bool


class LedgerReader:
    """What can be asked of a ledger; see `metricdp.ledger.Ledger`."""

    id: str

    def _set(self, address: str, witness: str | Path | None, now: Callable[[], datetime] | None) -> None:
        self._store: Store = open_store(address)
        self._witness = None if witness is None else Witness(witness)
        self._now = now or (lambda: datetime.now(UTC))
        self._directory = Directory()
        self._state: State | None = None
        self._prices: dict[int, tuple[Guarantee, Price]] = {}
        self._equal_prices: dict[Name, Price] = {}
        self._secret: bytes | None = None

    def account(self, name: str) -> Account:
        """The account of a name."""
        if isinstance(name, str) and name in self._directory.accounts:
            return self._directory.accounts[name]
        with self._store.reading() as run:
            return self._directory.account(run, name)

    def accounts(self) -> tuple[Account, ...]:
        """All accounts, in the order in which they were opened."""
        with self._store.reading() as run:
            return self._directory.every_account(run)

    def account_names(self) -> tuple[str, ...]:
        """The names of all accounts, in the order in which they were opened: quick, however many there are."""
        with self._store.reading() as run:
            return tuple(self._names(run).values())

    def answer_of(self, charge: Receipt) -> Answered | None:
        """The answer that is stored for a charge; None where there is none yet.

        Raises:
            ArgumentError: the receipt is none of a charge of this ledger.
        """
        self._refuse_foreign(charge)
        with self._store.reading() as run:
            self._charged_account(run, charge)
            found = run(
                "select sequence, head, body from ledger_entries where charge = :charge", {"charge": charge.sequence}
            )
        if not found:
            return None
        sequence, head, text = found[0]
        return Answered(answer_in(text), charge, Receipt(self.id, sequence, head, charge.account), True)

    def answers_under(self, account: str, prefix: str) -> Iterator[Any]:
        """The answers that are stored for charges to an account whose request keys begin so."""
        with self._store.reading() as run:
            number = self._directory.account(run, account).number
            rows = run(
                "select a.body from ledger_entries c join ledger_entries a on a.charge = c.sequence "
                "where c.account = :account and c.key >= :prefix and c.key < :end order by c.sequence",
                {"account": number, "prefix": prefix, "end": prefix[:-1] + chr(ord(prefix[-1]) + 1)},
            )
        return iter([answer_in(text) for (text,) in rows])

    def refusal(self, account: str, guarantee: Guarantee) -> BudgetError | None:
        """Why a charge would be refused now; None where it would be accepted. Nothing is charged."""
        price = Price.of(guarantee)
        with self._store.reading() as run:
            transaction = Transaction(run, self._directory, None, self._now)
            try:
                for one in self._directory.line(run, account):
                    transaction.after(one, price)
            except BudgetError as problem:
                return problem
        return None

    # What is known

    def balance(self, account: str) -> Balance:
        """What an account has spent and has left."""
        with self._store.reading() as run:
            found = self._directory.account(run, account)
            return Balance(found, read_totals(run, self._directory, found))

    def history(self, account: str | None = None, *, after: int = 0, most: int | None = None) -> Iterator[LedgerEntry]:
        """The entries of an account, or of all, in order.

        Args:
            account: its name; None for the whole ledger.
            after: begin after the entry of this number.
            most: how many at most.
        """
        number = None if account is None else self.account(account).number
        return read_entries(self._store, self._names, number, after, most)

    def export(self, path: str | Path, account: str | None = None, *, overwrite: bool = False) -> None:
        """Write the history as .csv or .json, with the fields that registries of deployments ask for.

        Args:
            path: of the file, which appears whole or not at all.
            account: its name; None for the whole ledger.
            overwrite: whether the file may be there already.
        """
        accounts = {one.name: one for one in self.accounts()}
        write_export(Path(path), export_rows(self.history(account), accounts), overwrite=overwrite)

    def check(
        self,
        receipts: Iterable[Receipt] = (),
        *,
        witness: str | Path | None = None,
        progress: Callable[[int, int | None], object] | None = None,
    ) -> Check:
        """Whether the whole history is as it was written, as far as that can be known.

        Without receipts or a witness, changed, missing and reordered entries are found, and sums that do not add up. A
        tail that was cut, a restored backup and a history that was rewritten from its beginning are found only by
        something that was kept outside.

        Args:
            receipts: that were kept outside.
            witness: the file that remembers heads; the ledger's own where none is given.
            progress: called with how many entries were read, and how many there are.
        """
        files = [Witness(witness)] if witness is not None else [] if self._witness is None else [self._witness]
        given = as_list(receipts, "receipts", "[ledger.charge(..)]")
        kept = [as_receipt(one) for one in (*given, *(receipt for file in files for receipt in file.receipts()))]
        return check_ledger(self._store, self.id, kept, progress)

    @property
    def address(self) -> str:
        """Where the ledger is, without a password."""
        return self._store.shown

    def close(self) -> None:
        """End the connections of this process; they come back when they are needed."""
        self._store.close()

    def __copy__(self) -> Self:
        """The same ledger: it is a place, and no value."""
        return self

    def __deepcopy__(self, memo: Any) -> Self:
        """The same ledger, also where scikit-learn clones what holds it."""
        return self

    def __reduce__(self) -> Any:
        """A ledger is open in one process.

        Raises:
            ArgumentError: always, with what to do.
        """
        raise ArgumentError("a ledger is open in one process: what runs in several, or is stored, gets its address")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.address!r})"

    # Inside

    @contextmanager
    def _closed_if_it_fails(self) -> Iterator[None]:
        try:
            yield
        except BaseException:
            self._store.close()
            raise

    def _refuse_foreign(self, charge: Receipt) -> None:
        if as_receipt(charge).ledger != self.id:
            raise ArgumentError("this receipt is from another ledger")

    @staticmethod
    def _charged_account(run: Run, charge: Receipt) -> int:
        """The number of the account that a receipt's charge went to."""
        found = run(
            "select account, head, kind from ledger_entries where sequence = :sequence", {"sequence": charge.sequence}
        )
        if not found or found[0][1] != charge.head or found[0][2] != CHARGED:
            raise ArgumentError("the ledger has no such charge; check it with its receipts")
        return int(found[0][0])

    def _names(self, run: Run) -> Mapping[int, str]:
        return dict(run("select number, name from ledger_accounts order by number", {}))


def answer_in(text: str) -> Any:
    """The answer that the body of an entry holds."""
    with as_written("an answer"):
        return json.loads(text)["answer"]
