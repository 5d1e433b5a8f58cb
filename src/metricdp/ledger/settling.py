"""Releases that are computed already: charged and stored together, many of them in one transaction."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from metricdp.errors import ArgumentError, MetricDPError
from metricdp.ledger.accounts import Account
from metricdp.ledger.entries import Receipt, What, canonical
from metricdp.ledger.reader import Answered, answer_in
from metricdp.metrics import Guarantee

if TYPE_CHECKING:
    from metricdp.ledger.transactions import Charge, Transaction

__all__ = ["Settlement", "settled"]


@dataclass(frozen=True)
class Settlement:
    """A release that is computed, and leaves when it is paid for.

    Attributes:
        account: which is charged.
        guarantee: of the release.
        what: it is for.
        answer: what was computed, in plain values.
        key: of the request, chosen by whoever asks.
        request: what the key is bound to.
        opening: the account to open under that name where there is none yet; None where there has to be one.

    >>> import tempfile, metricdp as mdp
    >>> from metricdp.ledger import Ledger
    >>> once = mdp.Guarantee(mdp.metrics.absolute())
    >>> with tempfile.TemporaryDirectory() as folder, Ledger.create(f"{folder}/spent.db") as ledger:
    ...     account = ledger.open_account("ann", once)
    ...     releases = [Settlement("ann", once, "a number", answer) for answer in (7.25, 6.5)]
    ...     [getattr(done, "answer", type(done).__name__) for done in ledger.settle(releases)]
    [7.25, 'BudgetError']
    """

    account: str
    guarantee: Guarantee
    what: str | What
    answer: Any
    key: str | None = None
    request: Any = None
    opening: Account | None = None


def settled(
    transaction: Transaction, ledger: str, releases: Iterable[tuple[Settlement, Charge]]
) -> list[Answered | MetricDPError]:
    """Charge and store releases in a transaction, each by itself; for each its answer, or what refused it."""
    done: list[Answered | MetricDPError] = []
    for release, charge in releases:
        try:
            done.append(_settled(transaction, ledger, release, charge))
        except MetricDPError as error:  # it has written nothing but an account, which stays
            done.append(error)
    return done


def _settled(transaction: Transaction, ledger: str, release: Settlement, charge: Charge) -> Answered:
    text = canonical({"answer": release.answer})
    if release.opening is not None:
        _open(transaction, release.opening)
    number, head, repeated = transaction.charge(charge)
    account = transaction.line(charge.account)[0]
    before = transaction.state.sequence
    place, its_head, stands = transaction.answer(number, account, text, new=not repeated)
    paid = Receipt(ledger, number, head, account.name, repeated)
    return Answered(answer_in(stands), paid, Receipt(ledger, place, its_head, account.name), place <= before)


def _open(transaction: Transaction, wanted: Account) -> None:
    """Open an account, or see that the one of this name has the same cap."""
    found = transaction.find(wanted.name)
    if found is None:
        transaction.open(wanted)
    elif found.cap is not wanted.cap and found.cap.guarantee != wanted.cap.guarantee:
        raise ArgumentError(f"there is an account {wanted.name!r} already, and its cap is another one")
