"""Tables that are uploaded, sanitized by a job, and fetched."""

import asyncio
import contextlib
import http.client
import io
import json
import socket
import time

import pyarrow.parquet as pq
import pytest

pytest.importorskip("fastapi")
PEOPLE = b"sex,age\n" + b"F,30\nM,41\nF,52\nM,18\n" * 50


def call(service, method, path, body=None, who="ann", key=None):
    """The status, and the bytes that came."""
    connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=60)
    headers = {"Authorization": f"Bearer {service.tokens[who]}"} | ({"Idempotency-Key": key} if key else {})
    with contextlib.closing(connection):
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        return answer.status, answer.read()


def send(service, body=PEOPLE, who="ann", query="table=people", key=None):
    return call(service, "POST", f"/sanitize?{query}", body, who, key)


def begun(service, **given):
    status, content = send(service, **given)
    assert status == 202, content
    return json.loads(content)["result"]["job"]


def ended(service, job, who="ann"):
    for _ in range(2000):
        found = service.call(who, "GET", f"/jobs/{job}").json()["result"]
        if found["state"] in ("done", "failed"):
            return found
        time.sleep(0.02)
    raise AssertionError("the job does not end")


def fetched(service, job, who="ann"):
    return call(service, "GET", f"/jobs/{job}/result", who=who)


def charges(service):
    return sum(entry.kind == "charged" for entry in service.ledger.history())


def test_a_table_is_uploaded_charged_released_and_fetched_once(service):
    job = begun(service)
    found = ended(service, job)
    assert (found["state"], found["rows"], charges(service)) == ("done", 200, 1)
    status, content = fetched(service, job)
    assert status == 200
    table = pq.read_table(io.BytesIO(content))
    assert (table.num_rows, table.column_names) == (200, ["sex", "age"])
    assert fetched(service, job)[0] == 403  # it is gone
    assert service.call("ann", "GET", f"/jobs/{job}").status_code == 403


def test_a_bad_table_costs_nothing_and_its_error_holds_no_value(service):
    found = ended(service, begun(service, body=b"sex,age\nF,30\nM,987654\n"))
    assert found["state"] == "failed"
    assert found["error"]["kind"] == "ColumnError"
    assert "987654" not in str(found)
    assert charges(service) == 0


def test_the_cap_is_kept(service):
    for _ in range(2):
        assert ended(service, begun(service))["state"] == "done"
    assert ended(service, begun(service))["error"]["kind"] == "BudgetError"
    assert charges(service) == 2


def test_a_job_is_its_owners_alone(service):
    job = begun(service)
    ended(service, job)
    texts = {service.call("bob", "GET", f"/jobs/{name}").text for name in (job, "0" * 32, "x")}
    assert len(texts) == 1
    assert fetched(service, job, "bob")[0] == 403
    assert service.call("bob", "DELETE", f"/jobs/{job}").status_code == 403
    assert service.call("ann", "DELETE", f"/jobs/{job}").status_code == 200
    assert service.call("ann", "GET", f"/jobs/{job}").status_code == 403


@pytest.mark.parametrize(
    ("given", "status"),
    [
        ({"who": "otto"}, 403),
        ({"who": "cora"}, 403),  # a token without an account
        ({"query": "table=nothing"}, 400),
        ({"query": "table=people&form=xlsx"}, 400),
        ({"query": ""}, 422),
        ({"body": b"x" * 60_000}, 413),
    ],
)
def test_what_may_not_be_is_refused(service, given, status):
    found, content = send(service, **given)
    assert found == status, content
    assert charges(service) == 0


def test_an_endless_upload_stops_nobody_and_ends(service):
    """One that sends a byte now and then, and one that sends nothing more: others are served, and both are refused."""
    head = (
        f"POST /sanitize?table=people HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {service.tokens['ann']}\r\n"
        "Content-Length: 40000\r\n\r\nsex,age\n"
    )
    slow = [socket.create_connection(("127.0.0.1", service.port), timeout=60) for _ in range(2)]
    for one in slow:
        one.sendall(head.encode())
    time.sleep(0.2)
    slow[0].sendall(b"F")
    assert service.release().status_code == 200
    assert ended(service, begun(service))["state"] == "done"
    answers = [one.recv(4096) for one in slow]
    assert all(b" 408 " in answer.split(b"\r\n")[0] for answer in answers)
    for one in slow:
        one.close()


