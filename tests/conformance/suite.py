"""What every mechanism must do, whoever wrote it.

For a mechanism of your own, in a test::

    from tests.conformance.suite import check_mechanism


    def test_mine():
        check_mechanism(MyMechanism(), secrets=[0.0, 3.7, -1e6])

``secrets`` are a few secrets that the mechanism takes, at least two of them different: numbers, labels, points (as
lists), sets, or records (as tuples). They say which forms of input are tried, and which inputs must be refused. A None
or NaN among them says that null is a secret here; where the mechanism's ``resolution`` is None, numbers are names like
any others. A mechanism passes if no check raises; each can be run alone.
"""

from __future__ import annotations

import copy
import itertools
import math
import numbers
import pickle
import traceback
from collections.abc import Callable, Iterable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest

from metricdp import seeded
from metricdp.errors import (
    InputError,
    KindError,
    LevelError,
    MetricDPError,
    NotFiniteError,
    ShapeError,
    UnknownCategoryError,
)
from metricdp.metrics import Guarantee

ROWS = 64
SECRET_NUMBER = 123456 + 0.789
SECRET_TEXT = "-".join(("TOP", "SECRET"))
TRACES = ("123456.7", "123456,7", SECRET_TEXT)


def check_mechanism(mechanism: Any, secrets: list[Any]) -> None:
    """Run every check of the suite."""
    for check in CHECKS:
        check(mechanism, secrets)


def check_guarantee(mechanism: Any, secrets: list[Any]) -> None:
    """There is a guarantee, the same before and after releases, and it speaks of odds."""
    before = mechanism.guarantee
    assert isinstance(before, Guarantee)
    mechanism.release(secrets)
    assert mechanism.guarantee == before
    assert 0 <= before.delta < 1
    assert before.odds(1) >= 1
    assert before.odds(2) >= before.odds(1)


def check_forms(mechanism: Any, secrets: list[Any]) -> None:
    """A secret gives a secret, a list a list, an array an array, a Series a Series; as many rows as went in."""
    kind = kind_of(secrets)
    for secret in secrets:
        released = mechanism.release(secret)
        assert _like_a_secret(released, kind), f"one secret gave {type(released).__name__}"
    listed = mechanism.release(repeated(secrets))
    assert isinstance(listed, list)
    assert len(listed) == ROWS
    assert all(_like_a_secret(released, kind) for released in listed)
    if kind in ("set", "record"):
        return
    array = as_array(repeated(secrets))
    released = mechanism.release(array)
    assert isinstance(released, np.ndarray)
    assert released.shape == array.shape
    if kind == "point":
        frame = pd.DataFrame(array, index=range(5, 5 + ROWS)).add_prefix("axis ")
        framed = mechanism.release(frame)
        assert isinstance(framed, pd.DataFrame)
        assert framed.index.equals(frame.index)
        assert framed.columns.equals(frame.columns)
        return
    series = pd.Series(array, index=[f"row {n}" for n in range(ROWS)], name="a column")
    named = mechanism.release(series)
    assert isinstance(named, pd.Series)
    assert named.index.equals(series.index)
    assert named.name == "a column"


def check_rows(mechanism: Any, secrets: list[Any]) -> None:
    """One row, a few, and more than fit in one block of draws."""
    for count in (1, 2, 16_384, 16_385, 40_000):
        assert len(mechanism.release(repeated(secrets, count))) == count


def check_randomness(mechanism: Any, secrets: list[Any]) -> None:
    """Two releases of the same rows differ, and so do those of a copy and of an equal mechanism."""
    rows = repeated(secrets)
    copies = (mechanism, mechanism, pickle.loads(pickle.dumps(mechanism)), copy.deepcopy(mechanism))
    released = [comparable(each.release(rows)) for each in copies]
    for one, two in itertools.combinations(released, 2):
        assert one != two, "the same noise twice"


