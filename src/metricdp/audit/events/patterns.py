"""Points whose coordinates have few values each, as labels: every function of them is a set of patterns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metricdp.audit.boxes.box import Batch
from metricdp.audit.events.event import Event
from metricdp.audit.events.machine import pattern
from metricdp.audit.events.scores import Labels, log_ratios
from metricdp.audit.events.threshold import FEW
from metricdp.audit.events.view import View
from metricdp.exact.arrays import Booleans, Floats

__all__ = ["Patterns", "fit_patterns"]

_FEW_VALUES = 8
_FEW_NAMES = 4
_MOST_PATTERNS = 4096
_FOR_VALUES, _FOR_PATTERNS = 5000, 20_000
_PIECE = 1 << 12  # rows at a time, so that what is computed of them stays near the processor


def fit_patterns(views: Sequence[View], columns: Sequence[Floats], marks: Booleans) -> Patterns | None:
    """All coordinates as one label, where each has few values; None where they have many, or there is but one.

    Args:
        views: the coordinates.
        columns: what they gave for some releases.
        marks: which of those had the secret x.
    """
    if len(views) < 2 or any(len(np.unique(column[:_FOR_VALUES])) > _FEW_VALUES for column in columns):
        return None
    points = np.stack(columns, axis=1)
    if len(np.unique(_codes(points[:_FOR_PATTERNS]))) > _MOST_PATTERNS:
        return None
    codes = _codes(points)
    known, first, places = np.unique(codes, return_index=True, return_inverse=True)
    if len(known) > _MOST_PATTERNS:
        return None
    more = np.bincount(places[marks], minlength=len(known)).astype(np.float64)
    less = np.bincount(places[~marks], minlength=len(known)).astype(np.float64)

    def column(batch: Batch) -> NDArray[np.int64]:
        releases = batch.releases
        if isinstance(releases, np.ndarray) and releases.ndim == 2 and releases.shape[1] == len(views):
            return _codes(releases)
        return _codes(np.stack([view.of(batch) for view in views], axis=1))

    code = "m.pattern((" + ", ".join(view.code for view in views) + ",))"
    return Patterns(
        View("the release", code, column, number=False),
        tuple(known.tolist()),
        log_ratios(more, less),
        caution=0.0 if len(known) <= FEW else 1.0,
        names=tuple(tuple(row) for row in (points[first] + 0.0).tolist()),
        parts=tuple(views),
        shares=tuple(_shares(column) for column in columns),
    )


def _codes(points: NDArray[Any]) -> NDArray[np.int64]:
    """One number for each row: a sum of the bits of its floats with large odd weights, modulo 2^64.

    Two patterns of some thousand have the same number with probability 2^-40 or so; a bound does not rest on it.
    """
    codes, weights = np.empty(len(points), dtype=np.int64), _odd(points.shape[1])
    with np.errstate(over="ignore"):
        for start in range(0, len(points), _PIECE):
            part = slice(start, start + _PIECE)
            bits = (np.asarray(points[part], dtype=np.float64) + 0.0).view(np.int64)  # -0.0 becomes 0.0
            codes[part] = bits @ weights
    return codes


def _odd(size: int) -> NDArray[np.int64]:
    """Multiples of the golden ratio's fraction of 2^64, which are spread evenly; made odd."""
    step = np.uint64(0x9E3779B97F4A7C15)
    with np.errstate(over="ignore"):
        return np.asarray((np.arange(1, size + 1, dtype=np.uint64) ** np.uint64(3) * step) | np.uint64(1)).view(
            np.int64
        )


def _shares(column: Floats) -> dict[float, float]:
    """How often each value comes."""
    values, counts = np.unique(column[:_FOR_VALUES], return_counts=True)
    return dict(zip(values.tolist(), (counts / counts.sum()).tolist(), strict=True))


@dataclass(frozen=True)
class Patterns(Labels):
    """Labels that stand for points with few values in each coordinate."""

    names: tuple[tuple[float, ...], ...] = ()
    parts: tuple[View, ...] = ()
    shares: tuple[dict[float, float], ...] = ()

    def places(self, batch: Batch) -> NDArray[np.intp]:
        """Which of the known patterns each release has; their number for patterns that were not seen."""
        codes, known = self.view.of(batch), np.array(self.known)
        places = np.empty(len(codes), dtype=np.intp)
        for start in range(0, len(codes), _PIECE):
            part = codes[start : start + _PIECE]
            found = np.minimum(np.searchsorted(known, part), len(known) - 1)
            found[known.take(found) != part] = len(known)
            places[start : start + _PIECE] = found
        return places

    def event(self, threshold: float, high: bool) -> Event:
        """A set of points."""
        chosen = self.ratios >= threshold if high else self.ratios <= threshold
        codes = np.array(self.known)[chosen]
        names = [name for name, each in zip(self.names, chosen, strict=True) if each]
        shown = ", ".join(str(tuple(int(v) if v.is_integer() else v for v in name)) for name in names[:3])
        shown += f" and {len(names) - 3} more" if len(names) > 3 else ""
        view, parts = self.view, self.parts

        def coded(batch: Batch) -> Booleans:
            found = view.of(batch)
            places = np.minimum(np.searchsorted(codes, found), len(codes) - 1)
            return np.asarray(codes[places] == found)

        def one_by_one(batch: Batch) -> Booleans:  # the rarest value first: few rows are left after it
            found = np.zeros(len(batch), dtype=bool)
            for name in names:
                rows: NDArray[np.intp] | None = None
                for place in sorted(range(len(parts)), key=lambda place: self.shares[place].get(name[place], 0.0)):
                    column = parts[place].of(batch)
                    rows = np.flatnonzero(column == name[place]) if rows is None else rows[column[rows] == name[place]]
                    if not rows.size:
                        break
                found[rows] = True
            return found

        test = one_by_one if len(names) <= _FEW_NAMES and np.isfinite(names).all() else coded
        code = f"{self.view.code} in {{{', '.join(repr(pattern(name)) for name in names)}}}"
        return Event(f"the release is one of {shown}" if len(names) > 1 else f"the release is {shown}", code, test)
