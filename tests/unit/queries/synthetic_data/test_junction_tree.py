"""Junction trees: every set is in a table, and messages give the marginals of the whole product."""

import itertools

import numpy as np
import pytest

from metricdp.errors import TooLargeError
from metricdp.queries.synthetic_data.junction_tree import JunctionTree

SHAPE = (2, 3, 2, 4, 2)


@pytest.mark.parametrize(
    "sets",
    [
        [(0, 1), (1, 2), (2, 3), (3, 4)],
        [(0, 1), (1, 2), (2, 0), (3, 4)],
        [(0,), (1,), (2, 3), (4,)],
        [(0, 1), (1, 2), (2, 3), (0, 3), (4,)],
        list(itertools.combinations(range(5), 2)),
        [(0, 1, 2), (2, 3, 4), (0, 4)],
    ],
)
def test_messages_give_what_the_whole_product_gives(sets):
    tree = JunctionTree(SHAPE, sets)
    draw = np.random.default_rng(len(sets))
    potentials = [draw.normal(size=table.shape) * 2 for table in tree.zeros()]
    whole = np.zeros(SHAPE)
    for node, table in zip(tree.nodes, potentials, strict=True):
        whole = whole + table.reshape([SHAPE[axis] if axis in node.attributes else 1 for axis in range(5)])
    shares = np.exp(whole - whole.max())
    shares /= shares.sum()
    found = tree.marginals(potentials)
    for chosen in sets:
        away = tuple(axis for axis in range(5) if axis not in chosen)
        assert tree.of_set(found, chosen) == pytest.approx(shares.sum(axis=away), abs=1e-12)


def test_attributes_are_connected_along_the_tree():
    tree = JunctionTree(SHAPE, [(0, 1), (1, 2), (2, 3), (0, 3), (4,)])
    for place, node in enumerate(tree.nodes):
        earlier = {axis for other in tree.nodes[:place] for axis in other.attributes}
        assert set(node.attributes) & earlier == set(node.shared)


def test_tables_that_are_too_large_are_refused():
    with pytest.raises(TooLargeError, match="ask for fewer"):
        JunctionTree((1000, 1000, 1000), itertools.combinations(range(3), 2))
