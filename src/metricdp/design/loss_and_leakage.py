"""The least loss at a given leakage, and the least leakage at a given loss.

Over all channels K with expected loss ``L = sum over x, z of p(x) K(x)(z) l(z, x)`` and vulnerability ``V = sum over z
of max over w of sum over x of p(x) K(x)(z) g(w, x)``, one of the two is to be as small as possible while the other
keeps to a limit. Both are linear programs with a variable for each entry of K and each output's share of V.

For all a, b >= 0 and every distribution q of actions for each output, no channel has

    a L + b V  <  sum over x of p(x) min over z of (a l(z, x) + b sum over w of q(z)(w) g(w, x))

since an adversary who draws the action from q(z) gains no more than one who takes the best. With a, b and q from the
duals of the program, that bounds the answer, in rational arithmetic whatever the solver's floats are.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np

from metricdp.adversaries.losses import as_gain, as_loss
from metricdp.adversaries.payoff import Gain, Loss
from metricdp.adversaries.prior import Prior, as_prior
from metricdp.adversaries.vulnerability import vulnerability
from metricdp.channels.channel import Channel
from metricdp.channels.verify import verify
from metricdp.design.arguments import check_gap, check_space
from metricdp.errors import ArgumentError
from metricdp.exact.arrays import Floats
from metricdp.exact.balls import float_below
from metricdp.exact.level import rational
from metricdp.exact.progress import Progress, Stopwatch
from metricdp.exact.results import Result, number_json, short
from metricdp.metrics import Space
from metricdp.metrics.verdict import Verdict
from metricdp.programs import LinearProgram, Solution, Sparse

__all__ = ["LossAndLeakage", "least_loss", "least_vulnerability"]

_DROPPED = (0.0, 1e-9, 1e-7)
"""Shares of a row that are taken to be the solver's noise, one after the other, until the answer keeps to the limit."""

_FINEST = 2**40
"""Duals are rounded to multiples of one part in this many."""

_MIXES = tuple(4.0**-power for power in range(20, -1, -1))

Minimised = Literal["loss", "vulnerability"]


@dataclass(frozen=True, repr=False)
class LossAndLeakage(Result):
    """A channel that keeps to a limit of loss or of vulnerability, and has nearly the least of the other.

    Attributes:
        channel: it makes no promise of privacy by itself; `verdict` says which one it keeps.
        space: its inputs and their metric.
        prior: what the adversary and the user believe of the secret before.
        minimised: "loss" or "vulnerability": which of the two is as small as possible.
        limit: what the other is at most.
        loss: the expected loss, exactly, for the loss as floats hold it where it is irrational.
        vulnerability: what the adversary's best action gains, exactly, for the gain as floats hold it likewise.
        before: the vulnerability before anything is released.
        bound: no channel within the limit has less; rounded down.
        finished: whether the gap that was asked for is proved.
    """

    channel: Channel
    space: Space
    prior: Prior
    minimised: Minimised
    limit: Fraction
    loss: Fraction
    vulnerability: Fraction
    before: Fraction
    bound: float
    finished: bool

    @property
    def leakage(self) -> float:
        """How many times what the adversary gains grows by the release: multiplicative leakage."""
        return float(self.vulnerability / self.before) if self.before else math.nan

    @property
    def gap(self) -> float:
        """By what share of it what was minimised may be smaller for another channel, at most."""
        return _gap(self.loss if self.minimised == "loss" else self.vulnerability, self.bound)

    @property
    def verdict(self) -> Verdict:
        """Which multiple of the space's metric the channel keeps."""
        return verify(self.channel, self.space)

    def to_json(self) -> dict[str, Any]:
        """The channel and what is proved of it as plain values for JSON."""
        return {
            "channel": self.channel.to_json(),
            "minimised": self.minimised,
            "limit": number_json(self.limit),
            "loss": number_json(self.loss),
            "vulnerability": number_json(self.vulnerability),
            "before": number_json(self.before),
            "bound": self.bound,
            "gap": number_json(self.gap),
            "finished": self.finished,
        }

    def __str__(self) -> str:
        loss = f"an expected loss of {short(float(self.loss), 6)}"
        gains = f"a vulnerability of {short(float(self.vulnerability), 6)} ({short(float(self.before), 6)} before)"
        first, other = (loss, gains) if self.minimised == "loss" else (gains, loss)
        open_end = "" if self.finished else "; not finished"
        return f"{first}, with {other}; no channel within the limit has less than {self.bound:.6g}{open_end}"

    def __repr__(self) -> str:
        return f"LossAndLeakage({self.channel.shape[0]} inputs, {self.channel.shape[1]} outputs, {self})"


