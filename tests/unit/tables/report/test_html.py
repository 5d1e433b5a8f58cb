"""The page: whole, escaped, loading nothing, with pictures."""

import html
import importlib
import re
import sys
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest

from metricdp.errors import MissingExtraError, UnsupportedMetricError
from metricdp.exact import ln
from metricdp.mechanisms import (
    exponential,
    geometric,
    laplace,
    postprocess,
    randomized_response,
    set_response,
)
from metricdp.metrics import Space, absolute, discrete, euclidean
from metricdp.plots import noise_figure, noise_svg, to_svg
from metricdp.policies import Policy
from metricdp.tables.report import Report

KINDS = {
    "place": 'type = "place"\ncolumns = ["lat", "lon"]\nwithin = "20 km"',
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
POLICY = "format = 2\n" + "".join(f"\n[columns.{name}]\n{entry}\n" for name, entry in KINDS.items())
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
    report = Report.of(Policy.parse('format = 2\ncolumns."<script>alert(1)</script>" = {type = "boolean", factor = 2}'))
    assert "<script" not in report.html()
    assert "&lt;script&gt;" in report.html()


def test_the_page_has_its_pictures_without_matplotlib(monkeypatch):
    for name in [name for name in sys.modules if name.split(".")[0] == "matplotlib" or "metricdp.plots" in name]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    page = Report.of(Policy.parse(POLICY)).html()
    assert parsed(page).figures == page.count("<svg") > 5
    with pytest.raises(MissingExtraError, match=r"metricdp\[plots\]"):
        importlib.import_module("metricdp.plots.noise").noise_figure(laplace(absolute()))


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
    assert 'aria-label="the &lt;noise&gt;"' in noise_svg(laplace(absolute()), title="the <noise>")


@pytest.mark.parametrize(
    ("mechanism", "words"),
    [
        (laplace(absolute().within(5)), ["released - secret, euros", "95% within 21.6"]),
        (geometric(ln(2) * absolute()), ["released - secret, euros", "95% within 4"]),
        (geometric(ln(2) / 400 * absolute()), ["released - secret, euros", "95% within 1,729"]),
        (laplace(euclidean(), dim=3), ["length of the noise, euros"]),
        (randomized_response(["a", "b", "c"], 1), ["the truth: 57.6%", "each other value: 21.2%"]),
        (set_response(["a", "b", "c"], 1), ["elements that are wrong"]),
        (exponential(Space(["tea", "<milk>"], discrete())), ["&lt;milk&gt;", "released as, in the same order"]),
    ],
)
def test_a_picture_is_drawn_of_every_kind_of_noise(mechanism, words):
    drawn = noise_svg(mechanism, "euros")
    texts = [element.text for element in ElementTree.fromstring(drawn).iter("{http://www.w3.org/2000/svg}text")]
    for word in words:
        assert html.unescape(word) in texts
    shapes = {element.tag.split("}")[1] for element in ElementTree.fromstring(drawn).iter()}
    assert shapes & {"polyline", "rect"}
