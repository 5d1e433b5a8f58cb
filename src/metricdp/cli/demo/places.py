"""The first part of the tour: places, and an adversary who wants to know one of them."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import metricdp as mdp
from metricdp.cli.demo.shipped import read_shipped

__all__ = ["Adversary", "Moved", "Odds", "Places", "PossiblePlace", "release_places"]

RADIUS, FACTOR = 5_000, 2
CITIES = ("Tokyo", "Nairobi", "Paris", "São Paulo", "Auckland")
SECRET = "Brooklyn"
CANDIDATES = ("Brooklyn", "Queens", "Manhattan", "The Bronx", "Staten Island", "Newark", "Jersey City", "Yonkers")

Place = tuple[float, float]


@dataclass(frozen=True)
class Moved:
    """A place, its release, and how far apart they are."""

    name: str
    secret: Place
    released: Place
    metres: float


@dataclass(frozen=True)
class Odds:
    """How far an adversary's odds between two secrets can move, and where even odds can end."""

    metres: int
    factor: float
    least: float
    most: float


@dataclass(frozen=True)
class PossiblePlace:
    """One place where the adversary looks for the secret.

    Attributes:
        prior: its probability before the release, its share of the inhabitants.
        posterior: and after it.
        metres: from the secret.
        odds: the factor by which the odds of this place against the secret moved.
        bound: the most that was promised for it, either way.
    """

    name: str
    prior: float
    posterior: float
    metres: float
    odds: float
    bound: float


@dataclass(frozen=True)
class Adversary:
    """What the adversary concludes from one release.

    Attributes:
        pairs: how many pairs of candidates there are.
        kept: for how many of them the odds moved no more than promised.
        most_used: the greatest share of the promise that a pair used, in logarithms.
    """

    secret: str
    released: Place
    candidates: tuple[PossiblePlace, ...]
    pairs: int
    kept: int
    most_used: float


@dataclass(frozen=True)
class Places:
    """What was released, with what promise, and what it tells."""

    call: str
    guarantee: str
    explained: str
    odds: tuple[Odds, ...]
    radius_50: float
    radius_95: float
    moved: tuple[Moved, ...]
    adversary: Adversary


def release_places() -> Places:
    """Release some cities, and let an adversary look at one more release."""
    distance = mdp.metrics.great_circle()
    mechanism = mdp.laplace(distance.within(RADIUS, factor=FACTOR))
    towns = {row["name"]: (float(row["latitude"]), float(row["longitude"])) for row in read_shipped("world_cities")}
    secrets = [towns[name] for name in CITIES]
    released = [(latitude, longitude) for latitude, longitude in mechanism.release(secrets)]
    distances = [RADIUS // 5, RADIUS, 2 * RADIUS, 4 * RADIUS]
    return Places(
        call=f"laplace(metrics.great_circle().within({RADIUS}, factor={FACTOR}))",
        guarantee=str(mechanism.guarantee),
        explained=mechanism.explain(distances),
        odds=tuple(_odds(metres, mechanism.guarantee.odds(metres)) for metres in distances),
        radius_50=mechanism.radius(0.5),
        radius_95=mechanism.radius(0.95),
        moved=tuple(
            Moved(name, secret, place, distance(secret, place))
            for name, secret, place in zip(CITIES, secrets, released, strict=True)
        ),
        adversary=_look(mechanism),
    )


def _odds(metres: int, factor: float) -> Odds:
    return Odds(metres, factor, 1 / (1 + factor), factor / (1 + factor))


def _look(mechanism: mdp.mechanisms.Mechanism) -> Adversary:
    """Release one place and weigh every candidate by Bayes: the density of the release is exp(-d) times a constant."""
    metric = mechanism.guarantee.metric
    rows = {row["name"]: row for row in read_shipped("us_cities") if row["state"] in ("NY", "NJ")}
    places = [(float(rows[name]["latitude"]), float(rows[name]["longitude"])) for name in CANDIDATES]
    people = [int(rows[name]["population"]) for name in CANDIDATES]
    latitude, longitude = mechanism.release([places[CANDIDATES.index(SECRET)]])[0]

    to_release = metric.pairwise(places, [(latitude, longitude)])[:, 0].tolist()
    priors = [count / sum(people) for count in people]
    weights = [prior * math.exp(-far) for prior, far in zip(priors, to_release, strict=True)]
    posteriors = [weight / sum(weights) for weight in weights]

    apart = metric.pairwise(places).tolist()
    pairs = list(itertools.combinations(range(len(places)), 2))
    used = [abs(to_release[i] - to_release[j]) / apart[i][j] for i, j in pairs]
    secret = CANDIDATES.index(SECRET)
    metres = mdp.metrics.great_circle().pairwise([places[secret]], places)[0].tolist()
    candidates = (
        PossiblePlace(
            name,
            prior=priors[place],
            posterior=posteriors[place],
            metres=metres[place],
            odds=math.exp(to_release[secret] - to_release[place]),
            bound=math.exp(apart[secret][place]),
        )
        for place, name in enumerate(CANDIDATES)
    )
    return Adversary(
        SECRET,
        (latitude, longitude),
        tuple(candidates),
        pairs=len(pairs),
        kept=sum(share < 1 + 1e-9 for share in used),
        most_used=max(used),
    )
