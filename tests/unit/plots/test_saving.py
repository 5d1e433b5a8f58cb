"""Figures become files: whole or not at all, the same bytes for the same figure."""

import xml.dom.minidom

import pytest

import metricdp as mdp
from metricdp.errors import ArgumentError, FileError
from metricdp.plots import curves, noise_figure, save


@pytest.fixture(scope="module")
def figure():
    return noise_figure(mdp.laplace(mdp.metrics.absolute().within(5)), "euros")


@pytest.mark.parametrize("form", ["svg", "png", "pdf"])
def test_the_same_bytes_for_the_same_figure(tmp_path, figure, form):
    for name in ("one", "two"):
        save(figure, tmp_path / f"{name}.{form}")
    assert (tmp_path / f"one.{form}").read_bytes() == (tmp_path / f"two.{form}").read_bytes()


def test_a_picture_that_exists_is_replaced_only_on_request(tmp_path, figure):
    place = tmp_path / "noise.svg"
    place.write_text("mine")
    with pytest.raises(FileError, match="exists already"):
        save(figure, place)
    assert place.read_text() == "mine"
    save(figure, str(place), overwrite=True)
    assert "<svg" in place.read_text()


def test_a_picture_that_fails_half_way_leaves_nothing(tmp_path, figure, monkeypatch):
    def half(path, **options):
        path.write_bytes(b"half a picture")
        raise RuntimeError("the disk is on fire")

    monkeypatch.setattr(figure, "savefig", half)
    with pytest.raises(RuntimeError):
        save(figure, tmp_path / "noise.png")
    assert not list(tmp_path.iterdir())


def test_an_ending_that_is_no_picture_is_refused(tmp_path, figure):
    with pytest.raises(ArgumentError, match=r"\.svg, \.png, \.pdf"):
        save(figure, tmp_path / "noise.docx")


def test_names_with_control_characters_leave_the_file_well_formed(tmp_path):
    figure = curves({"nul\x00": [1, 2], "formula $\\frac$": [2, 1]}, [0, 1])
    save(figure, tmp_path / "names.svg")
    assert "nul\\x00" in (tmp_path / "names.svg").read_text()
    xml.dom.minidom.parse(str(tmp_path / "names.svg"))
