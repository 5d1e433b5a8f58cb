"""The command: what the tour prints, as text and as JSON."""

import json
import math
import subprocess
import sys

import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import metricdp as mdp
from metricdp.cli import app
from metricdp.cli.console import spinner
from metricdp.cli.demo.table import sanitize_shipped
from metricdp.errors import MissingExtraError, OutOfDomainError

run = CliRunner().invoke


@pytest.fixture(autouse=True, scope="module")
def without_the_table():
    """The third part takes seconds, and one test of it is enough."""

    def missing(folder):
        raise MissingExtraError("pyarrow", "tables")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("metricdp.cli.demo.tour.sanitize_shipped", missing)
        yield


def test_the_table_is_sanitized_into_a_folder(tmp_path):
    made = sanitize_shipped(tmp_path / "demo")
    assert made.rows == 5630
    assert {path.name for path in (tmp_path / "demo").iterdir()} == {
        "before-and-after.png",
        "released.parquet",
        "report.html",
    }
    assert "income" in made.summary
    released = pq.read_table(made.table)
    assert released.num_rows == 5630
    assert "education" not in released.column_names


def test_without_the_libraries_for_tables_the_tour_says_how_to_get_them():
    assert "pip install 'metricdp[tables,plots]'" in run(app, ["demo"]).stdout


def facts(*arguments):
    result = run(app, ["demo", "--json", *arguments])
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)["result"]


@pytest.fixture(scope="module")
def seeded():
    return facts("--seed", "7")


def test_version_and_help():
    assert run(app, ["--version"]).output.strip() == f"metricdp {mdp.__version__}"
    assert "demo" in run(app, ["--help"]).output
    assert "--seed" in run(app, ["demo", "--help"]).output


def test_text_without_a_seed_says_nothing_of_not_private():
    output = run(app, ["demo"]).output
    assert "NOT PRIVATE" not in output
    for words in ("Brooklyn", "odds move at most", "mean income", "general_health", "-private"):
        assert words in output


def test_seeded_text_is_marked_loudly_and_is_the_same_each_time():
    first, second = (run(app, ["demo", "--seed", "7"]).output for _ in range(2))
    assert first == second
    assert first != run(app, ["demo", "--seed", "8"]).output
    assert first.count("NOT PRIVATE") >= 2, "at the top and at the bottom"


def test_seeded_json_is_marked(seeded):
    assert seeded["private"] is False
    assert seeded["seed"] == 7
    assert "NOT PRIVATE" in seeded["note"]
    assert seeded == facts("--seed", "7")


def test_json_without_a_seed_is_private_and_new_each_time():
    one, two = facts(), facts()
    assert one["private"] is True
    assert one["seed"] is None
    assert one["places"]["moved"] != two["places"]["moved"]


def test_text_and_json_say_the_same(seeded):
    text = run(app, ["demo", "--seed", "7"]).output
    for moved in seeded["places"]["moved"]:
        assert f"{moved['metres'] / 1000:.1f} km" in text
        assert "{:.4f}, {:.4f}".format(*moved["released"]) in text
    for candidate in seeded["places"]["adversary"]["candidates"]:
        assert f"{candidate['posterior']:.1%}" in text
    income = seeded["people"]["estimates"][0]
    assert f"${income['found']['value']:,.0f}" in text


def test_a_pipe_gets_plain_text_without_trailing_blanks():
    output = run(app, ["demo", "--seed", "7"]).output
    assert "\x1b" not in output
    assert all(line == line.rstrip() for line in output.splitlines())


@pytest.mark.parametrize("columns", [80, 120])
def test_fits_the_width(columns):
    output = run(app, ["demo", "--seed", "7"], env={"COLUMNS": str(columns)}).output
    assert max(map(len, output.splitlines())) <= min(columns, 100)


def test_distances_moved_are_those_of_the_map(seeded):
    distance = mdp.metrics.great_circle()
    for moved in seeded["places"]["moved"]:
        assert moved["metres"] == pytest.approx(distance(moved["secret"], moved["released"]))


