"""Views of releases: the numbers and the labels that events speak about.

A view turns a batch of releases into one column, and says in words and in code what it looked at. In the code, ``z`` is
one release, ``x`` and ``y`` are the two secrets, ``m`` is `metricdp.audit.events.machine`, ``t`` is
`metricdp.audit.events.things`, ``d`` the metric.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metricdp.audit.boxes.box import Batch
from metricdp.audit.events import machine
from metricdp.audit.events.points import are_gathered, as_points, medians, points_of
from metricdp.audit.events.thing_views import label_views, thing_views
from metricdp.audit.events.view import View
from metricdp.exact.arrays import Booleans, Floats
from metricdp.metrics import Metric

__all__ = ["View", "label_views", "number_views"]


_MOST_COORDINATES = 64
_BEYOND = 0.97
_MOST_FLAGS = 6
_FOR_MEDIANS = 5_000


def number_views(batch: Batch, pair: tuple[Any, Any], metric: Metric | None, timed: bool) -> list[View]:
    """The columns of numbers that such releases have."""
    views: list[View] = []
    if timed and batch.seconds is not None:
        views.append(View("the seconds that a call took", "seconds", _seconds))
    points = as_points(batch.releases)
    if points is not None:
        size = points.shape[1]
        if size == 1:
            views += _of_a_number(isinstance(batch.releases, np.ndarray) and batch.releases.dtype.kind == "M", pair)
        else:
            views += _of_a_point(points, pair, metric)
        views += _by_metric(points, pair, metric)
        if are_gathered(batch.releases):
            gathered = "m.numbers(z)[0]" if size == 1 else "m.numbers(z)"
            views = [replace(view, code=re.sub(r"\bz\b", gathered, view.code)) for view in views]
    return views if isinstance(batch.releases, np.ndarray) else views + thing_views(batch.releases, points is None)


def _of_a_number(moments: bool, pair: tuple[Any, Any]) -> list[View]:
    def number(words: str, code: str, function: Callable[[Any], Any], near: bool = False) -> View:
        return View(words, code, lambda batch: function(points_of(batch, 1)[:, 0]), near=near, machine=not near)

    if moments:
        return [number("the moment", "m.moment(z)", lambda z: z, near=True)]
    secrets = [float(each) for each in pair if type(each) is not bool and machine.is_float(each)]
    hints = (secrets[0], secrets[1]) if len(secrets) == 2 else None
    return [
        replace(number("the release", "z", lambda z: z, near=True), hints=hints),
        number("the exponent of the lowest bit set", "m.lowest_bit(z)", machine.lowest_bit),
        number("the lowest four bits", "m.low_bits(z)", machine.low_bits),
        number("the decimals it needs", "m.decimals(z)", machine.decimals),
        number("whether it fits 32 bits", "m.is_single(z)", machine.is_single),
        number("the sign of a zero", "m.zero_sign(z)", machine.zero_sign),
        number("the bits of a NaN", "m.nan_bits(z)", machine.nan_bits),
    ]


def _of_a_point(points: Floats, pair: tuple[Any, Any], metric: Metric | None) -> list[View]:
    size = points.shape[1]
    views = [
        View(f"coordinate {j}", f"z[{j}]", _coordinate(j, size), near=True) for j in range(min(size, _MOST_COORDINATES))
    ]
    some = points[:_FOR_MEDIANS]
    middle, steps = medians(some), medians(np.diff(some, axis=1))
    views += [
        View("the sum", "np.sum(z)", lambda batch: points_of(batch, size).sum(axis=1)),
        View("the largest coordinate", "np.max(z)", lambda batch: points_of(batch, size).max(axis=1)),
        View("the smallest coordinate", "np.min(z)", lambda batch: points_of(batch, size).min(axis=1)),
        View(
            "the place of the largest",
            "m.first_largest(z)",
            lambda batch: machine.first_largest(points_of(batch, size)),
        ),
        View("how many different numbers", "m.distinct(z)", lambda batch: machine.distinct(points_of(batch, size))),
        View(
            "how many coordinates exceed their median",
            f"np.sum(np.asarray(z) > {_listed(middle)})",
            lambda batch: (points_of(batch, size) > middle).sum(axis=1).astype(np.float64),
        ),
        View(
            "how many steps between coordinates exceed their median",
            f"np.sum(np.diff(z) > {_listed(steps)})",
            lambda batch: (np.diff(points_of(batch, size), axis=1) > steps).sum(axis=1).astype(np.float64),
        ),
        View(
            "the lowest bit set in any coordinate",
            "np.min(m.lowest_bit(np.asarray(z)))",
            lambda batch: machine.lowest_bit(points_of(batch, size)).min(axis=1),
            machine=True,
        ),
        View(
            "the decimals that coordinates need",
            "np.max(m.decimals(np.asarray(z)))",
            lambda batch: machine.decimals(points_of(batch, size)).max(axis=1),
            machine=True,
        ),
    ]
    return views + _beside_flags(points) + _nearer(size, pair, "" if metric is None else metric.unit.kind)


def _beside_flags(points: Floats) -> list[View]:
    """The numbers in releases that mix numbers with flags, such as -1 for "no answer": the first, the second, where."""
    size = points.shape[1]
    values, counts = np.unique(points[:5000], return_counts=True)
    flags = np.array([value for value in values[counts > counts.sum() // 50] if not np.isnan(value)])
    if not 0 < flags.size <= _MOST_FLAGS or not flags.size < len(values) // 2:
        return []
    code = _listed(flags)

    def nth(number: int, part: int) -> Callable[[Batch], NDArray[Any]]:
        def column(batch: Batch) -> NDArray[Any]:  # place and value are found together
            known = batch.__dict__.setdefault("_nth", {})
            if (code, number) not in known:
                known[code, number] = machine.nth(points_of(batch, size), flags, number)
            return np.asarray(known[code, number][part], dtype=np.float64)

        return column

    views = [
        View(
            "how many numbers are no flags",
            f"m.numbers_among(z, {code})",
            lambda batch: np.asarray(machine.numbers_among(points_of(batch, size), flags), dtype=np.float64),
        )
    ]
    for number, name in enumerate(("first", "second")):
        views += [
            View(
                f"the {name} number that is no flag",
                f"m.nth_number(z, {code}, {number})",
                nth(number, 1),
                near=True,
            ),
            View(
                f"the place of the {name} number that is no flag",
                f"m.nth_place(z, {code}, {number})",
                nth(number, 0),
                near=True,
            ),
        ]
    return views


def _nearer(size: int, pair: tuple[Any, Any], kind: str) -> list[View]:
    """How much nearer a release is to one secret than to the other, in several norms."""
    secrets = [as_points([secret]) for secret in pair]
    if any(secret is None or secret.shape[1] not in (1, size) or np.isnan(secret).any() for secret in secrets):
        return []
    first, second = (np.broadcast_to(secret[0], (size,)) for secret in secrets if secret is not None)

    differ = np.flatnonzero(first != second)

    def nearer(order: float) -> Callable[[Batch], NDArray[Any]]:
        kept = differ if order == 1 else np.arange(size)  # in L1, the others add the same to both
        one, two = first[kept], second[kept]

        def column(
            batch: Batch,
        ) -> Floats:  # to nine digits, so that it is about the numbers and not about their floats
            points = points_of(batch, size)
            points = points if kept.size == size else points[:, kept]
            return np.asarray(np.rint((_norms(points, two, order) - _norms(points, one, order)) * 1e9) / 1e9)

        return column

    views = []
    for order, name, own in ((1.0, "L1", "manhattan"), (2.0, "L2", "euclidean"), (np.inf, "L∞", "chebyshev")):
        views.append(
            View(
                f"how much nearer to x than to x' in {name}",
                f"np.rint((np.linalg.norm(np.asarray(z) - y, {_order(order)}) - "
                f"np.linalg.norm(np.asarray(z) - x, {_order(order)})) * 1e9) / 1e9",
                nearer(order),
                hints=_sides(float(_norms(first[None, :], second, order)[0])) if kind == own else None,
            )
        )
    views.append(
        View(
            "how much nearer its steps are to x than to x' in L1",
            "np.rint(np.sum(np.abs(np.diff(z, prepend=0) - y) - np.abs(np.diff(z, prepend=0) - x)) * 1e9) / 1e9",
            lambda batch: (
                np.rint(
                    (
                        _norms(np.diff(points_of(batch, size), prepend=0, axis=1), second, 1)
                        - _norms(np.diff(points_of(batch, size), prepend=0, axis=1), first, 1)
                    )
                    * 1e9
                )
                / 1e9
            ),
        )
    )
    return views


def _sides(distance: float) -> tuple[float, float]:
    """A release that is nearer by nearly the whole distance lies beyond a secret, as seen from the other."""
    return _BEYOND * distance, -_BEYOND * distance


def _order(order: float) -> str:
    return "np.inf" if np.isinf(order) else f"{order:.0f}"


def _norms(points: Floats, centre: Floats, order: float) -> Floats:
    """How far points are from a centre; column by column, which is many times as quick as row by row."""
    found = np.zeros(len(points))
    for column, middle in zip(points.T, centre, strict=True):
        size = column - middle
        if order == 2:
            found += size * size
        elif order == 1:
            found += np.abs(size, out=size)
        else:
            np.maximum(found, np.abs(size, out=size), out=found)
    return np.sqrt(found) if order == 2 else found


def _by_metric(points: Floats, pair: tuple[Any, Any], metric: Metric | None) -> list[View]:
    """How much nearer a release is to one secret by the metric itself, where releases are points of it."""
    if metric is None:
        return []
    size = points.shape[1]
    unit = metric.unit

    def column(batch: Batch) -> Floats:
        rows = points_of(batch, size)
        good: Booleans = np.logical_not(np.isnan(rows).any(axis=1))
        found = np.full(len(rows), np.nan)
        for start in range(0, len(rows), 1 << 14):
            part = slice(start, start + (1 << 14))
            if good[part].any():
                usable = rows[part][good[part]]
                distances = unit.pairwise(usable[:, 0] if size == 1 else usable, list(pair))
                block = found[part]
                block[good[part]] = distances[:, 1] - distances[:, 0]
        return found

    if not unit.geodesic or unit.norm is not None:
        return []  # said already, quicker
    try:
        column(Batch(points[:8]))
    except Exception:
        return []
    hints = _sides(float(unit(*pair)))
    return [View("how much nearer to x than to x'", "d.unit(z, y) - d.unit(z, x)", column, hints=hints)]


def _coordinate(j: int, size: int) -> Callable[[Batch], NDArray[Any]]:
    def column(batch: Batch) -> NDArray[Any]:
        releases = batch.releases
        if isinstance(releases, np.ndarray) and releases.ndim == 2 and releases.shape[1] == size:
            return np.asarray(releases[:, j], dtype=np.float64)  # the others may not be needed
        return points_of(batch, size)[:, j]

    return column


def _seconds(batch: Batch) -> NDArray[Any]:
    return np.full(len(batch), np.nan) if batch.seconds is None else batch.seconds


def _listed(values: Floats) -> str:
    return "np.array([" + ", ".join(repr(float(value)) for value in values) + "])"
