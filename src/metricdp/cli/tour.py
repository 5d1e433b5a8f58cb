"""The facts of the tour, from a release made now."""

from __future__ import annotations

import warnings
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

import metricdp
from metricdp.cli.people import People, release_people
from metricdp.cli.places import Places, release_places
from metricdp.errors import NotPrivateWarning
from metricdp.exact import seeded, tally

__all__ = ["Tour", "take_tour"]


@dataclass(frozen=True)
class Tour:
    """What the tour shows.

    Attributes:
        private: False where the noise came from a seed.
        draws: how many draws were made.
        refined: how many of them floats could not decide.
    """

    version: str
    private: bool
    seed: int | None
    note: str
    places: Places
    people: People
    draws: int
    refined: int


def take_tour(seed: int | None = None) -> Tour:
    """Release the shipped tables and collect what there is to say.

    >>> take_tour(seed=1).private
    False
    """
    noise: AbstractContextManager[Any] = nullcontext() if seed is None else seeded(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotPrivateWarning)  # the tour says so itself, louder
        with noise, tally() as count:
            places, people = release_places(), release_people()
    note = (
        "noise from the system's secure source"
        if seed is None
        else f"NOT PRIVATE: the noise comes from seed {seed}, and whoever knows the seed takes it away again"
    )
    return Tour(metricdp.__version__, seed is None, seed, note, places, people, count.draws, count.refined)
