"""What metrics answer about themselves."""

import itertools
import math
from fractions import Fraction

import pytest

import metricdp.metrics as m
from metricdp.errors import LevelError
from metricdp.exact.level import Level, ln

TREE = m.taxonomy({"a": "root", "b": "root"})


def test_lines_and_moments():
    assert m.absolute().on_line
    assert (ln(2) / 5 * m.dates()).on_line
    assert m.dates().moments
    assert m.dates(7).moments
    assert not m.absolute().moments
    assert not m.euclidean().on_line
    assert not m.capped(m.absolute(), 3).on_line
    assert (2 * m.dates()).on_numbers() == 2 * m.absolute()
    assert m.nullable(m.dates(), 3).on_numbers() == m.nullable(m.absolute(), 3)
    assert m.capped(m.dates(), 3).on_numbers() == m.capped(m.absolute(), 3)
    assert (2 * m.euclidean()).on_numbers() == 2 * m.absolute()
    assert m.great_circle().on_numbers() == m.great_circle()


def test_norms_and_dimensions():
    for metric, norm, dimension in [
        (m.absolute(), 1, 1),
        (3 * m.manhattan(), 1, None),
        (m.euclidean(), 2, None),
        (m.chebyshev(), math.inf, None),
        (m.records(m.absolute(), 2), 2, None),
        (m.records(m.discrete(), 2), None, None),
        (m.great_circle(), None, 2),
        (m.dates(), None, 1),
        (m.attributes({"a": 1, "b": 2}), None, 2),
        (m.discrete(), None, None),
    ]:
        assert metric.norm == norm, metric
        assert metric.dimension == dimension, metric


def test_lists_names_and_sums():
    assert TREE.listed_values == TREE.nodes
    assert (2 * TREE).listed_values == TREE.nodes
    assert m.absolute().listed_values is None
    assert m.attributes({"a": 1, "b": 2}).attribute_names == ("a", "b")
    assert m.hamming().attribute_names is None
    assert m.discrete().all_alike
    assert (3 * m.unprotected()).all_alike
    assert not TREE.all_alike
    assert [d.adds_up for d in (m.hamming(), m.manhattan(), m.add_remove(), m.attributes({"a": 1}))] == [True] * 4
    assert [d.adds_up for d in (m.absolute(), m.euclidean(), m.records(m.absolute(), 2))] == [False] * 3
    assert m.great_circle().on_globe
    assert not m.euclidean().on_globe


def test_nulls_and_caps():
    d = 2 * m.nullable(m.capped(m.absolute(), 20), 10)
    assert d.distance_to_null == Level.of(20)
    assert d.without_null() == 2 * m.capped(m.absolute(), 20)
    assert d.without_null().capped_at == Level.of(40)
    assert d.without_null().without_cap() == 2 * m.absolute()
    assert m.absolute().distance_to_null is None
    assert m.absolute().capped_at is None
    assert m.absolute().without_null() == m.absolute().without_cap() == m.absolute()
    assert (2 * m.nullable(m.discrete(), math.inf)).distance_to_null == math.inf
    assert m.capped(m.nullable(m.absolute(), 3), 2).without_null() == m.capped(m.absolute(), 2)
    with pytest.raises(LevelError):
        (ln(2) * m.nullable(m.discrete(), ln(3))).distance_to_null  # noqa: B018


@pytest.mark.parametrize(
    ("metric", "grows", "concave"),
    [
        (3 * m.absolute(), True, True),
        (m.dates(), True, True),
        (m.capped(m.absolute(), 3), True, True),
        (2 * m.nullable(m.capped(m.absolute(), 3), 3), True, True),
        (m.discrete(), True, True),
        (2 * m.unprotected(), True, True),
        (m.blowfish(m.absolute(), 3), True, False),
        (TREE, False, False),
    ],
)
def test_how_distances_follow_differences(metric, grows, concave):
    assert metric.grows == grows
    assert metric.concave == concave
    if grows or concave:
        steps = [metric.enclose(*pair).lower for pair in ((0, 1), (0, 2), (0, 3), (0, 4))] if not metric.moments else []
        assert steps == sorted(steps)
        rises = [b - a for a, b in itertools.pairwise(steps) if b != math.inf]
        assert not concave or rises == sorted(rises, reverse=True)


def test_leaves():
    deep = 2 * m.nullable(m.capped(m.absolute(), 20), 10) + m.maximum(m.discrete(), TREE)
    assert deep.leaves == (m.absolute(), m.discrete(), TREE)
    assert deep.terms[0].grows
    assert not deep.grows


def test_words_for_pairs():
    assert (2 * m.discrete()).pair_words == "between any two values"
    assert m.nullable(m.discrete(), 1).pair_words == "between any two values"
    assert m.symmetric_difference().pair_words == "for each element"
    assert m.nullable(TREE, 2).place_words == "in the taxonomy"
    assert m.absolute().pair_words == m.absolute().place_words == ""
    assert TREE.unit_name == "steps"


def test_the_view_is_measured_against_proof():
    assert m.euclidean().view_error([(0, 0), (1, 1), (3, 4)]) < 1e-6
    assert m.unprotected().view_error("ab") == 0
    assert m.matrix("ab", [[0, Fraction(1, 3)], [Fraction(1, 3), 0]]).view_error("ab") < 1e-15
