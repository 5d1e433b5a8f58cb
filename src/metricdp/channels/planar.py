"""Noise in the plane as channels on a grid of places: planar Laplace and planar geometric.

What falls beyond the grid goes to the nearest place of it. Moving a release is post-processing, so a channel keeps the
promise of the noise: ``d(x, x') = e |x - x'|``, between all places.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from flint import acb, arb

from metricdp.channels.arguments import SpaceLike, as_space
from metricdp.channels.certified import Certified
from metricdp.channels.of import certified
from metricdp.errors import ArgumentError, LevelError, TooLargeError, UnsupportedMetricError
from metricdp.exact.balls import ball, precision
from metricdp.exact.weights import Weights
from metricdp.mechanisms.law import Law, fixed_point, log2_below
from metricdp.metrics import Guarantee, Metric, Space, euclidean
from metricdp.metrics.coordinates import number

__all__ = ["planar_geometric", "planar_laplace"]

_MOST_PLACES = 1024
_MOST_STEPS = 1500
_GUARD_BITS = 64
_BLOCK_BITS = 64


@dataclass(frozen=True)
class _Noise:
    """Noise in whole steps along two axes, alike in all directions of both.

    Attributes:
        half: the mass of noise of at least so many steps, one or more, along one axis.
        corner: the mass of noise of at least so many steps along each axis.
    """

    half: Callable[[int], arb]
    corner: Callable[[int, int], arb]


def planar_laplace(space: SpaceLike) -> Certified:
    """Planar Laplace noise on a grid of places, each release moved to the nearest place of the grid.

    ``K(x)(z)`` is the integral of ``e^2 / (2 pi) exp(-e |x - y|)`` over all y that are nearer to z than to any other
    place. The integrals are enclosed in ball arithmetic; the channel is built a hair inside the promise, and verified.

    Args:
        space: places on a grid with equal steps along both axes, such as ``Space.grid(5, 5, e * euclidean())``, with e
            for a unit of the places.

    Guarantee:
        ``space.metric``, verified.

    Raises:
        UnsupportedMetricError: the metric is no multiple of the Euclidean one.
        ArgumentError: the places are no such grid.
        TooLargeError: there are more than 1,024 places.

    References:
        Paper 1, section 6.2 and Fig. 2 (ii).

    >>> import metricdp as mdp
    >>> C = planar_laplace(mdp.Space.grid(3, 3, mdp.ln(2) * mdp.metrics.euclidean()))
    >>> C.matrix[4].reshape(3, 3).round(4).tolist()
    [[0.1589, 0.0764, 0.1589], [0.0764, 0.0589, 0.0764], [0.1589, 0.0764, 0.1589]]
    """
    grid = _Places.of(space, "planar_laplace")

    def least() -> arb:
        rate = grid.rate()
        return rate**2 / (2 * arb.pi()) * (-rate * grid.farthest(Fraction(1, 2))).exp()

    return grid.channel(lambda bits: _integrals(grid.rate(), bits), log2_below(least))


def planar_geometric(space: SpaceLike) -> Certified:
    """Planar geometric noise on a grid of places, each release moved to the nearest place of the grid.

    The noise is a multiple of the grid's steps along both axes: ``c exp(-e |x - z|)`` for all z of the endless grid.

    Args:
        space: places on a grid with equal steps; see `planar_laplace`.

    Guarantee:
        ``space.metric``, verified.

    Raises:
        LevelError: the level is so small for this step that more than 1,500 steps would have to be summed.
        UnsupportedMetricError, ArgumentError, TooLargeError: see `planar_laplace`.

    References:
        Chatzikokolakis, ElSalamouny and Palamidessi 2017, *Efficient utility improvement for location privacy*.

    >>> import metricdp as mdp
    >>> C = planar_geometric(mdp.Space.grid(3, 3, mdp.ln(2) * mdp.metrics.euclidean()))
    >>> C.matrix[4].reshape(3, 3).round(4).tolist()
    [[0.1556, 0.0756, 0.1556], [0.0756, 0.0756, 0.0756], [0.1556, 0.0756, 0.1556]]
    """
    grid = _Places.of(space, "planar_geometric")

    def least() -> arb:  # the sum of exp(-r |z|) over the endless grid is below that over rings of 8 k places
        rate = grid.rate()
        decay = (-rate).exp()
        return (-rate * grid.farthest(Fraction(0))).exp() / (1 + 8 * decay / (1 - decay) ** 2)

    return grid.channel(lambda bits: _sums(grid.rate(), bits, max(grid.shape)), log2_below(least))


@dataclass(frozen=True, eq=False)
class _Places:
    """A full grid with equal steps along both axes."""

    space: Space
    metric: Metric
    step: Fraction
    at: tuple[tuple[int, int], ...]

    @classmethod
    def of(cls, given: SpaceLike, function: str) -> _Places:
        space = as_space(given, function)
        if space.metric.unit != euclidean():
            raise UnsupportedMetricError(f"{function} takes a multiple of euclidean(), not {space.metric}")
        if len(space) > _MOST_PLACES:
            raise TooLargeError(
                f"{len(space):,} places, and {function} takes at most {_MOST_PLACES:,}", f"{len(space):,} places"
            )
        wanted = ArgumentError(
            f"{function} takes places on a full grid with the same step along both axes, such as "
            "Space.grid(5, 5, metric): at least two along each"
        )
        if any(not isinstance(point, tuple) or len(point) != 2 for point in space.points):
            raise wanted
        exact = [(number(x, row), number(y, row)) for row, (x, y) in enumerate(space.points)]
        axes = [sorted({point[axis] for point in exact}) for axis in (0, 1)]
        gaps = {high - low for axis in axes for low, high in itertools.pairwise(axis)}
        if len(gaps) != 1 or min(map(len, axes)) < 2 or len(set(exact)) != len(axes[0]) * len(axes[1]):
            raise wanted
        (step,) = gaps
        at = tuple((int((x - axes[0][0]) / step), int((y - axes[1][0]) / step)) for x, y in exact)
        return cls(space, space.metric, step, at)

    @cached_property
    def shape(self) -> tuple[int, int]:
        return 1 + max(x for x, _ in self.at), 1 + max(y for _, y in self.at)

    def rate(self) -> arb:
        """The level for a step."""
        return self.metric.level.ball() * ball(self.step)

    def farthest(self, beyond: Fraction) -> arb:
        """The length of the diagonal, and a part of a step more along each axis."""
        wide, high = (ball(count - 1 + beyond) for count in self.shape)
        return (wide**2 + high**2).sqrt()

    def channel(self, law: Callable[[int], _Noise], least: float) -> Certified:
        """The channel of some noise, known to so many bits."""
        known = functools.cache(law)

        def fixed(bits: int) -> Weights:
            fine = -(-bits // _BLOCK_BITS) * _BLOCK_BITS  # the same noise serves the next finer look at it
            with precision(fine + 3 * _GUARD_BITS):
                return self._weights(known(fine), bits)

        points = self.space.points
        return certified(Law(points, points, fixed, least), Guarantee(self.metric))

    def _weights(self, noise: _Noise, bits: int) -> Weights:
        wide, high = self.shape
        spread = {
            (i, j): [[fixed_point(_mass(noise, a, b), bits) for b in _steps(j, high)] for a in _steps(i, wide)]
            for i in range(wide)
            for j in range(high)
        }
        weights = np.empty((len(self.at), len(self.at)), dtype=object)
        for row, place in enumerate(self.at):
            weights[row] = [spread[place][x][y] for x, y in self.at]
        return weights


_Steps = tuple[int | None, int | None]
"""From the first to the last step of noise that lead to one place; None where there is no end."""


def _steps(place: int, count: int) -> list[_Steps]:
    found: list[_Steps] = [(step - place, step - place) for step in range(count)]
    found[0], found[-1] = (None, -place), (count - 1 - place, None)
    return found


def _mass(noise: _Noise, across: _Steps, along: _Steps) -> arb:
    """The mass of a rectangle of steps: what lies beyond its corners, added and subtracted."""
    total = arb(0)
    for sign, a in _ends(across):
        for other, b in _ends(along):
            total += sign * other * _above(noise, a, b)
    return total


def _ends(steps: _Steps) -> list[tuple[int, int | None]]:
    first, last = steps
    return [(1, first), *([] if last is None else [(-1, last + 1)])]


def _above(noise: _Noise, a: int | None, b: int | None) -> arb:
    """The mass of at least a and at least b steps; None for no bound. Below a are as many as above 1 - a."""
    if a is None and b is None:
        return arb(1)
    if a is None or b is None:
        most = a if a is not None else b
        assert most is not None
        return noise.half(most) if most > 0 else 1 - noise.half(1 - most)
    if a <= 0:
        return _above(noise, None, b) - (noise.corner(1 - a, b) if b > 0 else _above(noise, b, 1 - a))
    return noise.corner(a, b) if b > 0 else noise.half(a) - noise.corner(a, 1 - b)


def _integrals(rate: arb, bits: int) -> _Noise:
    """Laplace: at least a steps is farther than a - 1/2.

    In polar coordinates, the mass behind a straight line at distance s is the integral of ``(1 + u) exp(-u) / (2 pi)``
    over the angles t at which it is seen, with ``u = e s / cos t``. A corner is seen as two half-lines.
    """
    fine = bits + _GUARD_BITS
    tolerance = arb((1, -fine))

    def behind(side: arb, end: arb) -> arb:
        """Angles from the line's nearest point to some other."""

        def integrand(angle: acb, analytic: bool) -> acb:
            del analytic
            u = rate * side / angle.cos()
            return (1 + u) * (-u).exp()

        return acb.integral(integrand, 0, end, rel_tol=tolerance, abs_tol=tolerance).real / (2 * arb.pi())

    @functools.cache
    def half_line(steps: int) -> arb:
        """Up to the right angle: the last part, where next to nothing is left, is bounded by its beginning."""
        near = rate * _edge(steps)
        left = near / (near + fine)
        u = near / left.sin()
        rest = left * (1 + u) * (-u).exp() / (2 * arb.pi())
        return behind(_edge(steps), arb.pi() / 2 - left) + arb(0).union(rest.upper())

    @functools.cache
    def ordered(few: int, many: int) -> arb:
        angle = (_edge(few) / _edge(many)).atan()
        return (
            half_line(few) - behind(_edge(few), arb.pi() / 2 - angle)
            + half_line(many) - behind(_edge(many), angle)
        )  # fmt: skip

    return _Noise(lambda a: 2 * half_line(a), lambda a, b: ordered(min(a, b), max(a, b)))


