"""Evidence: words, code that shows it again, and events whose code says what was counted."""

import json
import math

import numpy as np
import pytest

import metricdp as mdp
from metricdp.audit import audit, rows
from metricdp.audit.boxes.box import Batch
from metricdp.audit.events import machine, things
from metricdp.audit.events.event import given_event
from metricdp.audit.events.patterns import fit_patterns
from metricdp.audit.events.scores import fit_simple
from metricdp.audit.events.search import fit_together
from metricdp.audit.events.threshold import Goal, best_cut
from metricdp.audit.events.views import label_views, number_views
from metricdp.audit.report import page

m = mdp.metrics
generator = np.random.default_rng(5)


@rows
def weak(secrets):
    return np.rint(1024 * (secrets + generator.laplace(scale=0.5, size=len(secrets)))) / 1024


def found(**options):
    return audit(weak, [(0.0, 1.0)], m.absolute(), samples=20_000, **options)


def test_words_json_and_html_say_the_same():
    evidence = found()
    said = str(evidence)
    assert "NOT |x − y|-private" in said
    assert evidence.event in said
    assert "0.999" in said
    as_json = json.loads(json.dumps(evidence.to_json()))
    assert as_json["holds"] is False
    assert as_json["scale_at_least"] == evidence.scale_at_least
    assert as_json["tested"][0]["hits"] == list(evidence.tested[0].hits)
    shown = evidence._repr_html_()
    assert shown.count("<") == shown.count(">") + evidence.code.count("<") * 0
    assert "&lt;" in page(evidence) or "x" in page(evidence)
    assert "svg" in page(evidence)


def test_an_infinite_scale_has_words_and_json():
    zero = m.matrix("ab", [[0, 0], [0, 0]])
    evidence = audit(lambda secret: secret, [("a", "b")], zero, samples=2000)
    assert "nor any multiple" in str(evidence)
    assert json.loads(json.dumps(evidence.to_json()))["scale_at_least"] == "infinite"


def test_the_code_shows_it_again(capsys):
    evidence = found()
    program = evidence.code.replace("# release = the box: one secret in, one release out", "")
    names = {"release": lambda secret: float(weak.function(np.array([secret]))[0])}
    exec(program.replace(f"draws = {max(1000, min(evidence.best.calls, 100_000))}", "draws = 2000"), names)
    first, second, draws = map(int, capsys.readouterr().out.split())
    assert draws == (2000 if evidence.best.mirror is None else 4000)
    for hits, chance in zip((first, second), evidence.best.chances, strict=True):
        assert abs(hits / draws - chance) < 6 * math.sqrt(max(chance, 1e-3) / draws)


def test_chances_are_shares_of_the_secrets_own_calls():
    test = found().best
    assert test.chances[0] > 2 * test.chances[1] > 0
    assert sum(test.hits) <= test.calls


BATCHES = {
    "numbers": np.r_[generator.laplace(size=4000), 1 + generator.laplace(size=4000)],
    "few numbers": np.r_[generator.integers(0, 4, 4000), generator.integers(1, 5, 4000)],
    "points": np.r_[generator.normal(size=(4000, 3)), 0.7 + generator.normal(size=(4000, 3))],
    "bits": np.r_[generator.integers(0, 2, (4000, 4)), (generator.random((4000, 4)) < 0.7).astype(int)],
    "words": np.array([*generator.choice(["a", "b", "c"], 4000), *generator.choice(["b", "c", "d"], 4000)]),
    "sets": [frozenset(generator.choice(list("abc"), 2)) for _ in range(300)]
    + [frozenset(generator.choice(list("abcd"), 3)) for _ in range(300)],
    "records": [(float(generator.normal()), "ab"[generator.integers(2)]) for _ in range(300)]
    + [(float(1 + generator.normal()), "abc"[generator.integers(3)]) for _ in range(300)],
    "mixed": [None if generator.random() < 0.3 else float(generator.normal()) for _ in range(300)]
    + [float(generator.normal()) for _ in range(300)],
}


@pytest.mark.long
@pytest.mark.parametrize("kind", BATCHES)
def test_the_code_of_an_event_is_what_is_counted(kind):
    """Every family of events: the expression in z, evaluated one by one, agrees with the columns."""
    releases = BATCHES[kind]
    size = len(releases)
    marks = np.arange(size) < size // 2
    order = generator.permutation(size)
    releases = releases[order] if isinstance(releases, np.ndarray) else [releases[place] for place in order]
    marks = marks[order]
    batch = Batch(releases)
    pair = ([0.0] * 3, [0.7] * 3) if kind == "points" else (0.0, 1.0)
    views = number_views(batch, pair, m.absolute(), False)
    columns = [view.column(batch) for view in views]
    scores, ranked, seen = fit_simple(views, label_views(batch), columns, batch, marks, Goal(10_000))
    scores += fit_together(views, columns, marks, ranked, Goal(10_000)) if len(views) > 1 else []
    near = [view for view in views if view.near]
    patterns = fit_patterns(near, [view.of(batch) for view in near], marks)
    scores += [] if patterns is None else [patterns]
    assert seen > 0
    assert scores
    names = {"np": np, "m": machine, "t": things, "x": np.asarray(pair[0]), "y": np.asarray(pair[1])}
    for score in scores:
        cut = best_cut(score.of(batch), marks, Goal(10_000), score.both_sides)
        if cut is None:
            continue
        event = score.event(cut.threshold, cut.high)
        members = event.among(batch)[:200]
        values = score.of(batch)[:200]
        assert (members == (values >= cut.threshold if cut.high else values <= cut.threshold)).all()
        for release, member in zip(list(releases)[:200], members, strict=True):
            try:
                said = bool(eval(event.code, names | {"z": release}))
            except TypeError:
                said = False  # a release of another kind is no member
            assert said == member, (event.code, release)


def test_an_event_that_raises_has_no_members():
    event = given_event("z > 3")
    assert event.among(Batch([5, "text", None, 2])).tolist() == [True, False, False, False]
    assert given_event(lambda z: z == 1).among(Batch([1, 2])).tolist() == [True, False]
