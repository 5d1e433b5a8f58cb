"""Released tables as the frames that their sources were."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from metricdp.mechanisms.forms.pandas import marked
from metricdp.sources.plain_arrays import shown_by_pandas
from metricdp.sources.table import Declared

__all__ = ["to_pandas", "to_polars"]


def to_pandas(released: pa.Table, frame: Any, declared: Declared) -> Any:
    """A released table as a frame: dtypes that the source declared, and otherwise those of the policy's types.

    Integers and booleans that can be missing, as ``declared.nullable`` says, come as pandas' Int64 and kin, whether or
    not one is.
    """
    import pandas

    dtypes = {str(name): dtype for name, dtype in zip(frame.columns, frame.dtypes, strict=True)}
    made = {}
    for name in released.column_names:
        column, dtype = released[name], dtypes[name]
        column = shown_by_pandas(column) if name in declared.types else column
        kind = column.type
        if isinstance(dtype, pandas.ArrowDtype):
            made[name] = pandas.Series(column, dtype=pandas.ArrowDtype(kind))
        elif hasattr(dtype, "numpy_dtype") or isinstance(dtype, pandas.StringDtype):
            made[name] = pandas.Series(pandas.array(column.to_pandas(types_mapper={kind: dtype}.get), dtype=dtype))
        elif name in declared.nullable or dtype == np.dtype(object):
            made[name] = column.to_pandas(types_mapper=_nullable_types().get)
        else:
            made[name] = column.to_pandas()
    return marked(pandas.DataFrame(made, index=pandas.RangeIndex(released.num_rows)))


def _nullable_types() -> dict[pa.DataType, Any]:
    import pandas

    kinds = {getattr(pa, name.lower())(): name for name in ("Int8", "Int16", "Int32", "Int64")}
    kinds |= {getattr(pa, name.lower())(): name for name in ("UInt8", "UInt16", "UInt32", "UInt64")}
    return {arrow: pandas.api.types.pandas_dtype(name) for arrow, name in kinds.items()} | {
        pa.bool_(): pandas.BooleanDtype()
    }


def to_polars(released: pa.Table, kind: Any) -> Any:
    """A released table as a Polars frame."""
    import polars

    frame: Any = polars.from_arrow(released)
    if issubclass(kind, polars.LazyFrame):
        return frame.lazy()
    return frame if isinstance(frame, kind) else kind(frame)
