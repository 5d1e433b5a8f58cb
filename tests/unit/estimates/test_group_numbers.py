"""Numbers of groups: averages whose intervals hold in small groups, and groups that are chosen for their numbers."""

import math

import numpy as np
import pyarrow as pa
import pytest

import metricdp as mdp
from metricdp.estimates import Regression, estimate, foresee
from metricdp.estimates.group_numbers import _last
from metricdp.tables import sanitize

SEX = {"type": "category", "values": ["f", "m"], "factor": 3, "missing": "refuse"}
KINDS = [f"k{place}" for place in range(60)]


def policy(**columns):
    return {"format": 2, "columns": columns}


def flipped(random, women):
    """Whether each row is released as a woman: three quarters of the rows tell the truth."""
    return np.where(random.random(len(women)) < 0.25, ~women, women)


def test_an_average_of_few_rows_has_the_noise_of_those_rows():
    """Two rows of a kept group: where they happen to agree, their noise is no less."""
    score = {"type": "integer", "within": 1, "bounds": [0, 9], "missing": "refuse"}
    table = pa.table({"site": ["x"] * 2 + ["y"] * 298, "score": [4, 4] + [1, 7] * 149})
    question = "select avg(score), sum(score) where site = 'x'"
    average, total = estimate(table, question, policy=policy(site="keep", score=score))
    spread = 1 / math.log(2)  # of the noise's scale, so that the average of two rows has that standard deviation
    assert np.diff(average.interval) > 2 * 1.96 * spread * 0.8
    assert np.diff(total.interval) > 2 * 1.96 * 2 * spread * 0.8


def test_a_count_of_few_rows_has_the_noise_of_those_rows_and_is_no_more_than_they_are():
    question, others = "select count(*) where sex = 'f' and site = 'x'", ["f"] * 99 + ["m"] * 198
    for sex in ("m", "f"):
        table = pa.table({"site": ["x"] * 3 + ["y"] * 297, "sex": [sex] * 3 + others})
        low, high = estimate(table, question, policy=policy(site="keep", sex=SEX)).only.interval
        assert 0 <= low <= 1.5
        assert 1.5 <= high <= 3


def test_a_number_of_few_rows_within_bounds_has_all_of_its_noise():
    pay = {"type": "number", "within": 10, "bounds": [0, 100], "missing": "refuse"}
    table = pa.table({"site": ["x"] * 3 + ["y"] * 297, "pay": [50.0] * 300})
    found = estimate(table, "select avg(pay) where site = 'x'", policy=policy(site="keep", pay=pay)).only
    assert np.diff(found.interval) > 2 * 1.96 * math.sqrt(2 / 3) * 10 / math.log(2) * 0.95


def test_averages_of_noisy_groups_hold_as_often_as_they_say_and_are_no_wider():
    """By a quotient's ends, intervals in tables of 300 rows were half as wide again, and held in all but one of 450."""
    random, held, errors, halves = np.random.default_rng(4), 0, [], []
    columns = policy(sex=SEX, score="keep")
    for _ in range(150):
        women, score = random.random(300) < 0.3, random.integers(0, 5, 300).astype(float)
        score[women] += 2
        table = pa.table({"sex": np.where(flipped(random, women), "f", "m"), "score": score})
        found = estimate(table, "select avg(score) where sex = 'f'", policy=columns).only
        truth = score[women].mean()
        held += found.interval[0] <= truth <= found.interval[1]
        errors.append(found.value - truth)
        halves.append((found.interval[1] - found.interval[0]) / 2)
    assert held >= 150 * 0.95 - 3 * math.sqrt(150 * 0.95 * 0.05)
    assert np.median(halves) / 1.96 < 1.3 * np.quantile(np.abs(errors), 0.68)


