"""A percentile drawn by rank: candidates near it in records are likelier, exactly, and a second draw says how near."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from metricdp.exact.exponential_choice import exponential_choice, whole_below
from metricdp.exact.permute_and_flip import permute_and_flip
from metricdp.queries.select.rank_scores import Pieces, Places, RankScores, ValueTally

__all__ = ["RankChoice", "WidthChoice"]


@dataclass(frozen=True)
class RankChoice:
    """Permute and flip over ranks: candidates in random order, the first whose coin of ``exp(-rate loss)`` comes up.

    Losses count from the least of them. It is the candidate with the greatest ``E(t) - rate loss(t)``, where the E are
    independent exponential variables. No candidate that is off is drawn more often than by the exponential mechanism.

    Attributes:
        scores: the losses of the candidates.
        rate: for each record that a candidate is off.

    Guarantee:
        Where one record changes, the losses of any two candidates move against each other by the bounds r of
        `RankScores` at most. The draw does not change where one number is added to all losses, so let them grow by
        between 0 and r. Given all other variables, t is drawn where E(t) exceeds a number, which moves by ``rate r`` at
        most; so does then the chance, by a factor ``exp(rate r)``.

    References:
        McKenna, Sheldon 2020, Theorem 1 and Proposition 4 (monotone scores); paper 4, section 2.3 under a metric.

    >>> from metricdp.queries.select.rank_scores import RankTarget
    >>> choice = RankChoice(RankScores(RankTarget(Fraction(50)), places=9), Fraction(1000))
    >>> choice.draw(ValueTally(np.array([2, 6, 7]), np.array([1, 1, 1])))
    6
    """

    scores: RankScores
    rate: Fraction

    def draw(self, tally: ValueTally) -> int:
        """A place."""
        pieces = self.scores.pieces(tally)
        piece, place = drawn(pieces, self.rate, permute_and_flip)
        return int(pieces.starts[piece]) + place


def drawn(pieces: Pieces, rate: Fraction, choice: Callable[[Any, Any, Fraction], int]) -> tuple[int, int]:
    """One of the pieces and a place in it, by a choice among losses."""
    losses, classes = np.unique(pieces.losses, return_inverse=True)
    counts = np.zeros(len(losses), dtype=np.int64)
    np.add.at(counts, classes, pieces.counts)
    chosen = choice(losses, counts, rate * pieces.unit)
    inside = np.flatnonzero(classes == chosen)
    ends = np.cumsum(pieces.counts[inside])
    place = whole_below(int(ends[-1]))
    piece = int(np.searchsorted(ends, place, side="right"))
    return int(inside[piece]), place - (int(ends[piece - 1]) if piece else 0)


@dataclass(frozen=True)
class WidthChoice:
    """How far from an answer the percentile is at most, drawn by rank too, by the exponential mechanism.

    For a width w, the percentile is within w of the answer t where ``f(w) = min(U(t + w) - T, T - L(t - w))`` is not
    negative; a side that reaches the end of the line is not looked at. The width is drawn from a public list, to be
    the first for which f(w) reaches ``slack``: with weights ``exp(-rate loss)``, where the loss is ``slack - f(w)``
    while that is positive, and then a quarter of what f exceeded the slack by at the width before: too wide is better
    than too narrow. The first that reaches it has no loss, however far f jumps there, as it does where many records
    share a value. The whole line, which holds the percentile for certain, has the weight ``many exp(-rate slack)``.

    Of a maximum, which cannot be told from what lies beyond it, the bar reaches up to the bound in any case. What can
    be told is how far below the answer it is: ``f(w) = #(values >= t - w) - 1``, which is negative where no value
    is so near. The minimum is the same from the other end.

    The error bar misses only where f(w) is negative. Each of those widths weighs at most ``exp(-rate slack)``, so
    together they are drawn with a probability of at most their number by ``many``, whatever the table is.

    Attributes:
        scores: counts, and the rank that is looked for.
        rate: for each record.
        confidence: that the percentile is within the width.

    Guarantee:
        f moves by no more than L, U and T do against each other, which `RankScores` bounds; so do the losses, as each
        is made of f at one width or the one before. At the ends, f moves by between 0 and 1, or min(d / H, 1), the same
        way for all widths; so losses move by between -1 and 1/4 of that, 5/4 against each other.
    """

    scores: RankScores
    rate: Fraction
    confidence: Fraction

    @property
    def many(self) -> int:
        """The weight of the whole line, in widths that would miss: as often as the confidence asks for."""
        return math.ceil(len(_widths(self.scores.places - 1)) / (1 - self.confidence))

    @property
    def slack(self) -> Fraction:
        """How many records f(w) should be above 0: then the whole line weighs 1 by 200 of the best width."""
        return Fraction(math.ceil(math.log(200 * self.many) / float(self.rate) * 4), 4)

    def draw(self, tally: ValueTally, answer: int) -> int:
        """A width, in places; the window of soft counts is added to it, by half of which they can be off."""
        pieces = self.pieces(tally, answer)
        piece, _ = drawn(pieces, self.rate, exponential_choice)
        width = int(pieces.starts[piece]) + (self.scores.ramp - 1) // 2
        if self.scores.target.extreme:
            return max(width, self.scores.places - 1 - answer if self.scores.target.percent else answer)
        return width

    def pieces(self, tally: ValueTally, answer: int) -> Pieces:
        """All widths with their losses; the last is the whole line, or as much of it as the maximum may lie on."""
        last, target = self.scores.places - 1, self.scores.target
        farthest = max(answer, last - answer)
        if target.extreme:
            farthest = answer if target.percent else last - answer
        widths = np.array([width for width in _widths(last) if width < farthest] or [0], dtype=np.int64)
        self.scores.check_size(tally.records)
        unit = self.scores.unit(tally.records)
        wanted = int(self.slack / unit)
        found = self._found(tally, answer, widths)
        before = np.maximum(np.append(np.int64(wanted), found[:-1]), wanted)
        losses = np.append(np.where(found < wanted, 4 * (wanted - found), before - wanted), 4 * wanted)
        counts = np.append(np.ones(len(widths), dtype=np.int64), self.many)
        return Pieces(np.append(widths, farthest), counts, losses, unit / 4)

    def _found(self, tally: ValueTally, answer: int, widths: Places) -> Places:
        """The f of each width, in units; at the end of the line it is sure."""
        last, target = self.scores.places - 1, self.scores.target
        above, _ = self.scores.off(tally, np.maximum(answer - widths, 0))
        _, short = self.scores.off(tally, np.minimum(answer + widths, last))
        if target.extreme:  # the rank is the number of records, or 0
            near = -above if target.percent else -short
            return np.asarray(near - self.scores.ramp, dtype=np.int64)
        sides = [np.where(answer + widths >= last, _SURE, -short), np.where(answer - widths <= 0, _SURE, -above)]
        return np.asarray(np.minimum(*sides), dtype=np.int64)


_SURE = np.iinfo(np.int64).max
_SINGLE = 16


def _widths(most: int) -> list[int]:
    """Widths from 0 to the most: one by one, then each an eighth more than the last."""
    widths = list(range(min(most, _SINGLE) + 1))
    while widths[-1] < most:
        widths.append(min(most, widths[-1] + max(1, widths[-1] // 8)))
    return widths
