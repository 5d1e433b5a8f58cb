"""One of each mechanism, with secrets it takes: what the engine, conformance and statistical tests run over."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

import metricdp as mdp


@dataclass(frozen=True)
class Case:
    """A mechanism, made when asked for, and secrets for it.

    Attributes:
        secrets: a few secrets, as a list; the first two differ.
        vector: whether a secret is a point of several numbers.
        label: whether a secret is a label or a set, not a number.
    """

    name: str
    make: Callable[[], Any]
    secrets: list[Any]
    vector: bool = False
    label: bool = False

    def many(self, count: int) -> Any:
        """``count`` secrets, repeating; an array where the secrets are numbers."""
        repeated = (self.secrets * (count // len(self.secrets) + 1))[:count]
        return repeated if self.label else np.array(repeated)


m = mdp.metrics
POINTS = [[0.0, 0.0], [1.25, -3.5], [1e3, 1e-3]]
TIGHT = [["2/3", "1/3"], ["1/3", "2/3"]]
ROUGH = [[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]]
PLACES = [[48.8566, 2.3522], [90.0, 10.0], [-89.9999, -180.0], [0.0, 179.99999], [51.5, -0.125]]

CASES = [
    Case("laplace line", lambda: mdp.laplace(m.absolute().within(5)), [0.0, 3.7, -1e6, 0.1]),
    Case("laplace cents", lambda: mdp.laplace(0.25 * m.absolute(), resolution="0.01"), [0.0, 3.7, -1e6, 0.1]),
    Case("laplace integers", lambda: mdp.laplace(m.absolute().within(50), resolution=7), [0, 3, -(10**12), 5]),
    Case("laplace bounded", lambda: mdp.laplace(m.absolute().within(5), bounds=(0, 100)), [0.0, 3.7, 100.0]),
    Case("laplace delta", lambda: mdp.approximate_laplace(0, 100, 1, "0.01"), [0.0, 3.7, 100.0]),
    Case("plane", lambda: mdp.laplace(mdp.ln(2) * m.euclidean(), dim=2), POINTS, vector=True),
    Case("space L2", lambda: mdp.laplace(m.euclidean(), dim=3), [[0.0, 1.0, 2.0], [0.1, 0.2, 0.3]], vector=True),
    Case("space L2 in 5", lambda: mdp.laplace(m.euclidean(), dim=5), [[0.0] * 5, [0.1] * 5], vector=True),
    Case("plane L1", lambda: mdp.laplace(m.manhattan(), dim=2), POINTS, vector=True),
    Case("series L-infinity", lambda: mdp.laplace(m.chebyshev(), dim=4), [[0.0] * 4, [1.5] * 4], vector=True),
    Case("series of 24", lambda: mdp.laplace(m.chebyshev(), dim=24), [[0.0] * 24, [1.5] * 24], vector=True),
    Case("space L2 in 12", lambda: mdp.laplace(m.euclidean(), dim=12), [[0.0] * 12, [0.1] * 12], vector=True),
    Case("sphere", lambda: mdp.laplace(m.great_circle().within(200)), PLACES, vector=True),
    Case("sphere, weak", lambda: mdp.laplace(m.great_circle().within(2e6)), PLACES, vector=True),
    Case("sphere, strong", lambda: mdp.laplace(m.great_circle().within(2e7)), PLACES, vector=True),
    Case("geometric", lambda: mdp.geometric(mdp.ln(2) * m.absolute()), [0, 1, -5, 10**15]),
    Case("geometric steps", lambda: mdp.geometric("0.3" * m.absolute(), step="0.25"), [0.0, 0.25, -7.5]),
    Case("truncated", lambda: mdp.truncated_geometric(0.1 * m.absolute(), steps=10), [0, 10, 5]),
    Case("response", lambda: mdp.randomized_response("abcd", 1), ["a", "b", "d"], label=True),
    Case("response delta", lambda: mdp.randomized_response("abcd", 1, "0.05"), ["a", "b", "d"], label=True),
    Case("sets", lambda: mdp.set_response("abcde", 1.5), [set(), {"a", "b"}, set("abcde")], label=True),
    Case("exponential", lambda: mdp.exponential(mdp.Space.line(6, 0.5 * m.absolute())), [0, 5, 3], label=True),
    Case(
        "channel",
        lambda: mdp.channels.of(mdp.truncated_geometric(m.absolute(), 5), range(6)),
        [0, 5, 3],
        label=True,
    ),
    Case("channel, own metric", lambda: mdp.channels.Channel.from_matrix("ab", "ab", TIGHT), ["a", "b"], label=True),
    Case(
        "channel, certified",
        lambda: mdp.channels.certify(ROUGH, mdp.Space("abc", m.discrete())),
        ["a", "b", "c"],
        label=True,
    ),
    Case(
        "null",
        lambda: mdp.laplace(Fraction(1, 20) * m.nullable(m.absolute(), 100), bounds=(0, 100)),
        [np.nan, 0.0, 100.0, 33.3],
    ),
    Case(
        "dates",
        lambda: mdp.laplace(m.dates().within(5), resolution=Fraction(1, 86_400)),
        [np.datetime64("2024-02-29T12:30:01"), np.datetime64("1969-12-31T23:59:59")],
    ),
    Case(
        "function samples",
        lambda: mdp.function_samples(m.supremum().within(0.5), times=[0, 1, 2]),
        [[0.0, 1.0, 4.0], [0.1, 0.2, 0.3]],
        vector=True,
    ),
    Case(
        "records",
        lambda: mdp.independent(mdp.laplace(m.absolute().within(5)), mdp.geometric(mdp.ln(2) * m.absolute())),
        [(1.5, 3), (-2.0, 0), (0.1, 10**15)],
        label=True,
    ),
]
