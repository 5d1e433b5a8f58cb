"""How finely questions count: a number, a list, a word, or a table with names of cells."""

import pytest

from metricdp.errors import PolicyError
from metricdp.policies import Policy

AGE = 'type = "integer", bounds = [0, 99], within = 5'
DAY = 'type = "date", bounds = [2024-01-01, 2024-12-31], within = "5 days"'


def cells(entry):
    return Policy.parse(f"format = 2\nrecords = 3\ncolumns.x = {{{entry}}}").columns[0].cells


@pytest.mark.parametrize(
    ("entry", "labels"),
    [
        (f"{AGE}, count_by = 50", ("0..49", "50..99", "missing")),
        (f"{AGE}, count_by = {{width = 50}}", ("0..49", "50..99", "missing")),
        (f"{AGE}, count_by = [18, 65]", ("0..17", "18..64", "65..99", "missing")),
        (f'{AGE}, count_by = {{edges = [65], other = "else", missing = "none"}}', ("0..64", "65..99", "else", "none")),
        (f'{AGE}, missing = "refuse", count_by = 50', ("0..49", "50..99")),
        (f'{DAY}, missing = "refuse", count_by = "year"', ("2024",)),
        (f"{DAY}, missing = 'refuse', count_by = [2024-07-01]", ("2024-01-01..2024-06-30", "2024-07-01..2024-12-31")),
    ],
)
def test_what_it_makes(entry, labels):
    assert cells(entry).labels == labels


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        (f"{AGE}, count_by = true", "count_by is written 10 or"),
        (f'{AGE}, count_by = "month"', "count_by is written 10 or"),
        (f"{DAY}, count_by = 10", "count_by is written"),
        (f"{AGE}, count_by = {{by = 'month'}}", "'by' is not known in count_by"),
        (f"{AGE}, count_by = {{other = 3}}", "other is the name of a cell"),
        (f"{AGE}, count_by = {{width = 5, edges = [3]}}", "not both"),
        ('type = "boolean", epsilon = 1, count_by = {other = "x"}', "'other' is not known in count_by"),
        ('type = "place", columns = ["a", "b"], within = "1 m", count_by = 3', "'count_by' is not known here"),
    ],
)
def test_mistakes_have_their_line(entry, words):
    with pytest.raises(PolicyError, match=words) as caught:
        cells(entry)
    assert str(caught.value).startswith("line 3, column 'x': ")
