"""Intervals hold the truth as often as they say: few repeats here; ``make coverage`` makes the table of many."""

import pytest

from tests.statistical.coverage_cases import PAGE, POLICY, QUESTIONS, SIZES, least_hits, repeat

QUICK = (
    "mean of clamped numbers",
    "mean, nulls secret",
    "count of a category",
    "count in a taxonomy",
    "count by two noisy columns",
    "means by noisy groups",
    "slope",
    "elements of sets",
)
COLUMNS = [name for name in POLICY["columns"] if name not in ("born", "took", "shift", "risk", "load", "site")]


@pytest.mark.long
def test_few_repeats_hold_the_truth_often_enough():
    tried, held = dict.fromkeys(QUICK, 0), dict.fromkeys(QUICK, 0)
    for seed in range(40):
        for name, (inside, _) in repeat(seed, 1000, QUICK, COLUMNS).items():
            tried[name] += len(inside)
            held[name] += sum(inside)
    missed = {name: (held[name], tried[name]) for name in QUICK if held[name] < least_hits(tried[name], len(QUICK))}
    assert not missed


def test_the_page_has_every_question_at_every_size():
    lines = {line.split("|")[1].strip(): line for line in PAGE.read_text(encoding="utf-8").splitlines() if "|" in line}
    for name in QUESTIONS:
        assert lines[name].count("% of ") == len(SIZES), f"make coverage, for {name} is not in docs/coverage.md"
