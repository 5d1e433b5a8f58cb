"""Categories: equally far apart, in a taxonomy, on a map; with a delta, and a distance of null."""

from collections import Counter
from fractions import Fraction

import pyarrow as pa
import pytest

from metricdp.errors import ColumnError, PolicyError
from metricdp.metrics import Guarantee, discrete, great_circle
from tests.unit.policies.types.released import column, release

TOWNS = "at = {Paris = [48.86, 2.35], Versailles = [48.80, 2.13], Marseille = [43.30, 5.37]}"


def test_towns_on_a_map():
    made = column(f'type = "category"\nwithin = "50 km"\n{TOWNS}\nmissing = "refuse"')
    assert made.metric == great_circle().within(50_000)
    assert made.cells.declared == ((48.86, 2.35), (48.80, 2.13), (43.30, 5.37))
    released = release(f'type = "category"\nwithin = "50 km"\n{TOWNS}\nmissing = "refuse"', pa.array(["Paris"] * 2000))
    found = Counter(released.to_pylist())
    assert set(found) <= {"Paris", "Versailles", "Marseille"}
    assert found["Versailles"] > 300 > 20 > found["Marseille"], "a wrong town is a near one"
    assert any("Versailles" in words for words, _ in made.pairs_to_tell(made.mechanism))


def test_towns_with_numbers_and_secret_nulls():
    entry = 'type = "category"\nwithin = "50 km"\nat = [[75, [48.86, 2.35]], [13, [43.30, 5.37]]]'
    made = column(entry)
    assert made.values == (75, 13)
    assert made.mechanism.takes_null
    released = release(entry, pa.array([75, None, 13] * 50, pa.int16()))
    assert released.type == pa.int16()
    assert set(released.to_pylist()) <= {75, 13, None}


def test_a_delta():
    made = column('type = "category"\nvalues = ["a", "b"]\nepsilon = 1\ndelta = 0.01\nmissing = "refuse"')
    assert made.mechanism.guarantee == Guarantee(1 * discrete(), Fraction(1, 100))
    made = column('type = "boolean"\nepsilon = 1\ndelta = 0.01')
    assert made.mechanism.guarantee.delta == Fraction(1, 100)


def test_null_at_another_distance_than_the_values():
    made = column('type = "boolean"\nepsilon = 1\nmissing_distance = 3')
    assert made.mechanism.guarantee.metric(True, False) == 1
    assert made.mechanism.guarantee.metric(True, None) == 3
    near = column(
        'type = "category"\nparents = {a = "x", b = "y", x = "r", y = "r"}\nepsilon = 1\nmissing_distance = 1'
    )
    metric = near.mechanism.guarantee.metric
    assert (metric("a", None), metric("a", "b")) == (1, 2), "by way of null, no two are farther than twice that"
    assert metric == near.metric


@pytest.mark.parametrize(
    ("entry", "line", "words"),
    [
        ("epsilon = 1", 2, "what there can be is listed by"),
        ('epsilon = 1\nvalues = ["a"]\nparents = {a = "r"}', 6, "one of the three"),
        ("epsilon = 1\nvalues = [true, false]", 5, "text or integers"),
        ("epsilon = 1\nparents = 3", 5, "parents = {child = parent, ..} is a table"),
        ('within = "1 km"\nat = {a = [1, 2], b = [1, 2]}', 5, "two values are at one place"),
        ('within = "1 km"\nat = 3', 5, "is a table"),
        ('values = ["a", "b"]\nwithin = 3', 5, "any two values lie equally far apart"),
        ('parents = {a = "r", b = "r"}\nepsilon = 1\ndelta = 0.1', 2, "delta goes with"),
        ('values = ["a", "b"]\nepsilon = 1\ndelta = 2', 6, "delta is a probability"),
    ],
)
def test_mistakes(entry, line, words):
    with pytest.raises(PolicyError, match=words) as caught:
        column(f'type = "category"\n{entry}')
    assert str(caught.value).startswith(f"line {line}, ")


def test_one_value_alone_cannot_be_hidden_among_others():
    made = column('type = "category"\nvalues = ["a"]\nepsilon = 1\nmissing = "refuse"')
    assert made.cells.labels == ("a",)
    with pytest.raises(PolicyError, match="there is one value only"):
        _ = made.mechanism


def test_unknown_values_are_never_told():
    with pytest.raises(ColumnError, match="not one of the declared values") as caught:
        release('type = "category"\nvalues = ["a", "b"]\nepsilon = 1', pa.array(["a", "Zebulon"]))
    assert "Zebulon" not in str(caught.value)
