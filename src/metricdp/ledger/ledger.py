"""The ledger: accounts with caps, charged before anything is released."""

from __future__ import annotations

import hmac
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

from metricdp.errors import ArgumentError, FileError, MetricDPError
from metricdp.exact.bits import secure
from metricdp.exact.level_sums import LevelSum
from metricdp.exact.lists import as_list
from metricdp.ledger.accounts import Account
from metricdp.ledger.advanced import share
from metricdp.ledger.caps import Cap
from metricdp.ledger.directory import LONGEST_NAME, is_name
from metricdp.ledger.entries import (
    CREATED,
    Receipt,
    What,
    as_written,
    canonical,
    digest,
    own_versions,
    told,
    told_by,
)
from metricdp.ledger.grouping import Together
from metricdp.ledger.opening import address, identity
from metricdp.ledger.reader import Answered, LedgerReader, answer_in
from metricdp.ledger.settling import Settlement, settled
from metricdp.ledger.stores.schema import STEPS, VERSION
from metricdp.ledger.terms import refuse_long
from metricdp.ledger.totals import Price, name_of
from metricdp.ledger.transactions import Charge, Transaction
from metricdp.metrics import Guarantee

__all__ = ["Ledger"]

_MOST_PRICES = 10_000


class Ledger(LedgerReader):
    """What has been spent, on disk: append-only, chained, and charged before anything leaves.

    Args:
        url: the path of a SQLite file or ``postgresql://...``; the variable METRICDP_LEDGER where none is given.
        witness: a file outside of the ledger that remembers its heads.
        now: the clock.

    Raises:
        FileError: there is no ledger, it is damaged, of a later version, or behind its witness.

    >>> import tempfile, metricdp as mdp
    >>> folder = tempfile.TemporaryDirectory()
    >>> ledger = Ledger.create(f"{folder.name}/spent.db")
    >>> metric = mdp.metrics.great_circle().within(200)
    >>> account = ledger.open_account("taxis", mdp.Guarantee(metric), dataset="rides", receiver="the city")
    >>> receipt = ledger.charge("taxis", mdp.Guarantee(metric / 2), "rides of Monday")
    >>> print(ledger.balance("taxis"))
    taxis, 1 charge. Left: 200 m apart: a factor 1.41 left
    >>> ledger.charge("taxis", mdp.Guarantee(metric), "rides of Tuesday")
    Traceback (most recent call last):
    ...
    metricdp.errors.BudgetError: account 'taxis': great-circle(m): together 0.0075 ln 2, and the cap is 0.005 ln 2. ...
    >>> bool(ledger.check([receipt]))
    True
    >>> ledger.close()
    >>> folder.cleanup()
    """

    def __init__(
        self,
        url: str | Path | None = None,
        *,
        witness: str | Path | None = None,
        now: Callable[[], datetime] | None = None,
    ) -> None:
        self._set(address(url), witness, now)
        with self._closed_if_it_fails():
            self.id = identity(self._store)
            self._refuse_if_behind()

    @classmethod
    def create(
        cls,
        url: str | Path | None = None,
        *,
        witness: str | Path | None = None,
        now: Callable[[], datetime] | None = None,
    ) -> Ledger:
        """A new ledger, empty.

        Raises:
            FileError: something is there already.
        """
        ledger = cls.__new__(cls)
        ledger._set(address(url), witness, now)
        ledger.id = f"{secure().integer(128):032x}"
        if ledger._witness is not None and ledger._witness.path.exists():
            raise FileError(f"{ledger._witness.path} exists already: a new ledger has a new witness")
        with ledger._closed_if_it_fails(), ledger._store.writing(new=True) as run:
            for statement in (statement for step in STEPS for statement in step):
                run(statement, {})
            run("insert into ledger (id, version) values (:id, :version)", {"id": ledger.id, "version": VERSION})
            transaction = Transaction(run, ledger._directory, None, ledger._now)
            body = {"ledger": ledger.id, "version": VERSION, "versions": own_versions()}
            transaction.append(None, CREATED, canonical(body))
            transaction.finish()
        if ledger._witness is not None:
            ledger._witness.begin(ledger.id)
            ledger._witness.add(transaction.state.sequence, transaction.state.head)
        return ledger

    # Accounts

    def open_account(
        self,
        name: str,
        cap: Guarantee,
        *,
        dataset: str = "",
        receiver: str = "",
        parent: str | None = None,
        privacy_unit: str = "",
        advanced: float | str | Fraction | Decimal | None = None,
        points: Sequence[Any] | None = None,
    ) -> Account:
        """Open an account.

        Args:
            name: that charges use; no two accounts share one.
            cap: the most that all charges together may tell.
            dataset: which data set it is for.
            receiver: whom the answers go to.
            parent: an account that is charged with this one, because receivers may collude.
            privacy_unit: what the metric's secrets are: a person, a record, a visit.
            advanced: the delta of advanced composition, a part of the cap's delta, fixed now; None to add up.
            points: all secrets there can be, where they are finitely many and public.

        Raises:
            ArgumentError: the name is taken, or the parent's cap is in another metric.
        """
        if not is_name(name):
            raise ArgumentError(f"an account has a name of 1 to {LONGEST_NAME} characters")
        if not all(isinstance(words, str) for words in (dataset, receiver, privacy_unit)):
            raise ArgumentError("the data set, the receiver and the unit of privacy are told in words")
        secrets = None if points is None else tuple(as_list(points, "points", "[0, 1, 2]"))
        limit = Cap(cap, Fraction(0) if advanced is None else share(advanced), secrets)
        for part in (cap.delta, limit.composed_delta):
            refuse_long(LevelSum(part))
        with self._writing() as transaction:
            transaction.open(Account(0, name, limit, dataset, receiver, parent, privacy_unit))
        return self.account(name)

    # Charges and answers

    def charge(
        self, account: str, guarantee: Guarantee, what: str | What, *, key: str | None = None, request: Any = None
    ) -> Receipt:
        """Charge an account, and all above it, before anything is released.

        It is on the disk when this returns. Under a ``key``, the same request again gives the first receipt and costs
        nothing, and another request is refused.

        Args:
            account: its name.
            guarantee: of what is to be released.
            what: it is for, in words or as `What`.
            key: of the request, chosen by whoever asks, once for each request.
            request: plain values that tell it from other requests; the guarantee and the words where none are given.

        Raises:
            BudgetError: it is not proved that all caps hold; nothing was charged.
        """
        return self.charge_together([(account, guarantee, what)], key=key, request=request)[0]

    def charge_together(
        self, charges: Iterable[tuple[str, Guarantee, str | What]], *, key: str | None = None, request: Any = None
    ) -> list[Receipt]:
        """Several charges at once, all of them or none: one trip to the disk.

        A key is for a single charge.
        """
        listed = as_list(charges, "charges", '[("account", guarantee, "what it is for")]')
        if not all(isinstance(charge, tuple | list) and len(charge) == 3 for charge in listed):
            raise ArgumentError("a charge is an account's name, a guarantee, and what it is for")
        ready = [self._ready(account, guarantee, what, key, request) for account, guarantee, what in listed]
        if key is not None and len(ready) != 1:
            raise ArgumentError("a request key is for one charge")
        if not ready:
            return []
        if len(ready) == 1:  # it is refused before anything is written, so that other threads' charges can be with it
            written = [self._together.run(lambda transaction: transaction.charge(ready[0]))]
        else:
            with self._writing() as transaction:
                written = [transaction.charge(charge) for charge in ready]
        return [
            Receipt(self.id, sequence, head, charge.account, repeated)
            for charge, (sequence, head, repeated) in zip(ready, written, strict=True)
        ]

    def charged_under(
        self, key: str, account: str, guarantee: Guarantee, what: str | What, *, request: Any = None
    ) -> Receipt | None:
        """The receipt of an earlier charge for this request under this key; None where there is none.

        Raises:
            ArgumentError: the key belongs to another request.
        """
        ready = self._ready(account, guarantee, what, key, request)
        with self._store.reading() as run:
            transaction = Transaction(run, self._directory, None, self._now)
            found = transaction.earlier(self._directory.account(run, account), key, ready.request)
        return None if found is None else Receipt(self.id, *found, account, True)

    def answer(self, charge: Receipt, answer: Any) -> Answered:
        """Store the answer of a charge; it may leave when this returns.

        The first answer that is stored stands: if there is one already, that one is returned, for everybody.

        Args:
            charge: the receipt that the charge gave.
            answer: plain values, or the digest of a file.
        """
        self._refuse_foreign(charge)
        text = canonical({"answer": answer})
        return self._together.run(lambda transaction: self._answer(transaction, charge, text))  # type: ignore[no-any-return]

    def _answer(self, transaction: Transaction, charge: Receipt, text: str) -> Answered:
        account = self._directory.numbered(transaction.run, self._charged_account(transaction.run, charge))
        before = transaction.state.sequence
        sequence, head, stands = transaction.answer(charge.sequence, account, text)
        return Answered(answer_in(stands), charge, Receipt(self.id, sequence, head, account.name), sequence <= before)

    def release(
        self,
        account: str,
        guarantee: Guarantee,
        what: str | What,
        compute: Callable[[], Any],
        *,
        key: str | None = None,
        request: Any = None,
    ) -> Answered:
        """Charge, compute, store, and only then hand out.

        Under a key that was answered before, the stored answer is returned and nothing is computed. One that was
        charged and not answered, because the process died, is computed again under the same charge: the first answer
        never left.

        Args:
            account: as in `charge`, like the other arguments.
            guarantee: of what ``compute`` releases.
            what: it is for.
            compute: gives the private answer in plain values.
            key: of the request.
            request: what the key is bound to.
        """
        charge = self.charge(account, guarantee, what, key=key, request=request)
        if charge.repeated:
            stored = self.answer_of(charge)
            if stored is not None:
                return stored
        return self.answer(charge, compute())

    def settle(self, releases: Iterable[Settlement]) -> list[Answered | MetricDPError]:
        """Charge for releases that are computed already and store their answers: one trip to the disk for all.

        Each is charged or refused by itself. Its charge and its answer are on the disk together, or neither is, and it
        may leave when this returns. Under a key that was answered before, the stored answer is returned.

        Returns:
            For each release its answer, or the error that refused it.
        """
        listed = as_list(releases, "releases", '[Settlement("account", guarantee, "what it is for", answer)]')
        if not all(isinstance(one, Settlement) for one in listed):
            raise ArgumentError("what is settled is a Settlement each")
        ready = [(one, self._ready(one.account, one.guarantee, one.what, one.key, one.request)) for one in listed]
        if not ready:
            return []
        return self._together.run(lambda transaction: settled(transaction, self.id, ready))  # type: ignore[no-any-return]

    def sealed(self, text: str) -> str:
        """A digest that only this ledger can compute: the same for the same text, and nothing to whoever guesses it.

        Its secret lies in the database, beside the entries and not in them: histories and exports do not have it.
        """
        if self._secret is None:
            with self._store.writing() as run:
                rows = run("select value from ledger_secret", {})
                value = rows[0][0] if rows else f"{secure().integer(256):064x}"
                if not rows:
                    run("insert into ledger_secret (value) values (:value)", {"value": value})
            with as_written("its secret"):
                self._secret = bytes.fromhex(value)
        return hmac.new(self._secret, text.encode(), "sha256").hexdigest()

    # Inside

    @cached_property
    def _together(self) -> Together[Transaction]:
        return Together(self._write)

    def _write(self, work: Callable[[Transaction], None]) -> None:
        with self._writing() as transaction:
            work(transaction)

    @contextmanager
    def _writing(self) -> Iterator[Transaction]:
        """A transaction; what is remembered of the ledger is brought up to date after it."""
        try:
            with self._store.writing() as run:
                transaction = Transaction(run, self._directory, self._state, self._now)
                yield transaction
                transaction.finish()
        except BaseException:
            self._state = None
            raise
        self._state = transaction.state
        self._directory.stored |= transaction.kept
        self._directory.accounts.update(transaction.opened)
        if self._witness is not None and transaction.state.sequence > transaction.before:
            self._witness.add(transaction.state.sequence, transaction.state.head)

    def _ready(self, account: str, guarantee: Guarantee, what: str | What, key: str | None, request: Any) -> Charge:
        price = self._price(guarantee)
        words = told(what) if isinstance(what, str) else told_by(What.of(what))
        body = f'{{"guarantee":{price.text},"what":{words}}}'
        bound = None
        if key is not None:
            if not is_name(key):
                raise ArgumentError(f"a request key is a text of 1 to {LONGEST_NAME} characters")
            bound = digest(canonical([price.written_name, What.of(what).description if request is None else request]))
        return Charge(account, price, body, key, bound)

    def _price(self, guarantee: Guarantee) -> Price:
        """The price of a guarantee, remembered for the object itself, and for others that are equal to it."""
        same, known = self._prices.get(id(guarantee), (None, None))
        if known is None or same is not guarantee:  # to compare large metrics takes longer than to find an object
            name = name_of(guarantee) if isinstance(guarantee, Guarantee) else None
            known = None if name is None else self._equal_prices.get(name)
            if known is None:
                known = Price.of(guarantee)
            if len(self._prices) >= _MOST_PRICES:
                self._prices.clear()
                self._equal_prices.clear()
            self._prices[id(guarantee)] = guarantee, known
            self._equal_prices[known.name] = known
        return known

    def _refuse_if_behind(self) -> None:
        if self._witness is None:
            return
        self._witness.begin(self.id)
        last = self._witness.last()
        if last is None:
            return
        with self._store.reading() as run:
            found = run("select head from ledger_entries where sequence = :sequence", {"sequence": last.sequence})
        if not found or found[0][0] != last.head:
            raise FileError(
                f"the ledger {self.address} lacks what its witness saw: it was cut, rewritten or restored from a "
                "backup. Nothing is charged to it; `metricdp ledger check` says more"
            )
