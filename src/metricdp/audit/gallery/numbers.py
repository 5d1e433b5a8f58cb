"""Broken mechanisms on numbers: the wrong scale, the wrong law, the wrong order of steps."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metricdp.audit.gallery.exhibit import Register
from metricdp.audit.gallery.noise import exponential, gaussian, laplace, symmetric_geometric, uniform
from metricdp.exact.arrays import Floats
from metricdp.metrics import Guarantee, absolute, discrete, nullable

__all__ = ["NUMBERS"]


broken = Register(grid=2.0**-10)
NUMBERS = broken.exhibits
"""Broken mechanisms on numbers."""

_NEAR = (0.0, 1.0)


@broken(
    "scale off by 3%",
    absolute(),
    _NEAR,
    fault="noise of scale 0.97 where 1 is needed",
    seen="rounded constants",
    samples=4_000_000,
)
def scale_off(rows: Floats) -> Floats:
    """Noise that is a little too small."""
    return np.asarray(rows + laplace(0.97, rows.shape))


@broken(
    "half the noise",
    absolute(),
    _NEAR,
    fault="sensitivity of replacing taken for that of adding",
    seen="a fault of this kind, in many programs",
)
def half_the_noise(rows: Floats) -> Floats:
    """Noise for half the sensitivity."""
    return np.asarray(rows + laplace(0.5, rows.shape))


@broken(
    "scale is epsilon",
    0.1 * absolute(),
    _NEAR,
    fault="noise of scale epsilon, not 1/epsilon",
    seen="Ding, Wang, Wang, Zhang, Kifer, Detecting violations of differential privacy, 2018, Algorithm 10",
)
def scale_is_epsilon(rows: Floats) -> Floats:
    """Noise of scale 0.1 where 10 is meant."""
    return np.asarray(rows + laplace(0.1, rows.shape))


@broken(
    "gaussian for pure privacy",
    absolute(),
    (0.0, 2.0),
    fault="Gaussian tails are too light",
    seen="noise that belongs to (epsilon, delta)",
)
def gaussian_noise(rows: Floats) -> Floats:
    """Gaussian noise of the same spread as Laplace noise."""
    return np.asarray(rows + math.sqrt(2) * gaussian(rows.shape))


@broken("uniform noise", absolute(), _NEAR, fault="noise that ends", seen="a random number between two ends")
def uniform_noise(rows: Floats) -> Floats:
    """Anything within 3 of the secret."""
    return np.asarray(rows + 6 * uniform(rows.shape) - 3)


@broken(
    "twelve uniforms",
    absolute(),
    (0.0, 4.0),
    fault="a sum of twelve uniform numbers ends at 6",
    seen="the sum of twelve uniform numbers",
)
def twelve_uniforms(rows: Floats) -> Floats:
    """A normal number as it was made before logarithms were cheap."""
    return np.asarray(rows + math.sqrt(2) * (uniform((*rows.shape, 12)).sum(axis=-1) - 6))


@broken("tail cut at three scales", absolute(), _NEAR, fault="noise is cut off at 3 scales", seen="outlier handling")
def cut_tail(rows: Floats) -> Floats:
    """No outliers."""
    return np.asarray(rows + np.clip(laplace(1.0, rows.shape), -3, 3))


@broken(
    "one-sided noise", absolute(), _NEAR, fault="only upwards, so that counts do not fall", seen="padding of traffic"
)
def one_sided(rows: Floats) -> Floats:
    """Exponential noise."""
    return np.asarray(rows + exponential(1.0, rows.shape))


@broken(
    "truth now and then",
    absolute(),
    _NEAR,
    fault="one release in 200 has no noise",
    seen="a debugging path",
    samples=400_000,
)
def sometimes_true(rows: Floats) -> Floats:
    """A path for tests that is still there."""
    return np.asarray(np.where(uniform(rows.shape) < 0.005, rows, rows + laplace(1.0, rows.shape)))


@broken(
    "resampled until inside",
    absolute(),
    (0.0, 0.5),
    fault="drawn again until it lies in [0, 1]",
    seen="values that have to stay within bounds",
    samples=400_000,
)
def resampled(rows: Floats) -> Floats:
    """The law inside the bounds depends on how much of it lies outside."""
    release = np.full(rows.shape, -1.0)
    missing = np.ones(rows.shape, dtype=bool)
    while missing.any():
        release[missing] = rows[missing] + laplace(1.0, int(missing.sum()))
        missing = (release < 0) | (release > 1)
    return release


@broken(
    "dropped when outside",
    absolute(),
    (0.9, 1.1),
    fault="secrets above 1 are dropped instead of clamped",
    seen="data cleaning",
)
def dropped(rows: Floats) -> Floats:
    """NaN instead of a bound."""
    return np.asarray(np.where(rows > 1, np.nan, rows + laplace(1.0, rows.shape)))


@broken(
    "rounded before noise",
    absolute(),
    (0.49, 0.51),
    fault="the secret is rounded first: 0.02 apart becomes 1 apart",
    seen="integer columns",
)
def rounded_first(rows: Floats) -> Floats:
    """Rounding is no contraction."""
    return np.asarray(np.rint(rows) + symmetric_geometric(1.0, rows.shape))


@broken("epsilon from the secret", absolute(), (1.0, 2.0), fault="less noise for small secrets", seen="relative errors")
def own_epsilon(rows: Floats) -> Floats:
    """Noise in proportion to the secret."""
    return np.asarray(rows * (1 + laplace(1.0, rows.shape)))


@broken(
    "average of ten",
    absolute(),
    _NEAR,
    fault="ten noises averaged, each for the whole epsilon",
    seen="repeated queries",
)
def averaged(rows: Floats) -> Floats:
    """The mean of ten releases."""
    return np.asarray(rows + laplace(1.0, (*rows.shape, 10)).mean(axis=-1))


@broken(
    "geometric, base of the wrong side",
    absolute(),
    (0, 1),
    fault="e^-epsilon/2 taken for e^-epsilon, the other way round",
    seen="two conventions of alpha",
)
def wrong_base(rows: Any) -> Floats:
    """Steps are e^-2 as likely."""
    return np.asarray(rows + symmetric_geometric(2.0, rows.shape))


@broken(
    "geometric within a window",
    absolute(),
    (0, 1),
    fault="noise beyond ±5 is drawn again",
    seen="bounded counters",
    samples=400_000,
)
def windowed(rows: Any) -> Floats:
    """The window moves with the secret."""
    noise = symmetric_geometric(1.0, rows.shape)
    outside = np.abs(noise) > 5
    while outside.any():
        noise[outside] = symmetric_geometric(1.0, int(outside.sum()))
        outside = np.abs(noise) > 5
    return np.asarray(rows + noise)


@broken(
    "truncated geometric, renormalised",
    absolute(),
    (0, 1),
    (5, 6),
    fault="the mass outside 0..10 is spread, not clamped, and ε is not halved",
    seen="exponential mechanism on a line",
)
def renormalised(rows: Any) -> NDArray[np.int64]:
    """exp(-|z - x|) over 0..10, each row divided by its own sum."""
    weights = np.exp(-np.abs(np.arange(11)[:, None] - np.arange(11)[None, :]))
    table = np.cumsum(weights / weights.sum(axis=1, keepdims=True), axis=1)
    return np.asarray((uniform((len(rows), 1)) > table[np.asarray(rows, dtype=np.int64)]).sum(axis=1))


@broken(
    "exponential without the half",
    discrete(),
    (0, 1),
    fault="exp(ε score) instead of exp(ε score / 2)",
    seen="a fault of this kind, in many programs",
)
def no_half(rows: Any) -> NDArray[np.int64]:
    """Scores of five options, each of which may move by one."""
    scores = np.array([[0, 1, 1, 1, 1], [1, 0, 0, 0, 0]], dtype=float)
    weights = np.exp(scores)
    table = np.cumsum(weights / weights.sum(axis=1, keepdims=True), axis=1)
    return np.asarray((uniform((len(rows), 1)) > table[np.asarray(rows, dtype=np.int64)]).sum(axis=1))


@broken(
    "delta twice",
    Guarantee(discrete(), 0.01),
    (0, 1),
    fault="reveals with probability 2δ",
    seen="a delta for each side",
    samples=400_000,
)
def delta_twice(rows: Any) -> NDArray[np.int64]:
    """Randomized response on two values that tells the truth outright in 2 of 100 calls."""
    told = np.asarray(rows, dtype=np.int64)
    kept = uniform(told.shape) < math.e / (1 + math.e)
    return np.asarray(np.where(uniform(told.shape) < 0.02, told + 10, np.where(kept, told, 1 - told)))


@broken(
    "null passed through",
    nullable(absolute(), 10) * 0.5,
    (None, 0.0),
    single=True,
    fault="a missing value stays missing",
    seen="data frames",
)
def null_kept(secret: Any) -> Any:
    """NaN in, NaN out."""
    return None if secret is None else float(secret + laplace(2.0, 1)[0])


@broken(
    "small counts suppressed",
    absolute(),
    (4.0, 5.0),
    fault="counts below 5 are hidden before noise is added",
    seen="small counts that are suppressed",
)
def suppressed(rows: Floats) -> Floats:
    """A threshold on the secret itself."""
    return np.asarray(np.where(rows < 5, 0.0, np.rint(rows + laplace(1.0, rows.shape))))


@broken(
    "noise on what is not zero", absolute(), (0.0, 1.0), fault="empty cells have no noise", seen="sparse histograms"
)
def sparse(rows: Floats) -> Floats:
    """Zeros stay zeros."""
    return np.asarray(np.where(rows == 0, 0.0, rows + laplace(1.0, rows.shape)))


@broken(
    "clamped to the data",
    absolute(),
    (9.0, 10.0),
    fault="releases are clamped to the largest secret",
    seen="plots with automatic axes",
)
def clamped_to_data(rows: Floats) -> Floats:
    """No release exceeds the secret's own cell."""
    return np.asarray(np.minimum(rows + laplace(1.0, rows.shape), np.ceil(rows)))
