"""How often error bars hold the truth: 60 questions of an analyst, each answered many times.

    python benchmarks/answers.py --coverage 1000

The table is read and the noise is shared out once for each question; every repeat draws all noise anew. A row for each
thing that a question shows: how often the truth lay within the error bar, over all its groups, and the bar's median.
"""

from __future__ import annotations

import dataclasses
import math
import statistics
import time
from collections import defaultdict
from typing import Any

from analyst_questions import DATA, questions

from metricdp.errors import MetricDPError
from metricdp.exact.progress import Stopwatch
from metricdp.policies import Policy
from metricdp.queries.select.asking import Asking
from metricdp.queries.select.averages import Noisy
from metricdp.queries.select.shown_answers import shown_answers
from metricdp.queries.select.table_answers import TableAnswer

__all__ = ["coverage", "print_coverage"]

LOWEST, HIGHEST = 0.93, 0.97


def keep(asking: Asking, frame: Any) -> None:
    """Read the table once and share out the noise once: only the draws are repeated."""
    if asking.linear is not None:
        truth, allocation = asking.linear.truth(frame, None), asking.linear.allocate()
        vars(asking.linear).update(truth=lambda *_: truth, allocate=lambda *_: allocation)
    for part in asking.percentiles.values():
        tallies = part.tallies(frame, None)
        vars(part).update(tallies=lambda *_, tallies=tallies: tallies)
    for counted in asking.distinct.values():
        numbers = counted.truth(frame, None)
        vars(counted).update(truth=lambda *_, numbers=numbers: numbers)


def true_answers(asking: Asking) -> dict[tuple[str, ...], list[float]]:
    """What a question shows of each group where there is no noise; call `keep` before."""
    if asking.linear is None:
        known = dict.fromkeys(asking.amounts, Noisy(float(asking.policy.most), None))
    else:
        truths = asking.linear.truth(None, None)
        known = {amount: Noisy(float(truth), None) for amount, truth in zip(asking.amounts, truths, strict=True)}
    columns = []
    for one in asking.select.aggregates:
        if one.kind == "percentile":
            exact = asking.percentiles[one.name].truth(None, None)
            columns.append([TableAnswer(float(number), 0.0) for number in exact])
        elif one.kind == "distinct":
            columns.append([TableAnswer(number, 0.0) for number in asking.distinct[one.name].truth(None, None)])
        else:
            needed = [asking.amounts_of(one, group) for group in range(len(asking.division.labels))]
            columns.append([asking.computed(one, own, [known[amount] for amount in own]) for own in needed])
    rows = tuple(zip(*columns, strict=True))
    whole = shown_answers(_of_all_groups(asking), rows, (), asking.columns, None, 0.95, True)
    return {labels: [float(one.value) for one in row] for labels, row in zip(whole.groups, whole.found, strict=True)}


def _of_all_groups(asking: Asking) -> Asking:
    """The question without what leaves groups out: which are shown depends on the noise."""
    kept = dataclasses.replace(asking.select.kept, having=None, order=(), limit=None, offset=0)
    return dataclasses.replace(asking, select=dataclasses.replace(asking.select, kept=kept))


def coverage(question: str, repeats: int) -> list[tuple[str, float, int, float]]:
    """For each thing shown: its name, how often its bar held, of how many answers, and the median of the bars."""
    import pandas as pd

    asking = Asking.of(question, Policy.load(DATA / "health_insurance.toml").askable)
    frame = pd.read_csv(DATA / "health_insurance.csv")
    keep(asking, frame)
    truths = true_answers(asking)
    held: dict[str, int] = defaultdict(int)
    bars: dict[str, list[float]] = defaultdict(list)
    for _ in range(repeats):
        answers = asking._answer(frame, None, Stopwatch(None, None))
        for labels, row in zip(answers.groups, answers.found, strict=True):
            for name, one, truth in zip(answers.names, row, truths[labels], strict=True):
                held[name] += abs(float(one.value) - truth) <= one.error_bar * (1 + 1e-9) + 1e-9
                bars[name].append(one.error_bar)
    return [(name, held[name] / len(own), len(own), statistics.median(own)) for name, own in bars.items()]


def print_coverage(repeats: int) -> None:
    """A row for each thing that one of the questions shows."""
    outside = refused = 0
    for number, question in enumerate(questions(), 1):
        began = time.process_time()
        try:
            found = coverage(question, repeats)
        except MetricDPError as error:
            refused += 1
            print(f"{number:3} {question}\n      refused: {error}")
            continue
        print(f"{number:3} {question}   ({time.process_time() - began:.1f} s)")
        for name, held, of, bar in found:
            unsure = 2 * math.sqrt(0.05 * 0.95 / of)
            beyond = held < LOWEST - unsure or held > HIGHEST + unsure
            outside += beyond and bar > 0
            mark = " exact" if not bar else " !" if beyond else ""
            print(f"      {name[:60]:60} {held:7.1%} of {of:,}, ± {bar:.4g}{mark}", flush=True)
    print(f"{refused} refused; {outside} beyond {LOWEST:.0%} to {HIGHEST:.0%} by more than chance")
