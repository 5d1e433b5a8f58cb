"""Files and folders that appear whole or not at all.

What is being written lies in a hidden folder beside its place, and in the folder a file that is locked for as long as
the run lives. A lock ends with its process, however that ends, and is seen by every process that sees the file: in
another container too, where numbers of processes tell nothing. A hidden folder is therefore removed as a leftover
only by somebody who could take its lock.
"""

from __future__ import annotations

import errno
import os
import re
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from metricdp.errors import FileError
from metricdp.exact.bits import secure
from metricdp.sources.file_kinds import as_path

fcntl: Any
msvcrt: Any
try:
    import fcntl
except ImportError:  # Windows
    fcntl = None
try:
    import msvcrt
except ImportError:
    msvcrt = None

__all__ = [
    "appearing",
    "check_output",
    "folder_sink",
    "remove_leftovers",
    "scratch_folder",
    "standard_input",
    "standard_output",
]

_LOCK = "lock"
_MAGIC = {b"PAR1": ".parquet", b"ARROW1": ".arrow", b"\x1f\x8b": ".csv.gz", b"{": ".json"}
_NAME = re.compile(r"\.metricdp-(flock|locking)-[0-9a-f]{16}")
"""A folder of a run that could lock it, and how; of one that could not, nobody can tell whether it still runs."""


def check_output(out: Path, overwrite: bool, source: Path | None = None, *, folder: bool = False) -> None:
    """Refuse an output that cannot be made, before any work is done.

    Args:
        out: the file or folder to make.
        overwrite: whether a file of that name may be replaced.
        source: the file or folder that is read, if any.
        folder: whether a folder is made, which may replace a folder.

    Raises:
        FileError: it exists already, is the input or lies in it, or there is no folder for it.

    >>> check_output(Path("nowhere", "out.csv"), overwrite=False)
    Traceback (most recent call last):
    metricdp.errors.FileError: there is no folder nowhere
    """
    out = as_path(out)
    if source is not None and out.resolve() == source.resolve():
        raise FileError(f"{out.name} is the input: the output must be another file")
    if source is not None and source.is_dir() and source.resolve() in out.resolve().parents:
        raise FileError(f"{out.name} lies in the folder that is the input: the output must be elsewhere")
    if out.is_dir() and not folder:
        raise FileError(f"{out.name or out} is a folder; choose another name")
    if out.exists() and not overwrite:
        raise _exists(out)
    if not out.absolute().parent.is_dir():
        raise FileError(f"there is no folder {out.parent}")


@contextmanager
def standard_output(ending: str = ".csv") -> Iterator[Path]:
    """A temporary file to write, which goes to standard output, whole, when the block ends well.

    Args:
        ending: of its name, which says what is written.
    """
    with scratch_folder(Path(tempfile.gettempdir())) as folder:
        temporary = folder / f"standard-output{ending}"
        yield temporary
        with temporary.open("rb") as file:
            shutil.copyfileobj(file, sys.stdout.buffer)
        sys.stdout.buffer.flush()


@contextmanager
def standard_input(ending: str | None = None) -> Iterator[Path]:
    """A path where the standard input can be read, as often as need be. For tables, `open_table` takes ``"-"``.

    What comes in may be secret, so that it stays in memory where the system allows it (Linux), and otherwise in a
    folder that only this user can read, until the block ends.

    Args:
        ending: of the path's name; without it, the first bytes tell Parquet, Arrow, gzip and JSON from CSV.
    """
    begun = sys.stdin.buffer.read(1 << 16)
    found = next((kind for magic, kind in _MAGIC.items() if begun.lstrip().startswith(magic)), ".csv")
    with ExitStack() as stack:
        place = stack.enter_context(scratch_folder(Path(tempfile.gettempdir()))) / f"standard-input{ending or found}"
        target = place
        if hasattr(os, "memfd_create"):
            descriptor = os.memfd_create("metricdp")
            stack.callback(os.close, descriptor)
            target = Path(f"/proc/{os.getpid()}/fd/{descriptor}")
            place.symlink_to(target)
        with target.open("wb") as file:
            file.write(begun)
            shutil.copyfileobj(sys.stdin.buffer, file)
        yield place


@contextmanager
def appearing(out: Path, overwrite: bool) -> Iterator[Path]:
    """A temporary file to write, which appears as ``out`` when the block ends well.

    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with appearing(Path(folder, "out.txt"), overwrite=False) as temporary:
    ...         _ = temporary.write_text("whole")
    ...         before = Path(folder, "out.txt").exists()
    ...     before, Path(folder, "out.txt").read_text()
    (False, 'whole')
    """
    if out.is_dir():
        raise _exists(out)
    try:
        with scratch_folder(out.parent) as folder:
            temporary = folder / out.name
            yield temporary
            _flush_file(temporary)
            if overwrite:
                temporary.replace(out)
            else:
                _take_name(temporary, out)
            _flush_folder(out.parent)
    except FileExistsError:
        raise _exists(out) from None
    except FileError:
        raise
    except OSError as error:
        raise FileError(f"{out.name} could not be written: {error.strerror or 'the disk failed'}") from None


