"""Mechanisms made of others: each part keeps its law, and no part knows another's noise."""

import math

import numpy as np
import pandas as pd
from scipy import stats

import metricdp as mdp
from tests.statistical.harness import DRAWS, check_scale, check_table, unrelated
from tests.statistical.test_finite import two_sided

m = mdp.metrics
COUNT = DRAWS // 2
LINE = mdp.laplace(m.absolute().within(5))
STEPS = mdp.geometric(mdp.ln(2) * m.absolute())


def laplace(factor):
    return stats.laplace(scale=5 / math.log(2) * factor)


def test_independent_records():
    released = mdp.independent(LINE, LINE, STEPS, mdp.randomized_response("ab", 1)).release(
        [(1.5, -2.0, 7, "a")] * COUNT
    )
    first, second, third, fourth = zip(*released, strict=True)
    check_scale(np.array(first) - 1.5, laplace)
    check_scale(np.array(second) + 2.0, laplace)
    check_table(np.clip(np.array(third) - 7, -9, 9).tolist(), lambda factor: two_sided(2 ** (-1 / factor), 9))
    check_table(fourth, lambda f: {"a": 1 / (1 + math.exp(-1 / f)), "b": 1 / (1 + math.exp(1 / f))})
    told = np.array([letter == "a" for letter in fourth], dtype=float)
    columns = [np.array(first), np.array(second), np.array(third, dtype=float), told]
    for i in range(4):
        for j in range(i):
            assert unrelated(columns[i], columns[j])


def test_independent_frames():
    frame = pd.DataFrame({"x": np.zeros(COUNT), "y": np.zeros(COUNT)})
    released = mdp.independent(LINE, LINE).release(frame)
    check_scale(released["x"], laplace)
    check_scale(released["y"], laplace)
    assert unrelated(released["x"], released["y"])


def test_composed_releases():
    one, two = mdp.compose(LINE, LINE).release(np.full(COUNT, 3.5))
    check_scale(one - 3.5, laplace)
    check_scale(two - 3.5, laplace)
    assert (one != two).any()
    assert unrelated(one, two)


def test_postprocessed_release():
    released = mdp.postprocess(LINE, np.abs).release(np.zeros(COUNT))
    check_scale(released, lambda factor: stats.expon(scale=5 / math.log(2) * factor))


def test_attributes_of_a_record():
    """`laplace` of an attribute metric is the product of its parts'."""
    metric = m.attributes({"age": m.absolute().within(5), "income": m.absolute().within(1000)})
    ages, incomes = zip(*mdp.laplace(metric).release([(40.0, 30_000.0)] * COUNT), strict=True)
    check_scale(np.array(ages) - 40, laplace)
    check_scale(np.array(incomes) - 30_000, lambda factor: stats.laplace(scale=1000 / math.log(2) * factor))
    assert unrelated(ages, incomes)
