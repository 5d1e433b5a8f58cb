"""The page: whole, escaped, loading nothing, with pictures or a word on how to get them."""

import re
import sys
from html.parser import HTMLParser

import pytest

from metricdp.errors import MissingExtraError, UnsupportedMetricError
from metricdp.mechanisms import laplace, postprocess
from metricdp.metrics import absolute, euclidean
from metricdp.plots import noise_figure, to_svg
from metricdp.tables.policy import Policy
from metricdp.tables.report import Report

KINDS = {
    "place": 'type = "location"\ncolumns = ["lat", "lon"]\nwithin = "20 km"',
    "number": 'type = "number"\nwithin = 5\nmissing = "refuse"',
    "null": 'type = "number"\nwithin = 50\nbounds = [0, 100]',
    "integer": 'type = "integer"\nwithin = 3000',
    "moment": 'type = "time"\nwithin = "10 min"',
    "category": 'type = "category"\nvalues = ["a", "b"]\nfactor = 2\nmissing = "refuse"',
    "many": f'type = "category"\nvalues = {[str(n) for n in range(40)]}\nfactor = 20',
    "tree": 'type = "category"\nparents = {a = "x", b = "x", c = "y", x = "z", y = "z"}\nepsilon = 1',
    "set": 'type = "set"\nvalues = ["a", "b", "c"]\nfactor = 3',
    "series": 'type = "series"\nlength = 5\nwithin = 1',
}
POLICY = "format = 1\n" + "".join(f"\n[columns.{name}]\n{entry}\n" for name, entry in KINDS.items())
VOID = {"meta", "br"}


class Balance(HTMLParser):
    """Checks that every tag is closed, and collects what a browser would load."""

    def __init__(self):
        super().__init__()
        self.open, self.loads, self.figures = [], [], 0

    def handle_starttag(self, tag, attributes):
        self.figures += tag == "svg"
        if tag not in VOID:
            self.open.append(tag)
        self.loads += [value for name, value in attributes if name in ("src", "href") and value]

    def handle_startendtag(self, tag, attributes):
        self.loads += [value for name, value in attributes if name in ("src", "href", "xlink:href") and value]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def parsed(page):
    parser = Balance()
    parser.feed(page)
    assert parser.open == []
    return parser


@pytest.fixture(scope="module")
def page():
    return Report.of(Policy.parse(POLICY)).html()


def test_the_page_is_whole_and_loads_nothing(page):
    parser = parsed(page)
    assert parser.figures == len(KINDS)
    assert all(target.startswith("#") for target in parser.loads)
    assert not re.search(r"@import|url\((?!#)", page)
    assert "prefers-color-scheme: dark" in page


def test_the_page_is_the_same_each_time(page):
    assert Report.of(Policy.parse(POLICY)).html() == page


def test_pictures_take_the_colours_of_the_page(page):
    assert "currentColor" in page
    assert "var(--accent" in page
    assert "#0a0b0c" not in page


def test_names_are_escaped():
    report = Report.of(Policy.parse('format = 1\ncolumns."<script>alert(1)</script>" = {type = "boolean", factor = 2}'))
    assert "<script" not in report.html()
    assert "&lt;script&gt;" in report.html()


def test_without_matplotlib_the_page_says_how_to_get_pictures(monkeypatch):
    for name in [name for name in sys.modules if name.split(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    page = Report.of(Policy.parse(POLICY)).html()
    assert parsed(page).figures == 0
    assert "pip install &#x27;metricdp[plots]&#x27;" in page
    with pytest.raises(MissingExtraError, match=r"metricdp\[plots\]"):
        noise_figure(laplace(absolute()))


def test_a_report_read_back_has_a_page_without_pictures():
    report = Report.from_json(Report.of(Policy.parse(POLICY)).to_json())
    assert parsed(report.html()).figures == 0


def test_a_picture_marks_the_radius():
    mechanism = laplace(absolute().within(5))
    axes = noise_figure(mechanism, "euros").axes[0]
    marks = sorted(line.get_xdata()[0] for line in axes.lines[1:])
    assert marks == pytest.approx([-mechanism.radius(0.95), mechanism.radius(0.95)])
    places, heights = axes.lines[0].get_data()
    assert (heights[1:] * (places[1:] - places[:-1])).sum() == pytest.approx(1, abs=0.01)
    assert axes.get_xlabel() == "released - secret, euros"


def test_a_picture_of_lengths_is_a_density():
    axes = noise_figure(laplace(euclidean(), dim=3)).axes[0]
    places, heights = axes.lines[0].get_data()
    inside = places <= laplace(euclidean(), dim=3).radius(0.95)
    share = heights[inside].sum() / heights.sum()
    assert 0.94 < share < 0.99


def test_a_mechanism_without_a_picture_is_refused():
    with pytest.raises(UnsupportedMetricError):
        noise_figure(postprocess(laplace(absolute()), round))


def test_svg_has_its_title():
    assert 'aria-label="the &lt;noise&gt;"' in to_svg(noise_figure(laplace(absolute())), "the <noise>")
