"""Refinement: whether one channel is at least as safe as another, for every prior and every gain."""

from metricdp.channels.refine.refinement import Refinement, refines

__all__ = ["Refinement", "refines"]
