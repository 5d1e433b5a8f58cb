"""Levels of an entry: within, epsilon or a whole metric, and nothing that would say nothing."""

import math
from fractions import Fraction

import pytest

from metricdp import metrics as m
from metricdp.errors import PolicyError
from metricdp.exact.level import Level, ln
from metricdp.policies import Policy
from metricdp.policies.levels import with_missing


def one(entry):
    return Policy.parse(f"format = 2\n[columns.{entry}").columns[0]


def problems(text):
    with pytest.raises(PolicyError) as caught:
        Policy.parse(text)
    return caught.value.problems


@pytest.mark.parametrize(
    ("entry", "metric"),
    [
        ('type="place"\ncolumns=["a", "b"]\nwithin="200 m"', ln(2) / 200 * m.great_circle()),
        ('type="number"\nwithin=5\nfactor="3/2"', ln(Fraction(3, 2)) / 5 * m.absolute()),
        ('type="number"\nepsilon="0.1"', Level.of(Fraction(1, 10)) * m.absolute()),
        ('type="date"\nepsilon="ln 3"\nper="2 days"', ln(3) / 2 * m.dates()),
        ('type="number"\nmetric="ln 2/5 absolute"', ln(2) / 5 * m.absolute()),
        ('type="number"\nmetric={metric="scaled", level="ln 3", unit={metric="absolute"}}', ln(3) * m.absolute()),
        ('type="integer"\nmetric="0.5 discrete"\nbounds=[0, 9]\nmissing="refuse"', Fraction(1, 2) * m.discrete()),
    ],
)
def test_levels(entry, metric):
    assert one(f"x]\n{entry}").metric == metric


@pytest.mark.parametrize(
    ("entry", "line"),
    [
        ("", 2),
        ("within=1\nepsilon=1", 5),
        ("epsilon=1\nfactor=2", 5),
        ("within=0", 4),
        ("epsilon=1\nper=0", 5),
        ("factor=3", 4),
        ("per=3", 4),
        ('metric="ln 2 absolute"\nwithin=3', 5),
        ("metric=0.5", 4),
        ('metric="ln 2 miles"', 2),
    ],
)
def test_wrong_levels(entry, line):
    (problem,) = problems(f'format = 2\n[columns.x]\ntype = "number"\n{entry}')
    assert problem.startswith(f"line {line}, column 'x': ")


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ('type="number"\nwithin="1000 dollars"', "odds within a factor 2 at 1,000 dollars"),
        ('type="number"\nwithin=5\nfactor=3', "odds within a factor 3 at a distance of 5"),
        ('type="number"\nepsilon=0.5', "epsilon 0.5 for a distance of 1"),
        ('type="date"\nepsilon="ln 3"\nper="2 days"', "epsilon ln 3 for 2 days"),
        ('type="place"\ncolumns=["a", "b"]\nwithin="1.5 km"', "odds within a factor 2 at 1.5 km"),
        ('type="boolean"\nfactor=3', "odds within a factor 3 between any two values"),
        ('type="set"\nvalues=["a"]\nepsilon=1', "epsilon 1 for each element"),
        ('type="category"\nparents={a="r", b="r"}\nepsilon=1', "epsilon 1 for 1 step in the taxonomy"),
        ('type="series"\nlength=2\nwithin="0.5 kWh"', "odds within a factor 2 at 0.5 kWh in every reading"),
        ('type="number"\nmetric="ln 2/5 absolute"', "ln 2/5·|x − y|"),
    ],
)
def test_levels_are_said_as_they_are_written(entry, words):
    assert one(f"x]\n{entry}").level_words == words


def test_missing_values_in_a_metric():
    line = 2 * m.absolute()
    assert with_missing(line, "refuse", None) == line
    assert with_missing(line, "secret", Fraction(10)) == 2 * m.nullable(m.capped(m.absolute(), 20), 10)
    assert with_missing(m.discrete(), "secret", None) == m.discrete(), "it knows missing values by itself"
    assert with_missing(m.discrete(), "secret", Fraction(1)) == m.nullable(m.discrete(), 1)
    public = with_missing(line, "public", None)
    assert public(1, None) == math.inf
    assert public(1, 2) == 2
