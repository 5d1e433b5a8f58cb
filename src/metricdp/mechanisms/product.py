"""Mechanisms out of mechanisms: side by side, one after the other, and with something done to the result."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import Any

from metricdp.errors import ArgumentError, KindError, ShapeError, UnsupportedMetricError
from metricdp.mechanisms.containers import is_array
from metricdp.mechanisms.forms.pandas import frame_of, is_frame
from metricdp.mechanisms.forms.polars import is_polars_frame
from metricdp.mechanisms.law import Law, as_inputs, beside, mapped
from metricdp.mechanisms.mechanism import ExpectedError, Mechanism, as_mechanism
from metricdp.mechanisms.picture import NoisePicture
from metricdp.metrics import Guarantee, attributes
from metricdp.metrics.words import Measure

__all__ = ["Composed", "Independent", "Postprocessed", "compose", "independent", "postprocess"]


class _Several(Mechanism):
    """A mechanism made of others, whose results it returns side by side."""

    mechanisms: tuple[Mechanism, ...]

    @property
    def resolution(self) -> tuple[Any, ...]:
        """Of each part."""
        return tuple(getattr(mechanism, "resolution", None) for mechanism in self.mechanisms)

    def probability_within(self, distance: float) -> float:
        """The probability that every part lies within ``distance``, its noise being independent."""
        product = 1.0
        for mechanism in self.mechanisms:
            product *= mechanism.probability_within(distance) * (1 - 2.0**-50)
        return product

    @property
    def parts(self) -> tuple[Mechanism, ...]:
        """``mechanisms``."""
        return self.mechanisms

    def words(self, measure: Measure | None = None) -> str:
        """Those of the parts."""
        del measure
        return f"{self.name}: {'; '.join(part.words() for part in self.mechanisms)}"

    def expected_error(self, measure: Measure | None = None) -> ExpectedError:
        """In words, for each part: together they have no one distance."""
        del measure
        errors = [part.expected_error() for part in self.mechanisms]
        words = (f"part {number}: {said}" for number, error in enumerate(errors, start=1) for said in error.words)
        return ExpectedError(None, None, "", tuple(words))

    def _picture(self, unit: str) -> NoisePicture:
        raise UnsupportedMetricError(f"there is one picture for each of the {len(self.mechanisms)} parts: see .parts")

    def _explain_error(self) -> str:
        lines = [mechanism._explain_error() for mechanism in self.mechanisms]
        return "\n".join(f"Part {number}: {line}" for number, line in enumerate(lines, start=1))


@dataclass(frozen=True, repr=False)
class Independent(_Several):
    """Product sanitisation: each attribute of a record by its own mechanism, with independent noise.

    Guarantee:
        The sum of the attributes' metrics, and of their deltas: records that differ in one attribute
        keep that attribute's guarantee, and others add up. `neighbours` says what those that differ in one pay.

    References:
        Paper 2, Theorem 5.
    """

    mechanisms: tuple[Mechanism, ...]

    @property
    def guarantee(self) -> Guarantee:
        """The sum over attributes, numbered from 0."""
        parts = [mechanism.guarantee for mechanism in self.mechanisms]
        metric = attributes({str(number): part.metric for number, part in enumerate(parts)})
        return Guarantee(metric, sum(part.delta for part in parts))

    @property
    def neighbours(self) -> Guarantee:
        """What holds for records that differ in one attribute: the largest delta of a part, and not the sum.

        It says nothing of records that differ in several: their deltas add up, as `guarantee` says.

        References:
            Paper 2, Theorem 5.

        >>> import metricdp as mdp
        >>> row = mdp.randomized_response(["a", "b"], 1, delta="0.05")
        >>> both = mdp.independent(row, row)
        >>> float(both.guarantee.delta), float(both.neighbours.delta)
        (0.1, 0.05)
        """
        whole = self.guarantee
        return Guarantee(whole.metric, max(mechanism.guarantee.delta for mechanism in self.mechanisms))

    def release(self, secrets: Any) -> Any:
        """Release records: a tuple gives a tuple, a list of tuples a list of tuples, a frame a frame."""
        if is_frame(secrets) or is_polars_frame(secrets):
            return self._frame(secrets)
        if isinstance(secrets, tuple):
            return self._rows([secrets])[0]
        if not is_array(secrets) and not isinstance(secrets, list):
            raise KindError("records are wanted: a tuple, a list of tuples, or a frame")
        return self._rows(list(secrets))

    def law(self, inputs: Iterable[Any]) -> Law:
        """See `Mechanism.law`; the outputs are tuples."""
        rows, count = as_inputs(inputs), len(self.mechanisms)
        for row, point in enumerate(rows):
            if not isinstance(point, tuple) or len(point) != count:
                raise ShapeError(f"records of {count} attributes are wanted", row)
        return beside(rows, [part.law([point[place] for point in rows]) for place, part in enumerate(self.mechanisms)])

    def _frame(self, frame: Any) -> Any:
        """Each column through its own mechanism; none of the secret frame is in the one that comes back."""
        names, count = list(frame.columns), len(self.mechanisms)
        if len(names) != count:
            raise ShapeError(f"{count} columns are wanted, not {len(names)}")
        if is_polars_frame(frame):
            columns = frame.get_columns()
            return type(frame)(self._columns(columns))
        columns = [frame.iloc[:, place] for place in range(count)]
        return frame_of(frame, self._columns(columns))

    def _columns(self, columns: list[Any]) -> list[Any]:
        released = [part.release(column) for part, column in zip(self.mechanisms, columns, strict=True)]
        for place, column in enumerate(released):
            if isinstance(column, tuple):
                raise KindError(f"part {place + 1} releases several values, which are no one column: give rows instead")
        return released

    def _rows(self, records: Sequence[Any]) -> list[tuple[Any, ...]]:
        if not records:
            raise ShapeError("nothing to release: the input is empty")
        for row, record in enumerate(records):
            if not isinstance(record, tuple | list) and not is_array(record):
                raise KindError("a record is wanted: a tuple", row)
            if len(record) != len(self.mechanisms):
                raise ShapeError(f"records of {len(self.mechanisms)} attributes are wanted", row)
        columns = zip(*records, strict=True)
        released = [part.release_rows(list(column)) for part, column in zip(self.mechanisms, columns, strict=True)]
        return list(zip(*released, strict=True))


@dataclass(frozen=True, repr=False)
class Composed(_Several):
    """Several releases of the same secret.

    Guarantee:
        Metrics add up, and deltas.

    References:
        Paper 4, Fact 1 (2).
    """

    mechanisms: tuple[Mechanism, ...]

    @property
    def guarantee(self) -> Guarantee:
        """The sum of the parts'."""
        return reduce(add, (mechanism.guarantee for mechanism in self.mechanisms))

    def release(self, secrets: Any) -> Any:
        """A tuple with the release of each part."""
        return tuple(mechanism.release(secrets) for mechanism in self.mechanisms)

    def release_rows(self, secrets: list[Any]) -> list[Any]:
        """A tuple for each secret, with its release by each part."""
        return list(zip(*(part.release_rows(secrets) for part in self.mechanisms), strict=True))

    def law(self, inputs: Iterable[Any]) -> Law:
        """See `Mechanism.law`; the outputs are tuples."""
        rows = as_inputs(inputs)
        return beside(rows, [mechanism.law(rows) for mechanism in self.mechanisms])


