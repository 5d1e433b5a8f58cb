"""Families of hiding functions or neighbourhoods that characterise d-privacy: are they maximally tight?"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from metricdp.adversaries.distance_order import Pair, compare_distances, farthest_pair, is_between
from metricdp.adversaries.hiding_bound import as_hiding
from metricdp.channels.arguments import as_space, place_in
from metricdp.channels.serialize import label_document
from metricdp.errors import ArgumentError, TooLargeError
from metricdp.exact.lists import as_list
from metricdp.exact.progress import Progress, Stopwatch
from metricdp.exact.results import Result
from metricdp.metrics.coordinates import frozen
from metricdp.metrics.space import Space

__all__ = [
    "Tightness",
    "knowing_others",
    "knowing_others_within",
    "knowing_within",
    "maximally_tight",
    "replacing_value",
    "substituting_all_values",
    "substituting_values",
    "tight",
]

_MOST = 1 << 20

Steps = dict[int, set[int]]


@dataclass(frozen=True)
class Tightness(Result):
    """Whether every two points are joined by a tight chain of allowed steps.

    Attributes:
        holds: whether they are.
        missing: the first two points that are not; None where all are.
        characterises: whether all points at a finite distance are. That is all the converses of Theorems 3 and 4 of
            paper 1 need, for points at an infinite distance may be told apart anyway.

    >>> bool(Tightness(False, ("a", "b"), True))
    False
    """

    holds: bool
    missing: Pair | None
    characterises: bool

    def __bool__(self) -> bool:
        return self.holds

    @property
    def witness(self) -> Pair | None:
        """`missing`."""
        return self.missing

    @property
    def reason(self) -> str:
        """The answer in words."""
        return str(self)

    def to_json(self) -> dict[str, Any]:
        """The answer as plain values for JSON."""
        missing = None if self.missing is None else [label_document(point) for point in self.missing]
        return {"holds": self.holds, "missing": missing, "characterises": self.characterises}

    def __str__(self) -> str:
        if self.missing is None:
            return "maximally tight"
        return f"not maximally tight: no tight maximal chain from {self.missing[0]!r} to {self.missing[1]!r}"


def maximally_tight(
    space: Space,
    *,
    hidings: Iterable[Any] | None = None,
    neighbourhoods: Iterable[Iterable[Any]] | None = None,
    time_limit: float | None = None,
    progress: Progress | None = None,
) -> Tightness:
    """Whether a family of hiding functions, or of neighbourhoods, is maximally tight with respect to the metric.

    A step from x to y is allowed by a hiding function f with f(x) = y, f(y) = x and d(x, y) = d(f), or by a
    neighbourhood N of both with d(x, y) = d(N). The family is maximally tight if every two points are joined by a
    chain of allowed steps whose lengths add up to their distance. Then the bounds of `hiding_bound` (Theorem 3) or
    `informed_bound` (Theorem 4), kept for every member and prior, make a channel d-private.

    Decided exactly where distances are rational multiples of one number; otherwise in balls, and lengths that 1024
    bits do not tell apart are taken as equal.

    References:
        Paper 1, Definitions 2 and 3.

    >>> from metricdp.metrics import hamming
    >>> bits = Space.bits(2)
    >>> maximally_tight(bits, neighbourhoods=knowing_others((0, 1), 2)).holds
    True
    >>> print(maximally_tight(bits, hidings=replacing_value((0, 1), 2)))
    not maximally tight: no tight maximal chain from (0, 0) to (0, 1)
    """
    if (hidings is None) == (neighbourhoods is None):
        raise ArgumentError("maximally_tight takes either hidings= or neighbourhoods=")
    space, watch = as_space(space, "maximally_tight"), Stopwatch(time_limit, progress)
    if hidings is not None:
        return _chains(space, _swaps(space, hidings), watch)
    assert neighbourhoods is not None
    return _chains(space, _diameters(space, neighbourhoods, maximal=True), watch)


def tight(
    space: Space,
    neighbourhoods: Iterable[Iterable[Any]],
    *,
    time_limit: float | None = None,
    progress: Progress | None = None,
) -> Tightness:
    """Whether every two points are joined by a tight chain whose steps each stay inside a neighbourhood.

    References:
        Paper 1, Definition 10.

    >>> from metricdp.metrics import manhattan
    >>> plane = Space.grid(3, 3, manhattan())
    >>> family = knowing_others(range(3), 2)
    >>> tight(plane, family).holds, maximally_tight(plane, neighbourhoods=family).holds
    (True, False)
    """
    space = as_space(space, "tight")
    return _chains(space, _diameters(space, neighbourhoods, maximal=False), Stopwatch(time_limit, progress))


def replacing_value(values: Sequence[Any], individuals: int) -> list[dict[Any, Any]]:
    """All functions that replace the value of one of the individuals by a fixed one.

    References:
        Paper 1, Section 2 (the family written with an index h).

    >>> replacing_value((0, 1), 1)
    [{(0,): (0,), (1,): (0,)}, {(0,): (1,), (1,): (1,)}]
    """
    databases = _databases(values, individuals)
    return [
        {x: _put(x, i, v) for x in databases} for i, v in itertools.product(range(individuals), map(frozen, values))
    ]


def substituting_values(values: Sequence[Any], individuals: int) -> list[dict[Any, Any]]:
    """All functions that put the value of one of the individuals through some function of values to values.

    References:
        Paper 1, Section 5.1 (the family written with an index 1).

    >>> len(substituting_values((0, 1, 2), 2))
    54
    """
    known = _known(values, individuals)
    _refuse_many(individuals * len(known) ** (len(known) + individuals), "functions of values")
    return [
        {x: _put(x, i, images[known.index(x[i])]) for x in _databases(values, individuals)}
        for i in range(individuals)
        for images in itertools.product(known, repeat=len(known))
    ]


def knowing_others(values: Sequence[Any], individuals: int) -> list[frozenset[Any]]:
    """All sets of databases that differ at most in the value of one given individual.

    References:
        Paper 1, Section 2 (the family written with an index h).

    >>> [sorted(members) for members in knowing_others((0, 1), 1)]
    [[(0,), (1,)]]
    """
    known = _known(values, individuals)
    found = {
        frozenset(_put(x, i, v) for v in known): None
        for i in range(individuals)
        for x in _databases(values, individuals)
    }
    return list(found)


def knowing_others_within(values: Sequence[Any], individuals: int) -> list[frozenset[Any]]:
    """All sets of `knowing_others`, cut down to where the value of that individual lies in some set of values.

    References:
        Paper 1, Section 5.1 (the family written with an index 1).

    >>> [sorted(members) for members in knowing_others_within((0, 1), 1)]
    [[(0,)], [(1,)], [(0,), (1,)]]
    """
    known = _known(values, individuals)
    _refuse_many(individuals * len(known) ** individuals * 2 ** len(known), "sets of values")
    sets = [some for size in range(1, len(known) + 1) for some in itertools.combinations(known, size)]
    found = {
        frozenset(_put(x, i, v) for v in some): None
        for i in range(individuals)
        for x in _databases(values, individuals)
        for some in sets
    }
    return list(found)


def substituting_all_values(values: Sequence[Any], individuals: int) -> list[dict[Any, Any]]:
    """All functions that put the value of every individual through a function of its own of values to values.

    Maximally tight for the largest difference of values (`metricdp.metrics.chebyshev`).

    References:
        Paper 1, Section 6.1 (the family of hiding functions written with an infinity).

    >>> len(substituting_all_values((0, 1), 2))
    16
    """
    known = _known(values, individuals)
    _refuse_many(len(known) ** (len(known) * individuals + individuals), "functions of values")
    databases = _databases(values, individuals)
    functions = [dict(zip(known, images, strict=True)) for images in itertools.product(known, repeat=len(known))]
    return [
        {x: tuple(function[value] for function, value in zip(chosen, x, strict=True)) for x in databases}
        for chosen in itertools.product(functions, repeat=individuals)
    ]


def knowing_within(values: Sequence[Any], individuals: int) -> list[frozenset[Any]]:
    """All sets of databases in which the value of every individual is known to lie in some set of values.

    Maximally tight for the largest difference of values (`metricdp.metrics.chebyshev`).

    References:
        Paper 1, Section 6.1 (the family of neighbourhoods written with an infinity).

    >>> len(knowing_within((0, 1), 2))
    9
    """
    known = _known(values, individuals)
    _refuse_many(2 ** (len(known) * individuals) * len(known) ** individuals, "sets of values")
    sets = [some for size in range(1, len(known) + 1) for some in itertools.combinations(known, size)]
    return [frozenset(itertools.product(*chosen)) for chosen in itertools.product(sets, repeat=individuals)]


def _refuse_many(count: int, what: str) -> None:
    if count > _MOST:
        raise TooLargeError(
            f"there are more than {_MOST:,} {what}: use fewer values or fewer individuals", f"more than {_MOST:,}"
        )


def _swaps(space: Space, hidings: Iterable[Any]) -> Steps:
    steps: Steps = {place: set() for place in range(len(space))}
    for hide in hidings:
        images = as_hiding(space, hide)
        longest = farthest_pair(space.metric, images.items())
        for x, y in images.items():
            if x != y and images[y] == x and compare_distances(space.metric, (x, y), longest) == 0:
                steps[space.index(x)].add(space.index(y))
    return steps


def _diameters(space: Space, neighbourhoods: Iterable[Iterable[Any]], maximal: bool) -> Steps:
    steps: Steps = {place: set() for place in range(len(space))}
    for members in as_list(neighbourhoods, "neighbourhoods", "[[0, 1], [1, 2]]"):
        places = sorted({place_in(space, point) for point in as_list(members, "points")})
        pairs = [(space.points[i], space.points[j]) for i, j in itertools.combinations(places, 2)]
        if not pairs:
            continue
        longest = farthest_pair(space.metric, pairs) if maximal else None
        for x, y in pairs:
            if longest is None or compare_distances(space.metric, (x, y), longest) == 0:
                steps[space.index(x)].add(space.index(y))
                steps[space.index(y)].add(space.index(x))
    return steps


def _chains(space: Space, steps: Mapping[int, set[int]], watch: Stopwatch) -> Tightness:
    missing: Pair | None = None
    characterises = True
    for start in range(len(space)):
        watch.check("to find the tight chains from all points", start, len(space), "points")
        watch.tell(start, len(space), unit="points")
        reached = _reached(space, steps, start, tightly=True)
        joined = _reached(space, steps, start, tightly=False)
        for end in range(len(space)):
            infinite = bool(space.enclosures.infinite[start, end])
            # The length of any chain between points at an infinite distance is infinite, so it is tight.
            if end not in (joined if infinite else reached):
                missing = missing or (space.points[start], space.points[end])
                characterises = characterises and infinite
    return Tightness(missing is None, missing, characterises)


def _reached(space: Space, steps: Mapping[int, set[int]], start: int, tightly: bool) -> set[int]:
    """Ends of chains from one point; of tight ones, whose first parts are tight too, by the triangle inequality."""
    reached, waiting = {start}, [start]
    points = space.points
    while waiting:
        here = waiting.pop()
        for there in steps[here] - reached:
            if tightly and space.enclosures.infinite[start, there]:
                continue
            if not tightly or is_between(space.metric, points[start], points[here], points[there]):
                reached.add(there)
                waiting.append(there)
    return reached


def _known(values: Sequence[Any], individuals: int) -> list[Any]:
    """The values, each in a form that does not change."""
    known = [frozen(value) for value in as_list(values, "values", "[0, 1]")]
    if isinstance(individuals, bool) or not isinstance(individuals, int) or individuals < 1 or not known:
        raise ArgumentError("a database has at least one individual, with at least one value")
    return known


def _databases(values: Sequence[Any], individuals: int) -> list[tuple[Any, ...]]:
    known = _known(values, individuals)
    _refuse_many(len(known) ** individuals, "databases")
    return list(itertools.product(known, repeat=individuals))


def _put(x: tuple[Any, ...], place: int, value: Any) -> tuple[Any, ...]:
    return (*x[:place], value, *x[place + 1 :])
