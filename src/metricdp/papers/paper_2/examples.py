"""Paper 2: Examples 1 to 7."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np

import metricdp as mdp
from metricdp.adversaries import error_bound, reached_error
from metricdp.channels import Channel, of, verify
from metricdp.metrics import Space, discrete, records, supremum, symmetric_difference
from metricdp.papers.item import Found, Size, claim, register
from metricdp.plots import curves
from metricdp.queries import Workload, choose
from metricdp.queries.synthetic_data.steepness import spread

_HOBBIES = ("chess", "football", "music", "tennis")


def _sets(names: tuple[str, ...]) -> list[frozenset[str]]:
    return [frozenset(some) for size in range(len(names) + 1) for some in itertools.combinations(names, size)]


@register(2, "example1", "Two metrics on sets of hobbies", "Example 1")
def example_1(size: Size) -> Found:
    """The discrete metric and the symmetric difference on all sets of three hobbies, each as a space."""
    people = _sets(_HOBBIES[:3])
    apart = symmetric_difference()(people[1], people[6])
    members = (set(people[1]) | set(people[6])) - (set(people[1]) & set(people[6]))
    claims = [
        claim("rho1 of different sets", 1, int(discrete()(people[1], people[6]))),
        claim(f"rho2 of {sorted(people[1])} and {sorted(people[6])}", len(members), int(apart)),
    ]
    for name, metric in (("discrete", discrete()), ("symmetric difference", symmetric_difference())):
        broken = metric.violation(people)
        claims.append(claim(f"{name}: a metric on all {len(people)} sets", True, broken is None))
    return Found(tuple(claims))


@register(2, "example2", "Functions of time are released and compared", "Example 2")
def example_2(size: Size) -> Found:
    """A curve of power over an hour: by samples for the supremum, and by coefficients for the L2 norm."""
    at = [k / 8 for k in range(9)]
    samples = mdp.function_samples(supremum(), at)
    with mdp.seeded(2):
        released = np.asarray(samples.release(lambda t: t**2))
    one, other = [0.0] * 9, [t**2 for t in at]
    return Found(
        (
            claim("a promise for functions in C([0, 1])", "a norm", str(samples.guarantee), True),
            claim("samples that are released", None, len(released)),
            claim("sup-distance of 0 and t^2 on [0, 1]", "1", supremum()(one, other), value=1.0),
        ),
        note="A function enters by its values at declared times: their supremum is never above that of the function, "
        "so what is promised for them is promised for the functions.",
    )


def _most_common(names: tuple[str, ...], wanted: int, people: int, level: Any) -> tuple[Channel, Any, Any]:
    """The channel of `choose` for the most common hobbies, over all databases of so many people with any hobbies."""
    persons = _sets(names)
    best = list(itertools.combinations(names, wanted))
    metric = level * symmetric_difference()
    table = np.array([[float(len(set(some) & own)) for own in persons] for some in best])
    step = spread(table, Space(persons, metric))
    inputs = list(itertools.product(persons, repeat=people))
    odds = level.log_of
    rows = []
    for database in inputs:
        scores = [sum(len(set(some) & own) for own in database) for some in best]
        weights = [odds ** (Fraction(score) / step).numerator for score in scores]
        rows.append([weight / sum(weights) for weight in weights])
    return Channel.from_matrix(inputs, ["+".join(some) for some in best], rows), Space(inputs, records(metric)), step


@register(2, "example3", "The most common hobbies: a query whose value is a set", "Example 3")
def example_3(size: Size) -> Found:
    """`choose` on scores, and its channel over all databases, for one of two hobbies and for three of four."""
    level = mdp.ln(2)
    two, two_space, two_step = _most_common(_HOBBIES[:2], 1, size.pick(4, 3), level)
    four, four_space, four_step = _most_common(_HOBBIES, 3, 2, level)
    tight_two = verify(two, two_space)
    tight_four = verify(four, four_space)
    people = _sets(_HOBBIES)
    best = list(itertools.combinations(_HOBBIES, 3))
    table = [[len(set(some) & own) for own in people] for some in best]
    counts = [0] * len(people)
    counts[people.index(frozenset({"chess", "music"}))] = 300
    counts[people.index(frozenset({"music", "tennis"}))] = 200
    with mdp.seeded(3):
        chosen = choose(Workload(table, Space(people, level * symmetric_difference()), ["+".join(b) for b in best]),
                        data=counts)  # fmt: skip
    half = {"two": verify(two, Space(two_space.points, Fraction(9, 10) * two_space.metric)).holds,
            "four": verify(four, Space(four_space.points, Fraction(9, 10) * four_space.metric)).holds}  # fmt: skip
    return Found(
        (
            claim("the three most common of four hobbies, of 500 people", "a set", str(chosen.candidate),
                  chosen.candidate == "chess+music+tennis"),
            claim("1 of 2: private over all databases", None, tight_two.holds,
                  ways={"scale it needs": tight_two.scale, "still at 9/10 of the metric": half["two"],
                        "spread of the scores": two_step}, value=tight_two.scale),
            claim("3 of 4: private over all databases", None, tight_four.holds,
                  ways={"scale it needs": tight_four.scale, "still at 9/10 of the metric": half["four"],
                        "spread of the scores": four_step}, value=tight_four.scale),
        ),
        size=size.reduced("databases of three people in place of four for one of two hobbies"),
        note="Scores move by one at most, all the same way, so that no factor two is lost. Both channels have 256 "
        "databases at full size: four people for one of two hobbies, which is not private at 9/10 of the metric, and "
        "two people for three of four hobbies, which is.",
    )  # fmt: skip


@register(2, "example4", "Functions are tested by finitely many of their values", "Example 4, Theorem 3")
def example_4(size: Size) -> Found:
    """A mechanism on functions, audited through projections to a few times: a true promise stays, a false one falls."""
    from metricdp.audit import audit

    mechanism = mdp.function_samples(supremum(), [k / 3 for k in range(4)])
    pair = ([0.0] * 4, [1.0] * 4)
    calls = size.pick(40_000, 4_000)
    with mdp.seeded(4):
        true = audit(mechanism, [pair], samples=calls, metric=mechanism.guarantee.metric)
        false = audit(mechanism, [pair], samples=calls, metric=mechanism.guarantee.metric / 3)
    return Found(
        (
            claim("audit of the promise on cylinder sets: scale at least", "at most 1", true.scale_at_least,
                  true.scale_at_least <= 1, value=true.scale_at_least),
            claim("the same of a promise three times too strong", "above 1", false.scale_at_least,
                  false.scale_at_least > 1, value=false.scale_at_least),
        ),
        size=size.reduced("4,000 releases in place of 40,000"),
        note="Events are sets of the values at four times: the finite-dimensional projections of the paper.",
    )  # fmt: skip


def _true_delta(width: float, scale: float, eps: float) -> tuple[float, float, float]:
    """By sums over a fine grid, by the two tails where densities cross, and in closed form."""
    cut = (width - eps * scale) / 2
    places = np.linspace(-60 * scale, cut, 400_001)
    gap = (np.exp(-np.abs(places) / scale) - np.exp(eps - np.abs(places - width) / scale)) / (2 * scale)

    def below(t: float) -> float:
        return math.exp(t / scale) / 2 if t < 0 else 1 - math.exp(-t / scale) / 2

    tails = below(cut) - math.exp(eps) * below(cut - width)
    return float(np.trapezoid(gap, places)), tails, 1 - math.exp((eps - width / scale) / 2)


@register(2, "example5", "The scale of Laplace noise for (eps, delta)", "Example 5")
def example_5(size: Size) -> Found:
    """The published scale is safe and uses about half of its delta; ours uses all of it."""
    claims = []
    for eps, delta in ((1.0, 0.01), (1.0, 0.1), (0.5, 0.05), (0.1, 0.2)):
        published, ours = (100 / (eps - factor * math.log1p(-delta)) for factor in (1, 2))
        drawn = 1 / float(mdp.approximate_laplace(0, 100, Fraction(str(eps)), str(delta)).rate())
        summed, tails, closed = _true_delta(100, ours, eps)
        less = _true_delta(100, 0.99 * ours, eps)[2]
        claims.append(
            claim(f"eps = {eps}, delta = {delta}: the least scale for a width of 100",
                  f"{published:.3f} is enough", f"{ours:.3f}", False,
                  {"its delta by sums of the hockey stick": f"{summed:.6f}", "by two tails": f"{tails:.6f}",
                   "in closed form": f"{closed:.6f}", "with 1% less noise": f"{less:.6f}",
                   "approximate_laplace draws with": f"{drawn:.3f}"}, value=ours)
        )  # fmt: skip

    def draw() -> Any:
        deltas = np.linspace(0.001, 0.3, 60)
        lines = {
            "published": [100 / (1 - math.log1p(-d)) for d in deltas],
            "ours, which uses all of δ": [100 / (1 - 2 * math.log1p(-d)) for d in deltas],
        }
        return curves(lines, deltas, x="δ", y="scale of the noise, width 100", title="Example 5, ε = 1")

    note = "The published scale keeps the promise, too, with more noise than it takes: it is sharpened, not refuted."
    return Found(tuple(claims), {"example5": draw}, note=note)


@register(2, "example6-7", "Randomized response, and the error that it meets", "Examples 6 and 7")
def examples_6_and_7(size: Size) -> Found:
    """Exactly, by the channel and by Theorem 7; and the promise as (eps, delta) with its own sum."""
    claims = []
    for others, odds, delta in ((3, 2, Fraction(0)), (3, 5, Fraction(1, 10)), (15, 8, Fraction(0))):
        space = Space(range(others + 1), mdp.ln(odds) * discrete())
        channel = of(mdp.randomized_response(range(others + 1), mdp.ln(odds), delta=delta), range(others + 1))
        error = reached_error(channel, space).exact
        bound = error_bound(space, delta=delta).theorem_7.exact
        formula = (1 - delta) * Fraction(others, others + odds)
        told = verify(channel, space, delta)
        claims.append(
            claim(f"m + 1 = {others + 1}, e^eps = {odds}, delta = {delta}: error", formula, error, error == formula,
                  {"Theorem 7": bound, "(eps, delta)-private, scale": told.scale}, value=error)
        )  # fmt: skip
    return Found(tuple(claims))
