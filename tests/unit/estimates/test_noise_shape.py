"""The scale of noise is told from its law, however few cells there are and however coarse they are."""

import pytest

import metricdp as mdp
from metricdp.estimates.noise_shape import is_geometric, noise_scale, noise_tail

LINE = mdp.metrics.absolute()


@pytest.mark.parametrize("epsilon", [0.001, 0.5, 3, 12])
@pytest.mark.parametrize("last", [1, 2, 3, 50])
def test_of_a_truncated_geometric_mechanism(epsilon, last):
    noise = mdp.truncated_geometric(epsilon * LINE, last)
    assert noise_tail(noise) == pytest.approx(1 / epsilon, rel=1e-6)
    assert noise_scale(noise) == pytest.approx(max(0.5, 1 / epsilon), rel=1e-6)
    assert is_geometric(noise)


@pytest.mark.parametrize("resolution", ["1/1000", 1, 10])
def test_of_laplace_noise_on_any_grid(resolution):
    noise = mdp.laplace(LINE / 3, resolution=resolution)
    assert noise_tail(noise.cells) == pytest.approx(3, rel=1e-6)
    assert not is_geometric(noise.cells)


def test_far_finer_and_far_coarser_grids_than_the_noise():
    assert noise_tail(mdp.laplace(LINE, resolution="1/1000000000").cells) == pytest.approx(1, rel=1e-3)
    assert 0 < noise_tail(mdp.laplace(5000 * LINE, resolution=1).cells) < 0.01
