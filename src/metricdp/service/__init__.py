"""The same verbs over HTTP, with accounts: `metricdp serve`, and a client for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from metricdp.lazy import lazily

if TYPE_CHECKING:
    from metricdp.service.app import create_app
    from metricdp.service.client import Client
    from metricdp.service.settings import Settings
    from metricdp.service.tokens import Token, Tokens
else:
    __getattr__, __dir__ = lazily(
        __name__,
        {"Client": "client", "Settings": "settings", "Token": "tokens", "Tokens": "tokens", "create_app": "app"},
    )

__all__ = ["Client", "Settings", "Token", "Tokens", "create_app"]
