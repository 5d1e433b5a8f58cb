import time

from metricdp.studio.browsers import Browsers
from metricdp.studio.jobs import Job


def test_two_browsers_do_not_mix(tmp_path):
    browsers = Browsers(tmp_path)
    one, two = browsers.of("a" * 32), browsers.of("b" * 32)
    one.change("ask", question="select 1")
    assert two.inputs("ask", question="") == {"question": ""}
    assert browsers.of("a" * 32).inputs("ask", question="") == {"question": "select 1"}
    assert one.new_file(".csv").parent != two.new_file(".csv").parent


def test_a_drag_is_undone_as_one_and_pages_apart(tmp_path, monkeypatch):
    browser, now = Browsers(tmp_path).of("a" * 32), [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    browser.change("meaning", factor=2)
    now[0] += 5
    for factor in (3, 4, 5):
        now[0] += 0.1
        browser.change("meaning", factor=factor)
    browser.change("ask", question="select 1")
    now[0] += 5
    browser.change("meaning", radius=7)
    assert browser.undo("meaning")
    assert browser.inputs("meaning") == {"factor": 5}
    assert browser.undo("meaning")
    assert browser.inputs("meaning") == {"factor": 2}
    assert browser.inputs("ask") == {"question": "select 1"}
    assert browser.undo("meaning")
    assert not browser.undo("meaning")
    assert not browser.can_undo("meaning")


def test_a_slow_drag_is_undone_as_one(tmp_path, monkeypatch):
    browser, now = Browsers(tmp_path).of("a" * 32), [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    for gesture, place in ((1, 5), (1, 6), (1, 7), (2, 8), (2, 9)):
        now[0] += 10
        browser.change("meaning", gesture, first=place)
    assert browser.undo("meaning")
    assert browser.inputs("meaning") == {"first": 7}
    assert browser.undo("meaning")
    assert browser.inputs("meaning") == {}


def test_what_is_the_same_is_no_change(tmp_path):
    browser = Browsers(tmp_path).of("a" * 32)
    browser.change("meaning", factor=2)
    browser.change("meaning", factor=2)
    assert browser.undo("meaning")
    assert not browser.undo("meaning")


def test_the_longest_away_is_forgotten_and_its_work_stopped(tmp_path):
    browsers = Browsers(tmp_path)
    first = browsers.of("0" * 32)
    first.jobs["sanitize"] = Job(lambda job: job._stop.wait(60))
    for number in range(1, 70):
        browsers.of(f"{number:032x}")
    assert browsers.of("0" * 32) is not first
    first.jobs["sanitize"].wait(60)
    assert not first.jobs["sanitize"].running


def test_files_have_names_that_say_nothing_in_a_folder_of_their_own(tmp_path):
    browser = Browsers(tmp_path).of("a" * 32)
    path = browser.new_file(".parquet")
    assert path.suffix == ".parquet"
    assert path.parent.stat().st_mode & 0o077 == 0
    assert browser.new_file(".parquet") != path
    folder = browser.new_folder()
    assert folder.parent == path.parent
    assert folder.stat().st_mode & 0o077 == 0
    assert browser.new_folder() != folder
