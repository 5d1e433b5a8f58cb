"""Draws the pictures of docs/concepts, by metricdp.plots: python docs/pictures.py. Each is a function, and a file."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "src"))  # these files, wherever another copy of the package is installed
FOLDER = ROOT / "docs" / "concepts"

import metricdp as mdp  # noqa: E402
from metricdp import plots  # noqa: E402


def two_places() -> Any:
    """Where releases of a place go, and another place 200 m away."""
    mechanism = mdp.laplace(mdp.metrics.great_circle().within(200, factor=2))
    here, there = (48.8566, 2.3522), (48.8566, 2.35494)
    with mdp.seeded(7):
        releases = mechanism.release([here] * 200)
    return plots.mechanism_map(
        mechanism, here, releases=releases, places={"200 m away": there}, unit="m", title="200 releases of one place"
    )


def odds() -> Any:
    """How far odds can move, by distance."""
    guarantee = mdp.laplace(mdp.metrics.great_circle().within(200, factor=2)).guarantee
    over = [20 * k for k in range(51)]

    def belief(distance: float) -> float:
        factor = guarantee.odds(distance)
        return 100 * factor / (1 + factor)

    return plots.curves(
        {"at most": belief},
        over,
        x="metres between two places",
        y="what is believed of one, % (50 before)",
        title="Factor 2 at 200 m",
    )


def likelihoods() -> Any:
    """Two salaries, and how likely each release is from either."""
    scale = math.log(2)
    over = [45 + k / 10 for k in range(111)]

    def noise(centre: float) -> Any:
        return lambda x: scale / 2 * math.exp(-scale * abs(x - centre))

    return plots.curves(
        {"from 50,000": noise(50), "from 51,000": noise(51)},
        over,
        x="released salary, thousand dollars",
        y="likelihood",
        title="1,000 dollars apart: at most twice",
    )


def one_epsilon() -> Any:
    """The same epsilon for three ways to say what is close."""
    metrics = {
        "1 for each metre": mdp.metrics.absolute(),
        "1 for each 100 m": mdp.metrics.absolute() / 100,
        "1 for each km": mdp.metrics.absolute() / 1000,
    }
    return plots.usefulness(
        {name: mdp.laplace(metric) for name, metric in metrics.items()},
        [5 * k for k in range(601)],
        unit="m",
        title="Epsilon = 1, three times",
    )


PICTURES = {"two-places": two_places, "odds": odds, "likelihoods": likelihoods, "one-epsilon": one_epsilon}


def main() -> None:
    """Draw all."""
    for name, draw in PICTURES.items():
        plots.save(draw(), FOLDER / f"{name}.svg", overwrite=True)
        print(FOLDER / f"{name}.svg")


if __name__ == "__main__":
    main()
