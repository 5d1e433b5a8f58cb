"""The case studies of paper 3, section 6, at full size: sum (u = 150, v = 5) and two counts (u = 30).

    python benchmarks/case_studies.py                 # least scales, and utilities over the paper's range of eps
    python benchmarks/case_studies.py --json --only sum
    python benchmarks/case_studies.py --plot fig6.png # beside each other, as Fig. 6(a) and (b); needs matplotlib

The least scale is proved: a mechanism exists at every scale above, and none at the scale 6e-10 below. Beside it stands
the first change of sign, from above, of the whole system solved in floats. The utility is the probability of the right
guess under the uniform prior with the best remap: of the tight-constraints mechanism by enclosure (rounded down) and
in floats from the whole system; of the geometric mechanism by its formula and by the column maxima of its matrix.
At the least eps that the paper prints, the refutation of a mechanism is verified anew.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any

import numpy as np

import metricdp as mdp
from metricdp.design import least_scale, tight_constraints


@dataclass(frozen=True)
class Study:
    name: str
    space: Callable[[Any], mdp.Space]
    published: Fraction
    scales: tuple[str, ...]
    geometric: Callable[[float], tuple[float, float]]


@dataclass(frozen=True)
class Utility:
    eps: float
    tight: float | None
    in_floats: float
    least_entry: float
    geometric: float
    by_matrix: float


def sums(eps: Any) -> mdp.Space:
    return mdp.Space(range(751), eps * mdp.metrics.blowfish(mdp.metrics.absolute(), 5, 1))


def two_counts(eps: Any) -> mdp.Space:
    return mdp.Space.grid(31, 31, eps * mdp.metrics.chebyshev())


def of_line(count: int, eps: float) -> tuple[float, float]:
    """The utility of the truncated geometric mechanism on 0 .. count - 1: by formula, and by its matrix."""
    alpha = math.exp(-eps)
    places = np.arange(count)
    matrix = (1 - alpha) / (1 + alpha) * alpha ** np.abs(places[:, None] - places)
    matrix[:, [0, -1]] = alpha ** np.abs(places[:, None] - places[[0, -1]]) / (1 + alpha)
    assert np.allclose(matrix.sum(axis=1), 1)
    return (count * (1 - alpha) + 2 * alpha) / (1 + alpha) / count, float(matrix.max(axis=0).sum()) / count


def geometric_sum(eps: float) -> tuple[float, float]:
    return of_line(751, eps / 5)  # one individual moves the sum by 5


def geometric_counts(eps: float) -> tuple[float, float]:
    formula, matrix = of_line(31, eps / 2)  # one individual moves both counts, so each gets half
    return formula**2, matrix**2


STUDIES = (
    Study("sum", sums, Fraction("0.8"), ("0.8", "0.9", "0.97", "1", "1.1", "1.2", "1.3"), geometric_sum),
    Study("two counts", two_counts, Fraction("0.9"), ("0.9", "1", "1.1", "1.14", "1.2", "1.3"), geometric_counts),
)
LARGEST = 1.3
"""Where the paper's range of eps ends."""


def first_change(distances: np.ndarray, start: float, step: float = 0.01) -> float:
    """The first scale, from above, at which an entry of the solution is zero; the whole system in floats."""

    def least(scale: float) -> float:
        return float(np.linalg.solve(np.exp(-scale * distances), np.ones(len(distances))).min())

    high = start
    while least(high - step) > 0:
        high -= step
    low = high - step
    while high - low > 1e-11:
        middle = (low + high) / 2
        low, high = (low, middle) if least(middle) > 0 else (middle, high)
    return high


def run(study: Study) -> dict[str, Any]:
    plain = study.space(1)
    began = time.perf_counter()
    found = least_scale(plain)
    seconds = time.perf_counter() - began
    refuted = tight_constraints(study.space(study.published))
    rows = []
    for text in study.scales:
        eps = Fraction(text)
        diagonal = np.linalg.solve(np.exp(-float(eps) * plain.distances), np.ones(len(plain)))
        known = tight_constraints(study.space(eps))
        formula, matrix = study.geometric(float(eps))
        tight = float(known.utility) if known.utility is not None else None
        rows.append(Utility(float(eps), tight, float(diagonal.mean()), float(diagonal.min()), formula, matrix))
    return {
        "study": study.name,
        "points": len(plain),
        "least scale": float(found),
        "no mechanism at": float(found.least.enclosure.lower),
        "in floats": first_change(plain.distances, 1.5),
        "published": float(study.published),
        "refuted at the published": refuted.holds is False and refuted.check(),
        "seconds": round(seconds, 1),
        "proof": found.proved,
        "utilities": [asdict(row) for row in rows],
    }


def show(result: dict[str, Any]) -> None:
    print(f"{result['study']}, {result['points']} results")
    print(f"  least scale {result['least scale']:.10f} (published {result['published']}); {result['proof']};")
    print(f"  in floats {result['in floats']:.10f}; took {result['seconds']} s")
    print(f"  at the published scale refuted, and the refutation verified: {result['refuted at the published']}")
    print("   eps    tight-constraints  (in floats)  least entry  geometric  (by matrix)  ratio")
    for row in result["utilities"]:
        tight = "    does not exist" if row["tight"] is None else f"{row['tight']:18.9f}"
        ratio = "" if row["tight"] is None else f"{row['tight'] / row['geometric']:6.3f}"
        print(
            f"  {row['eps']:5.2f} {tight} {row['in_floats']:12.9f} {row['least_entry']:12.6f} "
            f"{row['geometric']:10.6f} {row['by_matrix']:12.6f} {ratio}"
        )


def plot(results: list[dict[str, Any]], path: str) -> None:
    """Fig. 6: a panel for each study, over the paper's range; dots are enclosures, the line joins floats."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(1, len(results), figsize=(5.2 * len(results), 3.8), squeeze=False)
    for letter, axes, result in zip("ab", panels[0], results, strict=False):
        study = next(study for study in STUDIES if study.name == result["study"])
        start, published, distances = result["least scale"], result["published"], study.space(1).distances
        scales = np.linspace(start, LARGEST, 12)
        tight = [float(np.linalg.solve(np.exp(-s * distances), np.ones(len(distances))).mean()) for s in scales]
        wider = np.linspace(published, LARGEST, 40)
        (line,) = axes.plot(scales, tight, label="tight-constraints")
        proved = [(row["eps"], row["tight"]) for row in result["utilities"] if row["tight"] is not None]
        axes.plot(*zip(*proved, strict=True), "o", color=line.get_color(), markersize=4, clip_on=False)
        axes.plot(wider, [study.geometric(float(s))[0] for s in wider], "--", label="geometric")
        axes.axvspan(published, start, color="0.9", label=f"below the least scale, {start:.4f}")
        axes.set(xlabel="ε", ylabel="utility, uniform prior", title=f"({letter}) {result['study']}")
        axes.set_xlim(published, LARGEST)
        axes.set_ylim(bottom=0)
        axes.legend(loc="lower right")
    figure.tight_layout()
    figure.savefig(path, dpi=120)
    plt.close(figure)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--only", choices=[study.name for study in STUDIES])
    parser.add_argument("--plot", metavar="PNG")
    chosen = parser.parse_args()
    results = []
    for study in STUDIES:
        if chosen.only not in (None, study.name):
            continue
        result = run(study)
        results.append(result)
        if not chosen.json:
            show(result)
    if chosen.json:
        print(json.dumps(results, indent=1))
    if chosen.plot:
        plot(results, chosen.plot)


if __name__ == "__main__":
    main()
