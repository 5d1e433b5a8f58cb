"""Every registered column type, so that none is forgotten: its proof, its support, its law, its errors, its fields."""

import itertools
import math
import traceback
from contextlib import ExitStack, contextmanager
from unittest import mock

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from metricdp import channels
from metricdp.errors import MetricDPError, PolicyError
from metricdp.exact.choice import Thresholds
from metricdp.mechanisms.exponential import Exponential
from metricdp.mechanisms.response import RandomizedResponse
from metricdp.mechanisms.set_response import SetResponse
from metricdp.metrics import Space
from metricdp.policies import Policy
from metricdp.policies.types import TYPES
from metricdp.tables import sanitize
from tests.attacks.column_types import CASES, Case
from tests.attacks.effort import tries
from tests.attacks.support import FAR, draws

SECRET = "TOPSECRET"
LISTED = [case for case in CASES if case.shown is not None]
NOISY = [case for case in CASES if case.kind not in ("keep", "drop", "rekey")]
ONE_OF_EACH = list({case.kind: case for case in CASES}.values())
EVERY_KEY = sorted({key for name in TYPES.names for key in TYPES.find(name).keys})


def test_no_column_type_is_forgotten():
    """Whoever registers a column type writes a case for it."""
    assert {case.kind for case in CASES} == set(TYPES.names)


def released(case: Case, arrow: pa.DataType, secret: object, count: int) -> list[object]:
    array = case.made([secret] * count, arrow)
    columns = {"x": array, "y": array} if case.kind == "place" else {"x": array}
    made = sanitize(pa.table(columns), case.policy).table["x"].combine_chunks()
    assert made.type == arrow
    made.validate(full=True)
    return made.to_pylist()


# What is promised is kept, exactly.


@pytest.mark.parametrize("case", LISTED, ids=str)
def test_the_declared_metric_is_kept_by_the_exact_law(case):
    """By the metric that questions answer to, and by that of the report: all pairs, at bounds, missing or not."""
    column = case.policy.columns[0]
    inputs = list(dict.fromkeys(given for _, given in case.secrets))
    promised = case.policy.guarantee
    assert promised.delta == column.mechanism.guarantee.delta
    for metric in (column.metric, column.mechanism.guarantee.metric):
        if not promised.delta:
            channel = channels.of(column.mechanism, inputs)
            assert channels.verify(channel, Space(inputs, metric)), (str(metric), str(case))
            continue
        law = column.mechanism.law(inputs).matrix
        for one, two in itertools.permutations(range(len(inputs)), 2):
            grown = law[two] * math.exp(float(metric(inputs[one], inputs[two])))
            assert np.maximum(law[one] - grown, 0).sum() <= float(promised.delta) + 1e-9


@pytest.mark.parametrize("case", LISTED, ids=str)
def test_a_table_is_released_by_the_law_that_is_proved(case):
    """Every secret, also null and beyond the bounds: how often each output comes, and no other, in every type."""
    column = case.policy.columns[0]
    for arrow in case.arrow:
        if arrow == pa.uint8() or arrow == pa.uint64():
            secrets = [(secret, given) for secret, given in case.secrets if secret is None or secret >= 0]
        else:
            secrets = case.secrets
        for secret, given in secrets:
            law = column.mechanism.law([given])
            chances = dict(zip(law.outputs, law.matrix[0], strict=True))
            shown = [case.shown(value) for value in released(case, arrow, secret, tries(600))]
            assert set(shown) <= set(chances), (arrow, secret)
            for output, chance in chances.items():
                wanted, spread = chance * len(shown), math.sqrt(chance * (1 - chance) * len(shown))
                assert abs(shown.count(output) - wanted) < 6.5 * spread + 8, (arrow, secret, output)


# What a release looks like.


@pytest.mark.long
@pytest.mark.parametrize("case", NOISY, ids=str)
def test_the_look_is_that_of_the_declared_type(case):
    """Of all secrets the same container, dtype and classes, in Arrow and pandas, from one row as from a hundred."""
    for arrow in case.arrow:
        looks = set()
        for secret, _ in case.secrets:
            if isinstance(secret, int) and secret < 0 and pa.types.is_unsigned_integer(arrow):
                continue
            array = case.made([secret] * 40, arrow)
            frame = pa.table({"x": array, "y": array} if case.kind == "place" else {"x": array})
            made = sanitize(frame.to_pandas(types_mapper=pd.ArrowDtype), case.policy).table
            looks.add((str(sanitize(frame, case.policy).table.schema.remove_metadata()), str(made["x"].dtype)))
        assert len(looks) == 1, looks


