"""Posteriors and hypers: what an observation leaves of a prior, and all that can be left of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from metricdp.adversaries._arguments import channel_for
from metricdp.adversaries.float_priors import Priors, are_many, float_priors, float_shares
from metricdp.adversaries.pictures import SimplexPicture
from metricdp.adversaries.prior import Prior, as_prior
from metricdp.channels.arguments import ChannelLike
from metricdp.channels.cells import number_text
from metricdp.channels.channel import Channel
from metricdp.channels.serialize import label_document
from metricdp.errors import ArgumentError
from metricdp.exact.arrays import Floats
from metricdp.exact.lists import as_list
from metricdp.exact.results import Result
from metricdp.exact.weights import Weights
from metricdp.visible import visible

__all__ = ["Hyper", "hyper", "joint", "posterior", "posterior_floats", "posterior_given", "posteriors"]

_LARGEST_FRACTION = 10**4
_SHOWN = 4
_LEAST_SEEN = 1e-290  # the least probability of an output whose reciprocal is safe to multiply by
_BLOCK = 2**18  # bytes that are written at once, so that they are still in the cache when they are scaled


def posterior(prior: Any, channel: ChannelLike, output: Any) -> Prior:
    """What is believed of the secret once the output z is seen: ``p(x | z) = p(x) K(x)(z) / p(z)``, exactly.

    Args:
        prior: see `metricdp.adversaries.as_prior`; over the channel's inputs.
        channel: K; an array, rows, a dict or a frame of probabilities are taken, too.
        output: z, which can occur.

    Raises:
        ArgumentError: under this prior the output never occurs.

    References:
        Paper 1, Section 2 (Bayes); paper 5, Section II.

    >>> C = Channel.from_matrix("ab", "yz", [["2/3", "1/3"], ["1/3", "2/3"]])
    >>> print(posterior("uniform", C, "y"))
    a 2/3, b 1/3
    """
    return posterior_given(prior, channel, (output,))


def posterior_given(prior: Any, channel: ChannelLike, outputs: Iterable[Any]) -> Prior:
    """What is believed of the secret once the output is known to be one of several, exactly.

    >>> C = Channel.from_matrix("ab", "yz", [["2/3", "1/3"], ["1/3", "2/3"]])
    >>> posterior_given("uniform", C, "yz") == as_prior("uniform", C.inputs)
    True
    """
    channel = channel_for(prior, channel, "posterior_given")
    columns = sorted({channel.column(z) for z in as_list(outputs, "outputs")})
    belief = as_prior(prior, channel.inputs)
    seen = [sum(row[z] for z in columns) for row in channel.weights.tolist()]
    weights = [weight * likely for weight, likely in zip(belief.weights, seen, strict=True)]
    if not any(weights):
        names = ", ".join(repr(channel.outputs[z]) for z in columns)
        raise ArgumentError(
            f"under this prior the output {names} never occurs, so there is nothing to conclude from it"
        )
    return Prior._over(belief.points, weights)


def posteriors(prior: Any, channel: ChannelLike) -> dict[Any, Prior]:
    """The posterior of every output that can occur under the prior, exactly.

    >>> C = Channel.from_matrix("ab", "yz", [[1, 0], ["1/2", "1/2"]])
    >>> [print(z, "->", belief) for z, belief in posteriors("uniform", C).items()] and None
    y -> a 2/3, b 1/3
    z -> a 0, b 1
    """
    channel = channel_for(prior, channel, "posteriors")
    belief = as_prior(prior, channel.inputs)
    columns = joint(belief, channel).T.tolist()
    return {
        z: Prior._over(belief.points, column) for z, column in zip(channel.outputs, columns, strict=True) if any(column)
    }


def posterior_floats(prior: Any, channel: ChannelLike) -> Floats:
    """The posteriors as columns of floats, one for each output; NaN for an output that never occurs.

    A view, within a relative (number of inputs + 8) * 2^-53 of the posteriors, as long as nothing underflows.

    Args:
        prior: see `metricdp.adversaries.as_prior`; or many at once, one a row of a two-dimensional array of floats.
        channel: K.

    Returns:
        A matrix of inputs by outputs; for many priors an array of priors by inputs by outputs.

    >>> C = Channel.from_matrix("ab", "yz", [[0.75, 0.25], [0.25, 0.75]])
    >>> posterior_floats([0.5, 0.5], C).tolist()
    [[0.75, 0.25], [0.25, 0.75]]
    >>> posterior_floats(np.array([[0.5, 0.5], [0.0, 1.0]]), C).tolist()
    [[[0.75, 0.25], [0.25, 0.75]], [[0.0, 0.0], [1.0, 1.0]]]
    """
    channel = channel_for(prior, channel, "posterior_floats")
    if are_many(prior):
        return _many_posteriors(float_priors(prior, channel.inputs)[0], channel)
    shares, _ = float_shares(prior, channel.inputs)  # whatever they sum to, it cancels
    seen = shares.dot(channel.matrix)
    if seen.item(seen.argmin()) > _LEAST_SEEN:
        view: Floats = np.dot(shares[:, None], (1 / seen)[None, :])  # faster than to multiply two shapes elementwise
        view *= channel.matrix
        return view
    with np.errstate(invalid="ignore"):
        return np.where(seen > 0, shares[:, None] * channel.matrix / seen, np.nan)


def _many_posteriors(priors: Priors, channel: Channel) -> Floats:
    matrix = channel.matrix
    seen = priors.dot(matrix)
    usual = seen > _LEAST_SEEN
    scale = np.divide(1, seen, out=np.zeros_like(seen), where=usual)
    views = np.empty((len(priors), *matrix.shape))
    together = max(1, _BLOCK // matrix.nbytes)
    for start in range(0, len(priors), together):
        rows = slice(start, start + together)
        np.multiply(priors[rows, :, None], scale[rows, None, :], out=views[rows])
        views[rows] *= matrix
    for row in np.flatnonzero(~usual.all(axis=1)).tolist():
        views[row] = posterior_floats(priors[row], channel)
    return views


def joint(prior: Prior, channel: Channel) -> Weights:
    """The joint distribution of inputs and outputs as integers, out of ``prior.total * channel.total``."""
    together: Weights = np.array(prior.weights, dtype=object)[:, None] * channel.weights
    return together


@dataclass(frozen=True, repr=False)
class Hyper(Result):
    """All posteriors that a channel can leave of a prior, each once, with the probability that it does.

    Attributes:
        inners: the different posteriors, in the order of the outputs that give them.
        outers: the probability of each.
        outputs: the outputs that lead to each.

    References:
        Paper 5, Section II.A, Fig. 1 and Lemma 1.

    >>> C = Channel.from_matrix("ab", "xyz", [["1/2", "1/4", "1/4"], ["1/4", "1/2", "1/4"]])
    >>> print(hyper("uniform", C))
                   x    y    z
    a            2/3  1/3  1/2
    b            1/3  2/3  1/2
    probability  3/8  3/8  1/4
    """

    inners: tuple[Prior, ...]
    outers: tuple[Fraction, ...]
    outputs: tuple[tuple[Any, ...], ...]

    @property
    def points(self) -> tuple[Any, ...]:
        """The secrets."""
        return self.inners[0].points

    @property
    def prior(self) -> Prior:
        """The average of the posteriors, which is the prior again, exactly (paper 5, Lemma 1)."""
        shares = [inner.fractions for inner in self.inners]
        averages = [
            sum((outer * share[row] for outer, share in zip(self.outers, shares, strict=True)), Fraction(0))
            for row in range(len(self.points))
        ]
        return Prior.proportional(self.points, averages)

    @property
    def channel(self) -> Channel:
        """The channel that leaves these posteriors of the prior: its outputs are counted from 0.

        ``K(x)(z) = outer(z) · inner_z(x) / p(x)``; a secret of no probability has the distribution of the outers.

        >>> C = Channel.from_matrix("ab", [0, 1], [["2/3", "1/3"], ["1/4", "3/4"]])
        >>> hyper("uniform", C).channel == C
        True
        """
        prior, outers = self.prior, list(self.outers)
        rows = []
        for row, share in enumerate(prior.fractions):
            parts = [outer * inner.fractions[row] for outer, inner in zip(outers, self.inners, strict=True)]
            rows.append([part / share for part in parts] if share else outers)
        return Channel.from_matrix(self.points, range(len(self)), rows)

    @classmethod
    def of(cls, points: Iterable[Any], posteriors: Mapping[Any, Any] | Iterable[tuple[Any, Any]]) -> Hyper:
        """The hyper with these posteriors, each with its probability; equal ones become one.

        Args:
            points: the secrets.
            posteriors: pairs of a probability and a posterior, in any form that `metricdp.adversaries.as_prior` takes;
                or a mapping from posteriors to probabilities.

        Raises:
            ArgumentError: the probabilities do not sum to one.

        >>> Hyper.of("ab", [("1/2", [1, 0]), ("1/2", [0, 1])]).channel.matrix.tolist()
        [[1.0, 0.0], [0.0, 1.0]]
        """
        secrets = tuple(points)
        pairs = (
            [(share, inner) for inner, share in posteriors.items()] if isinstance(posteriors, Mapping) else posteriors
        )
        listed = [(share, as_prior(inner, secrets)) for share, inner in pairs]
        outers = as_prior([share for share, _ in listed], range(len(listed))).fractions
        merged: dict[Prior, tuple[Fraction, list[Any]]] = {}
        for place, (outer, (_, inner)) in enumerate(zip(outers, listed, strict=True)):
            if outer:
                so_far, group = merged.get(inner, (Fraction(0), []))
                merged[inner] = so_far + outer, [*group, place]
        shares = tuple(share for share, _ in merged.values())
        return cls(tuple(merged), shares, tuple(tuple(group) for _, group in merged.values()))

    def picture(self, name: str = "posteriors") -> SimplexPicture:
        """The posteriors as points of a simplex, each as large as it is likely; `metricdp.plots.simplex` draws it.

        >>> C = Channel.from_matrix("ab", "yz", [["2/3", "1/3"], ["1/3", "2/3"]])
        >>> hyper("uniform", C).picture().layers[0].weights
        (0.5, 0.5)
        """
        secrets = self.points if self.inners else ()
        weights = [float(outer) for outer in self.outers]
        return SimplexPicture.of(secrets, name, [inner.floats for inner in self.inners], weights)

    def __len__(self) -> int:
        return len(self.inners)

    def __repr__(self) -> str:
        shown = [f"{_short(outer)}: {inner!r}" for outer, inner in zip(self.outers, self.inners, strict=True)]
        if len(shown) > _SHOWN:
            shown = [*shown[: _SHOWN - 1], f"... ({len(self.inners)} posteriors of {len(self.points)} secrets)"]
        return f"Hyper({', '.join(shown)})"

    def to_json(self) -> dict[str, Any]:
        """The hyper as plain values for JSON: each posterior with its probability and outputs; numbers as text."""
        return {
            "points": [label_document(point) for point in self.points],
            "posteriors": [
                {
                    "probability": number_text(outer),
                    "posterior": [number_text(share) for share in inner.fractions],
                    "outputs": [label_document(z) for z in group],
                }
                for inner, outer, group in zip(self.inners, self.outers, self.outputs, strict=True)
            ],
        }

    def __str__(self) -> str:
        cells = [["", *("|".join(visible(str(z)) for z in group) for group in self.outputs)]]
        for row, point in enumerate(self.points):
            cells.append(
                [visible(str(point)), *(_short(Fraction(inner.weights[row], inner.total)) for inner in self.inners)]
            )
        cells.append(["probability", *(_short(outer) for outer in self.outers)])
        widths = [max(len(line[place]) for line in cells) for place in range(len(cells[0]))]
        lines = []
        for line in cells:
            rest = (cell.rjust(width) for cell, width in zip(line[1:], widths[1:], strict=True))
            lines.append("  ".join([line[0].ljust(widths[0]), *rest]))
        return "\n".join(lines)


def hyper(prior: Any, channel: ChannelLike) -> Hyper:
    """The hyper ``[prior > channel]``: a distribution over posteriors, where outputs with equal posteriors are one.

    References:
        Paper 5, Section II.A.

    >>> hyper("uniform", Channel.from_matrix("ab", "yz", [["1/2", "1/2"], ["1/2", "1/2"]])).outers
    (Fraction(1, 1),)
    """
    channel = channel_for(prior, channel, "hyper")
    belief = as_prior(prior, channel.inputs)
    total = belief.total * channel.total
    merged: dict[Prior, tuple[int, list[Any]]] = {}
    for z, column in zip(channel.outputs, joint(belief, channel).T.tolist(), strict=True):
        weight = sum(column)
        if weight:
            inner = Prior._over(belief.points, column)
            so_far, group = merged.get(inner, (0, []))
            merged[inner] = so_far + weight, [*group, z]
    outers = tuple(Fraction(weight, total) for weight, _ in merged.values())
    return Hyper(tuple(merged), outers, tuple(tuple(group) for _, group in merged.values()))


def _short(number: Fraction) -> str:
    return str(number) if number.denominator <= _LARGEST_FRACTION else f"{float(number):.4g}"
