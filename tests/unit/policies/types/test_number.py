"""Numbers and whole numbers under other metrics than their own: any two values, a delta, a distance of null."""

from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

from metricdp.errors import PolicyError
from metricdp.metrics import Guarantee, absolute, discrete, nullable
from metricdp.policies import Policy
from tests.unit.policies.types.released import column, release

ANY_TWO = 'metric = "1 discrete"\nbounds = [0, 10]'


def test_any_two_values_are_at_one_distance():
    for kind in ("number", "integer"):
        made = column(f'type = "{kind}"\n{ANY_TWO}\nmissing = "refuse"')
        assert made.metric == discrete()
        assert made.mechanism.guarantee.metric == absolute() / 10, "which is smaller, so that it promises more"
        secret = column(f'type = "{kind}"\n{ANY_TWO}')
        assert secret.metric == discrete()
        assert secret.mechanism.guarantee.metric == nullable(absolute(), 10) / 10


def test_a_distance_of_null_beside_any_two_values_counts_in_theirs():
    for kind in ("number", "integer"):
        made = column(f'type = "{kind}"\n{ANY_TWO}\nmissing_distance = 3')
        assert made.metric == nullable(discrete(), 3)
        assert made.mechanism.guarantee.metric == nullable(absolute(), 30) / 10
    with pytest.raises(PolicyError, match=r"a missing value 0\.5 from others is not farther than half"):
        _ = column(f'type = "number"\n{ANY_TWO}\nmissing_distance = 0.5').mechanism
    days = 'type = "date"\nmetric = "1 discrete"\nbounds = [2020-01-01, 2020-01-09]\nmissing_distance = '
    with pytest.raises(PolicyError, match="missing_distance is a number without a unit"):
        column(days + '"3 days"')
    assert column(days + "3").metric == nullable(discrete(), 3)


def test_a_delta_where_the_mechanism_has_one():
    made = column(f'type = "number"\n{ANY_TWO}\ndelta = 1e-6\nmissing = "refuse"')
    assert made.mechanism.guarantee == Guarantee(1 * discrete(), Fraction(1, 10**6))
    released = release(f'type = "number"\n{ANY_TWO}\ndelta = 1e-6\nmissing = "public"', pa.array([3.0, None] * 50))
    assert released.null_count == 50
    assert np.nanmin(released.to_numpy(zero_copy_only=False)) >= 0
    policy = Policy.parse(f'format = 2\n[columns.x]\ntype = "number"\n{ANY_TWO}\ndelta = 0.25\nmissing = "refuse"')
    assert policy.guarantee.delta == Fraction(1, 4)


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ('type = "number"\nwithin = 5\ndelta = 0.1', "delta goes with"),
        (f'type = "number"\n{ANY_TWO}\ndelta = 0.1', "delta goes with"),
        ('type = "number"\nmetric = "ln 2 discrete"\nbounds = [0, 1]\ndelta = 0.1\nmissing = "refuse"', "no logarithm"),
        (f'type = "number"\n{ANY_TWO}\ndelta = 1\nmissing = "refuse"', "from 0 to below 1"),
        ('type = "integer"\nwithin = 5\ndelta = 0.1', "'delta' is not known here"),
        (
            'type = "integer"\nwithin = 5\nbounds = [0, 10]\nstep = 3\nmissing = "refuse"',
            "whole number of steps",
        ),
    ],
)
def test_mistakes(entry, words):
    with pytest.raises(PolicyError, match=words):
        column(entry)


def test_the_distance_of_null_can_be_set():
    made = column('type = "number"\nwithin = 10\nbounds = [0, 100]\nmissing_distance = 60')
    assert made.mechanism.guarantee.metric.unit == nullable(absolute(), 60)
    assert made.metric(3, None) == made.mechanism.guarantee.metric(3, None)


@pytest.mark.parametrize("distance", [50, 30])
def test_a_null_nearer_than_half_the_bounds_is_for_questions_alone(distance):
    """No mechanism is known for it, so a sanitized table says so; a question does not ask for one."""
    text = 'format = 2\nrecords = 9\ncolumns.x = {type = "number", within = 10, bounds = [0, 100], missing_distance = '
    text += str(distance)
    policy = Policy.parse(text + "}")
    assert policy.askable.column("x").missing == "missing"
    with pytest.raises(PolicyError, match=r"line 3, column 'x': it cannot be released with noise: a missing value"):
        _ = policy.guarantee
    assert Policy.parse(text + ', release = "drop"}').columns[0].mechanism is None


def test_metrics_without_a_mechanism_are_for_questions_alone():
    entry = 'type = "integer"\nbounds = [0, 2]\nmissing = "refuse"\nmetric = {metric = "matrix", points = [0, 1, 2], '
    made = column(entry + "distances = [[0, 1, 2], [1, 0, 1], [2, 1, 0]]}")
    assert made.cells.declared == (0, 1, 2)
    with pytest.raises(PolicyError, match="cannot be released with noise"):
        _ = made.mechanism


NOT_ON_A_LINE = [
    '"0.5 hamming"',
    '"0.5 great_circle"',
    '"0.5 symmetric_difference"',
    '{metric = "unprotected"}',
    '{metric = "capped", base = {metric = "absolute"}, cap = 3}',
    '{metric = "matrix", points = [0, 1], distances = [[0, 1], [1, 0]]}',
]
LINES = {
    "number": "bounds = [0, 100]",
    "integer": "bounds = [0, 100]",
    "date": "bounds = [2024-01-01, 2024-04-10]",
    "time": "bounds = [2024-01-01, 2024-04-10]",
    "duration": 'bounds = ["0 s", "100 s"]',
    "time_of_day": "bounds = [06:00:00, 20:00:00]",
}


@pytest.mark.parametrize("kind", LINES)
@pytest.mark.parametrize("missing", ["refuse", "public", "secret"])
@pytest.mark.parametrize("metric", [*NOT_ON_A_LINE, "another type's"])
def test_noise_on_the_line_keeps_no_promise_but_its_own(kind, missing, metric):
    """Laplace noise of scale 1 is not private for min(|x - y|, 3), nor for the Hamming distance: it must be refused."""
    days = kind in ("date", "time")
    written = metric if metric in NOT_ON_A_LINE else '"0.5 absolute"' if days else '"0.5 dates"'
    made = column(f'type = "{kind}"\nmetric = {written}\n{LINES[kind]}\nmissing = "{missing}"')
    with pytest.raises(PolicyError, match="cannot be released with noise"):
        _ = made.mechanism


@pytest.mark.parametrize("kind", LINES)
def test_a_metric_says_nothing_of_missing_values(kind):
    nullable_ = '{metric = "nullable", base = {metric = "absolute"}, diameter = 200}'
    with pytest.raises(PolicyError, match="missing_distance"):
        column(f'type = "{kind}"\nmetric = {nullable_}\n{LINES[kind]}')
