"""The guide "Verify a channel", block by block: commands run, and what is printed is what it shows."""

import os
import re
import subprocess
import sys
from pathlib import Path

import metricdp
from metricdp.cli.metric_option import read_metric

SOURCE = Path(metricdp.__file__).parent
GUIDE = SOURCE.parent.parent / "docs" / "guides" / "verify-a-channel.md"


def blocks():
    """Kind, word after it, and text of every fenced block."""
    return re.findall(r"^```(\w*)(?: (\w+))?\n(.*?)^```$", GUIDE.read_text(), re.DOTALL | re.MULTILINE)


def test_the_guide_word_by_word(tmp_path):
    folder = tmp_path / "bin"
    folder.mkdir()
    command = folder / "metricdp"
    command.write_text(f"#!/bin/sh\nexec {sys.executable} -c 'from metricdp.cli import app; app()' \"$@\"\n")
    command.chmod(0o755)
    environment = os.environ | {
        "PATH": f"{folder}:{os.environ['PATH']}",
        "PYTHONPATH": str(SOURCE.parent),
        "PYTHONIOENCODING": "utf-8",
    }
    output, shown = "", 0
    for kind, word, text in blocks():
        if kind == "csv":
            (tmp_path / f"{word}.csv").write_text(text)
        elif kind == "python" or (kind == "sh" and word != "setup"):
            program = [sys.executable, "-c", text] if kind == "python" else ["bash", "-e", "-c", text]
            done = subprocess.run(
                program, cwd=tmp_path, env=environment, capture_output=True, text=True, encoding="utf-8", check=False
            )
            output = done.stdout + done.stderr
            assert done.returncode == (1 if word == "broken" else 0), output
        elif kind == "":
            assert text in output
            shown += 1
    assert shown == 5
    assert (tmp_path / "mended.parquet").exists()


def test_every_metric_of_the_table():
    rows = re.findall(r"^\| (`.*?) \| ", GUIDE.read_text(), re.MULTILINE)[1:]
    written = [text.strip("'").split(" --")[0] for row in rows for text in re.findall(r"`([^`]*)`", row)]
    metrics = [text for text in written if not text.endswith((".toml", ".csv"))]
    assert len(metrics) == 9
    assert all(read_metric(text) for text in metrics)
