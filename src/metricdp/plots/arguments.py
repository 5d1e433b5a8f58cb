"""What a plot was given, checked: a mapping, numbers, something with a picture of the right kind, a figure, a panel."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from metricdp.errors import ArgumentError, MetricDPError
from metricdp.exact.arrays import Floats
from metricdp.metrics.space import Space

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["as_figure", "as_mapping", "as_numbers", "as_panel", "as_picture", "plain_numbers"]

_Picture = TypeVar("_Picture")


def as_mapping(given: Any, function: str, example: str) -> Mapping[str, Any]:
    """Things by name.

    Raises:
        ArgumentError: it is no mapping; shows how to write one.

    >>> as_mapping({"a": 1}, "curves", "{..}")
    {'a': 1}
    """
    if not isinstance(given, Mapping):
        raise ArgumentError(f"{function} takes a dict from names, such as {example}, not {type(given).__name__}")
    return given


def as_numbers(given: Any, function: str) -> Floats:
    """A list of numbers, NaN where there is None.

    Raises:
        ArgumentError: something else is among them, or it is no list.

    >>> as_numbers([1, None, "2"], "curves").tolist()
    [1.0, nan, 2.0]
    """
    try:
        if isinstance(given, str | bytes | Mapping | Space):
            raise TypeError
        return np.array([np.nan if value is None else float(value) for value in given], dtype=np.float64)
    except (TypeError, ValueError):
        raise ArgumentError(
            f"{function} wants a list of numbers, not {type(given).__name__}, or one with others in it"
        ) from None


def plain_numbers(numbers: Floats) -> list[float | None]:
    """Numbers for JSON, which knows neither NaN nor infinity: None where there are these.

    >>> plain_numbers(np.array([1.0, np.nan]))
    [1.0, None]
    """
    return [value if math.isfinite(value) else None for value in numbers.tolist()]


def as_picture(thing: Any, kind: type[_Picture], function: str, example: str, *details: Any) -> _Picture:
    """What a thing gives as its picture, of the kind that can be drawn so.

    Raises:
        ArgumentError: it gives none, or one of another kind.
    """
    if isinstance(thing, kind):
        return thing
    picture = getattr(thing, "picture", None)
    wanted = ArgumentError(f"{function} takes {example}, not {type(thing).__name__}")
    if not callable(picture) or isinstance(thing, type):
        raise wanted
    try:
        found = picture(*details)
    except MetricDPError:  # it says itself why it has none
        raise
    except TypeError:
        raise wanted from None
    if not isinstance(found, kind):
        raise wanted
    return found


def as_figure(given: Any, function: str) -> Figure:
    """A figure of matplotlib.

    Raises:
        ArgumentError: it is something else.
    """
    from matplotlib.figure import FigureBase

    if not isinstance(given, FigureBase):
        raise ArgumentError(f"{function} takes a figure, as plots return them, not {type(given).__name__}")
    return given  # type: ignore[return-value]


def as_panel(given: Any) -> Axes:
    """A panel of matplotlib.

    Raises:
        ArgumentError: it is something else.
    """
    from matplotlib.axes import Axes

    if not isinstance(given, Axes):
        raise ArgumentError(
            f"ax is a panel of matplotlib, as figure.add_subplot() makes it, not {type(given).__name__}"
        )
    return given
