"""Two calls as one: what a call leaves behind for the next one to tell."""

from __future__ import annotations

from typing import Any

import numpy as np

from metricdp.audit.boxes.as_box import as_box
from metricdp.audit.boxes.box import Batch, Box
from metricdp.audit.boxes.samples import Samples
from metricdp.errors import ArgumentError
from metricdp.exact.arrays import Booleans

__all__ = ["Followed", "followed"]


class Followed(Box):
    """A box that is called twice for each secret: with it, and then with a secret that is always the same.

    Both releases together are one release. A box that keeps nothing of a secret is as private as before, since its
    second release has the same law whatever the first secret was. One that remembers it tells it here.
    """

    def __init__(self, box: Box) -> None:
        self.box = box
        self.name = f"{box.name}, called twice"
        self.guarantee = box.guarantee
        self.block = max(1, box.block // 2)

    def draw(self, pair: tuple[Any, Any], labels: Booleans) -> Batch:
        """Every label's secret, and after each of them the one of both secrets whose text comes first."""
        between = repr(pair[0]) < repr(pair[1])
        asked = np.full(2 * labels.size, between)
        asked[::2] = labels
        batch = self.box.draw(pair, asked)
        self.block, self.note = max(1, self.box.block // 2), self.box.note
        size = len(batch) // 2
        seconds = None if batch.seconds is None else batch.seconds[: 2 * size].reshape(size, 2).sum(axis=1)
        return Batch(_in_twos(batch.releases, size), seconds, batch.interrupted, batch.exhausted)


def followed(mechanism: Any) -> Followed:
    """Say that every call is followed by another one, whose release may tell the secret of the first as well.

    The null hypothesis of an audit is about each call given all earlier ones, so it allows a box to tell secrets of
    earlier calls. Of two calls as one it does not: given all earlier calls, both releases together must be s·d-private
    in the secret of the first.

    Raises:
        ArgumentError: if there is nothing to call: files of samples.

    >>> import metricdp as mdp
    >>> noise = mdp.geometric(mdp.metrics.absolute())
    >>> mdp.audit.audit(mdp.audit.followed(noise), [(0, 1)], samples=1000).holds
    True
    """
    box = as_box(mechanism)
    if isinstance(box, Samples):
        raise ArgumentError("samples cannot be asked again: give a mechanism, a function or 'command:...'")
    return Followed(box)


def _in_twos(releases: Any, size: int) -> Any:
    """Neighbours as one release: a wider row, where they are numbers, or a tuple."""
    if isinstance(releases, np.ndarray) and releases.ndim <= 2 and releases.dtype.kind in "biuf":
        return np.ascontiguousarray(releases[: 2 * size]).reshape(size, -1 if size else 2)
    return [(releases[2 * place], releases[2 * place + 1]) for place in range(size)]
