"""Channels as plain values: what comes back is equal, of the same types, and promises nothing that was not verified."""

import copy
import datetime
import json
import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import metricdp as mdp
from metricdp.channels.cells import digits, integer, label_text, number_text, read_label, read_number
from metricdp.channels.channel import Channel
from metricdp.channels.serialize import from_json, from_rows, label_document, read_label_document, to_json, to_rows
from metricdp.errors import ArgumentError, KindError, NotFiniteError
from metricdp.metrics import Guarantee, absolute, dates, discrete, euclidean, great_circle, matrix, symmetric_difference

LINE = Channel.from_matrix([0, 1, 2], "abc", [["2/3", "1/6", "1/6"], ["1/3"] * 3, ["1/6", "1/6", "2/3"]])
PROMISE = Guarantee(mdp.ln(2) * absolute())

scalars = st.one_of(
    st.text(max_size=8),
    st.sampled_from(
        ["3", "007", "True", "None", "inf", "(a", "a, b", '"q"', "'s'", "2/3", "{", "2024-05-01", " x ", ""]
    ),
    st.integers(),
    st.floats(allow_nan=False),
    st.booleans(),
    st.none(),
    st.fractions(),
    st.dates(),
    st.datetimes(allow_imaginary=False).map(lambda moment: moment.replace(fold=0)),  # which equality does not see
    st.times().map(lambda moment: moment.replace(fold=0)),
)
labels = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3).map(tuple) | st.frozensets(inner, max_size=3), max_leaves=6
)


def shape(value):
    """The value with the types of all its parts, so that 1, 1.0 and True differ."""
    if isinstance(value, tuple):
        return tuple, tuple(map(shape, value))
    if isinstance(value, frozenset):
        return frozenset, frozenset(map(shape, value))
    return type(value), repr(value)


def two_points(metric, x, y):
    """A channel between two points with likelihoods within a factor 2, and a promise of that metric."""
    channel = Channel.from_matrix([x, y], [0, 1], [["2/3", "1/3"], ["1/3", "2/3"]])
    return channel.promising(Guarantee(metric))


@given(labels)
@settings(max_examples=200)
def test_labels_come_back_of_the_same_type(label):
    document = json.loads(json.dumps(label_document(label), allow_nan=False))
    assert shape(read_label_document(document)) == shape(label)
    assert shape(read_label(label_text(label))) == shape(label)


@pytest.mark.parametrize(
    ("cell", "label"),
    [
        ("tea", "tea"),
        (" tea ", "tea"),
        ("3", 3),
        ("-3", -3),
        ("007", "007"),
        ("+3", "+3"),
        ("3.", "3."),
        ("0.5", 0.5),
        ("1e-05", 1e-05),
        ("1e999", "1e999"),
        ("2/3", Fraction(2, 3)),
        ("2/0", "2/0"),
        ("2024-02-29", datetime.date(2024, 2, 29)),
        ("2024-02-30", "2024-02-30"),
        ("2024-05-01 10:30:00", datetime.datetime(2024, 5, 1, 10, 30)),
        ("10:30:00", datetime.time(10, 30)),
        ("(0, 1)", (0, 1)),
        ("(0,1)", (0, 1)),
        ("('a', 'b')", ("a", "b")),
        ("(red, 3)", ("red", 3)),
        ("(0,)", (0,)),
        ("()", ()),
        ("(approx)", "(approx)"),
        ("(0, 1", "(0, 1"),
        ("(0, 1) and more", "(0, 1) and more"),
        ("(0,, 1)", "(0,, 1)"),
        ("((0, 1), (2, 3))", ((0, 1), (2, 3))),
        ("{a, b}", frozenset("ab")),
        ("{}", frozenset()),
        ('"3"', "3"),
        ("'3'", "3"),
        ('"3', '"3'),
        ("it's", "it's"),
        ("True", True),
        ("true", "true"),
        ("None", None),
        ("(" * 100_000, "(" * 100_000),
    ],
)
def test_what_a_cell_stands_for(cell, label):
    assert shape(read_label(cell)) == shape(label)


