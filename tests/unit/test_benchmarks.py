"""Benchmarks that use what is inside the package: they have to go on running when it changes."""

import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture
def answer_coverage(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import answer_coverage

    yield answer_coverage
    for name in ("answer_coverage", "analyst_questions"):
        sys.modules.pop(name, None)


@pytest.mark.parametrize(
    "question",
    [
        "select count(*) from people",
        "select sex, count(*) as n, avg(age) from people group by sex having count(*) > 10 order by n desc limit 1",
        "select median(age), sum(income) / count(*) from people",
    ],
)
def test_how_often_error_bars_hold_is_counted(answer_coverage, question):
    found = answer_coverage.coverage(question, 20)
    assert found
    for _, held, of, bar in found:
        assert of == 20 or "group by" in question
        assert held > 0.5
        assert bar >= 0
