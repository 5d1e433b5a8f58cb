"""Short cuts in planning noise, each forced where there are few records, so that all pairs of them are looked at.

Many groups are planned by what is alike in them, and long columns by few values that stand for all. Here the shortest
questions are planned so, and beside counts and sums there are variances, correlations, slopes, numbers of distinct
values, conditions of single answers, bands, and policies with one epsilon for all columns of a record.
"""

from __future__ import annotations

import functools
import itertools
import math
import re
from decimal import Decimal
from fractions import Fraction

import pyarrow as pa
import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

from metricdp.errors import DataError, MetricDPError
from metricdp.queries.select import stand_ins, totals
from metricdp.queries.select.distinct_values import DistinctValues
from metricdp.queries.workloads import by_group, group_totals
from metricdp.queries.workloads.by_group import GroupNoise
from tests.attacks.effort import attack
from tests.attacks.exact_sums import Sum, least, most
from tests.attacks.questions import Declared, conditions, entry_of, metric_of_numbers, policies, quoted
from tests.attacks.test_questions import Audit, codes_of, summands

MOST_KINDS, MOST_WITH_ANOTHER = 120, 16


class WholeAudit(Audit):
    """The same for sums of products and numbers of distinct values, and where all columns have one epsilon."""

    def read(self, declared):
        super().read(declared)
        name = declared.name
        products = [one for one in self.asking.amounts if one.kind == "product" and name in (one.column, one.second)]
        if products and name not in self.added:
            addend = next(one for one in self.asking.linear.addends if one.column == name)
            good = [k for k, value in enumerate(self.values[name]) if self.taken(addend, declared, value)]
            for found in (self.values, self.cells, self.known):
                found[name] = [found[name][k] for k in good]
            self.distances[name] = [[self.distances[name][i][j] for j in good] for i in good]
            self.added[name] = summands(addend, declared, self.values[name])

    @staticmethod
    def taken(addend, declared, value):
        try:
            summands(addend, declared, [value])
        except DataError:
            return False
        return True

    def promised(self, one, two):
        """The distance of two records: no two are farther apart than one epsilon for all columns says."""
        found, standard = super().promised(one, two), self.policy.policy.standard
        both = one is not None and two is not None
        return least(found, Sum.of_level(standard.between)) if both and standard is not None else found

    def amount(self, amount, kind):
        """What a record adds to a sum of products, and to what is counted or added up beside one."""
        if amount.kind != "product" and amount.beside is None:
            return super().amount(amount, kind)
        if kind is None or self.group(kind) != amount.group:
            return Fraction(0)
        if amount.only is not None and not self.asking.division.only[amount.only][self.cell(kind)]:
            return Fraction(0)
        if not all(self.there(name, kind) for name in amount.known):
            return Fraction(0)
        names = [declared.name for declared in self.columns]
        value = {name: self.added[name][kind[names.index(name)]] for name in amount.known if name in self.added}
        if amount.kind == "count":
            return Fraction(1)
        one = Fraction(value[amount.column]) - amount.centre
        if amount.kind == "sum":
            return one
        return one * (Fraction(value[amount.second]) - amount.second_centre) - amount.shift

    def numbers(self, counted, table):
        """How many cells of a column have a record, for each group of a small table."""
        place = [declared.name for declared in self.columns].index(counted.name)
        codes = self.own_cells[counted.name]
        found = [set() for _ in self.asking.division.labels]
        for kind in table:
            if kind is not None and self.group(kind) >= 0 and codes[kind[place]] != counted.cells.missing_code:
                found[self.group(kind)].add(codes[kind[place]])
        return [len(cells) for cells in found]

    @functools.cached_property
    def own_cells(self):
        """For each column of which distinct values are counted, the cell of each of its values."""
        own = {counted.name: counted.cells for counted in self.asking.distinct.values()}
        return {
            one.name: codes_of(own[one.name], one, self.values[one.name]) for one in self.columns if one.name in own
        }

    def percentile_loss(self):
        """The most that numbers of distinct values tell of two records, whatever a third beside them is."""
        kinds = [*self.kinds, *([None] if self.policy.absent is not None else [])]
        found = {}
        for one, two in itertools.combinations(kinds, 2):
            found[one, two] = Sum()
            for beside in kinds:
                told = Sum()
                for counted in self.asking.distinct.values():
                    pair = (self.numbers(counted, (kind, beside)) for kind in (one, two))
                    for scale, here, there in zip(counted.scales, *pair, strict=True):
                        if here != there:
                            told += Sum(Fraction(abs(here - there)) / scale) if scale else Sum(infinite=True)
                found[one, two] = most(found[one, two], told)
        return found

    def check(self):
        self.kinds = list(itertools.product(*(range(len(self.values[column.name])) for column in self.columns)))
        if len(self.kinds) > (MOST_WITH_ANOTHER if self.asking.distinct else MOST_KINDS):
            reject()
        apart = self.percentile_loss() if self.asking.distinct else {}
        tightest = 0.0
        for pair, told in self.linear_loss().items():
            both, promised = told + apart.get(pair, Sum()), self.promised(*pair)
            assert both <= promised, (*map(self.shown, pair), float(both), float(promised))
            if 0 < float(promised) < math.inf:
                tightest = max(tightest, float(both) / float(promised))
        return tightest


