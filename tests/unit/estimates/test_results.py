"""What estimates print: notes once each, with the answers they are about."""

import numpy as np
import pyarrow as pa

from metricdp.estimates import estimate
from metricdp.estimates.results import Estimate, Estimates

AGE = {"type": "integer", "within": 5, "bounds": [0, 60], "missing": "refuse"}
POLICY = {"format": 2, "columns": {"age": AGE}}


def printed(*rows, names=("count(*)",), groups=None):
    """The lines of notes for answers with these notes."""
    labels = tuple((label,) for label in groups or "abcdefgh"[: len(rows)])
    found = tuple(tuple(Estimate(1.0, (0.0, 2.0), None, notes=notes) for notes in row) for row in rows)
    return str(Estimates("q", ("kind",), labels, names, found, 9)).splitlines()[1 + len(rows) * len(names) :]


def test_a_note_of_all_answers_is_said_once_and_of_some_with_their_names():
    assert printed([("wide",)], [("wide",)]) == ["- wide"]
    assert printed([("wide",)], [()], [("wide", "odd")]) == ["- Of a; c: wide", "- Of c: odd"]
    assert printed([("wide",), ()], [(), ()], names=("count(*)", "avg(x)")) == ["- Of a, count(*): wide"]
    assert printed(*[[("wide",)]] * 5, [()]) == ["- Of 5 of the 6 answers: wide"]


def test_many_groups_say_once_what_the_level_hides():
    ages = pa.table({"age": np.random.default_rng(1).integers(0, 61, 400)})
    text = str(estimate(ages, "select count(*) group by age", policy=POLICY))
    assert text.count("the level hides detail") == 1
    assert "Noise alone" not in text
    only = str(estimate(ages, "select count(*) where age >= 30", policy=POLICY))
    assert "Noise alone moves the value by" in only


def test_a_page_of_a_notebook_names_the_answers_too():
    found = ((Estimate(1.0, (0.0, 2.0), None, notes=("wide",)),), (Estimate(1.0, (0.0, 2.0), None),))
    page = Estimates("q", ("kind",), (("<a>",), ("b",)), ("count(*)",), found, 9)._repr_html_()
    assert "<li>Of &lt;a&gt;: wide</li>" in page