def least_loss(
    space: Space,
    vulnerability: int | float | str | Fraction,
    prior: Any = "uniform",
    loss: Any = "distance",
    gain: Any = "identity",
    *,
    gap: float = 1e-6,
    time_limit: float | None = None,
    progress: Progress | None = None,
) -> LossAndLeakage:
    """The channel with the least expected loss among all from which an adversary gains at most so much.

    It bounds what one adversary gains on average, with the prior and the aim that are given. That is no privacy for
    others: an output may betray its secret. `metricdp.design.optimal` promises privacy for every prior.

    Args:
        space: the secrets and their metric.
        vulnerability: what the adversary's best action gains at most: for the gain "identity" the chance that the best
            guess of the secret is right. It is no less than before the release.
        prior: p; see `metricdp.adversaries.as_prior`.
        loss: l; see `metricdp.adversaries.as_loss`. Its actions are the outputs.
        gain: g; see `metricdp.adversaries.as_gain`.
        gap: the share of the loss that may be missed.
        time_limit: seconds after which the best so far is returned.
        progress: told when the solver begins and ends.

    Guarantee:
        None by itself; `LossAndLeakage.verdict` says which multiple of the metric is kept.

    Raises:
        ArgumentError: the limit is below the vulnerability before the release: no channel keeps to it.

    References:
        ElSalamouny, Chatzikokolakis and Palamidessi 2012, *Generalized differential privacy: regions of priors that
        admit robust optimal mechanisms*; qif's ``mechanism.g_vuln.min_loss_given_max_vuln``.

    >>> import metricdp as mdp
    >>> print(least_loss(mdp.Space.line(4), "1/2"))
    an expected loss of 0.5, with a vulnerability of 0.5 (0.25 before); no channel within the limit has less than 0.5
    """
    limit = rational(vulnerability, "vulnerability")
    case = _Case.of(space, "least_loss", prior, loss, gain, "loss", limit)
    if limit < case.before:
        raise ArgumentError(
            f"a vulnerability of at most {short(limit)} is less than before anything is released, "
            f"{short(case.before)}: no channel keeps to it"
        )
    return _solved(case, check_gap(gap), Stopwatch(time_limit, progress))


def least_vulnerability(
    space: Space,
    expected_loss: int | float | str | Fraction,
    prior: Any = "uniform",
    loss: Any = "distance",
    gain: Any = "identity",
    *,
    gap: float = 1e-6,
    time_limit: float | None = None,
    progress: Progress | None = None,
) -> LossAndLeakage:
    """The channel from which an adversary gains least, among all whose expected loss is at most so much.

    See `least_loss`, which this is the other side of.

    Args:
        space: the secrets and their metric.
        expected_loss: what the loss is at most, on average. Some output has to be that cheap for each secret.
        prior: p; see `metricdp.adversaries.as_prior`.
        loss: l; see `metricdp.adversaries.as_loss`. Its actions are the outputs.
        gain: g; see `metricdp.adversaries.as_gain`.
        gap: the share of the vulnerability that may be missed.
        time_limit: seconds after which the best so far is returned.
        progress: told when the solver begins and ends.

    Guarantee:
        None by itself; `LossAndLeakage.verdict` says which multiple of the metric is kept.

    Raises:
        ArgumentError: no channel has so small a loss.

    References:
        As for `least_loss`; qif's ``mechanism.g_vuln.min_vuln_given_max_loss``.

    >>> import metricdp as mdp
    >>> print(least_vulnerability(mdp.Space.line(4), "1/2"))
    a vulnerability of 0.5 (0.25 before), with an expected loss of 0.5; no channel within the limit has less than 0.5
    """
    limit = rational(expected_loss, "expected_loss")
    case = _Case.of(space, "least_vulnerability", prior, loss, gain, "vulnerability", limit)
    cheapest = case.loss_of(case.cheapest)
    if limit < cheapest:
        raise ArgumentError(f"an expected loss of at most {short(limit)}: no channel has less than {short(cheapest)}")
    return _solved(case, check_gap(gap), Stopwatch(time_limit, progress))


