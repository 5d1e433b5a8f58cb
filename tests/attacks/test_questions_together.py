"""Questions that ask for several kinds of numbers at once, parts of a budget, and synthetic tables, audited exactly.

Each kind of number has its share of a column's metric. Here percentiles stand beside counts, sums, variances and
numbers of distinct values, under policies of which each column has a level, or all of them one epsilon.
"""

from __future__ import annotations

import dataclasses
from fractions import Fraction

import pyarrow as pa
import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

from metricdp.errors import MetricDPError
from metricdp.exact.balls import Enclosure
from metricdp.queries.select.asking import Asking
from metricdp.queries.select.division import Shares
from metricdp.queries.synthetic_data.synthesize import plan_marginals
from metricdp.queries.workloads import marginal_noise
from metricdp.queries.workloads.group_totals import Axis
from tests.attacks.effort import attack
from tests.attacks.exact_sums import Sum
from tests.attacks.questions import Declared, conditions
from tests.attacks.ranks import draw_by_rank
from tests.attacks.test_questions import Audit, places_of
from tests.attacks.test_questions_structure import WholeAudit, structured

MOST_KINDS, MOST_DRAWN, MOST_PLACES = 40, 10, 500


class MixedAudit(WholeAudit):
    """What all parts of a question tell together; each at its worst, which is no less than at once."""

    def read(self, declared):
        super().read(declared)
        name = declared.name
        if name in self.drawn and len(self.drawn[name]) != len(self.values[name]):
            part = next(part for part in self.asking.percentiles.values() if part.name == name)
            _, self.drawn[name], good = places_of(part, declared, self.values[name])
            assert len(good) == len(self.values[name])

    def spends(self, scale, by_rank):
        """The same question for a part of the policy's metric."""
        self.asking = dataclasses.replace(self.asking, scale=scale)
        if by_rank:
            draw_by_rank(self.asking)

    def check(self):
        if not self.kinds or len(self.kinds) > (MOST_DRAWN if self.asking.percentiles else MOST_KINDS):
            reject()
        ranks = [part.ranks for part in self.asking.percentiles.values() if part.ranks is not None]
        if any(one.line.places > MOST_PLACES for one in ranks):  # the law of the error bar is enumerated at each place
            reject()
        drawn = Audit.percentile_loss(self) if self.asking.percentiles else {}
        distinct = WholeAudit.percentile_loss(self) if self.asking.distinct else {}
        for pair, linear in self.linear_loss().items():
            told = linear + drawn.get(pair, Sum()) + distinct.get(pair, Sum())
            promised = self.promised(*pair) * self.asking.scale
            assert told <= promised, (*map(self.shown, pair), float(told), float(promised))


@st.composite
def mixed(draw, columns):
    """A question for numbers of several kinds."""
    able = ["count(*)", *(f"count(distinct {one.name})" for one in columns)]
    for one in columns:
        if one.numbers:
            able += [f"{what}({one.name})" for what in ("median", "min", "max")]
            able += [f"percentile({one.name}, {share})" for share in ("0.25", "0.9")]
        if one.numbers is True:
            able += [f"{what}({one.name})" for what in ("sum", "avg", "var_pop")]
    asked = draw(st.lists(st.sampled_from(able), min_size=2, max_size=4, unique=True))
    names = [one.name for one in columns]
    groups = draw(st.sampled_from(["", "", f" group by {names[-1]}", f" group by rollup({names[-1]})"]))
    where = f" where {draw(conditions(columns))}" if not draw(st.integers(0, 3)) else ""
    return f"select {', '.join(asked)} from t{where}{groups}"


@attack(12)
@given(structured(), st.data())
def test_kinds_of_numbers_share_the_metric(drawn, data):
    text, columns = drawn
    question = data.draw(mixed(columns))
    try:
        audit = MixedAudit(text, columns, question)
        audit.spends(data.draw(st.sampled_from([Fraction(1), Fraction(1), Fraction(1, 3)])), data.draw(st.booleans()))
        audit.rates()
        _ = audit.asking.joint
    except MetricDPError:
        reject()
    audit.check()


TENS = Declared("x", "", pa.int64(), (0, 4, 5, 9), None, (), True)
LINE = 'format = 2\nrecords = 2\n[columns]\nx = {type = "integer", bounds = [0, 9], metric = "1 discrete", missing = '
LINE += '"refuse"}\n'
MIXED = "select median(x), sum(x), count(distinct x), percentile(x, 0.9) from t"


def test_the_audit_finds_parts_that_spend_the_metric_of_others(monkeypatch):
    MixedAudit(LINE, (TENS,), MIXED).check()
    every = lambda self, part: Shares(dict.fromkeys(self._uses[part], self.scale), self.scale)  # noqa: E731
    monkeypatch.setattr(Asking, "shares", every)
    with pytest.raises(AssertionError):
        MixedAudit(LINE, (TENS,), MIXED).check()


# Synthetic tables


def told_by_marginals(audit, marginals):
    """For each two records, what the noisy counts of all marginals tell."""
    names = [one.name for one in audit.columns]
    asked = [tuple(place for place in one if place < len(names)) for one in marginals]
    noise, _ = plan_marginals(audit.policy, names, [one for one in dict.fromkeys(asked) if one])
    kinds = [*audit.kinds, *([None] if audit.policy.absent is not None else [])]

    def cell(kind, chosen):
        return None if kind is None else tuple(audit.cells[names[axis]][kind[axis]] for axis in chosen)

    for place, one in enumerate(kinds):
        for two in kinds[place + 1 :]:
            told = Sum()
            for chosen, scale in zip(noise.sets, noise.scales, strict=True):
                here, there = cell(one, chosen), cell(two, chosen)
                changed = 0 if here == there else 1 if None in (one, two) else 2
                if changed:
                    told += Sum(changed / Fraction(scale)) if scale else Sum(infinite=True)
            yield one, two, told


@attack(24)
@given(structured(), st.sampled_from([[(0,), (1,)], [(0, 1)], [(0,), (0, 1)], [(0,), (1,), (0, 1)]]))
def test_marginals_tell_no_more_than_the_policy_allows(drawn, marginals):
    text, columns = drawn
    names = ", ".join(one.name for one in columns)
    try:
        audit = WholeAudit(text, columns, f"select count(*) from t group by {names}")
        found = list(told_by_marginals(audit, marginals))
    except MetricDPError:
        reject()
    for one, two, told in found:
        promised = audit.promised(one, two)
        assert told <= promised, (audit.shown(one), audit.shown(two), float(told), float(promised))


def test_the_audit_finds_marginals_with_too_little_noise(monkeypatch):
    audit = WholeAudit(LINE, (TENS,), "select count(*) from t group by x")
    assert all(told <= audit.promised(one, two) for one, two, told in told_by_marginals(audit, [(0,)]))
    shortest = marginal_noise._shortest(audit_axis(audit))
    longer = Enclosure(Fraction(shortest.lower) * 11 / 10, Fraction(shortest.upper) * 11 / 10)
    monkeypatch.setattr(marginal_noise, "_shortest", lambda axis: longer)
    assert any(not told <= audit.promised(one, two) for one, two, told in told_by_marginals(audit, [(0,)]))


def audit_axis(audit):
    """The one column of a policy as marginals have it."""
    column = audit.policy.column("x")
    return Axis(column.points, audit.policy.metric("x"))
