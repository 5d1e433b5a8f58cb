"""Channels as values: labels, exact probabilities, and what is refused."""

import copy
import math
import pickle
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import metricdp as mdp
from metricdp.channels import Channel, certify
from metricdp.errors import ArgumentError, DataError, ShapeError, UnknownCategoryError
from metricdp.metrics import Guarantee

m = mdp.metrics
F = Fraction
THIRDS = [[F(2, 3), F(1, 6), F(1, 6)], [F(1, 3)] * 3, [F(1, 6), F(1, 6), F(2, 3)]]
SECRET = "-".join(("TOP", "SECRET"))


def integers(rows):
    made = np.empty((len(rows), len(rows[0])), dtype=object)
    made[:] = rows
    return made


def line():
    return Channel.from_matrix([0, 1, 2], "abc", THIRDS)


# What it holds


def test_probabilities_are_what_was_said():
    channel = line()
    assert channel.total == 6
    assert channel.weights.tolist() == [[4, 1, 1], [2, 2, 2], [1, 1, 4]]
    assert channel.probability(2, "c") == F(2, 3)
    assert channel.shape == (3, 3)
    assert channel.matrix[0].tolist() == [2 / 3, 1 / 6, 1 / 6]


@pytest.mark.parametrize(
    "row",
    [["1/3", "2/3"], [F(1, 3), F(2, 3)], [Decimal("0.1"), Decimal("0.9")], [0, 1], ["0.1", F(9, 10)], [1, 0.0]],
)
def test_exact_entries_stay_exact(row):
    channel = Channel.from_matrix(["x"], [0, 1], [row])
    assert [channel.probability("x", z) for z in (0, 1)] == [F(value) for value in row]


def test_floats_are_the_rationals_they_are_but_for_the_largest():
    row = [0.1, 0.2, 0.7]
    channel = Channel.from_matrix(["x"], "abc", [row])
    assert channel.probability("x", "a") == F(0.1)
    assert channel.probability("x", "b") == F(0.2)
    assert channel.probability("x", "c") == 1 - F(0.1) - F(0.2)
    assert channel.probability("x", "c") != F(0.7)


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.float16, np.int64, object])
def test_arrays_of_any_type(kind):
    channel = Channel.from_matrix([0, 1], [0, 1], np.array([[0, 1], [1, 0]], dtype=kind))
    assert channel.weights.tolist() == [[0, 1], [1, 0]]


def test_float32_is_taken_as_it_is():
    channel = Channel.from_matrix([0], [0, 1], np.array([[0.1, 0.9]], dtype=np.float32))
    assert channel.probability(0, 0) == F(float(np.float32(0.1)))


def test_entries_beyond_floats():
    tiny = F(1, 1 << 5000)
    channel = Channel.from_matrix([0, 1], "ab", [[tiny, 1 - tiny], [F(1, 2), F(1, 2)]])
    assert channel.probability(0, "a") == tiny
    assert channel.matrix[0].tolist() == [0.0, 1.0]
    assert channel.total == 1 << 5000
    assert "2^5000" in repr(channel)


@pytest.mark.parametrize("least", [5e-324, 1e-320, 1e-310])
def test_floats_with_the_smallest_there_are(least):
    """A solver's answer holds such entries, and their sum is not exactly one."""
    channel = Channel.from_matrix([0], "abc", [[0.1, 0.9 + 1e-12, least]])
    assert channel.probability(0, "a") == F(0.1)
    assert channel.probability(0, "c") == F(least)


def test_lowest_terms():
    channel = Channel((0, 1), ("a", "b"), integers([[20, 40], [30, 30]]), 60)
    assert channel.total == 6
    assert channel == Channel.from_matrix([0, 1], "ab", [["1/3", "2/3"], ["1/2", "1/2"]])


def test_weights_cannot_be_written_to():
    for channel in (line(), pickle.loads(pickle.dumps(line())), copy.deepcopy(line()), line().promising(None)):
        for array in (channel.weights, channel.matrix):
            with pytest.raises(ValueError, match="read-only"):
                array[0, 0] = 7


def test_what_it_was_made_from_may_change():
    weights = integers([[1, 1], [1, 1]])
    channel = Channel((0, 1), (0, 1), weights, 2)
    weights[0, 0] = 5
    assert channel.weights[0, 0] == 1


# As a value


def test_equality_is_of_labels_and_probabilities():
    assert line() == line()
    assert hash(line()) == hash(line())
    assert line() == line().promising(Guarantee(m.absolute()))
    assert line() != Channel.from_matrix([0, 1, 2], "abd", THIRDS)
    assert line() != Channel.from_matrix([0, 1, 3], "abc", THIRDS)
    other = [THIRDS[0], THIRDS[1], [F(1, 6), F(1, 6) - F(1, 10**30), F(2, 3) + F(1, 10**30)]]
    assert line() != Channel.from_matrix([0, 1, 2], "abc", other)
    assert line() != "line"


