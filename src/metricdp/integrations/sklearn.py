"""A transformer of scikit-learn that releases columns as a policy says."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from metricdp.errors import ArgumentError
from metricdp.integrations.in_place import InPlace, PolicyLike, required
from metricdp.ledger import Ledger

__all__ = ["PrivateTransformer"]

if TYPE_CHECKING:

    class _Base:
        def _repr_html_(self) -> str: ...

else:
    _base = required("sklearn.base", "scikit-learn", "sklearn")

    class _Base(_base.TransformerMixin, _base.BaseEstimator):
        """What makes a transformer one of scikit-learn."""


class PrivateTransformer(_Base):
    """Releases the columns of a frame as a policy says, row by row; what follows in a pipeline sees only that.

    Each `transform` draws noise anew, and is charged anew. `fit` learns nothing of the values: it checks the columns.
    Rows stay where they are, beside their targets, whatever the policy says of their order. Targets are not released by
    it: where they are secret, they want a policy too.

    Args:
        policy: a Policy, the path of one, or a dict of what its file would hold.
        ledger: a `Ledger` or its address; charged before rows are handed on.
        account: which account of the ledger; the only one, where there is one.

    Guarantee:
        ``policy.guarantee`` for each row of a `transform`.

    >>> import pandas
    >>> rules = {"format": 2, "columns": {"age": {"type": "integer", "within": "5 years"}, "name": "drop"}}
    >>> frame = pandas.DataFrame({"name": ["Ann", "Bob"], "age": [31, 47]})
    >>> released = PrivateTransformer(rules).fit_transform(frame)
    >>> list(released.columns), len(released)
    (['age'], 2)
    """

    def __init__(
        self, policy: PolicyLike, ledger: Ledger | str | Path | None = None, account: str | None = None
    ) -> None:
        self.policy, self.ledger, self.account = policy, ledger, account

    def fit(self, X: Any, y: Any = None) -> Self:
        """Check that the policy fits the columns; no value is read.

        Args:
            X: a frame of pandas or Polars.
            y: not looked at.

        Raises:
            ArgumentError: it is no frame, so its columns have no names.
            PolicyError: the policy does not fit, requires a ledger that is not given, or declares a person.
        """
        names = _names(X)
        if not names or not all(isinstance(name, str) for name in names):
            raise ArgumentError("a frame with names of columns is wanted, of pandas or Polars: the policy goes by them")
        released = self._private().plan(X).schema_out.names
        self.feature_names_in_, self.n_features_in_ = _texts(names), len(names)
        self._released_names = _texts(released)
        return self

    def transform(self, X: Any) -> Any:
        """The columns released: a frame of the same kind, with the same index, without those that are dropped."""
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(self, "feature_names_in_")
        names = [str(name) for name in _names(X)]
        if names != list(self.feature_names_in_):
            raise ArgumentError("the columns are not those that fit saw, or in another order")
        released = self._private().frame(X, "a frame, by a transformer")
        if hasattr(X, "index") and hasattr(released, "index"):
            released.index = X.index
        return released

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """The names of the columns that are released."""
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(self, "feature_names_in_")
        return self._released_names

    def _private(self) -> InPlace:
        return InPlace.of(self.policy, self.ledger, self.account)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.non_deterministic = True
        tags.input_tags.categorical = tags.input_tags.string = tags.input_tags.allow_nan = True
        return tags


def _names(frame: Any) -> list[Any]:
    """The names of a frame's columns, of a lazy one too; none where it is no frame."""
    return list(frame.collect_schema().names() if hasattr(frame, "collect_schema") else getattr(frame, "columns", []))


def _texts(names: list[str]) -> Any:
    import numpy as np

    return np.array(names, dtype=object)
