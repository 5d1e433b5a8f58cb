"""Tables of few rows: what is told as released is what was released, values are near it, and intervals hold."""

import math

import numpy as np
import pyarrow as pa
import pytest

import metricdp as mdp
from metricdp.estimates import estimate
from metricdp.tables import sanitize

FREE = {"type": "number", "within": "5"}
COLUMNS = {
    "free": FREE,
    "bounded": FREE | {"bounds": [0, 100]},
    "refused": FREE | {"bounds": [0, 100], "missing": "refuse"},
    "whole": {"type": "integer", "within": "3"},
}


def released(column, values):
    return sanitize(pa.table({"x": values}), {"format": 2, "columns": {"x": column}}).table


@pytest.mark.parametrize("kind", COLUMNS)
@pytest.mark.parametrize(("question", "share"), [("min(x)", 0), ("median(x)", 0.5), ("max(x)", 1)])
def test_percentiles_of_five_rows(kind, question, share):
    """Five rows fell into one cell: the median as released was no row's, and the value lay at the end of the line."""
    secret = np.array([20, 25, 30, 40, 60]) * (1 if kind == "whole" else 1.0)
    errors = []
    for _ in range(8):
        table = released(COLUMNS[kind], secret)
        found = estimate(table, f"select {question}").only
        rows = sorted(value for value in table["x"].to_pylist() if value is not None)
        if len(rows) == 5:
            assert found.naive == pytest.approx(rows[math.ceil(share * 5 - 1e-9) - 1 if share else 0])
        assert found.interval[0] <= found.value <= found.interval[1]
        errors.append(found.value - secret[round(share * 4)])
    assert np.median(np.abs(errors)) < 20, "noise has a scale of 7; the end of the line is 40 away and more"


def test_the_ends_of_an_unbounded_column_hold_at_every_confidence():
    """They were 3 scales beyond what was released, which noise passes in 5% of single rows, at 99.9% too."""
    table = released(FREE, np.array([500.0]))
    (seen,) = table["x"].to_pylist()
    widths = {}
    for confidence in (0.95, 0.999):
        low, high = estimate(table, "select max(x)", confidence=confidence).only.interval
        assert low <= seen <= high
        widths[confidence] = high - seen
    scale = 5 / math.log(2)
    assert widths[0.999] >= scale * math.log(1000)
    assert scale * math.log(20) <= widths[0.95] < scale * 4


def test_many_rare_values_are_told_by_inversion():
    """Of 500 values few can be told apart by their counts, but each of them is inverted at a cost of some 70 rows."""
    names = [f"v{place:03d}" for place in range(500)]
    shares = 1 / np.arange(1, 501) ** 1.5
    drawn = np.random.default_rng(15).choice(names, 800, p=shares / shares.sum())
    column = {"type": "category", "values": names, "epsilon": 3, "missing": "refuse"}
    held = []
    for seed in range(3):
        with pytest.warns(UserWarning, match="seeded"), mdp.seeded(seed):
            released = sanitize(pa.table({"kind": drawn}), {"format": 2, "columns": {"kind": column}}).table
        found = estimate(released, "select count(*) group by kind")
        wide = [one.interval[1] - one.interval[0] for one in found]
        assert np.median(wide) < 160  # 800 before, and one of four releases was refused
        counts = [(drawn == name).sum() for name in names]
        held += [one.interval[0] <= count <= one.interval[1] for one, count in zip(found, counts, strict=True)]
    assert np.mean(held) > 0.93
