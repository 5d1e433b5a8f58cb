"""Whether a channel is a kernel of its privacy type."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from flint import fmpz_mat

from metricdp.adversaries.hyper import hyper
from metricdp.adversaries.prior import Prior
from metricdp.channels.arguments import ChannelLike, as_channel
from metricdp.channels.verify import verify
from metricdp.design.arguments import check_space
from metricdp.exact.results import Result
from metricdp.metrics import Space

__all__ = ["KernelCheck", "is_kernel"]

_NEAR = 1e-9


@dataclass(frozen=True)
class KernelCheck(Result):
    """Whether a channel is a kernel, and if not, why; see `is_kernel`.

    Attributes:
        holds: whether it is.
        reason: in words.
        vertex: whether it is a vertex mechanism: all its posteriors are vertices.
        witness: outputs whose posterior is no vertex, or that depend on others; None where there are none.
        exact: whether it was decided exactly; where exp(-d) is irrational, no channel of rationals is exactly a kernel,
            and one within 1e-9 of it counts.
    """

    holds: bool
    reason: str
    vertex: bool
    witness: tuple[Any, ...] | None = None
    exact: bool = True

    def __bool__(self) -> bool:
        return self.holds

    def to_json(self) -> dict[str, Any]:
        """The answer as plain values for JSON."""
        witness = None if self.witness is None else [str(one) for one in self.witness]
        return {
            "holds": self.holds, "reason": self.reason, "vertex": self.vertex, "witness": witness, "exact": self.exact
        }  # fmt: skip

    def __str__(self) -> str:
        return f"{'a kernel' if self.holds else 'NOT a kernel'}: {self.reason}"


def is_kernel(channel: ChannelLike, space: Space) -> KernelCheck:
    """Whether a channel is a kernel mechanism of a space: its posteriors are linearly independent vertices.

    A posterior v is a vertex where the tight pairs, ``v(x) = exp(d(x, x')) v(x')``, join all points. No kernel is
    listed for it, so it works for spaces whose kernels are too many to list.

    Args:
        channel: over the points of the space.
        space: the points and d.

    References:
        Paper 5, Definitions 4 and 5, Lemmas 19 and 21.

    >>> import metricdp as mdp
    >>> line = Space.line(3, mdp.ln(2) * mdp.metrics.absolute())
    >>> print(is_kernel(mdp.channels.of(mdp.truncated_geometric(line.metric, steps=2), range(3)), line))
    a kernel: 3 linearly independent vertices
    >>> print(is_kernel([["1/2", "1/2"], ["1/2", "1/2"], ["1/2", "1/2"]], line))
    NOT a kernel: the posterior of the output 0 is no vertex
    """
    space = check_space(space, "is_kernel")
    given = as_channel(channel, "is_kernel", space.points)
    if not verify(given, space):
        return KernelCheck(False, f"it is not {space.metric}-private", False)
    found = hyper("uniform", given)
    exact = all(_exponential(space, i, j) is not None for i in range(len(space)) for j in range(i))
    for inner, group in zip(found.inners, found.outputs, strict=True):
        if not _joined(inner, space, exact):
            words = f"the posterior of the output {group[0]!r} is no vertex"
            return KernelCheck(False, words, False, tuple(group), exact)
    if exact:
        rank = int(fmpz_mat([list(inner.weights) for inner in found.inners]).rank())
    else:
        rank = int(np.linalg.matrix_rank(np.array([inner.floats for inner in found.inners]), tol=_NEAR))
    if rank < len(found):
        words = f"its {len(found)} posteriors are vertices, of which only {rank} are linearly independent"
        return KernelCheck(False, words, True, None, exact)
    return KernelCheck(True, f"{len(found)} linearly independent vertices", True, None, exact)


def _exponential(space: Space, i: int, j: int) -> Fraction | None:
    """exp(d) between two points, where it is known to be rational."""
    unit = space.metric.unit.exactly(space.points[i], space.points[j])
    level = space.metric.level
    if not isinstance(unit, Fraction) or level.log_of is None:
        return Fraction(0) if unit == math.inf else None
    power = level.coefficient * unit
    return level.log_of**power.numerator if power.denominator == 1 else None


def _joined(inner: Prior, space: Space, exact: bool) -> bool:
    """Whether tight pairs join all points that can be the secret, and the others are infinitely far from them."""
    rows = [space.index(point) for point, weight in zip(inner.points, inner.weights, strict=True) if weight]
    shares = {space.index(point): weight for point, weight in zip(inner.points, inner.weights, strict=True)}
    joined, waiting = {rows[0]}, [rows[0]]
    while waiting:
        i = waiting.pop()
        for j in rows:
            if j not in joined and _tight(space, shares, i, j, exact):
                joined.add(j)
                waiting.append(j)
    return len(joined) == len(rows)


def _tight(space: Space, shares: dict[int, int], i: int, j: int, exact: bool) -> bool:
    ratio = Fraction(shares[i], shares[j])
    if exact:
        return _exponential(space, i, j) in (ratio, 1 / ratio)
    return abs(abs(math.log(ratio)) - float(space.distances[i, j])) <= _NEAR
