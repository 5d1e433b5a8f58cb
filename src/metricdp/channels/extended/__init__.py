"""Mechanisms on every point between the inputs of a channel."""

from metricdp.channels.extended._blurred import Blurred, blurred, read_bounds
from metricdp.channels.extended._extended import Extended, extended
from metricdp.channels.extended._spline import spline_weights
from metricdp.lazy import listing

__all__ = ["Blurred", "Extended", "blurred", "extended", "read_bounds", "spline_weights"]

__dir__ = listing(__all__)
