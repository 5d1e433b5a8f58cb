"""Finite mechanisms as matrices of integers: verify, certify, compose, refine.

>>> import metricdp as mdp
>>> C = of(mdp.randomized_response(["yes", "no"], mdp.ln(3)), ["yes", "no"])
>>> verify(C, mdp.Space(["yes", "no"], mdp.ln(3) * mdp.metrics.discrete())).scale
1.0
"""

from metricdp.channels.algebra import choice, equivalent, merged, parallel, restrict, sequential
from metricdp.channels.certified import Certified
from metricdp.channels.certify import certify
from metricdp.channels.channel import Channel
from metricdp.channels.drawn import random_channel, repeated
from metricdp.channels.of import of
from metricdp.channels.refine.refinement import Refinement, refines
from metricdp.channels.verify import verify
from metricdp.lazy import listing

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
    "random_channel",
    "refines",
    "repeated",
    "restrict",
    "sequential",
    "verify",
]

__dir__ = listing(__all__)
