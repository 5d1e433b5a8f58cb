"""For every test: the folders come first, so that a function such as ``channels.verify`` stays ahead of its module."""

import metricdp.adversaries
import metricdp.channels
import metricdp.design
import metricdp.mechanisms
import metricdp.metrics  # noqa: F401
