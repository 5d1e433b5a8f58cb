"""Data that the items need and the papers do not print, made from seeds by the package's own source of bits."""

from __future__ import annotations

import csv
from importlib.resources import files

import numpy as np

from metricdp.exact.arrays import Floats
from metricdp.exact.bits import seeded
from metricdp.metrics import Space, euclidean

__all__ = ["bits", "people", "square", "uniform", "us_cities"]


def uniform(seed: int, *shape: int) -> Floats:
    """Numbers uniform in [0, 1), always the same for a seed.

    >>> uniform(1, 2, 3).shape
    (2, 3)
    """
    with seeded(seed) as source:
        words = source.words(int(np.prod(shape)))
    return (words >> np.uint64(11)).astype(np.float64).reshape(shape) * 2.0**-53


def bits(seed: int, *shape: int) -> Floats:
    """Zeros and ones, each as likely."""
    return np.floor(2 * uniform(seed, *shape))


def square(cells: int = 50, seed: int = 2020) -> Space:
    """Places that are uniform in a square of side 100, with the Euclidean metric.

    References:
        Paper 4, Section 4.1.
    """
    return Space((100 * uniform(seed, cells, 2)).tolist(), euclidean())


def people(seed: int, cells: int, records: int) -> list[int]:
    """A histogram of so many records over so many cells."""
    shares = np.cumsum(uniform(seed, cells))
    cuts = np.floor(records * shares / shares[-1]).astype(int).tolist()
    return [high - low for low, high in zip([0, *cuts[:-1]], cuts, strict=True)]


def us_cities() -> list[dict[str, str]]:
    """The cities of the United States that ship with the package, the largest first.

    >>> len(us_cities()) > 741
    True
    """
    text = files("metricdp").joinpath("cli", "demo", "data", "us_cities.csv").read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))
