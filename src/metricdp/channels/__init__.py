"""Finite mechanisms as matrices of integers: verify, certify, compose, refine.

>>> import metricdp as mdp
>>> C = mdp.channels.of(mdp.randomized_response(["yes", "no"], mdp.ln(3)), ["yes", "no"])
>>> mdp.channels.verify(C, mdp.Space(["yes", "no"], mdp.ln(3) * mdp.metrics.discrete())).scale
1.0
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from metricdp.lazy import lazily

if TYPE_CHECKING:
    from metricdp.channels.algebra import choice, equivalent, merged, parallel, restrict, sequential
    from metricdp.channels.certified import Certified
    from metricdp.channels.certify import certify
    from metricdp.channels.channel import Channel
    from metricdp.channels.drawn import random_channel, repeated
    from metricdp.channels.of import of
    from metricdp.channels.planar import planar_geometric, planar_laplace
    from metricdp.channels.refine.refinement import Refinement, refines
    from metricdp.channels.verify import verify
else:
    __getattr__, __dir__ = lazily(
        __name__,
        {
            "Certified": "certified",
            "Channel": "channel",
            "Refinement": "refine.refinement",
            "certify": "certify",
            "choice": "algebra",
            "equivalent": "algebra",
            "merged": "algebra",
            "of": "of",
            "parallel": "algebra",
            "planar_geometric": "planar",
            "planar_laplace": "planar",
            "random_channel": "drawn",
            "refines": "refine.refinement",
            "repeated": "drawn",
            "restrict": "algebra",
            "sequential": "algebra",
            "verify": "verify",
        },
    )
__all__ = [
    "Certified",
    "Channel",
    "Refinement",
    "certify",
    "choice",
    "equivalent",
    "merged",
    "of",
    "parallel",
    "planar_geometric",
    "planar_laplace",
    "random_channel",
    "refines",
    "repeated",
    "restrict",
    "sequential",
    "verify",
]
