"""What can be asked of the service, without a word of HTTP: every release is charged before it is returned."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction
from typing import Any

from metricdp.channels import verify
from metricdp.channels.serialize import from_json
from metricdp.errors import ArgumentError, BudgetError
from metricdp.exact.results import number_json
from metricdp.ledger import Account, Answered, Ledger, Settlement, What
from metricdp.ledger.caps import Cap
from metricdp.ledger.directory import LONGEST_NAME
from metricdp.ledger.entries import canonical, digest
from metricdp.metrics import Guarantee, Space
from metricdp.metrics.reading import metric_in_words
from metricdp.service.drawing import WantedRelease, drawn_together
from metricdp.service.jobs import TableJob
from metricdp.service.settings import OfferedMechanism, OfferedTable, Settings
from metricdp.service.tokens import Token
from metricdp.sessions import Session
from metricdp.tables import sanitize

__all__ = ["Refused", "Verbs"]

_LONGEST_KEY = 200
_MOST_COSTS = 1000


class Refused(Exception):
    """Something that this token may not do, or may not know."""


class Verbs:
    """Release, ask, sanitize, preview, balance, verify and check.

    Args:
        settings: what is offered.
        ledger: what everything is charged to.
    """

    def __init__(self, settings: Settings, ledger: Ledger) -> None:
        self.settings, self.ledger = settings, ledger
        self._caps = {name: Cap(offered.cap) for name, offered in settings.mechanisms.items()}
        self._costs: dict[tuple[str, int], tuple[Guarantee, dict[str, Any]]] = {}
        ledger.sealed("")  # its secret is read, or made, now and not by the first request

    def wanted(self, token: Token, mechanism: str, subject: str, secrets: list[Any], key: str | None) -> WantedRelease:
        """Secrets of one subject that are to be released by a mechanism, and charged to the subject's own account.

        The ledger will hold neither the subject nor the secrets, only digests of them that nobody else can compute.
        """
        self._refuse(token, "release")
        offered = self.settings.mechanisms.get(mechanism)
        if offered is None:
            raise ArgumentError(f"there is no mechanism {mechanism!r}; there are: {_names(self.settings.mechanisms)}")
        if not 1 <= len(secrets) <= self.settings.most_secrets:
            raise ArgumentError(f"1 to {self.settings.most_secrets:,} secrets are released at a time")
        if not 1 <= len(subject) <= _LONGEST_KEY:
            raise ArgumentError(f"a subject has a name of 1 to {_LONGEST_KEY} characters")
        name = f"{mechanism} {self.ledger.sealed(subject)[:32]}"
        bound = _bound(token, key)
        request = None if bound is None else {"release": mechanism, "of": self.ledger.sealed(canonical(secrets))}
        return WantedRelease(
            offered.mechanism,
            [tuple(secret) if isinstance(secret, list) and _labelled(offered) else secret for secret in secrets],
            *self._cost(offered, len(secrets)),
            What(f"{len(secrets)} values by {mechanism}", mechanism=offered.mechanism.name, who=token.name),
            Account(0, name, self._caps[mechanism], dataset=mechanism, privacy_unit="a subject"),
            bound,
            request,
        )

    def release(self, wanted: Sequence[WantedRelease]) -> list[dict[str, Any] | Exception]:
        """Draw all of them, charge each to its subject, and only then hand them out; for each its answer or its error.

        What is refused costs nothing.
        """
        drawn = drawn_together(wanted)
        paid = iter(
            self.ledger.settle(
                Settlement(
                    one.account.name, one.cost, one.what, answer, key=one.key, request=one.request, opening=one.account
                )
                for one, answer in zip(wanted, drawn, strict=True)
                if not isinstance(answer, Exception)
            )
        )
        done = [answer if isinstance(answer, Exception) else next(paid) for answer in drawn]
        return [
            {"released": one.answer, "guarantee": asked.cost_json, "repeated": one.repeated}
            if isinstance(one, Answered)
            else one
            for one, asked in zip(done, wanted, strict=True)
        ]

    def _cost(self, offered: OfferedMechanism, values: int) -> tuple[Guarantee, dict[str, Any]]:
        """What so many values cost, the same object each time: the ledger knows its price by that."""
        known = self._costs.get((offered.name, values))
        if known is None:
            once = offered.mechanism.guarantee
            cost = Guarantee(once.metric * values, min(once.delta * values, Fraction(1)))
            known = cost, cost.to_json()
            if len(self._costs) >= _MOST_COSTS:
                self._costs.clear()
            self._costs[offered.name, values] = known
        return known

    def ask(self, token: Token, table: str, question: str, within: float | None, key: str | None) -> dict[str, Any]:
        """A question in SQL about a table, charged to the account of whoever asks."""
        self._refuse(token, "ask")
        with self._own_words(token):
            answers = self._session(token, table).ask(question, within=within, key=_bound(token, key))
        return dict(answers.to_json())

    def preview(self, token: Token, table: str, question: str, within: float | None) -> dict[str, Any]:
        """What the question would cost, and the error to expect; no row is read."""
        self._refuse(token, "preview")
        found = self._session(token, table).preview(question, within=within)
        if found.guarantee is not None and not found.holds:
            problem = self.ledger.refusal(token.account, found.guarantee)
            found = replace(found, reason="" if problem is None else str(self._told(token, problem)))
        return found.to_json()

    def sanitizing(self, token: Token, table: str, key: str | None) -> Callable[[TableJob], object]:
        """What a job does with an uploaded table: released under the policy of a table, charged to the token's account.

        Whatever the token may not do is refused now, before anything is uploaded.
        """
        self._refuse(token, "sanitize")
        offered, bound = self._offered(token, table), _bound(token, key)

        def work(job: TableJob) -> object:
            with self._own_words(token):
                return sanitize(
                    job.source,
                    offered.policy,
                    job.result,
                    ledger=self.ledger,
                    account=token.account,
                    by=token.name,
                    key=bound,
                    progress=job.progress,
                )

        return work

    def balance(self, token: Token, account: str | None) -> dict[str, Any]:
        """What an account has left; an analyst's own, or any account for curators and auditors."""
        self._refuse(token, "balance")
        name = account or token.account
        if name != token.account and not token.may("every balance"):
            raise Refused("there is no such account, or it is not yours")
        if name not in self.ledger.account_names() or not name:
            raise Refused("there is no such account, or it is not yours")
        return self.ledger.balance(name).to_json()

    def verify(self, token: Token, channel: dict[str, Any], metric: str) -> dict[str, Any]:
        """Whether a channel keeps a metric, proved."""
        self._refuse(token, "verify")
        given = from_json(channel)
        verdict = verify(given, Space(given.inputs, metric_in_words(metric)))
        return {
            "holds": verdict.holds,
            "scale": number_json(verdict.scale),
            "witness": None if verdict.witness is None else [repr(part) for part in verdict.witness],
            "reason": verdict.reason,
        }

    def check(self, token: Token) -> dict[str, Any]:
        """The whole history of the ledger, checked."""
        self._refuse(token, "check")
        found = self.ledger.check()
        return {"holds": bool(found), "words": str(found)}

    def _refuse(self, token: Token, what: str) -> None:
        if not token.may(what):
            raise Refused(f"the role {token.role} does not include: {what}")

    def _session(self, token: Token, table: str) -> Session:
        offered = self._offered(token, table)
        return Session(offered.source, offered.policy, self.ledger, token.account, who=token.name)

    def _offered(self, token: Token, table: str) -> OfferedTable:
        offered = self.settings.tables.get(table)
        if offered is None:
            raise ArgumentError(f"there is no table {table!r}; there are: {_names(self.settings.tables)}")
        if not token.account:
            raise Refused("this token has no account to charge")
        try:
            self.ledger.account(token.account)
        except ArgumentError:  # whose words name others' accounts
            raise Refused("the account of this token is not in the ledger") from None
        return offered

    @contextmanager
    def _own_words(self, token: Token) -> Iterator[None]:
        """Refusals in this block say nothing of accounts whose balance the token may not see."""
        try:
            yield
        except BudgetError as error:
            raise self._told(token, error) from None

    def _told(self, token: Token, error: BudgetError) -> BudgetError:
        if error.account == token.account or token.may("every balance"):
            return error
        above = "an account above it, which others charge too, has too little left for this"
        return BudgetError(token.account, above, self.ledger.balance(token.account).words())


def _labelled(offered: OfferedMechanism) -> bool:
    """Whether secrets are labels, of which a list in JSON is a tuple."""
    return offered.mechanism.declared is not None


def _bound(token: Token, key: str | None) -> str | None:
    """A request key of this token's own."""
    if key is None:
        return None
    if not 1 <= len(key) <= _LONGEST_KEY:
        raise ArgumentError(f"a request key has 1 to {_LONGEST_KEY} characters")
    bound = f"{token.name}: {key}"
    return bound if len(bound) <= LONGEST_NAME else f"{token.name}: {digest(key)}"  # as long as a ledger takes


def _names(offered: Any) -> str:
    return ", ".join(offered) or "none"
