"""Levels and metrics as a person writes them: ``ln 2/5 absolute``."""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction

from metricdp.errors import KindError, LevelError
from metricdp.exact.level import Level, ln
from metricdp.metrics.dates import dates
from metricdp.metrics.finite import discrete
from metricdp.metrics.metric import Metric
from metricdp.metrics.records import hamming
from metricdp.metrics.sets import symmetric_difference
from metricdp.metrics.sphere import great_circle
from metricdp.metrics.vectors import absolute, chebyshev, euclidean, manhattan

__all__ = ["NAMED", "is_level", "metric_in_words", "named_metric", "read_level", "split_level"]

NAMED: dict[str, Callable[[], Metric]] = {
    "absolute": absolute,
    "euclidean": euclidean,
    "manhattan": manhattan,
    "chebyshev": chebyshev,
    "great_circle": great_circle,
    "dates": dates,
    "discrete": discrete,
    "hamming": hamming,
    "symmetric_difference": symmetric_difference,
}
"""Metrics that need no more than their name."""

_NUMBER = r"(?:[0-9]+\s?/\s?[0-9]+|[0-9]+\.?[0-9]*(?:[eE][-+]?[0-9]{1,3})?|\.[0-9]+(?:[eE][-+]?[0-9]{1,3})?)"
_DECIMAL = r"(?:[0-9]+\.?[0-9]*|\.[0-9]+)"
_LEVEL = re.compile(
    rf"""
    (?:(?P<before>-?{_NUMBER})\s*[*·]?\s*)?
    ln\s*(?:\(\s*(?P<inside>{_NUMBER})\s*\)|(?P<of>{_DECIMAL}))
    (?:\s*/\s*(?P<divisor>{_DECIMAL}))?
    | (?P<number>-?{_NUMBER})
    """,
    re.VERBOSE,
)


def is_level(text: str) -> bool:
    """Whether a text is a level alone."""
    return _LEVEL.fullmatch(text.strip()) is not None


def read_level(text: str) -> Level:
    """The level in ``0.5``, ``1/2``, ``ln 2``, ``ln 2/200`` (the logarithm, divided), ``1/200 ln 2`` or ``ln(5/3)``.

    >>> read_level("ln 2/200") == ln(2) / 200, read_level("ln(5/3)") == ln(Fraction(5, 3))
    (True, True)

    Raises:
        LevelError: no level, or one that could be read in two ways, as ``ln 5/3`` could.
    """
    found = _LEVEL.fullmatch(text.strip())
    if found is None:
        raise LevelError(
            f"{text.strip()!r} is no level; write a number or a logarithm: 0.5, 1/2, ln 2, ln 2/200, ln(5/3)"
        )
    if found["number"] is not None:
        return Level.of(_number(found["number"]))
    divisor = _number(found["divisor"] or "1")
    if not divisor:
        raise LevelError("a level is not divided by 0")
    argument = _number(found["inside"] or found["of"])
    if found["of"] is not None and found["divisor"] is not None and argument > divisor:
        of, by = found["of"], found["divisor"]
        raise LevelError(f"'ln {of}/{by}' could be two things: write ln({of}/{by}), or ln({of})/{by}")
    return Level.of(ln(argument) * (_number(found["before"] or "1") / divisor))


def split_level(text: str) -> tuple[str | None, str]:
    """What stands before the metric, if anything does, and the metric's name.

    >>> split_level("ln 2/200 great_circle"), split_level("2 * euclidean"), split_level("hamming")
    (('ln 2/200', 'great_circle'), ('2', 'euclidean'), (None, 'hamming'))
    """
    text = text.strip()
    found = _LEVEL.match(text)
    if found is None or found.end() == len(text):
        return None, text
    rest = re.compile(r"\s*[*·]\s*|\s+").match(text, found.end())
    return (found[0], text[rest.end() :]) if rest else (None, text)


def named_metric(name: str) -> Metric | None:
    """The metric of a name; None where it is none of `NAMED`."""
    made = NAMED.get(name.replace("-", "_").lower())
    return None if made is None else made()


def metric_in_words(text: str) -> Metric:
    """Perhaps a level, then a name.

    >>> print(metric_in_words("ln 2/5 absolute"))
    ln 2/5·|x − y|
    """
    if is_level(text):
        raise KindError(f"{text.strip()} is a level alone; the metric stands after it: '{text.strip()} euclidean'")
    before, name = split_level(text)
    metric = named_metric(name)
    if metric is None:
        raise KindError(f"{name!r} is no metric: write a level and one of {', '.join(NAMED)}, as in 'ln 2/5 absolute'")
    return metric if before is None else metric * read_level(before)


def _number(text: str) -> Fraction:
    try:
        number = Fraction(re.sub(r"\s", "", text))
    except ZeroDivisionError:
        raise LevelError(f"{text!r} is no number: a level is not divided by 0") from None
    if number and not Fraction(1, 10**100) < abs(number) < 10**100:
        raise LevelError("a level lies between 1e-100 and 1e100")
    return number
