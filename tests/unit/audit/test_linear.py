"""Weighted sums, and how they learn from releases that are not kept."""

import numpy as np
import pytest

from metricdp.audit.boxes.box import Batch
from metricdp.audit.events.linear import Lesson, fit_linear
from metricdp.audit.events.views import View

generator = np.random.default_rng()
TRUE = np.array([0.1, 0.2, -0.1])
VIEWS = [View(f"coordinate {j}", f"z[{j}]", lambda batch, j=j: batch.releases[:, j], near=True) for j in range(3)]


def drawn(count, share=0.5):
    """Points around the origin, and around a point nearby for x: the logarithm of the ratio is a weighted sum."""
    labels = generator.random(count) < share
    return Batch(generator.normal(size=(count, 3)) + labels[:, None] * TRUE), labels


def angle(linear):
    """Between the sum's weights of places and the true ones; 1 where they agree."""
    found = {
        term.view.code: weight / term.scale
        for term, weight in zip(linear.terms, linear.weights, strict=True)
        if term.kind == "place"
    }
    weights = np.array([found.get(f"z[{j}]", 0.0) for j in range(3)])
    return float(weights @ TRUE / np.linalg.norm(weights) / np.linalg.norm(TRUE))


def separation(linear, batch, labels):
    """How far apart the sum has the two secrets, in its own standard deviations."""
    sums = linear.of(batch)
    return float((sums[labels].mean() - sums[~labels].mean()) / sums.std())


@pytest.mark.parametrize("share", [0.5, 0.3])
def test_a_lesson_makes_the_weights_better_whatever_the_coins(share):
    batch, labels = drawn(3_000)
    first = fit_linear(VIEWS, [view.of(batch) for view in VIEWS], labels)[0]
    lesson = Lesson(first)
    for _ in range(20):
        lesson.take(*drawn(20_000, share))
    learned = lesson.learned()
    fresh = drawn(400_000)
    assert separation(learned, *fresh) > separation(first, *fresh)
    assert separation(learned, *fresh) > 0.9 * np.linalg.norm(TRUE)  # of the best there is
    assert angle(learned) > angle(first)


def test_a_lesson_of_nothing_changes_nothing():
    batch, labels = drawn(3_000)
    first = fit_linear(VIEWS, [view.of(batch) for view in VIEWS], labels)[0]
    assert np.array_equal(Lesson(first).learned().weights, first.weights)


def test_a_lesson_remembers_what_the_first_fit_knew():
    """A few releases more do not undo what many have taught."""
    batch, labels = drawn(200_000)
    first = fit_linear(VIEWS, [view.of(batch) for view in VIEWS], labels)[0]
    lesson = Lesson(first)
    lesson.take(*drawn(500))
    assert np.abs(lesson.learned().weights - first.weights).max() < 0.05


def test_too_few_releases_for_any_term_make_no_sum():
    batch, labels = drawn(60)
    assert fit_linear(VIEWS, [view.of(batch) for view in VIEWS], labels) == []