def _edge(steps: int) -> arb:
    return arb(2 * steps - 1) / 2


def _sums(rate: arb, bits: int, most: int) -> _Noise:
    """Geometric: sums over the endless grid, of which what lies beyond a square is bounded.

    Each place of the ring at k steps along one axis or both, 8 k of them, is at least k steps away.
    """
    small, near = float(rate), bits + 40
    last = max(most, math.ceil((near * math.log(2) + math.log(64 / min(1.0, small) ** 2)) / small) + 1)
    last = math.ceil((near * math.log(2) + math.log(64 * (last + 1) / min(1.0, small) ** 2)) / small) + most
    if last > _MOST_STEPS:
        raise LevelError(
            f"the level for a step is {small:.3g}: more than {_MOST_STEPS:,} steps would have to be summed. Take a "
            "coarser grid or a higher level, or planar_laplace"
        )
    decay = (-rate).exp()
    beyond = 8 * decay ** (last + 1) * ((last + 1) - last * decay) / (1 - decay) ** 2
    shift = bits + 2 * _GUARD_BITS
    unit = arb((1, shift))
    inner = [[0] * (last + 1) for _ in range(most + 1)]
    outer = [0] * (last + 1)
    for i in range(last + 1):
        for j in range(i + 1):
            whole = (unit * (-rate * arb(i * i + j * j).sqrt()).exp()).mid().floor().unique_fmpz()
            assert whole is not None  # the middle of a finite ball is one number
            share = int(whole)
            for a, b in {(i, j), (j, i)}:
                if a <= most:
                    inner[a][b] = share
                else:
                    outer[b] += share
    tails = list(itertools.accumulate([_plus(outer, inner[most]), *inner[most - 1 :: -1]], _plus))[::-1]
    # tails[a][j] is the sum over i >= a of the shares (i, j). Each share is off by less than 2 units, the whole square
    # has fewer than 4 (last + 1)² of them, and no part of the plane misses more than all of it beyond the square.
    error = arb(0).union(beyond.upper()) + arb(0, 8 * (last + 1) ** 2) / unit
    corners = [list(itertools.accumulate(reversed(row)))[::-1] for row in tails]

    def real(whole: int) -> arb:
        return arb(whole) / unit + error

    total = real(inner[0][0] + 4 * tails[1][0] + 4 * corners[1][1])
    return _Noise(
        lambda a: real(2 * corners[a][1] + tails[a][0]) / total,
        lambda a, b: real(corners[a][b]) / total,
    )


def _plus(one: Sequence[int], two: Sequence[int]) -> list[int]:
    return [a + b for a, b in zip(one, two, strict=True)]
