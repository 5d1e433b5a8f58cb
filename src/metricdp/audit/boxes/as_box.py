"""Whatever somebody has, as a box."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

from metricdp.audit.boxes.box import Box, Calls, Rows
from metricdp.audit.boxes.program import BLOCK_LIMIT, Program
from metricdp.audit.boxes.samples import Samples, read_samples
from metricdp.errors import ArgumentError
from metricdp.mechanisms.mechanism import is_mechanism

__all__ = ["as_box"]


def as_box(mechanism: Any, time_limit: float | None = None) -> Box:
    """Whatever was given, as a box; where it is a program, a run takes no longer than all may take."""
    if isinstance(mechanism, Box):
        return mechanism
    if is_mechanism(mechanism):
        return Rows(mechanism.release, name=repr(mechanism), guarantee=mechanism.guarantee)
    if isinstance(mechanism, str) and mechanism.startswith("command:"):
        return Program(mechanism.removeprefix("command:"), min(BLOCK_LIMIT, time_limit or BLOCK_LIMIT))
    if isinstance(mechanism, (tuple, list)) and len(mechanism) == 2:
        parts = [read_samples(part) if isinstance(part, (str, Path)) else part for part in mechanism]
        return Samples(parts[0], parts[1])
    if inspect.iscoroutinefunction(mechanism):
        raise ArgumentError("the function is asynchronous: give one that waits for its release and returns it")
    if callable(mechanism):
        return Calls(mechanism)
    if callable(getattr(mechanism, "release", None)):
        return Calls(mechanism.release, name=repr(mechanism))
    raise ArgumentError(
        f"{type(mechanism).__name__} is no box: give a mechanism, a function, 'command:...' or two files of samples"
    )
