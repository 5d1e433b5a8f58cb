"""A channel taken apart: every private mechanism is a refinement of a mixture of kernels."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from metricdp.channels.channel import Channel
from metricdp.channels.proved import Proved
from metricdp.channels.verify import verify
from metricdp.design.arguments import check_channel, check_space
from metricdp.design.kernels._channels import kernel_channel
from metricdp.design.kernels._faces import Scale, vertices_around
from metricdp.design.kernels._unit_lengths import UnitLengths
from metricdp.design.kernels._vertex import Vertex
from metricdp.errors import ArgumentError, ImpossibleError
from metricdp.exact.balls import float_above
from metricdp.exact.progress import Progress, Stopwatch
from metricdp.exact.results import Result, number_json
from metricdp.metrics import Space

__all__ = ["Decomposition", "decompose"]

_ZERO, _ONE = Fraction(0), Fraction(1)
_TASK = "to take the channel apart"


@dataclass(frozen=True, eq=False, repr=False)
class Decomposition(Result):
    """A channel C as a refinement of a mixture of kernels, with everything needed to check it.

    ``C = (Σ w_k K_k) R``, where the kernels K_k have columns of the same number where they share a vertex, the weights
    w_k are positive and sum to one, and R is a channel from vertices to the outputs of C.

    Attributes:
        channel: C, with its inputs in the order of the space's points.
        space: the points and d.
        vertices: the vertices in use; their numbers are the outputs of the kernels.
        weights: w, exactly.
        kernels: K, as channels that are verified.
        post: R.
        moved: the largest total variation between a row of C and one of ``(Σ w K) R``, rounded up: 0 where exp(-d) is
            rational.

    References:
        Paper 5, Theorem 3 and its proof (Property 2 in Appendix B).
    """

    channel: Channel
    space: Space
    vertices: tuple[Vertex, ...] = field(repr=False)
    weights: tuple[Fraction, ...]
    kernels: tuple[Channel, ...]
    post: Channel
    moved: float

    @cached_property
    def mixture(self) -> Channel:
        """``Σ w_k K_k``: which kernel was used is not told."""
        table = [[_ZERO] * len(self.vertices) for _ in self.space.points]
        for weight, kernel in zip(self.weights, self.kernels, strict=True):
            for row, values in enumerate(kernel.weights.tolist()):
                for number, value in zip(kernel.outputs, values, strict=True):
                    table[row][number] += weight * Fraction(value, kernel.total)
        return Channel.from_matrix(self.space.points, range(len(self.vertices)), table)

    def check(self) -> bool:
        """Whether the proof is one: verified anew, from the parts alone."""
        if sum(self.weights) != 1 or min(self.weights) <= 0 or self.post.inputs != tuple(range(len(self.vertices))):
            return False
        if not all(_is_vertex(vertex) for vertex in self.vertices):
            return False
        for kernel in self.kernels:
            chosen = [self.vertices[number] for number in kernel.outputs]
            try:
                again = kernel_channel(chosen, kernel.outputs)
            except ImpossibleError:
                return False
            if kernel != again or not verify(kernel, self.space):
                return False
        return float_above(_distance(self.channel, self.mixture @ self.post)) <= self.moved

    def to_json(self) -> dict[str, Any]:
        """The weights (as text such as "2/7" where needed), the kernels and what comes after them as channels."""
        return {
            "weights": [number_json(weight) for weight in self.weights],
            "kernels": [kernel.to_json() for kernel in self.kernels],
            "post": self.post.to_json(),
            "vertices": [vertex.to_json() for vertex in self.vertices],
            "moved": self.moved,
        }

    def __repr__(self) -> str:
        return f"Decomposition({self})"

    def __len__(self) -> int:
        return len(self.kernels)

    def __iter__(self) -> Iterator[tuple[Fraction, Channel]]:
        """Each kernel with its weight."""
        return iter(zip(self.weights, self.kernels, strict=True))

    def __str__(self) -> str:
        off = "" if not self.moved else f", within {self.moved:.1g} in total variation"
        many = "1 kernel" if len(self.kernels) == 1 else f"{len(self.kernels)} kernels"
        return f"a refinement of a mixture of {many} on {len(self.vertices)} vertices{off}"


def decompose(
    channel: Channel, space: Space, *, time_limit: float | None = None, progress: Progress | None = None
) -> Decomposition:
    """A d-private channel as a refinement of a mixture of kernels.

    Each column lies in the cone of d-private columns, so it is a sum of vertices: take a vertex on the face that the
    column is on, subtract as much of it as keeps the rest in the cone, and go on with the rest, which is on a smaller
    face. The vertices of all columns are a mechanism of which the channel is a refinement; as long as weight is left,
    a kernel on the vertices in use takes as much of it as it can. Nothing is enumerated.

    Where exp(-d) is rational all is exact. Elsewhere numbers are carried to some hundreds of bits, the kernels are
    rounded and verified, and `Decomposition.moved` says how far the product is from the channel.

    Args:
        channel: its inputs are the points of the space, in any order.
        space: the points and d.
        time_limit: seconds after which it is given up.
        progress: is given an `Update` after each column of the channel, and then with each kernel.

    Raises:
        ArgumentError: if the inputs of the channel are not the points of the space.
        ImpossibleError: if the channel is not d-private; says where.
        TooLargeError: if the time limit is reached.

    References:
        Paper 5, Theorem 3.

    >>> import metricdp as mdp
    >>> space = Space.line(3, mdp.ln(2) * mdp.metrics.absolute())
    >>> C = Channel.from_matrix(range(3), "yz", [["1/2", "1/2"], ["1/3", "2/3"], ["1/4", "3/4"]])
    >>> found = decompose(C, space)
    >>> print(found)
    a refinement of a mixture of 1 kernel on 3 vertices
    >>> found.mixture @ found.post == C, found.check()
    (True, True)
    """
    watch = Stopwatch(time_limit, progress)
    ordered = _in_order(check_channel(channel, "decompose"), check_space(space, "decompose"))
    verdict = verify(ordered, space)
    if not verdict:
        raise ImpossibleError(f"only a private channel is made of kernels: {verdict}")
    lengths = UnitLengths.of(space)
    scale = Scale.of(lengths)
    shares = _shares(ordered, lengths, scale, watch)
    used = tuple(dict.fromkeys(vertex for column in shares for vertex in column))
    totals = [sum((column.get(vertex, _ZERO) for column in shares), _ZERO) for vertex in used]
    rows = [
        [column.get(vertex, _ZERO) / total for column in shares] for vertex, total in zip(used, totals, strict=True)
    ]
    post = Channel.from_matrix(range(len(used)), ordered.outputs, rows)
    weights, supports = _mixture([scale.direction(vertex) for vertex in used], totals, scale.tolerance, watch)
    kernels: list[Channel] = []
    for support in supports:
        watch.check(_TASK, len(kernels), len(supports), "kernels")
        kernels.append(kernel_channel([used[place] for place in support], support))
        watch.tell(len(kernels), len(supports), unit="kernels")
    found = Decomposition(ordered, space, used, weights, tuple(kernels), post, 0.0)
    moved = float_above(_distance(ordered, found.mixture @ post))
    return Decomposition(ordered, space, used, weights, tuple(kernels), post, moved)


def _in_order(channel: Channel, space: Space) -> Channel:
    if len(channel.inputs) != len(space):
        raise ArgumentError(f"the channel has {len(channel.inputs)} inputs, the space {len(space)} points")
    rows = [channel.row(point) for point in space.points]
    if rows == list(range(len(rows))):
        return channel
    return Channel(space.points, channel.outputs, channel.weights[rows], channel.total, Proved.of(channel.promise))


def _shares(channel: Channel, lengths: UnitLengths, scale: Scale, watch: Stopwatch) -> list[dict[Vertex, Fraction]]:
    """For each column, how much of which vertex it is made of."""
    shares: list[dict[Vertex, Fraction]] = []
    for column in channel.weights.T.tolist():
        held: dict[Vertex, Fraction] = {}
        for part in lengths.parts:
            watch.check(_TASK, len(shares), len(channel.outputs), "columns")
            values = {place: Fraction(column[place], channel.total) for place in part}
            if any(values.values()):
                for vertex, amount in vertices_around(values, part, scale):
                    held[vertex] = held.get(vertex, _ZERO) + amount
        shares.append(held)
        watch.tell(len(shares), len(channel.outputs), unit="columns")
    return shares


def _mixture(
    columns: Sequence[Sequence[Fraction]], totals: Sequence[Fraction], tolerance: Fraction, watch: Stopwatch
) -> tuple[tuple[Fraction, ...], list[tuple[int, ...]]]:
    """Weights on the columns as a mixture of weights on independent ones: how much of each, and which columns."""
    left = dict(enumerate(totals))
    weights: list[Fraction] = []
    supports: list[tuple[int, ...]] = []
    while left:
        corner = dict(left)
        watch.check(_TASK, len(supports), unit="kernels")
        while (relation := _relation({place: columns[place] for place in corner}, tolerance)) is not None:
            step, gone = min((corner[place] / value, place) for place, value in relation.items() if value > 0)
            for place, value in relation.items():
                corner[place] -= step * value
            corner = {place: value for place, value in corner.items() if value > tolerance and place != gone}
        taken, gone = min((left[place] / value, place) for place, value in corner.items())
        weights.append(taken)
        supports.append(tuple(sorted(corner)))
        for place, value in corner.items():
            left[place] -= taken * value
        left = {place: value for place, value in left.items() if value > tolerance and place != gone}
        # The corner has the weight of all that was left, so what is left now weighs 1 - taken of it.
        left = {place: value / (1 - taken) for place, value in left.items()} if taken < 1 else {}
    return _chained(weights), supports


def _chained(shares: list[Fraction]) -> tuple[Fraction, ...]:
    """Shares of what was left each time as shares of the whole; the last takes all that is left."""
    rest, weights = _ONE, []
    for place, share in enumerate(shares):
        weights.append(rest if place == len(shares) - 1 else rest * share)
        rest -= weights[-1]
    return tuple(weights)


def _relation(columns: dict[int, Sequence[Fraction]], tolerance: Fraction) -> dict[int, Fraction] | None:
    """Numbers, not all zero, with ``Σ number · column = 0``; None where the columns are independent."""
    reduced: list[tuple[int, list[Fraction], dict[int, Fraction]]] = []
    for place, column in columns.items():
        vector, made = list(column), {place: _ONE}
        for pivot, other, how in reduced:
            factor = vector[pivot]
            if factor:
                vector = [a - factor * b for a, b in zip(vector, other, strict=True)]
                for key, value in how.items():
                    made[key] = made.get(key, _ZERO) - factor * value
        pivot = max(range(len(vector)), key=lambda row: abs(vector[row]))
        if abs(vector[pivot]) <= tolerance:
            return {key: value for key, value in made.items() if value}
        lead = vector[pivot]
        vector = [value / lead for value in vector]
        made = {key: value / lead for key, value in made.items()}
        reduced.append((pivot, vector, made))
    return None


def _is_vertex(vertex: Vertex) -> bool:
    """Whether the tight pairs connect the points where it is not zero, and no pair is beyond tight."""
    lengths = vertex.lengths
    inside = {
        place for place, row in enumerate(vertex.coefficients) if row is not None and lengths.twins[place] == place
    }
    if inside not in [set(part) for part in lengths.parts]:
        return False
    for (i, j), distance in lengths.table.items():
        one, two = vertex.coefficients[i], vertex.coefficients[j]
        if one is not None and two is not None:
            beyond = tuple(a - b - c for a, b, c in zip(one, two, distance, strict=True))
            if lengths.sign(beyond) > 0:
                return False
    tight = vertex.tight
    reached, fresh = set(), {min(inside)}
    while fresh:
        reached |= fresh
        fresh = {j for pair in tight for i, j in (pair, pair[::-1]) if i in fresh} - reached
    return reached == inside


def _distance(one: Channel, two: Channel) -> Fraction:
    """The largest total variation between rows; both have the same inputs and outputs."""
    common = math.lcm(one.total, two.total)
    apart = np.abs(one.weights * (common // one.total) - two.weights * (common // two.total))
    return max(Fraction(int(sum(row)), 2 * common) for row in apart.tolist())
