"""``metricdp studio``: the pages in a browser."""

from __future__ import annotations

from typing import Annotated

import typer

from metricdp.errors import ArgumentError

__all__ = ["studio"]


def studio(
    port: Annotated[
        int, typer.Option("--port", metavar="NUMBER", help="The port to listen on; 0 for any that is free.")
    ] = 0,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Print the address, and open no browser.")] = False,
) -> None:
    """Open the studio in a browser: what a promise means, sanitize a file, ask, find the best mechanism.

    Everything stays on this machine: the pages load nothing from outside, and files that you give them go to a folder
    that is removed when the studio stops. The address has a token; whoever does not know it is refused.

    To begin with:

    - `metricdp studio`

    - on a machine without a screen: `metricdp studio --no-browser --port 8788`, and open the address that it prints
      through a tunnel, as in `ssh -L 8788:127.0.0.1:8788 machine`

    Ctrl-C stops it.

    Exit status: 0 after a clean stop; 2 if it cannot listen on the port, or its extra is not installed.
    """
    if not 0 <= port < 65536:
        raise ArgumentError(f"a port is a number from 0 to 65535, not {port}")
    from metricdp.studio.studio import Studio

    with Studio(port) as running:
        typer.echo(f"The studio is at {running.address}", err=True)
        typer.echo("Ctrl-C stops it.", err=True)
        if not no_browser:
            running.open_browser()
        running.run()
    typer.echo("The studio has stopped.", err=True)
