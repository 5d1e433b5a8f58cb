"""Labels to places in a declared list and back, around a draw of places."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metricdp.errors import ArgumentError, ShapeError, UnknownCategoryError
from metricdp.exact.lists import as_list
from metricdp.exact.refine import Integers
from metricdp.mechanisms.containers import EMPTY, is_array, label_array_type, marked, unpack_labels
from metricdp.mechanisms.forms.plain import is_null

__all__ = ["DeclaredLabels", "declared_values", "place_of"]

_WIDEST = 1 << 20


class DeclaredLabels:
    """The declared labels of a mechanism: those it takes, and those it releases.

    >>> DeclaredLabels(["yes", "no"], ["yes", "no"]).release(["no", "yes"], draw=lambda places: 1 - places)
    ['yes', 'no']
    """

    def __init__(self, inputs: Sequence[Hashable], outputs: Sequence[Any]) -> None:
        self.places: dict[Any, int] = {label: place for place, label in enumerate(inputs)}
        self._declared = tuple(outputs)
        self._outputs = np.empty(len(outputs), dtype=object)
        self._outputs[:] = self._declared
        self._typed: dict[np.dtype[Any], NDArray[Any]] = {}
        self._first, self._table = _table(list(inputs))

    def release(self, secrets: Any, draw: Callable[[Integers], Integers]) -> Any:
        """What ``draw`` makes of the places of the secrets, as labels, in the form the secrets came in.

        A tuple is one label, a list holds several.
        """
        if is_array(secrets) and secrets.ndim == 1 and secrets.dtype.kind in "iu" and len(self._table):
            return self._release_integers(secrets, draw)
        batch = unpack_labels(secrets, self._declared)
        released = self._outputs[draw(self._places(batch.rows))]
        return batch.pack(released.tolist())

    def _release_integers(self, secrets: NDArray[Any], draw: Callable[[Integers], Integers]) -> Any:
        if not len(secrets):
            raise ShapeError(EMPTY)
        last = self._first + len(self._table) - 1
        outside = (secrets < self._first) | (secrets > last)
        places = self._table[np.where(outside, 0, secrets.astype(np.int64) - self._first)]
        unknown = outside | (places < 0)
        if unknown.any():
            raise UnknownCategoryError("not one of the declared values", int(np.argmax(unknown)))
        outputs = self._typed.get(secrets.dtype)
        if outputs is None:
            outputs = self._typed[secrets.dtype] = self._outputs.astype(label_array_type(self._declared, secrets.dtype))
        return marked(outputs[draw(places)])

    def _places(self, labels: list[Any]) -> Integers:
        """Where each label stands; refuses one that does not, without saying which it is."""
        try:
            return np.fromiter(map(self.places.__getitem__, labels), dtype=np.int64, count=len(labels))
        except Exception:
            pass  # one is unknown, or no key; outside of this block, so that the error does not carry the label
        found = np.empty(len(labels), dtype=np.int64)
        for row, label in enumerate(labels):
            place = place_of(tuple(label) if isinstance(label, list) else label, self.places)
            if place is None and is_null(label):
                place = self.places.get(None)  # missing, in the words of numpy or pandas
            if place is None:
                raise UnknownCategoryError("not one of the declared values", row)
            found[row] = place
        return found


def place_of(label: Any, places: dict[Any, int]) -> int | None:
    """The place of a label, or None. An error raised here would carry the label with it, so none is."""
    try:
        return places.get(label)
    except Exception:  # it cannot be hashed, so it is none of them; numpy says so by a ValueError
        return None


def _table(labels: list[Any]) -> tuple[int, Integers]:
    """For integers of 64 bits close together: the least, and the place of each from there on, -1 for none."""
    if any(type(label) is not int or not -(2**63) <= label < 2**63 for label in labels):
        return 0, np.empty(0, dtype=np.int64)
    if max(labels) - min(labels) >= _WIDEST:
        return 0, np.empty(0, dtype=np.int64)
    first = min(labels)
    table = np.full(max(labels) - first + 1, -1, dtype=np.int64)
    table[[label - first for label in labels]] = np.arange(len(labels))
    return first, table


def declared_values(values: Iterable[Any]) -> tuple[Any, ...]:
    """Declared values, each of which must be there once."""
    listed = tuple(as_list(values, "values", "['yes', 'no']"))
    try:
        different = len(set(listed))
    except (TypeError, ValueError):
        raise ArgumentError("declared values can be hashed: text, numbers, tuples") from None
    if any(is_null(value) and value is not None for value in listed):
        raise ArgumentError("NaN, NaT and NA are no values, for none equals itself: declare None for missing")
    if different < len(listed):
        raise ArgumentError("declared values are wanted each once, and one is there twice")
    return listed
