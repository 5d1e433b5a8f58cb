"""docs/architecture.md is what docs/flows.py would write, but for files that a flow enters once in many runs."""

import importlib.util
import re
import sys
from pathlib import Path

import metricdp

ROOT = Path(metricdp.__file__).parents[2]
TEXT = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
AGAIN = "run: python docs/flows.py"


def script():
    spec = importlib.util.spec_from_file_location("flows", ROOT / "docs" / "flows.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["flows"] = module
    spec.loader.exec_module(module)
    return module


def written():
    """For each flow of the page, the files by folder."""
    found = {}
    for section in re.split(r"^## ", TEXT, flags=re.MULTILINE)[1:]:
        rows = re.findall(r"^\| (\w+) \((\d+)\) \| (.*) \|$", section, re.MULTILINE)
        title = section.splitlines()[0]
        found[title] = {}
        for folder, count, names in rows:
            files = re.findall("`([^`]+)`", names)
            assert len(files) == int(count)
            found[title][folder] = [name if name == f"{folder}.py" else f"{folder}/{name}" for name in files]
    return found


def test_the_page_is_current():
    flows = script()
    assert flows.drawing() in TEXT, AGAIN
    page, traced = written(), {flow.title: flow for flow in flows.flows()}
    assert list(page) == list(traced), AGAIN
    for title, flow in traced.items():
        assert list(page[title]) == list(flow.folders), f"{title}: {AGAIN}"
        listed = {file for files in page[title].values() for file in files}
        assert {file for file in listed if not (flows.SOURCE / file).is_file()} == set(), AGAIN
        assert len(listed ^ set(flow.files)) <= 0.1 * len(listed), f"{title}: {AGAIN}"
        assert f"| {title} | {len(listed)} | {len(page[title])} |" in TEXT
    assert {flow.title: flow.work for flow in traced.values() if set(flow.work.values()) - {1}} == {}
    assert sum(traced["An answer"].work.values()) == 5  # two files opened, and what is in them read


def test_what_an_import_runs_is_not_counted(tmp_path):
    flows = script()
    flow = flows.watch("nothing", "", lambda: importlib.import_module("metricdp.metrics.toml"))
    assert flow.files == {}
    seen = flows.watch("one", "", lambda: metricdp.metrics.absolute()(1, 3))
    assert "metrics/metric.py" in seen.files
    assert set(seen.folders) <= {"metrics", "exact", "lazy"}


def test_a_file_that_only_hands_on_is_found(tmp_path):
    flows = script()
    (tmp_path / "a.py").write_text("def f(x):\n    from b import g\n    return g(x)\n")
    (tmp_path / "b.py").write_text("def g(x):\n    y = x + 1\n    return abs(y)\n")
    assert flows._only_forwards(tmp_path / "a.py", {"f"})
    assert not flows._only_forwards(tmp_path / "b.py", {"g"})