def check_pickling(mechanism: Any, secrets: list[Any]) -> None:
    """A copy is equal, and a release leaves no trace in what is pickled: no generator's state, no tables, no secret."""
    before = pickle.dumps(mechanism)
    assert pickle.loads(before) == mechanism
    mechanism.release(repeated(secrets))
    mechanism.probability_within(1.0)
    assert pickle.dumps(mechanism) == before
    assert pickle.loads(pickle.dumps(mechanism)) == mechanism
    assert pickle.loads(before).guarantee == mechanism.guarantee
    assert hash(pickle.loads(before)) == hash(mechanism)


def check_words(mechanism: Any, secrets: list[Any]) -> None:
    """Its words speak of odds and of the error to expect, and are the same whatever was released."""
    before = words(mechanism)
    mechanism.release(repeated(secrets))
    assert words(mechanism) == before
    told = mechanism.explain()
    assert "odds" in told
    assert "rror to expect" in told
    assert str(mechanism.guarantee) in told
    assert mechanism._repr_html_().count("<") == mechanism._repr_html_().count(">")


def check_resolution(mechanism: Any, secrets: list[Any]) -> None:
    """The grid is the same before and after releases, and every number released lies on it."""
    before = mechanism.resolution
    released = mechanism.release(as_array(repeated(secrets)) if kind_of(secrets) in ("number", "point") else secrets)
    assert mechanism.resolution == before
    if isinstance(before, Fraction) and kind_of(secrets) in ("number", "point"):
        assert before > 0
        assert off_grid(np.asarray(released).ravel().tolist(), before) == []


def check_probability(mechanism: Any, secrets: list[Any]) -> None:
    """`probability_within` is a probability that grows with the distance; a distance is a number."""
    del secrets
    reach = mechanism.radius(0.5) or 1.0
    chances = [mechanism.probability_within(reach * factor) for factor in (-1, 0, 0.01, 0.5, 0.9, 1, 1.1, 2, 10, 100)]
    assert all(0 <= chance <= 1 for chance in chances)
    assert chances == sorted(chances)
    assert chances[0] == 0
    assert chances[-1] > 0.5
    with pytest.raises(LevelError):
        mechanism.probability_within(math.nan)


def check_radius(mechanism: Any, secrets: list[Any]) -> None:
    """`radius` is the least distance that `probability_within` gives the confidence, rounded up."""
    del secrets
    most = mechanism.probability_within(1e12)
    confidences = [share * most for share in (0.05, 0.5, 0.8, 0.95, 0.99)]
    radii = [mechanism.radius(confidence) for confidence in confidences]
    assert radii == sorted(radii)
    for confidence, radius in zip(confidences, radii, strict=True):
        assert mechanism.probability_within(radius) >= confidence
        if radius > 0:
            assert mechanism.probability_within(radius * (1 - 1e-6)) < confidence
    for confidence in (0, 1, -0.1, 1.5, math.nan):
        with pytest.raises(LevelError):
            mechanism.radius(confidence)


def check_inputs_are_left_alone(mechanism: Any, secrets: list[Any]) -> None:
    """No input is written to, and one that cannot be written to serves as well."""
    kind = kind_of(secrets)
    rows = repeated(secrets)
    kept = copy.deepcopy(rows)
    mechanism.release(rows)
    assert comparable(rows) == comparable(kept)
    if kind in ("set", "record"):
        return
    array = as_array(rows)
    array.setflags(write=False)
    released = mechanism.release(array)
    assert not np.shares_memory(released, array)
    assert comparable(array) == comparable(as_array(kept))
    if kind != "point":
        series = pd.Series(as_array(rows))
        mechanism.release(series)
        assert comparable(series) == comparable(pd.Series(as_array(kept)))
        assert series.attrs == {}


