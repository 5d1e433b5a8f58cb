"""The peers of `answers.py`, each run by the python of an environment that has it.

    python benchmarks/answer_peers.py NAME tables.json      # NAME: opendp, diffprivlib, smartnoise or tumult

Prints root mean squared errors with their standard errors, as JSON in the last line. Each peer gets the bounds, the
steps and the groups, at epsilon = 1 for all that one question asks. SmartNoise shares epsilon out by column, so an
average costs it two, and gets half; it has no percentiles. Of Tumult the mechanisms of its core are run, not Spark:
geometric noise of counts and sums, averages from the middle of the bounds with half of epsilon each, `NoisyQuantile`.
"""

from __future__ import annotations

import json
import math
import sys
import warnings
from pathlib import Path

RUNS = 300
SUMS = 2_000
"""Draws of counts, sums and averages, which are quick: at 100 draws of Laplace noise a ratio of 1 is often 1.3."""
QUERIES = 100
"""Of questions in SQL, which are not."""
SHARES = (("median", 0.5), ("p90", 0.9), ("min", 0.0), ("max", 1.0))


def root(errors) -> tuple[float, float]:
    """The root of the mean squared error, and its standard error as a part of it."""
    squares = [error**2 for error in errors]
    mean = sum(squares) / len(squares)
    if not mean:
        return 0.0, 0.0
    spread = sum((square - mean) ** 2 for square in squares) / len(squares)
    return math.sqrt(mean), math.sqrt(spread / len(squares)) / mean / 2


def exact_percentile(values, share: float) -> float:
    ordered = sorted(values)
    return ordered[min(int(share * len(ordered)), len(ordered) - 1)]


def opendp_errors(values, groups, table) -> dict[str, tuple[float, float]]:
    """Promise A. Averages are a noisy sum, from the middle of the bounds, by a noisy count, half of epsilon each."""
    import opendp.prelude as dp

    dp.enable_features("contrib", "idealized-numerics")
    low, high = table["bounds"]
    middle, half = (low + high) / 2, (high - low) / 2
    vector = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.symmetric_distance()
    noise = {
        scale: dp.m.make_laplace(dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float), scale=scale)
        for scale in (1.0, 2.0, float(max(abs(low), abs(high))), 2.0 * half)
    }
    steps = min(2000, round((high - low) / table["step"]))
    candidates = [low + (high - low) * k / steps for k in range(steps + 1)]

    def by_rank(share):
        scores = vector >> dp.t.then_quantile_score_candidates(candidates, share)
        return dp.binary_search_chain(
            lambda s: scores >> dp.m.then_noisy_max(dp.max_divergence(), s, negate=True), 1, 1.0
        )

    parts = [values[groups == k] for k in range(len(table["labels"]))]
    count = root([noise[1.0](0.0) for _ in range(SUMS)])

    def mean(part):
        return middle + noise[2.0 * half](float((part - middle).sum())) / max(1.0, noise[2.0](float(len(part))))

    found = {
        "count": count,
        "counts": count,
        "sum": root([noise[float(max(abs(low), abs(high)))](0.0) for _ in range(SUMS)]),
        "average": root([mean(values) - values.mean() for _ in range(SUMS)]),
        "averages": root([mean(part) - part.mean() for part in parts for _ in range(SUMS)]),
    }
    for name, share in SHARES:
        draw = by_rank(share)
        truth = exact_percentile(values, share)
        found[name] = root([candidates[draw(values.tolist())] - truth for _ in range(RUNS)])
    draw = by_rank(0.5)
    found["medians"] = root(
        [candidates[draw(part.tolist())] - exact_percentile(part, 0.5) for part in parts for _ in range(RUNS)]
    )
    return found


def diffprivlib_errors(values, groups, table) -> dict[str, tuple[float, float]]:
    """Promise B, for what it has: its averages and percentiles of a group take the size of the group to be public."""
    from diffprivlib import tools

    bounds = tuple(map(float, table["bounds"]))
    member = (groups == 0).astype(int)
    # a person who is replaced can leave one group and enter another: half of epsilon for each
    counts = [
        tools.count_nonzero((groups == k).astype(int), epsilon=0.5) - (groups == k).sum()
        for k in range(len(table["labels"]))
        for _ in range(SUMS)
    ]
    found = {
        "count": root([tools.count_nonzero(member, epsilon=1) - member.sum() for _ in range(SUMS)]),
        "counts": root(counts),
        "sum": root([tools.sum(values, epsilon=1, bounds=bounds) - values.sum() for _ in range(SUMS)]),
        "average": root([tools.mean(values, epsilon=1, bounds=bounds) - values.mean() for _ in range(SUMS)]),
    }
    for name, share in SHARES:
        truth = exact_percentile(values, share)
        try:
            drawn = [float(tools.quantile(values, share, epsilon=1, bounds=bounds)) for _ in range(RUNS)]
        except RuntimeError:  # with many equal values it finds no candidate
            continue
        found[name] = root([one - truth for one in drawn])
    return found