@st.composite
def numbers(draw, name):
    """A column that can be summed, of some values or of many."""
    missing = draw(st.sampled_from([None, None, "none"]))
    level = draw(metric_of_numbers(missing is not None))
    kind = draw(st.sampled_from(["integer", "integer", "number", "category"]))
    if kind == "category":
        values = tuple(sorted(draw(st.sets(st.sampled_from([-5, -1, 0, 1, 2, 7]), min_size=2, max_size=4))))
        entry = entry_of("category", level, values=quoted(values), missing=missing)
        return Declared(name, entry, pa.int64(), (*values, None), None, tuple(map(str, values)), True)
    if kind == "number":
        quarters = tuple(Decimal(k) / 4 for k in range(9))
        entry = entry_of("number", level, bounds=[0, 2], missing=missing)
        return Declared(name, entry, pa.decimal128(12, 2), (*quarters, None), None, ("0", "1", "2"), True)
    low = draw(st.integers(-9, 3))
    high = low + draw(st.sampled_from([1, 2, 5, 9]))
    outside = draw(st.sampled_from([None, None, "clamp"]))
    beyond = 2 if outside else 0
    entry = entry_of("integer", level, bounds=[low, high], missing=missing, outside=outside)
    values = (*range(low - beyond, high + 1 + beyond), None)
    return Declared(name, entry, pa.int64(), values, None, tuple(map(str, (low, low + 1, high))), True)


@st.composite
def structured(draw):
    """A policy of which each column has a level, or all of them have one epsilon; and its columns."""
    if draw(st.booleans()):
        text, columns = draw(policies())
    else:
        columns = tuple(draw(numbers(name)) for name in "xy"[: draw(st.integers(1, 2))])
        size = draw(st.sampled_from(["records = 2", "capacity = 2\nabsent = 0.5"]))
        text = "\n".join(["format = 2", size, "[columns]", *(f"{one.name} = {one.entry}" for one in columns)]) + "\n"
    if draw(st.integers(0, 2)):
        return text, columns
    size = draw(st.sampled_from(['capacity = 2\n%s"add or remove"}', 'records = 2\n%s"replace"}']))
    size = size % f"standard = {{epsilon = {draw(st.sampled_from(['0.5', '1']))}, neighbours = "
    entries = (f"{one.name} = {_without_level(one.entry)}" for one in columns)
    return "\n".join(["format = 2", size, "[columns]", *entries]) + "\n", columns


def _without_level(entry):
    """An entry whose level is that of all columns together."""
    entry = re.sub(r', metric = (\{metric = "matrix".*?\]\]\}|\{.*?\}\}|"[^"]*")', "", entry)
    return re.sub(r", (epsilon|missing_distance) = [0-9./]+", "", entry)


