"""Tables that say how they were released, well or badly: files, folders, frames, and policies that are given."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from metricdp.errors import ArgumentError, FileError
from metricdp.estimates import compare, estimate
from metricdp.tables import sanitize

NUMBER = {"type": "number", "within": 10, "bounds": [0, 100], "missing": "refuse"}
SEX = {"type": "category", "values": ["f", "m"], "factor": 3, "missing": "refuse"}
QUESTION = "select avg(x), count(*) where sex = 'f'"


def policy(number=NUMBER, sex=SEX):
    return {"format": 2, "columns": {"x": number, "sex": sex}}


@pytest.fixture(scope="module")
def secret():
    rng = np.random.default_rng(1)
    return pa.table({"x": rng.uniform(20, 80, 500), "sex": rng.choice(["f", "m"], 500)})


@pytest.fixture
def release(secret, tmp_path):
    def made(name, rules=None):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        sanitize(secret, rules or policy(), out=tmp_path / name)
        return tmp_path / name

    return made


@pytest.mark.parametrize("report", ["not json", "[1]", 5, None, [], json.dumps({"released_policy": 7})])
def test_a_frame_whose_claim_was_changed_wants_the_policy(secret, report):
    released = sanitize(secret.to_pandas(), policy()).table
    released.attrs["metricdp"] = {"report": report}
    with pytest.raises(ArgumentError, match="policy"):
        estimate(released, QUESTION)
    found = estimate(released, QUESTION, policy=policy())
    assert found.rows == 500
    if report in ("not json", "[1]", 5, []):
        assert "cannot be read" in found.notes[0]


def test_a_file_that_is_not_there_is_said_to_be_missing(tmp_path):
    with pytest.raises(FileError, match=r"there is no .*none\.parquet"):
        estimate(tmp_path / "none.parquet", QUESTION)
    with pytest.raises(FileError, match=r"there is no .*none\.parquet"):
        compare(pa.table({"x": [1.0]}), str(tmp_path / "none.parquet"))


def test_a_folder_of_two_releases_under_one_policy_is_one_table(release, tmp_path):
    release("both/a.parquet"), release("both/b.parquet")
    assert estimate(tmp_path / "both", QUESTION).rows == 1000


def test_a_folder_of_releases_under_two_policies_is_refused(release, tmp_path):
    release("both/a.parquet"), release("both/b.parquet", policy(sex=SEX | {"factor": 9}))
    with pytest.raises(ArgumentError, match=r"column 'sex'.*factor 3.*another part of it says.*factor 9"):
        estimate(tmp_path / "both", "select count(*) where sex = 'f'")


def test_a_folder_that_also_holds_a_file_without_a_claim_is_refused(release, secret, tmp_path):
    release("both/a.parquet")
    pq.write_table(secret, tmp_path / "both" / "b.parquet")
    for rules in (None, policy()):
        with pytest.raises(ArgumentError, match="not one release"):
            estimate(tmp_path / "both", QUESTION, policy=rules)


@pytest.mark.parametrize(
    "number",
    [
        {"type": "number", "epsilon": "ln 2", "per": 10, "bounds": [0, 100], "missing": "refuse"},
        {"type": "number", "metric": "ln 2/10 absolute", "bounds": [0, 100], "missing": "refuse"},
        NUMBER | {"within": "10 dollars"},
        NUMBER | {"outside": "clamp"},
    ],
)
def test_the_same_policy_may_be_written_in_other_words(release, number):
    file = release("r.parquet")
    own = estimate(file, QUESTION)
    assert estimate(file, QUESTION, policy=policy(number)).found == own.found


def test_whoever_receives_a_table_says_how_finely_to_count_it(release):
    found = estimate(release("r.parquet"), "select count(*) group by x", policy=policy(NUMBER | {"count_by": 25}))
    assert [label for (label,) in found.groups] == ["[0, 25)", "[25, 50)", "[50, 75)", "[75, 100]"]


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (NUMBER | {"within": 11}, "a distance of 11"),
        (
            NUMBER | {"missing": "public"},
            "missing values public, and the table says of itself .*missing values refused",
        ),
        (NUMBER | {"resolution": 1}, "not the policy"),
        (NUMBER | {"bounds": [0, 101]}, "not the policy"),
    ],
)
def test_another_policy_is_refused(release, number, words):
    with pytest.raises(ArgumentError, match=words):
        estimate(release("r.parquet"), QUESTION, policy=policy(number))