@pytest.mark.parametrize("label", [Decimal(1), np.datetime64("2024-01-01"), b"x", 1j, mdp.ln(2)])
def test_labels_without_a_form(label):
    for write in (label_text, label_document):
        with pytest.raises(ArgumentError, match="has no form in a file"):
            write(label)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("0.1", Fraction(1, 10)),
        (".5", Fraction(1, 2)),
        ("2.", Fraction(2)),
        ("1e-3", Fraction(1, 1000)),
        ("2E+2", Fraction(200)),
        ("2/3", Fraction(2, 3)),
        ("-0.25", Fraction(-1, 4)),
        (" 1 / 3 ", Fraction(1, 3)),
        ("1e-435", Fraction(1, 10**435)),
    ],
)
def test_numbers_are_read_exactly(text, number):
    assert read_number(text) == number


@pytest.mark.parametrize("text", ["", ".", "e5", "1/0", "0x10", "1_000", "1e999999999", "½", "1,5", "--1", "1/2/3"])
def test_what_is_no_number(text):
    with pytest.raises(KindError):
        read_number(text)


@pytest.mark.parametrize("text", ["nan", "inf", "-Infinity"])
def test_what_is_not_finite(text):
    with pytest.raises(NotFiniteError):
        read_number(text)


@given(st.fractions())
def test_numbers_come_back(number):
    assert read_number(number_text(number)) == number


def test_integers_of_any_length():
    number = 7**10_000
    assert integer(digits(number)) == number
    assert read_number(number_text(Fraction(1, number))) == Fraction(1, number)


# Documents


def through_json(channel):
    return from_json(json.loads(json.dumps(to_json(channel), allow_nan=False)))


def test_a_document():
    assert to_json(LINE.promising(PROMISE)) == {
        "format": "metricdp channel",
        "version": 1,
        "inputs": [0, 1, 2],
        "outputs": ["a", "b", "c"],
        "total": "6",
        "weights": [[4, 1, 1], [2, 2, 2], [1, 1, 4]],
        "guarantee": {
            "metric": {"metric": "scaled", "level": "ln 2", "unit": {"metric": "absolute"}},
            "delta": 0,
            "formula": "ln 2·|x − y|-private",
        },
    }


def test_methods_of_the_channel():
    assert Channel.from_json(LINE.promising(PROMISE).to_json()).promise == PROMISE


@pytest.mark.parametrize("bits", [52, 53, 54, 64, 20_000])
def test_weights_of_any_size(bits):
    total = 1 << bits
    channel = Channel(("x", "y"), (0, 1), np.array([[1, total - 1], [total - 1, 1]], dtype=object), total)
    assert through_json(channel) == channel
    assert all(abs(entry) < 1 << 53 for row in to_json(channel)["weights"] for entry in row if isinstance(entry, int))


@pytest.mark.parametrize(
    ("metric", "x", "y"),
    [
        (mdp.ln(2) * discrete(), "a", "b"),
        (0.7 * euclidean(), (0, 0), (0, 1)),
        (mdp.ln(2) * absolute(), Fraction(1, 3), Fraction(4, 3)),
        (great_circle().within(1), (0, 0), (0, 1)),
        (mdp.ln(2) * dates(), datetime.date(2024, 5, 1), datetime.date(2024, 5, 2)),
        (matrix(["a", "b"], [[0, 1], [1, 0]]), "a", "b"),
        (matrix([datetime.date(2024, 5, 1), 2], [[0, 1], [1, 0]]), datetime.date(2024, 5, 1), 2),
        (mdp.ln(2) * symmetric_difference(), frozenset(), frozenset({1})),
        (mdp.metrics.maximum(discrete(), 2 * absolute()), 0, 1),
    ],
)
def test_promises_come_back(metric, x, y):
    channel = two_points(metric, x, y)
    again = through_json(channel)
    assert again == channel
    assert again.promise == Guarantee(metric)
    assert list(map(shape, again.inputs)) == list(map(shape, channel.inputs))


def test_a_delta_comes_back():
    promised = LINE.promising(Guarantee(mdp.ln("19/10") * absolute(), "1/10"))
    assert through_json(promised).promise == promised.promise


