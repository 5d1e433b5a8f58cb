"""The service over HTTP: what is charged, who may, and what errors say."""

import json
import logging
import threading
import time

import pytest

pytest.importorskip("fastapi")

from metricdp.errors import BudgetError
from metricdp.ledger.charging import policy_cap
from metricdp.service.tokens import Token, Tokens
from metricdp.service.verbs import Refused, Verbs
from metricdp.sessions import Session


def test_a_release_is_charged_to_its_subject_before_it_leaves(service):
    answer = service.release(secrets=[[48.85, 2.35], [48.86, 2.36]])
    assert answer.status_code == 200
    released = answer.json()["result"]["released"]
    assert [len(place) for place in released] == [2, 2]
    assert released != [[48.85, 2.35], [48.86, 2.36]]
    entries = [entry for entry in service.ledger.history() if entry.kind in ("charged", "answered")]
    assert [entry.kind for entry in entries] == ["charged", "answered"]
    assert service.release(secrets=[[1, 2], [1, 2]]).status_code == 402  # three values in all
    assert service.release(secrets=[[1, 2]]).status_code == 200
    assert service.release(subject="another", secrets=[[1, 2]] * 3).status_code == 200


def test_the_ledger_holds_no_subject_and_no_secret(service):
    service.release(subject="rider 1729", secrets=[[48.8512345, 2.35]])
    content = b"".join(file.read_bytes() for file in service.settings.tokens.parent.glob("spent.db*"))
    assert b"rider 1729" not in content
    assert b"48.8512345" not in content


def test_the_same_request_again_is_free_and_another_one_is_refused(service):
    first = service.release(key="k1")
    again = service.release(key="k1")
    assert again.json()["result"]["released"] == first.json()["result"]["released"]
    assert again.json()["result"]["repeated"]
    assert service.release(secrets=[[1, 2]], key="k1").status_code == 400
    assert service.release(secrets=[[1, 2]] * 2).status_code == 200  # one of three was spent


def test_a_key_may_be_as_long_as_is_said(service):
    first = service.release(key="k" * 200)
    assert first.status_code == 200
    assert service.release(key="k" * 200).json()["result"]["repeated"]
    assert service.release(key="k" * 201).status_code == 400


def test_what_is_refused_costs_nothing_and_is_not_repeated(service):
    for bad in ([[91.5, 2.0]], [["x", 2.0]], [[None, 1.0]], [[1.0]], []):
        answer = service.release(secrets=bad)
        assert answer.status_code in (400, 422)
        assert "91.5" not in answer.text
    assert service.release(secrets=[[1, 2]] * 3).status_code == 200


def test_a_column_of_a_policy_is_a_mechanism(service):
    answer = service.release(mechanism="age", secrets=[30])
    assert answer.status_code == 200
    assert 0 <= answer.json()["result"]["released"][0] <= 120


def test_questions_are_charged_to_whoever_asks(service):
    body = {"table": "people", "question": "select count(*) from people group by sex"}
    seen = service.call("ann", "POST", "/preview", body)
    assert seen.json()["result"]["holds"]
    before = service.call("ann", "GET", "/balance").json()
    answer = service.call("ann", "POST", "/ask", body)
    assert answer.status_code == 200, answer.text
    assert service.call("ann", "GET", "/balance").json() != before
    other = {"table": "people", "question": "select count(*) from people"}
    assert service.call("ann", "POST", "/ask", other).status_code == 200
    assert service.call("ann", "POST", "/ask", body | {"table": "none"}).status_code == 400
    assert service.call("ann", "POST", "/ask", {"table": "people", "question": "drop table people"}).status_code == 400


@pytest.mark.parametrize(
    ("who", "method", "path", "status"),
    [
        ("ann", "GET", "/balance?account=bob", 403),
        ("ann", "GET", "/balance?account=nobody", 403),
        ("otto", "GET", "/balance?account=bob", 200),
        ("cora", "GET", "/balance?account=bob", 200),
        ("ann", "GET", "/metrics", 403),
        ("otto", "GET", "/metrics", 200),
        ("ann", "GET", "/check", 403),
        ("otto", "GET", "/check", 200),
        ("cora", "GET", "/balance", 403),
    ],
)
def test_roles(service, who, method, path, status):
    answer = service.call(who, method, path)
    assert answer.status_code == status, answer.text


