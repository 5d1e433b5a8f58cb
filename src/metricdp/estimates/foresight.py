"""How well a question could be answered from a release, before there is one: no data is read.

The counts that a release would have on average are worked out from the policy alone. The question is answered from
these as it would be from a released table. The width of the interval is what is wanted. It hangs little on how the
secrets are spread, but for averages within noisy groups: there, the wider the secrets, the wider the interval, and
evenly over the bounds is wide.
"""

from __future__ import annotations

import html
import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa

from metricdp.errors import ArgumentError
from metricdp.estimates.expected_counts import expected_counts
from metricdp.estimates.plan import Counted
from metricdp.estimates.released_table import ReleasedTable
from metricdp.estimates.results import Estimate, Estimates, Truth, aligned, check_asked, shown
from metricdp.estimates.selects import answer_select
from metricdp.policies.column_type import ColumnType
from metricdp.policies.policy import Policy

__all__ = ["Foresight", "foresee"]

_STEPS = 24


@dataclass(frozen=True, repr=False)
class Foresight:
    """How well a question could be answered.

    Attributes:
        estimates: the answers to expect, where secrets are spread evenly.
        assumed: what is taken for granted of the secrets, in words.
        within: how far the answer may be off, where that was asked.
        factor: by what the levels of the columns would be multiplied, for the strongest protection that leaves the
            answers within that; 1 is the policy as it is, more is less private. None where nothing was asked, infinity
            where no level suffices, 0 where any does.
        levels: for each column that the question hangs on, the level that suffices, in words.
    """

    estimates: Estimates
    assumed: tuple[str, ...]
    within: float | None = None
    factor: float | None = None
    levels: tuple[tuple[str, str], ...] = ()

    @property
    def halves(self) -> tuple[tuple[float, ...], ...]:
        """Half the width of each interval, for each group (rows) and each thing asked."""
        return tuple(tuple(_half(one) for one in row) for row in self.estimates.found)

    @property
    def widest(self) -> float:
        """The greatest of them."""
        return max(itertools.chain.from_iterable(self.halves))

    @property
    def suffices(self) -> bool | None:
        """Whether the policy as it is leaves the answers within what was asked; None where nothing was."""
        return None if self.within is None else self.widest <= self.within

    def __repr__(self) -> str:
        return f"Foresight({self.estimates.question!r}; {self.estimates.rows:,} rows, ± {shown(self.widest)})"

    def __str__(self) -> str:
        found = self.estimates
        lines = [[*found.group_names, "", "interval"]]
        for labels, halves in zip(found.groups, self.halves, strict=True):
            lines += [[*labels, name, f"± {shown(half)}"] for name, half in zip(found.names, halves, strict=True)]
        rendered = aligned(lines, len(found.group_names) + 1)
        notes = [f"- {note}" for note in dict.fromkeys([*self.assumed, *_reasons(found)])]
        return "\n".join([*rendered, *notes, *self._levels()])

    def _levels(self) -> list[str]:
        if self.within is None or self.factor is None:
            return []
        wanted = shown(self.within)
        if math.isinf(self.factor):
            return ["", f"No level leaves the answers within {wanted}: ask about more rows, or something coarser."]
        if self.factor == 0:
            return ["", f"Within {wanted}: any level suffices, however strong the protection."]
        said = "suffices, and stronger protection would, too" if self.suffices else "does not suffice"
        head = f"Within {wanted}: the policy as it is {said}. The strongest protection that suffices:"
        return ["", head, *(f"    {name}: {words}" for name, words in self.levels)]

    def to_json(self) -> dict[str, Any]:
        """As plain values for JSON; a width that is not known is None."""
        found = self.estimates
        return {
            "question": found.question,
            "rows": found.rows,
            "answers": [
                {
                    "group": dict(zip(found.group_names, labels, strict=True)),
                    **{name: {"half": _finite(half)} for name, half in zip(found.names, halves, strict=True)},
                }
                for labels, halves in zip(found.groups, self.halves, strict=True)
            ],
            "assumed": list(self.assumed),
            "within": self.within,
            "suffices": self.suffices,
            "factor": None if self.factor is None else _finite(self.factor),
            "levels": dict(self.levels),
        }

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>"


