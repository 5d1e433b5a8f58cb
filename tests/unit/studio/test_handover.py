import json
import shlex

import pyarrow.parquet as pq
import pytest

from metricdp.studio.handover import command_text, notebook_text

POLICY = (
    'format = 2\n[columns]\nname = "drop"\n[columns.age]\ntype = "integer"\nwithin = "5 years"\nmissing = "refuse"\n'
)


def cells(text):
    return ["".join(cell["source"]) for cell in json.loads(text)["cells"] if cell["cell_type"] == "code"]


def test_the_notebook_does_the_same(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.csv").write_text("name,age\nAnn,31\nBob,47\n")
    names = {}
    for cell in cells(notebook_text("people.csv", POLICY)):
        exec(cell, names)
    assert pq.read_table("released.parquet").num_rows == 2
    assert "age" in capsys.readouterr().out


@pytest.mark.parametrize("policy", [POLICY, "# it's\n", "a = '''x'''\n", 'a = "\\\\d"\n', "# \u202e\n", "", "x'"])
def test_the_policy_in_it_is_the_same_to_the_letter(policy):
    names = {}
    code = cells(notebook_text("t.csv", policy))[0].replace("policy = mdp.policies.Policy.parse(POLICY)", "")
    exec(code, names)
    assert names["POLICY"] == policy


def test_it_is_a_notebook():
    tree = json.loads(notebook_text("t.csv", POLICY))
    assert (tree["nbformat"], tree["nbformat_minor"]) == (4, 5)
    assert len({cell["id"] for cell in tree["cells"]}) == len(tree["cells"])


def test_names_of_files_are_quoted():
    assert shlex.split(command_text("a b; rm -rf '$HOME'.csv"))[2] == "a b; rm -rf '$HOME'.csv"
