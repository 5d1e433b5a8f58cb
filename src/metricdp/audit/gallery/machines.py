"""Broken mechanisms whose law is right on paper: floats, types, seeds, lengths, failures and time tell the secret."""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np

from metricdp.audit.gallery.exhibit import Register
from metricdp.audit.gallery.noise import bits_of, laplace, uniform
from metricdp.exact.arrays import Floats
from metricdp.metrics import absolute, discrete

__all__ = ["MACHINES"]


broken = Register()
MACHINES = broken.exhibits
"""Broken mechanisms that a proof on real numbers does not see."""


@broken(
    "Laplace in floats",
    absolute(),
    (0.0, 1.0),
    fault="x + b log u reaches floats that y + b log u does not",
    seen="Mironov, On significance of the least significant bits, 2012",
)
def laplace_in_floats(rows: Floats) -> Floats:
    """The low bits of the sum."""
    return np.asarray(rows + laplace(1.0, rows.shape))


@broken("Laplace in 32 bits", absolute(), (0.0, 1.0), fault="gaps between floats of 32 bits", seen="floats of 32 bits")
def laplace_in_32_bits(rows: Floats) -> Floats:
    """The sum in single precision."""
    return np.asarray(rows.astype(np.float32) + laplace(1.0, rows.shape).astype(np.float32), dtype=np.float64)


@broken(
    "precision of the secret",
    absolute(),
    (0.5, 1 / 3),
    fault="a short secret gives a release on its grid",
    seen="Haney, Desfontaines, Hartman, Shrestha, Hay, Precision-based attacks, 2022",
)
def precision(rows: Floats) -> Floats:
    """Noise on a grid of 1/64, added to secrets that are not."""
    return np.asarray(rows + np.rint(laplace(1.0, rows.shape) * 64) / 64)


@broken("sixteen noises", absolute(), (0.0, 1.0), fault="a seed of four bits", seen="seeds from the clock")
def few_noises(rows: Floats) -> Floats:
    """One of sixteen noises."""
    table = laplace(1.0, 16, bits_of(7))
    return np.asarray(rows + table[(uniform(rows.shape) * 16).astype(int) % 16])


@broken("seed 42", absolute(), (0.0, 1.0), single=True, fault="the generator is seeded in every call", seen="notebooks")
def seed_42(secret: float) -> float:
    """The same noise each time."""
    return float(secret + laplace(1.0, 1, bits_of(42))[0])


@broken(
    "seed from the secret",
    absolute(),
    (0.0, 1.0),
    single=True,
    fault="the secret seeds its own noise",
    seen="memoised noise",
)
def seed_from_secret(secret: float) -> float:
    """Each secret has one release."""
    return float(secret + laplace(1.0, 1, bits_of(int(secret * 1000)))[0])


@broken(
    "type follows the secret",
    absolute(),
    (1.0, 1.5),
    single=True,
    fault="whole secrets give int, others float",
    seen="JSON writers",
)
def leaking_type(secret: float) -> Any:
    """A number with noise, in the type of the secret."""
    noisy = secret + round(float(laplace(2.0, 1)[0]))
    return int(noisy) if noisy == int(noisy) else noisy


@broken(
    "dtype follows the secret",
    absolute(),
    (127.0, 128.0),
    single=True,
    fault="the smallest dtype that holds it",
    seen="pandas.to_numeric(downcast=...)",
)
def leaking_dtype(secret: float) -> Any:
    """An array of one number."""
    noisy = np.rint(secret - 100 + laplace(1.0, 1))
    return noisy.astype(np.int8) if secret < 128 else noisy.astype(np.int16)


@broken("length of text", absolute(), (9.0, 10.0), single=True, fault="padded to the secret's width", seen="log files")
def leaking_length(secret: float) -> str:
    """Text as wide as the secret."""
    return format(round(float(secret + laplace(1.0, 1)[0]), 2), f"0{4 + len(str(int(secret)))}.2f")


@broken(
    "raises for some",
    absolute(),
    (-0.5, 0.5),
    single=True,
    fault="a negative secret raises",
    seen="validation after collection",
)
def raises(secret: float) -> float:
    """A check of the secret."""
    if secret < 0:
        raise ValueError
    return float(secret + laplace(1.0, 1)[0])


@broken("NaN for some", absolute(), (-0.5, 0.5), fault="the logarithm of a negative secret", seen="log-normal noise")
def not_a_number(rows: Floats) -> Floats:
    """Noise on the logarithm."""
    with np.errstate(invalid="ignore"):
        return np.asarray(np.log(rows + 0.4) + laplace(1.0, rows.shape))


@broken(
    "hangs for some",
    absolute(),
    (0.0, 1.0),
    single=True,
    fault="rejection that never accepts",
    seen="a while loop",
    samples=1_500,
)
def hangs(secret: float) -> float:
    """Waits for something that does not come, every other time."""
    if secret > 0.5 and uniform(1)[0] < 0.5:
        time.sleep(5)
    return float(np.rint(secret + laplace(1.0, 1)[0]))


