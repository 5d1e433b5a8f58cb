"""Where people already work: pandas, Polars, GeoPandas, DuckDB and scikit-learn, each under the same policies."""

from __future__ import annotations

from typing import TYPE_CHECKING

from metricdp.lazy import lazily

if TYPE_CHECKING:
    from metricdp.integrations.duckdb import register_duckdb
    from metricdp.integrations.enabling import enable
    from metricdp.integrations.maps import PlacesMap, read_map
    from metricdp.integrations.sklearn import PrivateTransformer
else:
    __getattr__, __dir__ = lazily(
        __name__,
        {
            "PlacesMap": "maps",
            "PrivateTransformer": "sklearn",
            "enable": "enabling",
            "read_map": "maps",
            "register_duckdb": "duckdb",
        },
    )

__all__ = ["PlacesMap", "PrivateTransformer", "enable", "read_map", "register_duckdb"]
