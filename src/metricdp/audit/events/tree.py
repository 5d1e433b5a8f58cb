"""Trees of boxes: unions of boxes of several columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from metricdp.audit.boxes.box import Batch
from metricdp.audit.events.event import Event
from metricdp.audit.events.view import View
from metricdp.exact.arrays import Booleans, Floats

__all__ = ["Tree", "fit_tree"]

_MOST_ROWS = 60_000
_BINS = 32
_DEPTH = 6
_LEAST_LEAF = 40
_LEAST_GAIN = 3.0  # of log-likelihood, for another cut


@dataclass
class Node:
    """A box, cut in two or a leaf."""

    ratio: float
    column: int = -1
    cut: float = 0.0
    low: Node | None = None
    high: Node | None = None


@dataclass(frozen=True)
class Tree:
    """Boxes, each with its log-ratio: a cut is a finite union of boxes."""

    views: tuple[View, ...]
    root: Node = field(repr=False)
    holes: frozenset[int] = frozenset()
    both_sides: bool = True
    plain: bool = False
    hints: tuple[float, float] | None = None
    caution: float = 1.0

    def of(self, batch: Batch) -> Floats:
        """The log-ratio of each release's box."""
        scores = np.zeros(len(batch))
        cache: dict[int, Floats] = {}

        def visit(node: Node, rows: NDArray[np.intp]) -> None:
            if node.low is None or node.high is None:
                scores[rows] = node.ratio
                return
            if node.column not in cache:
                cache[node.column] = self.views[node.column].of(batch)
            high = cache[node.column][rows] > node.cut
            visit(node.high, rows[high])
            visit(node.low, rows[~high])

        visit(self.root, np.arange(len(batch)))
        return scores

    def event(self, threshold: float, high: bool) -> Event:
        """The union of the boxes beyond the threshold."""
        boxes: list[list[tuple[int, bool, float]]] = []

        def visit(node: Node, path: list[tuple[int, bool, float]]) -> None:
            if node.low is None or node.high is None:
                if (node.ratio >= threshold) if high else (node.ratio <= threshold):
                    boxes.append(path)
                return
            visit(node.low, [*path, (node.column, False, node.cut)])
            visit(node.high, [*path, (node.column, True, node.cut)])

        visit(self.root, [])
        words = " or ".join(
            " and ".join(
                f"{self.views[c].words} {'exceeds' if up else 'does not exceed'} {cut:.6g}" for c, up, cut in box
            )
            or "any release"
            for box in boxes[:3]
        ) + (f" or {len(boxes) - 3} more such boxes" if len(boxes) > 3 else "")
        code = " or ".join("(" + (" and ".join(self._side(*side) for side in box) or "True") + ")" for box in boxes)
        return Event(words, code, lambda batch: self.of(batch) >= threshold if high else self.of(batch) <= threshold)

    def _side(self, column: int, up: bool, cut: float) -> str:
        """One side of a cut as code; what is no number lies below."""
        code = self.views[column].code
        if up:
            return f"{code} > {cut!r}"
        return f"(m.missing(lambda: {code}) or {code} <= {cut!r})" if column in self.holes else f"{code} <= {cut!r}"


def fit_tree(views: Sequence[View], columns: Sequence[Floats], marks: Booleans) -> list[Tree]:
    """A tree, or nothing where no cut tells the secrets apart.

    Args:
        views: columns of numbers.
        columns: what they gave for some releases.
        marks: which of those had the secret x.
    """
    part, labels = [column[:_MOST_ROWS] for column in columns], marks[:_MOST_ROWS]
    root = _grown(part, labels)
    if root.low is None:
        return []
    holes = frozenset(place for place, column in enumerate(part) if np.isnan(column).any())
    return [Tree(tuple(views), root, holes)]


def _grown(columns: Sequence[Floats], marks: Booleans) -> Node:
    cuts = []
    bins = np.empty((len(columns), len(marks)), dtype=np.int16)
    for number, column in enumerate(columns):
        usable = np.sort(column[~np.isnan(column)])
        edges = (
            np.unique(usable[np.linspace(0, usable.size - 1, _BINS + 1).astype(int)[:-1]]) if usable.size else usable
        )
        cuts.append(edges)
        bins[number] = np.searchsorted(edges, column, side="left")  # bin b holds edges[b-1] < value <= edges[b]
        bins[number, np.isnan(column)] = 0  # NaN exceeds nothing
    width = max(edges.size for edges in cuts) + 1
    totals = np.array([np.count_nonzero(~marks), np.count_nonzero(marks)], dtype=np.float64)

    def ratio(less: float, more: float) -> float:
        return float(np.log((more + 0.5) / (totals[1] + 1)) - np.log((less + 0.5) / (totals[0] + 1)))

    def grow(rows: NDArray[np.intp], depth: int) -> Node:
        labels = marks[rows].astype(np.int64)
        more, less = float(labels.sum()), float(len(rows) - labels.sum())
        node = Node(ratio(less, more))
        if depth == 0 or len(rows) < 2 * _LEAST_LEAF or not more or not less:
            return node
        here = bins[:, rows]
        counts = np.stack([np.bincount(place * 2 + labels, minlength=2 * width) for place in here])
        low = counts.reshape(len(here), width, 2).cumsum(axis=1)[:, :-1].astype(np.float64)
        high = np.array([less, more]) - low
        gain = _information(low[..., 1], low[..., 0]) + _information(high[..., 1], high[..., 0])
        gain[(low.sum(axis=2) < _LEAST_LEAF) | (high.sum(axis=2) < _LEAST_LEAF)] = -np.inf
        number, top = np.unravel_index(int(np.argmax(gain)), gain.shape)
        if gain[number, top] - _information(np.array([more]), np.array([less]))[0] <= _LEAST_GAIN:
            return node
        node.column, node.cut = int(number), float(cuts[number][top])
        up = here[number] > top
        node.low, node.high = grow(rows[~up], depth - 1), grow(rows[up], depth - 1)
        return node

    return grow(np.arange(len(marks)), _DEPTH)


def _information(more: Floats, less: Floats) -> Floats:
    """The log-likelihood of labels with their own share."""
    total = more + less
    with np.errstate(divide="ignore", invalid="ignore"):
        value = np.where(more > 0, more * np.log(more / total), 0.0) + np.where(
            less > 0, less * np.log(less / total), 0.0
        )
    return np.asarray(value)
