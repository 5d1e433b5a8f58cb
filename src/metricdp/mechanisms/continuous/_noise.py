"""The ideal draws behind the Laplace and geometric mechanisms, each said twice: in floats and in balls.

Every formula counts in cells of its grid. ``scale`` is the mechanism's scale in cells, ``placed`` says where
each secret lies between grid points, one entry for each coordinate. E(k) is a sum of k exponentials, that is
-ln of a product of k uniforms.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from flint import arb

from metricdp.exact.arrays import Floats
from metricdp.exact.assumed import ERROR
from metricdp.exact.balls import Real, ball
from metricdp.exact.bits import Words
from metricdp.exact.grid import Placed
from metricdp.exact.refine import (
    LOG_ERROR,
    TAIL,
    Approximation,
    Rows,
    Uniforms,
    fraction,
    signed_unit,
    signed_unit_ball,
    unit,
)

__all__ = ["CubeNoise", "EuclideanNoise", "LineNoise", "PlaneNoise"]

_SAFE = 1.25
"""Room for the roundings of products and sums, each a few 2^-52 beside errors of 2^-42 and more."""

_MOST_LOG = 14.0
"""More than -ln of the smallest uniform that floats are used for."""


@dataclass(frozen=True)
class LineNoise:
    """``fraction + sign * (scale * E(1) + shift)``: Laplace on the line, and the two-sided geometric.

    Without a shift the nearest integer is the rounding of a Laplace draw around the secret. With the shift of
    `metricdp.mechanisms.geometric` it is the two-sided geometric distribution.
    """

    scale: Real
    placed: Placed | None = None
    shift: Real | None = None
    uniforms = 1
    outputs = 1

    def approximate(self, words: Words, rows: Rows) -> Approximation:
        """See `metricdp.exact.refine.Formula`."""
        signs, units = signed_unit(words[0])
        scale = float(self.scale)
        noise = np.log(units, out=units)
        noise *= -scale
        radius = _SAFE * scale * LOG_ERROR + 2.0**-48
        if self.shift is not None:
            noise += float(self.shift)
        # A magnitude that the shift took below 0 lies within 1/2 of it: either sign rounds to the same cell.
        np.copysign(noise, signs, out=noise)
        if self.placed is not None:
            noise += self.placed.fractions[rows]
            radius += self.placed.radius
        return Approximation(noise[np.newaxis], radius)

    def ball(self, uniforms: Uniforms, row: int, wanted: Sequence[int]) -> list[arb]:
        """See `metricdp.exact.refine.Formula`."""
        sign, uniform = signed_unit_ball(uniforms[0])
        noise = -self.scale.ball() * uniform.log()
        if self.shift is not None:
            noise += self.shift.ball()
        return [sign * noise + (0 if self.placed is None else ball(self.placed.exact(row)))]


@dataclass(frozen=True)
class PlaneNoise:
    """``fraction + scale * E(2) * (cos t, sin t)``, t uniform: the planar Laplace density of paper 1, Fig. 2 (ii)."""

    scale: Real
    placed: Sequence[Placed]
    uniforms = 3
    outputs = 2

    def approximate(self, words: Words, rows: Rows) -> Approximation:
        """See `metricdp.exact.refine.Formula`."""
        radii, error = exponentials(words[:2])
        scale = float(self.scale)
        radii *= scale
        values = np.stack(direction(words[2]))
        values *= radii
        for value, placed in zip(values, self.placed, strict=True):
            value += placed.fractions[rows]
        radius = scale * (error + 2 * _MOST_LOG * DIRECTION_ERROR) * _SAFE + _offset_error(self.placed)
        return Approximation(values, radius)

    def ball(self, uniforms: Uniforms, row: int, wanted: Sequence[int]) -> list[arb]:
        """See `metricdp.exact.refine.Formula`."""
        radius = -self.scale.ball() * uniforms.product(0, 2).log()
        cosine, sine = direction_ball(uniforms[2])
        return _around([radius * (sine if place else cosine) for place in wanted], self.placed, row, wanted)


@dataclass(frozen=True)
class EuclideanNoise:
    """``fraction + scale * E(n) * g / |g|`` with g standard normal: density proportional to exp(-|z| / scale) on R^n.

    The normals come in pairs, sqrt(-2 ln U) (cos 2 pi V, sin 2 pi V).
    """

    scale: Real
    placed: Sequence[Placed]

    @property
    def outputs(self) -> int:
        """The dimension n."""
        return len(self.placed)

    @property
    def uniforms(self) -> int:
        """N for the radius and two for each pair of normals."""
        return self.outputs + 2 * self._pairs

    @property
    def _pairs(self) -> int:
        return (self.outputs + 1) // 2

    def approximate(self, words: Words, rows: Rows) -> Approximation:
        """See `metricdp.exact.refine.Formula`.

        A logarithm is off by less than ``log_errors``, as in `exponentials`, a length by the errors of its square over
        it, and the two normals of a pair together by ``slips``. With normals a for the ideal b, a coordinate of
        ``a / |a| - b / |b| = (a - b) / |b| + (a / |a|) (|b| - |a|) / |b|`` is at most the pair's slip and its own
        share of the whole, over the norm.
        """
        n, pairs = self.outputs, self._pairs
        radii, error = exponentials(words[:n])
        units = unit(words[n : n + pairs])
        logs = np.log(units)
        with np.errstate(divide="ignore", invalid="ignore"):  # a zero length is undecided, and the balls take it
            lengths = np.sqrt(-2 * logs)
            normals = np.stack(direction(words[n + pairs :]), axis=1) * lengths[:, np.newaxis]
            normals = normals.reshape(2 * pairs, -1)[:n]
            norms = np.sqrt((normals * normals).sum(axis=0))
            log_errors = 2.0**-52 + 2.0**-62 / units - ERROR * logs
            slips = 2 * log_errors / lengths + 2 * DIRECTION_ERROR * lengths
            whole = np.sqrt((slips * slips).sum(axis=0))
            norms[~(whole < norms / 8)] = np.nan
            directions = normals / norms
            shares = np.abs(directions)
            shares *= whole / norms + (error / radii + n * 2.0**-53 + 2.0**-50)  # roundings of the norm and of products
            shares += np.repeat(slips / norms, 2, axis=0)[:n]
        scale = float(self.scale)
        values = scale * radii * directions
        for value, placed in zip(values, self.placed, strict=True):
            value += placed.fractions[rows]
        return Approximation(values, scale * _SAFE * radii * shares + _offset_error(self.placed))

    def ball(self, uniforms: Uniforms, row: int, wanted: Sequence[int]) -> list[arb]:
        """See `metricdp.exact.refine.Formula`."""
        n, pairs = self.outputs, self._pairs
        normals: list[arb] = []
        for place in range(n, n + pairs):
            length = (-2 * uniforms[place].log()).sqrt()
            cosine, sine = direction_ball(uniforms[place + pairs])
            normals += [length * cosine, length * sine]
        normals = normals[:n]
        norm = sum((normal * normal for normal in normals), start=arb(0)).sqrt()
        radius = -self.scale.ball() * uniforms.product(0, n).log() / norm
        return _around([radius * normals[place] for place in wanted], self.placed, row, wanted)


@dataclass(frozen=True)
class CubeNoise:
    """``fraction + scale * E(n + 1) * V``, V uniform in the cube [-1, 1]^n: density exp(-max|z_i| / scale), normalised.

    A point of the cube uniform by volume with n + 1 exponentials is a point of its surface with n.
    """

    scale: Real
    placed: Sequence[Placed]

    @property
    def outputs(self) -> int:
        """The dimension n."""
        return len(self.placed)

    @property
    def uniforms(self) -> int:
        """N + 1 for the radius and one for each coordinate."""
        return 2 * self.outputs + 1

    def approximate(self, words: Words, rows: Rows) -> Approximation:
        """See `metricdp.exact.refine.Formula`."""
        n = self.outputs
        radii, error = exponentials(words[: n + 1])
        scale = float(self.scale)
        values = words[n + 1 :].view(np.int64).astype(np.float64)
        values *= scale * 2.0**-63 * radii
        for value, placed in zip(values, self.placed, strict=True):
            value += placed.fractions[rows]
        radius = scale * (error + radii * 2.0**-50) * _SAFE + _offset_error(self.placed)
        return Approximation(values, radius)

    def ball(self, uniforms: Uniforms, row: int, wanted: Sequence[int]) -> list[arb]:
        """See `metricdp.exact.refine.Formula`."""
        n = self.outputs
        radius = -self.scale.ball() * uniforms.product(0, n + 1).log()
        noise = [radius * _symmetric_ball(uniforms[n + 1 + place]) for place in wanted]
        return _around(noise, self.placed, row, wanted)


def _symmetric_ball(uniform: arb) -> arb:
    """A uniform on [-1, 1]: the bits of U as those of a signed number."""
    first = int(uniform.mid() > arb((1, -1)))  # the midpoint lies inside, so its first bit is U's
    return 2 * (uniform - first)


DIRECTION_ERROR = 2 * ERROR
"""A bound on the error of `direction`: that of `circle` and of the angle, which is off by less than 2^-51."""


def direction(words: Words) -> tuple[Floats, Floats]:
    """Cosine and sine of a uniform angle: two bits for the quadrant, the rest for the angle within it."""
    halves = (words & np.uint64(2**62 - 1)).view(np.int64).astype(np.float64)
    halves *= math.pi / 4 * 2.0**-62
    cosines, sines = circle(halves)
    np.copysign(cosines, words.view(np.float64), out=cosines)
    np.copysign(sines, (words << np.uint64(1)).view(np.float64), out=sines)
    return cosines, sines


def circle(halves: Floats) -> tuple[Floats, Floats]:
    """Cosine and sine of angles in [0, pi], given halved, which is overwritten.

    With t = tan(angle / 2), where numpy is quickest: ``(1 - t^2, 2 t) / (1 + t^2)``. The tangent's relative error of
    ERROR becomes at most that relative to the sine, and at most that in the cosine; roundings add a tenth.
    """
    tangents = np.tan(halves, out=halves)
    squares = tangents * tangents
    cosines: Floats = 1 - squares
    squares += 1
    cosines /= squares
    tangents += tangents
    tangents /= squares
    return cosines, tangents


def direction_ball(uniform: arb) -> tuple[arb, arb]:
    """The same in balls."""
    whole = (4 * uniform.mid()).floor().unique_fmpz()  # the midpoint lies inside, so its first two bits are U's
    assert whole is not None
    quadrant = int(whole)
    sine, cosine = (2 * uniform - arb((quadrant, -1))).sin_cos_pi()
    return (-cosine if quadrant & 2 else cosine), (-sine if quadrant & 1 else sine)


_FEW = 6  # so few sums have one bound for all

_PER_PRODUCT = 32  # units are at least 2^-20, so a product of 32 is far from underflow


def exponentials(words: Words) -> tuple[Floats, float | Floats]:
    """Sums of exponentials, one for each column of words, and a bound on their error; NaN below `TAIL`.

    For many of them a bound for each sum, from the least of its uniforms: the bits not read move each logarithm by at
    most 2^-63 over it, the floats next to the uniforms and the roundings of their product by 2^-52. Powers of two in
    the product are counted apart: their logarithm and the last sum are off by three halves of 2^-52 of the sum, and
    numpy's logarithm of what is left, which lies between 1/2 and 1, by ERROR of ln 2.
    """
    count = len(words)
    product, powers = np.ones(words.shape[1]), np.zeros(words.shape[1])
    for start in range(0, count, _PER_PRODUCT):
        product *= np.multiply.reduce(fraction(words[start : start + _PER_PRODUCT]), axis=0)
        if count > _FEW:
            product, more = np.frexp(product)
            powers += more
    total: Floats = -np.log(product)
    if count <= _FEW:
        if words.min() < _TAIL_WORD:
            total[(words < _TAIL_WORD).any(axis=0)] = np.nan
        return total, _SAFE * count * LOG_ERROR
    total -= powers * math.log(2)
    least = words.min(axis=0)
    total[least < _TAIL_WORD] = np.nan
    errors = count * (2.0**-52 + 2.0 / least.astype(np.float64)) + 2.0**-51 * total + ERROR
    return total, _SAFE * errors


_TAIL_WORD = np.uint64(TAIL * 2.0**64)


def _around(noise: Sequence[arb], placed: Sequence[Placed], row: int, wanted: Sequence[int]) -> list[arb]:
    return [value + ball(placed[place].exact(row)) for value, place in zip(noise, wanted, strict=True)]


def _offset_error(placed: Sequence[Placed]) -> float:
    return max(place.radius for place in placed) + 2.0**-48
