"""Every metric keeps the laws that ship, and the laws are not kept by just anything."""

import datetime as dt
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
import pytest
from flint import arb

import metricdp.metrics as metrics
from metricdp.errors import ArgumentError, ConformanceError
from metricdp.exact.balls import Enclosure
from metricdp.exact.level import ln
from metricdp.metrics import Metric
from metricdp.metrics.enclosures import Enclosures
from metricdp.metrics.norms import Root
from metricdp.testing import check_metric

NUMBERS = [0, 1, 2.5, -1e6, Fraction(1, 3)]
VECTORS = [(0, 0), (1, 1), (3, 4), (0.1, -2)]
PLACES = [(48.8566, 2.3522), (90, 10), (-89.9999, -180), (0, 179.99)]
LETTERS = ["a", "b", "c"]
TREE = {"a": "left", "b": "left", "c": "right", "left": "root", "right": "root"}

EVERY = {
    "absolute": (metrics.absolute(), NUMBERS),
    "manhattan": (metrics.manhattan(), VECTORS),
    "euclidean": (metrics.euclidean(), VECTORS),
    "chebyshev": (metrics.chebyshev(), VECTORS),
    "normalized_manhattan": (metrics.normalized_manhattan(7), VECTORS),
    "great_circle": (metrics.great_circle(), PLACES),
    "discrete": (metrics.discrete(), LETTERS),
    "unprotected": (metrics.unprotected(), LETTERS),
    "hamming": (metrics.hamming(), [("a", 1), ("a", 2), ("b", 3)]),
    "add_remove": (metrics.add_remove(), [(5, None), (6, None), (5, 7)]),
    "symmetric_difference": (metrics.symmetric_difference(), [set(), {1}, {1, 2}, {3}]),
    "graph": (metrics.graph([("a", "b"), ("b", "c", 2.5)]), LETTERS),
    "taxonomy": (metrics.taxonomy(TREE, lengths=[2.5, "1/3"]), LETTERS),
    "matrix": (metrics.matrix("abc", [[0, 1, 2], [1, 0, 1], [2, 1, 0]]), LETTERS),
    "individuals": (metrics.individuals({"a": 0.1, "b": ln(2), "c": math.inf}), LETTERS),
    "attributes": (
        metrics.attributes({"age": metrics.absolute() / 10, "job": "1/3"}),
        [(30, "a"), (40, "b"), (30, "b")],
    ),
    "value_budgets": (
        metrics.value_budgets({"one": {"a": 1, "b": ln(3)}, "two": {"x": 1, "y": 2}}),
        [("a", "x"), ("b", "y")],
    ),
    "records": (metrics.records(metrics.absolute(), p=2), VECTORS),
    "nullable": (metrics.nullable(metrics.capped(metrics.absolute(), 20), 10), [None, 0, 5, 100]),
    "blowfish": (metrics.blowfish(metrics.euclidean(), 0.1, ln(2)), VECTORS),
    "smooth": (metrics.smooth(metrics.euclidean(), 5, 0.5), VECTORS),
    "dates": (metrics.dates().within(5), [dt.date(2024, 2, 28), dt.date(2024, 3, 1), dt.datetime(2024, 3, 1, 12)]),
    "supremum": (metrics.supremum([0, 0.5]), VECTORS),
    "square_integrable": (metrics.square_integrable("Fourier"), VECTORS),
    "scaled": (ln(2) / 200 * metrics.great_circle(), PLACES),
    "sum": (metrics.euclidean() + 2 * metrics.discrete(), VECTORS),
    "maximum": (metrics.maximum(metrics.euclidean(), metrics.discrete()), VECTORS),
    "capped": (metrics.capped(metrics.euclidean(), 2), VECTORS),
    "normalized": (metrics.euclidean().normalized(VECTORS), VECTORS),
    "closure": (metrics.matrix("abc", [[0, 1, 9], [1, 0, 1], [9, 1, 0]], check=False).closure("abc"), LETTERS),
}


@pytest.mark.parametrize("name", EVERY)
def test_every_metric_keeps_every_law(name):
    metric, points = EVERY[name]
    checked = check_metric(metric, points)
    assert {*checked.laws, *(law for law, _ in checked.left_out)} == set(LAWS)
    assert set(checked.laws) >= set(LAWS) - {"toml"}


def test_every_registered_metric_is_checked():
    from metricdp.metrics.registry import METRICS

    assert {name for name in METRICS if name != "graph_of"} <= set(EVERY)


LAWS = ("axioms", "views", "enclosures", "equality", "toml", "scaling", "algebra", "shortcuts", "answers", "refusals")