def test_a_metric_without_a_form_leaves_its_formula():
    metric = matrix([None, 2], [[0, 1], [1, 0]])
    document = to_json(two_points(metric, None, 2))
    assert document["guarantee"] == {"metric": None, "delta": 0, "formula": "D(2 points)-private"}
    assert from_json(document).promise is None


def test_promises_are_not_believed():
    document = to_json(LINE.promising(PROMISE))
    document["guarantee"]["metric"]["level"] = "ln 3/2"
    with pytest.raises(ArgumentError, match=r"does not keep its promise.*does NOT hold.*secrets 0 and 1"):
        from_json(document)
    document["guarantee"]["metric"]["level"] = "ln 2"
    document["weights"][0] = [5, 1, 0]
    with pytest.raises(ArgumentError, match="nor at any multiple"):
        from_json(document)


def test_a_promise_about_other_points():
    document = to_json(LINE.promising(PROMISE))
    document["guarantee"]["metric"] = json.loads(
        json.dumps({"metric": "matrix", "points": [0, 1], "distances": [[0, 1], [1, 0]]})
    )
    with pytest.raises(ArgumentError, match="cannot be verified: row 2"):
        from_json(document)


BROKEN = [
    ({"format": "something"}, ArgumentError, "no channel"),
    ({"version": 2}, ArgumentError, "version 2; this release of metricdp reads version 1"),
    ({"version": "one"}, ArgumentError, "version unknown"),
    ({"version": True}, ArgumentError, "version"),
    ({"inputs": None}, ArgumentError, "inputs of a channel are a list"),
    ({"inputs": [0, 1]}, ArgumentError, "3 rows of weights for 2 inputs"),
    ({"inputs": [0, 1, {"thing": 1}]}, ArgumentError, "row 2: inputs: a label is"),
    ({"inputs": [0, 1, {"date": "1st of May"}]}, ArgumentError, "row 2: inputs: a label that is no date"),
    ({"inputs": [0, 1, {"fraction": "1/0"}]}, ArgumentError, "no fraction"),
    ({"inputs": [0, 1, 1]}, ArgumentError, "the input 1 stands twice, at 1 and 2"),
    ({"outputs": ["a", "b"]}, ArgumentError, "row 0: 3 weights for 2 outputs"),
    ({"total": "six"}, ArgumentError, "total"),
    ({"total": 0}, ArgumentError, "total"),
    ({"total": "7"}, ArgumentError, "input 0: the weights do not sum"),
    ({"weights": 3}, ArgumentError, "list of rows"),
    ({"weights": [[4, 1, 1], [2, 2, 2], [1, 1, 4.0]]}, ArgumentError, None),
    ({"weights": [[4, 1, 1], [2, 2, 2], [1, 1, "-4"]]}, ArgumentError, "column 'c', row 2: a weight is an integer"),
    ({"weights": [[4, 1, 1], [2, 2, 2], [1, 6, -1]]}, ArgumentError, "row 2: input 2: a negative probability"),
    ({"guarantee": 3}, ArgumentError, "guarantee is an object"),
    ({"guarantee": {"metric": {"metric": "teleportation"}}}, ArgumentError, "cannot be read: a metric is one of"),
    ({"guarantee": {"metric": {"metric": "absolute"}, "delta": 2}}, ArgumentError, "a delta is at least 0 and below 1"),
    ({"guarantee": {"metric": {"metric": "absolute"}, "delta": []}}, ArgumentError, "a delta is a number"),
    ({"guarantee": {"metric": {"metric": "scaled", "level": "x", "unit": 3}}}, ArgumentError, "cannot be read"),
    ({"guarantee": {"metric": {"metric": "scaled", "level": "1/0", "unit": 3}}}, ArgumentError, "cannot be read"),
    ({"guarantee": {"metric": "metric = "}}, ArgumentError, "not TOML"),
]


