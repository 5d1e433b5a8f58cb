"""Metrics as a person writes them: ``ln 2/5 absolute``."""

from __future__ import annotations

import re

from metricdp.errors import ArgumentError
from metricdp.exact.level import LEVEL, Level
from metricdp.metrics.metric import Metric
from metricdp.metrics.registry import METRICS, NAMED, named_metric

__all__ = ["is_level", "metric_in_words", "split_level"]


def is_level(text: str) -> bool:
    """Whether a text is a level alone."""
    return LEVEL.fullmatch(text.strip()) is not None


def split_level(text: str) -> tuple[str | None, str]:
    """What stands before the metric, if anything does, and the metric's name.

    >>> split_level("ln 2/200 great_circle"), split_level("2 * euclidean"), split_level("hamming")
    (('ln 2/200', 'great_circle'), ('2', 'euclidean'), (None, 'hamming'))
    """
    text = text.strip()
    found = LEVEL.match(text)
    if found is None or found.end() == len(text):
        return None, text
    rest = re.compile(r"\s*[*·]\s*|\s+").match(text, found.end())
    return (found[0], text[rest.end() :]) if rest else (None, text)


def metric_in_words(text: str) -> Metric:
    """Perhaps a level, then a name.

    >>> print(metric_in_words("ln 2/5 absolute"))
    ln 2/5·|x − y|
    """
    if is_level(text):
        raise ArgumentError(f"{text.strip()} is a level alone; the metric stands after it: '{text.strip()} euclidean'")
    before, name = split_level(text)
    metric = named_metric(name)
    if metric is None:
        known = ", ".join(dict.fromkeys([*NAMED, *METRICS.outside]))
        raise ArgumentError(f"{name!r} is no metric: write a level and one of {known}, as in 'ln 2/5 absolute'")
    return metric if before is None else metric * Level.parse(before)
