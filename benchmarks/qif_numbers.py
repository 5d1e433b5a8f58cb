"""Numbers of qif that tests compare ours with, in tests/fixtures/peers/qif_measures.json.

Run it in an environment that has qif 1.6.0 and numpy: ``python benchmarks/qif_numbers.py``. The priors p, q and the
channels C, D of the cases are those of the file, drawn at random once; every other number is made anew.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import qif
from qif import channel, measure, mechanism, metric, refinement

FILE = Path(__file__).parents[1] / "tests/fixtures/peers/qif_measures.json"


def numbers(case: dict) -> dict:
    """All that is compared for two priors and two channels."""
    p, q, C, D = (np.array(case[name]) for name in ("p", "q", "C", "D"))

    def apart(x: int, y: int) -> float:
        return 0.5 * abs(x - y)

    def far(x: int, y: int) -> float:
        return float(abs(x - y))

    def same(x: int, y: int) -> float:
        return float(x == y)

    half, costs = (1 + p.max()) / 2, np.abs(np.subtract.outer(range(len(p)), range(len(p))))
    cheap = mechanism.g_vuln.min_loss_given_max_vuln(p, len(p), len(p), half, same, far)
    tight = mechanism.g_vuln.min_vuln_given_max_loss(p, len(p), len(p), 0.3, same, far)
    odd = np.array([x % 2 for x in range(len(p))], dtype=np.uint64)
    twice = channel.compose.repeated_independent(C, 2)
    return {
        "total_variation": metric.total_variation()(p, q),
        "kantorovich": metric.kantorovich(apart)(p, q),
        "mult_total_variation": metric.mult_total_variation()(p, q),
        "mult_kantorovich": metric.mult_kantorovich(apart)(p, q),
        "guessing_prior": measure.guessing.prior(p),
        "guessing_posterior": measure.guessing.posterior(p, C),
        "odd_prior": measure.pred_vuln.prior(odd, p),
        "odd_posterior": measure.pred_vuln.posterior(odd, p, C),
        "repeated_bayes": measure.bayes_vuln.posterior(p, twice),
        "repeated_shape": list(twice.shape),
        "refinement": additive(p, D, C),
        "least_loss": float((p[:, None] * cheap * costs).sum()),
        "least_vulnerability": measure.bayes_vuln.posterior(p, tight),
        "most_entropy": mechanism.shannon.max_entropy_given_same_loss(
            p, np.full(len(p), 1 / len(p)), lambda x, y: 1.5 * abs(x - y), md=1e-12
        ).tolist(),
    }


def additive(prior: np.ndarray, one: np.ndarray, two: np.ndarray) -> float | None:
    """None where qif's solver says that its program is unbounded, which it is not."""
    try:
        return float(refinement.add_metric(prior, one, two)[0])
    except RuntimeError:
        return None


def planar() -> list[dict]:
    """Square grids of noise; qif integrates Laplace by random points, and cuts at 0.9999 of the mass.

    Where a grid is wider than high, qif 1.6.0 leaves out cells: (3, 2, 2.0, 0.5) has zeros, so it is none of these.
    """
    found = []
    for width, height, step, epsilon in ((3, 3, 1.0, float(np.log(2))), (2, 2, 2.0, 0.5)):
        size = (width, height, step, epsilon)
        found.append(
            {
                "size": size,
                "laplace": mechanism.geo_ind.planar_laplace_grid(*size).tolist(),
                "geometric": mechanism.geo_ind.planar_geometric_grid(*size).tolist(),
            }
        )
    return found


def main() -> None:
    """Make the file anew."""
    held = json.loads(FILE.read_text())
    for case in held["cases"]:
        made = numbers(case)
        for name, before in case.items():
            if name in made and isinstance(before, float):
                assert np.isclose(before, made[name], rtol=1e-9), name
        case |= made
    held |= {"library": f"qif {qif.__version__}", "made_by": "benchmarks/qif_numbers.py", "planar": planar()}
    FILE.write_text(json.dumps(held) + "\n")


if __name__ == "__main__":
    main()
