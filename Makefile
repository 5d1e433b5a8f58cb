# Each target makes the environment it needs; nothing has to be active. `make help` lists them.

PYTHON ?= python3
VENV := .venv
BENCH := .venv-bench
export PYTHONDONTWRITEBYTECODE :=# modules are compiled once, whatever the shell says: tests start many processes
ALL_TESTS := -m 'long or not long'# also those that `make test` leaves out
PIP_INSTALL := -m pip install -qq --disable-pip-version-check

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo test long attack agree bench bench-channels bench-optimal bench-maps bench-kernels bench-queries bench-tables bench-estimates bench-audit bench-ledger ledger-kill coverage exam clean

help:  ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-15s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(VENV)/.package  ## a one-minute tour on real data
	@$(VENV)/bin/metricdp demo

test: $(VENV)/.dev  ## every check: ruff, mypy, import-linter, pytest with doctests
	@echo "== ruff check";          $(VENV)/bin/ruff check .
	@echo "== ruff format --check"; $(VENV)/bin/ruff format --check .
	@$(MAKE) --no-print-directory -j2 types tests  # side by side: mypy alone would leave a core idle for a minute
	@echo "== all checks passed"

.PHONY: types tests
types: $(VENV)/.dev
	@echo "== import-linter";       $(VENV)/bin/lint-imports --no-logo
	@echo "== mypy --strict";       $(VENV)/bin/mypy

tests: $(VENV)/.dev
	@echo "== pytest, doctests";    $(VENV)/bin/pytest

long: $(VENV)/.dev  ## the tests that `make test` leaves out because each takes many seconds: guides, kills, large sizes (ten minutes)
	@$(VENV)/bin/pytest -m long

attack: $(VENV)/.dev  ## the long form of tests/attacks, with other seeds each time (ten minutes)
	@METRICDP_ATTACK=8 $(VENV)/bin/pytest $(ALL_TESTS) tests/attacks tests/engines/test_kill.py

agree: $(VENV)/.dev  ## a million draws of each mechanism, quick path against ball arithmetic (minutes)
	@METRICDP_DRAWS=1000000 $(VENV)/bin/pytest $(ALL_TESTS) -n 2 tests/unit/mechanisms/test_agreement.py

bench: $(BENCH)/.ready  ## samples per second, ours beside the peers
	@$(BENCH)/bin/python benchmarks/sampling.py

bench-channels: $(BENCH)/.ready  ## verify, adversaries, refinement and releases of channels, beside qif
	@$(BENCH)/bin/python benchmarks/channels.py

bench-optimal: $(BENCH)/.ready  ## optimal mechanisms, beside solvers (an hour; python benchmarks/optimal.py --quick is short)
	@$(BENCH)/bin/python benchmarks/optimal.py

bench-maps: $(BENCH)/.ready  ## optimal mechanisms on maps, beside closed forms and solvers (two hours; --quick is short)
	@$(BENCH)/bin/python benchmarks/maps.py --peers

bench-kernels: $(BENCH)/.ready  ## vertices and kernels of paper 5's tables, beside ppl (ten minutes a cell at most)
	@$(BENCH)/bin/python benchmarks/kernels.py

bench-queries: $(BENCH)/.ready  ## noise shared among queries as in paper 4, and synthetic data (ten minutes; --quick is short)
	@$(BENCH)/bin/python benchmarks/queries.py
	@$(BENCH)/bin/python benchmarks/mwem.py

bench-tables: $(VENV)/.dev  ## rows per second of a sanitized table, beside a copy of the file
	@$(VENV)/bin/python benchmarks/tables.py
	@$(VENV)/bin/python benchmarks/tables.py --columns
	@$(VENV)/bin/python benchmarks/tables_spark.py

bench-estimates: $(BENCH)/.ready  ## errors of naive and corrected answers from released tables, beside peers (ten minutes; --repeats 20 is short)
	@$(BENCH)/bin/python $(PIP_INSTALL) multi-freq-ldpy==0.2.5 -e '.[tables,queries]'
	@$(BENCH)/bin/python benchmarks/estimates.py

bench-audit: $(BENCH)/.ready  ## the audit beside DP-Sniper's published numbers, its gallery, and peers (an hour)
	@$(BENCH)/bin/python benchmarks/audit.py

