"""On this machine every column has the law that was promised, whatever the way in and out."""

import numpy as np
import pyarrow.parquet as pq
import pytest

from metricdp.tables import sanitize
from tests.engines.columns import check_laws, policy, table
from tests.statistical.harness import hardly_alike, unrelated


@pytest.mark.parametrize("order", ["public", "secret"])
def test_every_column_has_its_law(tmp_path, order):
    pq.write_table(table(), tmp_path / "in.parquet")
    sanitize(tmp_path / "in.parquet", policy(order=order), tmp_path / "out.parquet")
    check_laws(pq.read_table(tmp_path / "out.parquet"))


def test_two_runs_are_unrelated():
    one, two = (np.asarray(sanitize(table(), policy()).table["pay"]) for _ in range(2))
    assert unrelated(one, two)
    assert hardly_alike(one, two)
    assert unrelated(one[:-1], one[1:])
