"""Mechanisms on show: broken ones, each with its fault, and sound ones. The audit's own exam.

>>> from metricdp.audit.gallery import broken
>>> exhibit = next(each for each in broken() if each.name == "rounded before noise")
>>> exhibit.audit(samples=20_000).holds
False
"""

from metricdp.audit.gallery.dp_sniper import DP_SNIPER
from metricdp.audit.gallery.exhibit import Exhibit
from metricdp.audit.gallery.machines import MACHINES
from metricdp.audit.gallery.numbers import NUMBERS
from metricdp.audit.gallery.points import POINTS
from metricdp.audit.gallery.sound import sound

__all__ = ["DP_SNIPER", "Exhibit", "broken", "sound"]


def broken() -> tuple[Exhibit, ...]:
    """Every broken mechanism, those among the twenty of DP-Sniper too."""
    return (*NUMBERS, *MACHINES, *POINTS, *(each for each in DP_SNIPER if each.fault))
