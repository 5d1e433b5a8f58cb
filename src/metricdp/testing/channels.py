"""The laws of a channel."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Iterable
from fractions import Fraction

import numpy as np

from metricdp.channels import Channel, verify
from metricdp.errors import ArgumentError
from metricdp.metrics import Space
from metricdp.testing.checked import Checked, Law, require, run_laws

__all__ = ["check_channel"]

_ROWS = 200


def check_channel(channel: Channel, space: Space | None = None, *, only: Iterable[str] | None = None) -> Checked:
    """Check a channel.

    - rows: weights are whole numbers, none negative, and every row sums to the common total;
    - labels: no input and no output stands twice;
    - view: the matrix of floats is what the weights say;
    - guarantee: it holds, decided exactly; for ``space`` where that is given;
    - equality: a copy and a pickled copy are equal, and have one hash;
    - json: ``Channel.from_json`` reads what ``to_json`` writes, where the labels can be written;
    - releases: every input is released as an output that its row allows.

    Args:
        channel: the channel.
        space: the points and the metric that it shall be private for; its own promise where it is not given.
        only: the names of the laws to check; all where it is not given.

    Raises:
        ConformanceError: a law is broken; it says which.

    >>> import metricdp as mdp
    >>> print(check_channel(mdp.Channel.from_matrix("ab", "ab", [["2/3", "1/3"], ["1/3", "2/3"]]), only=["rows"]))
    Channel(2 inputs, 2 outputs, ...) keeps 1 laws: rows
    """
    if not isinstance(channel, Channel):
        raise ArgumentError(
            f"a Channel is wanted, such as Channel.from_matrix(inputs, outputs, P), not {type(channel).__name__}"
        )
    laws: dict[str, Law] = {
        "rows": lambda: _rows(channel),
        "labels": lambda: _labels(channel),
        "view": lambda: _view(channel),
        "guarantee": lambda: _guarantee(channel, space),
        "equality": lambda: _equality(channel),
        "json": lambda: _json(channel),
        "releases": lambda: _releases(channel),
    }
    return run_laws(channel, laws, only)


def _rows(channel: Channel) -> None:
    for name, row in zip(channel.inputs, channel.weights.tolist(), strict=True):
        require(all(isinstance(weight, int) and weight >= 0 for weight in row), f"a weight of {name!r} is negative")
        require(sum(row) == channel.total, f"the weights of {name!r} sum to {sum(row)}, not to {channel.total}")


def _labels(channel: Channel) -> None:
    for what, labels in (("input", channel.inputs), ("output", channel.outputs)):
        require(len(set(labels)) == len(labels), f"an {what} stands twice")
    require(channel.weights.shape == (len(channel.inputs), len(channel.outputs)), "the weights have another shape")


def _view(channel: Channel) -> None:
    exact = np.array([[float(Fraction(weight, channel.total)) for weight in row] for row in channel.weights.tolist()])
    require(np.allclose(channel.matrix, exact, rtol=1e-12, atol=0), "the matrix of floats is not what the weights say")
    require(not channel.matrix.flags.writeable, "the matrix of floats can be written to")


def _guarantee(channel: Channel, space: Space | None) -> None:
    promise = channel.guarantee
    inside = Space(channel.inputs, promise.metric) if space is None else space
    verdict = verify(channel, inside, promise.delta if space is None else 0)
    require(verdict.holds, str(verdict))


def _equality(channel: Channel) -> None:
    for made in (copy.copy(channel), copy.deepcopy(channel), pickle.loads(pickle.dumps(channel))):
        require(made == channel and hash(made) == hash(channel), "a copy is not equal to it, or has another hash")


def _json(channel: Channel) -> str | None:
    try:
        written = json.dumps(channel.to_json())
    except (ArgumentError, TypeError, ValueError) as error:
        return f"its labels have no form in JSON: {error}"
    read = Channel.from_json(json.loads(written))
    require(read == channel, "what was written as JSON reads as another channel")
    return None


def _releases(channel: Channel) -> None:
    for place, name in enumerate(channel.inputs):
        for output in channel.release([name] * _ROWS):
            allowed = output in channel.outputs and channel.weights[place, channel.column(output)] > 0
            require(allowed, f"{name!r} was released as {output!r}, which its row does not allow")
