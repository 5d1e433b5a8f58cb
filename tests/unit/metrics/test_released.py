"""What everything that leaves has."""

from dataclasses import dataclass
from typing import Any

import pytest

from metricdp.metrics import Guarantee, Released, absolute


@dataclass(frozen=True)
class Number(Released):
    value: float
    guarantee: Guarantee | None = None
    private: bool = True

    def to_json(self) -> dict[str, Any]:
        return {"value": self.value}

    def __str__(self) -> str:
        return f"{self.value} <{self.promise}>"


PROMISE = Guarantee(absolute())


def test_the_promise_says_when_there_is_none():
    assert Number(1.0, PROMISE).promise == "|x − y|-private"
    assert Number(1.0, PROMISE, private=False).promise == "NOT private (seeded noise), else |x − y|-private"
    assert Number(1.0).promise == "nothing secret was told"


def test_a_notebook_shows_the_same_words():
    shown = Number(1.0, PROMISE, private=False)._repr_html_()
    assert shown.startswith("<strong>NOT private")
    assert "&lt;NOT private" in shown
    assert "strong" not in Number(1.0, PROMISE)._repr_html_()
    assert Number(1.0, PROMISE).words() == "1.0 <|x − y|-private>"


def test_plain_values_are_not_optional():
    class Mute(Released):
        guarantee, private = None, True

    with pytest.raises(TypeError, match="to_json"):
        Mute()


def test_answers_and_histograms_are_released():
    from metricdp.queries.single.answer import Answer
    from metricdp.queries.synthetic_data.choose import Chosen
    from metricdp.queries.synthetic_data.synthetic import Synthetic
    from metricdp.queries.workloads.answers import Answers

    assert all(issubclass(each, Released) for each in (Answer, Answers, Chosen, Synthetic))