def foresee(
    policy: Policy | str | Path | Mapping[str, Any],
    question: str,
    rows: int,
    *,
    confidence: float = 0.95,
    within: float | None = None,
    truth: Truth = "table",
) -> Foresight:
    """How well a question could be answered from a release under a policy; no data is read.

    Args:
        policy: what the table would be released under.
        question: SQL, as for `metricdp.estimates.estimate`.
        rows: how many rows the table would have.
        confidence: of each interval by itself.
        within: how far the answers may be off; then the level that suffices is looked for.
        truth: see `metricdp.estimates.estimate`.

    Raises:
        ArgumentError: the question is none, or about a column of which nothing is known before it is read.

    >>> policy = {"format": 2, "columns": {"smokes": {"type": "boolean", "factor": 3, "missing": "refuse"}}}
    >>> found = foresee(policy, "select count(*) where smokes = true", rows=10_000, within=100)
    >>> round(found.widest), found.suffices, found.levels
    (171, False, (('smokes', 'factor = 5.8'),))
    """
    if isinstance(rows, bool) or not isinstance(rows, int) or rows < 1:
        raise ArgumentError(f"rows is a number of rows, 1 at least, not {rows!r}")
    check_asked(confidence, truth)
    if within is not None and (isinstance(within, str) or not 0 < within < math.inf):
        raise ArgumentError(f"within is a distance above 0, not {within!r}")
    search = _Search(Policy.of(policy), question, rows, confidence, truth)
    found = search.at(1.0)
    assumed = tuple(dict.fromkeys(search.assumed))
    if within is None:
        return Foresight(found, assumed)
    factor = search.least_factor(within)
    levels = tuple((name, _level_words(search.policy, name, factor)) for name in search.columns if factor)
    return Foresight(found, assumed, within, factor, () if factor == 0 or math.isinf(factor) else levels)


class _UnreadTable(ReleasedTable):
    """A table that there is not yet."""

    def batches(self, columns: Sequence[ColumnType]) -> Iterator[list[list[pa.Array]]]:
        """Refused: there are no rows."""
        name = columns[0].columns[0]
        raise ArgumentError(
            f"column {name!r} is released as it is, and nothing is known of it before a table is read: leave it out of "
            "the question, and give the number of rows that a value of it has"
        )


class _Search:
    """The answers for levels that are multiplied."""

    def __init__(self, policy: Policy, question: str, rows: int, confidence: float, truth: Truth) -> None:
        self.policy, self.question, self.rows = policy, question, rows
        self.confidence, self.truth = confidence, truth
        self.assumed: list[str] = []
        self.columns: tuple[str, ...] = ()

    def at(self, factor: float) -> Estimates:
        """The answers where each level is multiplied by a factor."""
        table = _UnreadTable(None, _scaled(self.policy, factor))
        return answer_select(table, self.question, self.confidence, self.truth, self._counting, every=True)

    def half(self, factor: float) -> float:
        return max(_half(one) for one in self.at(factor))

    def least_factor(self, within: float) -> float:
        """The least factor that suffices, to a hundredth; infinite where none does, 0 where any does."""
        low, high = 1.0, 1.0
        if self.half(1.0) <= within:
            while self.half(low) <= within:
                low, high = low / 4, low
                if low < 1e-6:
                    return 0.0
        else:
            while self.half(high) > within:
                low, high = high, high * 4
                if high > 1e5:
                    return math.inf
        for _ in range(_STEPS):
            if high / low < 1.01:
                break
            middle = math.sqrt(low * high)
            low, high = (low, middle) if self.half(middle) <= within else (middle, high)
        return high

    def _counting(self, *arguments: Any) -> Counted:
        counted, assumed = expected_counts(*arguments, rows=self.rows)
        self.assumed += assumed
        self.columns = tuple(
            dict.fromkeys(law.name for law in (*counted.laws.values(), *counted.lines.values()) if law)
        )
        return counted


# Levels


def _scaled(policy: Policy, factor: float) -> Policy:
    """The policy with every level multiplied."""
    if factor == 1:
        return policy
    exact = Fraction(factor).limit_denominator(10**6)
    columns = []
    for column in policy.columns:
        if column.release != "noise" or column.written is None:
            columns.append(column)
            continue
        written = replace(column.written, metric=exact * column.written.metric)
        columns.append(replace(column, written=written))
    return replace(policy, columns=tuple(columns))


def _level_words(policy: Policy, name: str, factor: float) -> str:
    column = next(column for column in policy.columns if name in (column.name, *column.columns))
    written = column.written
    assert written is not None
    if math.isinf(factor):
        return ""
    metric = written.metric
    if metric.pair_words:
        level = float(metric.level) * factor
        return f"factor = {math.exp(level):.2g}" if level < 20 else f"epsilon = {level:.3g}"
    if written.distance is not None:
        said = written.measure.say(float(f"{float(written.distance) / factor:.3g}"))
        return f"the same level at {said}, in place of {written.measure.say(float(written.distance))}"
    return f"epsilon = {float(metric.level) * factor:.3g}"


def _half(one: Estimate) -> float:
    low, high = one.interval
    if isinstance(low, int | float) or isinstance(high, int | float):
        return (high - low) / 2 if isinstance(low, int | float) and isinstance(high, int | float) else math.inf
    return (high - low).days / 2


def _reasons(found: Estimates) -> list[str]:
    return [note for note in found.all_notes() if "as good" not in note]


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
