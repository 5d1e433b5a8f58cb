"""The laws of releases: what comes back, what is never kept, and what is refused."""

from __future__ import annotations

import copy
import itertools
import math
import pickle
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from metricdp.errors import DataError, NotPrivateWarning, ShapeError
from metricdp.exact.bits import seeded
from metricdp.mechanisms import Mechanism
from metricdp.testing._secrets import (
    ROWS,
    as_array,
    bad_secrets,
    comparable,
    is_null,
    kind_of,
    like_a_secret,
    repeated,
    telling,
    traces,
)
from metricdp.testing.checked import Broken, require

__all__ = [
    "bad_secrets_are_refused",
    "copies",
    "empty_is_refused",
    "forms",
    "inputs_are_left_alone",
    "randomness",
    "rows",
    "seeds",
]

_COUNTS = (1, 2, 16_384, 16_385, 40_000)
_BAD_ROWS = (0, 2, 20_000)


def forms(mechanism: Mechanism, secrets: list[Any]) -> None:
    """A secret gives a secret, a list a list, an array an array, a Series a Series; as many rows as went in."""
    kind = kind_of(secrets)
    for secret in secrets:
        released = mechanism.release(secret)
        require(like_a_secret(released, kind), f"one secret gave a {type(released).__name__}")
    listed = mechanism.release(repeated(secrets))
    require(isinstance(listed, list) and len(listed) == ROWS, f"a list of {ROWS} gave a {type(listed).__name__}")
    require(all(like_a_secret(released, kind) for released in listed), "a list gave what is no secret")
    if kind in ("set", "record"):
        return
    array = as_array(repeated(secrets))
    released = mechanism.release(array)
    require(isinstance(released, np.ndarray), f"an array gave a {type(released).__name__}")
    require(released.shape == array.shape, f"an array of the shape {array.shape} gave one of {released.shape}")
    again = mechanism.release(array[:1]).dtype
    require(again == released.dtype, f"the type of a release, {again} or {released.dtype}, depends on its rows")
    pandas = _pandas()
    if pandas is None:
        return
    if kind == "point":
        frame = pandas.DataFrame(array, index=range(5, 5 + ROWS)).add_prefix("axis ")
        framed = mechanism.release(frame)
        require(isinstance(framed, pandas.DataFrame), f"a frame gave a {type(framed).__name__}")
        require(framed.index.equals(frame.index) and framed.columns.equals(frame.columns), "a frame lost its names")
        return
    series = pandas.Series(array, index=[f"row {n}" for n in range(ROWS)], name="a column")
    named = mechanism.release(series)
    require(isinstance(named, pandas.Series), f"a Series gave a {type(named).__name__}")
    require(named.index.equals(series.index) and named.name == "a column", "a Series lost its index or its name")


def rows(mechanism: Mechanism, secrets: list[Any]) -> None:
    """One row, a few, and more than fit in one block of draws."""
    for count in _COUNTS:
        released = len(mechanism.release(repeated(secrets, count)))
        require(released == count, f"{count} rows gave {released}")


def randomness(mechanism: Mechanism, secrets: list[Any]) -> None:
    """Two releases of the same rows differ, and so do those of a copy and of an equal mechanism."""
    same = repeated(secrets)
    made = (mechanism, mechanism, pickle.loads(pickle.dumps(mechanism)), copy.deepcopy(mechanism))
    released = [comparable(each.release(same)) for each in made]
    require(all(one != two for one, two in itertools.combinations(released, 2)), "the same noise came twice")


def copies(mechanism: Mechanism, secrets: list[Any]) -> None:
    """A copy is equal, and a release leaves no trace in what is pickled: no generator's state, no tables, no secret."""
    before = pickle.dumps(mechanism)
    require(pickle.loads(before) == mechanism, "a pickled copy is not equal to it")
    mechanism.release(repeated(secrets))
    mechanism.probability_within(1.0)
    require(pickle.dumps(mechanism) == before, "a release left something in what is pickled")
    require(pickle.loads(before).guarantee == mechanism.guarantee, "a pickled copy has another guarantee")
    require(hash(pickle.loads(before)) == hash(mechanism), "a pickled copy has another hash")


