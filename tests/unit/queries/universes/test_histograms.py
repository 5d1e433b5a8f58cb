"""Histograms: whole counts, one for each cell, that no repr shows."""

import numpy as np
import pytest

from metricdp.errors import ArgumentError, DataError, KindError, ShapeError
from metricdp.policies import BooleanCells
from metricdp.queries.universes.histograms import Histogram
from metricdp.queries.universes.universe import Universe


def test_a_histogram_shows_no_count():
    universe = Universe([BooleanCells("native")], capacity=77777)
    counts = Histogram(universe, np.array([31415, 0, 46362]))
    assert "31415" not in repr(counts) + str(counts)
    assert counts.records == 31415
    assert counts == Histogram(universe, [31415, 0, 46362])
    assert counts != Histogram(universe, [31414, 1, 46362])
    with pytest.raises(ValueError, match="read-only"):
        counts.counts[0] = 1
    for bad, error in (([1, 2], ShapeError), ([1.0, 2.0, 3.0], KindError), ([1, -1, 0], DataError)):
        with pytest.raises(error):
            Histogram(universe, bad)
    with pytest.raises(ArgumentError, match="a Universe"):
        Histogram("people", [1])
