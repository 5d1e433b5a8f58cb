"""The guide "Answer questions about a table", block by block: commands run, and what is printed is what it shows.

Noise is new each time, so numbers before ± may be any; what is promised, and error bars that no noise is in, may not.
"""

import os
import re
import shutil
import subprocess
import sys

import pytest

from tests.guides import GUIDES, SOURCE, blocks

GUIDE = GUIDES / "answer-questions-about-a-table.md"
STANDARD = GUIDES / "standard-differential-privacy.md"
DATA = SOURCE / "cli" / "demo" / "data"
ANSWER = re.compile(r"-?[\d,.]+ ± [\d,.]+(?: \?)?")
BAR = re.compile(r"± ([\d,.]+)")


def shows(output, text):
    """Whether these lines are in the output, one after the other, but for the answers and the spaces before them."""

    def plain(lines):
        return [" ".join(ANSWER.sub("#", line).split()) for line in lines]

    wanted, lines = plain(text.splitlines()), plain(output.splitlines())
    return any(lines[start : start + len(wanted)] == wanted for start in range(len(lines) - len(wanted) + 1))


def test_lines_that_differ_are_seen():
    assert shows("a\n x  count(*)\n y 1,204 ± 22\n", "x count(*)\ny 7 ± 3\n")
    assert not shows("a\n x  count(*)\n y 1,204 ± 22\n", "x count(*)\nz 7 ± 3\n")
    assert not shows("odds 1.649\n", "odds 1.65\n")


def followed(guide, tmp_path):
    """Run a guide's blocks; the output after each of those that show some, with the text shown."""
    for ending in ("csv", "toml"):
        shutil.copy(DATA / f"health_insurance.{ending}", tmp_path / f"people.{ending}")
    commands = tmp_path / "bin"
    commands.mkdir()
    (commands / "metricdp").write_text(
        f"#!/bin/sh\nexec {sys.executable} -c 'from metricdp.cli import app; app()' \"$@\"\n"
    )
    (commands / "metricdp").chmod(0o755)
    environment = os.environ | {
        "PATH": f"{commands}:{os.environ['PATH']}",
        "PYTHONPATH": str(SOURCE.parent),
        "PYTHONIOENCODING": "utf-8",
    }
    output = ""
    for kind, word, text in blocks(guide):
        if kind == "toml" and word != "example":
            assert text in (tmp_path / "people.toml").read_text(), "what the guide quotes is in the policy"
        elif kind == "python" or (kind == "sh" and word != "setup"):
            program = [sys.executable, "-c", text] if kind == "python" else ["bash", "-e", "-c", text]
            done = subprocess.run(
                program, cwd=tmp_path, env=environment, capture_output=True, text=True, encoding="utf-8", check=False
            )
            output = done.stdout + done.stderr
            assert done.returncode == (2 if word == "refused" else 0), output
        elif kind == "":
            assert shows(output, text), output
            yield output, text


@pytest.mark.long
def test_the_guide_word_by_word(tmp_path):
    shown, bars = 0, []
    for output, text in followed(GUIDE, tmp_path):
        shown += 1
        if not any(word in text for word in ("avg", "median", "stddev")):  # those depend on what is drawn
            assert BAR.findall(output)[: len(BAR.findall(text))] == BAR.findall(text)
            bars += BAR.findall(text)
    assert shown == 9
    assert bars == ["22", "6"]
    assert (tmp_path / "health.csv").read_text().startswith("health,count(*),count(*) error bar,avg(income)")


@pytest.mark.long
def test_the_guide_to_standard_privacy_word_by_word(tmp_path):
    bars = [BAR.findall(output)[:2] for output, _ in followed(STANDARD, tmp_path)]
    assert bars == [["3.0", "3.0"], [], ["6.0", "6.0"]]


def test_the_error_bars_it_tells_of(tmp_path):
    """Of a median alone, a third of that of three percentiles."""
    from metricdp.policies import Policy
    from metricdp.queries.select.asking import Asking

    policy = Policy.load(DATA / "health_insurance.toml").askable
    three = Asking.of("select min(age), median(age), percentile(age, 0.9) from people", policy)
    alone = Asking.of("select median(age) from people", policy)
    bars = [asking.percentiles["median(age)"].error_bar for asking in (three, alone)]
    assert bars[0] / bars[1] > 1.5
