"""Errors travel: copied, pickled and told of later rows, they say the same."""

import copy
import pickle

import pytest

from metricdp import errors

MADE = {
    "ColumnError": errors.ColumnError("income", errors.KindError("a number is wanted", 3)),
    "PolicyError": errors.PolicyError(["line 1: one", "line 2: two"]),
    "DelimiterError": errors.DelimiterError("fields stand between ';'", ";"),
    "TooLargeError": errors.TooLargeError("too many points", "about 3 hours"),
    "NotAMetricError": errors.NotAMetricError("not symmetric", (1, 2)),
    "ConformanceError": errors.ConformanceError("symmetry", "mine()", "d(1, 2) is not d(2, 1)"),
    "BudgetError": errors.BudgetError("city", "together 2, and the cap is 1", "nothing"),
    "ServiceError": errors.ServiceError(402, "BudgetError", "nothing is left"),
    "MissingExtraError": errors.MissingExtraError("pyarrow", "tables"),
}
KINDS = [kind for name in errors.__all__ if issubclass(kind := getattr(errors, name), errors.MetricDPError)]


def of_kind(kind):
    if kind.__name__ in MADE:
        return MADE[kind.__name__]
    return kind("a rule", 3) if issubclass(kind, errors.DataError) else kind("a message")


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda error: pickle.loads(pickle.dumps(error))])
def test_an_error_arrives_as_it_was(kind, again):
    error = of_kind(kind)
    error.add_note("in the first of two files")
    found = again(error)
    assert type(found) is kind
    assert (str(found), repr(found), found.args) == (str(error), repr(error), error.args)
    assert vars(found) == vars(error)
    assert getattr(found, "msg", None) == getattr(error, "msg", None)


def test_every_error_with_a_signature_of_its_own_is_tried():
    own = {kind.__name__ for kind in KINDS if "__init__" in vars(kind)} - {"DataError"}
    assert own == set(MADE)


def test_an_error_about_a_column_counts_rows_too():
    error = MADE["ColumnError"].shifted(10)
    assert str(error) == "column 'income', row 13: a number is wanted"
    assert (error.column, error.row) == ("income", 13)
    whole = errors.ColumnError("income", errors.ShapeError("it is empty"))
    assert whole.shifted(10) is whole
