"""Requests that the service's own description allows, and many that it does not: none of them may end in a 5xx.

python tests/attacks/service_schema.py [--examples 60]     # or: make service-schema, which installs schemathesis

A service on a ledger of its own is started, and schemathesis calls every operation, once as a curator and once as an
auditor. Exits with the status of schemathesis.
"""

from __future__ import annotations

import argparse
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from metricdp.ledger import Ledger
from metricdp.ledger.charging import policy_cap
from metricdp.policies.policy import Policy
from metricdp.service import Tokens

POLICY = """
format = 2
records = 4
[columns.sex]
type = "category"
values = ["F", "M"]
epsilon = 1
missing = "refuse"
[columns.age]
type = "integer"
bounds = [0, 120]
within = "5 years"
missing = "refuse"
"""
SETTINGS = """
format = 1
ledger = "spent.db"
tokens = "tokens.json"
quantum = 0.005
requests_per_second = 1000000
[mechanisms.place]
metric = "ln 2/200 great_circle"
releases = 20
[mechanisms.age]
policy = "people.toml"
column = "age"
releases = 20
[tables.people]
source = "people.csv"
policy = "people.toml"
"""


def prepared(folder: Path) -> list[str]:
    """What a service needs, in a folder; and the tokens of a curator and of an auditor."""
    (folder / "people.toml").write_text(POLICY)
    (folder / "people.csv").write_text("sex,age\nF,30\nM,41\nF,52\nM,18\n")
    (folder / "service.toml").write_text(SETTINGS)
    with Ledger.create(folder / "spent.db") as ledger:
        ledger.open_account("ann", policy_cap(Policy.load(folder / "people.toml"), 50))
    tokens = Tokens(folder / "tokens.json")
    return [tokens.add("ann", "curator", "ann"), tokens.add("otto", "auditor")]


def main() -> None:
    """Start a service, and attack it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--examples", type=int, default=60)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        free.close()
        tokens = prepared(Path(name))
        serve = [sys.executable, "-c", "from metricdp.cli import app; app()", "serve", "service.toml"]
        server = subprocess.Popen([*serve, "--port", str(port)], cwd=name, stderr=subprocess.DEVNULL)
        try:
            for _ in range(600):
                try:
                    socket.create_connection(("127.0.0.1", port)).close()
                    break
                except OSError:
                    time.sleep(0.1)
            url, tool = f"http://127.0.0.1:{port}/openapi.json", str(Path(sys.executable).with_name("st"))
            options = ["--checks", "not_a_server_error", "--max-examples", str(given.examples)]
            statuses = [
                subprocess.run(
                    [tool, "run", url, "-H", f"Authorization: Bearer {token}", *options], cwd=name, check=False
                ).returncode
                for token in tokens
            ]
        finally:
            server.terminate()
            server.wait()
    sys.exit(max(statuses))


if __name__ == "__main__":
    main()
