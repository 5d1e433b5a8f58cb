"""What a channel costs a user who remaps its outputs in the best way, as a function of the prior."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from metricdp.adversaries.payoff import Loss
from metricdp.adversaries.prior import Prior
from metricdp.channels.channel import Channel
from metricdp.exact.progress import Stopwatch
from metricdp.programs.double_description import extreme_rays

__all__ = ["MOST_PRIORS", "ExpectedLoss"]

MOST_PRIORS = 10_000
"""How many extreme priors are enumerated before a problem is refused."""

Table = tuple[tuple[int, ...], ...]


@dataclass(frozen=True, eq=False)
class ExpectedLoss:
    """The function ``U(p) = Σ over z of min over w of Σ over x of p(x) K(x)(z) l(w, x)`` of the prior p.

    It is concave and positively homogeneous, and linear where one best action w(z) for each output serves; these cells
    are cones that fill the priors.

    Attributes:
        secrets: the labels x, in the order of the priors.
        tables: for each output z the integers ``K(x)(z) l(w, x)``, a row for each w; outputs with proportional columns
            are one.
        divisor: what the integers are to be divided by.

    References:
        Paper 5, Eq. 5.
    """

    secrets: tuple[Any, ...]
    tables: tuple[Table, ...]
    divisor: int

    @classmethod
    def of(cls, channel: Channel, loss: Loss, secrets: Sequence[Any]) -> ExpectedLoss:
        """Of a channel for a loss with rational entries, over these secrets, which are all its inputs in any order."""
        rows = [channel.row(x) for x in secrets]
        numbers, common = loss.over(secrets).whole
        actions = list(dict.fromkeys(tuple(row) for row in numbers.tolist()))
        columns: dict[tuple[int, ...], int] = {}
        for z in range(len(channel.outputs)):
            column = [channel.weights[row, z] for row in rows]
            divisor = math.gcd(*column)
            if divisor:
                direction = tuple(value // divisor for value in column)
                columns[direction] = columns.get(direction, 0) + divisor
        tables = tuple(
            tuple(tuple(size * a * b for a, b in zip(direction, action, strict=True)) for action in actions)
            for direction, size in columns.items()
        )
        return cls(tuple(secrets), tables, channel.total * common)

    def at(self, prior: Prior) -> Fraction:
        """Its exact value.

        >>> from metricdp.adversaries import as_loss
        >>> C = Channel.from_matrix("ab", "yz", [["2/3", "1/3"], ["1/3", "2/3"]])
        >>> ExpectedLoss.of(C, as_loss("bin", "ab"), "ab").at(Prior.uniform("ab"))
        Fraction(1, 3)
        """
        least = sum(min(_dot(row, prior.weights) for row in table) for table in self.tables)
        return Fraction(least, self.divisor * prior.total)

    def extreme_priors(self, most: int = MOST_PRIORS, watch: Stopwatch | None = None) -> list[Prior]:
        """The extreme rays of all cells, as priors: finitely many, and every prior is a mixture of those of its cell.

        With ``t_z <= Σ p(x) K(x)(z) l(w, x)`` for all z and w, and p >= 0, they are the extreme rays (p, t) of one
        cone: t is then the least for each z, and a mixture of two priors of different cells lies strictly below.

        >>> from metricdp.adversaries import as_loss
        >>> C = Channel.from_matrix("ab", "yz", [["2/3", "1/3"], ["1/3", "2/3"]])
        >>> for prior in ExpectedLoss.of(C, as_loss("bin", "ab"), "ab").extreme_priors():
        ...     print(prior)
        a 0, b 1
        a 1, b 0
        a 1/3, b 2/3
        a 2/3, b 1/3
        """
        size, outputs = len(self.secrets), len(self.tables)
        inequalities: list[list[int]] = []
        for z, (first, *others) in enumerate(self.tables):
            differences = [[a - b for a, b in zip(other, first, strict=True)] for other in others]
            unit = math.gcd(*(value for row in differences for value in row)) or 1
            axis = [int(place == z) for place in range(outputs)]  # of s_z = (loss of the first action) - t_z, over unit
            inequalities += [[value // unit for value in row] + axis for row in differences]
        rays = extreme_rays(size + outputs, inequalities, most, "extreme priors", watch)
        return [Prior(self.secrets, ray[:size], sum(ray[:size])) for ray in sorted(rays) if any(ray[:size])]


def _dot(one: Sequence[int], two: Sequence[int]) -> int:
    return sum(a * b for a, b in zip(one, two, strict=True))
