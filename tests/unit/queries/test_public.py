"""The public names of the folder: pinned, and each what it says."""

import types

import pytest

import metricdp.queries as queries


@pytest.mark.parametrize("name", queries.__all__)
def test_every_name_is_there(name):
    assert not isinstance(getattr(queries, name), types.ModuleType)


def test_names_that_others_call():
    """Adding a name is a decision, removing one a break."""
    assert {"Sum", "Average", "Percentile", "Count", "sensitivity", "Workload", "allocate", "answer"} <= set(
        queries.__all__
    )
    assert {"choose", "mwem", "small_database", "ask", "histogram", "Universe"} <= set(queries.__all__)
    assert len(queries.__all__) == 63
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = queries.nothing
