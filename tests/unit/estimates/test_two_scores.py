"""Two scores of a question: one is never too low on average and one never too high, wherever secrets lie."""

import warnings

import numpy as np
import pyarrow as pa
import pytest

import metricdp as mdp
from metricdp.estimates import estimate
from metricdp.estimates.laws import LineLaw
from metricdp.estimates.outline import Outline
from metricdp.estimates.two_scores import BoundingScores
from metricdp.policies.policy import Policy
from metricdp.programs.solution import Status
from metricdp.tables import sanitize

COLUMNS = {
    "number": {"type": "number", "within": 10, "missing": "refuse"},
    "with public nulls": {"type": "number", "within": 10, "missing": "public"},
    "within bounds": {"type": "number", "within": 5, "bounds": [0, 100], "outside": "clamp", "missing": "refuse"},
    "with secret nulls": {"type": "number", "within": 5, "bounds": [0, 100], "missing": "secret"},
    "integer": {"type": "integer", "within": 3, "bounds": [0, 90], "missing": "refuse"},
    "coarse": {"type": "number", "within": 5, "bounds": [0, 100], "resolution": 4, "missing": "refuse"},
    "coarse without bounds": {"type": "number", "within": 5, "resolution": 7, "missing": "refuse"},
}


def law_of(entry, rows, threshold):
    column = Policy.of({"format": 2, "columns": {"x": entry}}).columns[0]
    released = np.clip(np.random.default_rng(3).normal(40, 25, rows), 0, 90)
    step = float(column.mechanism.cells.resolution)
    made = LineLaw(column, pa.float64(), Outline.of(np.round(released / step) * step), rows, [threshold])
    codes = made.codes_of(np.round(released / step) * step, np.zeros(rows, dtype=bool))
    made.counts = np.bincount(codes, minlength=made.matrix.shape[1]).astype(float)
    return made


@pytest.mark.parametrize("entry", COLUMNS.values(), ids=COLUMNS)
@pytest.mark.parametrize("rows", [200, 20_000])
def test_no_secret_is_scored_too_low_or_too_high_on_average(entry, rows):
    law, threshold = law_of(entry, rows, 40.0), 40.0
    known = np.zeros(len(law.matrix))
    opened, closed = known.copy(), known.copy()
    opened[: len(law.points)], closed[: len(law.points)] = law.points > threshold, law.points >= threshold
    scores = BoundingScores(law, 1.96)
    above, below = scores.above(closed), scores.below(opened)
    secrets = np.concatenate([np.linspace(*law.ends, 4001), [threshold, threshold - 1e-9]])
    if law.is_lattice:
        secrets = law.points
    if law.is_unbounded:
        far = np.array([1.0, 3.0, 10.0, 30.0]) * law.scale
        secrets = np.concatenate([secrets, law.ends[0] - far, law.ends[1] + far])
    between = law._known(law._between(secrets - law.origin))
    room = 1e-6 if law.is_lattice else 1e-3  # between points that were looked at, bends are known to about that
    assert (between @ above.weights >= (secrets >= threshold) - room).all()
    assert (between @ below.weights <= (secrets > threshold) + room).all()
    if law.missing.any():
        assert law.matrix[-1] @ above.weights >= -1e-9
        assert law.matrix[-1] @ below.weights <= 1e-9
    assert above.variances == pytest.approx(law.matrix @ above.weights**2 - (law.matrix @ above.weights) ** 2)


def test_questions_of_any_size_have_scores_of_their_size():
    law = law_of(COLUMNS["within bounds"], 5000, 40.0)
    question = np.where(law.points > 40, 1000 * law.points - 7, -50.0)
    above, below = BoundingScores(law, 1.96).above(question), BoundingScores(law, 1.96).below(question)
    assert (law.matrix @ above.weights >= question - 1e-3).all()
    assert (law.matrix @ below.weights <= question + 1e-3).all()
    assert law.path.released @ (above.weights - below.weights) < 10_000


def test_a_constant_is_its_own_score():
    law = law_of(COLUMNS["number"], 500, 40.0)
    score = BoundingScores(law, 1.96).above(np.full(len(law.matrix), 3.0))
    assert (score.weights == 3).all()
    assert (score.variances == 0).all()


