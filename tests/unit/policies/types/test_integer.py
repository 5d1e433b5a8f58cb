"""Columns of whole numbers."""

import pyarrow as pa
import pytest

from metricdp.errors import ColumnError
from metricdp.tables import sanitize


def test_refusals_speak_the_words_of_the_policy():
    """No Python argument such as snap=True, which a policy has no key for."""
    entry = {"type": "integer", "within": 5, "missing": "refuse"}
    for more, values, words in (
        ({"step": 5}, [10, 7], "row 1: not a multiple of the declared step; declare a smaller step"),
        ({"step": 5, "bounds": [0, 20]}, [10, 7], "row 1: not a multiple of the declared step; declare a smaller step"),
        ({"bounds": [0, 5]}, [4, 7], 'row 1: outside the declared bounds; declare outside = "clamp"'),
        (
            {"type": "number", "bounds": [0, 5]},
            [4.0, 7.0],
            'row 1: outside the declared bounds; declare outside = "clamp"',
        ),
    ):
        with pytest.raises(ColumnError) as caught:
            sanitize(pa.table({"age": values}), {"format": 2, "columns": {"age": entry | more}})
        assert words in str(caught.value)
