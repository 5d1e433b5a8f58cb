"""Ratios that change little from cell to cell: counts with most of their noise taken out.

Where two laws differ by a few percent, thresholds that are chosen by counts are chosen by luck. A row of cells along a
score has more to say: its ratios are constant in a few pieces, or they change smoothly. Which of these, and how
smoothly, is decided by the likelihood of the counts less half the logarithm of their number for each free parameter.
"""

from __future__ import annotations

import math

import numpy as np

from metricdp.audit.pace import one_thread
from metricdp.exact.arrays import Floats

__all__ = ["shrunk", "smoothed"]


_STRENGTHS = np.logspace(-6, 3, 10)
_STEPS = 8
_WIDE = 2.0  # the spread of log-ratios of another kind


def smoothed(more: Floats, less: Floats) -> tuple[Floats, Floats]:
    """The counts of two secrets in a row of cells, with smoothed ratios; each cell keeps its sum.

    >>> more, less = smoothed(np.array([90.0, 110, 105, 95]), np.array([110.0, 90, 95, 105]))
    >>> more.round().tolist()
    [100.0, 100.0, 100.0, 100.0]
    """
    price = math.log(max(float((more + less).sum()), 2.0)) / 2
    pieces, explained = _in_pieces(more, less, price)
    with one_thread():
        smooth, better = _smooth(more, less, price)
    chance = smooth if better > explained else pieces
    total = more + less
    return total * chance, total * (1 - chance)


def shrunk(more: Floats, less: Floats) -> tuple[Floats, Floats]:
    """The counts of two secrets in a few cells, with log-ratios drawn towards each other; each cell keeps its sum.

    The sizes of the true log-ratios are taken for draws from a normal law around c, whose spread τ explains the counts
    best: a size with standard error σ keeps the part τ²/(τ² + σ²) of how far it is from c. That centre is 0, unless one
    size for all explains the counts much better, as where noise has the same ratio everywhere. One of k cells may be of
    another kind, as a rare cell is beside a common one that hides nothing: with odds of 1 : k before it was seen, its
    ratio is a draw from a wide law instead.

    >>> more, less = shrunk(np.array([900.0, 3.0]), np.array([700.0, 1.0]))
    >>> bool(more[1] < 3)
    True
    """
    totals = more.sum(), less.sum()
    ratios = np.log((more + 0.5) / (totals[0] + 1)) - np.log((less + 0.5) / (totals[1] + 1))
    variance = 1 / (more + 0.5) + 1 / (less + 0.5)
    sizes = np.abs(ratios)
    centre, spread = _spread_of(sizes, variance)
    offset = math.log((totals[0] + 1) / (totals[1] + 1))
    apart = _deviance(more, less, np.sign(ratios) * centre + offset) * variance  # in place of a normal law's square
    usually = -0.5 * (np.log(spread + variance) + apart / (spread + variance))
    against = usually - _likely(ratios, _WIDE**2 + variance)
    odd = 1 / (1 + len(ratios) * np.exp(np.clip(against, -40, 40)))
    usual = centre + (sizes - centre) * spread / (spread + variance)
    likely = (1 - odd) * usual + odd * sizes * _WIDE**2 / (_WIDE**2 + variance)
    drawn = np.sign(ratios) * likely + offset
    chance = 1 / (1 + np.exp(-np.clip(drawn, -40, 40)))
    total = more + less
    return total * chance, total * (1 - chance)


def _deviance(more: Floats, less: Floats, odds: Floats) -> Floats:
    """How much less likely counts are under some log-odds than under their own, doubled; exact where one is 0."""
    own = _likelihood(more, less)
    return np.asarray(2 * (own + more * np.logaddexp(0, -odds) + less * np.logaddexp(0, odds)))


