"""What points enclose: the corners of their convex hull, in the plane and in space."""

from __future__ import annotations

import itertools

import numpy as np

from metricdp.exact.arrays import Floats

__all__ = ["faces_in_space", "ring_in_plane"]

_NEAR = 1e-9
_MOST = 70
"""Points in space whose faces are looked for, by trying all planes through three of them."""


def ring_in_plane(points: Floats) -> list[int]:
    """The corners of the convex hull of points in the plane, one after the other against the clock.

    >>> import numpy as np
    >>> ring_in_plane(np.array([[0, 0], [2, 0], [1, 1], [2, 2], [0, 2]], dtype=float))
    [0, 1, 3, 4]
    """
    order = sorted(range(len(points)), key=lambda place: tuple(points[place]))

    def chain(places: list[int]) -> list[int]:
        kept: list[int] = []
        for place in places:
            while len(kept) > 1 and _turn(points[kept[-2]], points[kept[-1]], points[place]) <= _NEAR:
                kept.pop()
            kept.append(place)
        return kept

    lower, upper = chain(order), chain(order[::-1])
    return lower[:-1] + upper[:-1] if len(points) > 1 else order


def faces_in_space(points: Floats) -> list[list[int]]:
    """The faces of the convex hull of points in space, each as a ring of its corners.

    Points that all lie in one plane have one face. Only the first 70 points are looked at.

    >>> import numpy as np
    >>> cube = np.array(list(itertools.product((0, 1), repeat=3)), dtype=float)
    >>> sorted(len(face) for face in faces_in_space(cube))
    [4, 4, 4, 4, 4, 4]
    """
    points = np.asarray(points, dtype=np.float64)[:_MOST]
    triples = np.array(list(itertools.combinations(range(len(points)), 3)))
    if not len(triples):
        return []
    first, second, third = points[triples].transpose(1, 0, 2)
    normals = np.cross(second - first, third - first)
    lengths = np.linalg.norm(normals, axis=1)
    wide = lengths > _NEAR
    normals, first = normals[wide] / lengths[wide, None], first[wide]
    heights = normals @ points.T - (normals * first).sum(axis=1)[:, None]
    on_one_side = (heights <= _NEAR).all(axis=1) | (heights >= -_NEAR).all(axis=1)
    rings: dict[frozenset[int], list[int]] = {}
    for normal, height in zip(normals[on_one_side], heights[on_one_side], strict=True):
        members = np.flatnonzero(np.abs(height) <= _NEAR)
        rings.setdefault(frozenset(members.tolist()), _ring(points, members, normal))
    return list(rings.values())


def _ring(points: Floats, members: np.ndarray[tuple[int, ...], np.dtype[np.intp]], normal: Floats) -> list[int]:
    away = points[members] - points[members].mean(axis=0)
    across = away[int(np.linalg.norm(away, axis=1).argmax())]
    across = across / np.linalg.norm(across)
    flat = np.column_stack([away @ across, away @ np.cross(normal, across)])
    return [int(members[place]) for place in ring_in_plane(flat)]


def _turn(one: Floats, two: Floats, three: Floats) -> float:
    a, b = two - one, three - one
    return float(a[0] * b[1] - a[1] * b[0])
