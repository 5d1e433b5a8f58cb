"""Random policies, tables and SQL: what the whole vector of answers tells of any two neighbouring tables, exactly.

The noise of every answer is independent of the others'. Laplace noise of scale c, rounded or not, tells two truths Δ
apart by exactly Δ/c, at answers beyond both; truncated geometric noise of level a by exactly a Δ, at its ends. So what
all answers tell of two tables is the sum of these, and must not exceed what the policy says: the sum over the columns
that the answers depend on, by way of an absent record where that is nearer.
"""

from __future__ import annotations

import csv
import dataclasses
import datetime as dt
import functools
import io
import itertools
import math
import tempfile
from collections import Counter
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

import metricdp as mdp
from metricdp.errors import ArgumentError, DataError, MetricDPError
from metricdp.exact.level import Level
from metricdp.metrics.finite import Listed
from metricdp.policies import Policy
from metricdp.policies.cells.ordered import IntegerCells
from metricdp.policies.sql.public_tables import public_tables
from metricdp.queries.select.asking import Asking, ask
from metricdp.queries.select.joint_ranks import JointRanks
from metricdp.queries.select.single_number import single
from metricdp.queries.select.value_line import LineTally
from metricdp.queries.universes.engines.codes import Coded
from metricdp.queries.universes.engines.grouping import needed
from metricdp.queries.universes.engines.steps import ValueSteps
from metricdp.queries.universes.summing import counts_and_totals
from metricdp.queries.universes.universe import Universe
from metricdp.queries.workloads.allocate import allocate
from metricdp.queries.workloads.workload import Workload
from metricdp.sources import open_sql
from tests.attacks.effort import attack
from tests.attacks.exact_sums import Sum, least, most
from tests.attacks.questions import Declared, joined, measured, policies, quartered, statements
from tests.attacks.ranks import draw_by_rank, draw_together, tally_of, told, told_together

MOST_KINDS = 150
MOST_DRAWN = 20
REACH: Counter[str] = Counter()


def codes_of(column, declared: Declared, values):
    """The place of each value's cell as the engine finds it; negative where the table would be refused."""
    table = pa.table({column.name: declared.arrow(list(values)), "id": np.arange(len(values))})
    with open_sql(table, needed(Universe([column]), {"id": "int64"})) as found:
        coded = Coded.of(found, [column])
        read = found.read(f"select source.id as id, {coded.codes[0]} as code from {coded.rows} order by source.id")
    return list(read["code"])


def places_of(part, declared, values):
    """The values that the engine takes, their places on the line, None where missing, and which they are."""
    good, places = [], []
    for k, value in enumerate(values):
        table = pa.table({declared.name: declared.arrow([value])})
        try:
            found = LineTally.read(table, part.line, [], part.policy, None)
        except DataError:
            continue
        good.append(k)
        places.append(int(found.places[0]) if len(found.places) else None)
    return [values[k] for k in good], places, good


def summands(addend, declared: Declared, values):
    """What each value adds to a sum, as the engine has it; None where it is missing."""
    table = pa.table({declared.name: declared.arrow(list(values)), "id": np.arange(len(values))})
    universe = Universe([IntegerCells("id", (0, len(values)))])
    found = counts_and_totals(table, universe, [dataclasses.replace(addend, missing="skip")])[1][declared.name]
    return [None if value is None else added for value, added in zip(values, found.sums, strict=False)]


def days_from(bounds, values):
    """How many days after the first each of these is, a moment being of its day; None where it is missing."""
    days = [value.date() if isinstance(value, dt.datetime) else value for value in values]
    return [None if day is None else (min(max(day, bounds[0]), bounds[1]) - bounds[0]).days for day in days]


