"""The conventions of every public signature and result, checked for all public names at once."""

import copy
import importlib
import inspect
import pickle
import pkgutil
import typing
from pathlib import Path

import pandas as pd
import pytest

import metricdp
import metricdp as mdp
from metricdp.errors import ArgumentError, DataError, TooLargeError

SOURCE = Path(metricdp.__file__).parent
FOLDERS = sorted(one.name for one in pkgutil.iter_modules([str(SOURCE)]) if one.ispkg and not one.name.startswith("_"))
PUBLIC = [
    (folder, name, getattr(importlib.import_module(f"metricdp.{folder}"), name))
    for folder in FOLDERS
    for name in importlib.import_module(f"metricdp.{folder}").__all__
]
FUNCTIONS = [pytest.param(thing, id=f"{folder}.{name}") for folder, name, thing in PUBLIC if inspect.isfunction(thing)]
ORDER = ["prior", "channel", "mechanism", "space", "loss", "gain"]
OPTIONS = {"gap", "time_limit", "progress", "overwrite", "confidence"}
LONG = [
    "adversaries.corner_priors",
    "adversaries.regular",
    "adversaries.shannon_capacity",
    "audit.audit",
    "channels.refines",
    "design.capacity",
    "design.compare",
    "design.decompose",
    "design.kernels",
    "design.least_scale",
    "design.optimal",
    "design.tight_constraints",
    "design.universally_optimal",
    "design.vertices",
    "queries.allocate",
    "queries.ask",
    "queries.mwem",
    "queries.sensitivity",
    "queries.small_database",
]
"""What can take more than a second."""
BOUNDED = [
    "adversaries.shannon_capacity",
    "design.capacity",
    "design.least_scale",
    "design.optimal",
    "queries.allocate",
]
"""Those of them whose answer is an interval that closes in."""
SECRET = {"Histogram", "Totals"}
"""What is private itself, and has no form for programs."""


def required(function):
    return [one for one in inspect.signature(function).parameters.values() if one.default is one.empty]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_what_is_required_comes_in_one_order_under_full_words(function):
    found = [ORDER.index(one.name) for one in required(function) if one.name in ORDER]
    assert found == sorted(found), inspect.signature(function)
    letters = {name for name in inspect.signature(function).parameters if len(name) == 1} - {"p"}
    if function.__module__.startswith("metricdp.plots"):
        letters -= {"x", "y"}  # what is written at the axes
    assert not letters, "no letter of a paper, but the p of a norm"


@pytest.mark.parametrize("function", FUNCTIONS)
def test_options_are_given_by_name(function):
    allowed = {("queries", "confidence"), ("sources", "overwrite")}  # the file that exists is what is asked about
    for name, one in inspect.signature(function).parameters.items():
        if name in OPTIONS and (function.__module__.split(".")[1], name) not in allowed:
            assert one.kind is one.KEYWORD_ONLY, f"{name} of {function.__qualname__}"


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_switch_is_given_by_name(function):
    for name, one in inspect.signature(function).parameters.items():
        if isinstance(one.default, bool) and (function.__module__.split(".")[1], name) != ("sources", "overwrite"):
            assert one.kind is one.KEYWORD_ONLY, f"{name} of {function.__qualname__}"


@pytest.mark.parametrize("name", LONG)
def test_what_can_take_long_can_be_watched_and_stopped(name):
    folder, _, function = name.partition(".")
    known = inspect.signature(getattr(importlib.import_module(f"metricdp.{folder}"), function)).parameters
    assert {"time_limit", "progress"} <= set(known)
    assert ("gap" in known) or name not in BOUNDED


def returned(function):
    """The classes of the package that a function is annotated to return."""
    try:
        hint = typing.get_type_hints(function)["return"]
    except NameError:  # of what is imported for type checkers alone
        return []
    inner = typing.get_args(hint) if not inspect.isclass(hint) else ()
    return [one for one in (hint, *inner) if inspect.isclass(one) and one.__module__.startswith("metricdp.")]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_results_have_a_form_for_people_notebooks_and_programs(function):
    from metricdp.exact.results import Result
    from metricdp.metrics import Released

    for kind in returned(function):
        if issubclass(kind, Result | Released) or (kind.__name__ not in SECRET and hasattr(kind, "to_json")):
            assert callable(kind.to_json)
            assert callable(kind._repr_html_)
            assert kind.__str__ is not object.__str__ or kind.__repr__ is not object.__repr__


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_public_function_is_shown_at_work(function):
    if not function.__module__.startswith("metricdp.service"):  # its guide shows it, with a server that runs
        assert ">>>" in (function.__doc__ or ""), f"{function.__module__}.{function.__qualname__} has no example"