def seeds(mechanism: Mechanism, secrets: list[Any]) -> None:
    """A seeded release repeats and says that it is not private; one outside the block is not marked."""
    same = repeated(secrets)
    released = []
    for seed in (5, 5, 6):
        with _quietly_seeded(seed):
            released.append(comparable(mechanism.release(same)))
    require(released[0] == released[1], "a seed does not repeat its noise")
    require(released[0] != released[2], "two seeds give the same noise")
    if kind_of(secrets) in ("set", "record"):
        return
    array = as_array(same)
    with _quietly_seeded(5):
        marked = mechanism.release(array)
    for made in (marked, marked[:2], np.concatenate([marked, marked]), np.stack([marked, marked])):
        require("not private" in repr(made) and "not private" in str(made), "a seeded array does not say so")
    require(type(mechanism.release(array)) is np.ndarray, "an array is marked although nothing was seeded")
    pandas = _pandas()
    if pandas is None:
        return
    holder = pandas.DataFrame(array) if kind_of(secrets) == "point" else pandas.Series(array)
    with _quietly_seeded(5):
        require(mechanism.release(holder).attrs.get("private") is False, "a seeded Series or frame does not say so")
    require(mechanism.release(holder).attrs == {}, "a Series or frame is marked although nothing was seeded")


def inputs_are_left_alone(mechanism: Mechanism, secrets: list[Any]) -> None:
    """No input is written to, and one that cannot be written to serves as well."""
    kind, given = kind_of(secrets), repeated(secrets)
    kept = copy.deepcopy(given)
    mechanism.release(given)
    require(comparable(given) == comparable(kept), "a list was written to")
    if kind in ("set", "record"):
        return
    array = as_array(given)
    array.setflags(write=False)
    released = mechanism.release(array)
    require(not np.shares_memory(released, array), "what was released shares its memory with the secrets")
    require(comparable(array) == comparable(as_array(kept)), "an array was written to")
    pandas = _pandas()
    if kind != "point" and pandas is not None:
        series = pandas.Series(as_array(given))
        mechanism.release(series)
        require(comparable(series) == comparable(as_array(kept)) and series.attrs == {}, "a Series was written to")


def empty_is_refused(mechanism: Mechanism, secrets: list[Any]) -> None:
    """Nothing to release is an error, whatever holds it."""
    kind = kind_of(secrets)
    holders: list[Any] = [[]]
    if kind in ("number", "date", "label"):
        holders.append(as_array(secrets)[:0])
        pandas = _pandas()
        holders += [] if pandas is None else [pandas.Series(as_array(secrets))[:0]]
    if kind == "point":
        holders += [[[]], np.empty((0, len(secrets[0]))), np.empty((3, 0)), np.empty(0)]
    for holder in holders:
        error = _refusal(mechanism, holder, f"an empty {type(holder).__name__} was released")
        require(isinstance(error, ShapeError), f"an empty {type(holder).__name__} gave a {type(error).__name__}")


def bad_secrets_are_refused(mechanism: Mechanism, secrets: list[Any]) -> None:
    """A bad row is refused by a named error that says which row it is, and carries nothing of any row."""
    good = [telling(secret, mechanism) for secret in secrets]
    names = getattr(mechanism, "resolution", None) is None and kind_of(secrets) == "number"
    kind = "listed" if names else kind_of(secrets)
    for number, (bad, expected) in enumerate(bad_secrets(kind, secrets)):
        for row in _BAD_ROWS if number == 0 else _BAD_ROWS[:2]:  # many rows take long, and one bad secret shows it
            given = repeated(good, row + 2)
            given[row] = bad
            error = _refusal(mechanism, given)
            require(isinstance(error, expected), f"{type(error).__name__} where {expected.__name__} is wanted")
            numbered = error.row == row or (isinstance(error, ShapeError) and error.row is None)
            require(numbered, f"the error names the row {error.row}, not {row}")
            require(not traces(error), "an error shows a secret")
        if not (isinstance(bad, list) and kind == "number"):
            require(not traces(_refusal(mechanism, bad)), "an error shows a secret")
    if kind in ("number", "point") and not any(is_null(secret) for secret in secrets):
        array = as_array(repeated(good, 20_000)).astype(np.float64)
        array[17_000] = math.nan
        require(_refusal(mechanism, array).row == 17_000, "the error for NaN in an array names another row")


def _refusal(mechanism: Mechanism, given: Any, problem: str = "a bad secret was released") -> DataError:
    """The error that these rows are refused with."""
    try:
        mechanism.release(given)
    except DataError as error:
        return error
    raise Broken(problem)


@contextmanager
def _quietly_seeded(seed: int) -> Iterator[None]:
    """Without the warning: nothing leaves this suite."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotPrivateWarning)
        with seeded(seed):
            yield


def _pandas() -> Any:
    try:
        import pandas
    except ImportError:
        return None
    return pandas