class Audit:
    """A question under a policy, and every record that a table can hold."""

    def __init__(self, text, columns, question, by_rank=False, together=False, public=None):
        self.policy = Policy.parse(text).askable
        self.asking = Asking.of(question, self.policy, public=public_tables(public))
        if together:
            draw_together(self.asking)
        elif by_rank:
            draw_by_rank(self.asking)
        self.columns = [column for column in columns if column.name in self.asking.columns]
        self.values, self.cells, self.known, self.added, self.distances = {}, {}, {}, {}, {}
        self.drawn = {}
        for declared in self.columns:
            self.read(declared)
        self.kinds = list(itertools.product(*(range(len(self.values[column.name])) for column in self.columns)))

    def read(self, declared):
        name, asking = declared.name, self.asking
        own = self.policy.column(name)
        whole = [column for column in asking.division.columns if column.name == name] or [own]
        codes = codes_of(whole[0], declared, declared.values)
        also = codes_of(own, declared, declared.values)
        kept = [k for k, (one, two) in enumerate(zip(codes, also, strict=True)) if one >= 0 and two >= 0]
        summed = any(amount.column == name and amount.kind == "sum" for amount in asking.amounts)
        drawn = any(part.name == name for part in asking.percentiles.values())
        values = [declared.values[k] for k in kept]
        counted = declared.numbers == "days"
        if summed and not counted:
            addend = next(addend for addend in asking.linear.addends if addend.column == name)
            kept, values = self.summable(addend, declared, kept)
        self.values[name] = values
        self.cells[name] = [codes[k] for k in kept]
        self.known[name] = [also[k] != own.missing_code for k in kept]
        if drawn:
            part = next(part for part in asking.percentiles.values() if part.name == name)
            self.values[name], self.drawn[name], good = places_of(part, declared, values)
            kept = [kept[k] for k in good]
            self.cells[name] = [codes[k] for k in kept]
            self.known[name] = [also[k] != own.missing_code for k in kept]
            values = self.values[name]
        if summed:
            self.added[name] = days_from(own.bounds, values) if counted else summands(addend, declared, values)
        metric = self.policy.metric(name)
        names = listed_names(metric)
        seen = [measured(declared, value, names) for value in values]
        self.distances[name] = [[Sum.of_distance(metric, one, two) for two in seen] for one in seen]

    def summable(self, addend, declared, kept):
        """Without what no sum takes: of floats, those with a fraction, or that are no multiples of the resolution."""
        values = []
        for k in kept:
            try:
                summands(addend, declared, [declared.values[k]])
            except DataError:
                assert isinstance(declared.values[k], float)
                assert declared.values[k] % 1
                continue
            values.append((k, declared.values[k]))
        return [k for k, _ in values], [v for _, v in values]

    # What is promised

    def promised(self, one, two):
        """The distance of two records, each None where it is absent."""
        absent = None if self.policy.absent is None else Sum.of_level(self.policy.absent)
        if one is None or two is None:
            return Sum() if one is two else absent
        parts = [self.distances[column.name][i][j] for column, i, j in zip(self.columns, one, two, strict=True)]
        whole = functools.reduce(Sum.__add__, parts, Sum())
        return whole if absent is None else least(whole, absent * 2)

    # What is told

    def group(self, kind):
        """The group of a record; -1 where the condition leaves it out."""
        return int(self.asking.division.group[self.cell(kind)])

    def cell(self, kind):
        """The place of a record's cell in the division."""
        division = self.asking.division
        if not division.columns:
            return 0
        names = [column.name for column in self.columns]
        places = [self.cells[column.name][kind[names.index(column.name)]] for column in division.columns]
        return int(np.ravel_multi_index(tuple(places), division.shape))

    def there(self, column, kind):
        """Whether a record is counted as having a value in a column."""
        names = [declared.name for declared in self.columns]
        return self.known[column][kind[names.index(column)]]

    def amount(self, amount, kind):
        """What a record adds to a linear query."""
        if kind is None or self.group(kind) != amount.group:
            return Fraction(0)
        if amount.only is not None and not self.asking.division.only[amount.only][self.cell(kind)]:
            return Fraction(0)
        weight = Fraction(1)
        if amount.weights is not None:
            names = [declared.name for declared in self.columns]
            own = self.cells[amount.weights.column][kind[names.index(amount.weights.column)]]
            weight = amount.weights.values[own]
        if amount.column is None:
            return weight - amount.centre if amount.kind == "sum" else Fraction(1)
        if not self.there(amount.column, kind):
            return Fraction(0)
        if amount.kind == "count":
            return Fraction(1)
        names = [declared.name for declared in self.columns]
        value = Fraction(self.added[amount.column][kind[names.index(amount.column)]])
        return value * weight if amount.weights is not None else value - amount.centre

    def rates(self):
        """For each linear query how much it tells for each unit; None where it has no noise."""
        linear = self.asking.linear
        if linear is None:
            return [None] * len(self.asking.amounts)
        allocation = linear.allocate()
        alone = single(linear, allocation)
        rates = [Sum(1 / Fraction(scale)) if scale else None for scale in allocation.scales]
        if alone is not None and alone.plan.mechanism is not None:
            rates[alone.place] = Sum.of_level(alone.plan.mechanism.metric.level)
        return rates

    def linear_loss(self):
        """What the linear queries tell of two records, whatever the others are."""
        rates = self.rates()
        kinds = [*self.kinds, *([None] if self.policy.absent is not None else [])]
        rows = [[self.amount(amount, kind) for amount in self.asking.amounts] for kind in kinds]
        known = {}
        for (one, here), (two, there) in itertools.combinations(zip(kinds, rows, strict=True), 2):
            told = Sum()
            for rate, x, y in zip(rates, here, there, strict=True):
                if x != y:
                    told += Sum(infinite=True) if rate is None else rate * abs(x - y)
            known[one, two] = told
        return known

    def percentile(self, part, table):
        """The values of each group of a small table, as places on the line."""
        names = [declared.name for declared in self.columns]
        place = names.index(part.name)
        found = [[] for _ in self.asking.division.labels]
        for kind in table:
            if kind is not None and self.group(kind) >= 0 and self.drawn[part.name][kind[place]] is not None:
                found[self.group(kind)].append(self.drawn[part.name][kind[place]])
        return [tally_of(values) for values in found]

    def percentile_loss(self):
        """For two records and any third beside them, the most that all percentiles tell."""
        joint = self.asking.joint
        drawn = {name for together in joint for name in together.named}
        alone = [part for name, part in self.asking.percentiles.items() if name not in drawn]
        firsts = [next(iter(together.named.values())) for together in joint]
        parts = [*alone, *firsts]
        kinds = [*self.kinds, *([None] if self.policy.absent is not None else [])]
        answers = {
            table: [self.percentile(part, table) for part in parts]
            for table in itertools.combinations_with_replacement(range(len(kinds)), 2)
            for table in [tuple(kinds[k] for k in table)]
        }
        place = {kind: k for k, kind in enumerate(kinds)}
        largest = {}
        for one, two in itertools.combinations(kinds, 2):
            worst = Sum()
            for beside in kinds:
                here, there = (answers[tuple(sorted((kind, beside), key=place.__getitem__))] for kind in (one, two))
                both = Sum()
                for k, (part, x, y) in enumerate(zip(parts, here, there, strict=True)):
                    both += told(part, x, y) if k < len(alone) else told_together(joint[k - len(alone)], x, y)
                worst = most(worst, both)
                REACH["pairs"] += 1
            largest[one, two] = worst
        return largest

    def agrees(self, kinds):
        """Whether the table of these records has the answers that are counted with here."""
        names = [declared.name for declared in self.columns]
        table = pa.table(
            {
                declared.name: declared.arrow([self.values[declared.name][kind[k]] for kind in kinds])
                for k, declared in enumerate(self.columns)
            }
            or {"nobody": [0] * len(kinds)}
        )
        linear = self.asking.linear
        if linear is not None:
            wanted = [sum((self.amount(amount, kind) for kind in kinds), Fraction(0)) for amount in linear.amounts]
            assert linear.truth(table, None) == wanted, (names, table.to_pylist())
        for part in self.asking.percentiles.values():
            wanted = [(one.values.tolist(), one.counts.tolist()) for one in self.percentile(part, kinds)]
            found = [(one.values.tolist(), one.counts.tolist()) for one in part.tallies(table, None)]
            assert found == wanted, table.to_pylist()

    def check(self):
        """Raise where two neighbouring tables are told apart beyond what is promised; the tightest part of it."""
        linear = self.linear_loss()
        drawn = self.percentile_loss() if self.asking.percentiles else {}
        if not drawn:
            REACH["pairs"] += len(linear)
        tightest = 0.0
        for (one, two), added in linear.items():
            both = added + drawn.get((one, two), Sum())
            promised = self.promised(one, two)
            assert both <= promised, (self.shown(one), self.shown(two), float(both), float(promised))
            if 0 < float(promised) < math.inf:
                tightest = max(tightest, float(both) / float(promised))
        return tightest

    def shown(self, kind):
        """A record by its values."""
        return kind and [self.values[column.name][k] for column, k in zip(self.columns, kind, strict=True)]


