"""How long the command ``metricdp`` takes: processor time of whole processes, the start of Python included.

    python benchmarks/command.py            # every row
    python benchmarks/command.py --runs 5   # the least of five runs

A bare ``python -c pass`` stands beside, since every command pays for it. Modules are compiled once, as an installed
package's are, whatever the shell says of bytecode. Typer loads pydantic where it finds it: an environment with FastAPI
in it costs every command some 0.1 s more.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

COMMAND = [sys.executable, "-c", "import sys; from metricdp.cli import app; sys.argv[0] = 'metricdp'; app()"]
RELEASE = "import metricdp as mdp; mdp.laplace(mdp.metrics.absolute().within(5)).release([3.0])"
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
WIDE = 1000
PYTHON = {"python -c pass": ["pass"], "first laplace(..).release, from Python": [RELEASE]}
PEOPLE = """
format = 2
records = 500
[columns]
sex = {type = "category", values = ["F", "M"], epsilon = 0.5, missing = "refuse"}
age = {type = "integer", bounds = [0, 100], within = "5 years", missing = "refuse"}
"""


def main() -> None:
    """Print a row for each command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=3, help="how often each is run; the least time is printed")
    runs = parser.parse_args().runs
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_table(folder, "one", 5, rows=1)
        write_table(folder, "wide", WIDE, rows=10)
        (folder / "people.csv").write_text("sex,age\n" + "F,31\nM,47\n" * 250)
        (folder / "people.toml").write_text(PEOPLE)
        (folder / "channel.csv").write_text(",a,b\nx,2/3,1/3\ny,1/3,2/3\n")
        out = ["-o", "released.parquet", "--overwrite"]
        wide = ["sanitize", "wide.csv", "-p", "wide.toml", *out]
        rows = {
            "python -c pass": None,
            "first laplace(..).release, from Python": None,
            "--version": ["--version"],
            "--help": ["--help"],
            "sanitize, 1 row": ["sanitize", "one.csv", "-p", "one.toml", *out],
            "inspect, 5 columns": ["inspect", "released.parquet"],
            "explain, 5 columns": ["explain", "one.toml"],
            "explain --report, 5 columns": ["explain", "one.toml", "--report", "page.html", "--overwrite"],
            "query, 500 rows": ["query", "people.csv", "-p", "people.toml", "select avg(age) from people group by sex"],
            "verify, 2 x 2": ["verify", "channel.csv", "--metric", "ln 2 discrete"],
            f"sanitize, {WIDE:,} columns": wide,
            f"sanitize --report .html, {WIDE:,} columns": [*wide, "--report", "report.html"],
            f"sanitize --json, {WIDE:,} columns": [*wide, "--json"],
            f"explain, {WIDE:,} columns": ["explain", "wide.toml"],
            f"inspect, {WIDE:,} columns": ["inspect", "released.parquet"],
        }
        print(f"{'processor time, seconds':45} {'user + system':>13}")
        for title, arguments in rows.items():
            command = [sys.executable, "-c", *PYTHON[title]] if arguments is None else [*COMMAND, *arguments]
            print(f"{title:45} {min(seconds(command, folder) for _ in range(runs)):13.2f}", flush=True)


def write_table(folder: Path, name: str, columns: int, rows: int) -> None:
    """A table and its policy: numbers, integers and categories in turn, each with a level of its own."""
    kinds = [
        ("{{type = 'number', within = '{level} dollars', bounds = [0, {most}]}}", "12.5"),
        ("{{type = 'integer', within = '{level} years', missing = 'public'}}", "7"),
        ("{{type = 'category', values = ['a', 'b', 'c'], epsilon = '{level}/1000'}}", "a"),
        ("{{type = 'integer', within = {level}, bounds = [0, {most}]}}", "7"),
        ("{{type = 'number', within = {level}, missing = 'refuse'}}", "7.25"),
    ]
    chosen = [kinds[place % len(kinds)] for place in range(columns)]
    entries = [entry.format(level=place + 2, most=1000 + place) for place, (entry, _) in enumerate(chosen)]
    policy = ["format = 2", "[columns]", *(f"c{place} = {entry}" for place, entry in enumerate(entries))]
    (folder / f"{name}.toml").write_text("\n".join(policy) + "\n")
    lines = [",".join(f"c{place}" for place in range(columns))] + [",".join(value for _, value in chosen)] * rows
    (folder / f"{name}.csv").write_text("\n".join(lines) + "\n")


def seconds(command: list[str], folder: Path) -> float:
    """The processor time of one run, in which nothing may go wrong."""
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, env=ENVIRONMENT)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(command[3:])} ended with {process.returncode}")
    return usage.ru_utime + usage.ru_stime


if __name__ == "__main__":
    main()
