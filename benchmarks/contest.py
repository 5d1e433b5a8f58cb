"""A contest between libraries in one process: who takes part, how it is measured, and how it is shown."""

from __future__ import annotations

import importlib.metadata
import math
import platform
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

OURS = "metricdp"
SLOW = 0.5  # seconds after which a call is not repeated more than once
TURNS = 3


@dataclass(frozen=True)
class Contestant:
    """Somebody who can do a task; ``count`` is how many times over one call does it, ``why`` why it may be faster."""

    name: str
    how: str
    call: Callable[[], Any]
    answer: Callable[[Any], str] = lambda result: ""
    count: int = 1
    why: str = ""


@dataclass(frozen=True)
class Result:
    task: str
    name: str
    how: str
    seconds: float  # for one
    ours_is: float | None  # times as fast
    answer: str
    why: str  # it is not, where it is not


Task = tuple[str, list[Contestant]]


# Measuring


def run_task(title: str, contestants: list[Contestant], seconds: float) -> list[Result]:
    """All contestants, in turns, so that whatever else the machine does falls on all alike."""
    best = [math.inf] * len(contestants)
    answers = [""] * len(contestants)
    for turn in range(TURNS):
        for number, one in enumerate(contestants):
            say(f"{title}: {one.name}, {one.how} ({turn + 1} of {TURNS})")
            if turn and best[number] * one.count > SLOW * TURNS:
                continue
            until = time.perf_counter() + seconds / TURNS
            repeats = 0
            while repeats < 2 or time.perf_counter() < until:
                begin = time.perf_counter()
                result = one.call()
                best[number] = min(best[number], (time.perf_counter() - begin) / one.count)
                repeats += 1
                if best[number] * one.count > SLOW:
                    break
            answers[number] = one.answer(result)
    ours = best[0]
    return [
        Result(title, one.name, one.how, best[n], None if one.name == OURS else best[n] / ours, answers[n], one.why)
        for n, one in enumerate(contestants)
    ]


def machine() -> dict[str, str]:
    facts = {"cpu": processor(), "python": platform.python_version()}
    for name in ("metricdp", "numpy", "python-flint", "highspy", "qif"):
        try:
            facts[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            facts[name] = "not installed"
    return facts


def processor() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for row in info.read_text().splitlines():
            if row.startswith("model name"):
                return row.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def say(words: str) -> None:
    print(f"  .. {words}", file=sys.stderr, flush=True)


# Showing


def show(title: str, peer: str, facts: dict[str, str], results: list[Result]) -> None:
    print(f"\n{title} on {facts['cpu']}")
    print(", ".join(f"{name} {version}" for name, version in facts.items() if name != "cpu"))
    for task in dict.fromkeys(result.task for result in results):
        print(f"\n{task:<70}{'time':>10}{'ours is':>10}   answer\n{'-' * 120}")
        for result in (one for one in results if one.task == task):
            times = "" if result.ours_is is None else f"{result.ours_is:,.2f}x"
            who = f"{result.name:<13} {result.how}"
            print(f"{who:<70}{duration(result.seconds):>10}{times:>10}   {result.answer}".rstrip())
    print("\nours is: how many times as fast the first row of the task is. time: for one, the best repeat.")
    summarise(peer, [result for result in results if result.name == peer and result.ours_is is not None])


def summarise(peer: str, compared: list[Result]) -> None:
    """Every comparison with the peer in one line, and why ours is slower where it is."""
    if not compared:
        return
    print(f"\n{f'beside {peer}':<100}{'ours is':>10}\n{'-' * 110}")
    for one in compared:
        print(f"{f'{one.task}: {one.how}':<100}{f'{one.ours_is:,.2f}x':>10}")
    slower = [one for one in compared if one.ours_is is not None and one.ours_is < 1]
    print(
        f"\nas fast or faster in {len(compared) - len(slower)} of {len(compared)}" + (", slower in:" if slower else "")
    )
    for one in slower:
        print(f"  {one.ours_is:.2f}x  {one.task}, beside {one.how}: {one.why or 'no reason is known'}")


def duration(seconds: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"
