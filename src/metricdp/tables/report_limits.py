"""What a release does not promise, in words, for the policy at hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from metricdp.tables.report_words import listed

if TYPE_CHECKING:
    from metricdp.tables.policy import Policy

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
_TWICE = (
    "Sanitizing twice adds up",
    "Each release of the same source draws new noise, and distances add up: after two, every factor is squared. "
    "Release once, and keep that.",
)


def limits_of(policy: Policy) -> tuple[tuple[str, str], ...]:
    """Titles and words, the general ones first; the last says what is free."""
    return (_TOGETHER, _UNINFORMED, _TWICE, _rows(policy), *_public(policy), FREE)


def _rows(policy: Policy) -> tuple[str, str]:
    words = "The number of rows is public. What is hidden is what stands in a row, not that there is one."
    if policy.order == "public":
        words += " So is their order, which the policy declares public: rows stand where they stood."
    unit = policy.unit
    if unit is not None and unit.release == "rekey":
        words += " New keys hide who a person is, not which rows are one person's, nor how many she has."
    return "Rows are public, their contents are not", words


def _public(policy: Policy) -> list[tuple[str, str]]:
    found = []
    kept = [column for item in policy.treatments if item.kind == "keep" for column in item.columns]
    if kept:
        found.append(
            (
                "Kept columns are not protected",
                f"What is in {listed(kept)} is released as it is. Together such columns can single somebody out.",
            )
        )
    nulls = [item.name for item in policy.treatments if item.mechanism is not None and item.missing == "public"]
    if nulls:
        found.append(("Public missing values", f"In {listed(nulls)} everybody sees which values are missing."))
    found.append(
        (
            "A refusal tells something",
            "A table that breaks a rule of its policy is refused, and the message names the row. Do not pass it on to "
            "somebody who must not know that row.",
        )
    )
    return found
