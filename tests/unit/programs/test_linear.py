"""Linear programs: feasibility, complementarity and stationarity of what comes back, not just a value."""

import math
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest

from metricdp.errors import ArgumentError
from metricdp.programs import Basis, LinearProgram, Sparse, Status, linear, solution


def transport(seed, maximize=False):
    """A transport problem: random costs, fixed margins."""
    rng = np.random.default_rng(seed)
    rows, columns = 4, 5
    costs = rng.integers(1, 20, size=rows * columns).astype(float)
    matrix = np.zeros((rows + columns, rows * columns))
    for place in range(rows * columns):
        matrix[place // columns, place] = matrix[rows + place % columns, place] = 1
    right = np.array([5.0] * rows + [4.0] * columns)
    program = LinearProgram(maximize=maximize)
    program.add_columns(costs)
    program.add_rows(right, right, Sparse.of_dense(matrix))
    return program, costs, matrix, right


@pytest.mark.parametrize("method", ["choose", "simplex", "ipm"])
@pytest.mark.parametrize("maximize", [False, True])
def test_optimality_conditions(method, maximize):
    program, costs, matrix, right = transport(7, maximize)
    solution = program.solve(method=method)
    assert solution.optimal
    assert solution.status is Status.OPTIMAL
    sign = -1 if maximize else 1
    assert np.allclose(matrix @ solution.primal, right)
    assert solution.primal.min() >= -1e-9
    assert np.allclose(solution.reduced_costs, costs - matrix.T @ solution.duals)
    assert (sign * solution.reduced_costs).min() >= -1e-7
    assert np.abs(solution.primal * solution.reduced_costs).max() < 1e-6
    assert solution.objective == pytest.approx(costs @ solution.primal)
    assert solution.objective == pytest.approx(right @ solution.duals)


def test_the_same_twice():
    one, two = (transport(3)[0].solve() for _ in range(2))
    assert one.primal.tolist() == two.primal.tolist()
    assert one.basis == two.basis


def test_duals_price_a_row():
    program = LinearProgram()
    program.add_columns([2, 3])
    program.add_rows([4], math.inf, Sparse.of_dense([[1, 1]]))
    before = program.solve()
    program.change_row_bounds([0], [5], [math.inf])
    after = program.solve()
    assert after.objective - before.objective == pytest.approx(before.duals[0]) == 2


def test_infeasible_is_a_status_with_a_ray():
    program = LinearProgram()
    program.add_columns([1, 1])
    program.add_rows([-math.inf, 3], [1, math.inf], Sparse.of_dense([[1, 1], [1, 1]]))
    solution = program.solve(presolve=False)
    assert solution.status is Status.INFEASIBLE
    assert not solution.optimal
    # y M has no entry that x >= 0 could use, while its bounds contradict: y . (1, 3) has the other sign
    assert solution.ray is not None
    assert solution.ray.sum() == pytest.approx(0)
    assert solution.ray[1] * solution.ray[0] < 0


def test_unbounded_is_a_status_also_after_presolve():
    program = LinearProgram(maximize=True)
    program.add_columns([1, 0])
    program.add_rows([0], math.inf, Sparse.of_dense([[1, -1]]))
    assert program.solve().status is Status.UNBOUNDED


def test_time_limit_counts_from_each_solve():
    program, *_ = transport(1)
    first = program.solve(time_limit=60)
    again = program.solve(time_limit=60)
    assert first.optimal
    assert again.optimal
    rng = np.random.default_rng(5)
    large = LinearProgram(maximize=True)
    large.add_columns(rng.random(300))
    large.add_rows(-math.inf, 1, Sparse.of_dense(rng.random((300, 300))))
    assert large.solve(time_limit=1e-6).status is Status.TIME_LIMIT
    assert large.solve().optimal


def cutting_stock(warm):
    """Column generation for rolls of 100 cut into pieces: each round adds the pattern that the duals price best."""
    sizes, wanted = [45, 36, 31, 14], [97.0, 610.0, 395.0, 211.0]
    program = LinearProgram()
    program.add_rows(wanted, math.inf, Sparse.of([{}] * 4))
    program.add_columns(np.ones(4), entries=Sparse.of([{i: 100 // size} for i, size in enumerate(sizes)]))
    iterations = 0
    for _ in range(30):
        solution = program.solve(basis=None if warm else Basis((0,) * program.columns, (1,) * 4), presolve=False)
        iterations += solution.iterations
        value, pattern = best_pattern(sizes, solution.duals)
        if value <= 1 + 1e-9:
            return solution.objective, iterations
        program.add_columns([1], entries=Sparse.of([{i: count for i, count in enumerate(pattern) if count}]))
    raise AssertionError("no end")


def best_pattern(sizes, prices, room=100):
    best = [(0.0, ())] * (room + 1)
    for held in range(1, room + 1):
        options = [best[held - 1]]
        for place, size in enumerate(sizes):
            if size <= held:
                value, items = best[held - size]
                options.append((value + prices[place], (*items, place)))
        best[held] = max(options, key=lambda option: option[0])
    value, items = best[room]
    return value, [items.count(place) for place in range(len(sizes))]


def test_columns_added_to_a_live_program_start_warm():
    warm, cold = cutting_stock(True), cutting_stock(False)
    assert warm[0] == pytest.approx(452.25)  # the linear bound of Gilmore and Gomory's example
    assert cold[0] == pytest.approx(452.25)
    assert warm[1] < cold[1]


def test_rows_and_costs_changed_on_a_live_program():
    program = LinearProgram(maximize=True)
    program.add_columns([1, 1], upper=[3, 3])
    assert program.solve().objective == 6
    assert program.add_rows([-math.inf], [4], Sparse.of([{0: 1, 1: 1}])) == range(0, 1)
    assert program.solve().objective == 4
    program.change_costs([1], [5])
    solution = program.solve()
    assert solution.objective == 16
    program.change_column_bounds([1], [0], [1])
    assert program.solve().objective == 8
    program.change_column_bounds([1], [0], [3])
    back = program.solve(basis=solution.basis, presolve=False)
    assert back.iterations == 0
    assert back.objective == 16
    assert set(back.basis.basic_columns) == {0}


def test_small_entries_are_kept():
    program = LinearProgram()
    program.add_columns([1])
    program.add_rows([1e-10], math.inf, Sparse.of([{0: 1e-10}]))
    assert program.solve(presolve=False).objective == pytest.approx(1)


def test_a_process_whose_solver_has_more_threads():
    import highspy

    other = highspy.Highs()
    other.setOptionValue("output_flag", False)
    highspy.Highs.resetGlobalScheduler(True)
    other.setOptionValue("threads", 2)
    other.addVar(0.0, 1.0)
    other.run()
    try:
        program, *_ = transport(2)
        assert program.solve().optimal
    finally:
        highspy.Highs.resetGlobalScheduler(True)


def test_without_crossover_the_middle_of_the_optimal_points():
    program = LinearProgram()
    program.add_columns([1, 1])
    program.add_rows([1], [1], Sparse.of_dense([[1, 1]]))
    assert program.solve(method="ipm", presolve=False, crossover=False).primal == pytest.approx([0.5, 0.5], abs=1e-3)


@pytest.mark.parametrize(
    ("act", "error", "words"),
    [
        (lambda p: p.add_columns([math.nan]), ArgumentError, "a cost is not a finite number, at place 0"),
        (lambda p: p.add_columns([1, 2], lower=[0]), ArgumentError, "a lower bound is needed for each of 2"),
        (lambda p: p.add_columns([1], entries=Sparse.of([{9: 1}])), ArgumentError, "there is no row 9"),
        (lambda p: p.add_rows([0], [1], Sparse.of([{5: 1}])), ArgumentError, "there is no column 5: .* 0 to 1"),
        (lambda p: p.add_rows([0], [1], Sparse.of([{0: math.inf}])), ArgumentError, "an entry"),
        (lambda p: p.add_rows([0, 0], [1], Sparse.of([{0: 1}])), ArgumentError, "for each of 1"),
        (lambda p: p.change_costs([2], [1]), ArgumentError, "there is no column 2"),
        (lambda p: p.change_costs([0], [1, 2]), ArgumentError, "for each of 1"),
        (lambda p: p.solve(method="magic"), ArgumentError, "simplex"),
        (lambda p: p.solve(time_limit=0), ArgumentError, "time_limit"),
        (lambda p: p.solve(basis=Basis((1,), ())), ArgumentError, "1 columns and 0 rows .* of 2 and 1"),
        (lambda p: LinearProgram(tolerance=1e-12), ArgumentError, "tolerance"),
    ],
)
def test_bad_input(act, error, words):
    program = LinearProgram()
    program.add_columns([1, 1])
    program.add_rows([1], [2], Sparse.of([{0: 1.0}]))
    with pytest.raises(error, match=words):
        act(program)
    assert (program.columns, program.rows) == (2, 1)


def test_sparse_forms_agree():
    dense = Sparse.of_dense([[0, 2], [0, 0], [3, 4]])
    mapped = Sparse.of([{1: 2}, {}, {0: 3, 1: 4}])
    for name in ("starts", "places", "values"):
        assert getattr(dense, name).tolist() == getattr(mapped, name).tolist()
    assert len(Sparse.of([])) == 0


def test_the_codes_of_a_basis_are_those_of_the_solver():
    import highspy

    names = highspy.HighsBasisStatus
    assert tuple(map(int, (names.kLower, names.kBasic, names.kUpper))) == (
        solution._AT_LOWER,
        solution._BASIC,
        solution._AT_UPPER,
    )
    assert set(linear._STATUSES) <= {status.name for status in highspy.HighsModelStatus.__members__.values()}


def test_the_solver_is_loaded_by_the_first_program_alone():
    program = """
import sys
import metricdp.programs
print("highspy" in sys.modules)
metricdp.programs.LinearProgram()
print("highspy" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True"]


def test_an_interruptible_solve_gives_the_same():
    plain, threaded = LinearProgram(), LinearProgram()
    for program in (plain, threaded):
        program.add_columns([1, 2])
        program.add_rows([1], [1], Sparse.of_dense([[1, 1]]))
    assert threaded.solve(interruptible=True).primal.tolist() == plain.solve().primal.tolist()
    with pytest.raises(ArgumentError, match="method"):
        threaded.solve("magic", interruptible=True)


def test_an_interruption_does_not_wait_for_the_end_of_a_solve(monkeypatch):
    program = LinearProgram()
    program.add_columns([1.0])
    ends = threading.Event()
    monkeypatch.setattr(program, "_run", lambda: ends.wait(30))
    monkeypatch.setattr(linear, "_PATIENCE", 0.01)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.3, signal.raise_signal, [signal.SIGINT])
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            program.solve(interruptible=True)
    finally:
        signal.signal(signal.SIGINT, before)
        assert not ends.is_set()
        ends.set()
