"""Outward rounding never rounds inward, and flint's precision is put back."""

import math
import threading
from fractions import Fraction

import pytest
from flint import arb, ctx
from hypothesis import given
from hypothesis import strategies as st

from metricdp.exact.balls import (
    Enclosure,
    ball,
    decide_sign,
    exp_bounds,
    float_above,
    float_below,
    log_bounds,
    precision,
)


@given(st.fractions())
def test_floats_are_rounded_outward(number):
    below, above = float_below(number), float_above(number)
    assert Fraction(below) <= number <= Fraction(above)
    assert below == above or math.nextafter(below, math.inf) == above


def test_huge_rationals_round_to_infinity_on_the_outer_side():
    assert float_above(Fraction(10) ** 400) == math.inf
    assert float_below(Fraction(10) ** 400) == math.nextafter(math.inf, 0)


@given(st.floats(-700, 700))
def test_exp_bounds_bracket_by_log(x):
    low, high = exp_bounds(x)
    assert low < high or x == 0
    with precision(256):
        assert arb(low).log() <= arb(x)
        assert arb(high).log() >= arb(x)
    assert high <= math.nextafter(math.nextafter(low, math.inf), math.inf)


@given(st.floats(1e-300, 1e300))
def test_log_bounds_bracket_by_exp(x):
    low, high = log_bounds(x)
    assert low <= high
    with precision(256):
        assert arb(low).exp() <= arb(x) or low == high == 0
        assert arb(high).exp() >= arb(x) or low == high == 0


def fail_at(bits):
    with precision(bits):
        assert ctx.prec == bits
        raise ZeroDivisionError


def test_precision_is_put_back_even_after_an_error():
    before = ctx.prec
    with pytest.raises(ZeroDivisionError):
        fail_at(777)
    assert ctx.prec == before


def test_precision_is_one_threads_at_a_time():
    wrong = []

    def work(bits: int) -> None:
        for _ in range(300):
            with precision(bits):
                ball(Fraction(1, 3))
                if ctx.prec != bits:
                    wrong.append(bits)

    threads = [threading.Thread(target=work, args=(bits,)) for bits in (64, 128, 256)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_signs_are_decided_or_said_to_be_undecided():
    assert decide_sign(lambda: ball(2).sqrt() - ball(Fraction(141421356237309504880168872420969807856, 10**38))) == 1
    assert decide_sign(lambda: ball(8).sqrt() - 2 * ball(2).sqrt()) == 0
    assert decide_sign(lambda: ball(-1)) == -1


def test_enclosures_of_the_infinite():
    assert Enclosure.of(arb.pos_inf()) == Enclosure(math.inf, math.inf)
    assert Enclosure.of(arb.nan()) == Enclosure(-math.inf, math.inf)
    assert Enclosure(math.inf, math.inf).width == 0


@pytest.mark.parametrize("power", [10, 20, 100, 330])
def test_numbers_that_no_memory_holds_are_enclosed(power):
    with precision(96):
        small = (-ball(10**power)).exp()
        enclosed = Enclosure.of(small)
        assert enclosed.lower <= 0 < enclosed.upper
        assert enclosed.upper < Fraction(1, 2**1000)
        large = Enclosure.of(ball(10**power).exp())
        assert large.upper == math.inf
        negative = Enclosure.of(-small)
        assert negative.lower < 0 <= negative.upper