def test_an_auditor_releases_nothing(service):
    assert service.release(who="otto").status_code == 403


def test_a_foreign_balance_reads_as_one_that_is_not_there(service):
    texts = {service.call("ann", "GET", f"/balance?account={name}").text for name in ("bob", "nobody", "place")}
    assert len(texts) == 1


ASKED = [
    ("GET", "/balance", None),
    ("GET", "/balance?account=ann", None),
    ("GET", "/nothing", None),
    ("DELETE", "/jobs/1", None),
    ("POST", "/sanitize?table=people", None),
    ("POST", "/ask", {"table": "people", "question": "select count(*) from people"}),
    ("POST", "/release", {"mechanism": "place", "subject": "rider", "secrets": [[1.0, 2.0]]}),
    ("POST", "/release", {"mechanism": 1}),
]


def test_a_wrong_token_learns_nothing(service):
    """The same words whatever was asked and however near the token is to a right one; nothing is charged."""
    right = service.tokens["ann"]
    wrong = ["", "x", right[:-1], right[:-1] + "g", right.upper(), "ä"]
    sent = [{"Authorization": f"Bearer {token}"} for token in wrong] + [{}, {"Authorization": right}]
    kind = {"Content-Type": "application/json"}
    answers = [service.request(method, path, body, kind | one) for method, path, body in ASKED for one in sent]
    assert {answer.status_code for answer in answers} == {401}
    assert len({answer.text for answer in answers}) == 1
    assert not [entry for entry in service.ledger.history() if entry.kind == "charged"]


def test_a_token_that_is_taken_back_is_refused_at_once(service, caplog):
    """It was good until the service was started again."""
    tokens = Tokens(service.settings.tokens)
    assert service.call("ann", "GET", "/balance").status_code == 200
    tokens.remove("ann")
    assert service.call("ann", "GET", "/balance").status_code == 401
    assert service.call("bob", "GET", "/balance").status_code == 200
    service.settings.tokens.write_text("{")
    answer = service.call("bob", "GET", "/balance")
    assert (answer.status_code, "whoever runs the service" in answer.text) == (503, True)
    assert "tokens.json is no file of tokens, or a damaged one" in caplog.text


def test_malformed_requests_are_described_without_their_content(service):
    for body in (
        {"mechanism": 5, "subject": "secret-one", "secrets": "secret-two"},
        ["secret-two"],
        {"extra": "secret-two"},
    ):
        answer = service.call("ann", "POST", "/release", body)
        assert answer.status_code == 422
        assert "secret-" not in answer.text
        assert answer.json()["error"]["kind"] == "MalformedRequest"


def test_a_body_without_its_type_is_told_what_is_missing(service):
    """As curl sends it: all that was said was "body: json_type"."""
    head = {"Authorization": f"Bearer {service.tokens['ann']}"}
    for path, body in (("/release", {"mechanism": "place"}), ("/ask", {"table": "people", "question": "select 1"})):
        for kind in ({}, {"Content-Type": "application/x-www-form-urlencoded"}):
            answer = service.request("POST", path, body, head | kind)
            assert (answer.status_code, "Content-Type: application/json" in answer.text) == (422, True)
    assert "Content-Type" not in service.call("ann", "POST", "/ask", ["a list"]).text


def test_values_of_another_type_are_refused(service):
    """An error bar of true was read as 1, and of "5" as 5."""
    body = {"table": "people", "question": "select count(*) from people where age > 30"}
    for within in (True, "5"):
        answer = service.call("ann", "POST", "/preview", body | {"within": within})
        assert (answer.status_code, "body.within" in answer.text) == (422, True)
    assert service.call("ann", "POST", "/preview", body | {"within": 100}).status_code == 200


def test_nobody_is_sent_to_another_address(service):
    """The address that a slash too many led to was http, whatever a proxy had before it."""
    assert service.call("ann", "POST", "/release/", {}).status_code == 404
    assert service.call("ann", "GET", "/balance/").status_code == 404


