import threading

import pyarrow as pa

import metricdp
from metricdp.errors import ArgumentError
from metricdp.studio.jobs import Job


def test_a_job_reports_and_ends():
    def work(job):
        for step in range(4):
            job.report(step, 3)
        return "done"

    job = Job(work)
    job.wait(60)
    assert (job.result, job.done, job.total, job.problem) == ("done", 3, 3, "")


def test_a_job_can_be_stopped():
    begun, gate = threading.Event(), threading.Event()

    def work(job):
        begun.set()
        gate.wait(60)
        job.report(1)
        return "never"

    job = Job(work)
    begun.wait(60)
    job.stop()
    gate.set()
    job.wait(60)
    assert job.stopped
    assert job.stopping
    assert job.result is None
    assert "nothing was kept" in job.problem


def failing(error):
    def work(job):
        raise error

    job = Job(work)
    job.wait(60)
    return job.problem


def test_our_own_errors_are_told_and_others_only_named():
    assert failing(ArgumentError("a port is a number")) == "a port is a number"
    assert failing(ValueError("the salary is 31,000")) == "It failed (ValueError); nothing was released."


def test_a_search_that_is_stopped_before_it_has_anything_says_so():
    assert failing(KeyboardInterrupt()) == "Stopped; nothing was kept."


def test_a_table_whose_release_is_stopped_leaves_no_file(tmp_path):
    out, gate = tmp_path / "out.parquet", threading.Event()
    rules = {"format": 2, "columns": {"age": {"type": "integer", "within": "5 years", "missing": "refuse"}}}

    def work(job):
        gate.wait(60)
        return metricdp.tables.sanitize(pa.table({"age": range(1000)}), rules, out, progress=job.report)

    job = Job(work)
    job.stop()
    gate.set()
    job.wait(60)
    assert job.stopped
    assert job.result is None
    assert list(tmp_path.iterdir()) == []
