"""The service killed in the middle of its work: no charge is lost, and no answer is out without one."""

import contextlib
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request

import pytest

from metricdp.ledger import Ledger

pytest.importorskip("fastapi")
SETTINGS = """
format = 1
ledger = "spent.db"
tokens = "tokens.json"
quantum = 0.005
requests_per_second = 100000
[mechanisms.number]
metric = "1 absolute"
releases = 1000000
"""
PROGRAM = """
import sys
import uvicorn
from metricdp.service import Settings, create_app
app = create_app(Settings.load("service.toml"))
config = uvicorn.Config(app, port=0, log_level="critical", log_config=None)
server = uvicorn.Server(config)
start = server.startup
async def startup(sockets=None):
    await start(sockets)
    print(server.servers[0].sockets[0].getsockname()[1], flush=True)
server.startup = startup
server.run()
"""


def started(folder):
    process = subprocess.Popen([sys.executable, "-c", PROGRAM], cwd=folder, stdout=subprocess.PIPE, text=True)
    return process, int(process.stdout.readline())


def released(port, token, subject, key):
    body = json.dumps({"mechanism": "number", "subject": subject, "secrets": [1.0]}).encode()
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json", "Idempotency-Key": key}
    request = urllib.request.Request(f"http://127.0.0.1:{port}/release", body, headers)
    with urllib.request.urlopen(request, timeout=20) as answer:
        return json.load(answer)["result"]["released"]


def test_killed_and_started_again(tmp_path):
    from metricdp.service import Tokens

    (tmp_path / "service.toml").write_text(SETTINGS)
    Ledger.create(tmp_path / "spent.db").close()
    token = Tokens(tmp_path / "tokens.json").add("app", "analyst")
    answers = {}
    for life in range(2):
        process, port = started(tmp_path)
        begun = threading.Event()

        def ask(who, port=port, life=life, begun=begun):
            for number in range(10_000):
                key = f"{life} {who} {number}"
                try:
                    answers[key] = released(port, token, f"subject {who}", key)
                except (OSError, http.client.HTTPException, ValueError):  # killed before, in the head or in the body
                    return
                if number == 3:
                    begun.set()

        threads = [threading.Thread(target=ask, args=(who,)) for who in range(4)]
        for thread in threads:
            thread.start()
        assert begun.wait(60)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        process.stdout.close()
        for thread in threads:
            thread.join()
    with Ledger(tmp_path / "spent.db") as ledger:
        assert ledger.check()
        entries = list(ledger.history())
    assert sum(entry.kind == "answered" for entry in entries) >= len(answers) >= 8
    assert sum(entry.kind == "charged" for entry in entries) >= len(answers)
    process, port = started(tmp_path)
    try:
        for key in (
            list(answers)[:3] + list(answers)[-3:]
        ):  # an answer that left is in the ledger, and costs nothing again
            life, who, _ = key.split()
            assert released(port, token, f"subject {who}", key) == answers[key]
    finally:
        process.terminate()
        process.wait()
        process.stdout.close()


def test_the_command_ends_well_when_it_is_told_to(tmp_path):
    """As its help says; it ended by the signal, once all had been answered."""
    (tmp_path / "service.toml").write_text(SETTINGS)
    Ledger.create(tmp_path / "spent.db").close()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    program = [sys.executable, "-c", "from metricdp.cli import app; app()", "serve", "service.toml"]
    process = subprocess.Popen([*program, "--port", str(port)], cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    assert process.stderr.readline().startswith("Serving number")
    for _ in range(600):
        with contextlib.suppress(OSError):
            assert urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=20).status == 200
            break
        time.sleep(0.1)
    process.send_signal(signal.SIGTERM)
    _, said = process.communicate(timeout=60)
    assert (process.returncode, "Traceback" in said) == (0, False), said
