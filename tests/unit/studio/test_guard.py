import asyncio

import pytest

from metricdp.studio.guard import COOKIE, Guard

TOKEN = "ab" * 32
HERE = {"host": "127.0.0.1:8000"}


def called(kind="http", path=f"/{TOKEN}/", **headers):
    """What the guard sends, and what the application behind it was given."""
    given, sent = [], []

    async def application(scope, receive, send):
        given.append(scope)
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"in"})

    async def send(message):
        sent.append(message)

    named = [(name.encode(), value.encode()) for name, value in (HERE | headers).items()]
    scope = {"type": kind, "path": path, "headers": named}
    asyncio.run(Guard(application, TOKEN, 8000)(scope, None, send))
    return sent, given


def test_the_usual_port_is_left_out_by_browsers():
    """On port 80 every page was refused."""
    guard = Guard(None, TOKEN, 80)
    for host in ("127.0.0.1", "127.0.0.1:80", "localhost"):
        assert guard.lets_in("http", f"/{TOKEN}/", {"host": host, "origin": f"http://{host}"})
    assert not guard.lets_in("http", f"/{TOKEN}/", {"host": "127.0.0.1:8000"})


@pytest.mark.parametrize(
    "headers",
    [
        {"host": "evil.example"},
        {"host": "127.0.0.1"},
        {"host": "127.0.0.1:8001"},
        {"host": "127.0.0.1:8000.evil.example"},
        {"origin": "http://evil.example"},
        {"origin": "http://127.0.0.1:8001"},
        {"origin": "https://127.0.0.1:8000"},
        {"origin": "null"},
    ],
)
@pytest.mark.parametrize("kind", ["http", "websocket"])
def test_wrong_hosts_and_origins_get_nothing(kind, headers):
    sent, given = called(kind, **headers)
    assert given == []
    assert sent[0].get("status", 403) == 403


@pytest.mark.parametrize("path", ["/", "", f"/{TOKEN[:-1]}/", f"/{TOKEN}0/", f"//{TOKEN}/", f"/x/{TOKEN}/", "/\udcff/"])
def test_wrong_tokens_get_nothing(path):
    sent, given = called(path=path)
    assert given == []
    assert sent[0]["status"] == 403


def test_a_web_socket_without_origin_is_refused():
    assert called("websocket")[0] == [{"type": "websocket.close", "code": 1008}]
    assert called("websocket", origin="http://localhost:8000")[1]


def test_browsers_are_told_apart_by_a_cookie_that_opens_nothing():
    sent, given = called()
    cookie = dict(sent[0]["headers"])[b"set-cookie"].decode()
    name = given[0]["state"]["browser"]
    assert cookie == f"{COOKIE}={name}; Path=/{TOKEN}; HttpOnly; SameSite=Strict"
    again, known = called(cookie=f"other=1; {COOKIE}={name}")
    assert known[0]["state"]["browser"] == name
    assert b"set-cookie" not in dict(again[0]["headers"])
    assert called(path="/", cookie=f"{COOKIE}={name}")[1] == []
    assert called()[1][0]["state"]["browser"] != name


@pytest.mark.parametrize("cookie", [f"{COOKIE}=../../etc", f"{COOKIE}=" + "A" * 32, ";;;=", f'{COOKIE}="'])
def test_a_cookie_of_another_form_is_replaced(cookie):
    found = called(cookie=cookie)[1][0]["state"]["browser"]
    assert len(found) == 32
    assert int(found, 16) >= 0


def test_nothing_may_be_loaded_from_elsewhere():
    headers = dict(called()[0][0]["headers"])
    policy = headers[b"content-security-policy"].decode()
    assert "default-src 'self'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "http:" not in policy
    assert "https:" not in policy
    assert "*" not in policy
    assert headers[b"referrer-policy"] == b"no-referrer"
