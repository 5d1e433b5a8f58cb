"""The guide "The best mechanism for your map", block by block: commands run, and what is printed is what it shows.

Another machine may end the search elsewhere within the gap, so numbers may differ a little; words may not.
"""

import re

import pytest

from tests.guides import GUIDES, follow

GUIDE = GUIDES / "the-best-mechanism-for-your-map.md"
NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?(?:e-?\d+)?")


def shows(output, text):
    """Whether some lines of the output are these lines, up to a little in each number.

    The gap, and how many points are ever released, depend on where the search ends.
    """
    wanted, lines = text.splitlines(), output.splitlines()
    return any(
        all(map(same, lines[start : start + len(wanted)], wanted)) for start in range(len(lines) - len(wanted) + 1)
    )


def same(line, other):
    if NUMBER.sub("#", line).split() != NUMBER.sub("#", other).split():
        return False
    numbers = [[float(number.replace(",", "")) for number in NUMBER.findall(text)] for text in (line, other)]
    return line.split()[:1] in (["gap"], ["released"]) or numbers[0] == pytest.approx(numbers[1], rel=3e-4)


def test_lines_that_differ_are_seen():
    assert shows("a\n  loss  740.68 m  on average\nb", "  loss  740.7 m on average\n")
    assert not shows("a\n  loss  740.68 m  on average\nb", "  loss  742 m on average\n")
    assert not shows("a\n  loss  740.68 m  on average\nb", "  loss  740.68 km on average\n")
    assert not shows("a\nb\n", "a\nb\nc\n")


@pytest.mark.long
def test_the_guide_word_by_word(tmp_path):
    assert follow(GUIDE, tmp_path, fails="unfinished", shows=shows) == 12
    assert (tmp_path / "map.svg").read_text().count("<path") > 50


def test_the_picture_is_there():
    assert (GUIDE.parent / re.search(r"!\[.*\]\((.*)\)", GUIDE.read_text())[1]).is_file()
