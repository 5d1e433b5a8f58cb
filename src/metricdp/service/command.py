"""``metricdp serve``: the verbs over HTTP."""

from __future__ import annotations

import logging
import signal
from pathlib import Path
from typing import Annotated

import typer

from metricdp.errors import ArgumentError, FileError, MissingExtraError
from metricdp.visible import visible

__all__ = ["serve"]

_LOOPBACK = ("127.0.0.1", "::1", "localhost")


def serve(
    settings: Annotated[Path, typer.Argument(metavar="SETTINGS", help="A TOML file that says what is offered.")],
    host: Annotated[str, typer.Option("--host", metavar="ADDRESS", help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", metavar="NUMBER", help="The port to listen on.")] = 8787,
    add_token: Annotated[
        str | None, typer.Option("--add-token", metavar="NAME", help="Make a token for somebody, print it, and stop.")
    ] = None,
    role: Annotated[str, typer.Option("--role", help="Of the new token: curator, analyst or auditor.")] = "analyst",
    account: Annotated[
        str, typer.Option("--account", "-a", metavar="NAME", help="Which the new token's questions are charged to.")
    ] = "",
    remove_token: Annotated[
        str | None, typer.Option("--remove-token", metavar="NAME", help="Take somebody's token back, and stop.")
    ] = None,
) -> None:
    """Release, ask, preview and verify over HTTP, for other programs; every release is charged to a ledger first.

    To begin with, a file `service.toml`:

        format = 1
        ledger = "spent.db"             # made by: metricdp ledger create spent.db
        tokens = "tokens.json"
        [mechanisms.place]
        metric = "ln 2/200 great_circle"
        releases = 20                   # of one subject, in all

    Then `metricdp serve service.toml --add-token app`, and `metricdp serve service.toml`.

    It listens on this machine alone. For others, put a proxy with TLS before it: tokens travel in the open otherwise.

    Exit status: 0 after a clean stop; 2 if the settings have a mistake or there is no such ledger.
    """
    from metricdp.service.settings import Settings
    from metricdp.service.tokens import Tokens

    offered = Settings.load(settings)
    if add_token is not None:
        typer.echo(Tokens(offered.tokens).add(add_token, role, account))
        _say_if_unknown(account, offered.ledger)
        return
    if remove_token is not None:
        Tokens(offered.tokens).remove(remove_token)
        typer.echo(f"The token of {visible(remove_token)} is removed; a service that runs lets it in no more.")
        return
    if not 0 < port < 65536:
        raise ArgumentError(f"a port is a number from 1 to 65535, not {port}")
    try:
        import uvicorn

        from metricdp.service.app import create_app
    except ImportError:
        raise MissingExtraError("fastapi", "service") from None
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    if host not in _LOOPBACK:
        typer.echo("Listening beyond this machine without TLS: put a proxy with TLS before it.", err=True)
    app = create_app(offered)
    names = ", ".join([*offered.mechanisms, *offered.tables])
    typer.echo(f"Serving {visible(names)} on http://{host}:{port}; its description: /openapi.json", err=True)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # uvicorn raises it again after a clean stop
    uvicorn.run(
        app,
        host=host,
        port=port,
        log_level="warning",
        access_log=False,
        proxy_headers=False,  # nothing hangs on the address of whoever asks
        server_header=False,
        timeout_graceful_shutdown=10,
    )


def _say_if_unknown(account: str, ledger: str) -> None:
    """A token may come before its account; but mostly its name was mistyped."""
    from metricdp.ledger import Ledger

    if not account:
        return
    try:
        with Ledger(ledger) as book:
            known = account in book.account_names()
    except FileError as error:
        typer.echo(str(error), err=True)
        return
    if not known:
        name = visible(account)
        typer.echo(f"There is no account {name} yet: metricdp ledger account {name} --ledger .. opens it.", err=True)
