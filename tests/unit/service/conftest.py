"""A service on a ledger of its own, with a token for each role, behind a real server on a free port."""

import http.client
import json
import threading
import time
from types import SimpleNamespace

import pytest

from metricdp.ledger import Ledger
from metricdp.ledger.charging import policy_cap
from metricdp.policies.policy import Policy

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
quantum = 0.01
requests_per_second = 10000
largest_request = 20000
slowest_request = 2
largest_upload = 50000
slowest_upload = 2
most_jobs_of_one = 3
[mechanisms.place]
metric = "ln 2/200 great_circle"
releases = 3
[mechanisms.age]
policy = "people.toml"
column = "age"
releases = 2
[tables.people]
source = "people.csv"
policy = "people.toml"
"""


class Service:
    """A way to call for each role, and what stands behind them."""

    def __init__(self, folder):
        import uvicorn

        from metricdp.service import Settings, Tokens, create_app

        (folder / "people.toml").write_text(POLICY)
        (folder / "people.csv").write_text("sex,age\nF,30\nM,41\nF,52\nM,18\n")
        (folder / "service.toml").write_text(SETTINGS)
        self.settings = Settings.load(folder / "service.toml")
        self.ledger = Ledger.create(folder / "spent.db")
        for name in ("ann", "bob"):
            self.ledger.open_account(name, policy_cap(Policy.load(folder / "people.toml"), 2))
        tokens = Tokens(self.settings.tokens)
        self.tokens = {
            "ann": tokens.add("ann", "analyst", "ann"),
            "andy": tokens.add("andy", "analyst", "ann"),
            "alma": tokens.add("alma", "analyst", "ann"),
            "bob": tokens.add("bob", "analyst", "bob"),
            "cora": tokens.add("cora", "curator"),
            "otto": tokens.add("otto", "auditor"),
        }
        config = uvicorn.Config(create_app(self.settings, self.ledger), port=0, log_level="critical", log_config=None)
        self.server = uvicorn.Server(config)
        self.thread = threading.Thread(target=self.server.run, daemon=True)
        self.thread.start()
        while not self.server.started:
            time.sleep(0.005)
        self.port = self.server.servers[0].sockets[0].getsockname()[1]

    def close(self):
        self.server.should_exit = True
        self.thread.join()
        self.ledger.close()

    def request(self, method, path, body=None, headers=()):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        content = None if body is None else json.dumps(body).encode()
        connection.request(method, path, content, dict(headers))
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        return SimpleNamespace(status_code=answer.status, text=text, json=lambda: json.loads(text))

    def call(self, who, method, path, body=None, key=None):
        headers = {"Authorization": f"Bearer {self.tokens[who]}", "Content-Type": "application/json"}
        return self.request(method, path, body, headers | ({"Idempotency-Key": key} if key else {}))

    def release(self, subject="rider", secrets=((48.85, 2.35),), who="ann", mechanism="place", key=None):
        body = {"mechanism": mechanism, "subject": subject, "secrets": [*secrets]}
        return self.call(who, "POST", "/release", body, key)


@pytest.fixture
def service(tmp_path):
    pytest.importorskip("fastapi")
    made = Service(tmp_path)
    yield made
    made.close()
