"""The distribution that fits noisy marginals best, by least squares, among those that their tables can say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from metricdp.exact.arrays import Floats
from metricdp.exact.progress import Stopwatch
from metricdp.queries.synthetic_data.junction_tree import JunctionTree

__all__ = ["Fitted", "fit_marginals"]

_STILL = 1e-7
_LOOK_BACK = 25
_SMALL = 4_000_000


@dataclass(frozen=True)
class Fitted:
    """A distribution over all attributes.

    Attributes:
        tree: its tables.
        shares: the distribution of each table's attributes.
        total: how many records it stands for.
        distance: the sum of the squared differences from the noisy counts, each over its scale.
        steps: how many steps were made.
    """

    tree: JunctionTree
    shares: tuple[Floats, ...]
    total: float
    distance: float
    steps: int

    def counts(self, chosen: Sequence[int]) -> Floats:
        """The counts of a marginal."""
        return self.tree.of_set(self.shares, chosen) * self.total


class _ByTables:
    """How far the marginals of a distribution are from noisy counts, and steps towards them."""

    def __init__(
        self,
        tree: JunctionTree,
        sets: Sequence[tuple[int, ...]],
        noisy: Sequence[Floats],
        spreads: Sequence[float],
        total: float,
    ) -> None:
        self.tree, self.noisy, self.spreads, self.total = tree, noisy, spreads, total
        self.homes = [tree.home(chosen) for chosen in sets]
        self.away = [
            tuple(axis for axis, attribute in enumerate(tree.nodes[home].attributes) if attribute not in chosen)
            for home, chosen in zip(self.homes, sets, strict=True)
        ]

    def judged(self, potentials: Sequence[Floats]) -> tuple[float, list[Floats], list[Floats]]:
        """The distance, the differences over their scales, and the tables."""
        tables = self.tree.marginals(potentials)
        rests = [
            (tables[home].sum(axis=axes) * self.total - counts) / spread
            for home, axes, counts, spread in zip(self.homes, self.away, self.noisy, self.spreads, strict=True)
        ]
        return float(sum((rest**2).sum() for rest in rests)), rests, tables

    def step(self, potentials: Sequence[Floats], rests: Sequence[Floats], length: float) -> list[Floats]:
        """The potentials after a step against the differences."""
        moved = [table.copy() for table in potentials]
        for home, axes, rest, spread in zip(self.homes, self.away, rests, self.spreads, strict=True):
            moved[home] -= np.expand_dims(rest * (length * self.total / spread), axes)
        return moved


class _ByMatrix(_ByTables):
    """The same for one small table: a matrix adds up all marginals at once."""

    def __init__(
        self,
        tree: JunctionTree,
        sets: Sequence[tuple[int, ...]],
        noisy: Sequence[Floats],
        spreads: Sequence[float],
        total: float,
    ) -> None:
        super().__init__(tree, sets, noisy, spreads, total)
        shape = [tree.shape[attribute] for attribute in tree.nodes[0].attributes]
        places = np.indices(shape).reshape(len(shape), -1)
        rows = []
        for axes, counts, spread in zip(self.away, noisy, spreads, strict=True):
            kept = [axis for axis in range(len(shape)) if axis not in axes]
            cell = np.ravel_multi_index([places[axis] for axis in kept], counts.shape)
            rows.append((cell == np.arange(counts.size)[:, np.newaxis]) * (total / spread))
        self.matrix = np.concatenate(rows)
        self.target = np.concatenate([counts.ravel() / spread for counts, spread in zip(noisy, spreads, strict=True)])

    def judged(self, potentials: Sequence[Floats]) -> tuple[float, list[Floats], list[Floats]]:
        """The distance, all differences over their scales in one array, and the table."""
        tables = self.tree.marginals(potentials)
        rest = self.matrix @ tables[0].ravel() - self.target
        return float(rest @ rest), [rest], tables

    def step(self, potentials: Sequence[Floats], rests: Sequence[Floats], length: float) -> list[Floats]:
        """The potentials after a step against the differences."""
        return [potentials[0] - length * (self.matrix.T @ rests[0]).reshape(potentials[0].shape)]


def fit_marginals(
    shape: Sequence[int],
    sets: Sequence[tuple[int, ...]],
    noisy: Sequence[Floats],
    scales: Sequence[float],
    total: float,
    *,
    most_steps: int = 3000,
    watch: Stopwatch | None = None,
) -> Fitted:
    """The distribution p of the exponential family of these marginals that minimises ``sum ((n p_S - a_S) / c_S)²``.

    Its marginals agree with one another and none is negative; of all distributions with those marginals it is the one
    of the largest entropy. Steps are mirror descent with momentum: ``theta_S -= eta (n p_S - a_S) n / c_S²``, eta grown
    while the distance falls and halved where it does not. It is computed from noisy counts alone.

    Args:
        shape: the number of cells of each attribute.
        sets: the attributes of each marginal.
        noisy: the counts a of each marginal.
        scales: c of the noise of each; 0 for counts without noise, which are then met closely.
        total: n.
        most_steps: after this many it ends.
        watch: the time limit, after which it ends with the best so far.

    >>> made = fit_marginals((2, 2), [(0,), (1,)], [np.array([6.0, 4.0]), np.array([12.0, -2.0])], [1.0, 1.0], 10.0)
    >>> made.counts((0,)).round(3).tolist(), bool(abs(made.counts((1,)) - [10, 0]).max() < 0.1)
    ([6.0, 4.0], True)
    """
    watch = watch or Stopwatch()
    tree = JunctionTree(shape, sets)
    least = min((scale for scale in scales if scale), default=1.0)
    spreads = [scale or least / 64 for scale in scales]
    ordered = [np.asarray(counts, dtype=np.float64) for counts in noisy]
    cells = sum(table.size for table in tree.zeros())
    small = len(tree.nodes) == 1 and cells * sum(counts.size for counts in ordered) <= _SMALL
    loss = (_ByMatrix if small else _ByTables)(tree, sets, ordered, spreads, total)
    judged, step = loss.judged, loss.step

    potentials = tree.zeros()
    value, rests, tables = judged(potentials)
    if total <= 0:
        return Fitted(tree, tuple(tables), 0.0, value, 0)
    length = 1 / (total**2 * sum(1 / spread**2 for spread in spreads))
    before, pace, history, steps = potentials, 1.0, [value], 0
    for steps in range(1, most_steps + 1):
        quicker = (1 + (1 + 4 * pace * pace) ** 0.5) / 2
        ahead = [now + (pace - 1) / quicker * (now - old) for now, old in zip(potentials, before, strict=True)]
        _, slopes, _ = judged(ahead) if pace > 1 else (value, rests, tables)
        moved = step(ahead, slopes, length)
        found = judged(moved)
        if found[0] <= value:
            before, potentials, pace, length = potentials, moved, quicker, length * 1.1
            value, rests, tables = found
        else:  # begin anew from here, with a shorter step
            before, pace, length = potentials, 1.0, length / (2 if pace == 1.0 else 1.3)
        history.append(value)
        if watch.over or (steps > _LOOK_BACK and history[-_LOOK_BACK - 1] - value <= _STILL * max(value, 1.0)):
            break
    return Fitted(tree, tuple(tables), float(total), value, steps)
