"""``-`` on the command line: the standard input as a file, the standard output whole or not at all."""

import io
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from metricdp.cli.options.streams import delivered, taken


@pytest.mark.parametrize(
    ("content", "ending"),
    [
        (b'{"format": 1}', ".json"),
        (b"PAR1....", ".parquet"),
        (b"ARROW1..", ".arrow"),
        (b"\x1f\x8b\x08", ".csv.gz"),
        (b"a,b\n" + b"1,2\n" * 100_000, ".csv"),
        (b"", ".csv"),
    ],
)
def test_the_standard_input_is_a_file_of_its_kind(monkeypatch, content, ending):
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(content)))
    with taken(Path("-")) as place:
        assert place.name == f"standard-input{ending}"
        assert place.read_bytes() == content
        assert place.read_bytes() == content, "as often as need be"
    assert not place.exists()


def test_a_file_is_itself(tmp_path):
    with taken(tmp_path) as place, delivered(tmp_path, ".csv") as target:
        assert place == target == tmp_path


def test_the_standard_output_gets_nothing_of_what_failed(monkeypatch):
    out = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", SimpleNamespace(buffer=out))

    def fail(place):
        place.write_text("half")
        raise RuntimeError

    with pytest.raises(RuntimeError), delivered(Path("-"), ".json") as place:
        fail(place)
    assert out.getvalue() == b""
    with delivered(Path("-"), ".json") as place:
        place.write_text("whole")
    assert out.getvalue() == b"whole"
