"""Releases of channels follow their integers: two-sided, and a channel that is 10% off is told apart."""

from fractions import Fraction

import numpy as np
import pytest

import metricdp as mdp
from metricdp.channels import Channel, certify, of
from metricdp.exact import decide_all_by_balls
from tests.statistical.harness import DRAWS, check_table, fits_table, plausible, unrelated

m = mdp.metrics
F = Fraction


def skewed(table, factor):
    """The same with every probability to a power, and divided by the sum: sharper or flatter by 10%."""
    powers = {key: value**factor for key, value in table.items()}
    return {key: value / sum(powers.values()) for key, value in powers.items()}


def law(channel, x):
    table = {z: float(channel.probability(x, z)) for z in channel.outputs}
    return lambda factor: table if factor == 1 else skewed(table, factor)


CHANNELS = {
    "small integers": Channel.from_matrix("xy", "abcd", [["1/2", "1/3", "1/6", 0], [0, "1/7", "2/7", "4/7"]]),
    "long integers": Channel.from_matrix(
        "xy",
        "abc",
        [
            [F(1, 3) + F(1, 7**900), F(1, 6), F(1, 2) - F(1, 7**900)],
            [F(1, 10), F(2, 10) - F(1, 2**3000), F(7, 10) + F(1, 2**3000)],
        ],
    ),
    "with the rarest": Channel.from_matrix(
        "xy", "abc", [[F(1, 2**500), F(1, 4), F(3, 4) - F(1, 2**500)], ["1/5", "3/5", "1/5"]]
    ),
    "geometric": of(mdp.truncated_geometric(m.absolute(), steps=6), range(7)),
    "certified": certify(np.array([[0.7, 0.2, 0.1], [0.1, 0.2, 0.7]]), mdp.Space.line(2, mdp.ln(3) * m.absolute())),
}


@pytest.mark.parametrize("name", CHANNELS)
def test_releases_follow_the_row(name):
    channel = CHANNELS[name]
    for x in (channel.inputs[0], channel.inputs[-1]):
        released = channel.release([x] * DRAWS)
        check_table(released, law(channel, x))
        assert all(channel.probability(x, z) > 0 for z in set(released))


def test_rows_are_not_mixed_up():
    channel = CHANNELS["small integers"]
    secrets = np.array(["x", "y", "y"] * (DRAWS // 3))
    released = channel.release(secrets)
    for x in "xy":
        assert fits_table(released[secrets == x].tolist(), law(channel, x)(1))
        other = law(channel, "y" if x == "x" else "x")(1)
        assert not fits_table(released[secrets == x].tolist(), other)


def test_many_outputs():
    """A thousand outputs, more than a table of first bits tells apart at once."""
    n = 1000
    weights = np.arange(1, n + 1).astype(object)[None, :]
    channel = Channel(("x",), tuple(range(n)), weights, int(weights.sum()))
    counts = np.bincount(channel.release(np.array(["x"] * DRAWS, dtype=object)).astype(int), minlength=n)
    probabilities = channel.matrix[0]
    assert plausible(counts, DRAWS, probabilities)
    assert not plausible(counts, DRAWS, np.full(n, 1 / n))
    halves = counts.reshape(10, -1).sum(axis=1)
    assert plausible(halves, DRAWS, probabilities.reshape(10, -1).sum(axis=1))
    flat = (1 - 0.1) * probabilities + 0.1 / n
    assert not plausible(halves, DRAWS, flat.reshape(10, -1).sum(axis=1))


def test_the_slow_path_follows_it_too():
    channel = CHANNELS["small integers"]
    with decide_all_by_balls():
        check_table(channel.release(["x"] * 200_000), law(channel, "x"))


def test_one_draw_tells_nothing_of_the_next():
    channel = CHANNELS["geometric"]
    released = np.array(channel.release([3] * 40_000), dtype=float)
    released += np.random.default_rng(1).random(released.size) / 2  # so that a median divides it
    assert unrelated(released[:-1], released[1:])
    assert not unrelated(released, released)
