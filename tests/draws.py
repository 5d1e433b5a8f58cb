"""Draws that are the same in every run, for tests whose outcome would otherwise be left to chance."""

import warnings
import zlib
from contextlib import contextmanager

import numpy as np

import metricdp as mdp
from metricdp.errors import NotPrivateWarning


@contextmanager
def repeatable(name, *generators):
    """Seed the package's source of bits, and numpy generators, by the name of a test.

    An audit with a number of samples is then the same in each run, on each machine and in any order of tests.
    """
    seed = zlib.crc32(name.encode())
    for generator in generators:
        generator.bit_generator.state = np.random.default_rng(seed).bit_generator.state
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotPrivateWarning)
        with mdp.seeded(seed):
            yield
