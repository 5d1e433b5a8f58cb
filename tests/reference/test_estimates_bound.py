"""Shares and means come near the Cramer-Rao bound of their mechanism: no unbiased estimate has less variance.

In a model with finitely many secrets and outputs, with shares s inside the simplex and r = s . law, the variance of an
unbiased estimate of s . q from n rows is at least ``min a . (diag r - r r') a / n`` over all a with ``law a = q``.
"""

import numpy as np
import pyarrow as pa
import pytest

from metricdp.estimates import estimate
from metricdp.estimates.laws import LineLaw, ListedLaw
from metricdp.estimates.outline import Outline
from metricdp.policies import Policy

ROWS = 20_000
COLUMNS = {
    "category": {"type": "category", "values": ["a", "b", "c", "d"], "factor": 4, "missing": "refuse"},
    "boolean": {"type": "boolean", "factor": 3, "missing": "refuse"},
    "delta": {"type": "category", "values": ["a", "b", "c"], "epsilon": 1, "delta": 0.01, "missing": "refuse"},
    "taxonomy": {
        "type": "category",
        "parents": {"n1": "n", "n2": "n", "s1": "s", "s2": "s", "n": "all", "s": "all"},
        "within": 1,
        "missing": "refuse",
    },
    "integer": {"type": "integer", "within": 2, "bounds": [0, 12], "missing": "refuse"},
}


def law_of(name):
    column = Policy.of({"format": 2, "columns": {"x": COLUMNS[name]}}).columns[0]
    if name == "integer":
        return LineLaw(column, pa.int64(), Outline(0.0, 12.0, np.arange(13.0)), ROWS)
    return ListedLaw(column)


def bound(law, shares, question):
    """The least standard deviation, in counts of ROWS."""
    released = shares @ law
    spread = np.diag(released) - np.outer(released, released)
    scale = 1 / np.sqrt(released)
    weights = scale * np.linalg.lstsq(law * scale, question, rcond=None)[0]  # the least by length, as outputs weigh
    assert law @ weights == pytest.approx(question, abs=1e-9)
    return np.sqrt(weights @ spread @ weights * ROWS)


def rounded(counts):
    """Whole numbers that add up to as many rows."""
    whole = np.floor(counts).astype(int)
    whole[np.argsort(whole - counts)[: ROWS - whole.sum()]] += 1
    return whole


@pytest.mark.parametrize("name", list(COLUMNS))
def test_the_noise_of_an_estimate_is_within_one_and_a_half_of_the_bound(name):
    law = law_of(name)
    matrix = np.asarray(law.matrix)
    shares = np.linspace(1, 2, len(matrix)) / np.linspace(1, 2, len(matrix)).sum()
    labels = list(range(13)) if name == "integer" else list(law.labels)
    table = pa.table({"x": pa.array(np.repeat(np.array(labels), rounded(ROWS * shares @ matrix)).tolist())})
    policy = {"format": 2, "columns": {"x": COLUMNS[name]}}
    if name == "integer":
        questions = {"select avg(x)": np.arange(13.0) / ROWS, "select sum(x)": np.arange(13.0)}
    else:
        said = {label: str(label).lower() if isinstance(label, bool) else f"'{label}'" for label in labels}
        questions = {
            f"select count(*) where x = {said[label]}": np.eye(len(labels))[place] for place, label in enumerate(labels)
        }
    for question, wanted in questions.items():
        found = estimate(table, question, policy=policy, truth="population").only
        ratio = found.noise / 1.959964 / bound(matrix, shares, wanted)
        assert 0.9 < ratio <= 1.5, (question, ratio)


def test_the_spread_of_estimates_themselves_is_within_one_and_a_half_of_the_bound():
    law = law_of("category")
    matrix, shares, random = np.asarray(law.matrix), np.array([0.4, 0.3, 0.2, 0.1]), np.random.default_rng(17)
    found = []
    for _ in range(120):
        counts = random.multinomial(ROWS, shares @ matrix)
        table = pa.table({"x": np.repeat(np.array(law.labels), counts)})
        policy = {"format": 2, "columns": {"x": COLUMNS["category"]}}
        found.append(estimate(table, "select count(*) where x = 'b'", policy=policy).only.value)
    assert 0.6 < np.std(found) / bound(matrix, shares, np.eye(4)[1]) <= 1.5