@contextmanager
def folder_sink(out: Path, overwrite: bool) -> Iterator[Path]:
    """A folder to fill, which appears under its name when the block ends well."""
    if not out.parent.is_dir():
        raise FileError(f"there is no folder {out.parent}")
    with scratch_folder(out.parent) as temporary:
        filled, replaced = temporary / "filled", temporary / "replaced"
        filled.mkdir()
        yield filled
        if out.exists():
            if not overwrite:
                raise _exists(out)
            out.rename(replaced)
        try:
            filled.rename(out)
        except OSError as error:
            if replaced.exists():
                replaced.rename(out)
            if error.errno in (errno.EEXIST, errno.ENOTEMPTY, errno.ENOTDIR):
                raise _exists(out) from None
            raise FileError(f"{out.name} could not be written: {error.strerror or 'the disk failed'}") from None


@contextmanager
def scratch_folder(beside: Path) -> Iterator[Path]:
    """A folder for what is not done yet, gone when the block ends, and after a crash on the next run."""
    remove_leftovers(beside)
    folder, lock = _locked_folder(beside)
    try:
        yield folder
    finally:
        _remove(folder, lock)


def remove_leftovers(folder: Path) -> None:
    """Remove what runs that are no more left behind: folders of this user's whose locks are free."""
    for path in folder.glob(".metricdp-*"):
        found = _NAME.fullmatch(path.name)
        if found and found[1] == _kind() and _is_own_folder(path):
            with suppress(OSError):  # somebody else removes it, or it is not ours to remove
                lock = _lock(path / _LOCK)
                if lock is not None:
                    _remove(path, lock)


def _exists(out: Path) -> FileError:
    return FileError(f"{out.name} exists already; choose another name, or overwrite=True")


def _take_name(temporary: Path, out: Path) -> None:
    """Give a file its name, and fail where that was taken meanwhile, which a rename would not."""
    try:
        os.link(temporary, out)
    except FileExistsError:
        raise
    except (AttributeError, NotImplementedError, OSError):  # not every system has hard links, nor every disk
        with out.open("xb"):  # takes the name, or fails
            pass
        try:
            temporary.replace(out)
        except BaseException:
            out.unlink()
            raise


def _kind() -> str | None:
    """How this system locks."""
    return "flock" if fcntl is not None else "locking" if msvcrt is not None else None


def _locked_folder(beside: Path) -> tuple[Path, int | None]:
    """A new folder with a lock that this process holds; with none where there are no locks."""
    kind = _kind()
    while True:
        folder = beside / f".metricdp-{kind or 'unlocked'}-{secure().integer(64):016x}"
        try:
            folder.mkdir(mode=0o700)
        except PermissionError:
            raise FileError(f"nothing may be written in {beside}: no permission") from None
        except OSError as error:
            reason = error.strerror or "the disk failed"
            raise FileError(f"nothing can be written in {beside}: {reason}") from None
        if kind is None:
            return folder, None
        lock: int | None = None
        try:
            lock = _lock(folder / _LOCK)
            if lock is not None and os.path.samestat(os.fstat(lock), (folder / _LOCK).stat()):
                return folder, lock
        except FileNotFoundError:  # another run took it for a leftover before it was locked
            pass
        except OSError:  # this disk knows no locks
            kind = None
        _remove(folder, lock)


def _lock(path: Path) -> int | None:
    """A handle that holds the lock on a file; None where another holds it."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600)
    try:
        if fcntl is not None:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        else:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
    except OSError as error:
        os.close(handle)
        if error.errno in (errno.EWOULDBLOCK, errno.EACCES, errno.EDEADLK):
            return None
        raise
    return handle


def _is_own_folder(path: Path) -> bool:
    """Whether it is a folder, not a link to one, that this user made."""
    try:
        found = path.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and (not hasattr(os, "geteuid") or found.st_uid == os.geteuid())


def _remove(folder: Path, lock: int | None) -> None:
    """Remove a folder, its lock last: until then nobody takes it for a leftover."""
    with suppress(OSError):  # what cannot be removed now is removed by a later run
        for inner in folder.iterdir():
            if inner.is_dir() and not inner.is_symlink():
                shutil.rmtree(inner)
            elif inner.name != _LOCK:
                inner.unlink(missing_ok=True)
    if lock is not None:
        os.close(lock)  # before it is removed, because Windows removes no file that is open
    with suppress(OSError):  # somebody who came in between removes the rest
        (folder / _LOCK).unlink(missing_ok=True)
        folder.rmdir()


def _flush_file(path: Path) -> None:
    """Wait until what was written is on the disk."""
    handle = os.open(path, os.O_RDWR)  # Windows flushes no file that is open for reading alone
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _flush_folder(path: Path) -> None:
    """Wait until the names in a folder are on the disk, where the system can; Windows opens no folders."""
    with suppress(OSError):
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
