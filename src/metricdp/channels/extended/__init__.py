"""Mechanisms on every point between the inputs of a channel."""

from metricdp.channels.extended._extended import Extended, extended
from metricdp.lazy import listing

__all__ = ["Extended", "extended"]

__dir__ = listing(__all__)
