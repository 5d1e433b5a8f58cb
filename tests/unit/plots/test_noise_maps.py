"""Mechanisms on a map."""

import pytest

import metricdp as mdp
from metricdp.errors import ArgumentError, KindError
from metricdp.metrics import euclidean, great_circle, manhattan
from metricdp.plots import data_of, mechanism_map, noise_figure, words_of


def test_on_the_globe_in_metres():
    K = mdp.laplace(great_circle().within(200))
    figure = mechanism_map(
        K, (48.0, 2.0), releases=[(48.001, 2.0)], places={"café": (48.0, 2.001)}, circles={"search": ((48.0, 2.0), 500)}
    )
    axes = figure.axes[0]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("east of the secret, m", "north of it, m")
    names = [text.get_text() for text in axes.get_legend().get_texts()]
    assert names == [
        f"50% within {K.radius(0.5):,.0f} m",
        f"95% within {K.radius(0.95):,.0f} m",
        "releases",
        "search",
        "secret",
    ]
    assert data_of(figure)[0]["releases"][0] == pytest.approx([0, 111.195], abs=0.01)
    assert "95% within 1,369 m; 1 releases shown" in words_of(figure)


def test_in_the_plane_by_the_metric_s_own_distance():
    figure = mechanism_map(mdp.laplace(manhattan(), dim=2), (3, 4), shares=[0.9], unit="km")
    assert figure.axes[0].get_xlabel() == "km"
    (line,) = data_of(figure)[0]["lines"]
    assert line["radius"] == mdp.laplace(manhattan(), dim=2).radius(0.9)
    with pytest.raises(KindError, match="two coordinates"):
        mechanism_map(mdp.laplace(euclidean(), dim=3), (1, 2, 3))


def test_noise_into_a_panel():
    from matplotlib.figure import Figure

    own = Figure()
    K = mdp.laplace(mdp.metrics.absolute())
    assert noise_figure(K, "days", ax=own.add_subplot()) is own
    assert own.axes[0].get_xlabel() == "released - secret, days"
    assert data_of(own)[0]["radius"] == pytest.approx(K.radius(0.95))


def test_releases_beyond_the_antimeridian_are_near_by():
    noise = mdp.laplace(mdp.metrics.great_circle().within(20_000, factor=2))
    figure = mechanism_map(noise, (-17.0, 179.99), releases=[(-17.1, -179.9), (-16.9, 179.8)])
    first, second = data_of(figure)[0]["releases"]
    assert 0 < first[0] < 20_000
    assert -30_000 < second[0] < 0


def test_a_map_beyond_a_pole_is_refused():
    noise = mdp.laplace(mdp.metrics.great_circle().within(2000, factor=2))
    with pytest.raises(KindError, match="beyond a pole"):
        mechanism_map(noise, (89.99, 0))


def test_both_axes_and_the_legend_say_the_unit():
    figure = mechanism_map(mdp.laplace(mdp.metrics.euclidean().within(200), dim=2), (0, 0), unit="m")
    axes = figure.axes[0]
    assert axes.get_xlabel() == axes.get_ylabel() == "m"
    assert "50% within 484 m" in [text.get_text() for text in axes.get_legend().get_texts()]


def test_what_is_no_secret_and_no_share():
    mechanism = mdp.laplace(mdp.metrics.euclidean().within(200), dim=2)
    for secret in (5, "here", (1, 2, 3), None):
        with pytest.raises(KindError, match="two coordinates"):
            mechanism_map(mechanism, secret)
    with pytest.raises(ArgumentError, match="at least one share"):
        mechanism_map(mechanism, (0, 0), shares=[])
