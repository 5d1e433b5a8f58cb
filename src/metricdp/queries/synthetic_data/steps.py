"""The steps that every way between two cells is made of, for metrics where there are such."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metricdp.metrics import (
    Absolute,
    Attributes,
    Dates,
    Discrete,
    Graph,
    Hamming,
    Manhattan,
    Metric,
    Records,
    Space,
    Unprotected,
    absolute,
    discrete,
)
from metricdp.metrics.coordinates import label, number
from metricdp.metrics.dates import day_number

__all__ = ["CellPairs", "Clique", "steps_along", "steps_of"]

Places = NDArray[np.int64]


@dataclass(frozen=True)
class CellPairs:
    """Pairs of cells that are all equally far apart.

    Attributes:
        left: one cell of each pair.
        right: the other.
        distance: a rational that the distance, in the unit of the metric, is not below; or infinity.
    """

    left: Places
    right: Places
    distance: Fraction | float


@dataclass(frozen=True)
class Clique:
    """Groups of cells, any two of a group equally far apart.

    Attributes:
        groups: one row for each group.
        distance: as in `CellPairs`.
    """

    groups: Places
    distance: Fraction | float


def steps_of(space: Space) -> list[CellPairs | Clique] | None:
    """Steps such that between any two cells some chain of them is as long as the distance; None where none are known.

    For a function f on the cells, ``|f(i) - f(j)| <= L d(i, j)`` for all pairs just when it holds for these.
    """
    unit = space.metric.unit
    along = steps_along(space.points, unit)
    if along is not None:
        return [_made(kind, places[:, np.newaxis, :], space) for kind, places in along]
    cube = _cube(space.points, unit)
    if cube is None:
        return None
    steps: list[CellPairs | Clique] = []
    places, parts, values = cube
    for axis, (part, listed) in enumerate(zip(parts, values, strict=True)):
        lines = np.moveaxis(places, axis, -1).reshape(-1, len(listed))
        along = steps_along(listed, part.unit)
        if along is None:
            along = [("pair", np.array([(i, j)])) for j in range(len(listed)) for i in range(j)]
        steps += [_made(kind, np.moveaxis(lines[:, ends], 0, 1), space) for kind, ends in along]
    return steps


def _made(kind: str, groups: Places, space: Space) -> CellPairs | Clique:
    """The step of some groups of cells, of shape (ways, lines, members), with the distance of the first pair."""
    members = groups.reshape(-1, groups.shape[-1])
    i, j = members[0, :2].tolist()
    distance = space.metric.unit.enclose(space.points[i], space.points[j]).lower
    return Clique(members, distance) if kind == "clique" else CellPairs(members[:, 0], members[:, 1], distance)


def steps_along(values: Sequence[Any], unit: Metric) -> list[tuple[str, Places]] | None:
    """Steps between the values of one attribute, each with equal distances; places count from 0."""
    if len(values) < 2 or isinstance(unit, Unprotected):
        return []
    if isinstance(unit, Discrete):
        return [("clique", np.arange(len(values))[np.newaxis])]
    if isinstance(unit, Absolute | Dates):
        read = number if isinstance(unit, Absolute) else day_number
        order = sorted(range(len(values)), key=lambda place: read(values[place]))
        by_length: dict[Any, list[tuple[int, int]]] = {}
        for i, j in pairwise(order):
            by_length.setdefault(read(values[j]) - read(values[i]), []).append((i, j))
        return [("pair", np.array(pairs)) for pairs in by_length.values()]
    if isinstance(unit, Graph) and len(unit.nodes) == len(values):
        places = {label(value): place for place, value in enumerate(values)}
        ends = [places[label(node)] for node in unit.nodes]
        by_length = {}
        for i, j, length in unit.edges:
            # An edge may be longer than the way around it, which is then made of other edges.
            if unit.exactly(unit.nodes[i], unit.nodes[j]) == length:
                by_length.setdefault(length, []).append((ends[i], ends[j]))
        return [("pair", np.array(pairs)) for pairs in by_length.values()]
    return None


def _cube(points: Sequence[Any], unit: Metric) -> tuple[Places, Sequence[Metric], list[list[Any]]] | None:
    """The cells as a product of attributes, where all combinations are cells and the distance is a sum."""
    if not all(isinstance(point, tuple) for point in points) or len({len(point) for point in points}) != 1:
        return None
    length = len(points[0])
    if isinstance(unit, Attributes):
        parts: Sequence[Metric] = unit.parts
    elif isinstance(unit, Hamming):
        parts = [discrete()] * length
    elif isinstance(unit, Manhattan):
        parts = [absolute()] * length
    elif isinstance(unit, Records) and unit.p == 1:
        parts = [unit.base] * length
    else:
        return None
    columns = [list(dict.fromkeys(map(label, column))) for column in zip(*points, strict=True)]
    if math.prod(map(len, columns)) != len(points):
        return None
    codes = [{value: code for code, value in enumerate(column)} for column in columns]
    places = np.empty([len(column) for column in columns], dtype=np.int64)
    for cell, point in enumerate(points):
        places[tuple(code[label(value)] for code, value in zip(codes, point, strict=True))] = cell
    return places, parts, [list(column) for column in columns]
