"""Finite mechanisms as matrices of integers: verify, certify, compose, refine."""

from metricdp.channels.channel import Channel

__all__ = ["Channel"]
