"""Tables of few rows: what is told as released is what was released, values are near it, and intervals hold."""

import math

import numpy as np
import pyarrow as pa
import pytest

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
