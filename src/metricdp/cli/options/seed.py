"""Noise from a seed, for those who want the same numbers again; what is printed then says that it is not private."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["noise"]


@contextmanager
def noise(seed: int | None) -> Iterator[None]:
    """Noise from a seed where one is given; what is released says so itself, louder than a warning."""
    if seed is None:
        yield
        return
    from metricdp.errors import NotPrivateWarning
    from metricdp.exact import seeded

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotPrivateWarning)
        with seeded(seed):
            yield