def test_a_request_that_is_too_large_is_refused(service):
    assert service.release(secrets=[[48.0, 2.0]] * 2000).status_code == 413
    assert service.call("ann", "POST", "/release", {"mechanism": "x" * 30_000}).status_code == 413


def at_once(number, one):
    """What so many threads get that begin together; an error is among it, and not lost with its thread."""
    found, gate = [], threading.Barrier(number)

    def begin(place):
        gate.wait()
        try:
            found.append(one(place))
        except Exception as error:
            found.append(error)

    threads = [threading.Thread(target=begin, args=(place,)) for place in range(number)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


def test_two_hundred_at_once_never_pass_the_cap(service):
    def one(place):
        return service.release(subject="shared", who="ann" if place % 2 else "bob").status_code

    assert sorted(at_once(200, one), key=str) == [200] * 3 + [402] * 197
    assert service.ledger.check()


def test_two_hundred_who_ask_one_account_at_once_never_pass_its_cap(service):
    def one(place):
        body = {"table": "people", "question": f"select count(*) from people where age < {20 + place / 4}"}
        return service.call(("ann", "andy", "alma")[place % 3], "POST", "/ask", body).status_code

    statuses = at_once(200, one)
    assert sorted(statuses, key=str) == [200] * 2 + [402] * 198  # the cap takes two questions about ages
    assert service.ledger.check()


def test_lines_of_the_log_hold_no_secret(service, caplog):
    with caplog.at_level(logging.INFO, "metricdp.service"):
        service.release(subject="rider 1729", secrets=[[48.8512345, 2.35]])
        service.call("ann", "GET", "/balance?account=hidden")
        lines = []
        for _ in range(500):  # a line is written after its answer has left
            lines = [record.message for record in caplog.records if record.name == "metricdp.service"]
            if len(lines) >= 2:
                break
            time.sleep(0.02)
    assert [json.loads(line)["path"] for line in lines] == ["/release", "/balance"]
    assert all(json.loads(line)["who"] == "ann" for line in lines)
    assert not any(word in line for line in lines for word in ("1729", "48.85", "hidden"))


def test_channels_are_verified(service):
    import metricdp as mdp

    channel = mdp.channels.of(mdp.randomized_response([0, 1], mdp.ln(3)), [0, 1]).to_json()
    seen = [
        service.call("ann", "POST", "/verify", {"channel": channel, "metric": metric}).json()["result"]["holds"]
        for metric in ("ln 3 discrete", "ln 2 discrete")
    ]
    assert seen == [True, False]
    assert service.call("ann", "POST", "/verify", {"channel": {"a": 1}, "metric": "discrete"}).status_code == 400


def test_counts_and_health(service):
    service.release()
    text = service.call("otto", "GET", "/metrics").text
    assert 'metricdp_released_values_total{mechanism="place"} 1' in text
    assert "metricdp_quantum_overruns_total" in text
    assert service.request("GET", "/health").json()["result"]["status"] == "ready"
    assert service.request("GET", "/openapi.json").json()["paths"]["/release"]
    assert service.call("ann", "GET", "/nothing").status_code == 404


def test_the_description_says_how_to_ask_and_its_examples_work(service):
    """A program made from it sent no token, expected errors of another form, and had no channel to verify."""
    told = service.request("GET", "/openapi.json").json()
    schemas = told["components"]["schemas"]
    assert told["components"]["securitySchemes"]["HTTPBearer"]["scheme"] == "bearer"
    tried = 0
    for path, verbs in told["paths"].items():
        for method, verb in verbs.items():
            if path != "/health":
                assert verb["security"] == [{"HTTPBearer": []}]
            assert not any(one["name"].lower() == "authorization" for one in verb.get("parameters", []))
            error = verb["responses"]["4XX"]["content"]["application/json"]["schema"]
            assert error == {"$ref": "#/components/schemas/ErrorAnswer"}
            asked = verb.get("requestBody", {}).get("content", {}).get("application/json")
            if asked is not None:
                wanted = schemas[asked["schema"]["$ref"].rpartition("/")[2]]["properties"]
                body = {name: one["examples"][0] for name, one in wanted.items()}
                assert service.call("ann", method.upper(), path, body).status_code == 200, path
                tried += 1
    assert tried == 4
    refused = service.call("ann", "POST", "/ask", {}).json()
    assert set(refused) == set(schemas["ErrorAnswer"]["properties"])
    assert set(refused["error"]) == set(schemas["ErrorWords"]["properties"])


def test_an_error_of_the_service_itself_tells_nothing(service, monkeypatch, caplog):
    """Neither whoever asked nor the log of the server: it printed the error with its message."""
    from metricdp.service import verbs

    def fails(*_):
        raise RuntimeError("a secret")

    monkeypatch.setattr(verbs, "drawn_together", fails)
    with caplog.at_level(logging.INFO, "uvicorn.error"), caplog.at_level(logging.INFO, "metricdp.service"):
        answer = service.release()
        assert answer.status_code == 500
        monkeypatch.setattr(verbs.Verbs, "verify", fails)
        body = {"channel": {}, "metric": "discrete"}
        assert service.call("ann", "POST", "/verify", body).json()["error"]["kind"] == "InternalError"
    assert "a secret" not in answer.text
    for _ in range(500):
        if sum('"path"' in record.message for record in caplog.records) == 2:
            break
        time.sleep(0.02)
    assert '"failed": "RuntimeError", "at": "test_app.py:' in caplog.text
    assert "a secret" not in caplog.text
    assert "Traceback" not in caplog.text


def test_a_token_without_its_account_learns_no_other_names(service):
    verbs, token = Verbs(service.settings, service.ledger), Token("lost", "analyst", "nowhere", "")
    question = ("people", "select count(*) from people", None)
    for call in (
        lambda: verbs.ask(token, *question, None),
        lambda: verbs.preview(token, *question),
        lambda: verbs.sanitizing(token, "people", None),
    ):
        with pytest.raises(Refused, match="account of this token is not in the ledger"):
            call()


def test_what_computes_for_long_leaves_the_processors_to_others(service, monkeypatch):
    """A channel of many inputs takes minutes to verify: sixty of them at once left nothing for the rest."""
    running, most, go = [], [], threading.Event()

    def long(*_):
        running.append(1)
        most.append(len(running))
        assert go.wait(20)
        running.pop()
        return {}

    monkeypatch.setattr(Verbs, "verify", long)
    body = {"channel": {}, "metric": "discrete"}
    threads = [
        threading.Thread(target=service.call, args=("cora", "POST", "/verify", body), daemon=True) for _ in range(5)
    ]
    for thread in threads:
        thread.start()
    assert service.release().status_code == 200
    assert service.call("ann", "GET", "/balance").status_code == 200
    go.set()
    for thread in threads:
        thread.join(20)
    assert len(most) == 5
    assert max(most) <= 2


def test_texts_that_take_long_to_read_are_refused(service):
    """A metric of many digits stopped the service for all: the digits were read in every way that there is."""
    for path, body in (
        ("/verify", {"channel": {}, "metric": "9" * 15_000}),
        ("/ask", {"table": "people", "question": f"select count(*) from people where age in ({'1,' * 6000}1)"}),
    ):
        answer = service.call("ann", "POST", path, body)
        assert (answer.status_code, "string_too_long" in answer.text) == (422, True)


def test_an_account_above_ones_own_is_not_told(service):
    """An analyst read in a refusal what was left of the account that others share with them."""
    offered = service.settings.tables["people"]
    cap = policy_cap(offered.policy, 1)
    service.ledger.open_account("whole city", cap)
    for name in ("kate", "karl"):
        service.ledger.open_account(name, cap, parent="whole city")
    Session(offered.source, offered.policy, service.ledger, "karl").ask("select sum(age) from people")
    verbs = Verbs(service.settings, service.ledger)
    analyst, curator = (Token(role, role, "kate", "") for role in ("analyst", "curator"))
    question = "select avg(age) from people where sex = 'F'"
    told = verbs.preview(analyst, "people", question, None)
    assert not told["holds"]
    with pytest.raises(BudgetError) as caught:
        verbs.ask(analyst, "people", question, None, None)
    for words in (told["reason"], str(caught.value)):
        assert words.startswith("account 'kate': an account above it")
        assert "city" not in words
        assert "used up" not in words, "what is left is of kate's own account"
    assert "whole city" in verbs.preview(curator, "people", question, None)["reason"]
