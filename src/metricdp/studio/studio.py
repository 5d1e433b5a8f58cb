"""The studio: one process with a socket on this machine, pages, and a folder for files while it runs."""

from __future__ import annotations

import logging
import os
import signal
import socket
import tempfile
import threading
import traceback
from contextlib import ExitStack, suppress
from pathlib import Path
from types import TracebackType
from typing import Any

from metricdp.errors import FileError, MissingExtraError
from metricdp.exact.bits import secure
from metricdp.sources.whole_files import scratch_folder
from metricdp.studio.browsers import Browsers
from metricdp.studio.guard import Guard

__all__ = ["Studio"]

_LOG = logging.getLogger("metricdp.studio")


class Studio:
    """The studio on a port of this machine; one for each process.

    Attributes:
        address: where it is, with its token.

    Args:
        port: to listen on; 0 for any that is free.

    Raises:
        MissingExtraError: the extra ``studio`` is not installed.
        FileError: nothing can listen on the port.
    """

    def __init__(self, port: int = 0) -> None:
        self.token = f"{secure().integer(256):064x}"
        self._socket = _listening(port)
        self.port: int = self._socket.getsockname()[1]
        self.address = f"http://127.0.0.1:{self.port}/{self.token}/"
        self._stack = ExitStack()

    def __enter__(self) -> Studio:
        folder = self._stack.enter_context(scratch_folder(Path(tempfile.gettempdir())))
        self.browsers = Browsers(folder)
        self.application = Guard(self._pages(folder), self.token, self.port)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._socket.close()
        self._stack.close()

    def _pages(self, folder: Path) -> Any:
        os.environ["NICEGUI_STORAGE_PATH"] = str(folder / "nicegui")  # it would make a folder where it was started
        try:
            from fastapi import FastAPI
            from nicegui import app, ui
        except ImportError:
            raise MissingExtraError("nicegui", "studio") from None
        from metricdp.studio.frame import add_pages

        app.on_exception(_note_failure)
        app.config.quasar_config["loadingBar"]["skipHijack"] = True  # a bar without a name for screen readers
        application = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
        add_pages(self.browsers)
        ui.run_with(
            application,
            title="metricdp studio",
            language="en-US",
            dark=None,
            mount_path=f"/{self.token}",
            tailwind=False,
            show_welcome_message=False,
            reconnect_timeout=30,
            binding_refresh_interval=None,
        )
        return application

    def open_browser(self) -> None:
        """Show it in the user's browser."""
        import webbrowser

        threading.Thread(target=webbrowser.open, args=(self.address,), daemon=True).start()

    def run(self) -> None:
        """Serve until somebody stops it by Ctrl-C, by a signal to terminate, or by closing its terminal."""
        import uvicorn

        _quiet()
        config = uvicorn.Config(
            self.application, log_config=None, access_log=False, timeout_graceful_shutdown=1, lifespan="on"
        )
        server = uvicorn.Server(config)

        def stop(*_: object) -> None:
            server.should_exit = True

        for name in ("SIGTERM", "SIGHUP"):  # also where the terminal is closed: what was uploaded is removed first
            number = getattr(signal, name, None)
            if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, stop)
        try:
            server.run(sockets=[self._socket])
        except KeyboardInterrupt:  # which uvicorn raises again after it has stopped
            pass
        finally:
            self.browsers.stop()


def _note_failure(error: Exception) -> None:
    """Say on the page and on the terminal that it failed, and where; its message and its values may be secret."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f" at {Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
    _LOG.error("A page failed: %s%s", type(error).__name__, place)
    from nicegui import ui

    with suppress(RuntimeError):  # there is no page that it belongs to
        ui.notify(f"That failed, and is a fault of the studio ({type(error).__name__}{place}).", type="negative")


def _quiet() -> None:
    """Keep what others would print of a failure, with its message, from the terminal."""
    for name in ("nicegui", "uvicorn.error", "asyncio"):
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)


def _listening(port: int) -> socket.socket:
    made = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind(("127.0.0.1", port))
        made.listen(128)
    except OSError as error:
        made.close()
        raise FileError(f"nothing can listen on port {port}: {error.strerror}") from None
    return made
