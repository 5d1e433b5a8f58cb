"""What a report says before any formula, and about itself: the same words for the text and for the page."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

from metricdp.metrics.words import factor_words, listed, odds_range

if TYPE_CHECKING:
    from metricdp.tables.report.report import Report
    from metricdp.tables.report.whole import Whole

__all__ = ["delta_words", "first_paragraph", "origin_facts", "whole_facts"]

_MOST_NAMES = 6


def first_paragraph(report: Report) -> str:
    """What is promised, for somebody who has never seen a formula."""
    names = [column.name for column in report.columns]
    shown = names if len(names) <= _MOST_NAMES else [*names[: _MOST_NAMES - 1], f"{len(names) - _MOST_NAMES + 1} more"]
    many = len(names) > 1
    words = [
        f"The values of {len(names)} column{'s' * many} ({listed(shown)}) "
        "are replaced by random ones, which are probably near the true ones. Whoever sees a "
        "released row and wonders which of two values somebody really has learns something, but never more than the "
        "factor that is promised here, whatever they knew before.",
    ]
    column = next((each for each in report.columns if " apart" in each.views[0].secrets), report.columns[0])
    view = next((each for each in column.views if each.factor == column.named_factor), column.views[0])
    if not math.isinf(view.factor):
        words.append(f"For {column.name}, {view.secrets}: even odds become {odds_range(view.factor)[1]} at most.")
    words.append("Values that are close stay nearly indistinguishable; values that are far apart may be told apart.")
    if many:
        words.append(
            "Somebody whose row differs in all columns at once is told apart more easily, by a factor of up to "
            f"{_largest(report.whole_row.named)}."
        )
    return " ".join([*words, *delta_words(report)])


def delta_words(report: Report) -> list[str]:
    """What the guarantee leaves out, one sentence where it has a delta: no factor is promised without it."""
    if not report.delta:
        return []
    delta, person = Fraction(report.delta), report.person
    words = f"All factors hold up to an additive delta of {float(delta):.6g}: with that chance a row may tell more"
    if person is not None and person.rows > 1:
        words += f"; for all rows of a person the chance is {float(min(Fraction(1), delta * person.rows)):.6g}"
    return [f"{words}."]


def whole_facts(report: Report) -> list[tuple[str, str]]:
    """All columns at once, for a row and for a person: a head, and words."""
    facts = [("A row", _whole(report.whole_row, "Two rows"))]
    person, whole = report.person, report.whole_person
    if person is not None and whole is not None and person.rows > 1:
        facts.append(("A person", _whole(whole, f"Two people, in all {person.rows:,} rows")))
    return facts


def _whole(whole: Whole, who: str) -> str:
    named = f"up to x {_largest(whole.named)}"
    if whole.widest is None:
        widest = f"no bound, for the policy sets none for {_listed(whole.unbounded)}"
    else:
        widest = f"up to x {_largest(whole.widest)}"
    return (
        f"{who} that differ in all columns at once, each by the distance that its level names: {named}. "
        f"As different as the policy allows: {widest}."
    )


def _largest(factor: float) -> str:
    return "more than 10^308" if math.isinf(factor) else factor_words(factor)


def _listed(names: tuple[str, ...]) -> str:
    return listed(names if len(names) <= _MOST_NAMES else [*names[: _MOST_NAMES - 1], "others"])


def origin_facts(report: Report) -> list[tuple[str, str]]:
    """When, by whom, of what, which file, which policy and which versions: heads and words."""
    facts, origin = [], report.origin
    if origin is not None:
        facts = [("When", origin.when.replace("T", " ").replace("+00:00", " UTC")), ("By", origin.by or "not said")]
        digest = "" if origin.source_sha256 is None else f", SHA-256 {origin.source_sha256}"
        if origin.source is not None:
            facts.append(("Source", f"{origin.source}{digest}"))
        if origin.output is not None:
            facts.append(("Output", origin.output))
        if origin.output_sha256 is not None:
            facts.append(("SHA-256", origin.output_sha256))
            facts.append(("To check", f"sha256sum {origin.output} prints this number, or the file is another one"))
    facts.append(("Policy", f"SHA-256 {report.policy_sha256}"))
    facts.append(("Versions", ", ".join(f"{name} {version}" for name, version in report.versions)))
    return facts
