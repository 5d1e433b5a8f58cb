"""Whether a privacy type has a universally optimal mechanism at all, and one example that always exists."""

from __future__ import annotations

import functools
import itertools
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from metricdp.adversaries.constraints_matrix import constraints_matrix
from metricdp.adversaries.distance_order import compare_distances
from metricdp.adversaries.losses import as_loss
from metricdp.adversaries.payoff import Loss
from metricdp.adversaries.prior import Prior
from metricdp.channels.certified import Certified
from metricdp.channels.channel import Channel
from metricdp.channels.serialize import label_document
from metricdp.channels.verify import verify
from metricdp.design.arguments import check_space
from metricdp.design.universal._private_columns import PrivacyType, fall
from metricdp.design.universal._universally_optimal import Universality, universally_optimal
from metricdp.errors import ArgumentError, ImpossibleError
from metricdp.exact.progress import Progress, Stopwatch
from metricdp.exact.results import Result, number_json
from metricdp.metrics import Guarantee, Space

__all__ = ["UniversalExample", "UniversalMechanism", "universal_example", "universal_mechanism"]


@dataclass(frozen=True, repr=False)
class UniversalMechanism(Result):
    """Whether some mechanism is universally optimal for a loss, with the mechanism or the refutation.

    Attributes:
        channel: a universally optimal mechanism, verified; None if there is none.
        proof: why it is; None if there is none.
        witness: if there is none, some priors such that no private mechanism is the best for all of them.
        shortfall: by how much at least the losses of any one private mechanism, summed over the ``witness``, exceed
            the sum of the least ones.
        purpose: the loss function, with rational entries.
    """

    channel: Certified | None
    proof: Universality | None
    witness: tuple[Prior, ...]
    shortfall: Fraction
    purpose: Loss

    @property
    def holds(self) -> bool:
        """Whether there is one; proved either way."""
        return self.channel is not None

    def __bool__(self) -> bool:
        return self.holds

    @property
    def reason(self) -> str:
        """Why there is none; empty if there is one."""
        return "" if self.holds else f"no private mechanism is the best for each of {len(self.witness)} priors"

    def to_json(self) -> dict[str, Any]:
        """The mechanism, or the priors that refute all."""
        return {
            "holds": self.holds,
            "loss_by": self.purpose.name,
            "channel": None if self.channel is None else self.channel.to_json(),
            "witness": [[number_json(share) for share in prior.fractions] for prior in self.witness],
            "shortfall": number_json(self.shortfall),
            "reason": self.reason,
        }

    def __repr__(self) -> str:
        return f"UniversalMechanism(holds={self.holds}, {self.purpose.name!r})"

    def __str__(self) -> str:
        if self.channel is not None:
            return f"A mechanism of {len(self.channel.outputs)} outputs is {self.proof}"
        listed = "".join(f"\n  {prior}" for prior in self.witness)
        return f"No private mechanism is universally optimal for {self.purpose.name!r}: none is the best for{listed}"


def universal_mechanism(
    space: Space, loss: Any, *, time_limit: float | None = None, progress: Progress | None = None
) -> UniversalMechanism:
    """Find a mechanism that is the best of its type for every prior, or prove that there is none.

    Private mechanisms are points a of a polytope (weights of extreme columns, see `PrivateColumns`), and those that are
    the best for one prior are a face of it. For a list of priors, the mechanism with the least sum of losses is found:
    if that sum exceeds the sum of the least losses, no mechanism is the best for all of them, which is the refutation.
    Otherwise this mechanism is, and `universally_optimal` decides about all priors; a prior that refutes it joins the
    list. Each time the common face loses a dimension, so it ends.

    Where exp(-d) is irrational, a refutation stays a proof, and a mechanism is optimal up to 1e-12.

    Args:
        space: the points and d, as small as for `universally_optimal`.
        loss: l; see `metricdp.adversaries.as_loss`. Irrational entries are taken as their floats, exactly.
        time_limit: seconds after which it is given up.
        progress: is given an `Update` after each extreme prior of the mechanism at hand.

    Raises:
        ArgumentError: if an argument cannot be used, or the question is not decided since exp(-d) is irrational.
        TooLargeError: if the space is too large, or the time limit is reached.

    References:
        Paper 5, Corollaries 7 and 13, Theorem 12; paper 1, Theorem 9.

    >>> import metricdp as mdp
    >>> print(universal_mechanism(mdp.Space(range(3), mdp.ln(2) * mdp.metrics.discrete()), "bin"))
    No private mechanism is universally optimal for 'bin': none is the best for
      0 1/3, 1 1/3, 2 1/3
      0 0, 1 1/2, 2 1/2
    >>> print(universal_mechanism(mdp.Space.line(3, mdp.ln(2) * mdp.metrics.absolute()), "bin"))
    A mechanism of 3 outputs is universally optimal for 'bin': proved by 14 extreme priors.
    """
    watch = Stopwatch(time_limit, progress)
    check_space(space, "universal_mechanism")
    purpose = as_loss(loss, space.points, space).rounded()
    held = PrivacyType.of(space, watch)
    priors = [Prior.uniform(space.points)]
    least = Fraction(0)
    for _ in range(held.columns + 2):
        watch.check("to find a universally optimal mechanism")
        least += held.least_loss(priors[-1:], purpose)[1].value
        relaxed, strict = held.least_loss(priors, purpose)
        if relaxed.value > least:
            return UniversalMechanism(None, None, tuple(priors), relaxed.value - least, purpose)
        channel = held.channel(strict)
        left = None if time_limit is None else max(watch.left, 1e-3)
        found = universally_optimal(channel, space, purpose, time_limit=left, progress=progress)
        if found:
            return UniversalMechanism(channel, found, (), Fraction(0), purpose)
        if found.witness is None:
            break
        priors.append(found.witness)
    raise ArgumentError("not decided: exp(-d) is irrational here; a level such as ln 2 makes it rational")