def listed_names(metric):
    """The names that a metric lists; None where it measures anything."""
    unit = metric.unit
    return {*unit.listed} if isinstance(unit, Listed) else None


@attack(60)
@given(policies(), st.data())
def test_no_two_neighbouring_tables_are_told_apart_beyond_the_policy(drawn, data):
    """Over all random questions: nothing is told beyond the promise, and counts and sums tell all that is allowed."""
    text, columns = drawn
    question = data.draw(statements(columns))
    try:
        audit = Audit(text, columns, question, data.draw(st.booleans()))
    except MetricDPError:
        REACH["refused"] += 1
        reject()
    if not audit.kinds or len(audit.kinds) > (MOST_DRAWN if audit.asking.percentiles else MOST_KINDS):
        reject()
    REACH["questions"] += 1
    tightest = audit.check()
    if data.draw(st.integers(0, 3)) == 0:
        audit.agrees([data.draw(st.sampled_from(audit.kinds)) for _ in range(2)])
    noisy = any(rate is not None for rate in audit.rates())
    if noisy and not audit.asking.percentiles:
        assert tightest * 1.1 > 1, "at a tenth less noise nothing would be found"


@attack(25)
@given(quartered())
def test_percentiles_drawn_together_tell_no_more_than_the_policy_allows(drawn):
    """Answers and error bars of all of them, given the exact law of every combination."""
    text, columns, question = drawn
    try:
        audit = Audit(text, columns, question, together=True)
    except MetricDPError:
        reject()
    if not audit.asking.joint or not audit.kinds or len(audit.kinds) > MOST_DRAWN:
        reject()
    REACH["drawn together"] += 1
    audit.check()


