"""Guarantees that were proved for a channel, and the latest verdicts, so that no proof is made twice."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable
from fractions import Fraction
from typing import TYPE_CHECKING

from metricdp.errors import ArgumentError, MetricDPError
from metricdp.metrics import Guarantee, Metric, Space, Verdict

if TYPE_CHECKING:
    from metricdp.channels.channel import Channel

__all__ = ["Proved", "known_verdict", "refuse_unless_kept", "remember"]

_MOST = 8


class Proved(Guarantee):
    """A guarantee that a theorem or `verify` has proved for the channel it is handed to; a plain one is verified."""

    @classmethod
    def of(cls, guarantee: Guarantee | None) -> Proved | None:
        """The same guarantee, said to be proved."""
        return None if guarantee is None else cls(guarantee.metric, guarantee.delta)

    @property
    def plain(self) -> Guarantee:
        """The guarantee itself."""
        return Guarantee(self.metric, self.delta)


_Key = tuple[Hashable, ...]
_VERDICTS: OrderedDict[_Key, Verdict] = OrderedDict()
_LOCK = threading.Lock()


def known_verdict(channel: Channel, metric: Metric, delta: Fraction) -> Verdict | None:
    """The latest verdict about an equal channel, for an equal metric and delta; None if `verify` has not decided it."""
    key = _key(channel, metric, delta)
    with _LOCK:
        return None if key is None else _VERDICTS.get(key)


def remember(channel: Channel, verdict: Verdict) -> Verdict:
    """Keep a verdict, so that a channel that has just been verified need not be verified again."""
    key = _key(channel, verdict.metric, verdict.delta)
    with _LOCK:
        if key is not None:
            _VERDICTS[key] = verdict
            _VERDICTS.move_to_end(key)
            while len(_VERDICTS) > _MOST:
                _VERDICTS.popitem(last=False)
    return verdict


def refuse_unless_kept(channel: Channel, guarantee: Guarantee) -> None:
    """Raise unless the channel is proved to keep a guarantee.

    Raises:
        ArgumentError: it does not, or that cannot be proved.
    """
    verdict = known_verdict(channel, guarantee.metric, guarantee.delta)
    if verdict is None:
        from metricdp.channels.verify import verify

        try:
            verdict = verify(channel, Space(channel.inputs, guarantee.metric), guarantee.delta)
        except MetricDPError as error:
            raise ArgumentError(f"the channel's promise cannot be verified: {error}") from None
    if not verdict:
        raise ArgumentError(f"the channel does not keep its promise. {' '.join(str(verdict).splitlines())}")


def _key(channel: Channel, metric: Metric, delta: Fraction) -> _Key | None:
    """Equal for what cannot differ in its verdict; None where the metric has points that have no hash."""
    labels = (*map(type, channel.inputs), None, *map(type, channel.outputs))
    key = (channel, labels, metric, delta)
    try:
        hash(key)
    except TypeError:
        return None
    return key
