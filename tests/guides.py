"""Guides whose blocks are run as they stand, one after the other, in a folder of their own."""

import os
import re
import subprocess
import sys
from pathlib import Path

import metricdp

SOURCE = Path(metricdp.__file__).parent
GUIDES = SOURCE.parent.parent / "docs" / "guides"


def blocks(guide, kind=r"\w*"):
    """Kind, word after it, and text of every fenced block, of one kind or of all."""
    return re.findall(rf"^```({kind})(?: (\w+))?\n(.*?)^```$", guide.read_text(), re.DOTALL | re.MULTILINE)


def follow(guide, folder, *, fails=None, shows=lambda output, text: text in output):
    """Run a guide's blocks in a folder, compare the outputs it shows, and say how many those were.

    Blocks of kind csv become files; sh and python run, but for "setup"; the one marked ``fails`` ends with status 1.
    """
    commands = folder / "bin"
    commands.mkdir()
    command = commands / "metricdp"
    command.write_text(f"#!/bin/sh\nexec {sys.executable} -c 'from metricdp.cli import app; app()' \"$@\"\n")
    command.chmod(0o755)
    environment = os.environ | {
        "PATH": f"{commands}:{os.environ['PATH']}",
        "PYTHONPATH": str(SOURCE.parent),
        "PYTHONIOENCODING": "utf-8",
    }
    output, shown = "", 0
    for kind, word, text in blocks(guide):
        if kind == "csv":
            (folder / f"{word}.csv").write_text(text)
        elif kind == "python" or (kind == "sh" and word != "setup"):
            program = [sys.executable, "-c", text] if kind == "python" else ["bash", "-e", "-c", text]
            done = subprocess.run(
                program,
                cwd=folder,
                env=environment,
                capture_output=True,
                text=True,
                encoding="utf-8",
                check=False,
                timeout=600,
            )
            output = done.stdout + done.stderr
            assert done.returncode == (1 if fails is not None and word == fails else 0), output
        elif kind == "":
            assert shows(output, text), output
            shown += 1
    return shown
