"""The losses that have a name; `metricdp.adversaries.loss_names` lists them."""

from __future__ import annotations

from typing import Any

from metricdp.adversaries.losses import distance, squared
from metricdp.adversaries.payoff import Loss
from metricdp.channels.arguments import place_in
from metricdp.errors import ArgumentError
from metricdp.metrics import Space


def for_the_right_guess(inputs: tuple[Any, ...], space: Space | None, right: int = 1) -> Loss:
    """1 for the right guess and 0 for a wrong one."""
    del space
    table = [[right if w == x else 1 - right for x in range(len(inputs))] for w in range(len(inputs))]
    return Loss.from_matrix(inputs, inputs, table)


def for_a_wrong_guess(inputs: tuple[Any, ...], space: Space | None) -> Loss:
    """1 for a wrong guess and 0 for the right one."""
    return for_the_right_guess(inputs, space, right=0)


def by_distance(inputs: tuple[Any, ...], space: Space | None) -> Loss:
    """The distance between guess and secret; any point of the space may be guessed."""
    known = _known(space)
    return distance(_over(inputs, known), known.points)


def by_squared_distance(inputs: tuple[Any, ...], space: Space | None) -> Loss:
    """Its square."""
    known = _known(space)
    return squared(_over(inputs, known), known.points)


def _known(space: Space | None) -> Space:
    if space is None:
        raise ArgumentError("a loss that is a distance needs to know the distances: give a space")
    return space


def _over(inputs: tuple[Any, ...], space: Space) -> Space:
    for secret in inputs:
        place_in(space, secret)
    return Space(inputs, space.metric)