def test_the_end_of_a_falling_function_is_found_or_is_none():
    assert _last(lambda step: 3 - step, 3.0, 1.0, math.inf) == pytest.approx(3)
    assert _last(lambda step: 3 - step, 3.0, 5.0, 2.0) == 2.0
    assert _last(lambda step: 3 - step**2, 3.0, 10.0, 100.0) == pytest.approx(math.sqrt(3), rel=1e-3)
    assert _last(lambda step: 3 + step, 3.0, 1.0, math.inf) == math.inf
    assert _last(lambda step: 3.0, math.inf, 1.0, 7.0) == 7.0
    assert _last(lambda step: -step, 0.0, 1.0, 7.0) == 0.0
    assert _last(lambda step: 1 - step / 90 if step < 95 else -9.0, 1.0, 0.001, 100.0) == pytest.approx(90, rel=0.06)


def test_groups_that_are_chosen_for_their_numbers_hold_the_truth_as_often_as_they_say():
    """Of 60 kinds that are equally frequent, the foremost three are those that noise lifts farthest."""
    kind = {"type": "category", "values": KINDS, "factor": 20, "missing": "refuse"}
    random, held = np.random.default_rng(6), 0
    question = "select kind, count(*) group by kind order by count(*) desc limit 3"
    for _ in range(40):
        kinds = np.tile(np.arange(60), 20)
        noisy = np.where(random.random(1200) < 60 / 79, random.integers(0, 60, 1200), kinds)
        found = estimate(pa.table({"kind": np.array(KINDS)[noisy]}), question, policy=policy(kind=kind))
        assert any("chosen" in note for note in found.notes)
        held += sum(one.interval[0] <= 20 <= one.interval[1] for one in found["count(*)"])
    assert held >= 0.95 * 120 - 3 * math.sqrt(120 * 0.95 * 0.05)


def test_groups_that_are_shown_whatever_their_numbers_are_not_chosen():
    table = pa.table({"sex": ["f"] * 60 + ["m"] * 40})
    plain = estimate(table, "select sex, count(*) group by sex", policy=policy(sex=SEX))
    for question in ("order by sex limit 1", "order by count(*)", "limit 1"):
        found = estimate(table, f"select sex, count(*) group by sex {question}", policy=policy(sex=SEX))
        assert not any("chosen" in note for note in found.notes)
        assert {one.interval for one in found} <= {one.interval for one in plain}
    chosen = estimate(table, "select sex, count(*) group by sex having count(*) > 50", policy=policy(sex=SEX)).only
    assert np.diff(chosen.interval) > 1.1 * np.diff(plain.found[0][0].interval)
    assert chosen.confidence == 0.95


def test_a_value_that_nobody_has_is_0_and_one_row_is_one():
    found = estimate(pa.table({"sex": ["m"]}), "select count(*) where sex = 'f'", policy=policy(sex=SEX)).only
    assert found.value == 0
    assert "1 row at this level tells next to nothing" in " ".join(found.notes)


@pytest.mark.parametrize("far", [0, -1_000_000_000, 1_700_000_000])
def test_numbers_far_from_zero_are_told_as_well_as_others(far):
    random = np.random.default_rng(11)
    moved, yes = random.integers(0, 3600, 1000), random.random(1000) < 0.5
    number = {"type": "integer", "within": 60, "missing": "refuse"}
    columns = {"at": number, "yes": {"type": "boolean", "factor": 3, "missing": "refuse"}}
    with pytest.warns(UserWarning, match="seeded"), mdp.seeded(5):
        released = sanitize(pa.table({"at": moved + far, "yes": yes}), {"format": 2, "columns": columns}).table
    found = estimate(released, "select avg(at) where yes = true").only
    assert 80 < (found.interval[1] - found.interval[0]) / 2 < 200
    assert found.interval[0] <= far + moved[yes].mean() <= found.interval[1]
    assert found.naive - far == pytest.approx(moved.mean(), abs=100)
    slope = estimate(released, Regression("at", ["yes"]))["slope of yes"][0]
    assert 100 < slope.interval[1] - slope.interval[0] < 1000


def test_what_a_condition_hides_is_weighed_by_how_far_numbers_lie_apart():
    random = np.random.default_rng(12)
    age, born = np.minimum(random.gamma(4, 9, 4000), 90).astype(int), 7000 + random.integers(0, 300, 4000)
    columns = {
        "age": {"type": "integer", "within": 3, "bounds": [0, 90], "missing": "refuse"},
        "born": {"type": "date", "within": "30 days"},
    }
    table = pa.table({"age": age, "born": born.astype("datetime64[D]")})
    with pytest.warns(UserWarning, match="seeded"), mdp.seeded(6):
        released = sanitize(table, {"format": 2, "columns": columns}).table
    low, high = estimate(released, "select avg(born) where age >= 40").only.interval
    assert (high - low).days < 400  # 7,000 days after the epoch


