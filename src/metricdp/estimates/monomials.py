"""What is averaged over the rows, products of functions of single columns, and what is found."""

from __future__ import annotations

import math
from dataclasses import dataclass

from metricdp.estimates.conditions import SecretFunction

__all__ = ["LinearAnswer", "Monomial"]


@dataclass(frozen=True, eq=False)
class Monomial:
    """A product of functions of single columns, and perhaps the number of one column.

    Attributes:
        factors: by column.
        number: the column whose number is a factor, by its moments; None where there is none.
        weight: what the product is multiplied by.
    """

    factors: dict[str, SecretFunction]
    number: str | None = None
    weight: float = 1.0


@dataclass(frozen=True)
class LinearAnswer:
    """The average of a question over the rows.

    Attributes:
        value: corrected, bias and all.
        low: the lower end of the interval.
        high: the upper end.
        noise: half the width that is due to noise.
        biased: whether a part of the width is due to what the counts cannot tell.
        spread: the standard deviation of one row's score.
        by_scores: the value by the scores alone, which may be no share of a table.
        narrowed: whether counts that are known from elsewhere made it narrower.
        by_two_scores: whether each end has a score of its own, so that the interval holds for every table.
    """

    value: float
    low: float
    high: float
    noise: float
    biased: bool
    spread: float
    by_scores: float = math.nan
    narrowed: bool = False
    by_two_scores: bool = False
