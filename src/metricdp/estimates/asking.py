"""Ask a released table: what its secrets were like, corrected for the noise, at no cost in privacy."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from metricdp.errors import ArgumentError
from metricdp.estimates.mechanism_columns import by_mechanisms
from metricdp.estimates.released_table import read_released
from metricdp.estimates.results import Estimates, Truth, check_asked
from metricdp.estimates.selects import answer_select
from metricdp.policies.policy import Policy

__all__ = ["estimate"]


def estimate(
    released: Any,
    question: Any,
    *,
    confidence: float = 0.95,
    policy: Policy | str | Path | Mapping[str, Any] | None = None,
    truth: Truth = "table",
    engine: Any = None,
    known: Mapping[str, Any] | None = None,
) -> Any:
    """What a released table says, corrected for its noise, each answer with an interval beside the naive value.

    Whoever has the table knows the mechanism, and so can correct for it. This is post-processing: it costs no privacy,
    however much is asked (paper 2, Theorem 4).

    Args:
        released: a sanitized file or folder, which says itself how it was released; a frame with ``policy``; or for
            each name of a column, its released values and the mechanism that released them.
        question: SQL, ``select ANSWERS [from ..] [where ..] [group by ..] [having ..] [order by ..] [limit ..]`` as in
            `metricdp.queries.ask`; or one of the questions of this folder, such as `Correlation`.
        confidence: of each interval by itself.
        policy: what the table was released under, where it does not say so itself.
        truth: "table" for the secrets of the released rows, "population" for what they were drawn from, which is wider.
        engine: what reads the table; see `metricdp.sources.open_table`.
        known: how many of the rows meet conditions, where that is known from elsewhere, such as
            ``{"sex = 'female'": 2911}``: counts in SQL agree with them, and others get narrower.

    Raises:
        ArgumentError: the table does not say how it was released, the policy is not the one, or the question is none.
        ColumnError: a value that no release has; names the column and the row.

    References:
        Paper 2, Theorem 4.

    >>> import pyarrow as pa
    >>> policy = {"format": 2, "columns": {"smokes": {"type": "boolean", "factor": 3, "missing": "refuse"}}}
    >>> released = pa.table({"smokes": [True] * 400 + [False] * 600})
    >>> found = estimate(released, "select count(*) from people where smokes = true", policy=policy).only
    >>> round(found.value), found.naive
    (300, 400.0)

    >>> import metricdp as mdp
    >>> answers = {"smokes": (["yes"] * 400 + ["no"] * 600, mdp.randomized_response(["yes", "no"], mdp.ln(3)))}
    >>> round(estimate(answers, "select count(*) where smokes = 'yes'").only.value)
    300
    """
    check_asked(confidence, truth)
    if policy is None and isinstance(released, Mapping):
        released, policy = by_mechanisms(released)
    with read_released(released, policy, engine) as table:
        if isinstance(question, str):
            found: Estimates = answer_select(table, question, confidence, truth, known=known)
            return found
        if known:
            raise ArgumentError("known counts go with a question in SQL")
        if callable(getattr(question, "answer", None)) and not isinstance(question, type):
            return question.answer(table, confidence, truth)
    raise ArgumentError(f"a question is SQL or a question of metricdp.estimates, not {type(question).__name__}")
