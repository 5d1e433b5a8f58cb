"""Noise in floats, made the way that careless programs make it: a uniform number, a logarithm, a product.

The bits are good (they are the package's own). What is done with them here is what the gallery shows.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from metricdp.exact.arrays import Floats
from metricdp.exact.bits import Source, source

__all__ = ["bits_of", "exponential", "gaussian", "laplace", "symmetric_geometric", "uniform"]


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
    noise = np.log(((words >> np.uint64(11)) + np.uint64(1)) * 2.0**-53)
    noise *= scale
    signs = noise.view(np.uint64)
    signs ^= words << np.uint64(63)
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