def test_nulls_that_noise_never_moves_cost_no_width():
    """Null is 20,000 times as far as the level says: the chance to move it is below what floats hold."""
    random = np.random.default_rng(13)
    pay, gone = random.uniform(0, 20_000, 500), random.random(500) < 0.2
    columns = {"pay": {"type": "number", "within": 1, "bounds": [0, 20_000], "missing": "secret"}}
    with pytest.warns(UserWarning, match="seeded"), mdp.seeded(7):
        released = sanitize(pa.table({"pay": pa.array(pay, mask=gone)}), {"format": 2, "columns": columns}).table
    average = estimate(released, "select avg(pay)").only
    assert average.interval[0] <= pay[~gone].mean() <= average.interval[1]
    assert average.interval[1] - average.interval[0] < 1
    site = pa.array(["x", "y"] * 250)
    kept = estimate(released.append_column("site", site), "select avg(pay) where site = 'x'",
                    policy={"format": 2, "columns": columns | {"site": "keep"}}).only  # fmt: skip
    assert kept.interval[1] - kept.interval[0] < 1
    missing = estimate(released, "select count(*) where pay is null").only
    assert missing.interval == pytest.approx((gone.sum(), gone.sum()), abs=1)


def test_the_order_of_what_is_asked_changes_nothing():
    columns = {"pay": {"type": "number", "within": 1, "resolution": 0.01, "missing": "refuse"}, "k": "keep"}
    table = pa.table({"pay": np.random.default_rng(14).integers(0, 900, 60) / 100, "k": [0.1, 0.2, 0.4] * 20})
    one, two = (
        estimate(table, f"select {asked}", policy={"format": 2, "columns": columns})
        for asked in ("min(pay), avg(pay), avg(k), min(k)", "avg(k), avg(pay), min(k), min(pay)")
    )
    for name in one.names:
        assert one[name][0].interval == pytest.approx(two[name][0].interval)
        assert one[name][0].value == pytest.approx(two[name][0].value)
    assert one["avg(pay)"][0].value == pytest.approx(one["avg(pay)"][0].naive)
    low, high = one["avg(k)"][0].interval
    assert low == high == pytest.approx(0.7 / 3)


def test_a_day_without_an_end_is_told_as_such():
    columns = {"born": {"type": "date", "within": "30 days", "missing": "refuse"}}
    days = pa.table({"born": pa.array([7000], pa.int32()).cast(pa.date32())})
    policy_ = {"format": 2, "columns": columns}
    found = estimate(days, "select median(born), max(born)", policy=policy_, truth="population")
    assert found["median(born)"][0].interval == (-math.inf, math.inf)
    assert found.to_json()["answers"][0]["max(born)"]["interval"][1] is None
    assert foresee(policy_, "select median(born)", 2, truth="population").widest == math.inf


def test_what_cannot_be_asked_is_refused_in_words():
    columns = {"pay": {"type": "number", "within": 1, "bounds": [0, 9], "missing": "refuse"}}
    policy_ = {"format": 2, "columns": columns}
    table = pa.table({"pay": [1.0, 2.0, 1e308]})
    with pytest.raises(mdp.errors.ColumnError, match="row 2: no release"):
        estimate(table, "select avg(pay)", policy=policy_)
    for confidence in ("0.9", None):
        with pytest.raises(mdp.errors.ArgumentError, match="a confidence lies between"):
            estimate(table, "select avg(pay)", policy=policy_, confidence=confidence)
        with pytest.raises(mdp.errors.ArgumentError, match="a confidence lies between"):
            foresee(policy_, "select avg(pay)", 10, confidence=confidence)
    with pytest.raises(mdp.errors.ArgumentError, match="a question is SQL"):
        estimate(table, Regression, policy=policy_)
