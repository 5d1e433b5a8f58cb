"""``metricdp audit``: boxes by name, programs, files; status, JSON and the page."""

import json
import sys

import numpy as np
import pytest
from typer.testing import CliRunner

from metricdp.cli import app
from tests.draws import repeatable

MODULE = """
import os
import numpy as np
import metricdp as mdp

generator = np.random.default_rng(11)
sound = mdp.laplace(mdp.metrics.absolute())


def weak(secret):
    return round(float(secret + generator.laplace(scale=0.4)), 3)


def talking(secret):
    print("a secret came")
    return weak(secret)


def calling(secret):
    os.write(1, b"called")
    return weak(secret)


def failing(secret):
    raise ValueError("no noise today")


def rows(secrets):
    return np.round(secrets + generator.laplace(scale=0.4, size=len(secrets)), 3)
"""

PROGRAM = """
import json, random, sys
for line in sys.stdin:
    print(round(json.loads(line) + random.choice((-1, 1)) * random.expovariate(2.5), 3))
"""


@pytest.fixture
def run(tmp_path, monkeypatch, request):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "audited_boxes.py").write_text(MODULE)
    (tmp_path / "program.py").write_text(PROGRAM)
    monkeypatch.delitem(sys.modules, "audited_boxes", raising=False)
    path = list(sys.path)
    with repeatable(request.node.name):
        yield lambda *arguments: CliRunner().invoke(app, ["audit", *arguments])
    sys.path[:] = path
    sys.modules.pop("audited_boxes", None)


CLAIM = ("--metric", "absolute", "--pairs", "0 ~ 1")


def test_a_function_that_is_weaker_than_it_says(run):
    done = run("audited_boxes:weak", *CLAIM, "-n", "10000")
    assert done.exit_code == 1, done.output
    assert "NOT |x − y|-private" in done.output


def test_many_rows_at_a_time_as_json(run):
    done = run("audited_boxes:rows", "--rows", *CLAIM, "-n", "20000", "--json")
    assert done.exit_code == 1, done.output
    found = json.loads(done.output)["result"]
    assert found["holds"] is False
    assert found["scale_at_least"] > 1.5


def test_what_a_box_prints_is_not_among_the_results(run):
    done = run("audited_boxes:talking", *CLAIM, "-n", "300", "--json")
    assert json.loads(done.stdout)["result"]["samples"] == 300
    assert "a secret came" in done.stderr


def test_what_a_program_prints_that_a_box_starts_is_not_among_the_results(run, capfd):
    """A subprocess writes to the file descriptor itself."""
    done = run("audited_boxes:calling", *CLAIM, "-n", "100", "--json")
    assert json.loads(done.stdout)["result"]["samples"] == 100
    out, err = capfd.readouterr()
    assert "called" not in out
    assert "called" in err


def test_a_box_that_always_fails_is_quoted(run):
    done = run("audited_boxes:failing", *CLAIM)
    assert done.exit_code == 2
    assert "raised ValueError on every call: there is nothing to test; it says: no noise today" in done.stderr


def test_a_mechanism_that_says_what_it_promises(run):
    done = run("audited_boxes:sound", "-n", "20000", "--confidence", "0.9999")
    assert done.exit_code == 0, done.output
    assert "No evidence against" in done.output


def test_a_program(run):
    done = run(f"command:{sys.executable} program.py", *CLAIM, "-n", "10000")
    assert done.exit_code == 1, done.output


def test_a_program_that_fails_for_one_secret(run, tmp_path):
    (tmp_path / "failing.py").write_text(
        "import sys\nfor line in sys.stdin:\n    print(1 / (1 - int(line)), flush=True)\n"
    )
    done = run(f"command:{sys.executable} failing.py", *CLAIM, "-n", "100")
    assert done.exit_code in (0, 1), done.output
    done = run("command:no-such-program-at-all", *CLAIM, "-n", "100")
    assert done.exit_code == 2
    assert "does not start" in done.output


def test_two_files_of_samples(run, tmp_path):
    generator = np.random.default_rng(2)
    for name, secret in (("zeros.csv", 0), ("ones.csv", 1)):
        values = np.round(secret + generator.laplace(scale=0.4, size=8000), 3)
        (tmp_path / name).write_text("\n".join(map(str, values)))
    assert run("zeros.csv", "ones.csv", *CLAIM).exit_code == 1
    assert run("zeros.csv", "none.csv", *CLAIM).exit_code == 2


def test_the_page(run, tmp_path):
    done = run("audited_boxes:weak", *CLAIM, "-n", "10000", "--report", "page.html")
    assert done.exit_code == 1
    page = (tmp_path / "page.html").read_text()
    assert "<svg" in page
    assert "Attacks" in page
    assert run("audited_boxes:weak", *CLAIM, "--report", "page.html").exit_code == 2
    assert run("audited_boxes:weak", *CLAIM, "--report", "page.pdf").exit_code == 2


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("audited_boxes:none", *CLAIM), "none"),
        (("no_such_module:f", *CLAIM), "no_such_module"),
        (("audited_boxes", *CLAIM), "package.module:function"),
        (("audited_boxes:weak", "--metric", "absolute", "--pairs", "0"), "no pair"),
        (("audited_boxes:weak", "--metric", "nonsense", "--pairs", "0 ~ 1"), "no metric"),
        (("audited_boxes:weak", "--pairs", "0 ~ 1"), "does not say what it promises: say it with --metric"),
        (("audited_boxes:weak", "--epsilon", "1"), "go with --metric"),
        (("audited_boxes:weak", *CLAIM, "--confidence", "2"), "confidence"),
        (("a", "b", "c", *CLAIM), "two files"),
    ],
)
def test_mistakes_exit_with_2(run, arguments, words):
    done = run(*arguments)
    assert done.exit_code == 2, done.output
    assert words in done.output


@pytest.mark.parametrize("text", ["def release(:", "1 / 0", "import sys; sys.exit(0)"])
def test_a_module_that_fails_as_it_is_imported_is_no_defect_of_ours_and_no_success(run, text, tmp_path):
    name = f"failing_module_{len(text)}"
    (tmp_path / f"{name}.py").write_text(text)
    done = run(f"{name}:release", *CLAIM)
    assert done.exit_code == 2, done.output
    assert f"{name} raised" in done.stderr
