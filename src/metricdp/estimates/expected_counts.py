"""The counts that a release would have on average, from its policy alone.

Secrets are taken to be spread evenly over what the policy allows, each column by itself.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from metricdp.errors import TooLargeError
from metricdp.estimates.laws import LineLaw
from metricdp.estimates.noise_shape import noise_scale
from metricdp.estimates.outline import Outline
from metricdp.estimates.plan import Counted, PresenceLaw, Seen, prepared, presence_of
from metricdp.estimates.released_table import ReleasedTable
from metricdp.estimates.tally import MOST_CELLS, RowTally
from metricdp.exact.arrays import Booleans, Floats, Places
from metricdp.policies.column_type import ColumnType
from metricdp.policies.types._line import OnALine

__all__ = ["expected_counts"]

_MISSING_SHARE = 0.1
_SCALES = 20
_GOLDEN = (math.sqrt(5) - 1) / 2


def expected_counts(
    table: ReleasedTable,
    binned: Sequence[str],
    summed: Sequence[str] = (),
    thresholds: dict[str, list[float]] | None = None,
    *,
    rows: int,
) -> tuple[Counted, list[str]]:
    """What `metricdp.estimates.plan.count` would find in such a table on average, and what was assumed, in words."""
    names = list(dict.fromkeys([*binned, *summed]))
    columns = {name: table.column(name) for name in names}
    for column in columns.values():
        if column.release == "keep":
            next(iter(table.batches([column])))
    types = {name: column.declared_type(name, table.policy.dialect) for name, column in columns.items()}
    ranges = {
        name: _range(column, types[name], (thresholds or {}).get(name, []))
        for name, column in columns.items()
        if isinstance(column, OnALine)
    }
    outlines = {name: _outline(columns[name], types[name], ranges[name]) for name in ranges}
    counted = prepared(table, Seen(columns, outlines, types, rows), binned, summed, thresholds)
    counted.fill(_product(counted, [_states(counted, name, ranges.get(name)) for name in names], rows))
    return counted, [_assumption(name, column, ranges.get(name)) for name, column in columns.items()]


@dataclass(frozen=True, eq=False)
class _States:
    """What a release of one column can be, for the tally: its codes by law, its offset, its probability, its sums."""

    codes: dict[str, Places]
    offsets: Places | None
    shares: Floats
    means: Floats
    squares: Floats


def _states(counted: Counted, name: str, extent: tuple[float, float] | None) -> _States:
    law = counted.laws.get(name)
    if name not in counted.moments:
        assert law is not None
        shares = _even_shares(law, extent) @ law.matrix
        zeros = np.zeros(len(shares))
        return _States({name: np.arange(len(shares))}, None, shares, zeros, zeros)
    line, moment = counted.lines[name], counted.moments[name]
    assert line is not None
    values, absent, shares = _fine(line, extent)
    keys = {"": moment.codes(values, absent)}
    if law is not None:
        keys[name] = law.codes_of(values, absent)
    presence = counted.laws.get(presence_of(name))
    if isinstance(presence, PresenceLaw):
        keys[presence_of(name)] = absent.astype(np.int64)
    stacked = np.stack(list(keys.values()), axis=1)
    different, inverse = np.unique(stacked, axis=0, return_inverse=True)
    places = inverse.ravel()
    far = np.where(absent, 0.0, values - moment.centre)
    sums: list[Any] = [np.bincount(places, weights=shares * far**power, minlength=len(different)) for power in range(3)]
    codes = {key: different[:, place] for place, key in enumerate(keys)}
    offsets = codes.pop("")
    return _States(codes, offsets, sums[0], sums[1], sums[2])


def _fine(line: LineLaw, extent: tuple[float, float] | None) -> tuple[Floats, Booleans, Floats]:
    """Released numbers on a fine grid, which stand for missing ones, and their probabilities."""
    first, last = (np.rint((end - line.origin) / line.width) for end in line.ends)
    cells = np.unique(np.rint(np.linspace(first, last + 1, 801)))
    below = line.noise.cells_below(line.points - line.origin, cells[1:-1])
    edged = np.hstack([np.zeros((len(below), 1)), below, np.ones((len(below), 1))])
    shares = _even_shares(line, extent)
    known = shares[: len(line.points)] @ np.diff(edged, axis=1)
    values = (cells[:-1] + np.diff(cells) / 2 - 0.5) * line.width + line.origin
    values[0], values[-1] = line.ends if line.noise.end_cells is not None else (values[0], values[-1])
    missing = 1 - float(known.sum())
    if line.column.missing == "refuse" or missing < 1e-12:
        return values, np.zeros(len(values), dtype=bool), known
    if line.column.missing == "secret":
        false, true = line.noise.null_shares
        centre = int(np.argmin(np.abs(values - sum(line.ends) / 2)))
        known, given = known * (1 - false), missing
        missing = (1 - given) * false + given * true
        known[centre] += given * (1 - true)
    absent = np.append(np.zeros(len(values), dtype=bool), True)
    return np.append(values, 0.0), absent, np.append(known, missing)


def _even_shares(law: Any, extent: tuple[float, float] | None) -> Floats:
    """The secrets of a law spread evenly, and a tenth of them missing where they can be."""
    shares = np.zeros(len(law.matrix))
    known = ~law.missing
    if isinstance(law, LineLaw):
        assert extent is not None
        inside = (law.points >= extent[0] - 1e-9) & (law.points <= extent[1] + 1e-9)
        gaps = np.gradient(law.points) if len(law.points) > 1 else np.ones(1)
        shares[: len(law.points)] = np.where(inside, gaps, 0.0) if inside.any() else gaps
    else:
        shares[known] = 1.0
    shares /= shares.sum()
    if law.missing.any():
        shares[known] *= 1 - _MISSING_SHARE
        shares[law.missing] = _MISSING_SHARE / law.missing.sum()
    return shares


def _product(counted: Counted, states: list[_States], rows: float) -> RowTally:
    """All combinations of what columns release, each by itself."""
    size = math.prod(len(part.shares) for part in states)
    if size > MOST_CELLS:
        raise TooLargeError("the question is about too many columns at once", f"{size:,} combinations of outputs")
    grids = np.indices([len(part.shares) for part in states]).reshape(len(states), -1)
    shares = np.ones(size)
    for part, places in zip(states, grids, strict=True):
        shares = shares * part.shares[places]
    codes: dict[str, Places] = {}
    offsets, sums = [], []
    for part, places in zip(states, grids, strict=True):
        codes |= {key: code[places] for key, code in part.codes.items()}
        if part.offsets is not None:
            offsets.append(part.offsets[places])
            own = np.maximum(part.shares, 1e-300)
            sums += [rows * shares * (column / own)[places] for column in (part.means, part.squares)]
    stacked = np.stack([*(codes[name] for name in counted.laws), *offsets], axis=1)
    return RowTally(stacked, rows * shares, np.stack(sums, axis=1) if sums else np.zeros((size, 0)))


def _range(column: Any, arrow: pa.DataType, thresholds: Sequence[float]) -> tuple[float, float]:
    """Where the secrets of a column are taken to lie: within bounds, or some way around what the question names."""
    if column.bounds is not None:
        return float(column.bounds[0]), float(column.bounds[1])
    reach = _SCALES / 2 * noise_scale(column.mechanism_in(arrow).cells)
    named = list(thresholds) or [0.0]
    return min(named) - reach, max(named) + reach


def _outline(column: Any, arrow: pa.DataType, extent: tuple[float, float]) -> Outline:
    """How far released numbers reach: the secrets' range with Laplace noise, at points that fill it evenly."""
    noise = column.mechanism_in(arrow).cells
    steps = np.arange(4096) + 0.5
    secrets = extent[0] + (extent[1] - extent[0]) * steps / 4096
    uniform = (steps * _GOLDEN) % 1 - 0.5
    moved = secrets - noise_scale(noise) * np.sign(uniform) * np.log1p(-2 * np.abs(uniform) * (1 - 1e-4))
    if noise.end_cells is not None or column.bounds is not None:
        moved = np.clip(moved, *extent)
    width, origin = float(noise.resolution), float(column.origin)
    return Outline.of(np.rint((moved - origin) / width) * width + origin)


def _assumption(name: str, column: ColumnType, extent: tuple[float, float] | None) -> str:
    missing = "" if column.missing == "refuse" else ", a tenth of them missing"
    if extent is None:
        return f"{name}: taken to be every declared value equally often{missing}."
    if getattr(column, "bounds", None) is not None:
        return f"{name}: taken to be spread evenly over its bounds{missing}."
    reach = column.measure.say(float(f"{extent[1] - extent[0]:.2g}"))
    return f"{name}: has no bounds; taken to be spread evenly over {reach} around what the question names{missing}."
