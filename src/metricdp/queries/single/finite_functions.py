"""Functions of finitely many databases: their sensitivity pair by pair, and expansive chains."""

from __future__ import annotations

import html
import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

from metricdp.errors import ArgumentError, UnknownCategoryError
from metricdp.exact.balls import Enclosure, enclose
from metricdp.exact.level import Level
from metricdp.exact.lists import as_a
from metricdp.exact.outward import Bound
from metricdp.exact.progress import Progress, Stopwatch
from metricdp.metrics import Metric, Space
from metricdp.metrics.amounts import Exact, plain
from metricdp.metrics.coordinates import distinct, frozen, label
from metricdp.metrics.metric import as_metric
from metricdp.queries.single.least_steps import least_steps
from metricdp.queries.single.query import AnswerGrid, Query
from metricdp.queries.single.record_metrics import ratio

__all__ = ["ChainStep", "FiniteFunction", "Uniformity", "uniformity"]


@dataclass(frozen=True, init=False, repr=False)
class FiniteFunction(Query):
    """Any function of finitely many databases.

    Attributes:
        points: the databases, or whatever the secrets are.
        answers: the answer to each of them.

    >>> parity = FiniteFunction(lambda x: sum(x) % 2, Space.bits(3))
    >>> parity.evaluate((1, 1, 0)), parity
    (0, FiniteFunction(8 databases, 2 answers))
    """

    points: tuple[Any, ...]
    answers: tuple[Any, ...]

    def __init__(self, function: Callable[[Any], Any] | Mapping[Any, Any], databases: Space | Iterable[Any]) -> None:
        points = databases.points if isinstance(databases, Space) else distinct(databases, "database")
        if isinstance(function, Mapping):
            table = {label(point): answer for point, answer in function.items()}
            missing = next((row for row, point in enumerate(points) if label(point) not in table), None)
            if missing is not None:
                raise ArgumentError(f"the table has no answer for database {missing}")
            answers = [table[label(point)] for point in points]
        elif callable(function):
            answers = [function(point) for point in points]
        else:
            raise ArgumentError(f"a function or a table is wanted, not {type(function).__name__}")
        object.__setattr__(self, "points", points)
        object.__setattr__(self, "answers", tuple(frozen(answer) for answer in answers))
        for row, answer in enumerate(self.answers):
            label(answer, row)

    @classmethod
    def of(cls, query: Query, limit: int) -> FiniteFunction | None:
        """The query on all its databases; None where they cannot be listed, or are more than ``limit``."""
        databases = query.databases(limit)
        return None if databases is None else cls(query.evaluate, databases)

    @property
    def records(self) -> None:  # type: ignore[override]
        """A function of databases is about whole databases."""

    @property
    def nulls(self) -> bool:  # type: ignore[override]
        """Whatever the databases hold, it is listed."""
        return False

    @property
    def image(self) -> tuple[Any, ...]:
        """The different answers: in order where they can be ordered."""
        names = list(dict.fromkeys(self.answers))
        try:
            return tuple(sorted(names))
        except TypeError:
            return tuple(names)

    @property
    def grid(self) -> AnswerGrid | None:
        """The coarsest grid on which all answers lie, where they are numbers, and at least two."""
        image = self.image
        if len(image) < 2 or not all(_is_number(answer) for answer in image):
            return None
        numbers = [Fraction(answer) for answer in image]
        gaps = [two - one for one, two in itertools.pairwise(numbers)]
        bottom = math.lcm(*(gap.denominator for gap in gaps))
        step = Fraction(math.gcd(*(int(gap * bottom) for gap in gaps)), bottom)
        return AnswerGrid(numbers[0], step, numbers[0], numbers[-1], all(gap == step for gap in gaps))

    @property
    def universe(self) -> Sequence[Any] | None:
        """None: a database here is not made of records."""
        return None

    def evaluate(self, data: Any) -> Any:
        """The true answer to one of the databases."""
        database = label(data)
        if database not in self._table:
            raise UnknownCategoryError("the data are not one of the declared databases")
        return self._table[database]

    @cached_property
    def _table(self) -> dict[Any, Any]:
        return dict(zip(self.points, self.answers, strict=True))

    def __repr__(self) -> str:
        return f"FiniteFunction({len(self.points)} databases, {len(self.image)} answers)"


@dataclass(frozen=True)
class ChainStep:
    """A step of a chain that is as long as it can be: d'(start, end) = Δ d(x, x') for databases with these answers.

    Attributes:
        start: f(x).
        end: f(x').
        databases: x and x'.
    """

    start: Any
    end: Any
    databases: tuple[Any, Any]