@pytest.mark.parametrize(("change", "kind", "words"), BROKEN)
def test_documents_that_are_none(change, kind, words):
    document = copy.deepcopy(to_json(LINE.promising(PROMISE))) | change
    expected = ArgumentError if kind is ArgumentError and words is None else kind
    with pytest.raises(expected, match=words):
        from_json(document)


@pytest.mark.parametrize("document", [None, [], "text", {}, {"format": "metricdp channel", "version": 1}])
def test_no_documents_at_all(document):
    with pytest.raises(ArgumentError):
        from_json(document)


# Tables of text


@given(
    st.lists(labels, min_size=1, max_size=3, unique=True),
    st.lists(labels, min_size=1, max_size=3, unique=True),
    st.data(),
)
@settings(max_examples=40)
def test_tables_come_back(inputs, outputs, data):
    rows = [data.draw(st.lists(st.integers(1, 9), min_size=len(outputs), max_size=len(outputs))) for _ in inputs]
    channel = Channel.from_matrix(inputs, outputs, [[Fraction(weight, sum(row)) for weight in row] for row in rows])
    again = from_rows(to_rows(channel))
    assert again == channel
    assert [*map(shape, again.inputs), *map(shape, again.outputs)] == [*map(shape, [*inputs, *outputs])]


def test_a_table_without_labels():
    channel = from_rows([["0.5", "0.5"], ["1/4", "75e-2"]])
    assert channel.inputs == channel.outputs == (0, 1)
    assert channel.probability(1, 1) == Fraction(3, 4)


@pytest.mark.parametrize("corner", ["", "input", "Inputs", " input\\output"])
def test_corners_of_a_table_with_labels(corner):
    assert from_rows([[corner, "y", "z"], [], ["a", "0", "1"], ["", "", ""]]).inputs == ("a",)


def test_a_rounded_row_is_completed_in_its_largest_entry():
    channel = from_rows([["", "x", "y", "z"], ["a", "0.3333333", "0.3333333", "0.3333335"]])
    assert channel.probability("a", "z") == 1 - 2 * Fraction("0.3333333")
    assert channel.probability("a", "x") == Fraction("0.3333333")


TABLES = [
    ([], ArgumentError, "no row"),
    ([["", "a"]], ArgumentError, "only a header"),
    ([["", "y"], ["a", "1"], ["b"]], ArgumentError, "row 1: 0 cells for 1 outputs"),
    ([["a", "b"], ["1", "0"]], ArgumentError, "first cell is empty or says 'input'"),
    ([["", "a", "b"], ["x", "0.5"]], ArgumentError, "row 0: 1 cells for 2 outputs"),
    (
        [["", "a", "b"], ["x", "0.5", "0.4"]],
        ArgumentError,
        "row 0: input 'x': its probabilities sum to 0.9, not to one",
    ),
    ([["", "a", "b"], ["x", "1/3", "33333333/50000000"]], ArgumentError, "row 0: input 'x': .* not to one"),
    (
        [["", "a", "b"], ["x", "1", "0"], ["y", "-0.5", "1.5"]],
        ArgumentError,
        "column 'a', row 1: a negative probability",
    ),
    ([["", "a", "b"], ["x", "1", ""]], ArgumentError, "column 'b', row 0: an empty cell"),
    ([["", "a", "b"], ["x", "1", "none"]], ArgumentError, "column 'b', row 0: a cell that is no number"),
    ([["", "a", "b"], ["x", "1", "nan"]], ArgumentError, "column 'b', row 0: NaN or infinity"),
    ([["nan", "1"]], ArgumentError, "column '0', row 0: NaN or infinity"),
    ([["", "a", "b"], ["x", "1", "0"], ["x", "1", "0"]], ArgumentError, "input 'x' stands twice, at 0 and 1"),
    ([["", "a", "a"], ["x", "1", "0"]], ArgumentError, "output 'a' stands twice"),
]


@pytest.mark.parametrize(("rows", "kind", "words"), TABLES)
def test_tables_that_are_no_channel(rows, kind, words):
    with pytest.raises(kind, match=words):
        from_rows(rows)


def test_infinite_labels_come_back():
    assert read_label(label_text((math.inf, -math.inf))) == (math.inf, -math.inf)
