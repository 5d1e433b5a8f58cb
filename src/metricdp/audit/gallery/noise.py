"""Noise in floats, made the way that careless programs make it: a uniform number, a logarithm, a product.

The bits are good (they are the package's own). What is done with them here is what the gallery shows.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metricdp.exact.arrays import Floats
from metricdp.exact.bits import Source, source

__all__ = ["bits_of", "compared", "exponential", "gaussian", "laplace", "symmetric_geometric", "uniform"]


_PIECE = 1 << 13  # numbers at a time: what is larger is fetched from the system anew, which takes longer than all else


def uniform(shape: Any, bits: Source | None = None) -> Floats:
    """Multiples of 2^-53 above 0 and up to 1."""
    size = int(np.prod(shape))
    words = (bits or source()).words(size) >> np.uint64(11)
    return np.asarray(((words + np.uint64(1)) * 2.0**-53).reshape(shape))


def bits_of(seed: int) -> Source:
    """A stream that the seed determines, as a program has that seeds its generator."""
    return Source(seed.to_bytes(32, "little", signed=True), private=False)


def laplace(scale: float, shape: Any, bits: Source | None = None) -> Floats:
    """Laplace noise by a logarithm; the sign is the lowest bit that the uniform number does not use."""
    size = int(np.prod(shape))
    words = (bits or source()).words(size)
    for start in range(0, size, _PIECE):
        part = words[start : start + _PIECE]
        signs = part << np.uint64(63)
        part >>= np.uint64(12)
        part |= np.uint64(0x3FF0 << 48)  # the float 1.…, which is quicker than to divide
        noise = part.view(np.float64)
        np.subtract(2.0, noise, out=noise)
        np.log(noise, out=noise)
        noise *= scale
        part ^= signs
    return np.asarray(words.view(np.float64).reshape(shape))


def compared(scale: float, shape: Any, signed: bool = True) -> NDArray[np.float32]:
    """Laplace noise, or exponential, in 32 bits: for noise that is compared and never released."""
    size = int(np.prod(shape))
    words = source().words(-(-size // 2)).view(np.uint32)[:size]
    signs = words << np.uint32(31)
    words >>= np.uint32(9)
    words |= np.uint32(0x3F8 << 20)
    noise = words.view(np.float32)
    np.subtract(np.float32(2), noise, out=noise)
    np.log(noise, out=noise)
    noise *= np.float32(scale if signed else -scale)
    if signed:
        words ^= signs
    return np.asarray(noise.reshape(shape))


def exponential(scale: float, shape: Any) -> Floats:
    """Exponential noise by a logarithm."""
    return np.asarray(-scale * np.log(uniform(shape)))


def gaussian(shape: Any) -> Floats:
    """Gaussian noise by Box and Muller."""
    return np.asarray(np.sqrt(-2 * np.log(uniform(shape))) * np.cos(2 * math.pi * uniform(shape)))


def symmetric_geometric(epsilon: float, shape: Any) -> Floats:
    """The difference of two geometric numbers: whole numbers, each step e^-epsilon as likely."""
    ratio = -epsilon
    return np.asarray(np.floor(np.log(uniform(shape)) / ratio) - np.floor(np.log(uniform(shape)) / ratio))
