"""Statistical queries: averages over the records of a function of each record."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, NamedTuple

from metricdp.channels.arguments import as_space
from metricdp.errors import ArgumentError, ImpossibleError, UnsupportedMetricError
from metricdp.exact.balls import float_above
from metricdp.metrics import Metric, Space
from metricdp.metrics.coordinates import vector
from metricdp.metrics.records import Attributes
from metricdp.queries.workloads._pairs import PairBudgets
from metricdp.queries.workloads._strategies import certified
from metricdp.queries.workloads.allocation import Allocation, verdict_of
from metricdp.queries.workloads.workload import Workload

__all__ = ["attribute_averages", "statistical"]


def statistical(
    function: Callable[[Any], Any], space: Space, total: int, names: Sequence[str] | None = None
) -> Workload:
    """The averages over n records of a function of each record, as a workload: ``Q[k, u] = q_k(u) / n``.

    Its sensitivity between the cells u and v is ``|q(u) - q(v)|_1 / n``, so `allocate` shares budgets as for any
    workload.

    Args:
        function: from a cell to a number, or to a list of numbers, one for each query.
        space: the cells and the metric.
        total: n, which is public.
        names: of the queries.

    References:
        Paper 4, Appendix C, Equation 11 and Definition 10.

    >>> workload = statistical(lambda u: u, Space.line(5), total=10, names=["average"])
    >>> workload.entries[0][3], float(workload.truth([5, 0, 0, 0, 5])[0])
    (Fraction(3, 10), 2.0)
    """
    _check_total(total)
    space = as_space(space, "statistical")
    columns = [[value / total for value in vector(function(cell), row)] for row, cell in enumerate(space.points)]
    if len({len(column) for column in columns}) > 1:
        raise ArgumentError("the function gives lists of different lengths")
    return Workload([list(row) for row in zip(*columns, strict=True)], space, names)


def attribute_averages(space: Space, total: int, *, bias: bool = True) -> Allocation:
    """The averages of all attributes, each with the budget of its own attribute: the d-way marginal query.

    For ``d(u, v) = sum_i d_i(u_i, v_i)`` the problem falls into one for each attribute::

        minimise  b_i + c_i   with   |u' - v'| <= n c_i d_i(u, v)  and  |u' - u| <= b_i   for all values u, v,

    whose answer is exact: for each bias b the least scale is ``c(b) = max (|u - v| - 2 b) / (n d_i(u, v))``, a maximum
    of lines, and values u' that reach it are known. Where the noise of an attribute would exceed half its range, its
    middle is answered without noise.

    Args:
        space: cells are tuples of numbers, one for each attribute, with a metric made by ``attributes``.
        total: n, which is public.
        bias: whether b may be above 0; without it the answers are unbiased.

    Guarantee:
        As of every `Allocation`, proved over all pairs of cells.

    References:
        Paper 4, Appendix C, Equation 14; the error is bounded by Theorem 11.2 with p = 1, see `absolute_error`.

    >>> import metricdp as mdp
    >>> d = mdp.metrics.attributes({"age": mdp.metrics.absolute() / 8, "member": 0.5})
    >>> space = Space([(age, member) for age in range(3) for member in (-1, 1)], d)
    >>> attribute_averages(space, total=16).scales
    (0.5, 0.25)
    """
    _check_total(total)
    space = as_space(space, "attribute_averages")
    unit = space.metric.unit
    if not isinstance(unit, Attributes):
        raise UnsupportedMetricError("cells with attributes are wanted: metrics.attributes({name: metric})")
    cells = [vector(cell, row) for row, cell in enumerate(space.points)]
    workload = statistical(lambda cell: list(cell), space, total, unit.names)
    rows, scales = [], []
    for place, (_, metric) in enumerate(unit.metrics):
        values = sorted({cell[place] for cell in cells})
        moved = _moved(values, space.metric.level * metric, total, bias)
        rows.append([moved.to[cell[place]] / total for cell in cells])
        scales.append(float_above(moved.scale))
    moved_workload = Workload(rows, space, unit.names)
    answered = workload if moved_workload == workload else moved_workload
    budgets = PairBudgets(answered)
    proved = tuple(certified(budgets, scales))
    ones = (Fraction(1),) * len(workload)
    verdict = verdict_of(budgets, proved)
    allocation = Allocation(workload, answered, proved, "marginal", "mean", ones, 0.0, None, verdict)
    return replace(allocation, value=float_above(Fraction(allocation.squared_error(total)) / len(workload)))


class _Moved(NamedTuple):
    """What is answered for each value of an attribute, and the scale of the noise."""

    to: dict[Fraction, Fraction]
    scale: Fraction


class _Line(NamedTuple):
    """``height - slope * b``."""

    height: Fraction
    slope: Fraction

    def at(self, bias: Fraction) -> Fraction:
        return self.height - self.slope * bias


def _moved(values: Sequence[Fraction], metric: Metric, total: int, biased: bool) -> _Moved:
    """Minimises ``b + c(b)`` for one attribute."""
    lines = {_Line(Fraction(0), Fraction(0))}
    lengths: dict[tuple[Fraction, Fraction], Fraction | float] = {}
    for place, one in enumerate(values):
        for other in values[:place]:
            distance = metric.enclose(one, other).lower
            lengths[one, other] = lengths[other, one] = distance
            if distance == 0:
                raise ImpossibleError(
                    "two values of an attribute are at distance 0, so its average hides nothing of them"
                )
            if isinstance(distance, Fraction):
                lines.add(_Line((one - other) / (total * distance), 2 / (total * distance)))
    bias = _lowest(lines, (values[-1] - values[0]) / 2) if biased else Fraction(0)
    scale = max(line.at(bias) for line in lines)
    to = {}
    for one in values:
        near = [(other, lengths[one, other]) for other in values if other != one]
        reach = [(other, scale * total * length) for other, length in near if isinstance(length, Fraction)]
        upper = min([one + bias, *(other + bias + length for other, length in reach)])
        lower = max([one - bias, *(other - bias - length for other, length in reach)])
        to[one] = (upper + lower) / 2
    return _Moved(to, scale)


def _lowest(lines: set[_Line], most: Fraction) -> Fraction:
    """Where ``b`` plus the highest of the lines is least, for 0 <= b <= most; exactly.

    The highest lines at two ends meet between them; where they meet, either no line is higher, or one that is takes
    the place of the end on its side.
    """

    def highest(bias: Fraction) -> _Line:
        return max(lines, key=lambda line: (line.at(bias), -line.slope))

    left, right = highest(Fraction(0)), highest(most)
    if left.slope <= 1:
        return Fraction(0)
    if right.slope > 1:
        return most
    while True:
        meet = (left.height - right.height) / (left.slope - right.slope)
        top = highest(meet)
        if top.at(meet) == left.at(meet):
            return meet
        left, right = (top, right) if top.slope > 1 else (left, top)


def _check_total(total: int) -> None:
    if isinstance(total, bool) or not isinstance(total, int) or total < 1:
        raise ArgumentError("the number of records is a positive integer")
