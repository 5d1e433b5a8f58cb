"""The laws of a mechanism."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from metricdp.audit.betting import binomial_tail
from metricdp.channels import of, verify
from metricdp.errors import ArgumentError, MetricDPError
from metricdp.exact.lists import as_list
from metricdp.mechanisms import Mechanism
from metricdp.mechanisms.mechanism import as_mechanism
from metricdp.metrics import Guarantee, Space
from metricdp.metrics.coordinates import frozen
from metricdp.testing._evidence import near_pairs, no_evidence
from metricdp.testing._releases import (
    bad_secrets_are_refused,
    copies,
    empty_is_refused,
    forms,
    inputs_are_left_alone,
    randomness,
    rows,
    seeds,
)
from metricdp.testing._secrets import as_array, is_null, kind_of, repeated
from metricdp.testing.checked import Checked, require, run_laws

__all__ = ["LAWS", "check_mechanism", "words"]

MechanismLaw = Callable[[Mechanism, list[Any]], str | None]

_SCALE_SLACK = 1e-9
_SAMPLES = 4000
_DRAWS = 1000
_SECRETS_AS_TOLD = 3
_RARE = 1e-9


def check_mechanism(
    mechanism: Mechanism, secrets: Sequence[Any], *, only: Iterable[str] | None = None, samples: int = _SAMPLES
) -> Checked:
    """Check a mechanism on some secrets.

    - guarantee: there is one, the same before and after releases;
    - words, picture: it describes itself, in the same words whatever was released;
    - forms, rows: a list gives a list, an array an array, a Series a Series, with as many rows;
    - resolution: every number lies on a grid that does not move;
    - randomness, copies, seeds: noise is never repeated, pickles hold no state, seeded releases say so;
    - probability, radius: the error that is told is a law, and releases are no further from their secrets than that;
    - inputs, empty, refusals: nothing is written to, and bad rows are refused by name without being shown;
    - law: where there are finitely many outputs, their exact probabilities keep the guarantee;
    - audit: releases give no evidence against the guarantee.

    Args:
        mechanism: the mechanism.
        secrets: a few secrets that it takes, at least two of them different: numbers, labels, points (as lists), sets,
            or records (as tuples). They say which forms of input are tried, and which inputs must be refused. A None
            or NaN among them says that null is a secret here. Where the mechanism's ``resolution`` is None, numbers are
            names like any others.
        only: the names of the laws to check; all where it is not given.
        samples: how many releases the audit takes.

    Raises:
        ConformanceError: a law is broken; it says which.

    >>> import metricdp as mdp
    >>> print(check_mechanism(mdp.laplace(mdp.metrics.absolute()), [0.0, 1.5], only=["guarantee", "radius"]))
    LineLaplace(Laplace noise, to 9.54e-07; |x − y|-private) keeps 2 laws: guarantee, radius
    """
    chosen, listed = as_mechanism(mechanism), as_list(secrets, "secrets")
    if len(listed) < 2:
        raise ArgumentError("at least two secrets are wanted, different from each other")
    laws = {name: _bound(law, chosen, listed) for name, law in LAWS.items()}
    laws["audit"] = lambda: _audit(chosen, listed, samples)
    return run_laws(chosen, laws, only)


def _bound(law: MechanismLaw, mechanism: Mechanism, secrets: list[Any]) -> Callable[[], str | None]:
    return lambda: law(mechanism, secrets)


def _guarantee(mechanism: Mechanism, secrets: list[Any]) -> None:
    before = mechanism.guarantee
    require(isinstance(before, Guarantee), f"its guarantee is a {type(before).__name__}, not a Guarantee")
    mechanism.release(secrets)
    require(mechanism.guarantee == before, "its guarantee is another one after a release")
    require(0 <= before.delta < 1, f"its delta is {before.delta}")
    require(before.odds(2) >= before.odds(1) >= 1, "its odds do not grow with the distance")


def words(mechanism: Mechanism) -> list[str]:
    """Everything that a mechanism says of itself."""
    said = [repr(mechanism), str(mechanism), mechanism.explain(), mechanism._repr_html_(), str(mechanism.guarantee)]
    return [*said, mechanism.name, mechanism.words()]


def _words(mechanism: Mechanism, secrets: list[Any]) -> None:
    before = words(mechanism)
    mechanism.release(repeated(secrets))
    require(words(mechanism) == before, "its words are others after a release")
    told, page = mechanism.explain(), mechanism._repr_html_()
    for part in ("odds", "rror to expect", str(mechanism.guarantee)):
        require(part in told, f"explain() does not say {part!r}")
    require(page.count("<") == page.count(">"), "_repr_html_() does not escape what it shows")
    error = mechanism.expected_error()
    require(bool(error.words), "expected_error() has no words")
    if error.median is not None and error.radius_95 is not None:
        require(error.median <= error.radius_95, "half of all releases lie further out than 95%")
    for said, distance in mechanism.pairs_to_tell():
        require(bool(said) and mechanism.guarantee.odds(distance) >= 1, "pairs_to_tell() has a pair without words")


def _picture(mechanism: Mechanism, secrets: list[Any]) -> str | None:
    del secrets
    try:
        picture = mechanism.picture()
    except ArgumentError as error:
        return str(error)
    require(len(picture.places) == len(picture.heights), "its picture has not as many heights as places")
    heights = np.asarray(picture.heights, dtype=np.float64)
    require(bool(np.isfinite(heights).all()) and bool((heights >= 0).all()), "its picture has a negative height")
    return None


def _resolution(mechanism: Mechanism, secrets: list[Any]) -> str | None:
    before, kind = getattr(mechanism, "resolution", None), kind_of(secrets)
    numbers = kind in ("number", "point")
    released = mechanism.release(as_array(repeated(secrets)) if numbers else secrets)
    require(getattr(mechanism, "resolution", None) == before, "its grid is another one after a release")
    if not isinstance(before, Fraction) or not numbers:
        return "releases are no numbers on a grid"
    require(before > 0, "its resolution is not positive")
    off = [value for value in np.asarray(released).ravel().tolist() if not _on_grid(value, before)]
    require(not off, f"{off[:1]} is no multiple of the resolution {before}")
    return None


def _on_grid(value: Any, width: Fraction) -> bool:
    """Whether a number is a multiple of the width, or the float next to one."""
    return is_null(value) or bool(value == type(value)(round(Fraction(value) / width) * width))


def _probability(mechanism: Mechanism, secrets: list[Any]) -> None:
    reach = mechanism.radius(0.5) or 1.0
    chances = [mechanism.probability_within(reach * factor) for factor in (-1, 0, 0.01, 0.5, 0.9, 1, 1.1, 2, 10, 100)]
    require(all(0 <= chance <= 1 for chance in chances), "probability_within gives what is no probability")
    require(chances == sorted(chances), "probability_within falls where the distance grows")
    require(chances[0] == 0, "probability_within is not 0 below the distance 0")
    require(chances[-1] > 0.5, "probability_within does not exceed a half")
    _as_told(mechanism.error_of, secrets)
    _refused(lambda: mechanism.probability_within(math.nan), "probability_within takes NaN for a distance")


def _as_told(mechanism: Mechanism, secrets: list[Any]) -> None:
    """Releases lie as near to their secrets as ``probability_within`` says, as far as their metric measures them."""
    unit = mechanism.guarantee.metric.unit
    for secret in [secret for secret in secrets if not is_null(secret)][:_SECRETS_AS_TOLD]:
        for confidence in (0.5, 0.95):
            radius = mechanism.radius(confidence * mechanism.probability_within(1e12))
            least = mechanism.probability_within(radius)
            released = mechanism.release(repeated([secret], _DRAWS))
            try:
                apart = unit.pairwise([secret], released)[0]
            except MetricDPError:  # releases of another form
                return
            near = int(np.count_nonzero(apart <= radius * (1 + 1e-9)))
            require(
                binomial_tail(_DRAWS - near, _DRAWS, 1 - least) > _RARE,
                f"probability_within({radius:.6g}) is {least:.6g}, and {near} of {_DRAWS} releases lie there",
            )


def _radius(mechanism: Mechanism, secrets: list[Any]) -> None:
    del secrets
    most = mechanism.probability_within(1e12)
    confidences = [share * most for share in (0.05, 0.5, 0.8, 0.95, 0.99)]
    radii = [mechanism.radius(confidence) for confidence in confidences]
    require(radii == sorted(radii), "radius falls where the confidence grows")
    for confidence, radius in zip(confidences, radii, strict=True):
        within = mechanism.probability_within(radius)
        require(within >= confidence, f"radius({confidence}) is {radius}, within which only {within} lie")
        shorter = mechanism.probability_within(radius * (1 - 1e-6))
        require(radius == 0 or shorter < confidence, f"radius({confidence}) is not the least such distance")
    for confidence in (0, 1, -0.1, 1.5, math.nan):
        _refused(lambda confidence=confidence: mechanism.radius(confidence), f"radius takes {confidence}")  # type: ignore[misc]


def _refused(call: Callable[[], object], problem: str) -> None:
    try:
        call()
    except ArgumentError:
        return
    require(False, problem)


def _law(mechanism: Mechanism, secrets: list[Any]) -> str | None:
    guarantee = mechanism.guarantee
    inputs = list(dict.fromkeys(frozen(None if is_null(secret) else secret) for secret in secrets))
    try:
        mechanism.law(inputs)
    except ArgumentError as error:
        return str(error)
    channel = of(mechanism, inputs)
    verdict = verify(channel, Space(inputs, guarantee.metric), guarantee.delta)
    require(
        verdict.holds or verdict.scale_below <= 1 + _SCALE_SLACK,
        f"its exact law is not {guarantee}: tightest at {verdict.witness}, which takes {verdict.scale_below:.6g} times "
        "that distance",
    )
    return None


def _audit(mechanism: Mechanism, secrets: list[Any], samples: int) -> str | None:
    return no_evidence(mechanism, near_pairs(mechanism.guarantee.metric, secrets), samples)


LAWS: dict[str, MechanismLaw] = {
    "guarantee": _guarantee,
    "words": _words,
    "picture": _picture,
    "forms": forms,
    "rows": rows,
    "resolution": _resolution,
    "randomness": randomness,
    "copies": copies,
    "seeds": seeds,
    "probability": _probability,
    "radius": _radius,
    "inputs": inputs_are_left_alone,
    "empty": empty_is_refused,
    "refusals": bad_secrets_are_refused,
    "law": _law,
}
"""The laws by their names, but for the audit, which takes a number of samples."""
