"""Where secrets become exact numbers, and results come back.

What comes back is a function of the declared type and of the mechanism alone, never of a value: `docs/containers.md`
has the table. pandas, Polars and pyarrow are not imported here: who gives one of their objects has done so.
"""
