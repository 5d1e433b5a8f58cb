"""Whether charges stay within a cap: every kind of metric, and every kind of proof."""

import datetime
import itertools
import math
from fractions import Fraction

import pytest

from metricdp.errors import ArgumentError, LevelError, TooLargeError
from metricdp.exact.level import ln
from metricdp.exact.level_sums import LevelSum
from metricdp.ledger.caps import DELTA, Cap
from metricdp.ledger.terms import metric_of
from metricdp.ledger.totals import MOST_TERMS, AccountTotals, Price
from metricdp.metrics import (
    Guarantee,
    absolute,
    add_remove,
    attributes,
    blowfish,
    capped,
    chebyshev,
    dates,
    discrete,
    euclidean,
    graph_of,
    great_circle,
    hamming,
    individuals,
    manhattan,
    matrix,
    maximum,
    nullable,
    records,
    smooth,
    square_integrable,
    supremum,
    symmetric_difference,
    taxonomy,
    unprotected,
    value_budgets,
)


def spent(cap, *charges):
    totals = AccountTotals()
    for charge in charges:
        totals = totals.plus(Price.of(charge if isinstance(charge, Guarantee) else Guarantee(charge)), cap)
    return totals


def refusal(cap, *charges, **options):
    limit = cap if isinstance(cap, Cap) else Cap(cap if isinstance(cap, Guarantee) else Guarantee(cap), **options)

    def exactly(key):
        prices = [limit.priced(Price.of(one if isinstance(one, Guarantee) else Guarantee(one)))[0] for one in charges]
        if key == DELTA:
            return LevelSum(sum((price.guarantee.delta for price in prices), Fraction(0)))
        return LevelSum.total(price.terms[key][1].bound for price in prices if key in price.terms)

    return limit.refusal(spent(limit, *charges), exactly)


