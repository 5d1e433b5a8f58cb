"""Files and folders that appear whole or not at all."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from metricdp.errors import OutputError
from metricdp.exact.bits import secure

__all__ = ["appearing", "folder_sink", "remove_leftovers", "scratch_folder"]


@contextmanager
def appearing(out: Path, overwrite: bool) -> Iterator[Path]:
    """A temporary file beside ``out`` to write, which appears under its name when the block ends well."""
    remove_leftovers(out.parent)
    temporary = out.parent / _temporary_name(out)
    _mine.add(temporary)
    try:
        yield temporary
        _flush(temporary)
        if overwrite:
            temporary.replace(out)
        else:
            os.link(temporary, out)  # unlike a rename, fails where the name was taken meanwhile
            temporary.unlink()
        _flush(out.parent)
    except FileExistsError:
        raise OutputError(f"{out.name} exists already; choose another name, or --overwrite") from None
    except OutputError:
        raise
    except OSError as error:
        raise OutputError(f"{out.name} could not be written: {error.strerror or 'the disk failed'}") from None
    finally:
        temporary.unlink(missing_ok=True)
        _mine.discard(temporary)


@contextmanager
def folder_sink(out: Path, overwrite: bool) -> Iterator[Path]:
    """A folder to fill, which appears under its name when the block ends well."""
    if not out.parent.is_dir():
        raise OutputError(f"there is no folder {out.parent}")
    with scratch_folder(out.parent) as temporary:
        filled = temporary / "filled"
        filled.mkdir()
        yield filled
        if out.exists():
            if not overwrite:
                raise OutputError(f"{out.name} exists already; choose another name, or --overwrite")
            out.rename(temporary / "replaced")
        filled.rename(out)


@contextmanager
def scratch_folder(beside: Path) -> Iterator[Path]:
    """A folder for rows that wait to be sorted, gone when the block ends, and after a crash on the next run."""
    remove_leftovers(beside)
    folder = beside / _temporary_name(Path("rows"))
    _mine.add(folder)
    try:
        folder.mkdir(mode=0o700)
        yield folder
    except PermissionError:
        raise OutputError(f"nothing may be written in {beside}: no permission") from None
    finally:
        _remove(folder)
        _mine.discard(folder)


_mine: set[Path] = set()
"""What this process is writing now. A container gives every process the same number: that alone tells nothing."""


def remove_leftovers(folder: Path) -> None:
    """Remove what processes that are no more left behind."""
    for path in folder.glob(".*.metricdp-*"):
        found = re.search(r"\.metricdp-(\d+)-[0-9a-f]+$", path.name)
        if found and path not in _mine and not _alive(int(found[1])):
            _remove(path)


def _temporary_name(out: Path) -> str:
    return f".{out.name}.metricdp-{os.getpid()}-{secure().integer(64):016x}"


def _alive(process: int) -> bool:
    """Whether another process of that number runs. Of its own number, this one knows what is its."""
    if process == os.getpid():
        return False
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _remove(path: Path) -> None:
    if path.is_dir():
        for inner in path.iterdir():
            _remove(inner)
        path.rmdir()
    else:
        path.unlink(missing_ok=True)


def _flush(path: Path) -> None:
    """Wait until what was written is on the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
