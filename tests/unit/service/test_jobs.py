"""TableJobs: how many, how long they are kept, and what stays of them."""

import pytest

from metricdp.errors import ArgumentError, DataError
from metricdp.service.jobs import TableJobs


def ended(job):
    import time

    while job.ended is None:
        time.sleep(0.005)
    return job


def test_the_upload_goes_when_the_work_ends_and_the_folder_with_the_job():
    jobs = TableJobs(2, 60)
    job = jobs.begin("ann", "csv")
    job.source.write_bytes(b"secret")
    assert job.folder.stat().st_mode & 0o077 == 0
    jobs.run(job, lambda given: given.result.write_bytes(b"released"))
    assert ended(job).state == "done"
    assert not job.source.exists()
    assert job.result.exists()
    jobs.drop(job)
    assert not job.folder.exists()
    assert jobs.of("ann", job.id) is None


def test_results_are_forgotten_after_a_time():
    now = [0.0]
    jobs = TableJobs(1, 10, lambda: now[0])
    job = jobs.begin("ann", "parquet")
    jobs.run(job, lambda given: None)
    ended(job)
    assert jobs.begin("bob", "csv") is None
    now[0] = 11.0
    assert jobs.of("ann", job.id) is None
    assert not job.folder.exists()
    other = jobs.begin("bob", "csv")
    assert other is not None
    jobs.close()
    assert not other.folder.exists()


@pytest.mark.parametrize(
    ("error", "kind", "words"),
    [
        (DataError("a rule", 3), "DataError", "row 3: a rule"),
        (RuntimeError("a secret"), "InternalError", "nothing was"),
    ],
)
def test_what_goes_wrong_is_told_without_what_others_say(error, kind, words):
    def fails(job):
        raise error

    jobs = TableJobs(1, 60)
    job = jobs.begin("ann", "csv")
    jobs.run(job, fails)
    found = ended(job).to_json()
    assert (found["state"], found["error"]["kind"]) == ("failed", kind)
    assert words in found["error"]["message"]
    assert "a secret" not in str(found)
    jobs.close()


def test_a_form_that_is_not_read():
    with pytest.raises(ArgumentError, match="form is one of csv"):
        TableJobs(1, 1).begin("ann", "../../etc/passwd")