@dataclass(frozen=True)
class Uniformity:
    """Whether a function is uniformly sensitive, with the proof.

    Attributes:
        holds: whether it is; None where irrational distances leave it undecided.
        sensitivity: Δ, the least for which the function is Δ-sensitive.
        witness: two databases for which Δ is attained; None where nothing is constrained.
        refuted_by: two answers without a tight, Δ-expansive chain from one to the other.
        image: the answers.
        edges: for two places in ``image`` whose answers are Δ-expansive, databases that show it.
        after: for two places, the next one on a tight, Δ-expansive chain from the first to the second; a shortest one
            where none is tight.

    References:
        Paper 1, Definition 5.
    """

    holds: bool | None
    sensitivity: Exact | Bound
    witness: tuple[Any, Any] | None
    refuted_by: tuple[Any, Any] | None
    image: tuple[Any, ...] = field(repr=False)
    edges: Mapping[tuple[int, int], tuple[Any, Any]] = field(repr=False, default_factory=dict)
    after: Mapping[tuple[int, int], int] = field(repr=False, default_factory=dict)

    def __bool__(self) -> bool:
        return self.holds is True

    @property
    def reason(self) -> str:
        """Why it holds or does not, in words."""
        if self.holds:
            return "between any two answers there is a chain of databases where it is reached at every step"
        if self.holds is None:
            return "irrational distances, or answers that nothing constrains, leave it undecided"
        assert self.refuted_by is not None
        one, two = self.refuted_by
        return f"no chain of databases leads from {one!r} to {two!r} with that much at every step"

    def to_json(self) -> dict[str, Any]:
        """The proof as plain values for JSON."""
        value = self.sensitivity
        return {
            "holds": self.holds,
            "sensitivity": float(value) if isinstance(value, Bound) else plain(value),
            "witness": None if self.witness is None else [repr(end) for end in self.witness],
            "reason": self.reason,
        }

    def _repr_html_(self) -> str:
        return f"<p>{html.escape(repr(self))}: {html.escape(self.reason)}</p>"

    def chain(self, start: Any, end: Any) -> tuple[ChainStep, ...] | None:
        """A chain of Δ-expansive steps from one answer to another, tight where any is; None where there is none."""
        here, goal = self._place(start), self._place(end)
        steps = []
        while here != goal:
            if (here, goal) not in self.after:
                return None
            there = self.after[here, goal]
            steps.append(ChainStep(self.image[here], self.image[there], self.edges[here, there]))
            here = there
        return tuple(steps)

    def _place(self, answer: Any) -> int:
        try:
            return self.image.index(frozen(answer))
        except ValueError:
            raise ArgumentError("no database has that answer") from None


def uniformity(
    function: FiniteFunction,
    database_metric: Metric,
    answer_metric: Metric,
    *,
    time_limit: float | None = None,
    progress: Progress | None = None,
) -> Uniformity:
    """Decide whether a function is uniformly sensitive, pair by pair.

    f is Δ-sensitive where ``d'(f(x), f(x')) <= Δ d(x, x')`` for all databases, and uniformly so where any two answers
    are joined by a tight chain of steps for each of which this is an equality. Such a chain is a shortest path
    among the steps that are, as long as the answers are apart.

    Args:
        function: f.
        database_metric: d, between databases.
        answer_metric: d', between answers.
        time_limit: seconds; then it is given up, with an estimate of how long it would take.
        progress: told now and then how many databases are done.

    References:
        Paper 1, Definitions 4 and 5, and Theorem 6.

    >>> import metricdp as mdp
    >>> total = FiniteFunction(sum, mdp.Space.bits(3))
    >>> proof = uniformity(total, mdp.metrics.hamming(), mdp.metrics.absolute())
    >>> proof.holds, proof.sensitivity, [(step.start, step.end) for step in proof.chain(0, 2)]
    (True, Fraction(1, 1), [(0, 2)])
    """
    inside, outside = as_metric(database_metric), as_metric(answer_metric)
    function = as_a(FiniteFunction, function, "FiniteFunction(function, databases)")
    found = decided(function, inside.unit, outside.unit, Stopwatch(time_limit, progress))
    return replace(found, sensitivity=rescaled(found.sensitivity, inside.level, outside.level))


def rescaled(value: Exact | Bound, level_in: Level, level_out: Level) -> Exact | Bound:
    """A sensitivity between unscaled metrics, for these numbers before them; rounded up where it is irrational.

    >>> from metricdp.exact.level import ln
    >>> rescaled(Fraction(3), ln(2) / 2, ln(2)), rescaled(Fraction(3), ln(2), Level.of(1))
    (Fraction(6, 1), 4.328085122666891)
    """
    if value in (0, math.inf):
        return value
    if level_in.log_of == level_out.log_of:
        factor = level_out.coefficient / level_in.coefficient
        if isinstance(value, Bound):
            return Bound.above(Enclosure(value.enclosure.lower * factor, value.enclosure.upper * factor))
        return value * factor
    low, high = (value.enclosure.lower, value.enclosure.upper) if isinstance(value, Bound) else (value, value)
    levels = enclose(lambda: level_out.ball() / level_in.ball(), 128)
    return Bound.above(Enclosure(low * levels.lower, high * levels.upper))


