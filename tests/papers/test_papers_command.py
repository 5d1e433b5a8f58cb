"""What `metricdp papers` computes, beside the numbers that the other tests of this folder assert.

By default the cheap items; METRICDP_PAPERS=1, or `make papers`, runs all of them.
"""

import math
import os
from fractions import Fraction

import pytest

from metricdp.papers import items_of, run
from metricdp.plots import data_of, words_of

ALL = [(paper, item.name) for paper in range(1, 6) for item in items_of(paper)]
SLOW = {(2, "example4"), (3, "fig6a"), (3, "fig6b"), (5, "fig8"), (4, "fig2c"), (4, "fig2d"), (5, "table6a")}
RUN = ALL if os.environ.get("METRICDP_PAPERS") else [one for one in ALL if one not in SLOW]

NUMBERS = {
    (1, "fig1"): {"H(y1)(z1) <= 2 H(y3)(z1)": 3, "the scale that H needs": math.log2(3)},
    (1, "fig2"): {"(i) line, eps/2, at eps = 0.7": 0.35, "(iii) plane with d1, eps^2/4, at eps = 0.7": 0.1225},
    (1, "thm1-2"): {"its largest on sets of outputs, as a factor": 25 / 6},
    (1, "thm3-4"): {"Theorem 3, at most 2 d(phi); swaps approach": 9},
    (2, "example5"): {"eps = 1.0, delta = 0.1: the least scale for a width of 100": 82.595},
    (2, "thm5"): {"delta between neighbours": 0.05, "delta of the promise for all rows": 0.1},
    (2, "thm6-7"): {"two points 10 apart: the error is at least": 10 / 3, "Theorem 7 for outputs outside of D": 1},
    (3, "fig4"): {"the prior is regular, of steps of 0.04": 0.72},
    (3, "fig7"): {"determinant at alpha = 1/3": 0},
    (4, "fig1"): {"noise of Native, alone and together": 4, "noise of Male, alone and together": 1},
    (4, "alg3"): {"its mean squared error is the least": (1 + 3 ** (2 / 3)) ** 3},
    (4, "thm2"): {"absolute error of two queries on a line": (1 + math.sqrt(3)) ** 2 / 2},
    (4, "metrics"): {"Blowfish: infinite beyond T is a metric": 3, "the sum form with equal budgets eps gives": 2},
    (5, "fig3"): {"greatest, at the uniform prior": Fraction(1, 3)},
    (5, "table4a"): {"line of 5: kernel mechanisms": 187, "line of 6: multiplicative capacity": 8 / 3},
    (5, "table5a"): {"discrete 4: kernel mechanisms": 41, "Corollary 22, n = 5: additive capacity": 4 / 9},
    (5, "properties"): {"ln 2·|x − y|, 2 kernels: posteriors among another's": 0},
    (4, "remarks"): {"noise of males of age A": 1, "noise of native males of age A": 4},
    (5, "table7a"): {"bits: 2: vertices": 6, "bits: 3: additive capacity": 19 / 27},
}
"""From the other tests of this folder, and docs."""


@pytest.mark.parametrize(("paper", "name"), RUN)
def test_a_quick_item(paper, name):
    outcome = run(paper, name, quick=True)
    assert outcome.claims
    for claim in outcome.claims:
        assert claim.what
        assert claim.ours
        if claim.agrees is False:
            assert len(claim.ways) >= 2
    for what, number in NUMBERS.get((paper, name), {}).items():
        assert float(outcome.value(what)) == pytest.approx(float(number), rel=1e-5), what
    for figure in outcome.figures().values():
        assert words_of(figure)
        assert data_of(figure)
        axes = figure.axes[0]
        assert axes.get_title(loc="left") or axes.get_title() or figure.get_suptitle()


if os.environ.get("METRICDP_PAPERS"):  # make papers

    def test_which_items_differ_from_print():
        differ = {(paper, name) for paper, name in ALL if run(paper, name, quick=True).agrees is False}
        assert {(3, "fig6a"), (3, "fig6b"), (3, "fig4"), (2, "example5"), (5, "table5a")} <= differ
        assert not differ & {(5, "fig1"), (5, "fig4b"), (5, "fig5b"), (3, "fig2"), (1, "fig1")}
