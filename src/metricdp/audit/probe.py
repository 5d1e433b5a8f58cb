"""The first calls of an audit: whether a box works at all, and how quick it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from metricdp.audit.boxes.box import Failure
from metricdp.audit.coins import WHOLE
from metricdp.errors import ArgumentError
from metricdp.visible import visible

if TYPE_CHECKING:
    from metricdp.audit.rounds import Rounds

__all__ = ["probe"]

_PROBE, _FIRST = 16, 2
_PROBES = 64
_LONGEST_TOLD = 120  # characters of what an error says


def probe(rounds: Rounds) -> None:
    """A few calls, to see whether the box works at all, and how quick it is.

    A program ends at the first secret that it fails on, so one draw may have asked for one secret only. It is
    drawn again until a release came, or both secrets have failed.
    """
    failures: set[str] = set()
    said: set[str] = set()
    fine = False
    for hunt in rounds.hunts[: max(1, min(8, rounds.left() // (8 * _PROBE)))]:
        failed: set[bool] = set()
        for _ in range(_PROBES):
            count = _FIRST if rounds.time_limit is not None and not rounds.calls else _PROBE
            batch, labels = rounds.draw(hunt.pair, min(count, max(1, rounds.left())), WHOLE // 2)
            hunt.add(batch, labels)
            for release, label in zip(batch.releases, labels.tolist(), strict=True):
                if isinstance(release, Failure):
                    failures.add(release.words)
                    said |= {release.message} - {""}
                    failed.add(label)
                else:
                    fine = True
            if fine or rounds.seconds_left() > 0 or rounds.after is not None:
                rounds.go_on()
            if fine or len(failed) == 2 or rounds.seconds_left() <= 0:
                break
        if rounds.seconds_left() <= 0:
            break
    if fine and rounds.time_limit is not None and rounds.box.block > 1 << 14:  # how quick many at once are
        rounds.hunts[0].add(*rounds.draw(rounds.hunts[0].pair, min(1 << 14, 1 + rounds.left() // 20), WHOLE // 2))
        rounds.go_on()
    if not fine:
        raise ArgumentError(
            f"{rounds.box.name} {' or '.join(sorted(failures))} on every call: there is nothing to test"
            + (f"; it says: {visible(min(said), _LONGEST_TOLD)}" if said else "")
        )
    rounds.go_on()
