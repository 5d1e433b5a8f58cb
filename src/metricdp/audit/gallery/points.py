"""Broken mechanisms on points, places, series and sets."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metricdp.audit.gallery.exhibit import Register
from metricdp.audit.gallery.noise import exponential, laplace, uniform
from metricdp.exact.arrays import Floats
from metricdp.metrics import (
    chebyshev,
    discrete,
    euclidean,
    great_circle,
    manhattan,
    matrix,
    supremum,
    symmetric_difference,
)

__all__ = ["POINTS"]


broken = Register(grid=2.0**-10)
POINTS = broken.exhibits
"""Broken mechanisms on points, places, series and sets."""

_STEP = ((0.0, 0.0), (1.0, 0.0))
_DIAGONAL = ((0.0, 0.0), (1.0, 1.0))
_METRES = 111_194.9


def _planar(scale: float, count: int) -> Floats:
    """Noise in the plane with density exp(-r / scale)."""
    radius = exponential(scale, (count, 2)).sum(axis=1)
    angle = 2 * math.pi * uniform(count)
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)


@broken(
    "planar, radius exponential",
    euclidean(),
    _STEP,
    fault="the radius is Exp, not Gamma(2): the density has a pole",
    seen="polar coordinates without the Jacobian",
)
def wrong_radius(rows: Floats) -> Floats:
    """Too much mass at the secret."""
    radius, angle = exponential(1.0, len(rows)), 2 * math.pi * uniform(len(rows))
    return np.asarray(rows + np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1))


@broken(
    "L2 sold as L∞",
    chebyshev(),
    _DIAGONAL,
    fault="noise for L2, sold as L∞: √2 too weak on the diagonal",
    seen="a norm mixed up",
    samples=200_000,
)
def l2_as_max(rows: Floats) -> Floats:
    """Planar noise."""
    return np.asarray(rows + _planar(1.0, len(rows)))


@broken(
    "L1 sold as L2",
    euclidean(),
    _DIAGONAL,
    fault="independent noise, sold as L2: √2 too weak on the diagonal",
    seen="noise for each axis",
)
def l1_as_l2(rows: Floats) -> Floats:
    """Laplace noise on each coordinate."""
    return np.asarray(rows + laplace(1.0, rows.shape))


@broken(
    "independent noise sold as Definition 6",
    chebyshev(),
    ((0.0,) * 4, (1.0,) * 4),
    fault="ε for each of n readings is n ε under L∞",
    seen="paper 1, Example 2",
)
def independent_as_max(rows: Floats) -> Floats:
    """Noise for each reading."""
    return np.asarray(rows + laplace(1.0, rows.shape))


@broken(
    "noise reused between rows",
    manhattan(),
    ((0.0, 0.0), (0.0, 1.0)),
    fault="one noise for all rows of a table",
    seen="broadcasting",
)
def reused(rows: Floats) -> Floats:
    """The difference of two rows is exact."""
    return np.asarray(rows + np.rint(laplace(64.0, (len(rows), 1))) / 64)


@broken(
    "projections, one by one",
    supremum(),
    ((0.0, 0.0, 0.0, 0.0), (1.0, 1.0, 0.0, 0.0)),
    fault="private at each time, not at two together",
    seen="paper 2, Example 4 in reverse",
)
def one_noise_for_a_function(rows: Floats) -> Floats:
    """A function on [0, T] with one noise for all times."""
    return np.asarray(np.rint(16 * (rows + laplace(1.0, (len(rows), 1)))) / 16)


@broken(
    "one time of many", supremum(), ((0.0,) * 6, (1.0,) * 6), fault="noise at one random time", seen="sampled series"
)
def one_time(rows: Floats) -> Floats:
    """The other times are as they were."""
    chosen = (uniform(len(rows)) * rows.shape[1]).astype(int) % rows.shape[1]
    noise = np.zeros(rows.shape)
    noise[np.arange(len(rows)), chosen] = laplace(1.0, len(rows))
    return np.asarray(rows + noise)


@broken(
    "planar noise on equatorial degrees",
    great_circle() / 1000,
    ((60.0, 10.0), (60.0, 10.0 + 2000 / _METRES)),
    fault="degrees of longitude are metres of the equator: east and west are twice too near at 60°",
    seen="degrees taken for metres",
    grid=2.0**-24,
)
def equatorial(rows: Floats) -> Floats:
    """Noise in metres, divided by the same number for both axes."""
    return np.asarray(rows + _planar(1000.0, len(rows)) / _METRES)


@broken(
    "rounded Lambert W",
    great_circle() / 1000,
    ((0.0, 0.0), (0.0, 1500 / _METRES)),
    fault="radii on a lattice of 100 m",
    seen="tables of radii",
    grid=2.0**-24,
    samples=400_000,
)
def rounded_radius(rows: Floats) -> Floats:
    """The radius comes from a table."""
    radius = np.rint(exponential(1000.0, (len(rows), 2)).sum(axis=1) / 100) * 100
    angle = 2 * math.pi * np.floor(uniform(len(rows)) * 64) / 64
    return np.asarray(rows + np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1) / _METRES)


@broken(
    "adaptive geo-indistinguishability",
    great_circle() / 1000,
    ((0.0, 0.0), (0.0, 500 / _METRES)),
    fault="ε depends on how crowded the secret place is",
    seen="adaptive noise on maps",
    grid=2.0**-24,
)
def adaptive(rows: Floats) -> Floats:
    """A crowded place at longitude 0."""
    scale = np.where(rows[:, 1:] < 0.001, 300.0, 1500.0)
    return np.asarray(rows + scale * _planar(1.0, len(rows)) / _METRES)


@broken(
    "coordinates cut before noise",
    great_circle() / 1000,
    ((0.0, 0.00999), (0.0, 0.01001)),
    fault="two decimals of a degree first",
    seen="coarse locations",
    grid=2.0**-24,
)
def cut_first(rows: Floats) -> Floats:
    """Rounded, then noised."""
    return np.asarray(np.floor(rows * 100) / 100 + _planar(1000.0, len(rows)) / _METRES)


@broken(
    "k-ary response with two-valued odds",
    discrete(),
    (0, 1),
    fault="e^ε/(1 + e^ε) for four values: three times too honest",
    seen="formulas for two values",
)
def four_valued(rows: Any) -> NDArray[np.int64]:
    """Truth with the probability of a coin."""
    told = np.asarray(rows, dtype=np.int64)
    other = (told + 1 + (uniform(told.shape) * 3).astype(int) % 3) % 4
    return np.asarray(np.where(uniform(told.shape) < math.e / (1 + math.e), told, other))


@broken(
    "unary encoding, one bit counted",
    discrete(),
    (0, 1),
    fault="two bits differ, ε was spent on one",
    seen="frequency oracles",
)
def unary(rows: Any) -> NDArray[np.int64]:
    """Each of four bits flipped with the odds of ε."""
    truth = np.asarray(rows, dtype=np.int64)[:, None] == np.arange(4)
    kept = uniform(truth.shape) < math.e / (1 + math.e)
    return np.asarray((truth == kept).astype(np.int64))


@broken(
    "a member that is never flipped",
    symmetric_difference(),
    (frozenset({"a"}), frozenset({"a", "b"})),
    single=True,
    fault="the last item has no coin",
    seen="an index that ends early",
)
def unflipped(secret: frozenset[str]) -> frozenset[str]:
    """Coins for a and c, none for b."""
    kept = uniform(2) < math.e / (1 + math.e)
    flipped = {item for item, keep in zip("ac", kept, strict=True) if not keep}
    return frozenset(secret ^ flipped)


_WORDS = ("cat", "dog", "horse", "car", "bus", "tram")
_PLACES = np.array([0.0, 1.0, 2.0, 6.0, 7.0, 8.0])
_TEXT = matrix(_WORDS, np.abs(_PLACES[:, None] - _PLACES).tolist())


def _drawn(weights: Floats, rows: Any) -> Any:
    table = np.cumsum(weights / weights.sum(axis=1, keepdims=True), axis=1)
    places = np.array([_WORDS.index(word) for word in np.asarray(rows).tolist()])
    drawn = np.minimum((uniform((len(places), 1)) > table[places]).sum(axis=1), len(_WORDS) - 1)
    return np.array(_WORDS)[drawn]


@broken(
    "truncated words, weight of a ratio",
    _TEXT,
    ("cat", "horse"),
    ("cat", "dog"),
    fault="the words left out weigh log(|V|/|L|) instead of log|V - L|",
    seen="truncated exponential mechanisms for text",
    samples=400_000,
)
def truncated_text(rows: Any) -> Any:
    """Near words by their distance, all others as one."""
    near = np.abs(_PLACES[:, None] - _PLACES) < 1.5
    weights = np.where(near, np.exp(-np.abs(_PLACES[:, None] - _PLACES) / 2), 0.0)
    rest = np.log(len(_WORDS) / near.sum(axis=1, keepdims=True)) * np.exp(-1.5 / 2)
    weights = np.where(near, weights, rest / (~near).sum(axis=1, keepdims=True))
    return _drawn(weights, rows)


@broken(
    "Vickrey without the true word",
    _TEXT,
    ("cat", "dog"),
    fault="the true word is dropped after noising",
    seen="Vickrey mechanisms for text",
)
def vickrey(rows: Any) -> Any:
    """A word near the secret, never the secret."""
    weights = np.exp(-np.abs(_PLACES[:, None] - _PLACES) / 2)
    np.fill_diagonal(weights, 0.0)
    return _drawn(weights, rows)


@broken(
    "noise that sums to zero",
    manhattan(),
    ((0.0, 0.0, 0.0), (1.0, 0.0, 0.0)),
    fault="counts are made consistent with their true total",
    seen="totals that are published beside",
)
def kept_total(rows: Floats) -> Floats:
    """Every count has noise, and their sum has none."""
    noise = laplace(1.0, rows.shape)
    return np.asarray(rows + noise - noise.mean(axis=1, keepdims=True))


@broken(
    "clipped by its own data",
    manhattan(),
    ((0.0, 0.0, 5.0), (0.0, 0.0, 6.0)),
    fault="releases are clipped to the range of the secret",
    seen="bounds taken from the data",
)
def own_range(rows: Floats) -> Floats:
    """No value beyond those that there were."""
    noisy = rows + laplace(1.0, rows.shape)
    return np.asarray(np.clip(noisy, rows.min(axis=1, keepdims=True), rows.max(axis=1, keepdims=True)))


@broken(
    "order of the data",
    manhattan(),
    ((1.0, 2.0), (2.0, 1.0)),
    fault="noisy values stand in the order of the true ones",
    seen="tables sorted before noise",
)
def kept_order(rows: Floats) -> Floats:
    """Each value with its name, sorted by what it was."""
    order = np.argsort(rows, axis=1)
    noisy = rows + laplace(1.0, rows.shape)
    return np.asarray(np.concatenate([order, np.take_along_axis(noisy, order, axis=1)], axis=1))


@broken(
    "a bit in two halves",
    manhattan(),
    ((0.0, 0.0), (1.0, 0.0)),
    fault="each coordinate is a fair coin, and together they are the secret",
    seen="shares of a secret that are published together",
)
def shared(rows: Floats) -> Floats:
    """A one-time pad, beside what it hides."""
    pad = np.floor(2 * uniform(len(rows)))
    return np.asarray(np.stack([pad, (pad + rows[:, 0]) % 2], axis=1))