def test_the_audit_finds_percentiles_drawn_together_at_a_rate_that_is_too_high(monkeypatch):
    text = 'format = 2\nrecords = 2\n[columns]\nx = {type = "integer", missing = "refuse", bounds = [0, 9], '
    declared = Declared("x", "", pa.int64(), (0, 4, 5, 9), None, (), True)
    question = "select percentile(x, 0.25), median(x), percentile(x, 0.75) from t"
    line = text + 'metric = "2 discrete"}\n'
    assert Audit(line, (declared,), question, together=True).check() <= 1
    rates = JointRanks.rates.func
    monkeypatch.setattr(JointRanks, "rates", property(lambda self: tuple(4 * rate for rate in rates(self))))
    with pytest.raises(AssertionError):
        Audit(line, (declared,), question, together=True).check()


@attack(40)
@given(policies(), st.data())
def test_functions_and_public_tables_tell_no_more_than_the_column_does(drawn, data):
    """What is grouped by, compared or added up is a function of a record's cell; counts and sums tell all of it."""
    text, columns = drawn
    public, question = data.draw(joined(columns))
    try:
        audit = Audit(text, columns, question, data.draw(st.booleans()), public=public)
    except MetricDPError:
        REACH["joins refused"] += 1
        reject()
    if not audit.kinds or len(audit.kinds) > (MOST_DRAWN if audit.asking.percentiles else MOST_KINDS):
        reject()
    REACH["joins"] += 1
    tightest = audit.check()
    audit.agrees([data.draw(st.sampled_from(audit.kinds)) for _ in range(2)])
    noisy = any(rate is not None for rate in audit.rates())
    if noisy and not audit.asking.percentiles:
        assert tightest * 1.1 > 1, "at a tenth less noise nothing would be found"