STAFF = pd.DataFrame({"age": [31, 47]})
RULES = {"format": 2, "records": 2, "columns": {"age": {"type": "integer", "within": 5, "bounds": [0, 99]}}}
LOSS_WANTED, PRIOR_WANTED, SPACE_WANTED = "a Loss is wanted", "a Prior is wanted", "space|Space|points"


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda bad: mdp.adversaries.as_loss("bin", bad), "list of inputs"),
        (lambda bad: mdp.adversaries.as_gain("bin", bad), "list of inputs"),
        (lambda bad: mdp.adversaries.greatest_ratio(bad, bad), PRIOR_WANTED),
        (lambda bad: mdp.adversaries.is_trivial(bad), LOSS_WANTED),
        (lambda bad: mdp.adversaries.lifted(bad, "ab"), LOSS_WANTED),
        (lambda bad: mdp.adversaries.restricted(bad, "ab"), LOSS_WANTED),
        *(
            (lambda bad, family=family: getattr(mdp.adversaries, family)([0, 1], bad), "at least one individual")
            for family in (
                "knowing_others",
                "knowing_others_within",
                "knowing_within",
                "replacing_value",
                "substituting_all_values",
                "substituting_values",
            )
        ),
        (lambda bad: mdp.adversaries.hidden(mdp.channels.random_channel("ab", "xy"), bad), "a Mapping is wanted"),
        (lambda bad: mdp.adversaries.replacing_value(bad, 1), "list of values"),
        (lambda bad: mdp.design.continuous(bad, (0, 1)), "a Metric is wanted"),
        (lambda bad: mdp.integrations.register_duckdb(bad, {}), "a DuckDB connection is wanted"),
        (lambda bad: mdp.plots.trade_off_figure(bad), "a TradeOff is wanted"),
        (lambda bad: mdp.papers.items_of([bad]), "the papers 1 to 5"),
        (lambda bad: mdp.estimates.foresee({}, "select count(*)", bad), "number of rows"),
        (lambda bad: mdp.estimates.iterative_bayesian_update([bad], [["x"]]), "are numbers"),
        (lambda bad: mdp.Space.line(bad), "the number of points is a whole number"),
        (lambda bad: mdp.Space.grid(2, bad), "the number of columns is a whole number"),
        (lambda bad: mdp.metrics.absolute().diameter(bad), "a list of points is needed"),
        (lambda bad: mdp.metrics.absolute().violation(bad), "a list of points is needed"),
        (lambda bad: mdp.metrics.absolute().enclosures(bad), "a list of points is needed"),
        (lambda bad: mdp.Metric.from_toml(bad), "a str is wanted"),
        (lambda bad: mdp.Session(STAFF, RULES).ask_together(bad), "a list of questions is needed"),
        (lambda bad: mdp.tables.sanitize(STAFF, RULES, out=bad or 5), "path"),
        (lambda bad: mdp.queries.ask(STAFF, RULES, "select count(*) from t")[bad], r"there are: count\(\*\)"),
        (lambda bad: mdp.metrics.taxonomy(pd.DataFrame({"a": [bad]})), "mapping"),
        (lambda bad: mdp.policies.read_select(bad, bad), "a str is wanted"),
        (lambda bad: mdp.queries.statistical(len, bad, 3), SPACE_WANTED),
        (lambda bad: mdp.queries.attribute_averages(bad, 3), SPACE_WANTED),
        (lambda bad: mdp.queries.marginal(bad), "names one or more columns"),
        (lambda bad: mdp.sources.digest(bad), "path of a file"),
        (lambda bad: mdp.sources.read_channel(bad), "path of a file"),
        (lambda bad: mdp.sources.write_channel(bad, bad), "path of a file"),
        (lambda bad: mdp.sources.check_output(bad, False), "path of a file"),
    ],
)
@pytest.mark.parametrize("bad", [None, 1.5])
def test_a_wrong_argument_is_told_what_is_wanted(call, words, bad):
    with pytest.raises((ArgumentError, DataError), match=words):
        call(bad)


def test_counts_that_no_space_has():
    with pytest.raises(ArgumentError, match="the number of bits is not negative, and -1 is"):
        mdp.Space.bits(-1)
    with pytest.raises(TooLargeError, match="no list holds that many points"):
        mdp.Space.line(10**30)


def test_one_distance_is_explained_too():
    K = mdp.laplace(mdp.metrics.absolute())
    assert K.explain(2) == K.explain([2])
    assert K.guarantee.explain(0.5) == K.guarantee.explain([0.5])
    with pytest.raises(ArgumentError, match="a list of distances is needed"):
        K.explain(object())


SPACE = mdp.Space.line(3, mdp.ln(2) * mdp.metrics.absolute())


@pytest.mark.parametrize(
    ("make", "shown"),
    [
        (lambda: mdp.design.capacity(SPACE), lambda found: (found.multiplicative, found.multiplicative_channel)),
        (lambda: mdp.design.kernels(SPACE), lambda found: [kernel.matrix.tolist() for kernel in found]),
        (lambda: mdp.design.vertices(SPACE), lambda found: [str(vertex) for vertex in found]),
        (lambda: mdp.design.optimal(SPACE), lambda found: (found, found.loss)),
        (lambda: mdp.design.tight_constraints(SPACE), str),
        (lambda: mdp.design.least_scale(SPACE), str),
        (lambda: mdp.channels.verify(mdp.channels.random_channel([0, 1, 2], "ab"), SPACE), str),
    ],
)
@pytest.mark.parametrize("again", [copy.deepcopy, lambda result: pickle.loads(pickle.dumps(result))])
def test_a_result_outlives_its_process(make, shown, again):
    result = make()
    assert shown(again(result)) == shown(result)
    assert repr(again(result)) == repr(result)
