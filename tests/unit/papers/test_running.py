"""Items that run, and what is made of them."""

import json

import pytest

from metricdp.errors import ArgumentError, FileError
from metricdp.papers import run
from metricdp.papers.running import report_of
from metricdp.papers.writing import write


@pytest.fixture(scope="module")
def report():
    return report_of([run(5, "fig1", quick=True), run(3, "thm1", quick=True)], True)


def test_an_outcome_says_what_it_found(report):
    first, second = report.outcomes
    assert first.agrees is True
    assert second.agrees is False
    assert "equality only where Phi diag = 1: printed yes; ours no" in str(second)
    assert "Phi diag of that mechanism: 1, 1/2" in str(second)
    with pytest.raises(ArgumentError, match="says nothing of 'x'"):
        first.value("x")
    assert report.counts == {"agree": 4, "differ": 1, "not printed": 1}


def test_the_data_of_figures_are_in_the_json(report):
    tree = json.loads(json.dumps(report.to_json(pictures=True)))
    (simplex, table) = tree["items"][0]["figures"]
    assert [layer["name"] for layer in simplex["panels"][0]["layers"]] == ["posteriors", "prior"]
    assert simplex["panels"][0]["layers"][0]["weights"] == pytest.approx([7 / 18, 2 / 9, 7 / 18])
    assert table["words"].startswith("Fig. 1: the channel C.")


@pytest.mark.long
def test_a_folder_with_page_data_and_pictures(report, tmp_path):
    written = write(report, tmp_path / "out")
    names = sorted(path.relative_to(tmp_path / "out").as_posix() for path in written)
    assert names == ["gallery/5-fig1-channel.png", "gallery/5-fig1.png", "papers.html", "papers.json", "papers.md"]
    page = (tmp_path / "out" / "papers.html").read_text(encoding="utf-8")
    assert page.count("<svg") == 2
    assert "http" not in page.replace("http://www.w3.org", "").split("<style>")[0], "one file, offline"
    assert "src=" not in page.replace('xlink:href="#', "")
    listed = (tmp_path / "out" / "papers.md").read_text(encoding="utf-8")
    assert "| the bound at the corner (2/3, 1/3) | 2/3 | 2/3 | agrees |" in listed
    with pytest.raises(FileError):
        write(report, tmp_path / "out")
