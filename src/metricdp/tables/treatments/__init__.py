"""What a policy does to a column: one class for each kind, all working on Arrow arrays.

A treatment knows its columns, its mechanism and its types. `apply` is given the columns of a batch and returns them
released; it keeps nothing between batches.
"""

from metricdp.tables.treatments.categorical import Category, SetOf
from metricdp.tables.treatments.numeric import Integer, Location, Number, Series, Time
from metricdp.tables.treatments.treatment import Drop, Keep, Missing, Outside, Treatment

__all__ = [
    "Category",
    "Drop",
    "Integer",
    "Keep",
    "Location",
    "Missing",
    "Number",
    "Outside",
    "Series",
    "SetOf",
    "Time",
    "Treatment",
]
