"""The client against a real server."""

import pytest

from metricdp.errors import ServiceError
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
