"""What mechanisms share that snap a secret at random to inputs of a channel around it."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metricdp.channels.channel import Channel
from metricdp.channels.extended._mesh import Point
from metricdp.errors import MetricDPError, ShapeError
from metricdp.mechanisms.cells import refuse_missing
from metricdp.mechanisms.columns import take_column, take_points
from metricdp.mechanisms.containers import is_array, marked
from metricdp.mechanisms.law import Law, as_inputs
from metricdp.mechanisms.mechanism import ExpectedError, Mechanism
from metricdp.metrics.coordinates import vector
from metricdp.metrics.words import Measure

__all__ = ["EVERY", "Snapping"]

EVERY = Fraction(1, 1 << 64)
"""The level of a channel whose rows are all the same, which keeps every level; there is no metric of level 0."""

_LABELS = "The outputs are labels, so no error is measured"


class Snapping(Mechanism):
    """A secret x is snapped to an input s of a channel with probability λ_s(x), and s goes through the channel.

    Attributes:
        channel: on the inputs that secrets are snapped to.
    """

    channel: Channel

    @property
    @abstractmethod
    def dimension(self) -> int:
        """How many coordinates a secret has: one or two."""

    @abstractmethod
    def _snapped(self, numbers: Sequence[NDArray[Any]], units: Sequence[Fraction]) -> NDArray[np.int64]:
        """The input that each secret is snapped to, drawn."""

    @abstractmethod
    def _shares(self, x: Point, row: int | None = None) -> list[tuple[int, Fraction]]:
        """The inputs around a point, with their weights; one may be listed twice."""

    def release(self, secrets: Any) -> Any:
        """See `Mechanism.release`: a point gives an output, an array of points an array, other rows a list."""
        numbers, units = self._read(secrets)
        released = self._outputs[self.channel.release_places(self._snapped(numbers, units))]
        if self._alone(secrets):
            return released[0]
        return marked(self._as_array(released)) if is_array(secrets) else released.tolist()

    def law(self, inputs: Iterable[Any]) -> Law:
        """See `Mechanism.law`: rational, since the weights of the inputs are."""
        rows = as_inputs(inputs)
        channel = self.channel
        exact: list[list[Fraction]] = []
        for row, point in enumerate(rows):
            shares = self._shares(vector(point, row), row)
            values = [channel.weights[place].tolist() for place, _ in shares]
            exact.append(
                [
                    sum((share * weights[z] for (_, share), weights in zip(shares, values, strict=True)), Fraction(0))
                    / channel.total
                    for z in range(len(channel.outputs))
                ]
            )
        least = min(value for row in exact for value in row if value)

        def fixed(bits: int) -> NDArray[np.object_]:
            return np.array([[math.ceil(value * (1 << bits)) for value in row] for row in exact], dtype=object)

        exponent = least.numerator.bit_length() - least.denominator.bit_length() - 2
        return Law(rows, channel.outputs, fixed, exponent, lambda: exact)

    def expected_error(self, measure: Measure | None = None) -> ExpectedError:
        """Of the distance, where the outputs are points."""
        if not self._outputs_are_points:
            return ExpectedError(None, None, "", (_LABELS,))
        return super().expected_error(measure)

    def _explain_error(self) -> str:
        return super()._explain_error() if self._outputs_are_points else f"{_LABELS}."

    @cached_property
    def _outputs_are_points(self) -> bool:
        try:
            return {len(vector(output)) for output in self.channel.outputs} == {self.dimension}
        except MetricDPError:
            return False

    def _read(self, secrets: Any) -> tuple[list[NDArray[Any]], list[Fraction]]:
        """A column of exact numbers for each coordinate, and what it is counted in."""
        if self.dimension == 1:
            column = take_column(secrets, False, False)
            refuse_missing(column.missing, False)
            return [column.numbers], [column.unit]
        points = take_points(secrets, 2)
        points.refuse_missing()
        if points.dimension != 2:
            raise ShapeError(f"points of 2 coordinates are wanted, not {points.dimension}")
        numbers = points.numbers
        return list(numbers.T) if isinstance(numbers, np.ndarray) else numbers, points.units

    def _alone(self, secrets: Any) -> bool:
        """Whether it is one point rather than rows of points."""
        if is_array(secrets):
            return bool(secrets.ndim < self.dimension)
        if not isinstance(secrets, list | tuple):
            return not hasattr(secrets, "__len__")
        return self.dimension > 1 and not isinstance(secrets[0], list | tuple) and not is_array(secrets[0])

    @cached_property
    def _outputs(self) -> NDArray[Any]:
        outputs = np.empty(len(self.channel.outputs), dtype=object)
        outputs[:] = self.channel.outputs
        return outputs

    def _as_array(self, released: NDArray[Any]) -> NDArray[Any]:
        """Numbers, where every output is a number or a point."""
        if not self._outputs_are_points:
            return released
        rows = np.array([[float(value) for value in vector(output)] for output in released.tolist()])
        return rows if self.dimension > 1 else rows[:, 0]
