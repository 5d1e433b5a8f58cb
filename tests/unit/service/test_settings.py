"""The file that says what is offered, and its mistakes."""

import pytest

from metricdp.errors import ArgumentError, FileError
from metricdp.service import Settings

GOOD = """
format = 1
ledger = "spent.db"
tokens = "tokens.json"
[mechanisms.place]
metric = "ln 2/200 great_circle"
releases = 3
"""


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("format = 1", "format = 2", "format = 1"),
        ("format = 1", "format = 1\nquantom = 2", "no setting 'quantom'"),
        ("format = 1", "format = 1\nquantum = 0", "positive"),
        ("format = 1", "format = 1\nquantum = true", "positive"),
        ("format = 1", "format = 1\nmost_jobs = inf", "positive"),
        ("format = 1", "format = 1\nmost_jobs = 0.5", "most_jobs is a whole number"),
        ("format = 1", "format = 1\nlargest_request = 1e6", "largest_request is a whole number"),
        ("releases = 3", "releases = inf", "releases"),
        ('ledger = "spent.db"', "", "ledger"),
        ("releases = 3", "", "releases"),
        ("releases = 3", "releases = -1", "releases"),
        ("releases = 3", "releases = 3\nother = 1", "no key 'other'"),
        ("ln 2/200 great_circle", "ln 2/200 greatcircle", r"mechanisms.place.*no metric"),
        ("[mechanisms.place]", "[tables.place]", "source"),
        ("[mechanisms.place]", "[[mechanisms]]", "one by one"),
        ("format = 1", "format = ", "TOML"),
    ],
)
def test_mistakes_are_named(old, new, problem):
    with pytest.raises(ArgumentError, match=problem):
        Settings.parse(GOOD.replace(old, new))


def test_files(tmp_path):
    with pytest.raises(FileError):
        Settings.load(tmp_path / "none.toml")
    (tmp_path / "service.toml").write_text(GOOD)
    settings = Settings.load(tmp_path / "service.toml")
    assert settings.ledger == str(tmp_path / "spent.db")
    assert settings.mechanisms["place"].cap.metric == 3 * settings.mechanisms["place"].mechanism.guarantee.metric
