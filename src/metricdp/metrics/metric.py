"""What every metric can do, and the metric with a number before it."""

from __future__ import annotations

import html
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from flint import arb
from numpy.typing import NDArray

from metricdp.errors import ArgumentError
from metricdp.exact.balls import Enclosure, precision
from metricdp.exact.level import Level, LevelLike, ln
from metricdp.metrics import amounts
from metricdp.metrics.amounts import Budget, Exact, positive
from metricdp.metrics.axioms import Violation, find_violation
from metricdp.metrics.enclosures import EnclosedRows, Enclosures, in_blocks, sides
from metricdp.metrics.norms import Root
from metricdp.metrics.traits import Traits

if TYPE_CHECKING:
    from metricdp.exact.arrays import Floats
    from metricdp.metrics.trees import Hierarchy

__all__ = ["Metric", "as_metric", "operations"]

_ONE = Level(Fraction(1))
_MOST_BITS = 1 << 16
_LONGEST_CODE = 500


@dataclass(frozen=True, repr=False)
class Metric(Traits, ABC):
    """How far apart two secrets are: a frozen value, equal by its fields.

    A metric may be infinite (two secrets that may be told apart freely) and zero between different secrets (two that
    must not be told apart at all). Numbers go in as the exact rationals they are.

    What comes out of `pairwise` is a view: for pictures, and for guesses that something else then proves. A proof takes
    its distances from `enclosures`, for many pairs at once, or from `exactly`, `ball` and `enclose`, for one.

    A subclass gives its `kind`, its `symbol` or `_formula`, `_pairwise`, and one or both of `_exactly` (for distances
    that are rational) and `_irrational` (for the others). It may give `_enclosures`, to have many pairs quickly;
    without it they are enclosed one by one, so that a subclass that does not think of proofs is right in them anyway.

    References:
        Paper 1, Definition 1 and Section 2.
    """

    __array_ufunc__ = None  # so that numpy leaves ``numpy_number * metric`` to us

    kind: ClassVar[str]
    """The name of its constructor."""

    symbol: ClassVar[str]
    """The metric as mathematics, where it has no fields."""

    sound: ClassVar[bool] = False
    """Whether the axioms are a theorem for this construction, given that they hold for its parts."""

    symmetric: ClassVar[bool] = True
    """Whether d(x, y) and d(y, x) are one computation, given that they are for its parts."""

    typical: ClassVar[tuple[int, ...]] = ()
    """Distances worth telling, where whole numbers are."""

    _geodesic: ClassVar[bool] = False
    _keeps_geodesics: ClassVar[bool] = False
    _unit_name: ClassVar[str | None] = None
    _compound: ClassVar[bool] = False  # a formula that needs brackets inside another

    # Distances

    def __call__(self, x: Any, y: Any) -> float:
        """The distance as a float, a view: the same number as in `pairwise`."""
        return float(self.pairwise([x], [y])[0, 0])

    def pairwise(self, points: Any, others: Any = None) -> Floats:
        """The matrix of distances between all points, or between all points and all others, as floats: a view.

        No proof may rest on it: it may be 0 where the distance is not, or miss it by any factor. See `enclosures`.
        """
        return self._pairwise(points, points if others is None else others)

    @abstractmethod
    def _pairwise(self, points: Any, others: Any) -> Floats: ...

    def enclosures(self, points: Any, others: Any = None) -> Enclosures:
        """Floats below and above all distances between points, or between points and others: what proofs use.

        They are within a relative 10^-7 wherever floats hold the distance; both are 0 or infinite where it is known.

        >>> from metricdp.metrics import taxonomy
        >>> tree = taxonomy({"a": "b", "c": "b", "b": "root", "d": "root"}, lengths=[10**17, 1])
        >>> tree.enclosures(["a"], ["c", "d"]).lower.tolist()
        [[2.0, 2e+17]]
        """
        left, right = sides(points, others)
        quick = in_blocks(self._by_rows(left, right), (len(left), len(right)))
        return quick.sharpened(lambda i, j: self.enclose(left[i], right[j]), others is None and self.mirrored)

    def _enclosures(self, points: Any, others: Any) -> Enclosures:
        """The same, but as loose as is quick: where bounds are far apart, the distance is enclosed by itself."""
        self.pairwise(points[:1], others)  # refuses what is no point
        return Enclosures.unknown((len(points), len(others)))

    def _by_rows(self, points: Any, others: Any) -> EnclosedRows:
        """The same a few points at a time; what reads points once for all overrides it."""
        return EnclosedRows(lambda rows: self._enclosures(points[rows], others))

    @property
    def mirrored(self) -> bool:
        """Whether d(x, y) and d(y, x) are one computation, here and in all parts."""
        return self.symmetric and all(part.mirrored for part in self.parts)

    def exactly(self, x: Any, y: Any) -> Exact | None:
        """The distance as a Fraction or infinity; None where it is not known to be either."""
        return self._exactly(x, y)

    def _exactly(self, x: Any, y: Any) -> Exact | None:
        return None

    def integers(self, points: Sequence[Any]) -> NDArray[np.int64] | None:
        """All pairwise distances, as `exactly` gives them, where they are integers and quick to have; else None."""
        return None

    def _irrational(self, x: Any, y: Any) -> arb:
        """The distance as a ball, for points where `exactly` says None."""
        raise TypeError(f"{type(self).__name__} has no exact distance here, and gives no ball either")

    def ball(self, x: Any, y: Any) -> arb:
        """The distance as a ball at the working precision (see `metricdp.exact.balls.precision`)."""
        exact = self.exactly(x, y)
        return self._irrational(x, y) if exact is None else amounts.exact_ball(exact)

    def exponential(self, x: Any, y: Any) -> Root | None:
        """The ratio that two likelihoods may have, exp of the distance, where it is known to be a root of a rational.

        >>> from metricdp.exact.level import ln
        >>> from metricdp.metrics import absolute
        >>> (ln(2) * absolute()).exponential(0, 3)
        Root(base=Fraction(8, 1), degree=1)
        """
        return Root(Fraction(1)) if self.exactly(x, y) == 0 else self._exponential(x, y)

    def _exponential(self, x: Any, y: Any) -> Root | None:
        del x, y
        return None

    def square(self, x: Any, y: Any) -> Fraction | None:
        """The square of the distance, where that is known to be rational: what tells equal roots from near ones."""
        exact = self.exactly(x, y)
        if exact is None:
            return self._square(x, y)
        return exact**2 if isinstance(exact, Fraction) else None

    def _square(self, x: Any, y: Any) -> Fraction | None:
        del x, y
        return None

    def enclose(self, x: Any, y: Any, bits: int = 64) -> Enclosure:
        """Two rationals with the distance between them, equal to about ``bits`` bits; one, where it is rational.

        >>> from metricdp.metrics import euclidean
        >>> root = euclidean().enclose((0, 0), (1, 1))
        >>> root.lower**2 < 2 < root.upper**2, root.width < Fraction(1, 2**63)
        (True, True)
        """
        exact = self.exactly(x, y)
        if exact is not None:
            return Enclosure(exact, exact)
        working = bits + 16
        while True:
            with precision(working):
                enclosure = Enclosure.of(self.ball(x, y))
            if working > _MOST_BITS or (
                enclosure.width < math.inf and Fraction(enclosure.width) * (1 << bits) <= enclosure.lower
            ):
                return enclosure
            working *= 2

    # Scale and arithmetic

    @property
    def level(self) -> Level:
        """The number before the metric; 1 where there is none."""
        return _ONE

    @property
    def _metric(self) -> Metric:
        return self

    @property
    def unit_name(self) -> str:
        """What the distances of `unit` are counted in, such as "m"; empty where there is no name."""
        if self._unit_name is not None:
            return self._unit_name
        return self.parts[0].unit_name if len(self.parts) == 1 else ""

    def view_error(self, points: Any, others: Any = None) -> float:
        """By how much, as a share of the distance, `pairwise` misses a distance at most; proved.

        >>> from metricdp.metrics import absolute
        >>> absolute().view_error([0, 1, 3]) < 1e-14
        True
        """
        proved, view = self.enclosures(points, others), self.pairwise(points, others)
        with np.errstate(invalid="ignore", divide="ignore"):
            missed = np.maximum(abs(view - proved.lower), abs(view - proved.upper)) / proved.lower
        missed = np.where((view == proved.lower) & (view == proved.upper), 0.0, missed)
        return math.inf if np.isnan(missed).any() else float(missed.max(initial=0.0))

    def __mul__(self, factor: LevelLike) -> Metric:
        return self._times(Level.of(factor))

    def _times(self, factor: Level) -> Metric:
        level = self.level * factor
        return self.unit if level == _ONE else operations.scaled(level, self.unit)

    def __rmul__(self, factor: LevelLike) -> Metric:
        return self * factor

    def __truediv__(self, divisor: int | float | Fraction) -> Metric:
        return self * (1 / positive(divisor, "divisor"))

    def __add__(self, other: Metric) -> Metric:
        return operations.add(self, other)

    def within(self, radius: int | float | Fraction, factor: int | float | Fraction = 2) -> Metric:
        """Scaled so that secrets ``radius`` apart have likelihoods within ``factor``: level ln(factor)/radius.

        >>> from metricdp.metrics import great_circle
        >>> print(great_circle().within(200))
        ln 2/200·great-circle(m)
        """
        return self * (ln(factor) / positive(radius, "radius"))

    # Axioms and what follows from finitely many points

    @property
    def parts(self) -> tuple[Metric, ...]:
        """The metrics this one is built from."""
        return tuple(value for field in fields(self) if isinstance(value := getattr(self, field.name), Metric))

    @property
    def proven(self) -> bool:
        """Whether the axioms are known to hold for all points, so that nobody needs to look for a violation."""
        return self.sound and all(part.proven for part in self.parts)

    def hierarchy(self, points: Sequence[Any]) -> Hierarchy | None:
        """The points as nodes of a tree, where the distances are ways along its edges; else None."""
        del points
        return None

    @property
    def geodesic(self) -> bool:
        """Whether between any two points there is, at every fraction of the way, another one."""
        return self._geodesic or (self._keeps_geodesics and all(part.geodesic for part in self.parts))

    @property
    def greatest(self) -> Budget:
        """A number that no distance exceeds; infinite where none is known."""
        return math.inf

    def violation(self, points: Sequence[Any], *, strict: bool = False) -> Violation | None:
        """The first axiom found broken, with its points; None where there is none.

        A violation is proven, never a rounding error, and none is missed: candidates are all that `enclosures` cannot
        rule out, and they are decided exactly or in balls of up to 1024 bits. A tie of irrational distances that these
        cannot tell from equality is none. Where the axioms are a theorem, nothing is searched. With ``strict``,
        different points at distance zero are a violation too.

        >>> from metricdp.metrics import matrix
        >>> print(matrix("abc", [[0, 1, 5], [1, 0, 1], [5, 1, 0]], check=False).violation("abc"))
        the triangle inequality is broken: d('a', 'c') = 5 is more than d('a', 'b') + d('b', 'c') = 1 + 1
        """
        return find_violation(self, points, strict=strict, search=not self.proven)

    def closure(self, points: Sequence[Any]) -> Metric:
        """The greatest metric on these points that is nowhere above this one: the lengths of shortest paths.

        >>> from metricdp.metrics import matrix
        >>> matrix("abc", [[0, 1, 5], [1, 0, 1], [5, 1, 0]], check=False).closure("abc")("a", "c")
        2.0
        """
        return operations.close(self, points)

    def farthest(self, points: Sequence[Any]) -> tuple[Any, Any]:
        """Two of the points that are as far apart as any two."""
        return operations.farthest(self, points)

    def diameter(self, points: Sequence[Any]) -> float:
        """The largest distance between two of the points, as the nearest float.

        ``enclose(*farthest(points))`` encloses it.
        """
        try:
            return float(self.enclose(*self.farthest(points)))
        except OverflowError:
            return math.inf

    def normalized(self, points: Sequence[Any]) -> Metric:
        """This metric divided by its diameter over the points, exactly; the scale before it cancels.

        >>> from metricdp.metrics import absolute
        >>> print((3 * absolute()).normalized(range(501)))
        |x − y|/500
        """
        return operations.normalize(self, points)

    # Words

    @property
    def formula(self) -> str:
        """The metric as mathematics."""
        return self._formula()

    def _formula(self) -> str:
        return self.symbol

    @property
    def bracketed(self) -> str:
        """The formula as it stands inside another one."""
        return f"({self.formula})" if self._compound else self.formula

    def __str__(self) -> str:
        return self.formula

    @property
    def arguments(self) -> dict[str, Any]:
        """What its constructor is to be called with to give it back."""
        return self._arguments()

    def _arguments(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def __repr__(self) -> str:
        given = {key: operations.in_code(value) for key, value in self.arguments.items()}
        code = f"{self.kind}({', '.join(v if hasattr(self, k) else f'{k}={v}' for k, v in given.items())})"
        return code if len(code) <= _LONGEST_CODE else f"<{self.kind}: {self.formula}>"

    def _repr_html_(self) -> str:
        return f"<b>{html.escape(self.formula)}</b>"

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}  # what is cached stays behind

    def to_toml(self) -> str:
        """The metric as TOML, from which `from_toml` makes an equal one.

        Points of a matrix, nodes of a graph and values with budgets are written if they are text, numbers, booleans,
        dates, times, or tuples of these. TOML has no null and no sets: such points are refused.

        >>> from metricdp.metrics import absolute
        >>> print(absolute().within(5).to_toml())
        metric = "scaled"
        level = "1/5 ln 2"
        <BLANKLINE>
        [unit]
        metric = "absolute"
        <BLANKLINE>
        """
        return operations.write_toml(self)

    @staticmethod
    def from_toml(text: str) -> Metric:
        """The metric that `to_toml` wrote."""
        return operations.read_toml(text)


class _Operations:
    """What a metric can be asked for, but only modules that build on this one can make; each of them enters its own.

    All of them are imported with `metricdp.metrics`.
    """

    scaled: Callable[[Level, Metric], Metric]
    add: Callable[..., Metric]
    close: Callable[[Metric, Sequence[Any]], Metric]
    farthest: Callable[[Metric, Sequence[Any]], tuple[Any, Any]]
    normalize: Callable[[Metric, Sequence[Any]], Metric]
    in_code: Callable[[Any], str]
    write_toml: Callable[[Metric], str]
    read_toml: Callable[[str], Metric]


operations = _Operations()


def as_metric(value: object) -> Metric:
    """The value, refused where it is no metric."""
    if not isinstance(value, Metric):
        raise ArgumentError(f"a metric is needed here, such as metrics.absolute(), not {type(value).__name__}")
    return value
