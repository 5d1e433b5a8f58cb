"""Gains and losses: what an action is worth to an adversary, or costs a user, for each secret."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any, TypeVar

import numpy as np

from metricdp.adversaries.loss_names import LOSSES
from metricdp.adversaries.payoff import Gain, Loss, Payoff, place_of, read_only
from metricdp.channels.arguments import SpaceLike, as_space
from metricdp.errors import ArgumentError
from metricdp.exact.lists import as_a, as_list
from metricdp.metrics.coordinates import distinct, label
from metricdp.metrics.space import Space

__all__ = ["as_gain", "as_loss", "distance", "lifted", "restricted", "squared"]

LOSS = "as_loss('distance', points, space)"
"""How a loss is made, for messages."""

_Kind = TypeVar("_Kind", Gain, Loss)


def as_gain(value: Any, inputs: Sequence[Any], space: SpaceLike | None = None) -> Gain:
    """The gain that was meant: a `Gain`, a matrix of actions by secrets, a function, or a name.

    ``"identity"`` gains 1 for the right guess (so does its other name, ``"nib"``), ``"bin"`` (or ``"binary"``) for a
    wrong one, ``"distance"`` the distance between guess and secret, and ``"squared"`` its square. A matrix has the
    inputs as its secrets; its actions are the inputs too where there are as many, else they are counted from 0. A
    function is called with an action and a secret, both of them points.

    >>> as_gain([[1, 0, 0], [0, 1, 1]], "abc").actions
    (0, 1)
    """
    return _meant(Gain, value, inputs, space)


def as_loss(value: Any, inputs: Sequence[Any], space: SpaceLike | None = None) -> Loss:
    """The loss that was meant: a `Loss`, a matrix of actions by secrets, a function, or a name.

    ``"bin"`` (or ``"binary"``) costs 1 for a wrong guess (paper 5, Eq. 10), ``"nib"`` for the right one (Eq. 11),
    ``"identity"`` is another name of ``"nib"``, ``"distance"`` costs the distance between guess and secret (Eq. 12),
    and ``"squared"`` its square. A matrix or a function is read as in `as_gain`.

    >>> from metricdp.metrics import Space
    >>> as_loss("distance", range(3), Space.line(3)).value(0, 2)
    Fraction(2, 1)
    >>> as_loss(lambda guess, secret: max(secret - guess, 0), range(3)).matrix.tolist()
    [[0.0, 1.0, 2.0], [0.0, 0.0, 1.0], [0.0, 0.0, 0.0]]
    """
    return _meant(Loss, value, inputs, space)


def distance(space: Space, actions: Iterable[Any] | None = None) -> Loss:
    """The loss ``d(w, x)``, in the unit of the space's metric, whatever its level.

    Args:
        space: its points are the secrets.
        actions: points of the metric to guess from; those of the space unless given.

    Raises:
        ArgumentError: a distance is infinite.

    References:
        Paper 5, Eq. 12.

    >>> from metricdp.exact.level import ln
    >>> from metricdp.metrics import Space, absolute
    >>> distance(Space.line(3, ln(2) * absolute())).matrix[0].tolist()
    [0.0, 1.0, 2.0]
    """
    space = as_space(space, "distance")
    guesses = space.points if actions is None else distinct(actions, "action")
    unit = space.metric.unit
    exact = [[unit.exactly(w, x) for x in space.points] for w in guesses]
    for w, row in zip(guesses, exact, strict=True):
        for x, value in zip(space.points, row, strict=True):
            if value == math.inf:
                raise ArgumentError(f"the distance between {w!r} and {x!r} is infinite, and a loss is finite")
    known = [[value for value in row if isinstance(value, Fraction)] for row in exact]
    if all(len(row) == len(space.points) for row in known):
        return Loss.from_matrix(guesses, space.points, known, "distance")
    view = unit.enclosures(list(guesses), list(space.points)).nearest
    return Loss("distance", guesses, space.points, None, read_only(np.array(view)))


def squared(space: Space, actions: Iterable[Any] | None = None) -> Loss:
    """The loss ``d(w, x)²``, in the unit of the space's metric, whatever its level.

    Args:
        space: its points are the secrets.
        actions: points of the metric to guess from; those of the space unless given.

    >>> from metricdp.metrics import Space
    >>> squared(Space.line(3)).matrix[0].tolist()
    [0.0, 1.0, 4.0]
    """
    far = distance(space, actions)
    if far.entries is not None:
        return Loss.from_matrix(far.actions, far.secrets, [[v * v for v in row] for row in far.entries], "squared")
    return Loss("squared", far.actions, far.secrets, None, read_only(far.matrix**2))


def lifted(loss: Loss, points: Iterable[Any]) -> Loss:
    """The loss on more secrets, zero on the new ones.

    References:
        Paper 5, Section IV.C and Theorem 6(5).

    >>> lifted(as_loss("bin", "ab"), "abc").matrix.tolist()
    [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]
    """
    loss, secrets = as_a(Loss, loss, LOSS), distinct(points, "secret")
    places = {label(secret): place for place, secret in enumerate(loss.secrets)}
    columns = [places.get(label(secret)) for secret in secrets]
    for secret, place in ((secret, places[label(secret)]) for secret in loss.secrets):
        if place not in columns:
            raise ArgumentError(f"the secret {secret!r} of the loss is not among the points to lift it to")
    name = f"{loss.name}, lifted"
    matrix = np.zeros((len(loss.actions), len(secrets)))
    for new, old in enumerate(columns):
        if old is not None:
            matrix[:, new] = loss.matrix[:, old]
    entries = loss.entries and tuple(
        tuple(Fraction(0) if old is None else row[old] for old in columns) for row in loss.entries
    )
    return Loss(name, loss.actions, secrets, entries, read_only(matrix))


def restricted(loss: Loss, points: Iterable[Any]) -> Loss:
    """The loss on some of its secrets; all actions stay.

    References:
        Paper 5, Section IV.C.

    >>> restricted(as_loss("bin", "abc"), "ab").matrix.tolist()
    [[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]
    """
    loss = as_a(Loss, loss, LOSS)
    order = [place_of(loss.secrets, point, "secret") for point in distinct(points, "secret")]
    return loss._columns(order)


def _meant(kind: type[_Kind], value: Any, inputs: Sequence[Any], among: SpaceLike | None) -> _Kind:
    inputs = as_list(inputs, "inputs", "channel.inputs")
    space = None if among is None else as_space(among, f"a {kind.__name__.lower()}", inputs)
    if isinstance(value, kind):
        return value.over(inputs)
    if isinstance(value, Payoff):
        raise ArgumentError(f"a {kind.__name__.lower()} is wanted here, not a {type(value).__name__.lower()}")
    if isinstance(value, str):
        return _named(kind, value, tuple(inputs), space)
    columns = tuple(inputs)
    if callable(value):
        guesses = columns if space is None else space.points
        name = getattr(value, "__name__", "function")
        return kind.from_matrix(guesses, columns, [[value(w, x) for x in columns] for w in guesses], name)
    rows = value.tolist() if isinstance(value, np.ndarray) else value
    if not isinstance(rows, (list, tuple)) or not all(isinstance(row, (list, tuple)) for row in rows):
        raise ArgumentError(
            f"a {kind.__name__.lower()} is a name, a matrix of actions by secrets, or a function of an action and a "
            f"secret, not {type(value).__name__}"
        )
    actions: Sequence[Any] = columns if len(rows) == len(columns) else range(len(rows))
    return kind.from_matrix(actions, columns, rows)


def _named(kind: type[_Kind], name: str, inputs: tuple[Any, ...], space: Space | None) -> _Kind:
    found = LOSSES[name](inputs, space)
    if not isinstance(found, Payoff):
        raise ArgumentError(f"the loss {name!r} is registered, but returns a {type(found).__name__}, no Loss")
    return kind(name, found.actions, found.secrets, found.entries, found.matrix)
