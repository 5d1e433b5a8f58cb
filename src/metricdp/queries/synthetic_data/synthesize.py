"""A synthetic table out of a sensitive one: its marginals measured privately, and rows that fit them."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from metricdp.errors import ArgumentError
from metricdp.exact.arrays import Floats
from metricdp.exact.bits import source as noise_source
from metricdp.exact.progress import Progress, Stopwatch
from metricdp.exact.refine import Integers
from metricdp.policies.askable import Askable
from metricdp.policies.cells.cell_metrics import metric_on_cells
from metricdp.policies.cells.ordered import DateCells
from metricdp.policies.policy import Policy
from metricdp.queries.select.people import check_people
from metricdp.queries.select.totals import check_records
from metricdp.queries.synthetic_data.fitting import Fitted, fit_marginals
from metricdp.queries.synthetic_data.junction_tree import JunctionTree
from metricdp.queries.synthetic_data.synthetic_rows import draw_cells, values_of_cells
from metricdp.queries.synthetic_data.synthetic_table import MarginalError, SyntheticTable
from metricdp.queries.universes.counting import histogram
from metricdp.queries.universes.engines.grouping import declared_types
from metricdp.queries.universes.universe import Universe
from metricdp.queries.workloads.allocation import released
from metricdp.queries.workloads.group_totals import Axis
from metricdp.queries.workloads.marginal_noise import MarginalNoise, allocate_marginals
from metricdp.sources.opening import kept, open_table
from metricdp.sources.table import Declared

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["plan_marginals", "synthesize"]

_MOST_AT_ONCE = 1_000_000
_CONFIDENCE = 0.95

Marginals = int | Sequence[Sequence[str]]


def synthesize(
    source: Any,
    policy: Policy | str | Path | Mapping[str, Any],
    marginals: Marginals = 2,
    out: str | Path | None = None,
    engine: Any = None,
    ledger: Any = None,
    *,
    columns: Sequence[str] | None = None,
    account: str | None = None,
    overwrite: bool = False,
    time_limit: float | None = None,
    progress: Progress | None = None,
) -> SyntheticTable:
    """Make a table of the same columns that was never anybody's, and whose marginals are near the true ones.

    All marginals are measured once with Laplace noise, shared among them for the least squared error; or the counts
    of all combinations, where that is expected to be better. The distribution that fits the noisy counts best is found
    by messages on the junction tree of the marginals, and rows are dealt out from it. Where a cell of the policy holds
    several values, one is drawn evenly: nothing finer than the cells was measured.

    Args:
        source: a file or a frame, or what else `histogram` takes.
        policy: the cells of the columns, the number of records and the metric; or the path of a file that has them.
        marginals: 2 for all pairs of columns, 3 for all triples, ..; or a list of lists of columns.
        out: the file to make: .parquet, .arrow or .csv; None keeps the table in memory, in the form of the source.
        engine: "spark", or a connection of ibis, where the source is a table's name there.
        ledger: a `Ledger` or its address; the account is charged before anything is handed out.
        columns: which columns the table has; all that the policy declares, where not given.
        account: which account of the ledger is charged; the only one, where there is one.
        overwrite: replace ``out`` if it is there.
        time_limit: seconds for the fit; then the best so far is used.
        progress: told while noise is shared out.

    Guarantee:
        The policy's metric on the columns, added up over the records: for the rows and the report together. What is
        computed from them costs nothing more.

    Raises:
        DataError: a table that is not as the policy says. Neither a value nor a count of the table is in an error.
        BudgetError: the account cannot bear it; nothing was charged or released.

    References:
        Paper 4, sections 2 and 4.2.

    >>> import pyarrow as pa
    >>> people = pa.table({"sex": ["F", "M"] * 50, "age": [30, 50, 39, 60] * 25})
    >>> policy = Policy.parse('''
    ... format = 2
    ... records = 100
    ... [columns]
    ... sex = {type = "category", values = ["F", "M"], epsilon = 1000, missing = "refuse"}
    ... age = {type = "integer", bounds = [0, 99], count_by = [40], epsilon = 1000, missing = "refuse"}
    ... ''')
    >>> made = synthesize(people, policy)
    >>> made.records, made.table.column_names, made.marginals[0].columns
    (100, ['sex', 'age'], ('sex', 'age'))
    """
    rules = Policy.of(policy)
    rules.refuse_without_ledger(charged=ledger is not None)
    askable, watch = rules.askable, Stopwatch(time_limit, progress)
    names = _names(askable, columns)
    asked = _asked(names, marginals, askable)
    target = None if out is None else Path(out)
    with kept(source, Declared(dialect=rules.dialect), engine) as again:
        with open_table(again, _declared(askable, names), engine) as opened:
            schema, like, path = opened.schema, opened.like, opened.path
        if target is not None:
            from metricdp.sources.sinks import check_table_output

            check_table_output(target, path, overwrite)
        debit = None if ledger is None else _Debit.of(ledger, account, rules, names)
        made, table = _made(again, engine, askable, names, asked, schema, watch)
    with _written(table, target, made, rules, overwrite) as digest:
        if debit is not None:
            debit.charge(digest)
    return replace(made, path=target, table=None if target is not None else like(table))


def plan_marginals(
    askable: Askable, names: Sequence[str], asked: Sequence[tuple[int, ...]]
) -> tuple[MarginalNoise, JunctionTree]:
    """Which marginals are measured, with what noise: decided by the policy alone.

    Either those that were asked for, or the counts of all combinations, from which they follow: whichever has the
    lower expected squared error over all cells asked for, before the noisy counts are made consistent.
    """
    axes = [_axis(askable, name) for name in names]
    # Where any two records are e apart, two cells of every marginal change: as if by way of one that is e / 2 from all.
    absent = askable.absent if askable.apart is None else askable.apart / 2
    noise = allocate_marginals(axes, asked, absent)
    shape = [len(axis.points) for axis in axes]
    tree, cells = JunctionTree(shape, asked), math.prod(shape)
    together = tuple(range(len(names)))
    if len(asked) > 1 and cells <= _MOST_AT_ONCE and together not in asked:
        whole = allocate_marginals(axes, [together], absent)
        each = sum(math.prod(shape[axis] for axis in one) * c * c for one, c in zip(asked, noise.scales, strict=True))
        if len(asked) * cells * whole.scales[0] ** 2 < each:
            return whole, JunctionTree(shape, [together])
    return noise, tree


def _axis(askable: Askable, name: str) -> Axis:
    column = askable.column(name)
    return Axis(column.points, metric_on_cells([column], askable.metric(name), "values"))


def _names(askable: Askable, columns: Sequence[str] | None) -> tuple[str, ...]:
    chosen = askable.names if columns is None else tuple(columns)
    unknown = [name for name in chosen if name not in askable.names]
    if unknown or not chosen or len(set(chosen)) < len(chosen):
        raise ArgumentError(f"columns are some of those that the policy declares: {', '.join(askable.names)}")
    return tuple(name for name in askable.names if name in chosen)


def _asked(names: Sequence[str], marginals: Marginals, askable: Askable) -> list[tuple[int, ...]]:
    """The marginals as places of their columns, each once."""
    if isinstance(marginals, int) and not isinstance(marginals, bool):
        if marginals < 1:
            raise ArgumentError("marginals is 1, 2, .., or a list of lists of columns")
        return list(itertools.combinations(range(len(names)), min(marginals, len(names))))
    if isinstance(marginals, str | bool) or not marginals:
        raise ArgumentError("marginals is 1, 2, .., or a list of lists of columns")
    found: dict[tuple[int, ...], None] = {}
    for one in marginals:
        wanted = [one] if isinstance(one, str) else list(one)
        unknown = [name for name in wanted if name not in names]
        if unknown or not wanted:
            raise ArgumentError(f"a marginal names some of the columns {', '.join(names)}, not {unknown[:1]}")
        found[tuple(sorted({names.index(name) for name in wanted}))] = None
    return list(found)


def _declared(askable: Askable, names: Sequence[str]) -> Declared:
    return declared_types({name: askable.column(name).csv_type for name in names}, askable.policy.dialect)


def _made(
    source: Any,
    engine: Any,
    askable: Askable,
    names: tuple[str, ...],
    asked: list[tuple[int, ...]],
    schema: pa.Schema,
    watch: Stopwatch,
) -> tuple[SyntheticTable, pa.Table]:
    import pyarrow as pa

    noise, _ = plan_marginals(askable, names, asked)
    check_people(source, askable.policy, engine)
    cells = [askable.column(name) for name in names]
    noisy, bars = [], []
    for place, true in enumerate(_true_counts(source, engine, askable, names, noise.sets)):
        mechanism = noise.mechanism(place, askable.most)
        flat = [Fraction(int(count)) for count in true.ravel().tolist()]
        drawn = released([mechanism] * len(flat), flat)
        noisy.append(np.array([value for value, _ in drawn]).reshape(true.shape))
        bars.append(0.0 if mechanism is None else float(mechanism.radius(_CONFIDENCE) or 0.0))
    total = _total(askable, noisy, noise.scales)
    shape = [len(column) for column in cells]
    fitted = fit_marginals(shape, noise.sets, noisy, noise.scales, float(total), watch=watch)
    drawn_cells = draw_cells(fitted, total)
    types = {name: schema.field(name).type for name in names if name in schema.names}
    for column in cells:  # of text that holds moments with an offset, rows have one
        zoned = isinstance(column, DateCells) and column.moments and askable.policy.dialect.is_zoned(column.name)
        if zoned and pa.types.is_string(types.get(column.name, pa.null())):
            types[column.name] = pa.timestamp("us", "UTC")
    arrays = {
        column.name: values_of_cells(
            column, codes, types.get(column.name), getattr(askable.column_type(column.name), "resolution", None)
        )
        for column, codes in zip(cells, drawn_cells, strict=True)
    }
    order = [name for name in schema.names if name in arrays] + [name for name in names if name not in schema.names]
    table = pa.table({name: arrays[name] for name in order})
    made = SyntheticTable(
        table=table,
        records=total,
        columns=tuple(order),
        left_out=tuple(name for name in schema.names if name not in arrays),
        marginals=tuple(_errors(names, asked, noise, bars, fitted, drawn_cells, shape)),
        guarantee=askable.guarantee(names),
        person_rows=askable.rows,
        private=noise_source().private,
    )
    return made, table


def _true_counts(
    source: Any, engine: Any, askable: Askable, names: Sequence[str], sets: Sequence[tuple[int, ...]]
) -> Iterator[Integers]:
    """The true counts of each marginal, which are private; from one count of all cells where these are not too many."""
    dialect = askable.policy.dialect
    columns = [askable.column(name) for name in names]
    shape = [len(column) for column in columns]
    if math.prod(shape) <= _MOST_AT_ONCE:
        found = histogram(source, Universe(columns), engine, dialect=dialect)
        check_records(found.records, askable)
        for chosen in sets:
            away = tuple(axis for axis in range(len(shape)) if axis not in chosen)
            yield np.asarray(found.counts.reshape(shape).sum(axis=away))
        return
    for chosen in sets:
        part = histogram(source, Universe([columns[axis] for axis in chosen]), engine, dialect=dialect)
        check_records(part.records, askable)
        yield part.counts.reshape([shape[axis] for axis in chosen])


def _total(askable: Askable, noisy: Sequence[Floats], scales: Sequence[float]) -> int:
    """How many records there are; where that is secret, what the noisy counts say, those with less noise more."""
    if askable.records is not None:
        return askable.records
    weights = [1 / (counts.size * max(scale, 1e-9) ** 2) for counts, scale in zip(noisy, scales, strict=True)]
    mean = sum(weight * float(counts.sum()) for weight, counts in zip(weights, noisy, strict=True)) / sum(weights)
    return int(min(max(round(mean), 0), askable.most))


def _errors(
    names: Sequence[str],
    asked: Sequence[tuple[int, ...]],
    noise: MarginalNoise,
    bars: Sequence[float],
    fitted: Fitted,
    drawn: Sequence[Any],
    shape: Sequence[int],
) -> Iterator[MarginalError]:
    """For each marginal asked for, what noise its counts had, and how near the rows are to the fit."""
    for chosen in asked:
        sizes = [shape[axis] for axis in chosen]
        place = noise.sets.index(chosen) if chosen in noise.sets else 0
        summed = math.prod(shape) // math.prod(sizes) if chosen not in noise.sets else 1
        flat = np.ravel_multi_index([drawn[axis] for axis in chosen], sizes)
        rows = np.bincount(flat, minlength=math.prod(sizes)).reshape(sizes)
        off = rows - fitted.counts(chosen)
        yield MarginalError(
            tuple(names[axis] for axis in chosen),
            math.prod(sizes),
            noise.scales[place],
            math.sqrt(2 * summed) * noise.scales[place],
            bars[place] * math.sqrt(summed),
            float(np.sqrt((off**2).mean())),
        )


class _Debit:
    """A charge that is about to be made."""

    def __init__(self, ledger: Any, account: str, guarantee: Any, what: Any) -> None:
        self.ledger, self.account, self.guarantee, self.what = ledger, account, guarantee, what

    @classmethod
    def of(cls, ledger: Any, account: str | None, rules: Policy, names: Sequence[str]) -> _Debit | None:
        """The charge; an unknown account, or one that cannot bear it, is refused before anything is read."""
        from metricdp.ledger.charging import as_ledger, question_charge, refuse_seeds, which_account
        from metricdp.ledger.entries import What, digest

        refuse_seeds()
        found, guarantee = as_ledger(ledger), question_charge(rules, names)
        name = which_account(account, found)
        if guarantee is None:
            return None
        problem = found.refusal(name, guarantee)
        if problem is not None:
            raise problem
        what = What(
            f"synthetic table of {', '.join(names)}",
            mechanism="Laplace noise on marginals",
            versions={"policy": digest(rules.text)},
        )
        return cls(found, name, guarantee, what)

    def charge(self, digest: str | None) -> None:
        """Charge, and put the digest of the result on record."""
        receipt = self.ledger.charge(self.account, self.guarantee, self.what)
        self.ledger.answer(receipt, {"sha256": digest, "private": True})


@contextmanager
def _written(
    table: pa.Table, target: Path | None, made: SyntheticTable, rules: Policy, overwrite: bool
) -> Iterator[str | None]:
    """The table in a file that appears when the block ends well; gives the digest of its bytes."""
    if target is None:
        yield None
        return
    from metricdp.sources.digests import digest
    from metricdp.sources.sinks import write_file
    from metricdp.sources.whole_files import appearing

    with appearing(target, overwrite) as temporary:
        about = {"metricdp.synthetic": json.dumps(made.to_json(), sort_keys=True)}
        with write_file(temporary, table.schema, about, {}, rules.dialect) as writer:
            for batch in table.to_batches():
                writer.write_batch(batch)
        yield digest(temporary)
