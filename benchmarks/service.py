"""Load on the service: released values a second, and how long answers take beyond the quantum.

python benchmarks/service.py              # 10 s each of requests of ten values and of one
python benchmarks/service.py --seconds 3

A server in a process of its own, on a ledger in a scratch folder, and a load generator beside it: so many connections,
each of which sends its next request when the last one was answered, for one of 5,000 subjects: once as fast as answers
come, and once at the rate that was asked for. Every request is charged durably before it is answered. Latencies are by
the clock, so run it on a machine that does nothing else.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "src"))

from metricdp.ledger import Ledger  # noqa: E402
from metricdp.service import Tokens  # noqa: E402

QUANTUM = 0.02
SETTINGS = f"""
format = 1
ledger = "spent.db"
tokens = "tokens.json"
quantum = {QUANTUM}
requests_per_second = 1000000
[mechanisms.place]
metric = "ln 2/200 great_circle"
releases = 1000000
"""
PROGRAM = "import sys; sys.path.insert(0, sys.argv.pop(1)); from metricdp.cli import app; app()"


async def caller(port: int, token: str, values: int, who: int, pause: float, until: float, took: list[float]) -> None:
    """One connection, which asks again as soon as it was answered, but not before the pause is over."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    number, due = 0, time.perf_counter() + pause * (who * 0.618 % 1)  # spread evenly
    while time.perf_counter() < until:
        subject = f"rider {(who * 7919 + number) % 5000}"
        number += 1
        body = json.dumps({"mechanism": "place", "subject": subject, "secrets": [[48.8566, 2.3522]] * values}).encode()
        head = (
            f"POST /release HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\n"
        )
        await asyncio.sleep(max(0.0, due - time.perf_counter()))
        due += pause
        start = time.perf_counter()
        writer.write(head.encode() + f"Content-Length: {len(body)}\r\n\r\n".encode() + body)
        status = await reader.readline()
        length = 0
        while (line := await reader.readline()) != b"\r\n":
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
        content = await reader.readexactly(length)
        if b" 200 " not in status:
            raise SystemExit(f"{status!r} {content!r}")
        took.append(time.perf_counter() - start)
    writer.close()


async def load(
    port: int, token: str, values: int, connections: int, seconds: float, rate: float = math.inf
) -> list[float]:
    """The seconds that each answer took, at so many values a second at the most."""
    took: list[float] = []
    until, pause = time.perf_counter() + seconds, connections * values / rate
    await asyncio.gather(*(caller(port, token, values, who, pause, until, took) for who in range(connections)))
    return took


def overruns(port: int, token: str) -> str:
    """How many answers took more than one quantum, as the service counts them."""
    import urllib.request

    request = urllib.request.Request(f"http://127.0.0.1:{port}/metrics", headers={"Authorization": f"Bearer {token}"})
    with urllib.request.urlopen(request) as answer:
        lines = answer.read().decode().splitlines()
    return next(line.split()[-1] for line in lines if "overruns" in line)


def main() -> None:
    """Start a service, load it, and print a line for each load."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--connections", type=int, default=32)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "service.toml").write_text(SETTINGS)
        Ledger.create(folder / "spent.db").close()
        tokens = Tokens(folder / "tokens.json")
        token, auditor = tokens.add("app", "analyst"), tokens.add("otto", "auditor")
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        command = [sys.executable, "-c", PROGRAM, str(ROOT / "src"), "serve", "service.toml", "--port", str(port)]
        server = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            for _ in range(600):
                try:
                    socket.create_connection(("127.0.0.1", port)).close()
                    break
                except OSError:
                    time.sleep(0.1)
            asyncio.run(load(port, token, 1, 4, 1.0))  # accounts and caches, once
            for values, wanted, most in ((10, 2000, math.inf), (1, 800, math.inf), (10, 2000, 2050), (1, 800, 820)):
                took = sorted(asyncio.run(load(port, token, values, given.connections, given.seconds, most)))
                rate = len(took) * values / given.seconds
                p50, p99 = (1000 * took[int(share * (len(took) - 1))] for share in (0.5, 0.99))
                print(
                    f"{values:>2} values a request, {given.connections} connections: {rate:7.0f} values/s "
                    f"({wanted} asked), median {p50:.0f} ms, p99 {p99:.0f} ms ({50 + 1000 * QUANTUM:.0f} asked), "
                    f"overruns so far {overruns(port, auditor)}"
                )
        finally:
            server.terminate()
            server.wait()


if __name__ == "__main__":
    main()
