"""Programs and files of samples: what they write counts, however they write it."""

import subprocess
import sys
import time

import numpy as np
import pytest

import metricdp as mdp
from metricdp.audit import Program, audit
from metricdp.audit.boxes import program
from metricdp.audit.boxes.samples import WrittenNumber, read_release, read_samples
from metricdp.audit.events import things
from metricdp.errors import ArgumentError, FileError

ABSOLUTE = mdp.metrics.absolute()
SECRETS = np.array([True, False, True])


def written(body):
    """What a program of Python writes for the secrets 1, 0 and 1."""
    return Program(f"{sys.executable} -c {body!r}", limit=20).draw((1, 0), SECRETS).releases


def test_bytes_that_are_no_text_stay_different():
    for_each = "import sys; [sys.stdout.buffer.write(b'\\xff\\n' if '1' in s else b'\\xfe\\n') for s in sys.stdin]"
    first, second, third = written(for_each)
    assert first == third != second


@pytest.mark.parametrize("sign", ["\\x0b", "\\x0c", "\\x1c", "\\x85", "\\u2028", "\\r"])
def test_a_line_ends_with_a_line_feed_and_nothing_else(sign):
    body = f"import sys; sys.stdout.reconfigure(encoding='utf-8', newline=''); [print('a{sign}b') for _ in sys.stdin]"
    assert written(body) == [f"a{sign}b".encode().decode("unicode_escape")] * 3


def test_empty_lines_and_spaces_are_releases():
    assert written("import sys; [print('' if '1' in s else ' b ') for s in sys.stdin]") == ["", " b ", ""]


def test_how_a_number_was_written_is_seen(tmp_path):
    """Whole numbers with one digit after the point, or with two: the same numbers."""
    file = tmp_path / "program.py"
    file.write_text(
        "import random, sys\nfor s in sys.stdin: print(f'{random.randrange(3):.{2 if s.startswith(\"1\") else 1}f}')"
    )
    evidence = audit(f"command:{sys.executable} {file}", [(1, 0)], ABSOLUTE, samples=1000)
    assert not evidence.holds


def test_a_number_that_was_written_otherwise_is_still_a_number():
    assert [read_release(text) for text in ("1.50", "1e0", "-0", " 12")] == [1.5, 1.0, 0.0, 12.0]
    assert read_release("1.50").text == "1.50"
    assert things.texts((read_release("1.50"), 1.5)) == ("1.50",)
    assert not any(isinstance(read_release(text), WrittenNumber) for text in ("1.5", "12", "1e-05", "NaN", "true"))
    assert read_release("9" * 30) == int("9" * 30)
    assert read_release("[" * 100_000) == "[" * 100_000


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("while True: print(1)", "more lines than the 3 secrets"),
        ("import sys; [print(1) for _ in range(4)]", "more lines than the 3 secrets"),
        ("while True: print('x' * 10**6, end='')", "more than"),
    ],
)
def test_a_program_that_does_not_stop_writing_is_stopped(body, words, monkeypatch):
    monkeypatch.setattr(program, "_MOST_WRITTEN", 1 << 22)
    with pytest.raises(ArgumentError, match=words):
        written(body)


def test_nobody_waits_for_what_a_program_leaves_behind():
    begin = time.monotonic()
    assert written("import subprocess; subprocess.Popen(['sleep', '60'], start_new_session=True); print(1)")[0] == 1
    assert time.monotonic() - begin < 15
    subprocess.run(["true"], check=True)


def test_a_program_that_closes_its_output_and_stays_hangs():
    box = Program(f"{sys.executable} -c 'import os, time; os.close(1); time.sleep(60)'", limit=1)
    assert str(box.draw((1, 0), SECRETS).releases[0]) == "hung"


def test_files_of_samples(tmp_path):
    def read(name, content):
        (tmp_path / name).write_bytes(content)
        return read_samples(tmp_path / name)

    assert read("a.txt", b"\xef\xbb\xbf1\n2\r\n\nnorth\x0bwest\n") == [1, 2, "", "north\x0bwest"]
    assert read("a.csv", b'"a\nb",1\r\n\r\n"c",2\r\n') == [("a\nb", 1), ("c", 2)]
    with pytest.raises(FileError, match="cannot be read"):
        read("b.csv", b'"never closed\n1\n')
    with pytest.raises(FileError, match="cannot be read"):
        read("b.txt", b"\xff\n")
