"""Paper 1: its propositions and theorems on examples."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import metricdp as mdp
from metricdp.adversaries import (
    hiding_bound,
    informed_bound,
    knowing_others,
    knowing_others_within,
    knowing_within,
    maximally_tight,
    monotone,
    replacing_value,
    substituting_all_values,
    substituting_values,
    tight,
)
from metricdp.channels import Channel, of, verify
from metricdp.design import answer_space, universal_mechanism, universally_optimal
from metricdp.metrics import (
    Guarantee,
    Metric,
    Space,
    absolute,
    add_remove,
    chebyshev,
    hamming,
    manhattan,
    normalized_manhattan,
    nullable,
    records,
)
from metricdp.papers.item import Found, Size, claim, register
from metricdp.queries import Average, FiniteFunction, Percentile, Sum, follows_values, sensitivity, uniformity

_VALUES, _PEOPLE = (0, 1, 3), 2
_DATABASES = list(itertools.product(_VALUES, repeat=_PEOPLE))
_K = 2
_BASE = nullable(absolute(), _K)
_WITH_NULLS = [x for x in itertools.product([0, 1, 2, None], repeat=2) if x != (None, None)]
_OPTIONS: dict[str, Any] = {"bounds": (0, _K), "records": 2, "nulls": True}


def _response(space: Space, odds: int) -> Channel:
    """Each individual answers the truth with odds to 1 against each other value: ln(odds) dh-private."""

    def share(x: Any, z: Any) -> Fraction:
        parts = (Fraction(odds if a == b else 1, odds + len(_VALUES) - 1) for a, b in zip(x, z, strict=True))
        return math.prod(parts, start=Fraction(1))

    return Channel.from_matrix(space.points, space.points, [[share(x, z) for z in space.points] for x in space.points])


@register(1, "thm1-2", "What an adversary learns about one individual", "Theorems 1 and 2")
def theorems_1_and_2(size: Size) -> Found:
    """Randomized response on pairs of values from {0, 1, 3} at ln 3."""
    space = Space(_DATABASES, mdp.ln(3) * hamming())
    channel = _response(space, 3)
    informed: list[Any] = [informed_bound(space, members, channel) for members in knowing_others(_VALUES, _PEOPLE)]
    hidings = replacing_value(_VALUES, _PEOPLE)
    hiding: list[Any] = [hiding_bound(space, hide, channel) for hide in hidings]
    most = max(float(bound.truth.ratio.upper) for bound in hiding)

    def spread(hide: Any, z: Any) -> Fraction:
        odds = [channel.probability(x, z) / channel.probability(hide[x], z) for x in space.points]
        return max(odds) / min(odds)

    single = max(spread(hidings[0], z) for z in space.points)
    return Found(
        (
            claim("Theorem 2, at most eps", True, all(bound.holds for bound in informed)),
            claim("its largest, as a factor", "3, or e^eps", informed[0].truth.ratio.upper,
                  informed[0].truth.ratio.upper == 3, value=informed[0].truth.ratio.upper),
            claim("Theorem 1, at most 2 eps", True, all(bound.holds for bound in hiding)),
            claim("its largest on sets of outputs, as a factor", None, f"{most:.6g} of 9",
                  ways={"single outputs alone": single, "25/6": float(Fraction(25, 6))}, value=most),
        )
    )  # fmt: skip


@register(1, "thm3-4", "The two characterisations, and their converses", "Theorems 3 and 4")
def theorems_3_and_4(size: Size) -> Found:
    """A channel that is private for ln 3, asked whether it is for ln 2."""
    space, weaker = (Space(_DATABASES, mdp.ln(odds) * hamming()) for odds in (3, 2))
    channel = _response(space, 3)
    hides = substituting_values(_VALUES, _PEOPLE)
    swaps = [hide for hide in hides if all(hide[hide[x]] == x for x in hide)]
    bounds: list[Any] = [hiding_bound(space, hide, channel) for hide in swaps]
    ratios = {bound.truth.ratio.upper for bound in bounds}
    broken = any(
        informed_bound(weaker, members, channel).holds is False for members in knowing_others(_VALUES, _PEOPLE)
    )
    three = Space(_DATABASES, mdp.ln("3/2") * hamming())
    other = _response(three, 2)
    kept = all(hiding_bound(three, hide, other).holds for hide in replacing_value(_VALUES, _PEOPLE))
    return Found(
        (
            claim("Theorem 3, at most 2 d(phi); swaps approach", "9, or e^(2 eps)", max(ratios), max(ratios) == 9,
                  value=max(ratios)),
            claim("Theorem 4: a channel that is not private breaks it", True, broken),
            claim("without maximal tightness the converse fails", True, kept and not verify(other, three).holds),
        )
    )  # fmt: skip


@register(1, "prop2", "Which families are maximally tight", "Propositions 2 and 9, section 3")
def proposition_2(size: Size) -> Found:
    """Hiding functions and neighbourhoods of databases of two people with values 0, 1, 3."""
    dh, d1, normal = (Space(_DATABASES, d) for d in (hamming(), manhattan(), manhattan() / 3))
    claims = []
    for name, space in (("d1", d1), ("normalised d1", normal)):
        claims += [
            claim(f"Phi-1 is, for {name}", True,
                  maximally_tight(space, hidings=substituting_values(_VALUES, _PEOPLE)).holds),
            claim(f"N-1 is, for {name}", True,
                  maximally_tight(space, neighbourhoods=knowing_others_within(_VALUES, _PEOPLE)).holds),
            claim(f"N-h is tight for {name}, not maximally", True,
                  tight(space, knowing_others(_VALUES, _PEOPLE)).holds
                  and not maximally_tight(space, neighbourhoods=knowing_others(_VALUES, _PEOPLE)).holds),
        ]  # fmt: skip
    claims += [
        claim("N-h is, for dh", True, maximally_tight(dh, neighbourhoods=knowing_others(_VALUES, _PEOPLE)).holds),
        claim("Phi-h is, for dh", False, maximally_tight(dh, hidings=replacing_value(_VALUES, _PEOPLE)).holds),
    ]
    return Found(tuple(claims))


@register(1, "families", "Phi-infinity and N-infinity are maximally tight", "Section 6.1, Proposition 10")
def families(size: Size) -> Found:
    """Families that substitute, or know, the values of all individuals at once, under d-infinity."""
    values = size.pick((0, 1, 3), (0, 1, 2))
    space = Space(itertools.product(values, repeat=_PEOPLE), chebyshev())
    hidings = substituting_all_values(values, _PEOPLE)
    neighbourhoods = knowing_within(values, _PEOPLE)
    narrow = maximally_tight(space, neighbourhoods=knowing_others_within(values, _PEOPLE))
    return Found(
        (
            claim("Phi-infinity is, for d-infinity", True, maximally_tight(space, hidings=hidings).holds,
                  ways={"functions": len(hidings)}),
            claim("N-infinity is, for d-infinity", True, maximally_tight(space, neighbourhoods=neighbourhoods).holds,
                  ways={"neighbourhoods": len(neighbourhoods)}),
            claim("N-1 is, for d-infinity", None, narrow.holds, ways={"missing": str(narrow)}),
        ),
        note=f"Databases of two people with values {', '.join(map(str, values))}.",
    )  # fmt: skip


@register(1, "prop3-5", "Normalised d1, and the class C of queries", "Propositions 3 to 5, Definition 8, footnote 10")
def propositions_3_to_5(size: Size) -> Found:
    """Sum, average and percentiles of two values from {0, 1, 2, null}, and a query that is not in the class."""
    grid = list(itertools.product(range(4), repeat=2))
    queries = [
        Sum(**_OPTIONS),
        Average(**_OPTIONS, rounding="floor"),
        Average(**_OPTIONS, rounding="half-up"),
        *(Percentile(p, **_OPTIONS) for p in (0, 50, 100)),
    ]
    found = {str(query): follows_values(query, _BASE) for query in queries}
    same = all(sensitivity(q, d, absolute()).value == _K for q in queries for d in (hamming(), records(_BASE) / _K))
    brute = all(
        uniformity(FiniteFunction(query.evaluate, _WITH_NULLS), hamming(), absolute()).sensitivity == _K
        for query in queries
    )
    doubled = follows_values(lambda x: 2 * sum(v or 0 for v in x), _BASE, databases=_WITH_NULLS)
    away = Sum((5, 7), records=2, nulls=True)
    return Found(
        (
            claim("normalised d1 is nowhere above dh", True,
                  Guarantee(normalized_manhattan(3)).implies(Guarantee(hamming()), grid)),
            claim("sum, average, percentiles are in C", True, all(found.values())),
            claim("both sensitivities are the diameter of V", True, same,
                  ways={"by brute force over all databases": brute}),
            claim("twice the sum is in C", None, f"no: {doubled.reason}"),
            claim("footnote 10: values 5 to 7 and null, for dh", None, sensitivity(away, hamming(), absolute()).value,
                  ways={"max(|lo|, |hi|, hi - lo)": 7}, value=7),
            claim("eps dh implies eps dr", "with a factor 2", "for free; only the reverse doubles", False,
                  {"Guarantee(dh) <= Guarantee(dr)": Guarantee(hamming()) <= Guarantee(add_remove()),
                   "a record replaced is one removed and one added":
                       f"dr = {add_remove()((1, 2), (1, 3)):g} where dh = {hamming()((1, 2), (1, 3)):g}"}),
        )
    )  # fmt: skip


def _total(x: Sequence[Any]) -> int:
    return sum(v for v in x if v is not None)


def _half_up(x: Sequence[Any]) -> int:
    present = [v for v in x if v is not None]
    return math.floor(Fraction(sum(present), len(present)) + Fraction(1, 2))


def _half_even(x: Sequence[Any]) -> int:
    present = [v for v in x if v is not None]
    return round(Fraction(sum(present), len(present)))


def _median(x: Sequence[Any]) -> Any:
    present = sorted(v for v in x if v is not None)
    return present[math.floor(Fraction(1, 2) * len(present) + 1) - 1]


_LOSSES: dict[str, Callable[[Any], Any]] = {
    "bin": lambda d: int(d > 0),
    "distance": lambda d: d,
    "squared": lambda d: d**2,
    "beyond one": lambda d: int(d > 1),
}


def _excess(query: Callable[[Any], Any], metric: Metric, level: Any, databases: Sequence[Any]) -> tuple[bool, Any]:
    """Whether the induced metric is that of a line, and the worst excess of the geometric mechanism over all priors."""
    answers = answer_space(query, Space(databases, level * metric))
    unit = answers.metric.unit
    line = all(unit.exactly(y, z) == abs(y - z) for y in answers.points for z in answers.points)
    channel = of(mdp.truncated_geometric(level * absolute(), steps=len(answers) - 1), answers.points)
    worst = Fraction(0)
    for m in _LOSSES.values():
        result = universally_optimal(channel, answers, monotone(Space(answers.points, absolute()), m))
        worst = max(worst, Fraction(result.excess.upper))
    return line, worst


@register(
    1, "thm8", "The truncated geometric mechanism is optimal for counting queries", "Theorem 8, Propositions 6 to 8"
)
def theorem_8(size: Size) -> Found:
    """Over all priors and four monotone losses, decided exactly."""
    claims = []
    for people in range(1, size.pick(4, 3) + 1):
        bits = list(itertools.product((0, 1), repeat=people))
        line, worst = _excess(sum, hamming(), mdp.ln(2), bits)
        claims.append(
            claim(f"n = {people}: excess over the best mechanism", "0", worst, line and worst == 0, value=worst)
        )
    return Found(tuple(claims), size=size.reduced("up to 3 people in place of 4"))


@register(1, "thm9", "Nothing is optimal for sums under dh", "Theorem 9")
def theorem_9(size: Size) -> Found:
    """Refuted with finitely many priors, for guessing and for the distance each."""
    level = mdp.ln("3/2")
    claims = []
    for query in (_total, _median)[: size.pick(2, 1)]:
        answers = answer_space(query, Space(_WITH_NULLS, level * hamming()))
        for name in ("bin", "distance"):
            found = universal_mechanism(answers, monotone(Space(answers.points, absolute()), _LOSSES[name]))
            priors = 0 if found else len(found.witness)
            claims.append(
                claim(f"{query.__name__.strip('_')}, {name}: an optimal mechanism exists", False, bool(found),
                      ways={"priors that refute all mechanisms together": priors})
            )  # fmt: skip
    return Found(tuple(claims), size=size.reduced("the sum alone"))


@register(1, "thm10-13", "Optimal for sum, average and percentiles under other metrics", "Theorems 10 to 13")
def theorems_10_to_13(size: Size) -> Found:
    """Manhattan and largest-difference metrics on two values from {0, 1, 2, null}; half-even rounding breaks it."""
    d1, largest = records(_BASE), records(_BASE, math.inf)
    cases: list[tuple[str, Callable[[Any], Any], Metric]] = [
        ("sum, d1", _total, d1), ("average, d1", _half_up, d1), ("median, d1", _median, d1),
        ("average, d-infinity", _half_up, largest), ("median, d-infinity", _median, largest),
    ]  # fmt: skip
    claims = []
    for name, query, metric in cases[:: size.pick(1, 2)]:
        line, worst = _excess(query, metric, mdp.ln(2), _WITH_NULLS)
        claims.append(claim(f"{name}: excess over the best mechanism", "0", worst, line and worst == 0, value=worst))
    uneven = uniformity(FiniteFunction(_half_even, _WITH_NULLS), largest, absolute())
    assert uneven.witness is not None
    x, y = uneven.witness
    claims.append(
        claim("average under d-infinity, rounded half to even: sensitivity", "1", uneven.sensitivity, False,
              {"all pairs of databases": uneven.sensitivity,
               f"{x} and {y}": f"{_half_even(x)} and {_half_even(y)}, at distance {largest.exactly(x, y)}"},
              value=uneven.sensitivity)
    )  # fmt: skip
    return Found(tuple(claims), size=size.reduced("every other query"))
