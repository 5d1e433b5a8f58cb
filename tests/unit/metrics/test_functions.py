import math

import pytest

from metricdp.errors import ArgumentError, ShapeError
from metricdp.metrics import chebyshev, euclidean, square_integrable, supremum


def test_they_are_norms_of_samples_and_coefficients_under_their_own_names():
    x, y = (0, 1, 2), (3, 1, 6)
    assert supremum()(x, y) == 4
    assert square_integrable()(x, y) == 5
    assert supremum() != chebyshev()
    assert square_integrable() != euclidean()
    assert (str(supremum()), str(square_integrable())) == ("‖x − y‖∞", "‖x − y‖₂")


def test_more_samples_never_bring_functions_closer():
    coarse, fine = range(0, 11, 5), range(11)
    sampled = [supremum(times)([math.sin(t) for t in times], [math.cos(t) for t in times]) for times in (coarse, fine)]
    assert sampled[0] < sampled[1] < math.sqrt(2)


def test_the_number_of_samples():
    d = supremum([0, 0.5, 1])
    for call in (d, d.exactly):
        with pytest.raises(ShapeError):
            call((0, 0), (1, 1))


@pytest.mark.parametrize("times", [[], [0, 0], [1, 0]])
def test_bad_times(times):
    with pytest.raises(ArgumentError):
        supremum(times)


def test_a_basis_is_a_name():
    assert square_integrable("Fourier") != square_integrable()
    with pytest.raises(ArgumentError):
        square_integrable(5)