def test_a_certified_channel_equals_the_plain_one():
    space = mdp.Space.line(3, mdp.ln(2) * m.absolute())
    assert certify(line(), space) == line()


def test_pickle_keeps_the_promise():
    promised = line().promising(Guarantee(mdp.ln(2) * m.absolute()))
    promised.release([0] * 10)
    back = pickle.loads(pickle.dumps(promised))
    assert back == promised
    assert back.promise == promised.promise
    assert back.guarantee == promised.guarantee


def test_words():
    channel = line()
    assert str(channel).splitlines()[1:] == [
        "     a    b    c",
        "0  2/3  1/6  1/6",
        "1  1/3  1/3  1/3",
        "2  1/6  1/6  2/3",
    ]
    promised = str(channel.promising(Guarantee(mdp.ln(2) * m.absolute())))
    assert "ln 2·|x − y|-private" in promised
    large = Channel.from_matrix(range(30), range(30), np.full((30, 30), F(1, 30)))
    assert len(str(large).splitlines()) == 1 + 1 + 1 + 13
    assert "…" in str(large)
    assert max(map(len, str(large).splitlines())) < 120


def test_a_wide_channel_is_printed_with_its_likeliest_outputs():
    unused = np.zeros((3, 20), dtype=object)
    unused[:, 15] = F(2, 3)
    unused[:, 17] = F(1, 3)
    lines = str(Channel.from_matrix("abc", range(20), unused)).splitlines()
    assert lines[2].split() == [*map(str, range(10)), "15", "17", "…"]
    assert lines[3].split() == ["a", *"0" * 10, "2/3", "1/3", "…"]


# Labels


@pytest.mark.parametrize("labels", [[1, 1], [1, 1.0], [1, True], ["a", "a"], [(1, 2), [1, 2]], [0.0, -0.0]])
def test_repeated_labels_are_refused(labels):
    half = [["1/2", "1/2"]] * 2
    with pytest.raises(ArgumentError, match="stands twice, at 0 and 1"):
        Channel.from_matrix(labels, "ab", half)
    with pytest.raises(ArgumentError, match="stands twice, at 0 and 1"):
        Channel.from_matrix("ab", labels, half)


@pytest.mark.parametrize("label", [math.nan, (1, math.nan), np.float64("nan"), {}, {"a": 1}])
def test_labels_that_cannot_be_compared_are_refused(label):
    with pytest.raises(ArgumentError):
        Channel.from_matrix([label], "a", [[1]])


def test_labels_of_every_kind():
    labels = [None, "a", 1, 2.5, (1, 2), frozenset("ab"), F(1, 3), np.datetime64("2024-02-29"), [3, 4]]
    channel = Channel.from_matrix(labels, labels, np.full((9, 9), F(1, 9)))
    for place, value in enumerate(labels):
        assert channel.row(value) == channel.column(value) == place
    assert channel.column(channel.release((1, 2))) in range(9)
    assert len(channel.release(labels)) == 9


def test_no_inputs_or_outputs():
    for inputs, outputs, rows in [([], "a", []), ("a", [], [[]]), ([], [], [])]:
        with pytest.raises(ArgumentError):
            Channel.from_matrix(inputs, outputs, rows)


# Bad matrices


@pytest.mark.parametrize(
    ("rows", "error", "words"),
    [
        ([["1/2", "1/2"], ["1/2", "1/3"]], ArgumentError, "input 'y': its probabilities sum to 0.8333"),
        ([["1/2", "1/2"], [0.5, 0.4]], ArgumentError, "input 'y': its probabilities sum to 0.9,"),
        ([["1/2", "1/2"], [0.5, 0.500002]], ArgumentError, "input 'y': its probabilities sum to 1.000002"),
        ([["1/2", "1/2"], [F(1, 2), F(1, 2) + F(1, 10**40)]], ArgumentError, "input 'y'"),
        ([["1/2", "1/2"], ["3/2", "-1/2"]], ArgumentError, "negative"),
        ([["1/2", "1/2"], [1.0, -1e-300]], ArgumentError, "negative"),
        ([["1/2", "1/2"], [math.nan, 1.0]], ArgumentError, "finite"),
        ([["1/2", "1/2"], [math.inf, 0.0]], ArgumentError, "finite"),
        ([["1/2", "1/2"], ["1/0", "1"]], ArgumentError, "finite"),
        ([["1/2", "1/2"], ["half", "half"]], ArgumentError, "finite number"),
        ([["1/2", "1/2"], [True, False]], ArgumentError, "bool"),
        ([["1/2", "1/2"], [None, 1]], ArgumentError, "NoneType"),
        ([["1/2", "1/2"], [1j, 1]], ArgumentError, "complex"),
    ],
)
def test_bad_rows_are_named(rows, error, words):
    with pytest.raises(error, match=words) as caught:
        Channel.from_matrix("xy", "ab", rows)
    assert "row 1" in str(caught.value)