def test_many_groups_of_values_that_are_alike_but_for_missing_ones():
    """More answers than are written out one by one: any two values are looked at, and each of them with none."""
    level = 'metric = "0.125 discrete", missing_distance = 1, missing = "secret", values = [0, 1, 2, 3]'
    entry = '{type = "category", %s, count_by = {missing = "none"}}'
    text = f"format = 2\nrecords = 2\n[columns]\nx = {entry % level}\ny = {entry % level.replace('0.125', '0.5')}\n"
    columns = [Declared(name, "", pa.int64(), (0, 1, 2, 3, None), None, (), True) for name in "xy"]
    assert 1 / 1.1 < Audit(text, columns, "select count(*) from t group by x, y").check() <= 1


def test_a_cell_that_missing_values_share_is_planned_for_itself():
    """It is nearer to the others than they are to each other, so that no other stands for it."""
    text = 'format = 2\nrecords = 2\n[columns]\nx = {type = "category", values = ["a", "b", "c"], epsilon = 0.5, '
    text += 'missing = "secret", missing_distance = 0.5, count_by = {missing = "c"}}\n'
    declared = Declared("x", "", pa.string(), ("a", "b", "c", None), None, (), False)
    public = {"r": {"k": ["a"], "n": [1]}}
    audit = Audit(text, (declared,), "select count(*) from t join r on t.x = r.k", public=public)
    assert 1 / 1.1 < audit.check() <= 1


@pytest.mark.parametrize("level", ["ln 2", "ln 3/2", "1/3"])
@pytest.mark.parametrize("asked", ["median(x)", "count(*), min(x)"])
def test_percentiles_tell_all_that_is_allowed_and_nothing_beyond(level, asked):
    """What is told equals the promise: a comparison of enclosures could not tell that from a leak."""
    text = f'format = 2\nrecords = 2\n[columns]\nx = {{type = "integer", metric = "{level} absolute", '
    declared = Declared("x", "", pa.int64(), (*range(-1, 5),), None, (), True)
    audit = Audit(text + 'missing = "refuse", bounds = [-1, 4]}\n', (declared,), f"select {asked} from t")
    assert audit.check() == pytest.approx(1)
    audit.percentile_loss = lambda: {pair: told + Sum(Fraction(1, 10**40)) for pair, told in known.items()}
    known = Audit.percentile_loss(audit)
    with pytest.raises(AssertionError):
        audit.check()


NEAR = (0.0, 1.2e-7, 0.25, 0.5 - 1.2e-7, 0.3, 2.0 - 1.2e-7, 2.0, 2.0000001, -0.1)
STEPPED = 'x = {type = "number", bounds = [0, 2], resolution = 0.25, missing = "refuse", %s}\n'


@pytest.mark.parametrize("level", ["1/3 absolute", "ln 2 absolute", "0.5 discrete"])
@pytest.mark.parametrize("size", ["records = 2", "capacity = 2\nabsent = 0.4"])
@pytest.mark.parametrize("outside", ["", ', outside = "clamp"'])
@pytest.mark.parametrize("asked", ["sum(x)", "avg(x), count(*)"])
def test_sums_of_floats_in_steps_tell_all_that_is_allowed_and_nothing_beyond(level, size, outside, asked):
    """Floats beside a multiple of the resolution are taken for it, and come as much further apart as is left for."""
    declared = Declared("x", "", pa.float64(), NEAR, None, (), True)
    column = STEPPED % f'metric = "{level}"{outside}'
    audit = Audit(f"format = 2\n{size}\n[columns]\n{column}", (declared,), f"select {asked} from t")
    assert (0.3 in audit.values["x"]) == ("discrete" in level)
    assert 0.99999 < audit.check() <= 1
    audit.agrees(audit.kinds[:2])


def test_the_audit_finds_sums_in_steps_without_what_is_left_for_the_nearest(monkeypatch):
    monkeypatch.setattr(ValueSteps, "kept", Fraction(1))
    declared = Declared("x", "", pa.float64(), NEAR, None, (), True)
    column = STEPPED % 'metric = "1/3 absolute"'
    audit = Audit(f"format = 2\nrecords = 2\n[columns]\n{column}", (declared,), "select sum(x) from t")
    with pytest.raises(AssertionError):
        audit.check()