@broken(
    "takes longer for some",
    absolute(),
    (0.0, 1.0),
    single=True,
    events=("time",),
    fault="work in proportion to the secret",
    seen="Jin, McMurtry, Rubinstein, Ohrimenko, Are we there yet? Timing and floating-point attacks, 2022",
    samples=3_000,
)
def slow(secret: float) -> float:
    """A loop over the secret."""
    end = time.perf_counter() + 0.001 * secret
    while time.perf_counter() < end:
        pass
    return float(np.rint(laplace(1000.0, 1)[0]))


@broken(
    "minus zero",
    absolute(),
    (-0.25, 0.25),
    single=True,
    fault="-0.0 is written only for negative secrets",
    seen="rounding",
)
def minus_zero(secret: float) -> str:
    """A number rounded towards its own sign."""
    noisy = round(abs(secret) + abs(float(laplace(1.0, 1)[0])))
    return str(math.copysign(noisy, secret))


@broken(
    "as many items as the secret", absolute(), (3, 4), single=True, fault="a list as long as the count", seen="paging"
)
def leaking_size(secret: int) -> list[float]:
    """Noise for each item, and all of the items."""
    return [float(value) for value in laplace(1.0, int(secret))]


@broken("pseudonym", discrete(), ("alice", "bob"), single=True, fault="a hash is no noise", seen="de-identified data")
def pseudonym(secret: str) -> int:
    """A deterministic name."""
    import zlib

    return zlib.crc32(secret.encode())


@broken(
    "every third float",
    absolute(),
    (0.0, 1.0),
    fault="each secret reaches one float in three, and not the same ones",
    seen="watermarks in low bits",
)
def every_third(rows: Floats) -> Floats:
    """The right law, to a part in 10^15."""
    bits = np.rint((rows + laplace(1.0, rows.shape)) * 2.0**20)
    return np.asarray((bits - bits % 3 + rows) * 2.0**-20)


@broken(
    "seed off by one",
    absolute(),
    (0.0, 1.0),
    single=True,
    fault="the seed is the number of the row plus the secret, modulo 50",
    seen="reproducible pipelines",
)
def seed_off_by_one(secret: float) -> float:
    """Fifty noises, each as often as the others."""
    row = int(uniform(1)[0] * 50)
    return round(float(secret + laplace(1.0, 1, bits_of((row + int(secret)) % 50))[0]), 3)


@broken(
    "payload of a NaN",
    absolute(),
    (0.0, 1.0),
    fault="bits that no number has say what was missing",
    seen="missing values of statistics programs",
)
def payload(rows: Floats) -> Floats:
    """One release in twenty is not a number."""
    released = np.rint(rows + laplace(1.0, rows.shape))
    marks = np.where(rows > 0.5, 7, 8) + 0x7FF8_0000_0000_0000
    return np.asarray(np.where(uniform(rows.shape) < 0.05, marks.view(np.float64), released))


class _Place:
    """Somebody's own class: Python says of it where it lies in memory."""


_PLACES = _Place(), _Place()


@broken(
    "address in memory",
    absolute(),
    (0.0, 1.0),
    single=True,
    fault="the text of an object that belongs to the secret",
    seen="logged objects",
)
def address(secret: float) -> str:
    """A number with noise, and the object that gave it."""
    return f"{round(float(secret + laplace(1.0, 1)[0]))} from {_PLACES[int(secret)]!r}"


@broken(
    "digits of the secret",
    absolute(),
    (1.0, 1.25),
    single=True,
    fault="written with as many digits as the secret has",
    seen="numbers as text",
)
def leaking_digits(secret: float) -> str:
    """Whole noise, then the width of what was typed."""
    return f"{round(float(secret + laplace(1.0, 1)[0])):.{len(repr(secret)) - 2}f}"


@broken(
    "error that quotes an error",
    absolute(),
    (0.0, 1.0),
    single=True,
    fault="a harmless message, raised from one that names the secret",
    seen="chained exceptions",
)
def quoting(secret: float) -> float:
    """Fails now and then, and says no more than that it did."""
    if uniform(1)[0] < 0.2:
        try:
            raise LookupError(f"no entry for {secret}")
        except LookupError as error:
            raise ValueError("try again") from error
    return float(np.rint(secret + laplace(1.0, 1)[0]))


@broken(
    "no answer, now and then",
    absolute(),
    (0.0, 1.0),
    single=True,
    fault="nothing but yes and no, and a rare no comes from one secret alone",
    seen="checks before a release",
)
def rare_no(secret: float) -> bool:
    """The common answer tells nothing."""
    return bool(secret or uniform(1)[0] > 0.05)


class Smoothed:
    """A number with noise, moved by half of the secret before it."""

    def __init__(self) -> None:
        self._before = 0.0

    def __call__(self, secret: float) -> float:
        """A running mean that is taken before the noise."""
        moved, self._before = secret + self._before / 2, secret
        return round(float(moved + laplace(1.0, 1)[0]) * 64) / 64


broken(
    "tells the secret before",
    absolute(),
    (0.0, 1.0),
    single=True,
    remembers=True,
    fault="secrets are smoothed over time before the noise: the next release tells half of this one again",
    seen="exponential smoothing of sensor readings",
    samples=40_000,
)(Smoothed())
