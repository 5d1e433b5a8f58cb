"""What the service counts, as Prometheus reads it."""

from __future__ import annotations

import threading
from collections import Counter

__all__ = ["Counters"]


class Counters:
    """Counts by name and labels; by any number of threads.

    >>> counters = Counters()
    >>> counters.add("requests", path="/ask", status="200")
    >>> print(counters.text(), end="")
    metricdp_requests_total{path="/ask",status="200"} 1
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts: Counter[tuple[str, tuple[tuple[str, str], ...]]] = Counter()

    def add(self, name: str, number: int = 1, **labels: str) -> None:
        """Count some more."""
        with self._lock:
            self._counts[name, tuple(sorted(labels.items()))] += number

    def text(self) -> str:
        """A line for each count."""
        with self._lock:
            counts = sorted(self._counts.items())
        return "".join(
            f"metricdp_{name}_total{'{' if labels else ''}"
            + ",".join(f'{key}="{value}"' for key, value in labels)
            + f"{'}' if labels else ''} {number}\n"
            for (name, labels), number in counts
        )
