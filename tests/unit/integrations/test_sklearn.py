"""The transformer, in pipelines of scikit-learn."""

import pickle

import pandas
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline

from metricdp.errors import ArgumentError, BudgetError, PolicyError
from metricdp.integrations import PrivateTransformer

RULES = {
    "format": 2,
    "columns": {
        "income": {"type": "number", "within": "1000 dollars", "missing": "refuse"},
        "age": {"type": "integer", "within": "5 years", "bounds": [0, 120], "missing": "refuse"},
    },
}


@pytest.fixture
def frame():
    return pandas.DataFrame({"income": [1000.0 * k for k in range(200)], "age": [k % 90 for k in range(200)]})


def test_a_model_learns_from_what_was_released(frame):
    model = make_pipeline(PrivateTransformer(RULES), LinearRegression())
    target = frame["income"] * 2 + 5
    scores = cross_val_score(model, frame, target, cv=4)
    assert scores.min() > 0.5  # noise of 1,400 on a range of 200,000; rows that were shuffled would learn nothing
    assert model.fit(frame, target)[:-1].get_feature_names_out().tolist() == ["income", "age"]


def test_each_transform_is_new_and_charged_and_fit_is_not(frame, policy, columns, ledger, charges):
    private = PrivateTransformer(policy, ledger, "staff")
    staff = pandas.DataFrame(columns, index=[4, 3, 2, 1])
    private.fit(staff)
    assert charges() == 0
    first, second = private.transform(staff), private.transform(staff)
    assert first.index.tolist() == [4, 3, 2, 1]
    assert (first["income"] != second["income"]).all()
    assert charges() == 2
    with pytest.raises(BudgetError):
        private.transform(staff)


def test_it_is_an_estimator_as_others_are(frame):
    private = PrivateTransformer(RULES)
    assert clone(private).get_params()["policy"] == RULES
    assert "PrivateTransformer" in repr(private)
    assert private.__sklearn_tags__().non_deterministic
    with pytest.raises(NotFittedError):
        private.transform(frame)
    chosen = make_column_transformer((private, ["income", "age"]), remainder="drop")
    assert chosen.fit_transform(frame).shape == (200, 2)
    assert list(private.set_output(transform="pandas").fit_transform(frame).columns) == ["income", "age"]
    released = PrivateTransformer(RULES).fit_transform(pl.from_pandas(frame))
    assert isinstance(released, pl.DataFrame)


def test_what_has_no_names_or_others_is_refused(frame, strict):
    with pytest.raises(ArgumentError, match="names of columns"):
        PrivateTransformer(RULES).fit(frame.to_numpy())
    with pytest.raises(ArgumentError, match="not those that fit saw"):
        PrivateTransformer(RULES).fit(frame).transform(frame[["age", "income"]])
    with pytest.raises(PolicyError, match="the policy does not name it"):
        PrivateTransformer(RULES).fit(frame.assign(name="x"))
    with pytest.raises(PolicyError, match="requires a ledger"):
        PrivateTransformer(strict).fit(frame)


def test_a_ledger_is_charged_through_clones_and_a_grid_search(frame, columns, ledger, charges, policy):
    """To clone a transformer with an open ledger ended in an error about locks."""
    private = PrivateTransformer(policy, ledger, "staff")
    assert clone(private).ledger is ledger
    with pytest.raises(ArgumentError, match="gets its address"):
        pickle.dumps(private)
    staff = pandas.DataFrame(columns)
    model = make_pipeline(private, make_column_transformer(("drop", ["team"]), remainder="passthrough"), Ridge())
    search = GridSearchCV(model, {"ridge__alpha": [1]}, cv=[([0, 1], [2, 3])], refit=False, error_score="raise")
    search.fit(staff, [1, 2, 3, 4])
    assert charges() == 2, "one to learn and one to score"


def test_a_lazy_frame_of_polars_is_released_too(frame):
    """Its names were asked for in a way of which Polars warns."""
    lazy = pl.from_pandas(frame).lazy()
    assert PrivateTransformer(RULES).fit_transform(lazy).collect().columns == list(
        PrivateTransformer(RULES).fit(frame).get_feature_names_out()
    )
