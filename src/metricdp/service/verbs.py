"""What can be asked of the service, without a word of HTTP: every release is charged before it is returned."""

from __future__ import annotations

import threading
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from metricdp.channels import verify
from metricdp.channels.serialize import from_json
from metricdp.errors import ArgumentError
from metricdp.exact.results import number_json
from metricdp.ledger import Ledger, What
from metricdp.ledger.entries import canonical
from metricdp.metrics import Guarantee, Space
from metricdp.metrics.reading import metric_in_words
from metricdp.service.jobs import TableJob
from metricdp.service.settings import OfferedMechanism, OfferedTable, Settings
from metricdp.service.tokens import Token
from metricdp.sessions import Session
from metricdp.tables import sanitize

__all__ = ["Refused", "Verbs"]

_LONGEST_KEY = 200


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
        self._opened: set[str] = set()
        self._opening = threading.Lock()

    def release(
        self, token: Token, mechanism: str, subject: str, secrets: list[Any], key: str | None
    ) -> dict[str, Any]:
        """Secrets of one subject, released by a mechanism and charged to the subject's own account.

        The ledger holds neither the subject nor the secrets, only digests of them that nobody else can compute.
        """
        self._refuse(token, "release")
        offered = self.settings.mechanisms.get(mechanism)
        if offered is None:
            raise ArgumentError(f"there is no mechanism {mechanism!r}; there are: {_names(self.settings.mechanisms)}")
        if not 1 <= len(secrets) <= self.settings.most_secrets:
            raise ArgumentError(f"1 to {self.settings.most_secrets:,} secrets are released at a time")
        if not 1 <= len(subject) <= _LONGEST_KEY:
            raise ArgumentError(f"a subject has a name of 1 to {_LONGEST_KEY} characters")
        once = offered.mechanism.guarantee
        cost = Guarantee(once.metric * len(secrets), min(once.delta * len(secrets), Fraction(1)))
        account = self._account_of(offered, subject)
        refused = None if key is not None else self.ledger.refusal(account, cost)
        if refused is not None:
            raise refused
        rows = [tuple(secret) if isinstance(secret, list) and _labelled(offered) else secret for secret in secrets]
        computed: list[Any] = []
        if key is None:  # what is refused costs nothing
            computed = plain(offered.mechanism.release(rows))
        done = self.ledger.release(
            account,
            cost,
            What(f"{len(secrets)} values by {mechanism}", mechanism=offered.mechanism.name, who=token.name),
            lambda: computed or plain(offered.mechanism.release(rows)),
            key=_bound(token, key),
            request={"release": mechanism, "of": self.ledger.sealed(canonical(secrets))},
        )
        return {"released": done.answer, "guarantee": cost.to_json(), "repeated": done.repeated}

    def ask(self, token: Token, table: str, question: str, within: float | None, key: str | None) -> dict[str, Any]:
        """A question in SQL about a table, charged to the account of whoever asks."""
        self._refuse(token, "ask")
        answers = self._session(token, table).ask(question, within=within, key=_bound(token, key))
        return dict(answers.to_json())

    def preview(self, token: Token, table: str, question: str, within: float | None) -> dict[str, Any]:
        """What the question would cost, and the error to expect; no row is read."""
        self._refuse(token, "preview")
        return self._session(token, table).preview(question, within=within).to_json()

    def sanitizing(self, token: Token, table: str, key: str | None) -> Callable[[TableJob], object]:
        """What a job does with an uploaded table: released under the policy of a table, charged to the token's account.

        Whatever the token may not do is refused now, before anything is uploaded.
        """
        self._refuse(token, "sanitize")
        offered, bound = self._offered(token, table), _bound(token, key)
        self.ledger.account(token.account)

        def work(job: TableJob) -> object:
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
        return offered

    def _account_of(self, offered: OfferedMechanism, subject: str) -> str:
        """The subject's account, opened when it is first needed."""
        name = f"{offered.name} {self.ledger.sealed(subject)[:32]}"
        with self._opening:
            if name not in self._opened:
                try:
                    self.ledger.open_account(name, offered.cap, dataset=offered.name, privacy_unit="a subject")
                except ArgumentError:
                    if self.ledger.account(name).cap.guarantee != offered.cap:
                        raise ArgumentError(
                            f"the accounts of {offered.name} have another cap than the settings; give it a new name"
                        ) from None
                self._opened.add(name)
        return name


def plain(released: Any) -> list[Any]:
    """What was released as plain values for JSON."""
    return [list(one) if isinstance(one, tuple) else one for one in list(released)]


def _labelled(offered: OfferedMechanism) -> bool:
    """Whether secrets are labels, of which a list in JSON is a tuple."""
    return offered.mechanism.declared is not None


def _bound(token: Token, key: str | None) -> str | None:
    """A request key of this token's own."""
    if key is None:
        return None
    if not 1 <= len(key) <= _LONGEST_KEY:
        raise ArgumentError(f"a request key has 1 to {_LONGEST_KEY} characters")
    return f"{token.name}: {key}"


def _names(offered: Any) -> str:
    return ", ".join(offered) or "none"
