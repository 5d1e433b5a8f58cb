"""What does it mean?, as a person would use it."""

import re

import pytest

pytestmark = pytest.mark.xdist_group("studio")


def sentence(page):
    return page.locator(".sentence").filter(has_text="This release is").inner_text()


def test_the_story_of_two_numbers(visit, axe):
    visitor = visit()
    page = visitor.goto()
    assert page.title() == "What does it mean? - metricdp studio"
    visitor.shows("A factor 2 at 10")
    assert "odds between them can move by at most a factor 2.00" in sentence(page)
    visitor.slider("Factor").press("ArrowRight")
    visitor.shows("A factor 2.1 at 10")
    visitor.shows(re.compile("ln 2.1/10"))
    visitor.slider("Second secret").press("ArrowRight")
    visitor.shows("Two secrets a distance of 10.5 apart")
    visitor.slider("at a distance of").press("ArrowLeft")
    visitor.shows("A factor 2.1 at 9")
    before = page.get_by_text("After the release they find").inner_text()
    visitor.slider("How likely: 100").press("End")
    visitor.slider("How likely: 100").press("Home")
    visitor.slider("How likely: 37.5").press("End")
    page.wait_for_function("text => !document.body.innerText.includes(text)", arg=before, timeout=60_000)
    visitor.shows("they find 37.5 most likely")
    visitor.button("Release the first secret once").click()
    visitor.shot("meaning-numbers")
    assert visitor.violations(axe) == []
    kept = sentence(page)
    visitor.goto()
    assert sentence(page) == kept, "nothing is lost on a reload"


def test_the_dots_are_dragged_and_undone(visit):
    visitor = visit()
    page = visitor.goto()
    visitor.shows("Two secrets a distance of 10 apart")
    box = page.locator(".drawn").bounding_box()
    across = lambda place: box["x"] + (14 + (place + 25) / 150 * 612) / 640 * box["width"]  # noqa: E731
    page.mouse.move(across(50), box["y"] + box["height"] - 20)
    page.mouse.down()
    page.mouse.move(across(70), box["y"] + box["height"] - 20, steps=6)
    page.mouse.up()
    visitor.shows(re.compile("Two secrets a distance of (29.5|30|30.5) apart"))
    visitor.button("Undo").click()
    visitor.shows("Two secrets a distance of 10 apart")


def test_the_story_of_two_places(visit, axe, tmp_path):
    visitor = visit(color_scheme="dark")
    page = visitor.goto()
    page.get_by_role("button", name="Places on a map").click()
    visitor.shows("A factor 2 at 200 m")
    visitor.shows(re.compile("great-circle"))
    box = page.locator(".drawn").bounding_box()
    before = sentence(page)
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] / 3, box["y"] + box["height"] / 3, steps=4)
    page.mouse.up()
    page.wait_for_function("text => !document.body.innerText.includes(text)", arg=before.splitlines()[1])
    for _ in range(9):
        visitor.slider("Width of the map").press("ArrowRight")
    page.wait_for_function("document.querySelector('.layers path[d^=M]') !== null")
    lines = tmp_path / "own.geojson"
    lines.write_text('{"type": "LineString", "coordinates": [[2.3, 48.8], [2.4, 48.9]]}')
    visitor.upload("Lines of your own", lines)
    page.wait_for_function("document.querySelector('.layers path[style*=currentColor]') !== null")
    page.get_by_label("First secret: latitude").fill("48.9")
    visitor.button("Centre on the first secret").click()
    visitor.shot("meaning-map-dark")
    assert visitor.violations(axe) == []


@pytest.mark.parametrize("width", [1024, 390])
def test_it_fits_a_narrow_window(visit, width):
    visitor = visit(viewport={"width": width, "height": 800})
    visitor.goto()
    visitor.shows("What is promised")
    assert visitor.fits()
    visitor.shot(f"meaning-{width}")


def test_it_can_be_used_with_the_keyboard_alone(visit):
    visitor = visit()
    page = visitor.goto()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.innerText") == "Skip to main content"
    seen = set()
    for _ in range(40):
        page.keyboard.press("Tab")
        seen.add(page.evaluate("document.activeElement.getAttribute('aria-label') || document.activeElement.innerText"))
    assert {"Factor", "at a distance of", "First secret", "How likely: 50", "Release the first secret once"} <= seen