bench-ledger: $(BENCH)/.ready  ## what keeping account costs, beside OpenDP's filter (half an hour; --charges 50000 is short)
	@$(BENCH)/bin/python benchmarks/ledger.py

.PHONY: bench-service
bench-service: $(VENV)/.dev  ## released values a second over HTTP, charged durably, and how long answers take (half a minute)
	@$(VENV)/bin/python benchmarks/service.py

.PHONY: service-schema
service-schema: $(BENCH)/.ready  ## what the service's description allows and does not, by schemathesis: no 5xx (two minutes)
	@$(BENCH)/bin/python $(PIP_INSTALL) 'schemathesis>=4' -e '.[service]'
	@$(BENCH)/bin/python tests/attacks/service_schema.py

ledger-kill: $(VENV)/.dev  ## the ledger killed a thousand times at random moments, on SQLite and PostgreSQL, and the server fifty times (15 minutes)
	@METRICDP_LEDGER_KILLS=1000 METRICDP_LEDGER_SERVER_KILLS=50 $(VENV)/bin/pytest $(ALL_TESTS) -n 0 -s tests/engines/test_ledger_kill.py tests/engines/test_ledger_engines.py tests/engines/test_ledger_server_kill.py

coverage: $(VENV)/.dev  ## how often intervals of estimates hold the truth: a table (ten minutes)
	@$(VENV)/bin/python -m tests.statistical.coverage_cases 540

exam: $(VENV)/.dev  ## the audit's own exam: 1,000 runs on sound mechanisms, the whole gallery (an hour)
	@$(VENV)/bin/python -m tests.statistical.exam 1000
	@METRICDP_EXAM=1 $(VENV)/bin/pytest $(ALL_TESTS) tests/broken/test_gallery.py tests/statistical/test_audit.py

.PHONY: docs notebooks
docs: $(VENV)/.docs  ## the site, in docs/_build/index.html: no warning, no dead link, every name and picture described (two minutes)
	@$(VENV)/bin/python -m sphinx -q -W --keep-going -b html docs docs/_build
	@$(VENV)/bin/python docs/check_site.py docs/_build

notebooks: $(VENV)/.docs  ## the five notebooks of docs/notebooks run again, and the pictures of docs/concepts drawn again
	@$(VENV)/bin/python docs/notebook_files.py
	@$(VENV)/bin/python docs/pictures.py

.PHONY: papers
papers: $(VENV)/.dev  ## all items of the papers at reduced size, with their numbers checked, and docs/papers.md made anew
	@METRICDP_PAPERS=1 $(VENV)/bin/pytest $(ALL_TESTS) tests/papers/test_papers_command.py
	@$(VENV)/bin/metricdp papers --quick --out docs --overwrite >/dev/null && rm docs/papers.html docs/papers.json

clean:  ## remove environments, caches and build products
	rm -rf $(VENV) $(BENCH) build dist docs/_build docs/api docs/story_pages .hypothesis .mypy_cache .pytest_cache .ruff_cache .import_linter_cache
	find src tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +

# $(call make_venv,folder): a new virtual environment, refused with a hint where Python is too old.
define make_venv
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	    { echo "Python 3.11 or newer is needed, $(PYTHON) is older; try: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	@echo "== setting up $(1) (once)"
	@$(PYTHON) -m venv --clear $(1)
endef

$(VENV)/.package: pyproject.toml
	$(call make_venv,$(VENV))
	@$(VENV)/bin/python $(PIP_INSTALL) -e '.[tables,queries,plots]'
	@touch $@

$(VENV)/.docs: $(VENV)/.package
	@echo "== installing what makes the site (once)"
	@$(VENV)/bin/python $(PIP_INSTALL) -e '.[docs]'
	@touch $@

$(VENV)/.dev: $(VENV)/.package
	@echo "== installing the tools of the tests (once)"
	@$(VENV)/bin/python $(PIP_INSTALL) -e '.[dev]'
	@touch $@

$(BENCH)/.ready: pyproject.toml benchmarks/requirements.txt
	$(call make_venv,$(BENCH))
	@$(BENCH)/bin/python $(PIP_INSTALL) -r benchmarks/requirements.txt -e .
	@touch $@
