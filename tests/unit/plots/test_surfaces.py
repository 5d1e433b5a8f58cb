"""Surfaces of uncertainty."""

import numpy as np
import pytest

from metricdp.adversaries import as_gain, as_loss
from metricdp.errors import TooLargeError
from metricdp.plots import data_of, surface, words_of


def test_three_secrets():
    figure = surface(as_loss("nib", ["x1", "x2", "x3"]), title="Fig. 3")
    axes = figure.axes[0]
    assert {text.get_text() for text in axes.texts} == {"x1", "x2", "x3", "uncertainty, nib"}
    data = data_of(figure)[0]
    priors = np.array(data["priors"])
    assert np.allclose(priors.min(axis=1), data["values"])
    assert max(data["values"]) == pytest.approx(1 / 3)
    assert words_of(figure) == "Fig. 3. uncertainty, nib over all priors of x1, x2, x3: from 0 to 0.333."


def test_two_secrets_are_a_curve():
    figure = surface(as_gain("identity", "ab"))
    assert (figure.axes[0].get_xlabel(), figure.axes[0].get_ylabel()) == (
        "probability of b",
        "vulnerability, identity",
    )
    assert min(data_of(figure)[0]["values"]) == pytest.approx(0.5)


def test_more_are_refused():
    with pytest.raises(TooLargeError, match="priors of 4 secrets cannot be drawn"):
        surface(as_loss("bin", "abcd").picture(2))
