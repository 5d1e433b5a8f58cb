"""The noise of many requests, drawn together: a draw for one value takes nearly as long as one for a hundred."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from metricdp.ledger import Account, What
from metricdp.mechanisms.mechanism import Mechanism
from metricdp.metrics import Guarantee

__all__ = ["WantedRelease", "drawn_together"]


@dataclass(frozen=True)
class WantedRelease:
    """A request for a release that may be made, as far as can be told before its noise is drawn.

    Attributes:
        mechanism: that releases.
        rows: the secrets.
        cost: of all of them together.
        cost_json: the same as plain values.
        what: it is for.
        account: of their subject, as it is opened where there is none yet.
        key: of the request, if it has one.
        request: what the key is bound to.
    """

    mechanism: Mechanism
    rows: list[Any]
    cost: Guarantee
    cost_json: dict[str, Any]
    what: What
    account: Account
    key: str | None = None
    request: Any = None


def drawn_together(wanted: Sequence[WantedRelease]) -> list[list[Any] | Exception]:
    """For each of these its released values, or the error that refuses it.

    Those of one mechanism are drawn in one call where all their secrets are floats, or places and vectors of floats: no
    request has a say in how the secrets of another one are read. Where one of them is refused, each is drawn by itself.
    """
    done: list[list[Any] | Exception | None] = [None] * len(wanted)
    alike: dict[tuple[int, int], list[int]] = {}
    for number, one in enumerate(wanted):
        size = _floats(one.rows)
        if size is not None:
            alike.setdefault((id(one.mechanism), size), []).append(number)
    for numbers in alike.values():
        if len(numbers) > 1:
            rows = [row for number in numbers for row in wanted[number].rows]
            drawn = _drawn(wanted[numbers[0]].mechanism, rows)
            if isinstance(drawn, list):
                start = 0
                for number in numbers:
                    end = start + len(wanted[number].rows)
                    done[number], start = drawn[start:end], end
    return [
        _drawn(one.mechanism, one.rows) if found is None else found for one, found in zip(wanted, done, strict=True)
    ]


def _drawn(mechanism: Mechanism, rows: list[Any]) -> list[Any] | Exception:
    try:
        return [list(one) if isinstance(one, tuple) else one for one in list(mechanism.release(rows))]
    except Exception as error:
        return error


def _floats(rows: list[Any]) -> int | None:
    """0 where all are floats, the length where all are lists of that many floats, otherwise None."""
    first = rows[0]
    if type(first) is float:
        return 0 if all(type(row) is float for row in rows) else None
    if type(first) is not list or not first:
        return None
    size = len(first)
    for row in rows:
        if type(row) is not list or len(row) != size or not all(type(part) is float for part in row):
            return None
    return size