@st.composite
def wide_statements(draw, columns):
    """A question with several aggregates, conditions of their own, groups and bands."""
    able = ["count(*)", "count(*)", *(f"count({what}{one.name})" for one in columns for what in ("", "distinct "))]
    summed = [one.name for one in columns if one.numbers is True]
    able += [f"{what}({name})" for name in summed for what in ("sum", "avg", "stddev", "var_pop")]
    able += [f"{what}({x}, {y})" for x, y in itertools.permutations(summed, 2) for what in ("corr", "regr_slope")]
    able += [f"sum({name}) filter (where {draw(conditions(columns))})" for name in summed]
    able.append(f"count(*) filter (where {draw(conditions(columns))})")
    asked = draw(st.lists(st.sampled_from(able), min_size=1, max_size=4, unique=True))
    band = f"case when {draw(conditions(columns))} then 'p' when {draw(conditions(columns))} then 'q' end"
    groups = draw(st.sampled_from(["", columns[0].name, ", ".join(one.name for one in columns), band]))
    where = f" where {draw(conditions(columns))}" if not draw(st.integers(0, 3)) else ""
    return f"select {', '.join(asked)} from t{where}{f' group by {groups}' if groups else ''}"


@pytest.fixture
def short_cuts(monkeypatch):
    """Few answers are planned as many are, and short columns as long ones are."""
    monkeypatch.setattr(totals, "_MOST_ANSWERS_IN_MATRIX", -1)
    monkeypatch.setattr(stand_ins, "_FEW", 1)


@attack(12)
@given(structured(), st.data())
def test_short_cuts_tell_no_more_than_the_policy_allows(drawn, data):
    text, columns = drawn
    forced = data.draw(st.sampled_from([(-1, 1, 700), (-1, 64, 700), (24, 1, 700), (-1, 1, 0)]))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(totals, "_MOST_ANSWERS_IN_MATRIX", forced[0])
        patched.setattr(stand_ins, "_FEW", forced[1])
        patched.setattr(by_group, "_MOST_SOLVED", forced[2])
        try:
            audit = WholeAudit(text, columns, data.draw(wide_statements(columns)))
            audit.rates()
        except MetricDPError:
            reject()
        audit.check()


LINE = (
    'format = 2\nrecords = 2\n[columns]\nx = {type = "integer", bounds = [-4, 5], missing = "refuse", metric = "%s"}\n'
)
TENS = Declared("x", "", pa.int64(), (*range(-4, 6),), None, (), True)
APART = 'format = 2\nrecords = 2\n[columns]\nx = {type = "category", values = ["a", "b", "c"], missing = "secret", '
APART += 'metric = "0.125 discrete", missing_distance = 8, count_by = {missing = "none"}}\n'
LETTERS = Declared("x", "", pa.string(), ("a", "b", "c", None), None, (), False)


@pytest.mark.parametrize("metric", ["1 discrete", "0.5 absolute"])
@pytest.mark.parametrize("asked", ["var_pop(x), sum(x)", "stddev(x)", "avg(x), count(distinct x)"])
@pytest.mark.usefixtures("short_cuts")
def test_few_values_that_stand_for_all_squares(metric, asked):
    assert WholeAudit(LINE % metric, (TENS,), f"select {asked} from t").check() <= 1


@pytest.mark.usefixtures("short_cuts")
def test_the_audit_finds_squares_that_are_planned_by_their_ends(monkeypatch):
    ends = stand_ins.StandIn
    monkeypatch.setattr(stand_ins, "_tangents", lambda cell, code: [ends(v, code, v) for v in (cell.first, cell.last)])
    with pytest.raises(AssertionError):
        WholeAudit(LINE % "1 discrete", (TENS,), "select var_pop(x) from t").check()


@pytest.mark.usefixtures("short_cuts")
def test_the_audit_finds_groups_that_are_planned_by_two_of_them(monkeypatch):
    audit = WholeAudit(APART, (LETTERS,), "select count(*) from t group by x")
    assert isinstance(audit.asking.linear.allocate(), GroupNoise)
    assert 1 / 1.1 < audit.check() <= 1
    monkeypatch.setattr(group_totals, "_all_pairs", lambda places: places[:, :2])
    with pytest.raises(AssertionError):
        WholeAudit(APART, (LETTERS,), "select count(*) from t group by x").check()


def test_the_audit_finds_distinct_values_with_too_little_noise(monkeypatch):
    question = "select count(distinct x) from t"
    assert WholeAudit(LINE % "0.5 absolute", (TENS,), question).check() == 1
    monkeypatch.setattr(DistinctValues, "nearest", Fraction(1))
    with pytest.raises(AssertionError):
        WholeAudit(LINE % "0.5 absolute", (TENS,), question).check()