def check_seeded(mechanism: Any, secrets: list[Any]) -> None:
    """A seeded release repeats and says that it is not private; one outside the block is not marked."""
    rows = repeated(secrets)
    released = []
    for seed in (5, 5, 6):
        with seeded(seed):
            released.append(comparable(mechanism.release(rows)))
    assert released[0] == released[1]
    assert released[0] != released[2]
    if kind_of(secrets) in ("set", "record"):
        return
    array = as_array(rows)
    with seeded(5):
        marked = mechanism.release(array)
    assert "not private" in repr(marked)
    assert "not private" in repr(marked[:2])
    assert type(mechanism.release(array)) is np.ndarray
    if kind_of(secrets) == "point":
        with seeded(5):
            assert mechanism.release(pd.DataFrame(array)).attrs["private"] is False
        assert mechanism.release(pd.DataFrame(array)).attrs == {}
    else:
        with seeded(5):
            assert mechanism.release(pd.Series(array)).attrs["private"] is False
        assert mechanism.release(pd.Series(array)).attrs == {}


def check_empty_is_refused(mechanism: Any, secrets: list[Any]) -> None:
    """Nothing to release is an error, whatever holds it."""
    kind = kind_of(secrets)
    holders: list[Any] = [[]]
    if kind in ("number", "date", "label"):
        holders += [as_array(secrets)[:0], pd.Series(as_array(secrets))[:0]]
    if kind == "point":
        holders += [[[]], np.empty((0, len(secrets[0]))), np.empty((3, 0)), np.empty(0)]
    for holder in holders:
        with pytest.raises(ShapeError):
            mechanism.release(holder)


def check_bad_secrets_are_refused(mechanism: Any, secrets: list[Any]) -> None:
    """A bad row is refused by a named error that says which row it is, and carries nothing of any row."""
    good = [_telling(secret, mechanism) for secret in secrets]
    kind = "listed" if mechanism.resolution is None and kind_of(secrets) == "number" else kind_of(secrets)
    for bad, expected in bad_secrets(kind, secrets):
        for row in (0, 2, 20_000):
            rows = repeated(good, row + 2)
            rows[row] = bad
            error = refusal(mechanism, rows)
            assert isinstance(error, expected), f"{type(error).__name__} where {expected.__name__} is wanted"
            assert error.row == row or (isinstance(error, ShapeError) and error.row is None)
            assert traces(error) == []
        if not (isinstance(bad, list) and kind == "number"):
            error = refusal(mechanism, bad)
            assert isinstance(error, InputError)
            assert traces(error) == []
    if kind in ("number", "point") and not any(is_null(secret) for secret in secrets):
        array = as_array(repeated(good, 20_000)).astype(np.float64)
        array[17_000] = math.nan
        assert refusal(mechanism, array).row == 17_000


CHECKS: tuple[Callable[[Any, list[Any]], None], ...] = (
    check_guarantee,
    check_forms,
    check_rows,
    check_randomness,
    check_pickling,
    check_words,
    check_resolution,
    check_probability,
    check_radius,
    check_inputs_are_left_alone,
    check_seeded,
    check_empty_is_refused,
    check_bad_secrets_are_refused,
)


# What the checks are made of


def kind_of(secrets: list[Any]) -> str:
    """Number, date, label, point, set or record."""
    first = next(secret for secret in secrets if not is_null(secret))
    if isinstance(first, (numbers.Real, Decimal)):
        return "number"
    kinds = {list: "point", set: "set", frozenset: "set", tuple: "record", np.datetime64: "date"}
    return kinds.get(type(first), "label")


def is_null(secret: Any) -> bool:
    """None or NaN."""
    return secret is None or (isinstance(secret, float) and math.isnan(secret))


def repeated(secrets: list[Any], count: int = ROWS) -> list[Any]:
    """The secrets over and over, as a list."""
    return list(itertools.islice(itertools.cycle(secrets), count))


def as_array(rows: list[Any]) -> np.ndarray[Any, Any]:
    """Rows as the array that a user would make of them."""
    return np.array(rows)