@dataclass(frozen=True, repr=False)
class Own(Metric):
    """|x − y| as somebody else would write it."""

    kind: ClassVar[str] = "absolute"
    symbol: ClassVar[str] = "|x − y|"

    def _pairwise(self, points, others):
        return abs(np.subtract.outer(metrics_of(points), metrics_of(others)))

    def _exactly(self, x, y):
        return abs(Fraction(x) - Fraction(y))


def metrics_of(points):
    return metrics.coordinates.coordinates(list(points))[:, 0].astype(float)


def broken(**overrides):
    made = dataclass(frozen=True, repr=False)(type("Broken", (Own,), {"__module__": __name__, **overrides}))
    globals()["Broken"] = made  # where pickle looks for it
    return made()


def showing(self, points, others):
    try:
        return Own._pairwise(self, points, others)
    except Exception:
        raise ArgumentError(f"not a number: {points!r}") from None


def one_by_one(self, points, others):
    found = Own._pairwise(self, points, others)
    return found + 1 if found.size == 1 and found[0, 0] else found


DOUBLED = {
    "_pairwise": lambda self, p, q: 2 * Own._pairwise(self, p, q),
    "_exactly": lambda self, x, y: 2 * Own._exactly(self, x, y),
}
ROUNDED = {"_exactly": lambda self, x, y: None, "_irrational": lambda self, x, y: arb(abs(float(x - y)))}

BROKEN = {
    "squares": ({"_exactly": lambda self, x, y: Fraction(x - y) ** 2, "kind": "absolute"}, "axioms"),
    "is not symmetric": ({"_exactly": lambda self, x, y: Fraction(max(0, x - y))}, "axioms"),
    "gives another number alone": ({"_pairwise": one_by_one}, "views"),
    "gives NaN": ({"_pairwise": lambda self, p, q: np.full((len(p), len(q)), math.nan)}, "views"),
    "encloses something else": (
        {"_enclosures": lambda self, p, q: Enclosures.exact(Own._pairwise(self, p, q) + 1)},
        "enclosures",
    ),
    "is never equal": ({"__eq__": lambda self, other: False, "__hash__": lambda self: 1}, "equality"),
    "is not registered": ({"kind": "nobody_knows"}, "toml"),
    "reads as another": ({"kind": "discrete"}, "toml"),
    "scales twice": ({"_times": lambda self, factor: Metric._times(self, factor * 2)}, "scaling"),
    "adds wrongly": ({"__add__": lambda self, other: self}, "algebra"),
    "has a view that is far off": ({"_pairwise": lambda self, p, q: 3 * Own._pairwise(self, p, q)}, "views"),
    "has other integers": ({"integers": lambda self, p: np.zeros((len(p), len(p)), dtype=np.int64)}, "shortcuts"),
    "has another exponential": ({"_exponential": lambda self, x, y: Root(Fraction(7))}, "shortcuts"),
    "has another square": ({**ROUNDED, "_square": lambda self, x, y: Fraction(1)}, "shortcuts"),
    "has another tree": ({"hierarchy": lambda self, points: metrics.taxonomy(TREE).hierarchy("abc")}, "shortcuts"),
    "exceeds its greatest": ({"greatest": property(lambda self: 0.5)}, "shortcuts"),
    "is not on a line": ({**DOUBLED, "on_line": property(lambda self: True)}, "answers"),
    "is not on the globe": ({"on_globe": property(lambda self: True)}, "answers"),
    "is another norm": ({**DOUBLED, "norm": property(lambda self: 2.0)}, "answers"),
    "exceeds its cap": ({"capped_at": property(lambda self: 0.25)}, "answers"),
    "is not all alike": ({"all_alike": property(lambda self: True)}, "answers"),
    "has other coordinates": ({"dimension": property(lambda self: 3)}, "answers"),
    "lists other values": ({"listed_values": property(lambda self: (7, 8))}, "answers"),
    "does not measure null": ({"distance_to_null": property(lambda self: 3.0)}, "answers"),
    "does not grow": (
        {"_exactly": lambda self, x, y: Fraction(x != y and abs(x - y) < 2), "grows": property(lambda self: True)},
        "answers",
    ),
    "shows what is no point": ({"_pairwise": showing}, "refusals"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_metric_is_caught(name):
    overrides, law = BROKEN[name]
    with pytest.raises(ConformanceError) as caught:
        check_metric(broken(**overrides), [0, 1, 2.5], only=[law])
    assert caught.value.law == law


def test_every_law_has_a_metric_that_breaks_it():
    assert {law for _, law in BROKEN.values()} == set(LAWS)


def test_what_is_no_metric():
    with pytest.raises(ArgumentError, match="a metric is needed here"):
        check_metric(abs, [0, 1])
    with pytest.raises(ArgumentError, match="at least two points"):
        check_metric(metrics.absolute(), [0])
    assert Enclosure(Fraction(1), Fraction(1)).width == 0
