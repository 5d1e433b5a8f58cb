"""Evidence from outside: how private a box is, whoever wrote it.

`audit` searches pairs of secrets and sets of releases, and gives a lower bound on the true scale that holds at a stated
confidence whenever one stops. It proves nothing from above: `metricdp.channels.verify` does that for channels.
"""

from metricdp.audit.audit import audit
from metricdp.audit.boxes.box import Box, Failure, one_at_a_time, rows
from metricdp.audit.boxes.followed import followed
from metricdp.audit.boxes.program import Program
from metricdp.audit.boxes.samples import Samples
from metricdp.audit.events.event import Event
from metricdp.audit.evidence import Evidence, Searched, Tested
from metricdp.lazy import listing

__all__ = [
    "Box",
    "Event",
    "Evidence",
    "Failure",
    "Program",
    "Samples",
    "Searched",
    "Tested",
    "audit",
    "followed",
    "one_at_a_time",
    "rows",
]

__dir__ = listing(__all__)
