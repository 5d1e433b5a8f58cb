"""Columns of categories."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Self

from metricdp.exact.level import rational
from metricdp.metrics import Metric, great_circle, taxonomy
from metricdp.metrics.coordinates import frozen
from metricdp.metrics.finite import Discrete, Unprotected
from metricdp.metrics.nullable import Nullable
from metricdp.policies.count_by import CountBy
from metricdp.policies.entry import ColumnEntry, Mistake
from metricdp.policies.levels import Written, equal_level, level_by_distance, missing_distance, wanted_distance
from metricdp.policies.open_questions import FACTOR, MISSING, listed
from metricdp.policies.types._finite import OneOf, words_for
from metricdp.policies.types._line import LEVEL_KEYS

if TYPE_CHECKING:
    from metricdp.mechanisms.mechanism import Mechanism
    from metricdp.policies.cells.listed import Cells

__all__ = ["Category"]

_LISTS = ("values", "parents", "at")


@dataclass(frozen=True, kw_only=True)
class Category(OneOf):
    """A category of a declared list: any two equally far apart, or by a taxonomy, or by where they are on a map.

    Attributes:
        values: the declared values: text or integers.
        places: where each of them is; None where the metric compares the values themselves.
        tree: whether they are the leaves of a taxonomy.
    """

    values: tuple[Any, ...]
    places: tuple[Any, ...] | None = None
    tree: bool = False

    type_name = "category"
    keys = (*LEVEL_KEYS, *_LISTS, "missing", "missing_distance", "delta", "count_by")
    questions = (listed("which values can there be?"), FACTOR, MISSING)

    @property
    def wants(self) -> str:  # type: ignore[override]
        """What holds every declared value."""
        return f"{words_for(self.values)}, or a dictionary of such that can number {len(self.values) + 1:,} values"

    @classmethod
    def read(cls, entry: ColumnEntry) -> Self:
        """See `ColumnType.read`."""
        given = [key for key in _LISTS if key in entry]
        if len(given) != 1:
            raise Mistake(
                given[1] if given else "",
                "what there can be is listed by values = [..], parents = {child = parent, ..} or "
                "at = {value = [latitude, longitude], ..}: one of the three",
            )
        (key,) = given
        values, places, base = _READ[key](entry)
        written = _level(entry, base, key)
        missing = entry.missing(True)
        distance = missing_distance(entry, missing, "m" if key == "at" else "", written)
        if missing == "secret" and distance is None and written is not None:
            distance = _widest(written.metric, values if places is None else places)
        delta = rational(entry.take("delta", 0), "delta")
        if not 0 <= delta < 1:
            raise Mistake("delta", "delta is a probability, from 0 to below 1")
        return cls(
            name=entry.name,
            columns=entry.columns,
            line=entry.line,
            release=entry.release(),
            missing=missing,
            written=written,
            missing_distance=distance,
            delta=delta,
            count_by=CountBy.read(entry, ("other", "missing")),
            values=values,
            places=places,
            tree=key == "parents",
        )

    @property
    def listed(self) -> tuple[Any, ...]:
        """The declared values."""
        return self.values

    @property
    def level_wanted(self) -> str:
        """What to write where a level is wanted."""
        if self.places is None and not self.tree:
            return super().level_wanted
        return wanted_distance("" if self.places is None else "m")

    @property
    def _points(self) -> tuple[Any, ...]:
        return self.values if self.places is None else self.places

    def pairs_to_tell(self, mechanism: Mechanism) -> list[tuple[str, Fraction]]:
        """By the names of the values, where the metric compares their places."""
        told = super().pairs_to_tell(mechanism)
        for value, place in zip(self.values, self.places or (), strict=False):
            told = [(words.replace(str(place), str(value)), far) for words, far in told]
        return told

    def _make_cells(self) -> Cells:
        from metricdp.policies.cells.listed import CategoryCells

        names = [*map(str, self.values), self.count_by.other or ""]
        missing = self.count_by.missing_name(self.missing, names)
        at = None if self.places is None else dict(zip(self.values, self.places, strict=True))
        return CategoryCells(self.columns[0], self.values, missing=missing, other=self.count_by.other, at=at)


def _level(entry: ColumnEntry, base: Metric | None, key: str) -> Written | None:
    if base is not None:
        return level_by_distance(entry, base, "m" if key == "at" else "", "steps" if key == "parents" else None)
    for unused in ("within", "per"):
        if unused in entry:
            raise Mistake(
                unused,
                f"{unused} is not used here: any two values lie equally far apart; give epsilon or factor, or "
                "parents = {..} for distances",
            )
    return equal_level(entry)


def _widest(metric: Metric, points: tuple[Any, ...]) -> Fraction | None:
    """The greatest distance of two values, rounded up; None where the metric knows missing values by itself."""
    unit = metric.unit
    if isinstance(unit, Discrete | Unprotected | Nullable):
        return None
    return Fraction(unit.enclose(*unit.farthest(points)).upper)


Listed = tuple[tuple[Any, ...], tuple[Any, ...] | None, Metric | None]
"""The values, where they are, and the distance that follows."""


def _values(entry: ColumnEntry) -> Listed:
    return entry.values(), None, None


def _parents(entry: ColumnEntry) -> Listed:
    parents = entry.take("parents")
    if not isinstance(parents, Mapping):
        raise Mistake("parents", "parents = {child = parent, ..} is a table")
    tree = taxonomy(parents)
    inner = set(parents.values())
    return tuple(child for child in parents if child not in inner), None, tree


def _at(entry: ColumnEntry) -> Listed:
    at = entry.take("at")
    if isinstance(at, list) and all(isinstance(pair, list) and len(pair) == 2 for pair in at):
        at = dict(at)  # for values that are integers
    if not isinstance(at, Mapping) or not at:
        raise Mistake("at", "at = {value = [latitude, longitude], ..} is a table")
    places = tuple(frozen(_floats(place)) for place in at.values())
    if len(set(places)) < len(places):
        raise Mistake("at", "two values are at one place, so that no distance tells them apart: make them one")
    return tuple(at), places, great_circle()


def _floats(place: Any) -> Any:
    """Coordinates are floats, as they are where a place is given in Python."""
    if isinstance(place, list):
        return tuple(_floats(part) for part in place)
    return float(place) if isinstance(place, Decimal) else place


_READ = {"values": _values, "parents": _parents, "at": _at}
