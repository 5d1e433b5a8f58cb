"""Answers with error bars: what is drawn is what was answered, and what tells nothing is hollow."""

import datetime as dt
import math

import pytest

from metricdp.errors import ArgumentError, NotPrivateWarning
from metricdp.exact import seeded
from metricdp.plots import AnswerPicture, data_of, draw, error_bars, save, words_of
from metricdp.queries import ask

DATA = "src/metricdp/cli/demo/data/health_insurance"


def picture_of(**others):
    fields = {
        "name": "count(*)",
        "groups": ("F", "M"),
        "values": (12.5, 3.0),
        "bars": (4.0, 4.0),
        "tells": (True, False),
        "confidence": 0.95,
    }
    return AnswerPicture(**fields | others)


def test_the_answers_to_a_question_are_drawn_as_they_are(tmp_path):
    with pytest.warns(NotPrivateWarning), seeded(3):
        answers = ask(f"{DATA}.csv", f"{DATA}.toml", "select count(*), avg(age) from t group by health")
    figure = error_bars(answers, "avg(age)", x="age, years")
    (shown,) = data_of(figure)
    assert [one["group"] for one in shown["answers"]] == [labels[0] for labels in answers.groups]
    assert [one["value"] for one in shown["answers"]] == [one.value for one in answers["avg(age)"]]
    assert [one["error_bar"] for one in shown["answers"]] == [one.error_bar for one in answers["avg(age)"]]
    axes = figure.axes[0]
    assert axes.get_xlabel() == "age, years, with 95% error bars (seeded noise: NOT private)"
    assert [text.get_text() for text in axes.get_yticklabels()] == [labels[0] for labels in answers.groups]
    assert data_of(error_bars(answers))[0]["name"] == "count(*)"
    save(figure, tmp_path / "ages.svg")
    assert (tmp_path / "ages.svg").stat().st_size > 2000
    with pytest.raises(ArgumentError, match="there are count"):
        error_bars(answers, "median(age)")


def test_bars_are_as_wide_as_they_say():
    axes = draw("error_bars", picture_of()).axes[0]
    lines = [line.get_segments()[0] for line in axes.collections]
    assert [(segment[0][0], segment[1][0]) for segment in lines] == [(8.5, 16.5), (-1.0, 7.0)]
    filled = [line.get_markerfacecolor() for line in axes.lines if line.get_marker() == "o"]
    assert filled[0] != "white"
    assert filled[1] == "white"


def test_days_and_what_is_not_defined():
    days = picture_of(values=(dt.date(2024, 3, 1), dt.date(2024, 5, 1)), bars=(3.0, 9.0))
    assert data_of(error_bars(days))[0]["answers"][0]["value"] == "2024-03-01"
    lost = picture_of(values=(math.nan, 2.0), bars=(math.inf, 1.0))
    assert data_of(error_bars(lost))[0]["answers"][0] == {"group": "F", "value": None, "error_bar": None, "tells": True}
    assert "M 2.0 ± 1.0" in words_of(error_bars(lost))


@pytest.mark.parametrize("answers", [picture_of(groups=()), picture_of(groups=tuple("x" * 61)), 7])
def test_what_cannot_be_drawn_is_refused(answers):
    with pytest.raises(ArgumentError):
        error_bars(answers)
