"""Whatever a seed touched says that it is not private, however it is passed on."""

import warnings
from contextlib import contextmanager

import pyarrow as pa
import pytest

import metricdp as mdp
from metricdp.exact.bits import seeded
from metricdp.mechanisms.containers import NotPrivate
from metricdp.policies import Policy
from metricdp.queries import Sum, Workload, allocate, answer, ask, choose, consistent, mwem, small_database

SPACE = mdp.Space("abc", mdp.metrics.discrete())
WORKLOAD = Workload([[1, 0, 0], [1, 1, 0]], SPACE)
COUNTS = [30, 20, 50]
POLICY = Policy.parse(
    'format = 2\nrecords = 3\ncolumns.sex = {type = "category", values = ["F", "M"], epsilon = 1, missing = "refuse"}\n'
)
RELEASES = {
    "an allocation": lambda: allocate(WORKLOAD).release(COUNTS),
    "a workload": lambda: answer(WORKLOAD, COUNTS),
    "one answer": lambda: answer(Sum((0, 10), records=3), [1, 2, 3], mdp.metrics.manhattan()),
    "a choice": lambda: choose([1, 2], ["a", "b"], metric=mdp.metrics.hamming(), sensitivity=1),
    "weights": lambda: mwem(WORKLOAD, COUNTS, 2),
    "a small database": lambda: small_database(WORKLOAD, COUNTS, size=2),
    "answers to SQL": lambda: ask(people(), POLICY, "select count(*) from t group by sex"),
}


def people():
    return pa.table({"sex": ["F", "M", "M"]})


@contextmanager
def quietly_seeded():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with seeded(1):
            yield


@pytest.mark.parametrize("name", RELEASES)
def test_a_release_from_a_seed_says_so(name):
    release = RELEASES[name]
    with quietly_seeded():
        made = release()
    assert made.private is False
    assert made.to_json()["private"] is False
    assert "not private" in repr(made).lower()
    secure = release()
    assert secure.private is True
    assert secure.to_json()["private"] is True
    assert "not private" not in repr(secure).lower()


def test_the_numbers_themselves_say_so():
    with quietly_seeded():
        answers, weights = allocate(WORKLOAD).release(COUNTS), mwem(WORKLOAD, COUNTS, 2)
        asked = ask(people(), POLICY, "select count(*) from t group by sex")
    for numbers in (answers.values, weights.counts, weights.answers):
        assert isinstance(numbers, NotPrivate)
        assert repr(numbers).startswith("not private")
        assert not numbers.flags.writeable
    assert not any(found.private for row in asked.found for found in row)
    header, rows = asked.to_rows()
    assert header[-1] == "private"
    assert all(row[-1].startswith("NOT private") for row in rows)
    assert not isinstance(allocate(WORKLOAD).release(COUNTS).values, NotPrivate)
    secure = ask(people(), POLICY, "select count(*) from t group by sex")
    assert "private" not in secure.to_rows()[0]
    assert all(found.private for row in secure.found for found in row)


def test_what_is_made_from_seeded_answers_says_so_too():
    """It is made after the block of the seed has ended."""
    with quietly_seeded():
        answers = allocate(WORKLOAD).release(COUNTS)
    for given in (answers, answers.values, answers.values * 2):
        made = consistent(WORKLOAD, given, answers.scales, 100, guarantee=answers.guarantee)
        assert made.private is False
        assert isinstance(made.counts, NotPrivate)
    assert consistent(WORKLOAD, [30.0, 50.0], answers.scales, 100, guarantee=answers.guarantee).private
