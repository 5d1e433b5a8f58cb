"""Percentiles of one column that a question asks for at once, answered together for each group."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from metricdp.queries.select.joint_ranks import JointRanks, joint_ranks
from metricdp.queries.select.percentiles import GroupPercentiles
from metricdp.queries.select.table_answers import Part, TableAnswer

__all__ = ["JointPercentiles", "joint_percentiles"]


@dataclass(frozen=True, eq=False)
class JointPercentiles:
    """Percentiles of one column, by `JointRanks`; the shares that they had one by one are spent together.

    Attributes:
        named: the single percentiles by the names of their answers, the least first. Their error bars are drawn one by
            one, with what they have for it.
        ranks: the draw.
    """

    named: Mapping[str, GroupPercentiles]
    ranks: JointRanks

    def answers(self, source: Any, engine: Any) -> dict[str, list[TableAnswer]]:
        """Private answers, one for each group, with their error bars."""
        tallies = next(iter(self.named.values())).tallies(source, engine)
        drawn = [self.ranks.draw(tally) for tally in tallies]
        return {
            name: one.answers(source, engine, [places[at] for places in drawn], tallies)
            for at, (name, one) in enumerate(self.named.items())
        }

    @property
    def part(self) -> Part:
        """How they were made."""
        first = next(iter(self.named.values()))
        shares = {name: share * len(self.named) for name, share in first.shares.columns.items()}
        assert first.ranks is not None  # or they would not be drawn together
        why = (
            f"{len(self.named)} percentiles in {self.ranks.levels} draws by rank: each parts the records for the next, "
            f"and what is drawn in both parts is spent once; {first.ranks.why}"
        )
        return Part(tuple(self.named), shares, f"{first.ranks.words}, together", False, why)


def joint_percentiles(
    single: Mapping[str, GroupPercentiles], draw: Callable[..., JointRanks | None] = joint_ranks
) -> tuple[JointPercentiles, ...]:
    """Those of a question that are better drawn together, column by column.

    Args:
        single: the percentiles by the names of their answers.
        draw: decides how; `drawn_together` does so whether or not it is better.
    """
    found = []
    for column in dict.fromkeys(one.name for one in single.values()):
        named = {
            name: one
            for name, one in sorted(single.items(), key=lambda pair: pair[1].p)
            if one.name == column and one.ranks is not None and Fraction(0) < one.p < 100
        }
        plans = [one.ranks for one in named.values() if one.ranks is not None]
        if len(plans) < 2:
            continue
        first = next(iter(named.values()))
        percents = [one.p for one in named.values()]
        ranks = draw(plans, percents, first.step_apart, first.leaving, first.policy.most)
        if ranks is not None:
            found.append(JointPercentiles(named, ranks))
    return tuple(found)
