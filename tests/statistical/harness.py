"""Whether a sample follows a law: two-sided, with a false alarm once in 10^9 runs.

Counts are compared with exact binomial tails, so the rate of false alarms is a bound, not an approximation. A law is
always computed in the test, from scipy or from a closed form, never by the library.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from scipy import stats

P = 1e-9
DRAWS = 200_000
QUANTILES = np.arange(1, 8) / 8
OFF = (0.9, 1.1)


class Law(Protocol):
    """A distribution on the line, such as scipy's."""

    def cdf(self, x: Any) -> Any: ...

    def ppf(self, q: Any) -> Any: ...


def plausible(counts: Any, total: int, probabilities: Any, p: float = P) -> bool:
    """Whether every count is one that ``total`` draws may give; of true probabilities, wrongly denied once in 1/p."""
    counts, probabilities = np.atleast_1d(counts), np.atleast_1d(probabilities)
    tails = np.minimum(stats.binom.cdf(counts, total, probabilities), stats.binom.sf(counts - 1, total, probabilities))
    return bool((tails >= p / 2 / counts.size).all())


def often_enough(count: int, total: int, promised: float, p: float = P) -> bool:
    """Whether something promised with at least this probability was seen often enough."""
    return bool(stats.binom.cdf(count, total, promised) >= p)


def fits(sample: Any, law: Law, cuts: Any) -> bool:
    """Whether the numbers of the sample below each cut are those of the law."""
    ordered = np.sort(np.asarray(sample, dtype=np.float64))
    return plausible(np.searchsorted(ordered, cuts, side="right"), ordered.size, law.cdf(np.asarray(cuts)))


def check_scale(sample: Any, law: Callable[[float], Law], cuts: Any = None) -> None:
    """The sample follows law(1); a law with its scale 10% off, either way, is told apart from it."""
    true = law(1.0)
    cuts = np.asarray(true.ppf(QUANTILES) if cuts is None else cuts)
    assert fits(sample, true, cuts), "the sample does not follow its law"
    for factor in OFF:
        assert not fits(sample, law(factor), cuts), f"a scale times {factor} passes too: the test is blind"


def check_law(sample: Any, law: Law, unlike: Sequence[Law]) -> None:
    """The sample follows a law that has no scale, and none of those it is to be told apart from."""
    cuts = np.asarray(law.ppf(QUANTILES))
    assert fits(sample, law, cuts), "the sample does not follow its law"
    for other in unlike:
        assert not fits(sample, other, cuts), "another law passes too: the test is blind"


def fits_table(outcomes: Iterable[Hashable], table: Mapping[Hashable, float]) -> bool:
    """Whether each outcome came as often as its probability in the table says, and none that is not there."""
    seen = Counter(outcomes)
    keys = list(table)
    return seen.keys() <= table.keys() and plausible(
        [seen[key] for key in keys], seen.total(), [min(table[key], 1.0) for key in keys]
    )


def check_table(outcomes: Iterable[Hashable], table: Callable[[float], Mapping[Hashable, float]]) -> None:
    """The same as `check_scale`, for finitely many outcomes; ``table(factor)`` gives their probabilities."""
    outcomes = list(outcomes)
    assert abs(sum(table(1.0).values()) - 1) < 1e-9
    assert fits_table(outcomes, table(1.0)), "the outcomes do not follow their table"
    for factor in OFF:
        assert not fits_table(outcomes, table(factor)), f"a scale times {factor} passes too: the test is blind"


def hardly_alike(first: Any, second: Any) -> bool:
    """Whether two samples are not copies, pair by pair: values on one fine grid meet by chance once in millions."""
    return int((np.asarray(first) == np.asarray(second)).sum()) <= 2


def unrelated(first: Any, second: Any, p: float = P) -> bool:
    """Whether two samples, pair by pair, may be independent: Fisher's exact test on signs and on magnitudes."""
    first, second = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    first, second = first - np.median(first), second - np.median(second)
    for one, two in (
        (first, second),
        (np.abs(first), np.abs(second)),
        (first, np.abs(second)),
        (np.abs(first), second),
    ):
        high, high_ = one > np.median(one), two > np.median(two)
        law = stats.hypergeom(high.size, high.sum(), high_.sum())
        both = (high & high_).sum()
        if min(law.cdf(both), law.sf(both - 1)) < p / 8:
            return False
    return True


def half_cells(points: Any, width: float) -> np.ndarray:
    """The cell boundaries nearest to some points: at these a rounded draw falls on the same side as the ideal one."""
    return np.unique(np.floor(np.asarray(points, dtype=np.float64) / width) + 0.5) * width