@dataclass(frozen=True, repr=False)
class Postprocessed(Mechanism):
    """A function of a release.

    Guarantee:
        That of the mechanism, whatever the function, as long as it does not look at the secret.

    References:
        Paper 4, Fact 1 (1); paper 2, Theorem 4.
    """

    mechanism: Mechanism
    function: Callable[[Any], Any]

    @property
    def guarantee(self) -> Guarantee:
        """That of ``mechanism``."""
        return self.mechanism.guarantee

    @property
    def parts(self) -> tuple[Mechanism, ...]:
        """``mechanism``."""
        return (self.mechanism,)

    @property
    def name(self) -> str:
        """That of ``mechanism``, and that something is done to it."""
        return f"{self.mechanism.name}, then a function of the release"

    def words(self, measure: Measure | None = None) -> str:
        """Those of ``mechanism``, and that something is done to it."""
        return f"{self.mechanism.words(measure)}, then a function of the release"

    def expected_error(self, measure: Measure | None = None) -> ExpectedError:
        """That of ``mechanism``, before the function."""
        error = self.mechanism.expected_error(measure)
        return replace(error, words=tuple(f"before post-processing: {said}" for said in error.words))

    def _picture(self, unit: str) -> NoisePicture:
        raise UnsupportedMetricError("what a function makes of the noise is not known; .mechanism has a picture")

    @property
    def resolution(self) -> Any:
        """That of ``mechanism``; the function may have changed it."""
        return getattr(self.mechanism, "resolution", None)

    def release(self, secrets: Any) -> Any:
        """The function of what ``mechanism`` releases, a scalar, list, array or Series as a whole."""
        return self.function(self.mechanism.release(secrets))

    def release_rows(self, secrets: list[Any]) -> list[Any]:
        """The function of each secret's release."""
        return [self.function(released) for released in self.mechanism.release_rows(secrets)]

    def law(self, inputs: Iterable[Any]) -> Law:
        """See `Mechanism.law`; outputs with one image become one."""
        return mapped(self.mechanism.law(inputs), self.function)

    @property
    def error_of(self) -> Mechanism:
        """That of ``mechanism``, before the function."""
        return self.mechanism.error_of

    def probability_within(self, distance: float) -> float:
        """That of ``mechanism``, before the function."""
        return self.mechanism.probability_within(distance)

    def _explain_error(self) -> str:
        return f"Before post-processing: {self.mechanism._explain_error()}"


def independent(*mechanisms: Mechanism) -> Independent:
    """Sanitize records attribute by attribute.

    >>> import metricdp as mdp
    >>> K = mdp.independent(mdp.randomized_response(["a", "b"], 1), mdp.laplace(mdp.metrics.absolute().within(5)))
    >>> letter, number = K.release(("a", 3.5))
    >>> letter in ("a", "b"), isinstance(number, float)
    (True, True)
    """
    return Independent(_some(mechanisms))


def compose(*mechanisms: Mechanism) -> Composed:
    """Release the same secret several times; what that costs adds up.

    >>> import metricdp as mdp
    >>> d = mdp.metrics.absolute()
    >>> mdp.compose(mdp.laplace(2 * d), mdp.laplace(3 * d)).guarantee == mdp.laplace(5 * d).guarantee
    True
    """
    return Composed(_some(mechanisms))


def postprocess(mechanism: Mechanism, function: Callable[[Any], Any]) -> Postprocessed:
    """Apply a function to every release; costs nothing.

    >>> import metricdp as mdp
    >>> K = mdp.postprocess(mdp.laplace(mdp.metrics.absolute().within(5)), round)
    >>> isinstance(K.release(3.5), int)
    True
    """
    if not callable(function):
        raise ArgumentError(f"postprocess takes a function of the release, not {type(function).__name__}")
    return Postprocessed(as_mechanism(mechanism), function)


def _some(mechanisms: tuple[Mechanism, ...]) -> tuple[Mechanism, ...]:
    if not mechanisms:
        raise ArgumentError("at least one mechanism is wanted")
    return tuple(as_mechanism(mechanism) for mechanism in mechanisms)
