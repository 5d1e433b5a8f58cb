"""Digests of files and folders."""

import hashlib

import pytest

from metricdp.errors import FileError
from metricdp.sources import digest


def test_a_file_has_the_digest_that_other_programs_print(tmp_path):
    (tmp_path / "a").write_bytes(b"abc" * 10**6)
    assert digest(tmp_path / "a") == hashlib.sha256(b"abc" * 10**6).hexdigest()
    with pytest.raises(FileError, match="cannot be read"):
        digest(tmp_path / "b")


def test_a_folder_changes_with_names_and_contents(tmp_path):
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "a").write_bytes(b"1")
    first = digest(tmp_path)
    assert digest(str(tmp_path)) == first
    (tmp_path / "inner" / "a").rename(tmp_path / "inner" / "b")
    second = digest(tmp_path)
    (tmp_path / "inner" / "b").write_bytes(b"2")
    assert len({first, second, digest(tmp_path)}) == 3
