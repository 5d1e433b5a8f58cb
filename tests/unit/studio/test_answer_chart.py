import datetime as dt

from metricdp.queries.select.table_answers import TableAnswer
from metricdp.studio.answer_chart import answer_chart


def test_every_answer_has_its_bar_and_its_words():
    text = answer_chart("count(*)", ["F", "M"], [TableAnswer(10, 2.0), TableAnswer(-3, 8.5)])
    assert text.count("<rect") == 2
    assert 'aria-label="count(*): F: 10 ± 2; M: -3 ± 8.5"' in text


def test_days_are_words():
    text = answer_chart("min(day)", ["all"], [TableAnswer(dt.date(2020, 5, 1), 3.0)])
    assert "2020-05-01 ± 3 days" in text
    assert "<rect" not in text


def test_names_from_a_table_are_no_html_and_bearable():
    text = answer_chart("count(*)", ['<script>"', "x" * 1000], [TableAnswer(1, 0.0), TableAnswer(0, 0.0)])
    assert "<script>" not in text
    assert "x" * 19 + "…" in text


def test_nothing_but_zeros_is_drawn():
    assert "nan" not in answer_chart("count(*)", ["a"], [TableAnswer(0, 0.0)])