def decided(function: FiniteFunction, database_metric: Metric, answer_metric: Metric, watch: Stopwatch) -> Uniformity:
    """The same for metrics without a level."""
    image = function.image
    places = {label(answer): place for place, answer in enumerate(image)}
    steps = least_steps(function.points, [places[answer] for answer in function.answers], database_metric, watch)
    apart = {(i, j): answer_metric.exactly(image[i], image[j]) for i, j in steps}
    costs = {pair: cost for pair, (cost, _) in steps.items() if cost is not None}
    exact = {pair: distance for pair, distance in apart.items() if distance is not None}
    if len(costs) < len(steps) or len(exact) < len(steps):
        return _enclosed(function, database_metric, answer_metric)
    ratios = {pair: _moved(exact[pair], cost) for pair, cost in costs.items()}
    sensitivity = max(ratios.values(), default=Fraction(0))
    if sensitivity == 0:  # one answer, or databases so far apart that nothing is asked of their answers
        return Uniformity(None, sensitivity, None, None, image)
    witness = next(steps[pair][1] for pair, found in ratios.items() if found == sensitivity)
    if sensitivity == math.inf:
        return Uniformity(None, sensitivity, witness, None, image)
    edges = {pair: steps[pair][1] for pair, found in ratios.items() if found == sensitivity}
    lengths, after = _shortest(len(image), {pair: Fraction(exact[pair]) for pair in edges})
    edges |= {(j, i): (other, one) for (i, j), (one, other) in edges.items()}
    for (i, j), distance in exact.items():
        if distance != math.inf and lengths[i][j] != distance:
            return Uniformity(False, sensitivity, witness, (image[i], image[j]), image, edges, after)
    return Uniformity(True, sensitivity, witness, None, image, edges, after)


def _moved(distance: Exact, cost: Exact) -> Exact:
    """The ratio of two distances, either of which may be infinite."""
    if distance == math.inf:
        return Fraction(0) if cost == math.inf else math.inf
    return ratio(Fraction(distance), cost)


def _shortest(
    size: int, edges: Mapping[tuple[int, int], Fraction]
) -> tuple[list[list[Exact]], dict[tuple[int, int], int]]:
    """The lengths of shortest paths, and the first place on each of them after its start (Floyd and Warshall)."""
    lengths: list[list[Exact]] = [[Fraction(0) if i == j else math.inf for j in range(size)] for i in range(size)]
    after: dict[tuple[int, int], int] = {}
    for (i, j), length in edges.items():
        lengths[i][j] = lengths[j][i] = length
        after[i, j], after[j, i] = j, i
    for k in range(size):
        for i in range(size):
            if lengths[i][k] == math.inf:
                continue
            for j in range(size):
                if lengths[i][k] + lengths[k][j] < lengths[i][j]:
                    lengths[i][j] = lengths[i][k] + lengths[k][j]
                    after[i, j] = after[i, k]
    return lengths, after


def _enclosed(function: FiniteFunction, database_metric: Metric, answer_metric: Metric) -> Uniformity:
    """The sensitivity where distances are irrational: rounded up, and whether it is uniform not decided."""
    best: tuple[Fraction, Fraction, Any] | None = None
    for b, y in enumerate(function.points):
        for a in range(b):
            x = function.points[a]
            if function.answers[a] == function.answers[b]:
                continue
            cost = database_metric.enclose(x, y, 128)
            moved = answer_metric.enclose(function.answers[a], function.answers[b], 128)
            if cost.lower == math.inf:
                continue
            if cost.lower == 0 or moved.upper == math.inf:
                return Uniformity(None, math.inf, (x, y), None, function.image)
            high, low = Fraction(moved.upper) / Fraction(cost.lower), Fraction(moved.lower) / Fraction(cost.upper)
            if best is None or high > best[0]:
                best = high, max(low, best[1] if best else low), (x, y)
    if best is None:
        return Uniformity(None, Fraction(0), None, None, function.image)
    return Uniformity(None, Bound.above(Enclosure(best[1], best[0])), best[2], None, function.image)


def _is_number(answer: Any) -> bool:
    if isinstance(answer, bool) or not isinstance(answer, (int, float, Fraction)):
        return False
    return isinstance(answer, (int, Fraction)) or math.isfinite(answer)
