"""The same verbs in a browser, offline: `metricdp studio`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from metricdp.lazy import lazily

if TYPE_CHECKING:
    from metricdp.studio.studio import Studio
else:
    __getattr__, __dir__ = lazily(__name__, {"Studio": "studio"})

__all__ = ["Studio"]
