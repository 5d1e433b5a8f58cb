import tomllib
from pathlib import Path

import metricdp
from metricdp.studio.command import studio

ROOT = Path(metricdp.__file__).parents[2]


def test_it_is_registered_as_a_command():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    place = project["entry-points"]["metricdp.commands"]["studio"]
    assert place == f"{studio.__module__}:{studio.__name__}"


def test_the_help_says_how_to_begin_and_the_statuses():
    for words in ("metricdp studio", "--no-browser", "Exit status: 0", "Ctrl-C"):
        assert words in studio.__doc__