def test_the_adversary_is_bayes_and_learns_no_more_than_promised(seeded):
    adversary = seeded["places"]["adversary"]
    candidates = adversary["candidates"]
    assert sum(candidate["prior"] for candidate in candidates) == pytest.approx(1)
    assert sum(candidate["posterior"] for candidate in candidates) == pytest.approx(1)
    secret = next(candidate for candidate in candidates if candidate["name"] == adversary["secret"])
    for candidate in candidates:
        before, after = (candidate[when] / secret[when] for when in ("prior", "posterior"))
        assert after / before == pytest.approx(candidate["odds"])
        assert candidate["bound"] == pytest.approx(2 ** (candidate["metres"] / 5000))
        assert abs(math.log(candidate["odds"])) <= math.log(candidate["bound"]) + 1e-9
    assert adversary["kept"] == adversary["pairs"] == len(candidates) * (len(candidates) - 1) // 2
    assert 0 < adversary["most_used"] <= 1 + 1e-9


def test_odds_are_those_of_the_guarantee(seeded):
    for odds in seeded["places"]["odds"]:
        assert odds["factor"] == pytest.approx(2 ** (odds["metres"] / 5000))
        assert odds["least"] + odds["most"] == pytest.approx(1)
        assert odds["most"] / odds["least"] == pytest.approx(odds["factor"])


def test_people_promise_the_sum_of_their_columns(seeded):
    people = seeded["people"]
    assert people["rows"] == 5630
    assert people["delta"] == 0
    assert all(column["name"] in people["guarantee"] for column in people["columns"])
    assert [round(pair["factor"], 6) for pair in people["pairs"]] == [round(math.sqrt(2), 6), 2, 8, 3072]
    promised = {column["name"]: [factor for _, factor in column["promises"]] for column in people["columns"]}
    assert promised["general_health"] == [2, 128]
    assert promised["health"] == [4]


@pytest.mark.long
def test_corrected_estimates_find_the_truth_where_face_values_do_not():
    """Over 20 seeds: the corrected figures are within their intervals, most of the time."""
    tours = [facts("--seed", str(seed))["people"]["estimates"] for seed in range(20)]
    hits = [
        fact["found"]["interval"][0] <= fact["truth"] <= fact["found"]["interval"][1] for tour in tours for fact in tour
    ]
    assert len(hits) == 20 * 8
    assert 0.88 <= sum(hits) / len(hits) < 1, "intervals hold 95 of 100, neither all nor few"
    biased = [fact for tour in tours for fact in tour if fact["label"].startswith("health")]
    assert all(abs(fact["found"]["naive"] - fact["truth"]) > fact["found"]["noise"] for fact in biased)


def test_an_expected_error_is_one_line(monkeypatch):
    def fail(seed, folder):
        raise OutOfDomainError("a latitude lies between -90 and 90 degrees", 3)

    monkeypatch.setattr("metricdp.cli.demo.tour.take_tour", fail)
    result = run(app, ["demo"])
    assert result.exit_code == 1
    assert result.stderr == "metricdp: row 3: a latitude lies between -90 and 90 degrees\n"
    assert result.stdout == ""


def test_a_missing_table_is_one_line(monkeypatch):
    monkeypatch.setattr(
        "metricdp.cli.demo.places.read_shipped", lambda name: (_ for _ in ()).throw(FileNotFoundError(name))
    )
    result = run(app, ["demo"])
    assert result.exit_code == 2
    assert result.stderr.startswith("metricdp: ")
    assert len(result.stderr.splitlines()) == 1


def test_a_bad_seed_is_refused():
    result = run(app, ["demo", "--seed", "many"])
    assert result.exit_code == 2
    assert "Traceback" not in result.output


def test_an_unexpected_error_shows_no_local_variables():
    assert app.pretty_exceptions_enable is False


def test_the_command_is_light_to_import():
    heavy = ["pandas", "numpy", "flint", "metricdp.mechanisms", "metricdp.exact"]
    code = f"import sys, metricdp.cli; print([name for name in {heavy} if name in sys.modules])"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert printed.strip() == "[]"


def test_no_spinner_outside_a_terminal(capsys):
    with spinner("drawing noise"):
        pass
    assert capsys.readouterr().err == ""
