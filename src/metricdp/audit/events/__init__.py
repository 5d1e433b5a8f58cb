"""Events: sets of releases that may tell two secrets apart, and how they are found."""

from metricdp.audit.events.event import Event

__all__ = ["Event"]