def test_sums_of_logarithms_are_compared_exactly():
    half, two, six = (Sum.of_level(Level.parse(text)) for text in ("ln 2/2", "ln 4", "ln 6"))
    assert half * 4 <= two
    assert two <= half * 4
    assert six <= half * 2 + Sum.of_log(Fraction(1), Fraction(3))
    assert not six + Sum(Fraction(1, 10**60)) <= half * 2 + Sum.of_log(Fraction(1), Fraction(3))
    assert not Sum(infinite=True) <= six
    assert six <= Sum(infinite=True)


ROOMS = Declared("rooms", "", pa.int64(), (*range(12),), "10", (), True)
TENS = Declared("v", "", pa.int64(), (*range(0, 101, 10), None), None, (), True)
HALVES = Declared("age", "", pa.float64(), (38.0, 39.0, 39.5, 40.0, 41.0, -1.0), "rest", (), True)
WORDS = Declared("w", "", pa.string(), ("a", "b", "z", None), "b", (), False)
BEYOND = Declared("v", "", pa.int64(), (0, 1, 2, 3), None, (), True)
LISTED = 'metric = {metric = "matrix", points = %s, distances = %s}'
FOUR = LISTED % ("[0, 1, 2, 3]", [[0, 9, 9, 1], [9, 0, 9, 9], [9, 9, 0, 9], [1, 9, 9, 0]])
CASES = {
    "other names a number under a distance": (
        ROOMS,
        'rooms = {type = "category", values = [1, 2, 3, 4, 10], metric = "ln 2/2 absolute", missing = "refuse", '
        'count_by = {other = "10"}}',
        "select count(*) from homes group by rooms",
    ),
    "missing names a number": (
        TENS,
        f'v = {{type = "category", values = {[*range(0, 101, 10)]}, metric = "1/10 absolute", missing = "secret", '
        'missing_distance = 200, count_by = {missing = "0"}}',
        "select avg(v) from t",
    ),
    "missing names a number, counted": (
        TENS,
        f'v = {{type = "category", values = {[*range(0, 101, 10)]}, metric = "1/10 absolute", missing = "secret", '
        'missing_distance = 10, count_by = {missing = "0"}}',
        "select count(*) from t group by v",
    ),
    "what is not whole goes to other": (
        HALVES,
        'age = {type = "integer", bounds = [0, 60], epsilon = 1, missing = "refuse", '
        'count_by = {edges = [39, 40], other = "rest"}}',
        "select count(*) from t group by age",
    ),
    "other names a word, and the metric knows more": (
        WORDS,
        'w = {type = "category", values = ["a", "b"], missing = "refuse", count_by = {other = "b"}, '
        + LISTED % ('["a", "b", "z"]', [[0, 9, 1], [9, 0, 9], [1, 9, 0]])
        + "}",
        "select count(*) from t where w = 'a'",
    ),
    "missing names a word": (
        WORDS,
        'w = {type = "category", values = ["a", "b"], epsilon = 4, missing = "secret", missing_distance = 0.5, '
        'count_by = {other = "b", missing = "b"}}',
        "select count(*) from t group by w",
    ),
    "missing and other share a cell": (
        WORDS,
        'w = {type = "category", values = ["a"], epsilon = 0.5, missing = "secret", missing_distance = 10, '
        'count_by = {other = "rest", missing = "rest"}}',
        "select count(*) from t group by w",
    ),
    "clamped under a list that goes on": (
        BEYOND,
        f'v = {{type = "integer", bounds = [0, 2], outside = "clamp", missing = "refuse", {FOUR}}}',
        "select sum(v) from t",
    ),
    "bands under a list of values": (
        BEYOND,
        f'v = {{type = "integer", bounds = [0, 3], missing = "refuse", count_by = [2], {FOUR}}}',
        "select count(*) from t group by v",
    ),
    "missing is false": (
        Declared("b", "", pa.bool_(), (True, False, None), None, (), False),
        'b = {type = "boolean", epsilon = 1, missing = "secret", missing_distance = 0.5, '
        'count_by = {missing = "false"}}',
        "select count(*) from t where b = true",
    ),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("size", ["records = 2", "capacity = 2\nabsent = 40"])
def test_a_cell_that_stands_for_more_than_its_own_value(case, size):
    """It is as far from others as the nearest of its values, or refused before a table is read."""
    declared, column, question = CASES[case]
    try:
        audit = Audit(f"format = 2\n{size}\n[columns]\n{column}\n", (declared,), question)
    except MetricDPError:
        return
    audit.check()


# How tables come in

FIELDS = st.sampled_from(["a", "b", "", "a b", "a,b", 'a"b', "a\nb", '"', "é", " "])
SHARP = 'format = 2\ncapacity = 99\nabsent = 1000000\n[columns]\nw = {type = "category", values = ["a", "b"], '
SHARP += 'epsilon = 1000000, count_by = {other = "rest", missing = "none"}}\n'


@attack(15)
@given(st.lists(st.tuples(FIELDS, FIELDS), min_size=1, max_size=5), st.lists(st.integers(0, 99), max_size=2), st.data())
def test_a_stray_quote_never_makes_one_record_of_many(rows, places, data):
    """A file is refused, or has as many records as a reader finds that takes nothing but what programs write."""
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows([("w", "v"), *rows])
    held = text.getvalue()
    for place in places:
        at = len("w,v\n") + place % (len(held) - len("w,v\n"))
        held = held[:at] + data.draw(st.sampled_from(['"', "", "x"])) + held[at + data.draw(st.integers(0, 1)) :]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.csv"
        path.write_text(held, encoding="utf-8", newline="")
        try:
            answers = ask(path, Policy.parse(SHARP), "select count(*) from t group by w")
            whole = ask(path, Policy.parse(SHARP), "select count(*) from t")
        except MetricDPError:
            return
    assert held.count('"') % 2 == 0
    read = [row for row in csv.reader(io.StringIO(held, newline=""), strict=True) if row][1:]
    wanted = Counter(row[0] if row[0] in ("a", "b", "") else "rest" for row in read)
    assert [round(found[0].value) for found in answers.found] == [wanted[word] for word in ("a", "b", "rest", "")]
    assert round(whole.found[0][0].value) == len(read)


@attack(30)
@given(
    st.lists(st.tuples(st.integers(-3, 3), st.fractions(0, 2)), min_size=3, max_size=5, unique=True),
    st.integers(0, 30),
)
def test_noise_on_the_globe_keeps_its_promise_at_any_longitude(places, digits):
    """Longitudes count modulo 360, and floats do not hold large ones: no distance may be taken from those."""
    points = [
        (Fraction(latitude, 1000), longitude / 1000 + (360 * 10**digits if row % 2 else 0))
        for row, (latitude, longitude) in enumerate(places)
    ]
    space = mdp.Space(points, mdp.metrics.great_circle() / 100)
    allocation = allocate(Workload([list(range(len(points))), [row % 2 for row in range(len(points))]], space))
    tightest = Fraction(0)
    for i, j in itertools.combinations(range(len(points)), 2):
        moved = (abs(i - j), abs(i % 2 - j % 2))
        told = sum(move / Fraction(scale) for move, scale in zip(moved, allocation.scales, strict=True) if move)
        distance = space.metric.enclose(points[i], points[j])
        assert told <= distance.upper
        tightest = max(tightest, told / Fraction(distance.lower))
    assert tightest > Fraction(999, 1000)


@pytest.mark.parametrize("people", ["", '[person]\ncolumn = "id"\nrows = 1\n'], ids=["rows", "people"])
def test_a_stream_is_answered_like_the_table_that_it_holds(people):
    """A question with several parts reads the table several times; what came before must not look like no record."""
    table = pa.table({"id": [str(row) for row in range(100)], "k": ["a", "b"] * 50, "n": [1, 2] * 50})
    policy = Policy.parse(
        f"format = 2\ncapacity = 200\nabsent = 1000\n{people}[columns]\n"
        'k = {type = "category", values = ["a", "b"], epsilon = 1000, missing = "refuse"}\n'
        'n = {type = "integer", bounds = [0, 5], epsilon = 1000, missing = "refuse"}\n'
    )
    question = "select count(*), sum(n), median(n) from t where k = 'a'"
    reader = table.to_reader()
    for source in (table, reader):
        answers = ask(source, policy, question)
        assert [round(answers[name][0].value) for name in ("count(*)", "sum(n)", "median(n)")] == [50, 50, 1]
    with pytest.raises(ArgumentError, match="can be read once, and this one has been"):
        ask(reader, policy, question)
