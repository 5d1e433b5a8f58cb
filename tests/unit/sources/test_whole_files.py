"""Whole or not at all, and a lock says whether somebody still writes: on every system, with or without its calls."""

import errno
import os
import shutil
import subprocess
import sys
import types
from pathlib import Path

import pytest

from metricdp.errors import FileError
from metricdp.sources import whole_files
from metricdp.sources.whole_files import appearing, folder_sink, remove_leftovers, scratch_folder

HOLDER = """
import sys, time
from pathlib import Path
from metricdp.sources.whole_files import scratch_folder
with scratch_folder(Path(sys.argv[1])) as folder:
    (folder / "rows").write_text("secret")
    print(folder, flush=True)
    time.sleep(600)
"""
LEFT = ".metricdp-flock-00ff00ff00ff00ff"


def only(folder, *names):
    assert sorted(path.name for path in folder.iterdir()) == sorted(names)


@pytest.fixture
def holder(tmp_path):
    worker = subprocess.Popen([sys.executable, "-c", HOLDER, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    yield Path(worker.stdout.readline().strip()), worker
    worker.kill()
    worker.wait()
    worker.stdout.close()


def test_what_is_in_use_stays_and_what_a_killed_process_left_goes(tmp_path, holder):
    folder, worker = holder
    with appearing(tmp_path / "out", overwrite=False) as temporary:
        temporary.write_text("mine")
    assert (folder / "rows").read_text() == "secret"
    worker.kill()
    worker.wait()
    assert (folder / "rows").exists()
    remove_leftovers(tmp_path)
    only(tmp_path, "out")


def test_a_run_inside_a_run(tmp_path):
    with scratch_folder(tmp_path) as outer:
        (outer / "rows").write_text("rows")
        with scratch_folder(tmp_path) as inner:
            assert inner != outer
        assert (outer / "rows").read_text() == "rows"
    only(tmp_path)


def test_only_names_of_ours_are_removed(tmp_path):
    (tmp_path / LEFT / "inner").mkdir(parents=True)
    (tmp_path / LEFT / "inner" / "rows").write_text("rows")
    unlike = [".metricdp-notes", ".metricdp-flock-12", ".x.metricdp-99999999-00ff00ff00ff00ff"]
    unlike += [
        ".metricdp-unlocked-00ff00ff00ff00ff",
        ".metricdp-locking-00ff00ff00ff00ff",
        LEFT.replace("00ff", "11ee"),
    ]
    for name in unlike[:3]:
        (tmp_path / name).write_text("rows")
    for name in unlike[3:5]:
        (tmp_path / name).mkdir()
    (tmp_path / unlike[5]).write_text("a file has no lock inside")
    remove_leftovers(tmp_path)
    only(tmp_path, *unlike)


def test_links_that_somebody_planted_are_not_followed(tmp_path):
    """A folder that others may write in: a leftover that is a link, or holds one, leads nowhere."""
    precious, folder = tmp_path / "precious", tmp_path / "shared"
    precious.mkdir()
    folder.mkdir()
    (precious / "file").write_text("mine")
    names = [LEFT, ".x.metricdp-4194999-00ff00ff00ff00ff"]  # the second as older versions called theirs
    for name in names:
        (folder / name).symlink_to(precious)
    inner = folder / LEFT.replace("00ff", "22dd")
    inner.mkdir()
    (inner / "link").symlink_to(precious)
    locked = folder / LEFT.replace("00ff", "33cc")
    locked.mkdir()
    (locked / "lock").symlink_to(precious / "made")
    with appearing(folder / "out", overwrite=False) as temporary:
        temporary.write_text("x")
    only(precious, "file")
    assert not inner.exists()


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only the superuser can give files away")
def test_folders_of_others_stay(tmp_path):
    (tmp_path / LEFT).mkdir()
    os.chown(tmp_path / LEFT, 12345, 12345)
    remove_leftovers(tmp_path)
    only(tmp_path, LEFT)


def test_taken_for_a_leftover_before_it_was_locked(tmp_path, monkeypatch):
    """Another run removes the folder, or holds its lock, in the moment before: another name is taken."""
    real, calls = whole_files._lock, []

    def robbed(path):
        calls.append(path)
        if len(calls) == 1:
            shutil.rmtree(path.parent)
        if len(calls) == 2:
            return None
        if len(calls) == 3:
            handle = real(path)
            path.unlink()
            path.write_text("")
            return handle
        return real(path)

    monkeypatch.setattr(whole_files, "_lock", robbed)
    with scratch_folder(tmp_path) as folder:
        assert len(calls) == 4
        assert calls[-1].parent == folder
    only(tmp_path)


def no_links(*arguments):
    raise OSError(errno.EPERM, "Operation not permitted")


@pytest.mark.parametrize("missing", ["call", "disk"])
def test_without_hard_links(tmp_path, monkeypatch, missing):
    if missing == "call":
        monkeypatch.delattr(os, "link")
    else:
        monkeypatch.setattr(os, "link", no_links)
    out = tmp_path / "out"
    with appearing(out, overwrite=False) as temporary:
        temporary.write_text("one")
    assert out.read_text() == "one"
    with pytest.raises(FileError, match="exists already"), appearing(out, overwrite=False) as temporary:
        temporary.write_text("two")
    assert out.read_text() == "one"
    taken = tmp_path / "taken"
    with pytest.raises(FileError, match="exists already"), appearing(taken, overwrite=False) as temporary:
        [path.write_text("meanwhile") for path in (temporary, taken)]
    assert taken.read_text() == "meanwhile"

    def fails(self, target):
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(Path, "replace", fails)
    with pytest.raises(FileError, match="Input/output error"), appearing(tmp_path / "new", False) as temporary:
        temporary.write_text("three")
    only(tmp_path, "out", "taken")


def test_without_locks_nothing_of_others_is_removed(tmp_path, monkeypatch):
    (tmp_path / LEFT).mkdir()
    monkeypatch.setattr(whole_files, "fcntl", None)
    monkeypatch.setattr(whole_files, "msvcrt", None)
    with scratch_folder(tmp_path) as folder:
        assert folder.name.startswith(".metricdp-unlocked-")
        remove_leftovers(tmp_path)
        with appearing(tmp_path / "out", overwrite=False) as temporary:
            temporary.write_text("x")
        assert folder.exists()
    only(tmp_path, LEFT, "out")


def test_on_a_disk_without_locks(tmp_path, monkeypatch):
    def unsupported(handle, how):
        raise OSError(errno.ENOLCK, "No locks available")

    (tmp_path / LEFT).mkdir()
    monkeypatch.setattr(whole_files.fcntl, "flock", unsupported)
    with scratch_folder(tmp_path) as folder:
        assert folder.name.startswith(".metricdp-unlocked-")
        remove_leftovers(tmp_path)
        assert folder.exists()
    assert [path.name for path in tmp_path.iterdir()] == [LEFT]


def windows(monkeypatch):
    """Locks as Windows has them, folders that cannot be opened, no users by number, no files removed while open."""
    held, real_open, real_unlink = {}, os.open, Path.unlink

    def locking(handle, how, count):
        place = os.fstat(handle).st_ino
        if place in held:
            raise OSError(errno.EACCES, "Permission denied")
        held[place] = handle

    def opened(path, flags, *rest, **named):
        if Path(path).is_dir():
            raise PermissionError(errno.EACCES, "Permission denied")
        return real_open(path, flags, *rest, **named)

    def closed(handle, real=os.close):
        for place in [place for place, holder in held.items() if holder == handle]:
            del held[place]
        real(handle)

    def unlinked(self, missing_ok=False):
        if self.exists() and self.stat().st_ino in held:
            raise PermissionError(errno.EACCES, "The process cannot access the file because it is in use")
        real_unlink(self, missing_ok)

    monkeypatch.setattr(whole_files, "fcntl", None)
    monkeypatch.setattr(whole_files, "msvcrt", types.SimpleNamespace(locking=locking, LK_NBLCK=2))
    monkeypatch.setattr(whole_files.os, "open", opened)
    monkeypatch.setattr(whole_files.os, "close", closed)
    monkeypatch.setattr(Path, "unlink", unlinked)
    monkeypatch.delattr(os, "geteuid")
    monkeypatch.delattr(os, "O_NOFOLLOW")
    monkeypatch.delattr(os, "link")


def test_as_windows_does_it(tmp_path, monkeypatch):
    left = ".metricdp-locking-00ff00ff00ff00ff"
    (tmp_path / left).mkdir()
    (tmp_path / left / "rows").write_text("rows")
    with monkeypatch.context() as patched:
        windows(patched)
        with scratch_folder(tmp_path) as folder:
            (folder / "rows").write_text("rows")
            assert folder.name.startswith(".metricdp-locking-")
            with appearing(tmp_path / "out", overwrite=False) as temporary:
                temporary.write_text("x")
            assert (folder / "rows").exists()
    only(tmp_path, "out")


def test_bits_where_no_process_forks():
    code = "import os; del os.register_at_fork; from metricdp.exact.bits import secure; print(len(secure().words(3)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout == "3\n", done.stderr


def test_a_folder_appears_whole(tmp_path):
    out = tmp_path / "out"
    with folder_sink(out, overwrite=False) as filled:
        (filled / "part").write_text("one")
        assert not out.exists()
    assert (out / "part").read_text() == "one"
    with pytest.raises(FileNotFoundError), folder_sink(out, overwrite=True) as filled:
        (filled / "nowhere" / "part").write_text("two")
    assert (out / "part").read_text() == "one"
    with folder_sink(out, overwrite=True) as filled:
        (filled / "part").write_text("two")
    assert (out / "part").read_text() == "two"
    for name in ("file", "folder"):
        with pytest.raises(FileError, match="exists already"), folder_sink(tmp_path / name, False):
            (tmp_path / name).mkdir() if name == "folder" else (tmp_path / name).write_text("mine")
    assert (tmp_path / "file").read_text() == "mine"
    only(tmp_path, "file", "folder", "out")


def test_a_folder_that_could_not_be_replaced_is_still_there(tmp_path, monkeypatch):
    out, real = tmp_path / "out", Path.rename
    out.mkdir()
    (out / "part").write_text("one")

    def fails(self, target):
        if self.name == "filled":
            raise OSError(errno.EIO, "Input/output error")
        return real(self, target)

    monkeypatch.setattr(Path, "rename", fails)
    with pytest.raises(FileError, match="Input/output error"), folder_sink(out, overwrite=True) as filled:
        (filled / "part").write_text("two")
    assert (out / "part").read_text() == "one"
    only(tmp_path, "out")


def test_where_nothing_can_be_written(tmp_path, monkeypatch):
    def full(self, mode=0o777):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "mkdir", full)
    with pytest.raises(FileError, match="No space left on device"), appearing(tmp_path / "out", overwrite=False):
        pass
