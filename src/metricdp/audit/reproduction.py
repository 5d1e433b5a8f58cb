"""Evidence as a program that anybody can run to see it again."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Any

from metricdp.visible import visible

if TYPE_CHECKING:
    from metricdp.audit.evidence import Evidence

__all__ = ["program"]

_MOST_DRAWS, _MOST_THAT_HANG = 100_000, 100
_COUNTS = (
    "first = sum(bool(event(release(x))) for _ in range(draws))",
    "second = sum(bool(event(release(y))) for _ in range(draws))",
    "print(first, second, draws)",
)
_GUESSES = (  # x is guessed from the event, y from its mirror
    "some_of_x, some_of_y = ([release(secret) for _ in range(draws)] for secret in (x, y))",
    "right = sum(bool(event(z)) for z in some_of_x) + sum(bool(mirror(z)) for z in some_of_y)",
    "wrong = sum(bool(event(z)) for z in some_of_y) + sum(bool(mirror(z)) for z in some_of_x)",
    "print(right, wrong, 2 * draws)",
)
_WATCHED = (  # an error is a release like any other here, and so is a call that hangs
    "turns = np.tile([True, False], draws)  # x and y by turns",
    "batch = one_at_a_time(release).draw((x, y), turns)",
    "seen = list(zip(batch.releases, batch.seconds, turns))",
)
_WATCHED_COUNTS = (
    "first = sum(bool(event(z, seconds)) for z, seconds, of_x in seen if of_x)",
    "second = sum(bool(event(z, seconds)) for z, seconds, of_x in seen if not of_x)",
    "print(first, second, draws)",
)
_WATCHED_GUESSES = (
    "right = sum(bool((event if of_x else mirror)(z, seconds)) for z, seconds, of_x in seen)",
    "wrong = sum(bool((mirror if of_x else event)(z, seconds)) for z, seconds, of_x in seen)",
    "print(right, wrong, 2 * draws)",
)
_NAMES = (  # what a secret or an event may be written with
    (r"\bt\.", "from metricdp.audit.events import things as t"),
    (r"\bdatetime\.", "import datetime"),
    (r"(?<![\w.])Decimal\(", "from decimal import Decimal"),
    (r"(?<![\w.])Fraction\(", "from fractions import Fraction"),
    (r"(?<![\w.])UUID\(", "from uuid import UUID"),
    (r"(?<![\w.])array\(", "from numpy import array"),
    (r"(?<![\w.])(inf|nan)\b", "from math import inf, nan"),
    (r"(?<![\w.])math\.", "import math"),
)


def program(evidence: Evidence) -> str:
    """The best test as a program: it needs ``release``, a function of one secret, where the box has no name."""
    test = evidence.best
    if test is None:
        return "# no event was tested"
    written = test.code + (test.mirror_code or "") + repr(test.pair)
    watched = evidence.failures or re.search(r"\bseconds\b", written) is not None
    most = _MOST_THAT_HANG if "hung" in written else _MOST_DRAWS
    counts, guesses = (_WATCHED_COUNTS, _WATCHED_GUESSES) if watched else (_COUNTS, _GUESSES)
    arguments = "z, seconds" if watched else "z"
    return "\n".join(
        [
            "import numpy as np",
            "import metricdp as mdp",
            "from metricdp.audit.events import machine as m",
            *(line for name, line in _NAMES if re.search(name, written)),
            *(["from metricdp.audit import one_at_a_time"] if watched else []),
            *evidence.imports,
            f"release = {evidence.importable}"
            if evidence.importable
            else "# release = the box: one secret in, one release out",
            *([f"d = mdp.metrics.Metric.from_toml({evidence.metric.to_toml()!r})"] if "d.unit" in written else []),
            f"{_secrets(test.pair)}  # {test.distance:.6g} apart",
            f"draws = {min(max(1000, test.calls), most)}",
            "",
            "",
            *_function("event", arguments, test.code),
            *([] if test.mirror_code is None else _function("mirror", arguments, test.mirror_code)),
            *(_WATCHED if watched else ()),
            *(counts if test.mirror_code is None else guesses),
        ]
    )


def _secrets(pair: tuple[Any, Any]) -> str:
    """Both secrets as code, or as a comment where they are things that cannot be written down."""
    first, second = (repr(secret) for secret in pair)
    try:
        ast.parse(f"{first}, {second}", mode="eval")
    except SyntaxError:
        return f"# x, y = the two secrets, {visible(first)} and {visible(second)}"
    return f"x, y = {first}, {second}"


def _function(name: str, arguments: str, code: str) -> tuple[str, ...]:
    """An event as a function."""
    return (
        f"def {name}({arguments}):",
        "    try:",
        f"        return bool({code})",
        "    except (TypeError, ValueError, IndexError, KeyError, AttributeError):  # a release of another kind",
        "        return False",
        "",
        "",
    )
