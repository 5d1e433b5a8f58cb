"""The one policy language: what a column can be, how far apart two values are, its mechanism, its cells, its SQL."""

from __future__ import annotations

from typing import TYPE_CHECKING

from metricdp.lazy import lazily

if TYPE_CHECKING:
    from metricdp.policies.askable import Askable
    from metricdp.policies.cells.listed import BooleanCells, CategoryCells, Cells
    from metricdp.policies.cells.ordered import DateCells, IntegerCells, NumberCells
    from metricdp.policies.column_type import ColumnType
    from metricdp.policies.entry import ColumnEntry, Mistake
    from metricdp.policies.person import Person
    from metricdp.policies.policy import Policy
    from metricdp.policies.sql.predicates import Predicate, col
    from metricdp.policies.sql.statements import Select, read_select
else:
    __getattr__, __dir__ = lazily(
        __name__,
        {
            "Askable": "askable",
            "BooleanCells": "cells.listed",
            "CategoryCells": "cells.listed",
            "Cells": "cells.listed",
            "ColumnType": "column_type",
            "DateCells": "cells.ordered",
            "ColumnEntry": "entry",
            "IntegerCells": "cells.ordered",
            "Mistake": "entry",
            "NumberCells": "cells.ordered",
            "Person": "person",
            "Policy": "policy",
            "Predicate": "sql.predicates",
            "Select": "sql.statements",
            "col": "sql.predicates",
            "read_select": "sql.statements",
        },
    )

__all__ = [
    "Askable",
    "BooleanCells",
    "CategoryCells",
    "Cells",
    "ColumnEntry",
    "ColumnType",
    "DateCells",
    "IntegerCells",
    "Mistake",
    "NumberCells",
    "Person",
    "Policy",
    "Predicate",
    "Select",
    "col",
    "read_select",
]