@dataclass(frozen=True, repr=False)
class UniversalExample(Result):
    """A mechanism that is universally optimal for a loss that is monotone and not trivial.

    Attributes:
        channel: the mechanism, verified.
        loss: the loss: which of ``pair`` is it.
        pair: two points at the least distance.
    """

    channel: Certified
    loss: Loss
    pair: tuple[Any, Any]

    def to_json(self) -> dict[str, Any]:
        """The mechanism and the two points."""
        return {"channel": self.channel.to_json(), "pair": [label_document(point) for point in self.pair]}

    def __repr__(self) -> str:
        return f"UniversalExample({self.pair[0]!r} or {self.pair[1]!r}, {len(self.channel.inputs)} inputs)"


def universal_example(space: Space) -> UniversalExample:
    """A universally optimal mechanism for a monotone loss that is not trivial, in any type with two points or more.

    Let d be the least distance, and x, x' two points so far apart. With ``α = exp(-d)``, the mechanism says "x" with
    probability 1 / (1 + α) for x, and α / (1 + α) for every other point; else it says "x'". The loss is 0 for the right
    guess among these two actions and 1 else. On other points it does not depend on the action, so only x and x' count,
    and there the mechanism is the best by Corollary 9.

    The paper lifts the loss with zeros on the other points. That differs from this one by a function of the secret
    alone, so it has the same optimal mechanisms; but it is not monotone in the sense of its Definition 6, and this is.

    Guarantee:
        ``space.metric``, verified.

    Raises:
        ImpossibleError: no two points are at a finite, positive distance.

    References:
        Paper 5, Theorem 10 with its proof, and Theorem A4.

    >>> import metricdp as mdp
    >>> example = universal_example(mdp.Space("abc", mdp.ln(2) * mdp.metrics.discrete()))
    >>> print(example.channel)
    channel of 3 inputs and 2 outputs, weights out of 3
    ln 2·[x ≠ y]-private
         a    b
    a  2/3  1/3
    b  1/3  2/3
    c  1/3  2/3
    """
    check_space(space, "universal_example")
    phi = constraints_matrix(space)
    firsts = sorted(set(phi.representatives))
    pairs = [(i, j) for i, j in itertools.combinations(firsts, 2) if phi.exactly(i, j) != 0]
    if not pairs:
        raise ImpossibleError("no two points are at a finite, positive distance, so no mechanism has to choose")

    def apart(one: tuple[int, int], two: tuple[int, int]) -> int:
        return compare_distances(space.metric, *((space.points[i], space.points[j]) for i, j in (one, two)))

    x, other = min(pairs, key=functools.cmp_to_key(apart))
    alpha = Fraction(fall(phi, x, other).upper)
    near = [1 / (1 + alpha), alpha / (1 + alpha)]
    rows = [near if first == x else near[::-1] for first in phi.representatives]
    pair = space.points[x], space.points[other]
    plain = Channel.from_matrix(space.points, pair, rows)
    verdict = verify(plain, space)
    if not verdict:
        raise ImpossibleError(f"the channel could not be proved private: {verdict}")
    channel = Certified(plain.inputs, plain.outputs, plain.weights, plain.total, Guarantee(space.metric))
    table = [[int(first != guess) for first in phi.representatives] for guess in (x, other)]
    return UniversalExample(channel, Loss.from_matrix(pair, space.points, table, "which of two"), pair)