def test_a_hundred_slow_requests_stop_nobody_and_end(service):
    """More of them than the service has threads: bodies that never come to an end, with a token and without."""
    heads = [f"Authorization: Bearer {service.tokens['ann']}\r\n", ""]
    slow = [socket.create_connection(("127.0.0.1", service.port), timeout=60) for _ in range(100)]
    for number, one in enumerate(slow):
        path = ("/release", "/ask")[number % 2]
        one.sendall(
            f"POST {path} HTTP/1.1\r\nHost: x\r\n{heads[number // 50]}Content-Type: application/json\r\n"
            'Content-Length: 5000\r\n\r\n{"mechanism":'.encode()
        )
    assert [service.release(subject=f"rider {number}").status_code for number in range(5)] == [200] * 5
    answers = [one.recv(4096).split(b"\r\n")[0] for one in slow]
    assert all(b" 408 " in answer for answer in answers[:50])
    assert all(b" 401 " in answer for answer in answers[50:])
    for one in slow:
        one.close()


def test_more_than_so_many_at_a_time_are_refused(service):
    jobs = [begun(service, body=b"sex,age\nF,999\n") for _ in range(3)]
    for job in jobs:
        ended(service, job)
    assert send(service)[0] == 429, "one token leaves a place for others"
    begun(service, who="bob")
    assert send(service, who="bob")[0] == 429
    service.call("ann", "DELETE", f"/jobs/{jobs[0]}")
    begun(service)


def test_a_request_key_is_charged_once(service):
    job = begun(service, key="k1")
    ended(service, job)
    again = ended(service, begun(service, key="k1"))
    assert again["state"] == "failed"
    assert "made once" in again["error"]["message"]
    assert charges(service) == 1


def test_the_client_sends_waits_and_writes(service, tmp_path):
    from metricdp.errors import ServiceError
    from metricdp.service import Client

    source, out, seen = tmp_path / "up.csv", tmp_path / "down.parquet", []
    source.write_bytes(PEOPLE)
    client = Client(f"http://127.0.0.1:{service.port}", service.tokens["ann"], pause=0.02)
    client.sanitize("people", source, out, progress=lambda rows, total: seen.append(rows))
    assert pq.read_table(out).num_rows == 200
    source.write_bytes(b"sex,age\nX,3\n")
    with pytest.raises(ServiceError, match="ColumnError"):
        client.sanitize("people", source, tmp_path / "no.parquet")
    assert not (tmp_path / "no.parquet").exists()


def test_an_output_that_cannot_be_is_refused_before_anything_is_charged(service, tmp_path):
    """The table had been charged and made, and was lost."""
    from metricdp.errors import FileError
    from metricdp.service import Client

    source, out = tmp_path / "up.csv", tmp_path / "down.parquet"
    source.write_bytes(PEOPLE)
    out.write_text("mine")
    client = Client(f"http://127.0.0.1:{service.port}", service.tokens["ann"], pause=0.02)
    for bad in (out, tmp_path / "nowhere" / "down.parquet"):
        with pytest.raises(FileError):
            client.sanitize("people", source, bad)
    assert (charges(service), out.read_text()) == (0, "mine")


@pytest.mark.parametrize("asked", ["bytes=0-10", "bytes=99999999-"])
def test_a_part_is_not_taken_for_the_whole(service, asked):
    """The rest of a table that was paid for was gone after its first bytes."""
    job = begun(service)
    ended(service, job)
    connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=60)
    with contextlib.closing(connection):
        headers = {"Authorization": f"Bearer {service.tokens['ann']}", "Range": asked}
        connection.request("GET", f"/jobs/{job}/result", headers=headers)
        answer = connection.getresponse()
        assert answer.status == 200
        assert pq.read_table(io.BytesIO(answer.read())).num_rows == 200


def test_whoever_goes_away_before_the_end_may_fetch_it_again():
    from metricdp.service.jobs import TableJobs
    from metricdp.service.uploads import _Result

    async def fetch(response, leaves):
        sent, gone = [], asyncio.Event()

        async def receive():
            await gone.wait()
            return {"type": "http.disconnect"}

        async def send(message):
            sent.append(message.get("body", b""))
            if leaves and len(sent) == 2:
                gone.set()
            await asyncio.sleep(0)

        await response({"type": "http", "method": "GET", "headers": []}, receive, send)
        return b"".join(sent)

    jobs = TableJobs(1, 60)
    job = jobs.begin("ann", "csv")
    jobs.run(job, lambda job: job.result.write_bytes(b"x" * 300_000))
    while job.state != "done":
        time.sleep(0.001)
    asyncio.run(fetch(_Result(job, jobs), leaves=True))
    assert jobs.of("ann", job.id) is job
    assert asyncio.run(fetch(_Result(job, jobs), leaves=False)) == b"x" * 300_000
    assert jobs.of("ann", job.id) is None
    assert not job.folder.exists()
