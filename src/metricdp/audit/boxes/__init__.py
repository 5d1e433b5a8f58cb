"""Boxes: whatever takes a secret and gives a release, as the audit calls it."""

from metricdp.audit.boxes.as_box import as_box
from metricdp.audit.boxes.box import Batch, Box, Calls, Failure, Rows, one_at_a_time, rows
from metricdp.audit.boxes.program import Program
from metricdp.audit.boxes.samples import Samples

__all__ = ["Batch", "Box", "Calls", "Failure", "Program", "Rows", "Samples", "as_box", "one_at_a_time", "rows"]
