"""How a percentile is drawn by rank: how softly ranks are counted, at which rate, and what error to expect."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from metricdp.metrics import Metric
from metricdp.queries.select.averages import CONFIDENCE
from metricdp.queries.select.rank_choice import RankChoice, WidthChoice
from metricdp.queries.select.rank_scores import LACKING, RankScores, RankTarget, ValueTally
from metricdp.queries.select.value_line import ValueLine

__all__ = ["RankPlan", "rank_plan"]

_MOST_CANDIDATES = 1 << 16

_FOR_WIDTH_ALIKE, _FOR_WIDTH_NEAR = Fraction(1, 16), Fraction(1, 4)
"""What of the metric the error bar takes: little where any two values are alike, and ranks alone tell how near it is;
more where values that are near are told apart less, so that ranks are counted softly; little at the ends."""

_WINDOWS = 32
"""So many windows the line has in which records near an extreme are counted."""

_OF_WIDTH = Fraction(5, 8)
"""Half of the most that the losses of error bars at the ends move against each other; see `WidthChoice`."""


@dataclass(frozen=True)
class RankPlan:
    """A percentile drawn by rank (`RankChoice`), and its error bar, drawn after it (`WidthChoice`).

    Attributes:
        line: the places that can be drawn.
        choice: the draw.
        width: that of the error bar.
        error_to_expect: an error that is not exceeded with 95%, in the unit of the values, if as many records as there
            can be are spread evenly over the groups and between the bounds. Mechanisms are compared by it.
        bar_to_expect: the error bar, in the same case.

    Guarantee:
        With g(d) the least distance of two values d steps apart, which is concave; c the most groups that a record can
        leave, enter or drop out of for each unit of distance; and H the ramp, the rate is ``min(g(H) / (2 moved),
        1 / (2 c reach))`` times a share. A value that moves by d steps moves losses against each other by ``2 moved
        min(d / H, 1)``, and since g is concave, ``g(H) min(d / H, 1) <= g(d)``. A record that leaves a group or enters
        one moves losses there by ``2 reach`` against each other, in at most ``c D`` groups at distance D. So each draw
        spends its share of the metric, and answer and error bar together spend all of it.
    """

    line: ValueLine
    choice: RankChoice
    width: WidthChoice
    error_to_expect: float
    bar_to_expect: float

    def draw(self, tally: ValueTally, known: int | None = None) -> tuple[int, int]:
        """An answer, and how far the percentile is from it, with the confidence of error bars; in places.

        Args:
            tally: the values.
            known: the answer, where it was drawn already.
        """
        place = self.choice.draw(tally) if known is None else known
        return place, self.width.draw(tally, place)

    @property
    def words(self) -> str:
        """The mechanism, for people."""
        return "drawn by rank (permute and flip)"

    @property
    def why(self) -> str:
        """What is known of it."""
        target, ramp = self.choice.scores.target, self.choice.scores.ramp
        told = "a value is the likelier to be drawn the fewer records it is off"
        if ramp > 1:
            told += f", counted softly over {self.line.shown_width(ramp):,.6g} so that near values are told apart less"
        if target.extreme:
            told += (
                "; nobody can know the very last value: a single record may lie anywhere beyond what is drawn, so the "
                f"error bar reaches to the {'greatest' if target.percent else 'least'} value there can be; to the "
                "other side it is drawn"
            )
        told += "; the error bar holds the truth in 95% of cases at least, whatever the table is, and mostly in more"
        return f"{told}; less error than noise on the answer is to be expected, and nothing is known to be the best"


def rank_plan(line: ValueLine, metric: Metric, percent: Fraction, leaving: Fraction, records: int) -> RankPlan | None:
    """The draw with the least error to expect; None where the metric hides nothing, so that no draw is needed.

    Args:
        line: the values.
        metric: between two of them, as numbers; what of it may be spent.
        percent: which percentile.
        leaving: the most groups that a record can leave, enter or drop out of, for each unit of distance.
        records: how many a group may have, to judge errors by.

    Raises:
        UnsupportedMetricError: the metric is not concave on the line.
    """
    alike, target = metric.without_null().all_alike, RankTarget(percent)
    part = _FOR_WIDTH_ALIKE if alike or target.extreme else _FOR_WIDTH_NEAR
    found, widths = [], []
    for ramp in _ramps(line.places, alike):
        own = line.least_distance(metric, min(ramp, line.places - 1))
        rate = _rate(own, leaving, target.moved, target.reach)
        beside = _rate(own, leaving, *((_OF_WIDTH, _OF_WIDTH) if target.extreme else (target.moved, target.reach)))
        if rate is None or beside is None:  # nothing limits it
            continue
        rate *= 1 - part
        found.append((_error(line, ramp, rate, percent, records), ramp, rate))
        widths.append(WidthChoice(_counts(line, percent, ramp), beside * part, CONFIDENCE))
    if not found:
        return None
    error, ramp, rate = min(found)
    scores = _scores(line, percent, ramp, rate)
    bar, width = min(((_bar(one, records), one) for one in widths), key=lambda pair: pair[0])
    unit = line.shown_width(1)
    return RankPlan(line, RankChoice(scores, rate), width, error * unit, min(bar, line.places - 1) * unit)


def _ramps(places: int, alike: bool) -> list[int]:
    """Windows to try: one place where values are all alike; else up to a quarter of the line."""
    ramps = [1]
    while not alike and ramps[-1] * 3 // 2 + 2 < places // 4:
        ramps.append((ramps[-1] * 3 // 2 + 1) | 1)
    return ramps


def _rate(own: Fraction | None, leaving: Fraction, moved: Fraction, reach: Fraction) -> Fraction | None:
    """The greatest rate that the metric allows; None where nothing limits it.

    Args:
        own: the least distance of values a ramp apart; None where nothing limits it.
        leaving: the most groups that a record can leave, enter or drop out of, for each unit of distance.
        moved: half of the most that losses move against each other where a value moves by a ramp or more.
        reach: the same where a record comes or goes.
    """
    limits = [] if own is None else [own / (2 * moved)]
    if leaving:
        limits.append(1 / (2 * leaving * reach))
    return min(limits, default=None)


def _spacing(places: int, ramp: int) -> int:
    """Every so many places is a candidate: a sixteenth of the window, and no more candidates than can be listed."""
    return 1 if ramp == 1 else max(1, ramp // 16, -(-places // _MOST_CANDIDATES))


def _scores(line: ValueLine, percent: Fraction, ramp: int, rate: Fraction) -> RankScores:
    """The losses to draw by.

    A margin of 2 / rate records makes misses rarer where a value is shared by many: by e^-2 where the rank lies deep in
    it. A wider one would move ranks that lie near the end of a shared value over to the empty places beside it. At a
    rate of 2 or more a value of one record is drawn nearly always, if nothing puts it farther off. At the ends, so many
    records are needed in the window that all the empty places beyond are drawn with a chance of e^-4.
    """
    target, spacing = RankTarget(percent), _spacing(line.places, ramp)
    if not target.extreme:
        return RankScores(target, line.places, ramp, spacing, math.ceil(2 / rate) if ramp == 1 and rate < 2 else 0)
    need = math.ceil((4 + math.log(line.places)) / float(rate * LACKING))
    return RankScores(target, line.places, ramp, spacing, 0, need, max(1, line.places // _WINDOWS))


def _error(line: ValueLine, ramp: int, rate: Fraction, percent: Fraction, records: int) -> float:
    """An error that is not exceeded with 95%, in places, of records spread evenly.

    Ranks are off by ln(20) / rate. A window shifts a percentile by H²/24 times the slope of the logarithm of the
    density, for which 4 by the width of the line is taken; the ends it shifts by a quarter of its width.
    """
    density = records / line.places
    extreme = RankTarget(percent).extreme
    off = math.log(20 * line.places if extreme else 20) / float(rate)
    shift = ramp / 4 if extreme else ramp**2 / (6 * line.places)
    return off / density + (shift if ramp > 1 else 0.0)


def _counts(line: ValueLine, percent: Fraction, ramp: int) -> RankScores:
    """What an error bar is drawn by."""
    return RankScores(RankTarget(percent), line.places, ramp, _spacing(line.places, ramp))


def _bar(width: WidthChoice, records: int) -> float:
    """The error bar, in places, of records spread evenly."""
    scores = width.scores
    return float(width.slack) / (records / scores.places) + (scores.ramp - 1) / 2
