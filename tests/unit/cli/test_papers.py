"""``metricdp papers``."""

import json

import pytest
from typer.testing import CliRunner

from metricdp.cli import app

RUNNER = CliRunner()


def test_the_list():
    done = RUNNER.invoke(app, ["papers", "3", "--list"])
    assert done.exit_code == 0
    assert "fig6a" in done.stdout
    assert "The sum query, u = 150 and v = 5 (Fig. 6(a), section 6)" in done.stdout
    every = json.loads(RUNNER.invoke(app, ["papers", "--list", "--json"]).stdout)["result"]
    assert {row["paper"] for row in every} == {1, 2, 3, 4, 5}


@pytest.mark.long
def test_one_item_to_a_folder(tmp_path):
    done = RUNNER.invoke(app, ["papers", "5", "--item", "fig2", "--quick", "--out", str(tmp_path / "out")])
    assert done.exit_code == 0, done.output
    assert "both ways agree: printed yes; ours yes; agrees" in done.stdout
    assert (tmp_path / "out" / "gallery" / "5-fig2.png").exists()
    again = RUNNER.invoke(app, ["papers", "5", "--item", "fig2", "--out", str(tmp_path / "out")])
    assert again.exit_code == 2
    assert "--overwrite" in again.output


def test_mistakes():
    assert RUNNER.invoke(app, ["papers", "--item", "fig2"]).exit_code == 2
    wrong = RUNNER.invoke(app, ["papers", "5", "--item", "fig99"])
    assert wrong.exit_code == 2
    assert "it has: fig1, fig2" in wrong.output
    assert RUNNER.invoke(app, ["papers", "7"]).exit_code == 2


def test_a_picture_that_is_in_the_way_is_said_before_the_work(tmp_path):
    (tmp_path / "gallery").mkdir()
    (tmp_path / "gallery" / "5-fig1.png").touch()
    done = RUNNER.invoke(app, ["papers", "5", "--item", "fig1", "--out", str(tmp_path)])
    assert done.exit_code == 2
    assert "gallery/5-fig1.png already" in done.output
    assert not (tmp_path / "papers.html").exists()
