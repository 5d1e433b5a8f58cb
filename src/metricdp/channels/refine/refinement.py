"""Refinement: is one channel safer than another for everybody, and the proof either way."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from metricdp.channels.algebra import same_rows
from metricdp.channels.arguments import ChannelLike, as_channel
from metricdp.channels.channel import Channel
from metricdp.channels.refine._factoring import Factor, Factoring, Refutation
from metricdp.errors import ArgumentError
from metricdp.exact.balls import float_above, float_below
from metricdp.exact.progress import Progress, Stopwatch
from metricdp.exact.results import Result, number_json

__all__ = ["Refinement", "refines"]


@dataclass(frozen=True, eq=False, repr=False)
class Refinement(Result):
    """Whether channel A refines channel B, with what proves it; true just where it holds.

    Attributes:
        holds: True with `post`, False with `prior` and `gain`; None where neither was found, which takes channels that
            miss refinement by less than floats can tell, if they miss it. To use it as a truth value is then an error.
        refining: A.
        refined: B.
        post: a channel R with ``B @ R`` equal to A (up to the order of inputs), checked in integers.
        prior: the uniform prior, in the order of A's inputs.
        gain: what each action (a row) gains for each secret (a column, in the order of A's inputs): numbers in [0, 1].
        advantage: how much more A than B is worth to an adversary with that prior and gain: the difference of the two
            posterior vulnerabilities, exactly; positive.

    References:
        Paper 5, Section II.B, Eq. 6.
    """

    holds: bool | None
    refining: Channel
    refined: Channel
    post: Channel | None = None
    prior: tuple[Fraction, ...] | None = None
    gain: tuple[tuple[Fraction, ...], ...] | None = None
    advantage: Fraction | None = None

    def __bool__(self) -> bool:
        if self.holds is None:
            raise ArgumentError(
                "undecided: neither a post-processing nor a gain function could be proved; the channels miss "
                f"refinement by a total variation of {self.distance_below:.3g} to {self.distance:.3g} (see .distance)"
            )
        return self.holds

    @property
    def distance(self) -> float:
        """The least total variation at which it holds, from above: some ``B @ R`` is as near to A for every input.

        Proved by an R in integers; 0 where refinement holds.
        """
        return self._distances[1]

    @property
    def distance_below(self) -> float:
        """The same from below, proved by a gain function; no ``B @ R`` is nearer to A for every input."""
        return self._distances[0]

    @cached_property
    def _distances(self) -> tuple[float, float]:
        if self.holds:
            return 0.0, 0.0
        below, above = _factoring(self.refining, self.refined).enclose_distance()
        if self.gain is not None and self.advantage is not None:
            spread = sum(max(column) - min(column) for column in zip(*self.gain, strict=True))
            below = max(below, self.advantage * len(self.refining.inputs) / spread)
        return float_below(below), float_above(above)

    @property
    def witness(self) -> Channel | tuple[tuple[Fraction, ...], ...] | None:
        """What proves the answer: `post` where it holds, `gain` where it does not; None where it is undecided."""
        return self.post if self.holds else self.gain

    @property
    def reason(self) -> str:
        """The answer in words."""
        return str(self)

    def to_json(self) -> dict[str, Any]:
        """The answer as plain values for JSON; exact numbers as text."""
        return {
            "holds": self.holds,
            "post": None if self.post is None else self.post.to_json(),
            "gain": None if self.gain is None else [[number_json(value) for value in row] for row in self.gain],
            "advantage": number_json(self.advantage),
        }

    def __repr__(self) -> str:
        shown = {True: ", by a post-processing", False: f", advantage {float(self.advantage or 0):.6g}", None: ""}
        return f"Refinement(holds={self.holds}{shown[self.holds]})"

    def __str__(self) -> str:
        if self.holds:
            return "refines: the first channel is a post-processing of the second."
        if self.holds is None:
            return (
                f"undecided: at a total variation of {self.distance:.3g} the first channel refines the second; whether "
                "at zero, could not be proved."
            )
        actions = 0 if self.gain is None else len(self.gain)
        return (
            f"does NOT refine: with a uniform prior and a gain function of {actions} actions, the first channel is "
            f"worth {float(self.advantage or 0):.6g} more to an adversary than the second.\n"
            f"It would at a total variation of {self.distance:.6g}."
        )


def refines(
    refining: ChannelLike,
    refined: ChannelLike,
    *,
    time_limit: float | None = None,
    progress: Progress | None = None,
) -> Refinement:
    """Whether A refines B: A is at least as safe as B, whatever an adversary knows and wants.

    That is: no prior and no gain function make A worth more to an adversary than B. It holds just when A is a
    post-processing of B, ``A = B @ R`` for some channel R. In the notation of paper 5, Eq. 6: B ⊑ A (its section II.C
    reads the arrow the other way).

    Where the columns of B are independent, once proportional ones are merged, R is unique and the answer is exact
    elimination. Otherwise a float method proposes R or the gain function, and exact arithmetic has the last word.

    Args:
        refining: A; an array, rows, a dict or a frame of probabilities are taken, too.
        refined: B, on the same inputs.
        time_limit: seconds after which no further method is tried; the answer may then be undecided.
        progress: told which methods have been tried.

    Raises:
        ArgumentError: the channels have different inputs.

    References:
        Paper 5, Section II.B, Eq. 6 and the theorem quoted after it.

    >>> B = Channel.from_matrix("ab", "xy", [["3/4", "1/4"], ["1/4", "3/4"]])
    >>> A = Channel.from_matrix("ab", "xy", [["2/3", "1/3"], ["1/3", "2/3"]])
    >>> print(refines(A, B).post)
    channel of 2 inputs and 2 outputs, weights out of 6
         x    y
    x  5/6  1/6
    y  1/6  5/6
    >>> answer = refines(Channel.from_matrix("ab", "xy", [[1, 0], ["1/2", "1/2"]]), A)
    >>> bool(answer), answer.advantage
    (False, Fraction(1, 8))
    >>> for action in answer.gain:
    ...     print(*action)
    0 1/2
    1 0
    """
    A = as_channel(refining, "refines")
    B = as_channel(refined, "refines", A.inputs)
    watch = Stopwatch(time_limit, progress)
    if A == B:  # however near to singular
        nothing = np.where(np.eye(len(A.outputs), dtype=bool), 1, 0).astype(object)
        return Refinement(True, A, B, post=Channel(A.outputs, A.outputs, nothing, 1))
    answer = _factoring(A, B).decide(watch)
    if isinstance(answer, Factor):
        return Refinement(True, A, B, post=Channel(B.outputs, A.outputs, answer.weights, answer.total))
    if isinstance(answer, Refutation):
        return Refinement(False, A, B, **_witness(answer, len(A.inputs)))
    return Refinement(None, A, B)


def _factoring(A: Channel, B: Channel) -> Factoring:
    views = (A.matrix, B.matrix) if A.inputs == B.inputs else None
    return Factoring(A.weights, A.total, same_rows(A, B), B.total, views)


def _witness(answer: Refutation, inputs: int) -> dict[str, Any]:
    largest = max(max(row) for row in answer.gains)
    return {
        "prior": (Fraction(1, inputs),) * inputs,
        "gain": tuple(tuple(Fraction(gain, largest) for gain in row) for row in answer.gains),
        "advantage": answer.excess / (largest * inputs),
    }
