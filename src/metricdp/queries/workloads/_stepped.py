"""The limits of a workload of counts, by the steps that ways between its cells are made of."""

from __future__ import annotations

import itertools
import math

import numpy as np

from metricdp.exact.balls import Enclosure
from metricdp.queries.synthetic_data.steps import Clique, steps_of
from metricdp.queries.workloads._limits import Limits, Places
from metricdp.queries.workloads.workload import Workload

__all__ = ["stepped_limits"]

_MOST_ENTRIES = 60_000_000
_LARGEST = 1 << 40


def stepped_limits(workload: Workload) -> Limits | None:
    """The limits on all scales, each once; None where the steps are not known, or there are too many.

    A limit between two cells follows from those of the steps of a way between them that is as long as their distance:
    what is spent obeys the triangle inequality. Where a line has 120 cells, 119 steps stand for 7,140 pairs.
    """
    if workload.given.dtype.kind != "i" or int(np.abs(workload.given).max(initial=0)) >= _LARGEST:
        return None
    steps = steps_of(workload.space)
    if steps is None:
        return None
    found: list[tuple[Places, Enclosure]] = []
    entries = 0
    for step in steps:
        if isinstance(step, Clique):
            i, j = np.triu_indices(step.groups.shape[1], 1)
            left, right = step.groups[:, i].ravel(), step.groups[:, j].ravel()
        else:
            left, right = step.left, step.right
        entries += len(left) * len(workload)
        if entries > _MOST_ENTRIES:
            return None
        ends = workload.cells[int(left[0])], workload.cells[int(right[0])]
        distance = workload.space.metric.enclose(*ends)
        if distance.upper == 0:
            return None
        moved = np.abs(workload.given[:, left] - workload.given[:, right]).T
        moved = moved[moved.any(axis=1)]
        if distance.lower != math.inf and len(moved):
            found.append((np.unique(moved, axis=0), distance))
    if not found:
        return None
    rows, kinds = np.concatenate([part for part, _ in found]), [len(part) for part, _ in found]
    limit, query = np.nonzero(rows)
    if len(np.unique(query)) < len(workload):
        return None  # some queries need no noise
    numbers = list(itertools.chain.from_iterable([place] * size for place, size in enumerate(kinds)))
    return Limits(
        limit, query, rows[limit, query], (1,) * len(workload), tuple(distance for _, distance in found),
        np.array(numbers, dtype=np.int64),
    )  # fmt: skip
