"""Best mechanism, as a person would use it."""

import json

import pytest

import metricdp as mdp

pytestmark = pytest.mark.xdist_group("studio")


def test_the_story_of_four_places(visit, axe, tmp_path):
    visitor = visit()
    page = visitor.goto("best")
    visitor.button("Find it").click()
    visitor.shows("Certified; gap")
    visitor.shows("exponential mechanism")
    page.get_by_label("Secret place").select_option("place 2")
    page.locator("svg[aria-label*='where place 2 is released']").wait_for()
    visitor.shot("best")
    assert visitor.violations(axe) == []
    with page.expect_download() as waiting:
        visitor.button("Download: Channel").click()
    path = tmp_path / "channel.json"
    waiting.value.save_as(path)
    channel = mdp.sources.read_channel(path)
    space = mdp.Space(channel.inputs, mdp.metrics.great_circle().within(2000))
    assert mdp.channels.verify(channel, space)
    visitor.upload("A channel", path)
    visitor.shows("channel.json: holds")
    broken = json.loads(path.read_text())
    broken["weights"][0][:2] = broken["weights"][0][1::-1]
    (tmp_path / "broken.json").write_text(json.dumps(broken))
    visitor.upload("A channel", tmp_path / "broken.json")
    visitor.shows("broken.json: does NOT hold")


def test_places_are_clicked_and_given_and_three_have_a_simplex(visit, tmp_path):
    visitor = visit(viewport={"width": 390, "height": 800})
    page = visitor.goto("best")
    page.locator("svg[aria-label='4 places']").wait_for()
    box = page.locator(".drawn").bounding_box()
    page.mouse.click(box["x"] + box["width"] / 4, box["y"] + box["height"] / 4)
    page.locator("svg[aria-label='5 places']").wait_for()
    visitor.button("Undo").click()
    page.locator("svg[aria-label='4 places']").wait_for()
    (tmp_path / "places.csv").write_text(
        "name,latitude,longitude,weight\na,52.5,13.4,3\nb,52.51,13.42,1\nc,52.49,13.45,1\n"
    )
    visitor.upload("Places of your own", tmp_path / "places.csv")
    page.locator("svg[aria-label='3 places']").wait_for()
    points = {"type": "MultiPoint", "coordinates": [[13.4, 52.5], [13.42, 52.51], [13.45, 52.49], [13.5, 52.5]]}
    (tmp_path / "places.geojson").write_text(json.dumps(points))
    visitor.upload("Places of your own", tmp_path / "places.geojson")
    page.locator("svg[aria-label='4 places']").wait_for()
    visitor.goto("best")
    page.locator("svg[aria-label='4 places']").wait_for()
    visitor.button("Remove the last").click()
    page.locator("svg[aria-label='3 places']").wait_for()
    lines = {"type": "LineString", "coordinates": [[13.38, 52.5], [13.46, 52.51]]}
    (tmp_path / "own.geojson").write_text(json.dumps(lines))
    visitor.upload("Lines of your own", tmp_path / "own.geojson")
    page.wait_for_function("document.querySelector('.layers path[style*=currentColor]') !== null")
    visitor.button("Find it").click()
    visitor.shows("Certified; gap")
    page.locator("svg[aria-label*='triangle of priors']").wait_for()
    visitor.goto("best")
    visitor.shows("Certified; gap")  # what was found is there after a reload
    assert visitor.fits()
    visitor.shot("best-390")


def test_places_anywhere_with_weights_and_a_verdict_that_stays(visit, tmp_path):
    (tmp_path / "photo.json").write_bytes(b"\x89PNG\r\n\x1a\n\xff")
    (tmp_path / "photo.csv").write_bytes(b"\x89PNG\r\n\x1a\n\xff")
    (tmp_path / "area.geojson").write_text(
        '{"type": "Polygon", "coordinates": [[[2.2, 48.8], [2.4, 48.8], [2.4, 48.9], [2.2, 48.8]]]}'
    )
    visitor = visit(color_scheme="dark")
    page = visitor.goto("best")
    for name, rule in (("photo.csv", "is not text in UTF-8"), ("area.geojson", "it has 0 points; 2 to 60 are wanted")):
        visitor.upload("Places of your own", tmp_path / name)
        page.get_by_text(f"{name} was not taken").filter(has_text=rule).wait_for()
    visitor.upload("Lines of your own", tmp_path / "area.geojson")
    visitor.button("Remove all").click()
    for latitude, longitude in ((-33.9, 151.2), (-33.8, 151.3), (-33.7, 151.2)):
        page.get_by_label("Latitude").fill(str(latitude))
        page.get_by_label("Longitude").fill(str(longitude))
        visitor.button("Add").click()
        page.wait_for_timeout(300)
    marks = page.locator('svg[aria-label^="3 places"]')
    marks.wait_for()
    for circle in marks.locator("circle").all():
        assert 0 <= float(circle.get_attribute("cx")) <= 640, "the map has moved to what was added"
    page.get_by_text("How likely each place is").click()
    page.get_by_label("Weight of place 1").fill("5")
    page.get_by_label("Weight of place 1").press("Tab")
    page.wait_for_timeout(600)
    visitor.button("Find it").click()
    visitor.shows("Found for 3 places, a factor 2 at 2 km, where a release costs how far it is.")
    visitor.shows("each dot is a release")
    page.wait_for_timeout(300)
    visitor.shot("best-weights-dark")
    visitor.upload("A channel", tmp_path / "photo.json")
    visitor.shows("photo.json is not text in UTF-8")
    visitor.goto("best")
    visitor.shows("photo.json is not text in UTF-8")
    assert page.get_by_label("Weight of place 1").input_value() in ("5", "5.0")