def comparable(rows: Any) -> list[Any]:
    """Rows as a list that can be compared, where one null equals another."""
    listed = rows.tolist() if hasattr(rows, "tolist") else list(rows)
    return [None if is_null(row) else row for row in listed]


def words(mechanism: Any) -> list[str]:
    """Everything that a mechanism says of itself."""
    return [repr(mechanism), str(mechanism), mechanism.explain(), mechanism._repr_html_(), str(mechanism.guarantee)]


def off_grid(values: Iterable[Any], width: Fraction) -> list[Any]:
    """The numbers that are not a multiple of the width, or the float next to one."""
    return [
        value for value in values if not is_null(value) and value != type(value)(round(Fraction(value) / width) * width)
    ]


def refusal(mechanism: Any, rows: Any) -> InputError:
    """The error that these rows are refused with."""
    try:
        mechanism.release(rows)
    except InputError as error:
        return error
    raise AssertionError("a bad secret was released")


def traces(error: BaseException) -> list[str]:
    """Where an error, or one behind it, holds a private value: its words, its arguments, or its traceback."""
    held = ["".join(traceback.format_exception(error))]
    chain: list[BaseException | None] = [error]
    while chain:
        link = chain.pop()
        if link is not None:
            held += [str(link), repr(link), repr(link.args), repr(vars(link))]
            chain += [link.__cause__, link.__context__]
    return [text for text in held if any(trace in text for trace in TRACES)]


def bad_secrets(kind: str, secrets: list[Any]) -> list[tuple[Any, type[InputError]]]:
    """Secrets of the wrong form, and the errors that say so."""
    nullable = any(is_null(secret) for secret in secrets)
    wrong = [(SECRET_TEXT, KindError), (True, KindError), (SECRET_NUMBER + 1j, KindError), ({}, KindError)]
    missing = [] if nullable else [(None, KindError), (math.nan, NotFiniteError)]
    if kind == "number":
        infinite = [(math.inf, NotFiniteError), (-math.inf, NotFiniteError)]
        if not nullable:
            infinite += [(Decimal("inf"), NotFiniteError), (Decimal("nan"), NotFiniteError)]
        return [*wrong, *missing, *infinite, ([SECRET_NUMBER], InputError)]
    if kind == "date":
        return [*wrong, (None, KindError), (np.datetime64("NaT", "D"), NotFiniteError), (SECRET_NUMBER, KindError)]
    if kind == "point":
        rest = list(secrets[0][1:])
        inside = [([bad, *rest], error) for bad, error in [*wrong, *missing, (math.inf, NotFiniteError)]]
        return [*inside, ([*secrets[0], SECRET_NUMBER], ShapeError), ([[SECRET_NUMBER]] * len(secrets[0]), InputError)]
    if kind == "set":
        unknown = ({SECRET_TEXT}, UnknownCategoryError)
        return [unknown, (SECRET_TEXT, KindError), (None, KindError), (SECRET_NUMBER, KindError)]
    if kind == "record":
        return [((*secrets[0], SECRET_NUMBER), ShapeError), ((SECRET_NUMBER,), ShapeError)]
    return [(bad, UnknownCategoryError) for bad in (SECRET_TEXT, SECRET_NUMBER, None, {SECRET_TEXT}, (SECRET_TEXT,))]


def _telling(secret: Any, mechanism: Any) -> Any:
    """A good secret that would be recognised in a message, where the mechanism takes such a one."""
    telling = SECRET_NUMBER if isinstance(secret, float) and not is_null(secret) else secret
    try:
        mechanism.release(telling)
    except MetricDPError:
        return secret
    return telling


def _like_a_secret(released: Any, kind: str) -> bool:
    types = {
        "number": (int, float, Decimal, Fraction, type(None)),
        "point": (list,),
        "set": (set, frozenset),
        "record": (tuple,),
    }
    return isinstance(released, types.get(kind, object)) and not isinstance(released, (np.generic, np.ndarray))
