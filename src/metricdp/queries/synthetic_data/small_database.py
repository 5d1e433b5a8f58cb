"""The small database mechanism: among all databases of a few records, one that answers a workload like the true one."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metricdp.errors import ArgumentError, ImpossibleError
from metricdp.exact.arrays import Floats
from metricdp.exact.balls import ball, enclose, float_above
from metricdp.exact.bits import source
from metricdp.exact.choice import uniform_below
from metricdp.exact.level import rational
from metricdp.exact.progress import Progress, Stopwatch
from metricdp.exact.refine import Integers
from metricdp.metrics import Guarantee, records
from metricdp.queries.synthetic_data.choose import ExponentialChoice, read_probability
from metricdp.queries.synthetic_data.steepness import sensitivities
from metricdp.queries.synthetic_data.synthetic import ReleaseStep, Synthetic
from metricdp.queries.workloads.linear_queries import LinearQueries, exact_answers, read_counts, read_queries

__all__ = ["MOST_DATABASES", "SmallDatabase", "small_database", "small_database_size"]

MOST_DATABASES = 200_000
"""As many databases as this are looked at one by one."""

_BLOCK = 1 << 20
_SAFE = 1 << 62


@dataclass(frozen=True, eq=False, repr=False)
class SmallDatabase(Synthetic):
    """What `small_database` makes.

    Attributes:
        size: how many records the small database has; ``counts`` are n / size times those.
        choice: the mechanism that chose it.
        whole: whether it was chosen among all databases of that size, and not among a sample of them.
    """

    size: int = 1
    choice: ExponentialChoice | None = None
    whole: bool = True

    def bound(self, beta: float | Fraction = Fraction(1, 20)) -> float:
        """What no query's error exceeds, but for probability beta; rounded up, and computed without the data.

        ``n W sqrt(ln(2 K) / (2 m)) + 2 D (ln |R| + ln(1 / beta))``: some database of m records errs by no more than the
        first term, with W the largest range of a query (Hoeffding's inequality for m records drawn from x), and the
        one chosen errs by no more than the second term on top.

        Raises:
            ImpossibleError: the choice was among a sample, of which nothing is known.

        References:
            Paper 4, Theorem 9 and Proposition 1, whose R are databases of m records, scaled to n.
        """
        assert self.choice is not None
        if not self.whole:
            raise ImpossibleError("nothing is promised of the best database of a sample; leave out sample for a bound")
        fails, choice = read_probability(beta), self.choice
        matrix = read_queries(self.workload)
        width = Fraction(math.nextafter(float(np.ptp(matrix, axis=1).max()), math.inf))

        def value() -> Any:
            off = (ball(2 * len(matrix)).log() / (2 * self.size)).sqrt()
            return ball(self.total * width) * off + ball(Fraction(choice.shortfall(fails)))

        return float_above(enclose(value).upper)


def small_database(
    workload: LinearQueries,
    counts: Any,
    size: int | None = None,
    *,
    accuracy: Any = None,
    sample: int | None = None,
    time_limit: float | None = None,
    progress: Progress | None = None,
) -> SmallDatabase:
    """A database of m records whose answers, times n / m, are like those of n private records.

    It is chosen by the exponential mechanism among all histograms y of m records, with the score
    ``u(x, y) = -max_k |q_k(x) - n / m q_k(y)|``, whose sensitivity is the largest D of any query. (The paper compares
    y with x as they are, though y has far fewer records.)

    Args:
        workload: with K queries over N cells and the metric d on single records.
        counts: the records in each cell; their number n is public. Where it is not, absence is a cell.
        size: m.
        accuracy: in place of the size, the error of the best database as a share of n and of the largest range of a
            query; m is then `small_database_size`.
        sample: choose among this many databases only, drawn blindly: m cells each, uniformly, whatever the data. It
            costs no privacy, for they are public; it costs accuracy, and there is no bound.
        time_limit: seconds; then it is given up, with an estimate, and nothing is released.
        progress: told now and then how many databases were scored.

    Guarantee:
        ``records(d)``, the sum of d over all records, with no delta; scores and draws are exact.

    Raises:
        ImpossibleError: there are more than `MOST_DATABASES` of them; says how many. They are not sampled from by a
            random walk, for how near to its goal such a walk has come is not known.

    References:
        Paper 4, Algorithm 1 and Theorems 5, 6 and 9, corrected.

    >>> import metricdp as mdp
    >>> from metricdp.queries.workloads.workload import Workload
    >>> workload = Workload(np.eye(3), mdp.Space("abc", mdp.metrics.discrete()))
    >>> made = small_database(workload, [4000, 2000, 2000], size=4)
    >>> made.counts.tolist(), str(made.guarantee)
    ([4000.0, 2000.0, 2000.0], 'ℓ₁([x ≠ y])-private')
    """
    matrix, held = read_queries(workload), read_counts(workload, counts)
    records_wanted = _size(len(matrix), size, accuracy)
    among = _databases(matrix.shape[1], records_wanted, sample)
    steep, whole = max(sensitivities(matrix, workload.space)), records(workload.space.metric)
    choice = ExponentialChoice(range(len(among)), whole, 2 * steep)
    scores, unit = _scores(matrix, held, among, records_wanted, Stopwatch(time_limit, progress))
    place = choice.release_place(scores, unit)
    found = np.bincount(among[place], minlength=matrix.shape[1])
    made = np.asarray(found * (int(held.sum()) / records_wanted), dtype=np.float64)
    guarantee = Guarantee(whole)
    return SmallDatabase(
        workload, made, guarantee, (ReleaseStep("choose a database", Fraction(1), guarantee),),
        f"small database of {records_wanted} records, one of {len(among)}", source().private,
        records_wanted, choice, sample is None,
    )  # fmt: skip


def small_database_size(queries: int, accuracy: Any) -> int:
    """How many records some database needs to answer all queries within ``accuracy``: the least m >= ln(2 K) / (2 a^2).

    By Hoeffding's inequality; the paper's ln K / a^2 is larger for more than two queries.

    References:
        Paper 4, Theorem 9.

    >>> small_database_size(10, 0.5)
    6
    """
    share = rational(accuracy, "accuracy")
    if not 0 < share < 1:
        raise ArgumentError("an accuracy lies between 0 and 1")
    return max(1, math.ceil(enclose(lambda: ball(2 * queries).log() / (2 * ball(share) ** 2)).upper))


def _size(queries: int, size: int | None, accuracy: Any) -> int:
    if (size is None) == (accuracy is None):
        raise ArgumentError("small_database needs the size or the accuracy of the database, and one of the two only")
    if size is None:
        return small_database_size(queries, accuracy)
    if isinstance(size, bool) or not isinstance(size, int) or size < 1:
        raise ArgumentError("a small database has at least one record")
    return size


def _databases(cells: int, size: int, sample: int | None) -> Integers:
    """The databases to choose from, one a row: the cells of their records."""
    if sample is not None:
        if isinstance(sample, bool) or not isinstance(sample, int) or sample < 1:
            raise ArgumentError("a sample has at least one database")
        if sample > MOST_DATABASES:
            raise ImpossibleError(f"a sample has at most {MOST_DATABASES} databases")
        return uniform_below(cells, sample * size).reshape(sample, size)
    number = math.comb(cells + size - 1, size)
    if number > MOST_DATABASES:
        raise ImpossibleError(
            f"there are {_words(number)} databases of {size} records over {cells} cells, and at most {MOST_DATABASES} "
            "can be looked at: take a smaller size, fewer cells, sample=, or mwem"
        )
    # Multisets of m cells out of N are the sets of m numbers below N + m - 1, each less its place.
    flat = chain.from_iterable(combinations(range(cells + size - 1), size))
    chosen = np.fromiter(flat, dtype=np.int64, count=number * size).reshape(number, size)
    return chosen - np.arange(size)


def _words(number: int) -> str:
    return str(number) if number < 10**9 else f"about 10^{round((number.bit_length() - 1) * math.log10(2))}"


def _scores(matrix: Floats, counts: Integers, among: Integers, size: int, watch: Stopwatch) -> tuple[Any, Fraction]:
    """``-max_k |m q_k(x) - n q_k(y)|`` for all y as integers, and their unit, which makes up for m and denominators."""
    scale = math.lcm(*{Fraction(value).denominator for value in np.unique(matrix).tolist()})
    total = int(counts.sum())
    truth = [int(answer * scale) * size for answer in exact_answers(matrix, counts)]
    greatest = int(Fraction(float(np.abs(matrix).max())) * scale)
    small = 2 * greatest * size * max(total, 1) < _SAFE and scale < _SAFE
    kind: Any = np.int64 if small else object
    whole: NDArray[Any] = np.array([[int(Fraction(value) * scale) for value in row] for row in matrix.T.tolist()], kind)
    wanted = np.array(truth, dtype=kind)
    parts, height = [], max(1, _BLOCK // len(matrix))
    for start in range(0, len(among), height):
        some = among[start : start + height]
        answers = np.zeros((len(some), len(matrix)), dtype=kind)
        for cells in some.T:
            answers += whole[cells]
        parts.append(-np.abs(wanted - answers * total).max(axis=1))
        watch.tell(start + len(some), len(among), unit="databases")
        if start + len(some) < len(among):
            watch.check("to score all databases", start + len(some), len(among), "databases")
    scores = np.concatenate(parts)
    return (scores if small else scores.tolist()), Fraction(1, scale * size)