@pytest.mark.parametrize(
    "rows", [[["1/2", "1/2"]], [["1/2", "1/2"], [1]], [["1/2", "1/2"]] * 3, [[F(1, 3)] * 3] * 2, [], [[], []]]
)
def test_bad_shapes(rows):
    with pytest.raises(ArgumentError, match="2 rows and 2 columns"):
        Channel.from_matrix("xy", "ab", rows)


@pytest.mark.parametrize(
    ("weights", "total", "error"),
    [
        ([[1, 1], [1, 2]], 2, ArgumentError),
        ([[1, 1], [3, -1]], 2, ArgumentError),
        ([[1, 1], [1.0, 1.0]], 2, ArgumentError),
        ([[1, 1], [True, True]], 2, ArgumentError),
        ([[1, 1]], 2, ArgumentError),
        ([[0, 0], [0, 0]], 0, ArgumentError),
        ([[0, 0], [1, -1]], 0, ArgumentError),
    ],
)
def test_bad_weights(weights, total, error):
    with pytest.raises(error):
        Channel((0, 1), ("a", "b"), integers(weights), total)


def test_unknown_labels():
    for ask in (line().row, line().column, lambda label: line().probability(label, "a")):
        with pytest.raises(UnknownCategoryError) as caught:
            ask(SECRET)
        assert SECRET not in str(caught.value)


# Releases


def test_release_keeps_the_form():
    channel = line()
    assert channel.release(0) in "abc"
    assert set(channel.release([0, 1, 2] * 50)) == set("abc")
    array = channel.release(np.array([0, 1, 2] * 50))
    assert isinstance(array, np.ndarray)
    assert set(array.tolist()) == set("abc")
    series = channel.release(pd.Series([0, 1, 2], index=list("rst"), name="col"))
    assert series.index.tolist() == list("rst")
    assert series.name == "col"


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int32, np.int64, np.uint64, np.float64, object])
def test_arrays_of_every_type_find_their_rows(kind):
    """The channel releases its input, so that a wrong row would be seen."""
    points = [0, 7, 3, 100]
    identity = Channel.from_matrix(points, points, np.eye(4))
    secrets = np.array(points * 25, dtype=kind)
    assert identity.release(secrets).tolist() == secrets.tolist()


def test_outputs_that_the_secrets_type_cannot_hold():
    far = Channel.from_matrix([0, 1], [-1, 10**30], np.eye(2))
    assert far.release(np.array([0, 1], dtype=np.uint8)).tolist() == [-1, 10**30]


@pytest.mark.parametrize(
    "bad", [SECRET, [0, SECRET], np.array([0, 9]), [0, None], [0, math.nan], [[0], [1, {SECRET: 1}]]]
)
def test_errors_of_a_release_tell_nothing(bad):
    with pytest.raises(DataError) as caught:
        line().release(bad)
    link, chain = caught.value, []
    while link is not None:
        chain.append(link)
        link = link.__cause__ or link.__context__
    for link in chain:
        assert SECRET not in f"{link!s} {link!r} {link.args!r} {vars(link)!r}"
        assert "9" not in str(link)


@pytest.mark.parametrize("nothing", [[], np.array([]), pd.Series([], dtype=float)])
def test_nothing_to_release(nothing):
    with pytest.raises(ShapeError):
        line().release(nothing)


@pytest.mark.parametrize("place", [-1, 3, 10**6])
def test_places_that_are_no_rows(place):
    with pytest.raises((IndexError, DataError)):
        line().release_places(np.array([0, place]))


# Promises and errors to expect


def test_the_guarantee_is_the_promise_or_what_the_channel_does():
    channel = line()
    assert channel.promise is None
    assert channel.guarantee.delta == 0
    assert channel.guarantee.metric(0, 2) == pytest.approx(math.log(4))
    promise = Guarantee(mdp.ln(2) * m.absolute())
    assert channel.promising(promise).guarantee == promise
    assert channel.promising(promise).promising(None).promise is None