def _spread_of(sizes: Floats, variance: Floats) -> tuple[float, float]:
    """The centre of the sizes of log-ratios, and their variance around it."""
    spreads = np.logspace(-3, 1.5, 40)[:, None] ** 2
    weights = 1 / (spreads + variance)
    centres = (weights * sizes).sum(axis=1, keepdims=True) / weights.sum(axis=1, keepdims=True)
    around_none = _likely(sizes, spreads + variance).sum(axis=1)
    around_one = _likely(sizes - centres, spreads + variance).sum(axis=1) - math.log(len(sizes))
    none, one = int(np.argmax(around_none)), int(np.argmax(around_one))
    if around_one[one] > around_none[none]:
        return float(centres[one, 0]), float(spreads[one, 0])
    return 0.0, float(spreads[none, 0])


def _likely(values: Floats, variance: Floats) -> Floats:
    """Logarithms of normal densities around 0, but for a constant."""
    return np.asarray(-0.5 * (np.log(variance) + values**2 / variance))


def _likelihood(more: Floats, less: Floats) -> Floats:
    """The largest log-likelihood of labels with one share."""
    total = more + less
    with np.errstate(divide="ignore", invalid="ignore"):
        first = np.where(more > 0, more * np.log(more / total), 0.0)
        second = np.where(less > 0, less * np.log(less / total), 0.0)
    return np.asarray(first + second)


def _in_pieces(more: Floats, less: Floats, price: float) -> tuple[Floats, float]:
    """One, two or three pieces with one share each, the best of all; and how well it explains the counts."""
    size = len(more)
    first, second = (np.concatenate([[0.0], np.cumsum(counts)]) for counts in (more, less))
    left = _likelihood(first, second)
    right = _likelihood(first[-1] - first, second[-1] - second)
    middle = _likelihood(first[None, :] - first[:, None], second[None, :] - second[:, None])
    whole = left[:, None] + middle + right[None, :]
    whole[np.tri(size + 1, k=-1, dtype=bool)] = -math.inf
    ends = np.arange(size + 1)
    inner = (ends > 0) & (ends < size)
    free = 1 + 2 * (inner[:, None].astype(float) + inner[None, :]) - 2 * np.eye(size + 1) * inner
    score = whole - price * free
    one, two = np.unravel_index(int(np.argmax(score)), score.shape)
    chance = np.empty(size)
    for start, end in ((0, one), (one, two), (two, size)):
        if end > start:
            part = slice(start, end)
            chance[part] = more[part].sum() / max(more[part].sum() + less[part].sum(), 1.0)
    return chance, float(score[one, two])


def _smooth(more: Floats, less: Floats, price: float) -> tuple[Floats, float]:
    """Log-ratios f(u) with the largest likelihood less λ ∫ f''(u)² du, for the best λ; and how well it does.

    u is the share of all releases up to a cell.
    """
    total = more + less
    size = len(total)
    if size < 3:
        return np.full(size, 0.5), -math.inf
    middles = (np.cumsum(total) - total / 2) / total.sum()
    gaps = np.maximum(np.diff(middles), 1e-9)
    slopes = np.diff(np.eye(size), axis=0) / gaps[:, None]
    width = (gaps[1:] + gaps[:-1]) / 2
    bends = np.diff(slopes, axis=0) / np.sqrt(width)[:, None]
    penalty = bends.T @ bends
    start = math.log((more.sum() + 0.5) / (less.sum() + 0.5))
    best, found = -math.inf, np.full(size, 0.5)
    ratios = np.full(size, start)
    for strength in _STRENGTHS[::-1]:
        for _ in range(_STEPS):
            chance = 1 / (1 + np.exp(-np.clip(ratios, -30, 30)))
            weight = total * chance * (1 - chance) + 1e-9
            curvature = np.diag(weight) + strength * penalty
            try:
                step = np.linalg.solve(curvature, more - total * chance - strength * (penalty @ ratios))
            except np.linalg.LinAlgError:  # cells so near to each other that nothing is known of a bend between them
                return found, best
            ratios = ratios + np.clip(step, -2, 2)
            if np.abs(step).max() < 1e-6:
                break
        try:
            free = float(np.trace(np.linalg.solve(curvature, np.diag(weight))))
        except np.linalg.LinAlgError:
            return found, best
        score = float((more * ratios - total * np.logaddexp(0, ratios)).sum()) - price * free
        if score > best:
            best, found = score, 1 / (1 + np.exp(-np.clip(ratios, -30, 30)))
    return found, best
