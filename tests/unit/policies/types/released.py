"""One column through a policy, as a table is released."""

import pyarrow as pa

from metricdp.policies import Policy
from metricdp.tables.sanitizer import Sanitizer


def column(entry):
    """The column that an entry declares."""
    return Policy.parse(f"format = 2\n[columns.x]\n{entry}").columns[0]


def release(entry, *arrays):
    """What is released of the arrays."""
    policy = Policy.parse(f"format = 2\n[columns.x]\n{entry}")
    names = policy.columns[0].columns
    made = Sanitizer.of(policy, pa.schema([(name, array.type) for name, array in zip(names, arrays, strict=True)]))
    released = made.apply(pa.record_batch(list(arrays), schema=made.schema))
    released.validate(full=True)
    assert released.schema == made.schema_out
    return released.column(0)