@dataclass(frozen=True)
class _Case:
    """What is asked for: the tables are rational, and both have a column for each secret."""

    space: Space
    prior: Prior
    loss: Loss
    gain: Gain
    minimised: Minimised
    limit: Fraction
    before: Fraction

    @classmethod
    def of(
        cls, space: Any, function: str, prior: Any, loss: Any, gain: Any, minimised: Minimised, limit: Fraction
    ) -> _Case:
        points = check_space(space, function).points
        belief = as_prior(prior, points)
        costs, gains = as_loss(loss, points, space).rounded(), as_gain(gain, points, space).rounded()
        return cls(space, belief, costs, gains, minimised, limit, vulnerability(belief, None, gains, exact=True))

    @property
    def shares(self) -> Floats:
        return np.array([float(share) for share in self.prior.fractions])

    def channel(self, table: Floats) -> Channel:
        """The channel whose rows are proportional to those of the table."""
        whole = np.where(table > 0, table, 0.0)
        return Channel.from_matrix(self.space.points, self.loss.actions, whole / whole.sum(axis=1, keepdims=True))

    @property
    def cheapest(self) -> Channel:
        """The channel of the least loss: each secret gives the output that costs least for it."""
        numbers, _ = self.loss.whole
        table = np.zeros(numbers.T.shape)
        table[np.arange(len(table)), [int(np.argmin(row)) for row in numbers.T]] = 1
        return self.channel(table)

    @property
    def constant(self) -> Channel:
        """The one output that costs least on average, whatever the secret: nothing is learned."""
        numbers, _ = self.loss.whole
        weights = np.array(self.prior.weights, dtype=object)
        table = np.zeros(numbers.T.shape)
        table[:, int(np.argmin(numbers.dot(weights)))] = 1
        return self.channel(table)

    def loss_of(self, channel: Channel) -> Fraction:
        numbers, common = self.loss.whole
        together = np.array(self.prior.weights, dtype=object)[:, None] * channel.weights
        return Fraction(int((together * numbers.T).sum()), self.prior.total * channel.total * common)

    def vulnerability_of(self, channel: Channel) -> Fraction:
        return vulnerability(self.prior, channel, self.gain, exact=True)

    def limited(self, channel: Channel) -> Fraction:
        """Of the two, the one that has the limit."""
        return self.vulnerability_of(channel) if self.minimised == "loss" else self.loss_of(channel)

    def fits(self, channel: Channel) -> bool:
        return self.limited(channel) <= self.limit


def _solved(case: _Case, gap: float, watch: Stopwatch) -> LossAndLeakage:
    watch.tell(0, 1, unit="programs")
    solution = _program(case).solve(time_limit=max(watch.left, 1e-3), presolve=True, interruptible=True)
    watch.tell(1, 1, unit="programs")
    safe = case.constant if case.minimised == "loss" else case.cheapest
    channel = _within(case, solution, safe) if solution.optimal else safe
    loss, gains = case.loss_of(channel), case.vulnerability_of(channel)
    bound = float_below(max(_bounds(case, solution)))
    reached = loss if case.minimised == "loss" else gains
    return LossAndLeakage(
        channel, case.space, case.prior, case.minimised, case.limit, loss, gains, case.before, bound,
        _gap(reached, bound) <= gap,
    )  # fmt: skip


def _gap(reached: Fraction, bound: float) -> float:
    missed = max(reached - Fraction(bound), Fraction(0))
    return float(missed / abs(reached)) if reached else (math.inf if missed else 0.0)


# The program: columns K(x)(z), output by output, then each output's share of V. Losses and gains are scaled to about 1.


def _scale(table: Floats) -> float:
    return float(np.abs(table).max()) or 1.0


