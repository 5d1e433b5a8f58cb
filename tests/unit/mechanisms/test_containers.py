"""`docs/containers.md` is what happens: each row of its tables is run."""

import datetime as dt
import re
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import metricdp as mdp
from metricdp.errors import MetricDPError

PAGE = Path(__file__).parents[3] / "docs" / "containers.md"

m = mdp.metrics
MECHANISMS = {
    "whole": mdp.laplace(m.absolute().within(5), resolution=1),
    "finer": mdp.laplace(m.absolute().within(5), resolution="0.01"),
    "null, whole": mdp.laplace(Fraction(1, 240) * m.nullable(m.absolute(), 240), bounds=(0, 100), resolution=1),
    "null, finer": mdp.laplace(Fraction(1, 240) * m.nullable(m.absolute(), 240), bounds=(0, 100)),
    "days": mdp.laplace(m.dates().within(5)),
    "hours": mdp.laplace(m.dates().within(5), resolution=Fraction(1, 24)),
    "null, days": mdp.laplace(
        Fraction(1, 100) * m.nullable(m.dates(), 100), bounds=(19_000, 20_000 - 940), resolution=1
    ),
    "points": mdp.laplace(m.euclidean(), dim=2),
    "points, whole": mdp.laplace(m.euclidean(), dim=2, resolution=1),
    "letters": mdp.randomized_response("abc", 1),
    "letters or null": mdp.randomized_response(["a", "b", None], 1),
}
NAMES = {"np": np, "pd": pd, "pl": pl, "pa": pa, "dt": dt, "Decimal": Decimal, "Fraction": Fraction}


def said(released):
    """What came back, in the words of the page."""
    if isinstance(released, pd.DataFrame | pl.DataFrame):
        types = released.dtypes
        return f"{type(released).__module__.split('.')[0]} frame of {', '.join(str(dtype) for dtype in types)}"
    if isinstance(released, np.ndarray):
        return f"array {released.dtype}" + (f" of {kinds(released)}" if released.dtype == object else "")
    if isinstance(released, pd.Series):
        return f"Series {released.dtype}" + (f" of {kinds(released)}" if released.dtype == object else "")
    if isinstance(released, pl.Series):
        return f"Polars {released.dtype}"
    if isinstance(released, pa.Array | pa.ChunkedArray):
        return f"{type(released).__name__ if isinstance(released, pa.ChunkedArray) else 'Arrow'} {released.type}"
    if isinstance(released, list):
        return f"list of {kinds(released)}"
    return kinds([released])


def kinds(values):
    """The types of values that are not null."""
    names = {
        f"list of {kinds(value)}" if isinstance(value, list) else type(value).__name__
        for value in values
        if value is not None and value == value
    }
    return " and ".join(sorted(names))


def outcome(mechanism, secrets):
    """What comes back, or the error; where only nulls came back, what comes next."""
    while True:
        try:
            words = said(MECHANISMS[mechanism].release(secrets))
        except MetricDPError as error:
            return type(error).__name__
        if words and not words.endswith("of "):
            return words


def rows():
    heads = None
    for line in PAGE.read_text().splitlines():
        cells = [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if not cells:
            heads = None
        elif heads is None:
            heads = cells
        elif not set(cells[0]) <= set("-: "):
            code = re.fullmatch(r"`(.*)`", cells[0])
            if code is None:
                continue
            for head, cell in zip(heads[1:], cells[1:], strict=True):
                if head in MECHANISMS:
                    yield pytest.param(code[1], head, cell.strip("`"), id=f"{code[1]}-{head}")


@pytest.mark.parametrize(("code", "mechanism", "expected"), list(rows()))
def test_the_table(code, mechanism, expected):
    secrets = eval(code, dict(NAMES))
    for _ in range(5):
        assert outcome(mechanism, secrets) == expected


def test_the_page_has_tables():
    assert len(list(rows())) > 150


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_many_values_are_released_by_all_processors(monkeypatch, workers):
    """As many rows, each with noise of its own, whoever drew it; an error names the first bad row of all."""
    from metricdp.mechanisms import blocks

    monkeypatch.setattr(blocks, "MANY", 1000)
    monkeypatch.setattr(blocks, "processors", lambda: workers)
    secrets = np.arange(300_000.0)
    released = MECHANISMS["finer"].release(secrets)
    assert 3 < np.abs(released - secrets).mean() < 12
    assert len(np.unique(released - secrets)) > 1000
    secrets[[120_000, 250_000]] = np.nan
    with pytest.raises(mdp.errors.NotFiniteError) as caught:
        MECHANISMS["finer"].release(secrets)
    assert caught.value.row == 120_000
    with mdp.exact.tally() as count:
        MECHANISMS["finer"].release(np.zeros(300_000))
    assert count.draws == 300_000


def test_a_seeded_release_of_many_values_has_one_order(monkeypatch):
    from metricdp.mechanisms import blocks

    released = []
    for workers in (1, 4):
        monkeypatch.setattr(blocks, "MANY", 1000)
        monkeypatch.setattr(blocks, "processors", lambda workers=workers: workers)
        with pytest.warns(mdp.errors.NotPrivateWarning), mdp.seeded(5):
            released.append(np.asarray(MECHANISMS["finer"].release(np.zeros(200_000))))
    assert (released[0] == released[1]).all()
