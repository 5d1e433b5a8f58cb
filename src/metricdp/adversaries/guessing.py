"""Guessing one secret after the other, and guessing a property of the secret: two more measures of vulnerability."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from metricdp.adversaries._arguments import channel_for, known_secrets
from metricdp.adversaries.hyper import joint
from metricdp.adversaries.payoff import Gain
from metricdp.adversaries.prior import as_prior
from metricdp.adversaries.vulnerability import vulnerability
from metricdp.channels.arguments import ChannelLike
from metricdp.errors import ArgumentError
from metricdp.exact.lists import as_list
from metricdp.metrics.coordinates import label

__all__ = ["guessing_entropy", "predicate_gain", "predicate_vulnerability"]


def guessing_entropy(prior: Any, channel: ChannelLike | None = None) -> Fraction:
    """How many guesses find the secret on average, when the likeliest secret is guessed first; exactly.

    ``sum over z of sum over i of i · q_i``, where ``q_1 >= q_2 >= ...`` are the probabilities ``p(x) K(x)(z)`` in
    order. Without a channel, before anything is seen.

    Args:
        prior: p; see `metricdp.adversaries.as_prior`.
        channel: K; an array, rows, a dict or a frame of probabilities are taken, too.

    >>> from metricdp.channels import Channel
    >>> C = Channel.from_matrix("ab", "yz", [["2/3", "1/3"], ["1/3", "2/3"]])
    >>> guessing_entropy("uniform", C), guessing_entropy([0.5, 0.25, 0.25])
    (Fraction(4, 3), Fraction(7, 4))
    """
    if channel is None:
        secrets = known_secrets(prior)
        if secrets is None:
            raise ArgumentError(f"the prior {prior!r} does not say over which secrets: give a channel or a Prior")
        belief = as_prior(prior, secrets)
        return Fraction(_guesses(belief.weights), belief.total)
    channel = channel_for(prior, channel, "guessing_entropy")
    belief = as_prior(prior, channel.inputs)
    columns = joint(belief, channel).T.tolist()
    return Fraction(sum(map(_guesses, columns)), belief.total * channel.total)


def predicate_gain(secrets: Sequence[Any], predicate: Callable[[Any], Any] | Mapping[Any, Any]) -> Gain:
    """The gain of guessing a property of the secret: 1 where the guess is right, else 0.

    Args:
        secrets: the secrets.
        predicate: what is to be guessed: a function of the secret, or a mapping from secrets to values.

    >>> predicate_gain(range(4), lambda x: x % 2).matrix.tolist()
    [[1.0, 0.0, 1.0, 0.0], [0.0, 1.0, 0.0, 1.0]]
    """
    points = tuple(as_list(secrets, "secrets"))
    if isinstance(predicate, Mapping):
        given = {label(point): value for point, value in predicate.items()}
        missing = [point for point in points if label(point) not in given]
        if missing:
            raise ArgumentError(f"the predicate has no value for the secret {missing[0]!r}")
        values = [label(given[label(point)]) for point in points]
    elif callable(predicate):
        values = [label(predicate(point)) for point in points]
    else:
        raise ArgumentError(
            f"a predicate is a function of the secret, or a mapping from secrets, not {type(predicate).__name__}"
        )
    guesses = tuple(dict.fromkeys(values))
    table = [[int(value == guess) for value in values] for guess in guesses]
    return Gain.from_matrix(guesses, points, table, "predicate")


def predicate_vulnerability(
    prior: Any, channel: ChannelLike | None, predicate: Callable[[Any], Any] | Mapping[Any, Any]
) -> Fraction:
    """The probability that the best guess of a property of the secret is right; exactly.

    Args:
        prior: see `metricdp.adversaries.as_prior`.
        channel: what is seen; None for before anything is seen.
        predicate: what is guessed; see `predicate_gain`.

    >>> from metricdp.channels import Channel
    >>> C = Channel.from_matrix(range(3), "yz", [["2/3", "1/3"], ["1/2", "1/2"], ["1/3", "2/3"]])
    >>> predicate_vulnerability("uniform", C, lambda x: x == 1), predicate_vulnerability("uniform", C, lambda x: x > 0)
    (Fraction(2, 3), Fraction(2, 3))
    """
    taken = None if channel is None else channel_for(prior, channel, "predicate_vulnerability")
    secrets = known_secrets(prior) if taken is None else taken.inputs
    if secrets is None:
        raise ArgumentError(f"the prior {prior!r} does not say over which secrets: give a channel or a Prior")
    return vulnerability(prior, taken, predicate_gain(secrets, predicate), exact=True)


def _guesses(weights: Sequence[int]) -> int:
    return sum(place * weight for place, weight in enumerate(sorted(weights, reverse=True), start=1))