@pytest.mark.parametrize("case", LISTED, ids=str)
def test_a_field_of_a_struct_is_released_like_a_column(case):
    """Where the struct is missing its fields are, and what stood beneath shows nowhere."""
    arrow = case.arrow[0]
    there, given = case.secrets[0]
    inner = case.made([there] * 600, arrow)
    rules = case.policy_for("s.x", '[columns]\n"s.k" = "keep"\n')
    column = rules.columns[0]
    words = pa.array([SECRET] * 600)
    for mask in ([False] * 600, [True] * 600):
        struct = pa.StructArray.from_arrays([inner, words], names=["x", "k"], mask=pa.array(mask))
        if mask[0] and column.missing != "secret":
            with pytest.raises(MetricDPError, match=r"column 's\.x', row 0: a value is missing"):
                sanitize(pa.table({"s": struct}), rules)
            continue
        table = sanitize(pa.table({"s": struct}), rules).table
        assert table["s"].null_count == 0
        made = [case.shown(row["x"]) for row in table["s"].to_pylist()]
        law = column.mechanism.law([None if mask[0] else given])
        chances = dict(zip(law.outputs, law.matrix[0], strict=True))
        assert set(made) <= set(chances)
        for output, chance in chances.items():
            assert abs(made.count(output) - 600 * chance) < 6.5 * math.sqrt(600 * chance * (1 - chance)) + 8
        if mask[0]:
            held = table["s"].combine_chunks().field("k")
            assert not any(buffer is not None and SECRET.encode() in bytes(buffer) for buffer in held.buffers())


@contextmanager
def frozen(place: int):
    """Draws that do not ask for the secret: the first place of every list, or the last one."""

    def listed(values):
        return lambda self, places: np.full_like(places, place * (len(values(self)) - 1))

    with ExitStack() as stack:
        stack.enter_context(draws(FAR[place]))
        for owner, name, drawn in (
            (Thresholds, "draw", lambda self, count: np.full(count, place, dtype=np.int64)),
            (RandomizedResponse, "release_places", listed(lambda mechanism: mechanism.values)),
            (Exponential, "release_places", listed(lambda mechanism: mechanism.space.points)),
            (SetResponse, "release_masks", lambda self, masks: np.zeros_like(masks) | self._whole * place),
        ):
            stack.enter_context(mock.patch.object(owner, name, drawn))
        yield


@pytest.mark.parametrize("case", [case for case in NOISY if case.kind != "place"], ids=str)
def test_without_its_draws_a_release_has_nothing_of_the_secret(tmp_path, case):
    """Not a byte in memory, and not a figure of a file, differs from one secret to another where the draws do not."""
    for arrow, place in itertools.product(case.arrow[: tries(1)], (0, 1)):
        found = set()
        for secret, _ in case.secrets:
            if isinstance(secret, int) and secret < 0 and pa.types.is_unsigned_integer(arrow):
                continue
            table = pa.table({"x": case.made([secret] * 5, arrow)})
            with frozen(place):
                (piece,) = sanitize(table, case.policy).table["x"].chunks
                sanitize(table, case.policy, tmp_path / "out.parquet", overwrite=True)
            held = tuple(None if buffer is None else bytes(buffer) for buffer in piece.buffers())
            found.add((held, str(pq.read_metadata(tmp_path / "out.parquet").row_group(0).to_dict())))
        assert len(found) == 1


# What is said of it.


@pytest.mark.parametrize("case", ONE_OF_EACH, ids=lambda case: case.kind)
def test_a_key_that_the_type_does_not_use_is_a_mistake(case):
    kind = TYPES.find(case.kind)
    for key in EVERY_KEY:
        if key not in kind.keys:
            with pytest.raises(PolicyError, match=f"'{key}' is not known here"):
                case.policy_for("x", f"{key} = 1")


@pytest.mark.parametrize("case", [case for case in ONE_OF_EACH if case in NOISY], ids=lambda case: case.kind)
@pytest.mark.parametrize("wrong", [SECRET, f"12{SECRET}", "4711-47-11", "47:11:47", "1e4711", "[4711]"])
def test_no_message_tells_what_cannot_be_read(tmp_path, case, wrong):
    path = tmp_path / "in.csv"
    path.write_text(f'x,y\n"{wrong}","{wrong}"\n')
    frame = pd.DataFrame({"x": pd.Series([wrong], dtype=object), "y": pd.Series([wrong], dtype=object)})
    text = (
        case.policy.text
        if case.kind == "place"
        else case.policy.text.replace("[rows]", '[columns.y]\ntype = "drop"\n[rows]')
    )
    for source in (path, frame, pa.table({"x": [wrong], "y": [wrong]})):
        with pytest.raises(MetricDPError) as caught:
            sanitize(source, Policy.parse(text))
        told = "".join(traceback.format_exception(caught.value)) + repr(caught.value)
        assert SECRET not in told
        assert "4711" not in told
        assert "47:11" not in told
