"""The client against a real server."""

import contextlib
import json
import math
import socket
import threading

import pytest

from metricdp.errors import ArgumentError, FileError, ServiceError
from metricdp.service.client import Client


def test_it_calls_every_verb(service):
    client = Client(f"http://127.0.0.1:{service.port}/", service.tokens["ann"])
    assert service.tokens["ann"] not in repr(client)
    places = client.release("place", "rider", [[48.85, 2.35]], key="one")
    assert client.release("place", "rider", [[48.85, 2.35]], key="one") == places
    assert client.preview("people", "select count(*) from people")["holds"]
    assert client.ask("people", "select count(*) from people")
    assert client.balance() == client.balance("ann")
    with pytest.raises(ServiceError) as error:
        client.balance("bob")
    assert (error.value.status, error.value.kind) == (403, "Refused")
    with pytest.raises(ServiceError, match="BudgetError"):
        client.release("place", "rider", [[48.85, 2.35]] * 4)


def test_nobody_there():
    with pytest.raises(ServiceError, match="does not answer"):
        Client("http://127.0.0.1:9", "token", timeout=2).balance()


@contextlib.contextmanager
def answering(*replies):
    """A server that answers so, and what it was sent."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        sent = []

        def answer():
            for reply in replies:
                connection, _ = server.accept()
                with connection:
                    sent.append(connection.recv(65536))
                    connection.sendall(reply)

        thread = threading.Thread(target=answer, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}", sent
        thread.join(5)


@pytest.mark.parametrize(
    "reply",
    [
        b"",
        b"\x00garbage\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{}",
        b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n<html>",
        b'HTTP/1.1 200 OK\r\nContent-Length: 14\r\n\r\n{"result":[1]}',
        b"HTTP/1.1 502 Bad\r\nContent-Length: 3\r\n\r\nbad",
    ],
)
def test_an_answer_that_is_none_or_breaks_off(reply):
    with answering(reply) as (url, _), pytest.raises(ServiceError):
        Client(url, "token", timeout=5).balance()


def test_an_answer_without_what_was_asked():
    reply = b'HTTP/1.1 200 OK\r\nContent-Length: 13\r\n\r\n{"result":{}}'
    with answering(reply) as (url, _), pytest.raises(ServiceError, match="no service of metricdp"):
        Client(url, "token", timeout=5).release("place", "rider", [1])


@pytest.mark.parametrize("released", [[], [[1.0, 2.0], [3.0, 4.0]], "no list"])
def test_as_many_releases_as_secrets_or_none(released):
    with answering(told({"released": released})) as (url, _), pytest.raises(ServiceError, match="no service"):
        Client(url, "token", timeout=5).release("place", "rider", [[1.0, 2.0]])


@pytest.mark.parametrize(
    "error", [{"kind": 5, "message": [1]}, {"kind": "K"}, "text", None, {"kind": "K", "message": 1}]
)
def test_errors_of_another_form_are_unknown(error):
    content = json.dumps({"error": error}).encode()
    reply = b"HTTP/1.1 400 Bad\r\nContent-Length: %d\r\n\r\n%b" % (len(content), content)
    with answering(reply) as (url, _), pytest.raises(ServiceError) as caught:
        Client(url, "token", timeout=5).balance()
    assert (caught.value.status, caught.value.kind) == (400, "Unknown")


def test_what_a_service_says_steers_no_terminal():
    content = json.dumps({"error": {"kind": "K\x1b[2J", "message": "one\u202e\ntwo" + "x" * 10_000}}).encode()
    reply = b"HTTP/1.1 400 Bad\r\nContent-Length: %d\r\n\r\n%b" % (len(content), content)
    with answering(reply) as (url, _), pytest.raises(ServiceError) as caught:
        Client(url, "token", timeout=5).balance()
    said = str(caught.value)
    assert "\x1b" not in said
    assert "\u202e" not in said
    assert "\ntwo" in said, "lines stay lines"
    assert len(said) < 2000


@pytest.mark.parametrize(
    "url", ["http://", "http://[::1", "http://127.0.0.1:99999999", f"http://{'a' * 300}", "http://:80"]
)
def test_an_address_without_a_host_is_refused(url):
    with pytest.raises(ArgumentError, match="names a host"):
        Client(url, "token")


@pytest.mark.parametrize(
    "named",
    [{"timeout": 0}, {"timeout": -1}, {"timeout": "1"}, {"timeout": math.nan}, {"timeout": None}, {"pause": -1}],
)
def test_times_that_cannot_be_are_refused(named):
    with pytest.raises(ArgumentError, match="seconds"):
        Client("http://127.0.0.1:1", "token", **named)


def told(result):
    content = json.dumps({"result": result}).encode()
    return b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(content), content)


def test_a_connection_that_breaks_off_loses_no_table_that_was_charged(tmp_path):
    running = {"job": "1", "state": "running", "rows": 0, "total": None, "error": None}
    half = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab"
    replies = (told(running), b"", told(running | {"state": "done"}), half, half[:-2] + b"abcde")
    source, out = tmp_path / "people.csv", tmp_path / "out.parquet"
    source.write_text("a\n1\n")
    with answering(*replies) as (url, sent):
        Client(url, "token", timeout=5, pause=0.01).sanitize("people", source, out)
    assert out.read_bytes() == b"abcde"
    assert [line.split()[1] for line in sent[1:]] == [b"/jobs/1"] * 2 + [b"/jobs/1/result"] * 2
    with answering(told(running), *[half] * 4) as (url, _), pytest.raises(ServiceError):
        Client(url, "token", timeout=5, pause=0.01).sanitize("people", source, tmp_path / "none.parquet")
    assert not (tmp_path / "none.parquet").exists()


def test_a_service_on_this_machine_is_asked_past_any_proxy(monkeypatch):
    """The proxy of the environment would be told the token and the secrets."""
    with answering(b"") as (proxy, stolen), answering(told({"released": [1]})) as (url, _):
        monkeypatch.setenv("http_proxy", proxy)
        monkeypatch.delenv("no_proxy", raising=False)
        assert Client(url, "token", timeout=5).release("place", "rider", [1]) == [1]
        with pytest.raises(ServiceError):
            Client("http://elsewhere.example", "token", timeout=5).balance()
    assert len(stolen) == 1


def test_the_token_is_sent_to_no_other_address():
    with answering(b"") as (other, stolen):
        moved = f"HTTP/1.1 302 Found\r\nLocation: {other}/\r\nContent-Length: 0\r\n\r\n".encode()
        with answering(moved) as (url, _), pytest.raises(ServiceError):
            Client(url, "token", timeout=5).balance()
        assert stolen == []
        socket.create_connection(("127.0.0.1", int(other.rpartition(":")[2]))).close()


def test_what_cannot_be_sent_is_refused_in_our_words(tmp_path):
    for url, token in (
        ("nowhere", "token"),
        ("file:///etc", "token"),
        ("http://x", "secret\nHost: y"),
        ("http://x", "\u2603"),
    ):
        with pytest.raises(ArgumentError) as caught:
            Client(url, token)
        assert "secret" not in str(caught.value)
    client = Client("http://127.0.0.1:9", "token", timeout=2)
    with pytest.raises(ArgumentError, match="a key"):
        client.release("place", "rider", [1], key="\u2603")
    with pytest.raises(ArgumentError, match="what is sent"):
        client.release("place", "rider", [{1, 2}])
    with pytest.raises(FileError, match="cannot be read"):
        client.sanitize("people", tmp_path / "nowhere.csv", tmp_path / "out.parquet")
