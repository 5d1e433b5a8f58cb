"""Bits in the middle of floats, and remainders on a grid, where two secrets differ in them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metricdp.audit.boxes.box import Batch
from metricdp.audit.events import machine
from metricdp.audit.events.view import View, each
from metricdp.exact.arrays import Booleans, Floats

__all__ = ["residue_views"]

_MOST_COLUMNS = 4
_LOOKED_AT = 8192
_FEWEST = 100
_BITS = slice(4, 48)  # the lowest are looked at anyway, and the highest are the number
_SURE = 6.0  # standard errors
_STEPS = (2, 3, 5, 7, 10)
_MOST_STEPS = 4096
_FINEST = 30
_LONGEST = 2.0**52
_CELLS, _FEW = 48, 40
_MORE = 0.5  # of what the number alone tells: less is told by the number


def residue_views(near: Sequence[View], batch: Batch, marks: Booleans) -> list[View]:
    """One bit and one remainder of each number, where two secrets differ in them by more than luck explains."""
    found: list[View] = []
    for view in near[:_MOST_COLUMNS]:
        column = view.of(batch)[:_LOOKED_AT]
        good = np.isfinite(column)
        if np.count_nonzero(good) < _FEWEST:
            continue
        labels, values = marks[:_LOOKED_AT][good], np.ascontiguousarray(column[good])
        if labels.all() or not labels.any():
            continue
        cells = np.unique(np.quantile(values, np.linspace(0, 1, _CELLS + 1)[1:-1], method="lower"))
        if len(np.unique(values)) <= _FEW and _integers(batch) is None:
            continue  # every number is looked at by itself
        plain = _excess(np.searchsorted(cells, values), labels)  # what the number alone tells
        found += [*_bit(view, values, labels, plain), *_remainder(view, batch, values, labels, good, plain)]
    return found


def _bit(view: View, values: Floats, labels: Booleans, plain: float) -> list[View]:
    bits = np.unpackbits(values.view(np.uint8).reshape(len(values), 8), axis=1, bitorder="little")[:, _BITS]
    shares = [bits[side].mean(axis=0) for side in (labels, ~labels)]
    together, counts = bits.mean(axis=0), (np.count_nonzero(labels), np.count_nonzero(~labels))
    error = np.sqrt(together * (1 - together) * (1 / counts[0] + 1 / counts[1])) + 1e-9
    sure = abs(shares[0] - shares[1]) / error
    best = int(np.argmax(sure))
    if sure[best] < _SURE or sure[best] ** 2 < _MORE * plain:
        return []
    place = best + _BITS.start
    words, code = f"bit {place} of {view.words}", f"m.bit({view.code}, {place})"
    return [View(words, code, lambda batch: machine.bit(view.of(batch), place), machine=True)]


def _remainder(view: View, batch: Batch, values: Floats, labels: Booleans, good: Booleans, plain: float) -> list[View]:
    """The remainder of the number of steps of a grid by a few, or by what the steps of one secret have in common."""
    whole, unit = _integers(batch), 1.0
    steps: NDArray[Any]
    if whole is not None:
        steps = np.array(whole[: len(good)], dtype=object)[good]
    else:
        unit = _unit(values)
        if not unit or np.abs(values).max() > _LONGEST * unit:
            return []
        steps = np.rint(values / unit).astype(np.int64)
    every, parts = _common(steps), [_common(steps[side]) for side in (labels, ~labels)]
    if every == 0:
        return []
    candidates = {every * step for step in _STEPS} | {part for part in parts if part > every}
    best, found = _MORE * plain, 0
    for size in sorted(size for size in candidates if size // every <= _MOST_STEPS):
        excess = _excess((steps % size // every).astype(np.int64), labels)
        if excess > best * 1.1:
            best, found = excess, int(size)
    if not found:
        return []
    words = f"the remainder of {view.words} by {found * unit:.6g}"
    if whole is not None:
        return [View(words, f"z % {found}", each(partial(_rest, found)), machine=True)]
    code = f"m.remainder({view.code}, {unit!r}, {found})"
    return [View(words, code, lambda batch: machine.remainder(view.of(batch), unit, found), machine=True)]


def _rest(size: int, release: Any) -> float:
    return float(release % size) if isinstance(release, int) else math.nan


def _integers(batch: Batch) -> list[Any] | None:
    """The releases, where they are integers beyond those that floats hold."""
    releases = batch.releases
    if isinstance(releases, np.ndarray) or not all(type(release) is int for release in releases[:_LOOKED_AT]):
        return None
    some = list(releases[:_LOOKED_AT])
    return some if max(map(abs, some)) > _LONGEST else None


def _unit(values: Floats) -> float:
    """The width of a grid that numbers lie on, binary or decimal; 0 where there is none that is not fine."""
    finest = float(np.min(machine.lowest_bit(values)))
    if finest == 9999 or finest >= 0:
        return 1.0
    if finest >= -_FINEST:
        return float(2.0**finest)
    digits = float(np.max(machine.decimals(values)))
    return 0.0 if digits > 8 else float(10.0**-digits)


def _common(steps: NDArray[Any]) -> int:
    """The greatest common divisor of all differences."""
    return int(np.gcd.reduce(steps - steps[0]))


def _excess(rest: NDArray[np.int64], labels: Booleans) -> float:
    """By how much remainders differ, per remainder; 0 where luck explains it."""
    counts = np.stack([np.bincount(rest[side], minlength=int(rest.max()) + 1) for side in (labels, ~labels)])
    counts = counts[:, counts.sum(axis=0) > 0].astype(np.float64)
    expected = counts.sum(axis=1, keepdims=True) * counts.sum(axis=0) / counts.sum()
    statistic, freedom = float(((counts - expected) ** 2 / expected).sum()), counts.shape[1] - 1
    return statistic if freedom and statistic > freedom + _SURE * math.sqrt(2 * freedom) + 20 else 0.0
