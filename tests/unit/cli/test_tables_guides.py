"""The guides: every policy in them parses, and the first one runs word by word."""

import os
import re
import shutil
import subprocess
import sys

import pyarrow.csv as pa_csv
import pytest

from metricdp.policies import Policy
from metricdp.tables.report import Report
from tests.guides import GUIDES, SOURCE, blocks

FIRST = GUIDES / "sanitize-your-first-table.md"
DATA = SOURCE / "cli" / "demo" / "data"


POLICIES = [text for name in ("cookbook", "tables-in-and-out") for _, _, text in blocks(GUIDES / f"{name}.md", "toml")]


@pytest.mark.parametrize("text", POLICIES)
def test_every_policy_of_the_cookbook(text):
    assert Report.of(Policy.parse(text)).text()


def test_the_first_policy_parses_at_every_step():
    text = ""
    for _, _, part in blocks(FIRST, "toml"):
        text += "\n" + part
        assert Policy.parse(text)
    assert [column.name for column in Report.of(Policy.parse(text)).columns] == [
        "income",
        "doctor_visits",
        "health",
        "general_health",
    ]


@pytest.mark.long
def test_the_first_guide_word_by_word(tmp_path):
    """Policies grow by their blocks, commands run as they stand, and what is printed is what the guide shows."""
    shutil.copy(DATA / "health_insurance.csv", tmp_path / "people.csv")
    folder = tmp_path / "bin"
    folder.mkdir()
    for name, words in (("python", ""), ("metricdp", "-c 'from metricdp.cli import app; app()' ")):
        (folder / name).write_text(f'#!/bin/sh\nexec {sys.executable} {words}"$@"\n')
        (folder / name).chmod(0o755)
    environment = os.environ | {
        "PATH": f"{folder}:{os.environ['PATH']}",
        "PYTHONPATH": str(SOURCE.parent),
        "PYTHONIOENCODING": "utf-8",
    }
    output = ""
    for kind, word, text in blocks(FIRST):
        if kind == "toml":
            with (tmp_path / "people.toml").open("a") as policy:
                policy.write("\n" + text)
        elif kind == "sh" and word != "setup":
            done = subprocess.run(
                ["bash", "-e", "-c", text], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
            )
            output = done.stdout + done.stderr
            assert done.returncode == (2 if word == "refused" else 0), output
        elif kind == "":
            assert text in output
    assert (tmp_path / "released.parquet").exists()
    assert (tmp_path / "report.html").exists()
    means = re.search(r"mean income: ([\d,.]+) secret, ([\d,.]+) released", output)
    secret, released = (float(number.replace(",", "")) for number in means.groups())
    assert released == pytest.approx(secret, rel=0.05)


def test_the_shipped_policy_fits_the_shipped_table():
    policy = Policy.load(DATA / "health_insurance.toml")
    names = pa_csv.open_csv(DATA / "health_insurance.csv").schema.names
    named = [column for item in policy.columns for column in item.columns]
    assert sorted(named) == sorted(names)
    assert not any(column.attention for column in Report.of(policy).columns)
