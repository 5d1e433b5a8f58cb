"""The facts of the tour, from a release made now."""

from __future__ import annotations

import warnings
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import metricdp
from metricdp.cli.demo.people import People, release_people
from metricdp.cli.demo.places import Places, release_places
from metricdp.cli.demo.table import SanitizedTable, sanitize_shipped
from metricdp.errors import MissingExtraError, NotPrivateWarning
from metricdp.exact import seeded, tally

__all__ = ["Tour", "take_tour"]


@dataclass(frozen=True)
class Tour:
    """What the tour shows.

    Attributes:
        private: False where the noise came from a seed.
        table: the whole table sanitized; None where nobody asked for it, or the libraries for tables are missing.
        draws: how many draws were made.
        refined: how many of them floats could not decide.
    """

    version: str
    private: bool
    seed: int | None
    note: str
    places: Places
    people: People
    table: SanitizedTable | None
    draws: int
    refined: int


def take_tour(seed: int | None = None, folder: Path | None = None) -> Tour:
    """Release the shipped tables and collect what there is to say; what is written goes to ``folder``.

    >>> take_tour(seed=1).private
    False
    """
    noise: AbstractContextManager[Any] = nullcontext() if seed is None else seeded(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotPrivateWarning)  # the tour says so itself, louder
        with noise, tally() as count:
            places, people = release_places(), release_people()
            table = None if folder is None else _table(folder)
    note = (
        "noise from the system's secure source"
        if seed is None
        else f"NOT PRIVATE: the noise comes from seed {seed}, and whoever knows the seed takes it away again"
    )
    return Tour(metricdp.__version__, seed is None, seed, note, places, people, table, count.draws, count.refined)


def _table(folder: Path) -> SanitizedTable | None:
    try:
        return sanitize_shipped(folder)
    except MissingExtraError:
        return None
