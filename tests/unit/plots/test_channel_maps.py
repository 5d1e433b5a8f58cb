"""Pictures of channels: what is drawn where, and how large."""

import math

import numpy as np
import pytest
from matplotlib.patches import Circle

import metricdp as mdp
from metricdp.channels import Channel
from metricdp.channels.proved import Proved
from metricdp.errors import ArgumentError, KindError, UnknownCategoryError
from metricdp.exact import ln
from metricdp.metrics import Guarantee, euclidean, great_circle
from metricdp.plots.channel_maps import channel_map
from metricdp.plots.heat_maps import channel_shades
from metricdp.plots.saving import save

CORNERS = [(0, 0), (0, 4), (3, 0)]
NOISE = Channel.from_matrix(CORNERS, CORNERS, [["1/2", "1/4", "1/4"], ["1/4", "3/4", 0], ["1/4", "1/4", "1/2"]])


def bubbles(figure):
    """Where each disc is, and how large."""
    discs = figure.axes[0].collections[1]
    return {tuple(place): size for place, size in zip(discs.get_offsets().tolist(), discs.get_sizes(), strict=True)}


def test_bubbles_are_as_large_as_they_are_likely():
    first, second = bubbles(channel_map(NOISE, (0, 0))), bubbles(channel_map(NOISE, (0, 4)))
    assert set(first) == set(CORNERS)
    assert first[0, 0] == pytest.approx(2 * first[0, 4])
    assert set(second) == {(0, 0), (0, 4)}, "what never is released has none"
    assert second[0, 4] == pytest.approx(3 * second[0, 0])


def test_names_and_bars():
    figure = channel_map(NOISE, (0, 4), names={(0, 0): "home", (0, 4): "work", (3, 0): "school"})
    assert figure.axes[0].get_title(loc="left") == "What is released for work"
    assert [text.get_text() for text in figure.axes[1].get_yticklabels()] == ["work", "home"]
    assert {"home", "work", "school"} <= {text.get_text() for text in figure.axes[0].texts}
    assert [text.get_text() for text in figure.axes[1].texts] == ["75%", "25%"]


def test_the_circle_of_a_factor_two():
    figure = channel_map(NOISE.promising(Proved(ln(2) / 5 * euclidean())), (0, 4))  # for the picture
    (circle,) = [patch for patch in figure.axes[0].patches if isinstance(patch, Circle)]
    assert circle.center == (0, 4)
    assert circle.radius == pytest.approx(5)
    assert "places 5 apart" in figure.axes[0].get_xlabel()
    assert not [patch for patch in channel_map(NOISE, (0, 4)).axes[0].patches if isinstance(patch, Circle)]


def test_on_the_globe_in_metres():
    """Two places on both sides of the date line, 2 degrees of longitude apart at 60 degrees north: 1 degree of arc."""
    places = [(60.0, 179.0), (60.0, -179.0), (61.0, 180.0)]
    channel = Channel.from_matrix(places, places, np.full((3, 3), 1 / 3)).promising(Guarantee(great_circle() / 10**6))
    (west, east, north) = bubbles(channel_map(channel, places[0]))
    assert math.dist(west, east) == pytest.approx(6371008.8 * math.radians(1), rel=0.02)
    assert north[1] - west[1] == pytest.approx(6371008.8 * math.radians(1), rel=1e-6)
    assert west[0] < 0 < east[0]


def test_places_of_their_own():
    channel = Channel.from_matrix(["a", "b"], ["a", "b"], [["1/2", "1/2"]] * 2)
    assert set(bubbles(channel_map(channel, "a", {"a": (1, 2), "b": (3, 5)}))) == {(1, 2), (3, 5)}
    with pytest.raises(KindError, match="'a' has no two coordinates"):
        channel_map(channel, "a")
    with pytest.raises(UnknownCategoryError, match="'c' is not among the inputs"):
        channel_map(channel, "c")


def test_many_outputs_are_summed_up():
    points = [(i, j) for i in range(6) for j in range(6)]
    channel = Channel.from_matrix(points, points, [["1/36"] * 36] * 36)
    bars = channel_map(channel, (0, 0)).axes[1]
    assert [text.get_text() for text in bars.get_yticklabels()][-1] == "26 others"
    assert bars.texts[-1].get_text() == "72%"


@pytest.mark.parametrize("places", [[(0, 0)], [(0, 0), (5, 0)], [(0, 0), (0, 1e-9)]])
def test_few_places(places):
    count = len(places)
    channel = Channel.from_matrix(places, places, [[f"1/{count}"] * count] * count)
    axes = channel_map(channel, places[0]).axes[0]
    assert axes.get_xlim()[0] < axes.get_xlim()[1]
    assert axes.get_ylim()[0] < axes.get_ylim()[1]


def test_shades_put_numbers_in_order():
    channel = Channel.from_matrix([2, 0, 1], ["b", "a"], [["3/4", "1/4"], ["1/8", "7/8"], ["1/2", "1/2"]])
    axes = channel_shades(channel, {1: "one"}).axes[0]
    assert axes.images[0].get_array().tolist() == [[0.125, 0.875], [0.5, 0.5], [0.75, 0.25]]
    assert [text.get_text() for text in axes.get_yticklabels()] == ["0", "one", "2"]
    assert [text.get_text() for text in axes.get_xticklabels()] == ["b", "a"]
    assert {text.get_text() for text in axes.texts} == {"12", "88", "50", "75", "25"}


def test_shades_of_many():
    axes = channel_shades(Channel.from_matrix(range(70), range(70), np.eye(70))).axes[0]
    assert len(axes.get_yticklabels()) <= 30
    assert not axes.texts


@pytest.mark.parametrize("form", ["svg", "png", "pdf"])
def test_the_same_bytes(tmp_path, form):
    for name in ("one", "two"):
        save(channel_map(NOISE, (0, 0)), tmp_path / name, form)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_a_prior_in_any_form_and_one_that_does_not_fit():
    corners = [(0, 0), (0, 1), (1, 0)]
    noise = mdp.Channel.from_matrix(corners, corners, [["1/2", "1/4", "1/4"]] * 3)
    for prior in ("uniform", [0.5, 0.25, 0.25], {(0, 0): 1}, mdp.adversaries.Prior.uniform(corners)):
        channel_map(noise, (0, 0), prior=prior)
    with pytest.raises(ArgumentError):
        channel_map(noise, (0, 0), prior=[1, 0])