# Every kind of metric that a policy can state: a cap twice a charge takes two charges, and not a third.
KINDS = {
    "absolute": absolute() / 10,
    "within": absolute().within(5),
    "great_circle": great_circle().within(200),
    "dates": dates().within(7),
    "euclidean": euclidean(),
    "manhattan": manhattan(),
    "chebyshev": chebyshev(),
    "discrete": discrete() / 2,
    "hamming": hamming() / 2,
    "add_remove": add_remove(),
    "symmetric_difference": symmetric_difference(),
    "records": records(absolute()),
    "records_2": records(absolute(), p=2),
    "attributes": attributes({"age": absolute().within(5), "sex": 0.5, "place": great_circle().within(200)}),
    "records_of_attributes": records(attributes({"age": absolute() / 3, "sex": 0.5})),
    "nullable": nullable(capped(absolute(), 10), 5),
    "nullable_attributes": attributes(
        {"age": nullable(absolute() / 100, 1), "sex": nullable(discrete() * ln(2), ln(2))}
    ),
    "capped": capped(absolute(), 3),
    "blowfish": blowfish(absolute(), 5, 0.5),
    "smooth": smooth(absolute(), 5, ln(2)),
    "maximum": maximum(discrete(), absolute() / 10),
    "sum": discrete() + absolute() * ln(2),
    "taxonomy": taxonomy({"a": "b", "c": "b", "b": "root", "d": "root"}),
    "graph": graph_of("abc", [(0, 1, 1), (1, 2, 2)]),
    "matrix": matrix("abc", [[0, 1, 2], [1, 0, 1], [2, 1, 0]]),
    "individuals": individuals({"ann": 0.1, "bob": 1, "eve": 2}),
    "minimum": individuals({"ann": 1, "bob": 2}, form="minimum"),
    "value_budgets": value_budgets({"native": {"yes": 0.1, "no": 1}, "age": {"<18": 1, "18+": 1}}),
    "supremum": supremum([0, 1, 2]),
    "square_integrable": square_integrable("Fourier"),
    "half_unprotected": attributes({"age": absolute() / 3, "town": unprotected()}),
    "moments": matrix([datetime.date(2026, 1, 1), datetime.date(2026, 1, 2)], [[0, 1], [1, 0]]),
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_capped_charged_and_compared(kind):
    metric = KINDS[kind]
    assert refusal(2 * metric, metric) is None
    assert refusal(2 * metric, metric, metric) is None, "exactly the cap is within it"
    assert refusal(2 * metric, metric, metric, metric * Fraction(1, 10**80)) is not None


def test_a_metric_that_is_infinite_everywhere_takes_anything():
    assert refusal(unprotected(), *[absolute() * 10**9] * 3, unprotected(), unprotected()) is None
    assert refusal(attributes({"a": unprotected(), "b": 1}), attributes({"a": 100 * discrete(), "b": 1})) is None
    assert refusal(discrete() * 10**9, unprotected()) is not None
    assert refusal(nullable(discrete(), math.inf), nullable(discrete(), 7)) is None
    assert refusal(nullable(discrete(), 7), nullable(discrete(), math.inf)) is not None


def test_exact_sums_at_the_cap():
    assert refusal(discrete(), *[discrete() / 3] * 3) is None
    assert refusal(discrete() * ln(6), discrete() * ln(2), discrete() * ln(3)) is None
    assert (
        refusal(discrete() * ln(6), discrete() * ln(2), discrete() * ln(3), discrete() * Fraction(1, 10**90))
        is not None
    )
    tenths = [discrete() * Fraction(1, 10)] * 10
    assert refusal(discrete(), *tenths) is None
    assert refusal(discrete(), *[discrete() * 0.1] * 10) is not None, "the float 0.1 is more than a tenth"


def test_the_exact_form_is_added_up_again_where_it_was_too_long_to_keep():
    harmonic = [discrete() * Fraction(1, k) for k in range(1, 2600)]
    total = sum((Fraction(1, k) for k in range(1, 2600)), Fraction(0))
    cap = Cap(Guarantee(discrete() * total))
    assert next(iter(spent(cap, *harmonic).spent.values())).total.exact is None
    assert refusal(cap, *harmonic) is None
    assert refusal(discrete() * (total - Fraction(1, 10**400)), *harmonic) is not None
    deltas = [Guarantee(discrete() * Fraction(1, 10**9), Fraction(1, 10**5 + k)) for k in range(1400)]
    both = sum((one.delta for one in deltas), Fraction(0))
    assert spent(Cap(Guarantee(discrete(), both)), *deltas).delta.exact is None
    assert refusal(Guarantee(discrete(), both), *deltas) is None
    assert "deltas" in refusal(Guarantee(discrete(), both - Fraction(1, 10**400)), *deltas)


def test_theorems_pay_for_other_metrics():
    assert refusal(manhattan(), euclidean() / 2, chebyshev() / 2) is None
    assert refusal(manhattan(), euclidean() / 2, chebyshev() / 2, manhattan() / 100) is not None
    assert refusal(2 * hamming(), add_remove()) is None
    assert refusal(2 * hamming(), add_remove(), hamming() / 2) is not None
    assert refusal(10 * discrete(), capped(absolute(), 4), capped(absolute(), 6)) is None
    assert refusal(10 * discrete(), capped(absolute(), 4), capped(absolute(), 7)) is not None
    assert refusal(smooth(absolute(), 5), absolute() / 5) is None
    assert refusal(discrete() + absolute(), absolute(), discrete() / 2, capped(absolute(), Fraction(1, 2))) is None


def test_maxima_and_whole_metrics():
    both = maximum(discrete(), absolute() / 10)
    assert refusal(both, both / 2, discrete() / 2) is None
    assert refusal(both, discrete() / 2, discrete() / 2) is None
    assert refusal(discrete() + absolute(), maximum(discrete(), absolute())) is None
    assert refusal(hamming() * 3, records(attributes({"a": 1, "b": 2}))) is None, "each record at most 3 apart"
    assert refusal(hamming() * 3, records(attributes({"a": 1, "b": 3}))) is not None


def test_attributes_are_matched_by_name():
    cap = attributes({"age": absolute() / 5, "sex": 1})
    assert refusal(cap, attributes({"sex": 0.5}), attributes({"age": absolute() / 5}), attributes({"sex": 0.5})) is None
    assert refusal(cap, attributes({"sex": 1, "age": absolute() / 5})) is None
    assert refusal(cap, attributes({"sex": 0.5}), attributes({"sex": 0.6})) is not None
    assert "says nothing about town" in refusal(cap, attributes({"town": 1}))
    assert "no theorem" in refusal(cap, attributes({"sex": absolute()}))


def test_points_decide_what_no_theorem_does():
    assert refusal(4 * discrete(), absolute()) is not None
    assert refusal(Cap(Guarantee(4 * discrete()), points=tuple(range(5))), absolute()) is None
    assert refusal(Cap(Guarantee(4 * discrete()), points=tuple(range(5))), absolute(), discrete() / 100) is not None
    square = graph_of("abcd", [(0, 1, 1), (1, 2, 1), (2, 3, 1), (3, 0, 1)])
    assert refusal(square, matrix("abcd", [[0, 1, 2, 1], [1, 0, 1, 2], [2, 1, 0, 1], [1, 2, 1, 0]])) is None
    assert refusal(square, 2 * discrete()) is not None
    assert refusal(Cap(Guarantee(absolute()), points=(0, 1, 2)), great_circle()) is not None, "other secrets"


def test_points_are_read_by_the_names_of_the_cap():
    """Charges that name attributes in another order were closed, and compared, with one attribute for the other."""
    loose = matrix([0, 1, 2], [[0, 5, 1], [5, 0, 1], [1, 1, 0]], check=False)  # at most 2 when it is closed
    points = tuple(itertools.product(range(3), repeat=2))
    cap = Cap(Guarantee(attributes({"a": 5, "b": 2})), points=points)
    swapped = attributes({"b": loose, "a": Fraction(1, 10)})
    assert refusal(cap, swapped) is None
    assert refusal(cap, swapped, attributes({"a": Fraction(1, 10), "b": Fraction(1, 10)})) is not None
    assert refusal(cap, swapped, attributes({"a": loose, "b": Fraction(1, 10)})) is not None
    assert "says nothing about c" in refusal(cap, attributes({"c": Fraction(1, 10)}))
    line = Cap(Guarantee(attributes({"a": absolute()})), points=((0,), (1,)))
    assert "says nothing about b" in refusal(line, attributes({"b": absolute() / 2}))
    assert "says nothing" in refusal(line, maximum(attributes({"b": absolute() / 2}), discrete() / 2))


def test_a_cap_that_reads_points_in_two_orders_is_compared_by_names_alone():
    """Sums of attributes in two orders were compared tuple by tuple, each part of the cap with another attribute."""
    points = tuple(itertools.product(range(2), repeat=2))
    limit = Cap(Guarantee(attributes({"a": 1, "b": 4}) + attributes({"b": 10, "a": 0.1})), points=points)
    assert refusal(limit, attributes({"a": 1, "b": 14})) is None
    assert refusal(limit, capped(attributes({"a": 5, "b": 1}), 100)) is not None, "5 of a, where 1.1 is allowed"


def test_how_far_points_are_apart_is_read_by_the_names_of_the_cap():
    points = tuple((0, b) for b in range(101))
    cap = attributes({"a": absolute() * 1000, "b": absolute()})
    limit = Cap(Guarantee(cap, "1e-6"), composed_delta=Fraction(1, 10**6), points=points)
    charges = [
        attributes({"a": absolute() / 100, "b": absolute() / 200}),
        attributes({"b": absolute() / 200, "a": absolute() / 100}),
    ]
    (_, there), (_, back) = (limit.priced(Price.of(Guarantee(metric))) for metric in charges)
    assert there == back == Fraction(1, 2)


def test_a_charge_is_closed_over_the_points_unless_it_has_a_delta():
    loose = matrix("abc", [[0, 1, 9], [1, 0, 1], [9, 1, 0]], check=False)
    cap = matrix("abc", [[0, 1, 2], [1, 0, 1], [2, 1, 0]])
    assert refusal(cap, loose) is None
    assert refusal(Guarantee(cap, "0.1"), Guarantee(loose, "0.05")) is not None, "delta does not chain"


def test_a_cap_that_is_no_metric_is_refused():
    with pytest.raises(ArgumentError, match="triangle"):
        Cap(Guarantee(matrix("abc", [[0, 1, 9], [1, 0, 1], [9, 1, 0]], check=False)))


def test_deltas():
    cap = Guarantee(discrete(), "1e-6")
    half = Guarantee(discrete() / 4, "5e-7")
    assert refusal(cap, half, half) is None
    assert "deltas add up" in refusal(cap, half, half, Guarantee(discrete() / 8, "1e-30"))
    assert refusal(discrete(), half) is not None


def test_other_metrics_are_refused_with_their_reason():
    told = refusal(absolute(), great_circle())
    assert "no theorem bounds the one by the other" in told
    assert "points" in told
    assert "cap is 1" in refusal(absolute(), absolute(), absolute())


def test_advanced_composition_is_a_filter():
    small = discrete() / 100
    cap = Cap(Guarantee(discrete() * 2, "1e-6"), composed_delta=Fraction(1, 10**6))
    plain = Cap(Guarantee(discrete() * 2, "1e-6"))
    assert refusal(plain, *[small] * 200) is None
    assert refusal(plain, *[small] * 201) is not None
    assert refusal(cap, *[small] * 1200) is None
    assert "advanced composition" in refusal(cap, *[small] * 1500)
    assert refusal(cap, Guarantee(small, "1e-9"), *[small] * 500) is not None, "the delta is all taken"
    unbounded = Cap(Guarantee(absolute() * 2, "1e-6"), composed_delta=Fraction(1, 10**6))
    assert "no greatest distance" in refusal(unbounded, *[absolute() / 100] * 201)
    finite = Cap(Guarantee(absolute() * 2, "1e-6"), composed_delta=Fraction(1, 10**6), points=(0, 1))
    assert refusal(finite, *[absolute() / 100] * 1200) is None


def test_advanced_composition_splits_the_root_among_attributes():
    cap = attributes({"a": 2, "b": 1})
    charges = [attributes({"a": Fraction(1, 100)}), attributes({"b": Fraction(1, 200)})] * 600
    limit = Cap(Guarantee(cap, "1e-6"), composed_delta=Fraction(1, 10**6))
    assert refusal(limit, *charges) is None
    assert refusal(Cap(Guarantee(cap, "1e-6")), *charges) is not None


def test_what_is_left():
    cap = Cap(Guarantee(attributes({"a": 2 * discrete(), "b": manhattan()})))
    totals = spent(cap, attributes({"a": Fraction(3, 2)}), attributes({"b": euclidean() / 4}))
    assert sorted(cap.left(totals).values()) == [Fraction(1, 2), Fraction(3, 4)]
    assert set(cap.left(spent(cap, attributes({"a": 3}))).values()) == {Fraction(0)}, "nothing is known beyond the cap"


def test_bad_caps_and_charges():
    with pytest.raises(ArgumentError, match="a cap is a Guarantee"):
        Cap(absolute())
    with pytest.raises(ArgumentError, match="a charge is a Guarantee"):
        Price.of(-1)
    with pytest.raises(ArgumentError, match="part of the cap's delta"):
        Cap(Guarantee(absolute(), "1e-9"), composed_delta=Fraction(1, 10))
    with pytest.raises(LevelError):
        Guarantee(-1 * absolute())


def test_too_many_different_metrics_are_refused():
    cap = Cap(Guarantee(discrete() * 10**9))
    with pytest.raises(TooLargeError, match="different metrics"):
        spent(cap, *(capped(absolute(), k) for k in range(1, MOST_TERMS + 2)))


def test_totals_are_written_and_read():
    metrics = [attributes({"a": 1}), attributes({"a": nullable(absolute(), 3)}), euclidean() * ln(2)]
    cap = Cap(Guarantee(manhattan(), "1e-3"), composed_delta=Fraction(1, 10**4))
    totals = spent(cap, *(Guarantee(metric, "1e-9") for metric in metrics))
    units = {one.term.digest: one.term.unit for one in totals.spent.values()}
    assert AccountTotals.from_json(totals.to_json(), units.__getitem__) == totals


@pytest.mark.parametrize("names", list(itertools.permutations("ab")))
def test_the_order_of_charges_does_not_matter(names):
    cap = attributes({"a": 1, "b": 1})
    assert refusal(cap, *(attributes({name: 1}) for name in names)) is None
    assert refusal(cap, *(attributes({name: 1}) for name in names), attributes({"a": Fraction(1, 10**9)})) is not None


def test_the_delta_of_advanced_composition_is_set_aside_from_the_beginning():
    """Or whoever asks could choose by the answers which of two things the same delta is spent on, and have both."""
    cap = Cap(Guarantee(discrete() * 2, "3e-6"), composed_delta=Fraction(1, 10**6))
    assert refusal(cap, Guarantee(discrete() / 100, "2e-6")) is None
    assert "deltas add up" in refusal(cap, Guarantee(discrete() / 100, "2.5e-6"))


def test_what_is_infinite_beside_other_parts_is_never_used_up():
    """It was counted like a level: the third release of a public column was refused."""
    metric = attributes({"age": absolute(), "name": unprotected()})
    most = attributes({"age": absolute() * 3, "name": unprotected()})
    assert refusal(most, metric, metric, metric) is None
    assert "age: together a little more than 3, and the cap is 3" in refusal(most, *[metric] * 3, metric / 10**30)
    told = refusal(attributes({"age": absolute(), "name": 1}), metric)
    assert "name would be told as it is, and the cap protects it" in told
    cap = Cap(Guarantee(most))
    assert sorted(cap.left(AccountTotals().plus(Price.of(Guarantee(metric)), cap)).values()) == [1, 2]


@pytest.mark.parametrize("charges", [0, 50, 300, 1200])
def test_what_is_left_is_accepted_under_advanced_composition_too(charges):
    """It was the cap less what was spent, and a charge of so much adds more than its level."""
    cap = Cap(Guarantee(attributes({"a": 1, "b": 1}), Fraction(1, 10**6)), Fraction(1, 10**6))
    one, totals = Price.of(Guarantee(attributes({"a": 1, "b": 1}) / 400)), AccountTotals()
    for _ in range(charges):
        totals = totals.plus(one, cap)
    assert cap.refusal(totals, lambda key: totals.spent[key].total.bound) is None
    left = cap.left(totals)
    assert all(level > 0 for level in left.values())
    levels = {cap.terms[key][0]: LevelSum(level) for key, level in left.items()}
    more = totals.plus(Price.of(Guarantee(metric_of(levels, ["a", "b"]))), cap)
    assert cap.refusal(more, lambda key: more.spent[key].total.bound) is None
