"""What a release does not promise, in words, for the policy at hand."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from metricdp.metrics.words import factor_words, listed
from metricdp.tables.report.whole import whole_of
from metricdp.visible import visible_name

if TYPE_CHECKING:
    from metricdp.policies.policy import Policy
    from metricdp.tables.report.columns import ColumnReport

__all__ = ["FREE", "limits_of"]

FREE = (
    "Queries are free",
    "Whatever is computed from the sanitized table costs no more privacy, however often: the same question gets the "
    "same answer, and nothing averages out (Holohan et al. 2014, Theorem 4).",
)

_TOGETHER = (
    "Columns and rows that go together",
    "Where one column tells about another (age and pension), or one row about another (a family), somebody who knows "
    "how they go together learns about one from the release of the other. The promise speaks of secrets that do not "
    "follow from others (Kamalaruban et al. 2020, section 5).",
)
_UNINFORMED = (
    "An adversary who is not informed",
    "The factors bound what this row's release adds to what somebody knows about this row. Somebody who knows that a "
    "person is two inches shorter than an average learns her height from the average, however private, and would "
    "without her row too (Chatzikokolakis et al. 2013, footnote 5).",
)
_ONE_ROW = (
    "One row, one person",
    "The policy declares no person, so each row is taken for another person's. Whoever has k rows is protected k times "
    "less: every factor becomes its k-th power. If somebody can have several rows, name the column that says whose "
    "they are, and how many at most.",
)


def limits_of(policy: Policy, columns: Sequence[ColumnReport]) -> tuple[tuple[str, str], ...]:
    """Titles and words, the general ones first; the last says what is free."""
    alone = (_ONE_ROW,) if policy.person is None else ()
    return (_TOGETHER, *alone, _twice(columns), _UNINFORMED, _rows(policy), *_public(policy), FREE)


def _twice(columns: Sequence[ColumnReport]) -> tuple[str, str]:
    """What a second release would add."""
    first, whole = columns[0], whole_of(columns)
    again = whole_of(columns, 2)
    words = (
        "Each release of the same source draws new noise, and distances add up: after a second release every factor is "
        f"squared. The factor {factor_words(first.named_factor)} of {visible_name(first.name)} becomes "
        f"{factor_words(whole_of(columns[:1], 2).named)}"
    )
    if len(columns) > 1 and not math.isinf(again.named):
        words += f", and all columns at once x {factor_words(whole.named)} becomes x {factor_words(again.named)}"
    return "Sanitizing twice adds up", f"{words}. Release once, and keep that."


def _rows(policy: Policy) -> tuple[str, str]:
    words = "The number of rows is public. What is hidden is what stands in a row, not that there is one."
    if policy.order == "public":
        words += " So is their order, which the policy declares public: rows stand where they stood."
    unit = policy.person
    if unit is not None and unit.release == "rekey":
        words += " New keys hide who a person is, not which rows are one person's, nor how many she has."
    return "Rows are public, their contents are not", words


def _public(policy: Policy) -> list[tuple[str, str]]:
    found = []
    kept = list(policy.kept)
    if kept:
        found.append(
            (
                "Kept columns are not protected",
                f"What is in {_listed(kept)} is released as it is. Together such columns can single somebody out.",
            )
        )
    if policy.rekeyed:
        found.append(
            (
                "New keys do not hide what goes together",
                f"In {_listed(list(policy.rekeyed))} every value has a new key, the same in all its rows: who or what "
                "it was is hidden, which rows have it in common is not.",
            )
        )
    nulls = [column.name for column in policy.columns if column.release == "noise" and column.missing == "public"]
    if nulls:
        found.append(("Public missing values", f"In {_listed(nulls)} everybody sees which values are missing."))
    found.append(
        (
            "A refusal tells something",
            "A table that breaks a rule of its policy is refused, and the message names the row. Do not pass it on to "
            "somebody who must not know that row.",
        )
    )
    return found


_MOST_NAMES = 20


def _listed(names: list[str]) -> str:
    """Names in a row, the first ones where there are many."""
    shown = [visible_name(name) for name in names[:_MOST_NAMES]]
    return listed(shown if len(names) <= _MOST_NAMES else [*shown, f"{len(names) - _MOST_NAMES:,} other columns"])
