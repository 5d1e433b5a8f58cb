"""Digests of files and folders, by which somebody can tell that they are the same."""

from __future__ import annotations

import hashlib
from pathlib import Path

from metricdp.errors import FileError
from metricdp.sources.file_kinds import as_path

__all__ = ["digest"]


def digest(path: str | Path) -> str:
    """The SHA-256 of a file, in base 16; of a folder, that of the names and digests of its files in order.

    >>> from tempfile import NamedTemporaryFile
    >>> with NamedTemporaryFile() as file:
    ...     digest(file.name)[:8]
    'e3b0c442'
    """
    found = as_path(path)
    if not found.is_dir():
        try:
            with found.open("rb") as file:
                return hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise FileError(f"{found.name} cannot be read: {error.strerror or 'the disk failed'}") from None
    parts = sorted(part for part in found.rglob("*") if part.is_file())
    listed = "".join(f"{digest(part)}  {part.relative_to(found).as_posix()}\n" for part in parts)
    return hashlib.sha256(listed.encode()).hexdigest()