def test_probability_within():
    channel = Channel.from_matrix([0, 1, 2], [0, 1, 2], THIRDS).promising(Guarantee(mdp.ln(2) * m.absolute()))
    assert channel.probability_within(0) == pytest.approx(1 / 3)
    assert channel.probability_within(1) == pytest.approx(5 / 6)
    assert channel.probability_within(0.999) == pytest.approx(1 / 3)
    assert channel.probability_within(2) == 1
    assert channel.probability_within(-1) == 0
    assert channel.probability_within(1) <= F(5, 6)


def test_outputs_that_are_no_points():
    channel = line().promising(Guarantee(mdp.ln(2) * m.absolute()))
    with pytest.raises(DataError):
        channel.probability_within(1)
    assert "not points of the metric" in channel.explain()


def test_arrays_of_floats_are_the_rationals_they_are():
    """By the path of arrays, and by that of lists, which reads one number after the other."""
    generator = np.random.default_rng(1)
    table = generator.random((6, 5)) * 2.0 ** generator.integers(-1000, 0, (6, 5))
    table[generator.random((6, 5)) < 0.2] = 0.0
    table[2, 3] = 5e-324
    table[:, 4] = 0.0
    table[:, 4] = 1 - table.sum(axis=1).clip(0, 0.9)
    table /= table.sum(axis=1, keepdims=True)
    for matrix in (table, np.eye(4), np.array([[1.0 + 2**-30, 0.0]])):
        inputs, outputs = range(len(matrix)), range(matrix.shape[1])
        array = Channel.from_matrix(inputs, outputs, matrix)
        assert array == Channel.from_matrix(inputs, outputs, matrix.tolist())
        largest = matrix.argmax(axis=1)
        for x in inputs:
            for z in set(outputs) - {int(largest[x])}:
                assert array.probability(x, z) == Fraction(float(matrix[x, z]))


# Machine integers


def machine(rows, total, promise=None):
    names = range(len(rows))
    return Channel(
        names, [f"z{column}" for column in range(len(rows[0]))], np.array(rows, dtype=np.int64), total, promise
    )


def test_machine_integers_are_the_same_channel_in_less_memory():
    rows = [[(1 << 61) - 3, 0, 3], [5, (1 << 61) - 7, 2]]
    short = machine(rows, 1 << 61)
    long = Channel(short.inputs, short.outputs, integers(rows), short.total)
    assert short.stored.dtype == np.int64
    assert long.stored is long.weights
    assert short == long
    assert hash(short) == hash(long)
    assert (short.matrix == long.matrix).all()
    assert "weights" not in vars(short)
    assert short.weights.dtype == object
    assert short.weights.tolist() == rows
    assert {type(value) for value in short.weights.ravel().tolist()} == {int}
    for kept in (short.stored, short.weights):
        with pytest.raises(ValueError, match="read-only"):
            kept[0, 0] = 1
    assert short != machine([rows[1], rows[0]], short.total)
    assert (short @ Channel.from_matrix(short.outputs, "a", [[1]] * 3)).weights.tolist() == [[1], [1]]


def test_machine_integers_stay_so_in_copies():
    metric = mdp.ln(3) * m.discrete()
    short = machine([[6, 2], [2, 6]], 8, Guarantee(metric))
    assert short.total == 4
    assert short.stored.tolist() == [[3, 1], [1, 3]]
    for other in (
        pickle.loads(pickle.dumps(short)),
        copy.deepcopy(short),
        short.promising(None),
        certify(short, metric),
    ):
        assert other.stored.dtype == np.int64
        assert other == short
        assert "weights" not in vars(other)
    assert Channel.from_json(short.to_json()) == short
    given = np.array([[3, 1], [1, 3]])
    kept = Channel("ab", "yz", given, 4)
    given[0] = 0
    assert kept.weights.tolist() == [[3, 1], [1, 3]]


def test_machine_integers_that_are_no_channel():
    with pytest.raises(ArgumentError, match="row 1: input 1: a negative probability"):
        machine([[1, 2], [4, -1]], 3)
    with pytest.raises(ArgumentError, match="row 1: input 1: the weights do not sum to the total"):
        machine([[1, 2], [4, 1]], 3)
    with pytest.raises(ArgumentError, match="row 0: input 0: the weights do not sum"):
        machine([[1 << 62, 1 << 62, 1 << 62, (1 << 62) + 3]], 3)  # which they do where sums wrap
    with pytest.raises(ArgumentError, match="a matrix of 2 inputs by 2 outputs"):
        Channel("ab", "yz", np.array([1, 2]), 3)
    assert machine([[1 << 62, 0], [1, (1 << 62) - 1]], 1 << 62).stored.dtype == object
    with pytest.raises(AttributeError, match="has no attribute 'weight'"):
        _ = line().weight
