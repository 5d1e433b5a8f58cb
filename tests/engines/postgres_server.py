"""A PostgreSQL server of one's own, with an empty database for each test."""

import itertools
import shutil
import tempfile
import warnings
from contextlib import contextmanager
from pathlib import Path

import pytest

_NUMBERS = itertools.count(1)


@contextmanager
def running_server():
    """The real server of the ``pgserver`` wheel; as root it opens the folders above its data to another user."""
    pytest.importorskip("psycopg")
    pytest.importorskip("sqlalchemy")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # where a lock is kept
        pgserver = pytest.importorskip("pgserver")
    folder = Path(tempfile.mkdtemp(prefix="metricdp-postgres-"))
    server = pgserver.get_server(folder / "data", cleanup_mode="delete")
    try:
        yield server
    finally:
        server.cleanup()
        shutil.rmtree(folder, ignore_errors=True)


def new_database(server):
    """The address of an empty database."""
    import psycopg

    name = f"ledger_{next(_NUMBERS)}"
    with psycopg.connect(server.get_uri(), autocommit=True) as connection:
        connection.execute(f"create database {name}")
    return server.get_uri(name)
