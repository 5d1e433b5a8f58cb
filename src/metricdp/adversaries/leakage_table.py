"""The leakage of a channel as a table: what the command ``metricdp leakage`` prints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from metricdp.adversaries._arguments import channel_for
from metricdp.adversaries.capacity import Capacity, ShannonCapacity, capacity, shannon_capacity
from metricdp.adversaries.leakage import min_entropy_leakage, shannon_leakage
from metricdp.adversaries.losses import as_gain
from metricdp.adversaries.payoff import Gain
from metricdp.adversaries.prior import Prior, as_prior
from metricdp.adversaries.vulnerability import uncertainty, vulnerability
from metricdp.channels.arguments import ChannelLike, SpaceLike
from metricdp.channels.cells import digits
from metricdp.channels.channel import Channel
from metricdp.exact.progress import Progress
from metricdp.exact.results import Result

__all__ = ["LeakageRow", "LeakageTable", "leakages"]

_GAP = 1e-6  # bits: finer than the table prints
_WORDS = {"identity": "guess the secret", "bin": "name a secret that it is not"}


@dataclass(frozen=True, repr=False)
class LeakageRow(Result):
    """One gain: what it is worth before and after an output.

    Attributes:
        gain: its name.
        before: the prior vulnerability.
        after: the posterior vulnerability.
    """

    gain: str
    before: Fraction
    after: Fraction

    @property
    def multiplicative(self) -> Fraction | None:
        """``after / before``; None where before is not positive."""
        return self.after / self.before if self.before > 0 else None

    @property
    def additive(self) -> Fraction:
        """``after - before``."""
        return self.after - self.before

    def to_json(self) -> dict[str, Any]:
        """The row as plain values for JSON."""
        return {
            "gain": self.gain,
            "before": _both(self.before),
            "after": _both(self.after),
            "multiplicative": None if self.multiplicative is None else _both(self.multiplicative),
            "additive": _both(self.additive),
        }

    def __repr__(self) -> str:
        return f"LeakageRow({self.gain!r}: {_short(self.before)} -> {_short(self.after)})"


@dataclass(frozen=True, repr=False)
class LeakageTable(Result):
    """What a channel leaks of a prior, exactly, and at most of any prior.

    Attributes:
        prior: what is believed before.
        rows: one for each gain.
        min_entropy: the min-entropy leakage in bits.
        shannon: the mutual information in bits.
        capacity: the most for any prior and gain.
        shannon_capacity: the most bits for any prior.
        error: expected distance of the best guess before and after, where a space was given; floats.

    >>> C = Channel.from_matrix("ab", "yz", [["2/3", "1/3"], ["1/3", "2/3"]])
    >>> print(leakages("uniform", C))
    gain                          before  after  ratio  difference
    guess the secret                 1/2    2/3    4/3         1/6
    name a secret that it is not     1/2    2/3    4/3         1/6
    any gain, any prior: at most a ratio of 4/3 and a difference of 1/3
    min-entropy leakage: 0.415037 bits, at most 0.415037 for any prior
    Shannon leakage: 0.081704 bits, at most 0.081704 for any prior
    """

    prior: Prior
    rows: tuple[LeakageRow, ...]
    min_entropy: float
    shannon: float
    capacity: Capacity[Fraction]
    shannon_capacity: ShannonCapacity
    error: tuple[float, float] | None = None

    def __repr__(self) -> str:
        rows = ", ".join(f"{row.gain!r}: {_short(row.before)} -> {_short(row.after)}" for row in self.rows)
        return f"LeakageTable({rows}, min_entropy={self.min_entropy:.6g}, shannon={self.shannon:.6g})"

    def __str__(self) -> str:
        cells = [["gain", "before", "after", "ratio", "difference"]]
        for row in self.rows:
            numbers = (row.before, row.after, row.multiplicative, row.additive)
            cells.append([_WORDS.get(row.gain, row.gain), *(_short(number) for number in numbers)])
        widths = [max(len(line[place]) for line in cells) for place in range(5)]
        lines = []
        for line in cells:
            rest = (cell.rjust(width) for cell, width in zip(line[1:], widths[1:], strict=True))
            lines.append("  ".join([line[0].ljust(widths[0]), *rest]))
        most = self.capacity
        lines += [
            f"any gain, any prior: at most a ratio of {_short(most.multiplicative)} and "
            f"a difference of {_short(most.additive)}",
            f"min-entropy leakage: {self.min_entropy:.6g} bits, at most {most.bits:.6g} for any prior",
            f"Shannon leakage: {self.shannon:.5g} bits, at most {self.shannon_capacity.upper:.5g} for any prior",
        ]
        if self.error is not None:
            lines.append(f"expected error of the best guess: {self.error[0]:.6g} before, {self.error[1]:.6g} after")
        return "\n".join(lines)

    def to_json(self) -> dict[str, Any]:
        """The table as plain values for JSON; exact numbers as text beside their floats."""
        document: dict[str, Any] = {
            "rows": [row.to_json() for row in self.rows],
            "min_entropy_leakage": self.min_entropy,
            "shannon_leakage": self.shannon,
            "capacity": {
                "multiplicative": _both(self.capacity.multiplicative),
                "additive": _both(self.capacity.additive),
                "bits": self.capacity.bits,
            },
            "shannon_capacity": {"lower": self.shannon_capacity.lower, "upper": self.shannon_capacity.upper},
        }
        if self.error is not None:
            document["expected_error"] = {"before": self.error[0], "after": self.error[1]}
        return document


def leakages(
    prior: Any,
    channel: ChannelLike,
    gains: Sequence[Any] = ("identity", "bin"),
    *,
    space: SpaceLike | None = None,
    time_limit: float | None = None,
    progress: Progress | None = None,
) -> LeakageTable:
    """What a channel leaks of a prior: vulnerabilities and leakages for some gains, and the capacities.

    Args:
        prior: see `metricdp.adversaries.as_prior`.
        channel: whose inputs are the secrets.
        gains: see `metricdp.adversaries.as_gain`.
        space: where given, the expected distance of the best guess is told too.
        time_limit: seconds for the Shannon capacity, whose bounds are farther apart where they do not suffice.
        progress: told how near these bounds are.

    References:
        Paper 5, Section II.

    >>> C = Channel.from_matrix("ab", "yz", [["2/3", "1/3"], ["1/3", "2/3"]])
    >>> leakages("uniform", C).rows[0]
    LeakageRow('identity': 1/2 -> 2/3)
    """
    channel = channel_for(prior, channel, "leakages", space=space)
    belief = as_prior(prior, channel.inputs)
    rows = tuple(_row(belief, channel, as_gain(gain, channel.inputs, space)) for gain in gains)
    error = None
    if space is not None:
        error = (
            uncertainty(belief, None, "distance", space=space),
            uncertainty(belief, channel, "distance", space=space),
        )
    return LeakageTable(
        belief,
        rows,
        min_entropy_leakage(belief, channel),
        shannon_leakage(belief, channel),
        capacity(channel),
        shannon_capacity(channel, gap=_GAP, time_limit=time_limit, progress=progress),
        error,
    )


def _row(prior: Prior, channel: Channel, gain: Gain) -> LeakageRow:
    exact = gain.rounded()
    before, after = vulnerability(prior, None, exact, exact=True), vulnerability(prior, channel, exact, exact=True)
    return LeakageRow(gain.name, before, after)


def _short(number: Fraction | None) -> str:
    if number is None:
        return "-"
    return str(number) if number.denominator <= 10**4 else f"{float(number):.6g}"


def _both(number: Fraction) -> dict[str, Any]:
    whole = number.denominator == 1
    exact = digits(number.numerator) if whole else f"{digits(number.numerator)}/{digits(number.denominator)}"
    return {"exact": exact, "float": float(number)}