def smartnoise_errors(values, groups, table) -> dict[str, tuple[float, float]]:
    """Promise A."""
    import pandas as pd
    import snsql

    low, high = table["bounds"]
    whole = table["step"] == 1
    frame = pd.DataFrame({"x": values, "g": [f"g{k}" for k in groups]})
    column = {"type": "int" if whole else "float", "lower": low, "upper": high}
    known = {"row_privacy": True, "rows": len(values), "censor_dims": False, "x": column, "g": {"type": "string"}}
    parts = {f"g{k}": values[groups == k] for k in range(len(table["labels"]))}

    def drawn(question, epsilon):
        reader = snsql.from_df(
            frame, privacy=snsql.Privacy(epsilon=epsilon, delta=1e-9), metadata={"": {"S": {"t": dict(known)}}}
        )
        return [reader.execute(question)[1:] for _ in range(QUERIES)]

    def errors(question, epsilon, truth):
        return root([row[-1] - truth(row[0]) for rows in drawn(question, epsilon) for row in rows])

    return {
        "count": errors("select count(*) from S.t where g = 'g0'", 1.0, lambda _: len(parts["g0"])),
        "counts": errors("select g, count(*) from S.t group by g", 1.0, lambda g: len(parts[g])),
        "sum": errors("select sum(x) from S.t", 1.0, lambda _: values.sum()),
        "average": errors("select avg(x) from S.t", 0.5, lambda _: values.mean()),
        "averages": errors("select g, avg(x) from S.t group by g", 0.5, lambda g: parts[g].mean()),
    }


def tumult_errors(values, groups, table) -> dict[str, tuple[float, float]]:
    """Promise A."""
    import pandas as pd
    from tmlt.core.domains.numpy_domains import NumpyFloatDomain
    from tmlt.core.domains.pandas_domains import PandasSeriesDomain
    from tmlt.core.measurements.noise_mechanisms import AddGeometricNoise, AddLaplaceNoise
    from tmlt.core.measurements.pandas_measurements.series import NoisyQuantile
    from tmlt.core.measures import PureDP

    low, high = table["bounds"]
    middle, half = (low + high) / 2, (high - low) / 2
    whole = table["step"] == 1
    parts = [values[groups == k] for k in range(len(table["labels"]))]
    one, two = AddGeometricNoise(1), AddGeometricNoise(2)
    size = max(abs(low), abs(high))
    added = AddGeometricNoise(size) if whole else AddLaplaceNoise(NumpyFloatDomain(), size)
    from_middle = AddLaplaceNoise(NumpyFloatDomain(), f"{int(2 * half)}")

    def mean(part):
        total, number = from_middle(float((part - middle).sum())), two(len(part))
        return middle + total / max(1, number)

    found = {
        "count": root([int(one(0)) for _ in range(SUMS)]),
        "sum": root([float(added(0 if whole else 0.0)) for _ in range(SUMS)]),
        "average": root([mean(values) - values.mean() for _ in range(SUMS)]),
        "averages": root([mean(part) - part.mean() for part in parts for _ in range(SUMS)]),
    }
    found["counts"] = found["count"]

    def by_rank(share):
        return NoisyQuantile(PandasSeriesDomain(NumpyFloatDomain()), PureDP(), share, float(low), float(high), 1)

    for name, share in SHARES:
        draw, series = by_rank(share), pd.Series(values.astype(float))
        found[name] = root([draw(series) - exact_percentile(values, share) for _ in range(RUNS)])
    draw, columns = by_rank(0.5), [pd.Series(part.astype(float)) for part in parts]
    found["medians"] = root(
        [
            draw(column) - exact_percentile(part, 0.5)
            for part, column in zip(parts, columns, strict=True)
            for _ in range(RUNS)
        ]
    )
    return found


PEERS = {
    "opendp": opendp_errors,
    "diffprivlib": diffprivlib_errors,
    "smartnoise": smartnoise_errors,
    "tumult": tumult_errors,
}


def main() -> None:
    import numpy as np

    warnings.simplefilter("ignore")
    name, path = sys.argv[1:]
    found = {}
    for of, table in json.loads(Path(path).read_text()).items():
        values, groups = np.array(table["values"]), np.array(table["groups"])
        found[of] = PEERS[name](values, groups, table)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
