"""Transport with gains: against a plain linear program, and its duals by their definition."""

import numpy as np
import pytest

from metricdp.programs import LinearProgram, Sparse
from metricdp.programs.transport import Transport


@pytest.mark.parametrize("seed", range(5))
def test_the_least_that_is_lacking(seed):
    generator = np.random.default_rng(seed)
    needs, spare = generator.random(4), generator.random(6) * (0.2 + seed)
    gains = generator.random((4, 6))
    first, second = np.nonzero(gains > 0.3)
    found = Transport().solve(needs, spare, first, second, gains[first, second])
    program = LinearProgram()
    program.add_columns([1.0] * 4 + [0.0] * len(first))
    rows = [{i: 1.0} for i in range(4)] + [{} for _ in range(6)]
    for pair, (i, j) in enumerate(zip(first.tolist(), second.tolist(), strict=True)):
        rows[i][4 + pair] = float(gains[i, j])
        rows[4 + j][4 + pair] = 1.0
    lower = np.concatenate([needs, np.full(6, -np.inf)])
    program.add_rows(lower, np.concatenate([np.full(4, np.inf), spare]), Sparse.of(rows))
    assert found.lacking.sum() == pytest.approx(program.solve().objective, abs=1e-7)
    assert (np.bincount(second, found.flow, minlength=6) <= spare + 1e-8).all()
    assert (found.values <= 1 + 1e-8).all()
    assert (found.worth[second] >= gains[first, second] * found.values[first] - 1e-7).all()
    assert needs @ found.values - spare @ found.worth == pytest.approx(found.lacking.sum(), abs=1e-7)


def test_nothing_to_send():
    found = Transport().solve(np.array([1.0, 2.0]), np.empty(0), *(np.empty(0, dtype=np.int64),) * 2, np.empty(0))
    assert found.lacking.tolist() == [1, 2]
    assert found.values.tolist() == [1, 1]