def _program(case: _Case) -> LinearProgram:
    costs, gains = case.loss.matrix / _scale(case.loss.matrix), case.gain.matrix / _scale(case.gain.matrix)
    outputs, secrets = costs.shape
    joint = costs * case.shares
    size = outputs * secrets
    program = LinearProgram(tolerance=1e-10)
    losses = case.minimised == "loss"
    program.add_columns(joint.ravel() if losses else np.zeros(size), 0, 1)
    program.add_columns(np.zeros(outputs) if losses else np.ones(outputs), -math.inf, math.inf)
    program.add_rows(1, 1, Sparse.of({z * secrets + x: 1.0 for z in range(outputs)} for x in range(secrets)))
    if losses:
        limited, scale = {size + z: 1.0 for z in range(outputs)}, _scale(case.gain.matrix)
    else:
        limited, scale = (
            {place: value for place, value in enumerate(joint.ravel().tolist()) if value},
            _scale(case.loss.matrix),
        )
    most = min(case.limit / Fraction(scale), Fraction(2))  # no more is ever reached
    program.add_rows(-math.inf, float(most), Sparse.of([limited]))
    worth = [[(x, -value) for x, value in enumerate(row) if value] for row in (gains * case.shares).tolist()]
    shares = ({size + z: 1.0} | {z * secrets + x: v for x, v in row} for z in range(outputs) for row in worth)
    program.add_rows(0, math.inf, Sparse.of(shares))
    return program


def _within(case: _Case, solution: Solution, safe: Channel) -> Channel:
    """The solver's channel, moved by as little as it takes until it is within the limit, exactly."""
    outputs, secrets = case.loss.matrix.shape
    table = np.clip(solution.primal[: outputs * secrets].reshape(outputs, secrets).T, 0, None)
    if not (table.sum(axis=1) > 0.5).all():
        return safe
    for dropped in _DROPPED:
        cleaned = case.channel(np.where(table < dropped, 0.0, table))
        if case.fits(cleaned):
            return cleaned
    # what tells nothing, spread as the outputs are, leaves the best actions of all outputs better than others
    whole = case.channel(table).matrix
    aside = np.tile(case.shares @ whole, (secrets, 1)) if case.minimised == "loss" else safe.matrix
    for part in _MIXES:
        mixed = case.channel((1 - part) * whole + part * aside)
        if case.fits(mixed):
            return mixed
    return safe


def _bounds(case: _Case, solution: Solution) -> list[Fraction]:
    """Bounds on what is minimised: the one without the limit, and that of the duals where there are any."""
    losses = case.minimised == "loss"
    found = [case.loss_of(case.cheapest) if losses else case.before]
    if solution.optimal:
        outputs, secrets = case.loss.matrix.shape
        price = max(-float(solution.duals[secrets]), 0.0)
        actions = np.clip(solution.duals[secrets + 1 :].reshape(outputs, -1), 0, None)
        scaled = _scale(case.loss.matrix), _scale(case.gain.matrix)
        of_limit = Fraction(price) * Fraction(scaled[0] if losses else scaled[1])
        of_limit /= Fraction(scaled[1] if losses else scaled[0])
        weights = (Fraction(1), of_limit) if losses else (of_limit, Fraction(1))
        found.append(_least(case, *weights, actions) - of_limit * case.limit)
    return found


def _least(case: _Case, of_loss: Fraction, of_gain: Fraction, actions: Floats) -> Fraction:
    """What no channel's ``a L + b V`` is below, for these a, b and actions of an adversary, exactly."""
    costs, cost_unit = case.loss.whole
    gains, gain_unit = case.gain.whole
    drawn = _drawn(actions)
    total = of_loss / cost_unit, of_gain / (gain_unit * _FINEST)
    common = math.lcm(total[0].denominator, total[1].denominator)
    a, b = int(total[0] * common), int(total[1] * common)
    least = (a * costs + b * drawn.dot(gains)).min(axis=0)
    return Fraction(int(least.dot(np.array(case.prior.weights, dtype=object))), common * case.prior.total)


def _drawn(actions: Floats) -> Any:
    """A distribution of actions for each output, in integers that sum to `_FINEST`; any is valid."""
    sums = actions.sum(axis=1, keepdims=True)
    shares = np.where(sums > 0, actions / np.where(sums > 0, sums, 1), 0.0)
    whole: Any = np.floor(shares * _FINEST).astype(np.int64).astype(object)
    best = shares.argmax(axis=1)
    whole[np.arange(len(whole)), best] += _FINEST - whole.sum(axis=1)
    return whole
