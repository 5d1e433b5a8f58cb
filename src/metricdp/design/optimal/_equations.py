"""Systems of equations of thousands of points whose matrix falls with distance, without cubes.

``exp(-d)`` of places in a plane is nearly the inverse of a sparse matrix: given its neighbours, a place tells next to
nothing about those farther away. So a factor of the inverse is made row by row, each from the neighbours that come
before it in a scattered order, and conjugate gradients with it end after some ten products with the matrix. Nothing
here proves anything: whoever uses a solution says what is left over.
"""

from __future__ import annotations

import numpy as np

from metricdp.exact.arrays import Floats, Places

__all__ = ["EXACT", "Factor", "falling_solution", "near_factor"]

Factor = tuple[Places, Floats]
"""For each point some others, itself last, and numbers for them."""


_NEIGHBOURS = 15
_GOLDEN = 0.6180339887498949
_MOST_STEPS = 60
EXACT = 2e-14
_GOOD = 1e-12


@np.errstate(all="ignore")  # what is not finite is caught below
def falling_solution(
    matrix: Floats, nearest: Places, right: Floats, tolerance: float = EXACT, factor: Factor | None = None
) -> Floats | None:
    """The x with ``matrix @ x = right``, to a relative tolerance; None where that is not reached.

    Args:
        matrix: symmetric, 1 on the diagonal, falling with a distance.
        nearest: for each point, it and the nearest others, in their order.
        right: one column for each system.
        tolerance: by what share of the largest right side an equation may be missed.
        factor: of the matrix, where it is known.

    >>> matrix = np.exp(-np.abs(np.subtract.outer(np.arange(3.0), np.arange(3.0))))
    >>> x = falling_solution(matrix, np.array([[0, 1, 2], [1, 0, 2], [2, 1, 0]]), np.ones((3, 1)))
    >>> (matrix @ x).round(12).ravel().tolist()
    [1.0, 1.0, 1.0]
    """
    found = near_factor(matrix, nearest) if factor is None else factor
    if found is None:
        return None
    places, rows = found
    size = np.abs(right).max(axis=0)

    def improved(residual: Floats) -> Floats:
        inner = np.einsum("ik,ikc->ic", rows, residual[places])
        spread = [(rows * column[:, None]).ravel() for column in inner.T]
        return np.stack([np.bincount(places.ravel(), part, minlength=len(matrix)) for part in spread], axis=1)

    x, residual = np.zeros(right.shape), right.astype(np.float64)
    direction = ahead = improved(residual)
    worth = (residual * ahead).sum(axis=0)
    for _ in range(_MOST_STEPS):
        product = matrix @ direction
        step = worth / np.maximum((direction * product).sum(axis=0), 1e-300)
        x += step * direction
        residual -= step * product
        left = np.abs(residual).max(axis=0)
        if not np.isfinite(left).all():
            return None
        if (left <= tolerance * size).all():
            break
        ahead = improved(residual)
        before, worth = worth, (residual * ahead).sum(axis=0)
        direction = ahead + worth / np.maximum(before, 1e-300) * direction
    good = (np.abs(right - matrix @ x).max(axis=0) <= max(_GOOD, 2 * tolerance) * size).all()
    return x if good else None


@np.errstate(all="ignore")
def near_factor(matrix: Floats, nearest: Places) -> Factor | None:
    """For each point some before it, itself last, and a row of a factor G with ``G^T G`` nearly the inverse.

    A row solves the system of these points alone, so it takes as long as they are many, cubed.
    """
    count = len(matrix)
    kept = min(_NEIGHBOURS, count - 1)
    order = np.argsort(np.arange(1, count + 1) * _GOLDEN % 1, kind="stable")
    rank = np.empty(count, dtype=np.int64)
    rank[order] = np.arange(count)
    before = rank[nearest] < rank[:, None]
    first = np.argsort(~before, axis=1, kind="stable")[:, :kept]  # they stand in order of distance
    places, known = np.take_along_axis(nearest, first, axis=1), np.take_along_axis(before, first, axis=1)
    for i in np.flatnonzero(~known.all(axis=1)).tolist():  # early in the order: from all before it
        earlier = order[: rank[i]]
        if len(earlier) > kept:
            earlier = earlier[np.argpartition(-matrix[i, earlier], kept - 1)[:kept]]
        places[i], known[i] = i, np.arange(kept) < len(earlier)
        places[i, : len(earlier)] = earlier
    places = np.concatenate([places, np.arange(count)[:, None]], axis=1)
    known = np.concatenate([known, np.ones((count, 1), dtype=bool)], axis=1)
    systems = matrix[places[:, :, None], places[:, None, :]] * (known[:, :, None] & known[:, None, :])
    diagonal = np.arange(kept + 1)
    systems[:, diagonal, diagonal] = 1.0
    right = np.zeros((count, kept + 1, 1))
    right[:, -1] = 1.0
    try:
        rows = np.linalg.solve(systems, right)[:, :, 0]
    except np.linalg.LinAlgError:
        return None
    last = rows[:, -1:]
    if not (np.isfinite(rows).all() and (last > 0).all()):
        return None
    return places, rows / np.sqrt(last) * known
