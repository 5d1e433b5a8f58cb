"""How far candidates are from a percentile, counted in records: the scores that a percentile is drawn by.

Values and candidates are places 0, 1, .. on a line of equal steps. With L(t) records below a candidate t and U(t) below
or at it, the percentile of rank T is where L(t) <= T <= U(t), and the loss of a candidate is how many records it is
off::

    loss(t) = max(L(t) + s(t) - T, T - U(t) + s(t), 0)        s(t) = min((U(t) - L(t)) / 2, margin)

Where many records share a value, the margin s puts the candidates beside it farther off, and costs nothing: s moves
with U - L by half as much. It is bounded so that a value that half of all records have is right for each rank in it,
but for a few at its ends.

The maximum is next to nothing that could be counted: every place beyond it is as good by rank. So what counts is how
many records lie beyond a candidate, and how many of ``need`` are lacking within a ``window`` up to it::

    loss(t) = #(values > t) + max(need - #(t - window < values <= t), 0) / 8

and the minimum is the same from the other end. Where values lie densely up to the last of them, that is found within
the window; in a long tail the second term is the same everywhere, and the first decides.

Where values that are near each other are told apart less than others, counts are softened: L and U are averages over a
window of H places, the ramp, so that a value that moves by d steps moves them by min(d / H, 1) at most. H = 1 is the
plain count.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from metricdp.errors import ArgumentError

__all__ = ["LACKING", "Pieces", "Places", "RankScores", "RankTarget", "ValueTally"]

Places = NDArray[np.int64]

LACKING = Fraction(1, 8)
"""What a record counts that is lacking near a maximum: the less, the more of the rate is left for those beyond it."""

_INT64 = 1 << 62


@dataclass(frozen=True, eq=False)
class ValueTally:
    """Values of records, as places on a line, and how many have each. It is private.

    Attributes:
        values: increasing places.
        counts: how many records have each.
    """

    values: Places
    counts: Places

    def __repr__(self) -> str:
        return "ValueTally(..)"

    @property
    def records(self) -> int:
        """How many records there are."""
        return int(self.counts.sum())

    @cached_property
    def upto(self) -> Places:
        """How many records come before each of the values, and in all."""
        return np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(self.counts)])

    @cached_property
    def summed(self) -> Places:
        """The same for the sums of their places."""
        return np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(self.values * self.counts)])


@dataclass(frozen=True)
class RankTarget:
    """Which rank a percentile has among n records.

    ``q n + 1/2b`` for a share q = a/b between 0 and 1, which lies between floor(q n) and the next integer: so the
    record of place floor(q n), from 0, is the one that is meant.

    Attributes:
        percent: from 0 to 100.

    >>> RankTarget(Fraction(50)).rank(101), RankTarget(Fraction(0)).rank(100)
    (Fraction(203, 4), Fraction(0, 1))
    """

    percent: Fraction

    @property
    def extreme(self) -> bool:
        """Whether it is the minimum or the maximum."""
        return self.percent in (0, 100)

    def rank(self, records: int) -> Fraction:
        """The rank T among so many records: a function of their number that grows by between 0 and 1 for each."""
        if self.extreme:
            return Fraction(records if self.percent else 0)
        share = self.percent / 100
        return share * records + Fraction(1, 2 * share.denominator)

    @property
    def reach(self) -> Fraction:
        """Half of the most that losses move against each other where a record comes or goes.

        It is the greater of τ and 1 - τ, T growing by τ: L and U move by between 0 and 1 and T by τ, all the same way,
        so the differences move by 1 - τ or τ at most. At the ends, a record that comes adds 1 to the losses before
        it, and takes 1/8 from those in a window after it: 9/8 against each other.
        """
        share = self.percent / 100
        return (1 + LACKING) / 2 if self.extreme else max(share, 1 - share)

    @property
    def moved(self) -> Fraction:
        """The same where a value moves as far as it can: see `RankScores`."""
        return Fraction(1, 2) + LACKING if self.extreme else Fraction(1)


@dataclass(frozen=True, eq=False)
class Pieces:
    """Candidates by their loss: ``counts`` places from each of ``starts`` on have one loss, in whole units.

    Attributes:
        starts: the first place of each piece.
        counts: how many places it has.
        losses: the loss of each of them, in units.
        unit: what a unit is worth, in records.
    """

    starts: Places
    counts: Places
    losses: Places
    unit: Fraction


@dataclass(frozen=True)
class RankScores:
    """The losses of all candidates, exactly, in whole numbers.

    Attributes:
        target: the rank that is looked for.
        places: how many places the line has.
        ramp: H, the width of the window that counts are averaged over; odd.
        spacing: every so many places is a candidate; 1 for all of them.
        margin: in records; 0 with a ramp.
        need: how many records should lie within the window; for the minimum and the maximum.
        window: in places.

    Guarantee:
        Let one record change. If its value moves by d steps, the losses of two candidates move against each other by
        ``2 min(d / H, 1)`` at most: L, U are averages over H neighbouring places of counts that move by 1 at the places
        between the two values, which are d, and T stays; so each loss moves by half of it. At the ends, what lies
        beyond moves by b(t) between 0 and min(d / H, 1), the same way everywhere, and what is in the window by b(t) -
        b(t - window), of which an eighth counts: so losses move by between -1/8 and 9/8 of that, 5/4 against each
        other. Both are ``2 target.moved min(d / H, 1)``. If a record comes, goes, or becomes missing, losses move
        against each other by ``2 target.reach`` at most. A draw with probabilities that go with exp(-rate loss), or by
        permute and flip, changes by exp(rate times these) at most.

    >>> scores = RankScores(RankTarget(Fraction(50)), places=5)
    >>> pieces = scores.pieces(ValueTally(np.array([1, 3]), np.array([1, 1])))
    >>> pieces.starts.tolist(), pieces.counts.tolist(), [float(loss * pieces.unit) for loss in pieces.losses]
    ([0, 1, 2, 3, 4], [1, 1, 1, 1, 1], [1.25, 0.25, 0.25, 0.0, 0.75])
    >>> tied = ValueTally(np.array([1, 3]), np.array([4, 4]))
    >>> pieces = RankScores(RankTarget(Fraction(50)), places=5, margin=1).pieces(tied)
    >>> [float(loss * pieces.unit) for loss in pieces.losses]
    [4.25, 1.25, 0.25, 0.75, 3.75]
    """

    target: RankTarget
    places: int
    ramp: int = 1
    spacing: int = 1
    margin: int = 0
    need: int = 0
    window: int = 1

    def __post_init__(self) -> None:
        if min(self.margin, self.need, self.window - 1) < 0 or (self.margin and self.ramp != 1):
            raise ArgumentError("a margin, a need and a window are not negative, and soft counts have no margin")
        if self.ramp < 1 or not self.ramp % 2 or self.spacing < 1 or self.places < 1:
            raise ArgumentError("a ramp is odd and positive, and so many places are candidates")
        if self.ramp == 1 and self.spacing != 1:
            raise ArgumentError("where counts are plain, every place is a candidate")

    def soft(self, tally: ValueTally, at: Places, inclusive: bool) -> Places:
        """H times U, or L where the place itself does not count, at each of these places."""
        ends = at + (self.ramp + (1 if inclusive else -1)) // 2
        full = np.searchsorted(tally.values, ends - self.ramp, side="right")
        begun = np.searchsorted(tally.values, ends, side="left")
        partly = tally.upto[begun] - tally.upto[full]
        within = ends * partly - (tally.summed[begun] - tally.summed[full])
        return np.asarray(tally.upto[full] * self.ramp + within, dtype=np.int64)

    def unit(self, records: int) -> Fraction:
        """What the losses are whole multiples of."""
        return Fraction(1, self.ramp * self.target.rank(records).denominator)

    def check_size(self, records: int) -> None:
        """Refuse what 64 bits do not hold."""
        parts = self.ramp * self.target.rank(records).denominator
        counted = (records + self.need + self.margin + 1) * 8 * parts
        if counted >= _INT64 or (records + 1) * (self.places + self.ramp) >= _INT64:
            raise ArgumentError("so many records of so many values are not counted in 64 bits: declare wider steps")

    def off(self, tally: ValueTally, at: Places) -> tuple[Places, Places]:
        """L - T and T - U at each of these places, in units."""
        rank = self.target.rank(tally.records)
        wanted = int(rank / self.unit(tally.records))
        low = self.soft(tally, at, inclusive=False) * rank.denominator - wanted
        return low, wanted - self.soft(tally, at, inclusive=True) * rank.denominator

    def pieces(self, tally: ValueTally) -> Pieces:
        """All candidates with their losses."""
        self.check_size(tally.records)
        starts, counts = self._plain(tally) if self.ramp == 1 else self._spaced()
        unit = self.unit(tally.records)
        if self.target.extreme:
            return Pieces(starts, counts, self._beyond(tally, starts), LACKING / self.ramp)
        above, below = self.off(tally, starts)
        inward = np.minimum(-(above + below), int(2 * self.margin / unit))
        losses = np.maximum(np.maximum(2 * above + inward, 2 * below + inward), 0)
        return Pieces(starts, counts, losses, unit / 2)

    def _beyond(self, tally: ValueTally, at: Places) -> Places:
        """The losses at the ends, in eighths of the parts of soft counts."""
        if self.target.percent:
            upto = self.soft(tally, at, inclusive=True)
            beyond = tally.records * self.ramp - upto
            near = upto - self.soft(tally, at - self.window, inclusive=True)
        else:
            beyond = self.soft(tally, at, inclusive=False)
            near = self.soft(tally, at + self.window, inclusive=False) - beyond
        return np.asarray(int(1 / LACKING) * beyond + np.maximum(self.need * self.ramp - near, 0), dtype=np.int64)

    def _plain(self, tally: ValueTally) -> tuple[Places, Places]:
        """Each value, and the places between two of them, all of which have one loss."""
        values = tally.values
        ends = values + self.window if self.target.percent else values - self.window + 1
        starts = np.unique(np.concatenate([np.zeros(1, dtype=np.int64), values, values + 1, ends]))
        starts = starts[(starts >= 0) & (starts < self.places)]
        return starts, np.diff(np.append(starts, self.places))

    def _spaced(self) -> tuple[Places, Places]:
        starts = np.arange(0, self.places, self.spacing, dtype=np.int64)
        return starts, np.ones(len(starts), dtype=np.int64)
