"""Shared by all tests: what must not skip, and Hypothesis profiles."""

import os

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "metricdp",
    deadline=None,
    max_examples=30,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=True,
)
settings.load_profile("metricdp")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config, items):
    """Leave the long tests to CI and to `make long`, and keep groups together."""
    long = [item for item in items if item.get_closest_marker("long")]
    if long and not os.environ.get("METRICDP_CI") and "long" not in config.option.markexpr:
        config.hook.pytest_deselected(items=long)
        items[:] = [item for item in items if not item.get_closest_marker("long")]
    _keep_groups(items)


def _keep_groups(items):
    """Tests of one group run in one process, or there would be two Sparks: refuse an xdist that forgets the groups."""
    if "PYTEST_XDIST_WORKER" in os.environ:
        lost = [item.nodeid for item in items if item.get_closest_marker("xdist_group") and "@" not in item.nodeid]
        if lost:
            raise pytest.UsageError(f"pytest-xdist does not keep the group of {lost[0]}; see pytest in pyproject.toml")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """On the project's own machines nothing may skip: a missing engine there is a failure."""
    outcome = yield
    _refuse_to_skip(item, outcome.get_result())


@pytest.hookimpl(hookwrapper=True)
def pytest_make_collect_report(collector):
    """Nor may a whole file."""
    outcome = yield
    _refuse_to_skip(collector, outcome.get_result())


def _refuse_to_skip(node, report):
    if report.skipped and not hasattr(report, "wasxfail") and os.environ.get("METRICDP_CI"):
        report.outcome = "failed"
        report.longrepr = f"{node.nodeid} skipped, which it may not do here: {report.longrepr}"