def test_where_the_solver_gives_up_the_interval_is_all_there_is(monkeypatch):
    law = law_of(COLUMNS["number"], 500, 40.0)
    scores = BoundingScores(law, 1.96)
    solved = scores._program.solve
    monkeypatch.setattr(scores._program, "solve", lambda *a, **b: _Lost(solved(*a, **b)))
    question = np.append((law.points > 40).astype(float), [])
    assert (scores.above(question).weights == 1).all()
    assert (scores.below(question).weights == 0).all()


class _Lost:
    def __init__(self, solution):
        self.optimal, self.status, self.primal = False, Status.UNKNOWN, solution.primal


def test_few_rows_near_a_threshold_are_told_narrowly():
    """10,000 days over eight years, private within 30 days: 324 on either side before, 131 now."""
    policy = {"format": 2, "columns": {"born": {"type": "date", "within": "30 days", "missing": "refuse"}}}
    born = (7000 + np.random.default_rng(1).integers(0, 3000, 10_000)).astype("datetime64[D]")
    with pytest.warns(UserWarning, match="seeded"), mdp.seeded(1):
        released = sanitize(pa.table({"born": born}), policy).table
    found = estimate(released, "select count(*) where born < date '1992-01-01'").only
    assert found.interval[0] <= (born < np.datetime64("1992-01-01")).sum() <= found.interval[1]
    assert found.interval[1] - found.interval[0] < 2 * 180
    assert "two scores" in found.method
    assert found.conservative


@pytest.mark.long
@pytest.mark.parametrize("values", [[40], [39], [39, 40], [30, 35, 40, 45], [29, 34, 39, 44]], ids=str)
def test_the_worst_tables_are_held_as_often_as_is_said(values):
    """Secrets where the scores are just right on average: at the threshold and beside it, and nowhere else."""
    policy = {"format": 2, "columns": {"age": COLUMNS["integer"]}}
    secret = np.resize(np.array(values), 2000)
    truth, held = (secret >= 40).sum(), 0
    for seed in range(100):
        with warnings.catch_warnings(), mdp.seeded(seed):
            warnings.simplefilter("ignore")
            released = sanitize(pa.table({"age": secret}), policy).table
        low, high = estimate(released, "select count(*) where age >= 40").only.interval
        held += low <= truth <= high
    assert held >= 87  # 95 less four standard errors: the scores follow the fitted shares, and so a little the noise


def test_products_with_one_such_column_have_an_end_by_a_score_each():
    """Ages private within three years, beside a category: 80 to 519 before, 215 to 396 now."""
    policy = {
        "format": 2,
        "columns": {
            "age": COLUMNS["integer"],
            "sex": {"type": "category", "values": ["f", "m"], "factor": 4, "missing": "refuse"},
        },
    }
    random = np.random.default_rng(2)
    age, sex = np.clip(random.normal(40, 15, 1000).round(), 0, 90).astype(int), random.choice(["f", "m"], 1000)
    with pytest.warns(UserWarning, match="seeded"), mdp.seeded(2):
        released = sanitize(pa.table({"age": age, "sex": sex}), policy).table
    for where, truth in {
        "age >= 40 and sex = 'f'": (age >= 40) & (sex == "f"),
        "age >= 40 or sex = 'f'": (age >= 40) | (sex == "f"),
        "not (age < 40 or sex = 'm')": (age >= 40) & (sex == "f"),
    }.items():
        found = estimate(released, f"select count(*) where {where}").only
        assert "two scores" in found.method
        assert found.interval[0] <= truth.sum() <= found.interval[1]
        assert found.interval[1] - found.interval[0] < 400


@pytest.mark.long
def test_products_are_held_where_all_rows_are_at_the_threshold():
    policy = {
        "format": 2,
        "columns": {
            "age": COLUMNS["integer"],
            "sex": {"type": "category", "values": ["f", "m"], "factor": 4, "missing": "refuse"},
        },
    }
    secret, held = pa.table({"age": np.full(1000, 40), "sex": ["f"] * 1000}), 0
    for seed in range(80):
        with warnings.catch_warnings(), mdp.seeded(seed):
            warnings.simplefilter("ignore")
            released = sanitize(secret, policy).table
        low, high = estimate(released, "select count(*) where age >= 40 and sex = 'f'").only.interval
        held += low <= 1000 <= high
    assert held >= 68  # 95% less four standard errors
