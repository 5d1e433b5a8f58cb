"""The audit as a check of a suite, and the pairs that it finds for each of our mechanisms."""

import pytest

import metricdp as mdp
from metricdp.audit.boxes.as_box import as_box
from metricdp.audit.conformance import check_claim
from metricdp.audit.pairs import find_pairs
from metricdp.errors import ArgumentError
from tests.mechanisms_to_test import CASES

m = mdp.metrics


class Weaker(type(mdp.laplace(m.absolute()))):
    """A third party's mechanism that promises more than it keeps."""

    @property
    def guarantee(self):
        return mdp.Guarantee("0.4" * m.absolute())


def test_a_claim_that_is_kept_passes_and_one_that_is_not_does_not():
    ours = mdp.laplace(m.absolute())
    check_claim(ours, [(0.0, 1.0)], samples=20_000)
    with pytest.raises(AssertionError, match="NOT"):
        check_claim(Weaker(ours.metric, ours.resolution), [(0.0, 1.0)], samples=20_000)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_pairs_are_found_for_every_mechanism(case):
    mechanism = case.make()
    metric = mechanism.guarantee.metric
    found = find_pairs(as_box(mechanism), mechanism, metric)
    assert found
    for (x, y), distance in found:
        assert 0 < float(metric.enclose(x, y).lower) <= distance


def test_pairs_that_cannot_be_found_have_to_be_given():
    def release(secret):
        raise ValueError

    with pytest.raises(ArgumentError, match="give some"):
        find_pairs(as_box(release), release, m.absolute())
