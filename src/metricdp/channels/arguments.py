"""Arguments of functions of channels: taken where it is clear what was meant, else the error says how to make it.

| where this is meant | this is taken too |
| --- | --- |
| a `Channel` | an array, rows, a dict or a frame of probabilities; a mechanism, where its inputs are known |
| a `Space` | a metric, where the points are known |
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from metricdp.channels.channel import Channel
from metricdp.errors import ArgumentError, MetricDPError
from metricdp.exact.lists import as_list
from metricdp.metrics import Metric, Space

__all__ = ["ChannelLike", "SpaceLike", "as_channel", "as_space", "place_in"]

ChannelLike = Channel | np.ndarray[Any, Any] | Sequence[Sequence[Any]] | Mapping[Any, Any]
"""What `as_channel` takes; frames, too."""

SpaceLike = Space | Metric
"""What `as_space` takes; a metric only where the points are known."""


def as_channel(value: Any, function: str, inputs: Iterable[Any] | None = None) -> Channel:
    """The channel that was meant.

    Args:
        value: a Channel; an array or rows of probabilities, inputs by outputs; a dict from inputs to rows, or to dicts
            from outputs to probabilities (outputs left out have none); a frame of pandas, whose index are the inputs
            and whose columns the outputs, or of polars, whose first column are the inputs where it has no numbers; or
            a mechanism, where ``inputs`` are known.
        function: who asks, for the error.
        inputs: the labels of rows that have none; where there are not as many, rows are counted from 0. Where they
            are as many as the columns, they are the labels of these as well.

    Raises:
        ArgumentError: it is nothing of the kind; says how to make a channel.

    >>> as_channel([[0.5, 0.5], [0, 1]], "verify", inputs="ab").inputs
    ('a', 'b')
    >>> as_channel({"a": {"y": 1}, "b": {"y": 0.5, "z": 0.5}}, "verify").outputs
    ('y', 'z')
    """
    if isinstance(value, Channel):
        return value
    if isinstance(value, Mapping):
        return _of_mapping(value)
    if hasattr(value, "columns") and hasattr(value, "to_numpy"):
        return _of_frame(value)
    names = None if inputs is None else tuple(as_list(inputs, "inputs"))
    if callable(getattr(value, "law", None)) and names is not None:
        from metricdp.channels.of import of

        return of(value, names)
    rows = value if isinstance(value, np.ndarray) and value.ndim == 2 else _rows(value)
    if rows is None:
        raise ArgumentError(_how_to(value, function))
    return _labelled(rows, names)


def as_space(value: Any, function: str, points: Iterable[Any] | None = None) -> Space:
    """The space that was meant: a Space, or a metric where the points are known.

    Raises:
        ArgumentError: it is neither; says how to make a space.

    >>> from metricdp.metrics import absolute
    >>> len(as_space(absolute(), "verify", points=[0, 1, 2]))
    3
    """
    if isinstance(value, Space):
        return value
    if isinstance(value, Metric):
        if points is not None:
            return Space(points, value)
        raise ArgumentError(
            f"{function} takes a Space, not a metric alone: say which points, as in mdp.Space(points, metric)"
        )
    if isinstance(value, Iterable) and not isinstance(value, str | Mapping):
        raise ArgumentError(
            f"{function} takes a Space, not points alone: say how far apart they are, as in "
            "mdp.Space(points, mdp.ln(2) * mdp.metrics.euclidean())"
        )
    raise ArgumentError(f"{function} takes a Space, not {type(value).__name__}: mdp.Space(points, metric) makes one")


def place_in(space: Space, point: Any) -> int:
    """The place of a point in a space.

    Raises:
        ArgumentError: the space has no such point; names it.
    """
    try:
        return space.index(point)
    except MetricDPError:
        raise ArgumentError(f"{point!r} is not a point of the space") from None


def _how_to(value: Any, function: str) -> str:
    if callable(getattr(value, "law", None)):
        return f"{function} takes a Channel: mdp.channels.of(mechanism, inputs) makes one of a mechanism on some inputs"
    return (
        f"{function} takes a Channel, not {type(value).__name__}: mdp.Channel.from_matrix(inputs, outputs, rows) makes "
        "one of probabilities, mdp.channels.of(mechanism, inputs) of a mechanism"
    )


def _rows(value: Any) -> list[list[Any]] | None:
    """A list of lists of numbers, or of text such as "2/3"; None where it is something else."""
    if not isinstance(value, list | tuple) or not value:
        return None
    if not all(isinstance(row, list | tuple | np.ndarray) for row in value):
        return None
    return [list(row) for row in value]


def _labelled(rows: Any, names: tuple[Any, ...] | None) -> Channel:
    count, columns = len(rows), len(rows[0]) if len(rows) else 0
    inputs: Sequence[Any] = range(count) if names is None or len(names) != count else names
    outputs: Sequence[Any] = inputs if columns == count else range(columns)
    return Channel.from_matrix(inputs, outputs, rows)


def _of_mapping(value: Mapping[Any, Any]) -> Channel:
    rows = list(value.values())
    if all(isinstance(row, Mapping) for row in rows):
        outputs = list(dict.fromkeys(output for row in rows for output in row))
        return Channel.from_matrix(value, outputs, [[row.get(output, 0) for output in outputs] for row in rows])
    if any(isinstance(row, Mapping) for row in rows) or not all(isinstance(row, Iterable) for row in rows):
        raise ArgumentError("a dict is a channel if it leads from each input to a row, or to a dict of outputs")
    listed = [list(row) for row in rows]
    return Channel.from_matrix(value, range(len(listed[0]) if listed else 0), listed)


def _of_frame(frame: Any) -> Channel:
    outputs = list(frame.columns)
    index = getattr(frame, "index", None)
    if index is not None:
        return Channel.from_matrix(list(index), outputs, frame.to_numpy())
    rows = [list(row) for row in frame.rows()]
    if rows and any(isinstance(row[0], str) for row in rows):
        return Channel.from_matrix([row[0] for row in rows], outputs[1:], [row[1:] for row in rows])
    return Channel.from_matrix(range(len(rows)), outputs, rows)
