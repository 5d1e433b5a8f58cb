"""Draws from exp(-distance) over the leaves of a tree, without a matrix of all pairs."""

from metricdp.mechanisms.trees._draws import TreeDraws
from metricdp.mechanisms.trees._spread import TreeSpread
from metricdp.mechanisms.trees._sums import TreeSums

__all__ = ["TreeDraws", "TreeSpread", "TreeSums"]
