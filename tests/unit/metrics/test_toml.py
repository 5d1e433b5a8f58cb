import datetime
import math
import tomllib
from fractions import Fraction

import pytest

from metricdp.errors import ArgumentError, LevelError
from metricdp.exact.level import ln
from metricdp.metrics import (
    Metric,
    absolute,
    attributes,
    discrete,
    great_circle,
    individuals,
    matrix,
    taxonomy,
    value_budgets,
)


def test_it_reads_well():
    assert attributes({"age": absolute().within(5), "job": 0.5}).to_toml() == (
        'metric = "attributes"\n'
        "\n"
        "[metrics.age]\n"
        'metric = "scaled"\n'
        'level = "1/5 ln 2"\n'
        "\n"
        "[metrics.age.unit]\n"
        'metric = "absolute"\n'
        "\n"
        "[metrics.job]\n"
        'metric = "scaled"\n'
        "level = 0.5\n"
        "\n"
        "[metrics.job.unit]\n"
        'metric = "discrete"\n'
    )


def test_it_is_written_by_hand_too():
    text = 'metric = "attributes"\nmetrics = { age = "ln 2", job = 0.5, "home town" = { metric = "great_circle" } }'
    by_hand = Metric.from_toml(text)
    assert by_hand == attributes({"age": ln(2), "job": 0.5, "home town": great_circle()})


POINTS = [
    ["a", 'quote " and \\ and \n and \x7f and 🙂', "é"],
    [7, 2.5, True],
    [datetime.date(2024, 1, 1), datetime.datetime(2024, 1, 1, 12, 30), datetime.time(8)],
    [(0, 0), (0, ("x", 1)), ()],
    [Fraction(1, 2), 2**53, 3],
]


@pytest.mark.parametrize("points", POINTS, ids=str)
def test_points_of_many_kinds(points):
    metric = matrix(points, [[0, 0.1, "1/3"], [0.1, 0, math.inf], ["1/3", math.inf, 0]], check=False)
    again = Metric.from_toml(metric.to_toml())
    assert again == metric
    assert again.points == tuple(points)


@pytest.mark.parametrize("points", [[None], [frozenset({1})], [b"x"], [Fraction(1, 3)], [2**80 + 1], [(0, 1j)]])
def test_points_that_have_no_toml_form(points):
    with pytest.raises(ArgumentError, match="no TOML form"):
        matrix(points, [[0]]).to_toml()


@pytest.mark.parametrize(
    "metric",
    [
        individuals({1: 0.1, 2: math.inf, 3: ln(2)}),
        individuals({"metric": ln(2), "other": 2}),
        taxonomy({"metric": "root", "other": "root"}),
        individuals({(1, 2): 1, "x": 2}),
        individuals({"with space": 1, "ünïcode": 2, "a.b": 3, "": 4}),
        attributes({"metric": "1/3", "b": ln(2)}),
        attributes({"metric": absolute(), "b": 0.1}),
        value_budgets({"metric": {"metric": 1, "b": 2}}),
        attributes({"x": discrete() * 1e-300, "y": 10**30 * discrete()}),
    ],
    ids=str,
)
def test_awkward_names_and_numbers(metric):
    tomllib.loads(metric.to_toml())
    assert Metric.from_toml(metric.to_toml()) == metric


@pytest.mark.parametrize(
    "text", ["", "metric = 5", 'metric = "nonsense"', 'metric = "Space"', "metric =", 'metric = "__all__"']
)
def test_what_is_no_metric(text):
    with pytest.raises(ArgumentError):
        Metric.from_toml(text)


def test_arguments_are_checked():
    with pytest.raises(ArgumentError, match="cap"):
        Metric.from_toml('metric = "capped"\nbase = { metric = "absolute" }')
    with pytest.raises(ArgumentError, match="colour"):
        Metric.from_toml('metric = "absolute"\ncolour = "red"')
    with pytest.raises(LevelError):
        Metric.from_toml('metric = "scaled"\nlevel = -1\nunit = { metric = "absolute" }')
