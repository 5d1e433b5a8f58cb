"""A session: one table, its policy, and the account that everything about it is charged to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from metricdp.errors import ArgumentError, FileError, ImpossibleError
from metricdp.exact.level import rational
from metricdp.exact.lists import as_list
from metricdp.ledger import Balance, Ledger, What
from metricdp.ledger.charging import as_ledger, question_charge, refuse_seeds, table_charge, which_account
from metricdp.ledger.entries import canonical, digest
from metricdp.metrics import Guarantee, Metric
from metricdp.policies.policy import Policy
from metricdp.policies.sql.public_tables import public_tables
from metricdp.policies.sql.together import join_selects
from metricdp.queries.select.asking import Asking
from metricdp.queries.select.stored_answers import stored, taken_up
from metricdp.queries.select.table_answers import TableAnswers
from metricdp.sessions.precision import counts_at_least, counts_needed, least
from metricdp.sessions.preview import Preview
from metricdp.sessions.shown_bars import shown_bars
from metricdp.sources.digests import digest as file_digest
from metricdp.tables import Release, sanitize

__all__ = ["Session"]

_OWN_KEYS = "question "
"""How the request keys begin under which answers are found again."""


class Session:
    """Ask about a table and sanitize it, with every release charged to one account before it leaves.

    Args:
        source: a file or frame; see `metricdp.tables.sanitize`.
        policy: a Policy, the path of one, or a dict of what its file would hold.
        ledger: a `Ledger` or its address; None to keep account for this session alone.
        account: which account of the ledger; the only one, where there is one.
        engine: what reads the table.
        public: public tables that questions may join, by their names; see `metricdp.queries.ask`.
        who: asks, for the record.
        purpose: what the answers are wanted for, for the record.

    >>> import pyarrow as pa
    >>> people = pa.table({"sex": ["F", "F", "M"], "age": [30, 50, 39]})
    >>> policy = {
    ...     "format": 2,
    ...     "records": 3,
    ...     "columns": {
    ...         "sex": {"type": "category", "values": ["F", "M"], "epsilon": 1000, "missing": "refuse"},
    ...         "age": {"type": "integer", "bounds": [0, 120], "epsilon": 1000, "missing": "refuse"},
    ...     },
    ... }
    >>> session = Session(people, policy)
    >>> answers = session.ask("select count(*) from people group by sex")
    >>> [round(one.value) for one in answers["count(*)"]], str(session.spent)
    ([2, 1], 'ℓ₁(1000·[x ≠ y] (sex))')
    """

    def __init__(
        self,
        source: Any,
        policy: Policy | str | Path | Mapping[str, Any],
        ledger: Ledger | str | Path | None = None,
        account: str | None = None,
        *,
        engine: Any = None,
        public: Mapping[str, Any] | None = None,
        who: str = "",
        purpose: str = "",
    ) -> None:
        self.source, self.policy, self.engine = source, Policy.of(policy), engine
        self.ledger = None if ledger is None else as_ledger(ledger)
        self.policy.refuse_without_ledger(self.ledger is not None)
        if self.ledger is None and account is not None:
            raise ArgumentError("an account is one of a ledger: give the ledger too")
        self.account = None if self.ledger is None else which_account(account, self.ledger)
        self._who, self._purpose = who, purpose
        self._charged: list[Guarantee] = []
        self._public = public_tables(public)

    # Ask

    def ask(
        self,
        question: str,
        *,
        key: str | None = None,
        within: float | None = None,
        most: float | Fraction | None = None,
        count_part: float | Fraction | None = None,
    ) -> TableAnswers:
        """Answer a question in SQL, with error bars, and charge it.

        A question that was answered before about the same file, or is a part of one that was, is answered from the
        ledger and costs nothing.

        Args:
            question: ``select AGGREGATES [from ..] [where CONDITION] [group by COLUMNS]``; see `metricdp.queries.ask`.
            key: of the request, where it may be sent twice; see `Ledger.charge`.
            within: the widest error bar at 95% that is wanted. The least that brings it about is spent, found from the
                policy and public facts alone.
            most: how many times the policy's metric ``within`` may spend; 1 where nothing is said.
            count_part: the part of ``most`` that is spent on counting first, where the error bar of an average depends
                on a secret count. The bar that comes with the average is then within what is wanted in 94 of 100 cases
                at least; it is right in any case, with its 95%.

        Raises:
            BudgetError: the account cannot bear it; nothing was charged.
            ImpossibleError: ``within`` cannot be had for so much, or depends on a secret count.
        """
        return self._ask(self._precise(question, within, most, count_part, key), question, key)

    def _ask(self, asking: Asking, question: str, key: str | None) -> TableAnswers:
        if key is not None and str(key).startswith(_OWN_KEYS):  # answers are found by them
            raise ArgumentError(f"request keys that begin with {_OWN_KEYS!r} are the session's own: choose another")
        charge = self._charge_of(asking)
        if self.ledger is None or charge is None:
            answers = asking.answer(self.source, self.engine, charged=self.ledger is not None)
            self._charged += [] if charge is None else [charge]
            return answers
        assert self.account is not None
        stamps = self._stamps()
        request, earlier = self._request(asking), None
        free = self._known_answer(asking, request)
        own, request = self._own_key(asking, request), request | {"asked": _asked(asking)}
        if key is None and free is not None:
            return replace(free, again=True)
        refuse_seeds()
        key = own if key is None else key
        if key is not None:
            earlier = self.ledger.charged_under(key, self.account, charge, self._what(question), request=request)
            done = None if earlier is None else self.ledger.answer_of(earlier)
            if done is not None:
                return replace(taken_up(asking, done.answer), again=True)
        if free is not None:
            return replace(free, again=True)
        problem = None if earlier is not None else self.ledger.refusal(self.account, charge)
        if problem is not None:
            raise problem
        computed = stored(asking.answer(self.source, self.engine, charged=True))  # bad data end here, and cost nothing
        if self._stamps() != stamps:  # it would stand for ever as the answer about what the file was before
            raise FileError("the table was changed while it was read; nothing more was charged: ask again")
        receipt = self.ledger.charge(self.account, charge, self._what(question), key=key, request=request)
        return taken_up(asking, self.ledger.answer(receipt, computed).answer)

    def ask_together(self, questions: Sequence[str]) -> list[TableAnswers]:
        """Several questions about the same records and groups, as one: they share the policy's metric.

        One by one, each would spend it on the columns that they have in common; `saved_together` says how much.
        """
        joined = self._joined(questions)
        answers = self._ask(joined, joined.select.text, None)
        return [taken_up(self._read(question), stored(answers)) for question in questions]

    def saved_together(self, questions: Sequence[str]) -> tuple[Metric | None, Metric | None]:
        """What the questions cost as one, and what they would cost one by one."""
        together = self._charge_of(self._joined(questions))
        alone = [charge for charge in map(self._charge_of, map(self._read, questions)) if charge is not None]
        added = None
        for charge in alone:
            added = charge.metric if added is None else added + charge.metric
        return None if together is None else together.metric, added

    def preview(
        self,
        question: str,
        *,
        within: float | None = None,
        most: float | Fraction | None = None,
        count_part: float | Fraction | None = None,
    ) -> Preview:
        """What asking would cost and the error to expect, without reading a row; the most of it after a count."""
        asking = self._read(question)
        if within is not None and count_part is not None and counts_needed(asking):
            asking = replace(asking, scale=self._parts(most, count_part)[1])
        else:
            asking = self._precise(question, within, most, None, None)
        charge, bars = self._charge_of(asking), asking.error_bars()
        if charge is None or self.ledger is None:
            return Preview(question, charge, bars, True)
        assert self.account is not None
        if self._known_answer(asking, self._request(asking)) is not None:
            return Preview(question, charge, bars, True, "it was answered before, and is free", True)
        problem = self.ledger.refusal(self.account, charge)
        return Preview(question, charge, bars, problem is None, "" if problem is None else str(problem))

    # Sanitize

    def sanitize(
        self, out: str | Path | None = None, *, overwrite: bool = False, key: str | None = None
    ) -> Release[Any]:
        """Release the whole table, as the policy says: checked first, then charged, then made."""
        if self.ledger is None:
            charge = table_charge(self.policy)  # what cannot be added up is refused before anything is released
            release = sanitize(self.source, self.policy, out, self.engine, overwrite=overwrite, by=self._who or None)
            self._charged.append(charge)
            return release
        return sanitize(
            self.source,
            self.policy,
            out,
            self.engine,
            self.ledger,
            overwrite=overwrite,
            by=self._who or None,
            account=self.account,
            key=key,
        )

    # What is left

    @property
    def balance(self) -> Balance | None:
        """What the account has spent and has left; None without a ledger."""
        return None if self.ledger is None or self.account is None else self.ledger.balance(self.account)

    @property
    def spent(self) -> Metric | None:
        """The metric of all that the account, or this session, has spent; None where that is nothing."""
        if self.balance is not None:
            return self.balance.spent
        spent = None
        for charge in self._charged:
            spent = charge.metric if spent is None else spent + charge.metric
        return spent

    @property
    def left(self) -> Metric | None:
        """The metric that one more release may have at most; None where nothing is left, or without a ledger."""
        return None if self.balance is None else self.balance.left

    def __repr__(self) -> str:
        where = "" if self.balance is None else f"; {self.balance}"
        return f"Session({len(self.policy.columns)} columns{where})"

    def _repr_html_(self) -> str:
        return "<p>no ledger</p>" if self.balance is None else self.balance._repr_html_()

    # Inside

    def _read(self, question: str) -> Asking:
        return Asking.of(question, self.policy.askable, public=self._public)

    def _precise(
        self,
        question: str,
        within: float | None,
        most: float | Fraction | None,
        count_part: float | Fraction | None,
        key: str | None,
    ) -> Asking:
        """The question with the least scale for the error bar that is wanted; a secret count is asked for first."""
        asking = self._read(question)
        if within is None:
            if most is not None or count_part is not None:
                raise ArgumentError("most= and count_part= go with within=: they say what an error bar may cost")
            return asking
        if any(one.ranks is not None for one in asking.percentiles.values()):
            raise ImpossibleError(
                "the error bar of a percentile depends on how densely values lie near it, which is secret: ask without "
                "within=, after a preview"
            )
        if any(one.kind == "moment" for one in asking.select.aggregates):
            raise ImpossibleError(
                "the error bar of a variance, a correlation or a slope depends on what it is, which is secret: ask "
                "without within=, after a preview"
            )
        _ = shown_bars(asking, asking.error_bars())  # or it is refused here, before anything is counted
        bar, counts = rational(within, "error bar"), counts_needed(asking)
        if not counts:
            return least(asking, bar, self._parts(most, None)[1])
        if count_part is None:
            raise ImpossibleError(
                "the error bar of an average depends on how many there are, which is secret: give count_part=0.2 to "
                "spend a fifth on the count first, or ask for sum(..) and count(*) with bars of their own"
            )
        part, whole = self._parts(most, count_part)
        if bar <= 0:
            raise ArgumentError("an error bar is positive")
        text = f"{', '.join(one.name for one in counts)}, before: {asking.select.text}"
        counting = Asking.made(asking.select.asking(counts, text), asking.policy, whole * part)
        counted = self._ask(counting, text, None if key is None else f"{key} (count)")
        return least(asking, bar, whole * (1 - part), counts_at_least(counting, counted))

    @staticmethod
    def _parts(most: float | Fraction | None, count_part: float | Fraction | None) -> tuple[Fraction, Fraction]:
        """The part of a budget that is for counting, and the budget."""
        whole = Fraction(1) if most is None else rational(most, "most")
        part = Fraction(0) if count_part is None else rational(count_part, "part")
        if whole <= 0 or (count_part is not None and not 0 < part < 1):
            raise ArgumentError("the most that an error bar may cost is positive, and count_part lies between 0 and 1")
        return part, whole

    def _joined(self, questions: Sequence[str]) -> Asking:
        """One question for several that have the same condition and groups."""
        if isinstance(questions, str):
            raise ArgumentError("questions are a list of texts: for one, use ask")
        read = [self._read(question).select for question in as_list(questions, "questions")]
        return Asking.made(join_selects(read, self.policy.askable), self.policy.askable)

    def _charge_of(self, asking: Asking) -> Guarantee | None:
        charge = question_charge(self.policy, asking.columns)
        return None if charge is None else Guarantee(charge.metric * asking.scale)

    def _what(self, question: str) -> What:
        return What(
            question,
            mechanism="Laplace and geometric noise, shared among the answers",
            purpose=self._purpose,
            who=self._who,
            versions={"policy": digest(self.policy.text)},
        )

    def _snapshot(self) -> str | None:
        """Which file this is, as it is now; None where the source is none, and may change unseen.

        Whoever knows all but one record of a file could find that record by the file's digest. So what goes into the
        ledger is a digest that only the ledger can compute.
        """
        named_elsewhere = self.engine is not None and not isinstance(self.engine, str)
        if self.ledger is None or named_elsewhere or not self._is_file:
            return None
        return self.ledger.sealed(file_digest(self.source))

    @property
    def _is_file(self) -> bool:
        return isinstance(self.source, str | Path) and Path(self.source).exists()

    def _stamps(self) -> list[tuple[str, int, int, int]]:
        """By what a change of the source's files shows, without reading them; nothing where it is none."""
        if not self._is_file:
            return []
        path = Path(self.source)
        try:
            found = [(str(one), one.stat()) for one in ([path] if path.is_file() else sorted(path.rglob("*")))]
        except OSError:  # a part of it went away just now
            return []
        return [(name, seen.st_ino, seen.st_size, seen.st_mtime_ns) for name, seen in found]

    def _request(self, asking: Asking) -> dict[str, Any]:
        return {
            "records": list(asking.select.records),
            "policy": digest(self.policy.text),
            "scale": str(asking.scale),
            "snapshot": self._snapshot(),
        }

    @staticmethod
    def _prefix(request: Mapping[str, Any]) -> str | None:
        """How the keys of all questions begin that are about the same records, groups and snapshot."""
        return None if request["snapshot"] is None else f"{_OWN_KEYS}{digest(canonical(request))[:32]} "

    def _own_key(self, asking: Asking, request: Mapping[str, Any]) -> str | None:
        """A key for the question on this snapshot, so that it is never charged twice; None without a snapshot."""
        prefix = self._prefix(request)
        return None if prefix is None else prefix + digest(canonical(_asked(asking)))[:32]

    def _known_answer(self, asking: Asking, request: Mapping[str, Any]) -> TableAnswers | None:
        """An answer that the ledger has for this question about this snapshot, or for one with all of it and more."""
        assert self.ledger is not None
        assert self.account is not None
        prefix = self._prefix(request)
        if prefix is None:
            return None
        wanted = set(_asked(asking))
        for tree in self.ledger.answers_under(self.account, prefix):
            if wanted <= set(tree.get("asked", ())):
                return taken_up(asking, tree)
        return None


def _asked(asking: Asking) -> list[str]:
    """What a question asks for, whatever it calls that."""
    return [one.identity for one in asking.select.aggregates]
