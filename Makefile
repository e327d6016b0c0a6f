# Bare `make` lists the targets. Everything runs from a virtual environment in .venv.

PYTHON ?= python3
BIN := .venv/bin
CODE := controller display firmware mock_gpio tests
READY := .venv/.ready
PYTEST = $(BIN)/python -m pytest -n 2

.DEFAULT_GOAL := help
.PHONY: help setup booting debian lint check format test bench clean

help: ## list the targets
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

setup: $(READY) ## make .venv with the project and its tools installed

$(READY): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' || { \
	  echo "Feltlink needs Python 3.11, 3.12 or 3.13; run: make setup PYTHON=python3.11"; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || $(MAKE) --no-print-directory debian PACKAGES=python3-venv
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@$(MAKE) --no-print-directory booting
	@touch $(READY)

# The units in systemd/ are verified, and booted in a container, where these are installed. Without
# them those tests are skipped and say so.
booting:
	@command -v systemd-analyze >/dev/null && command -v systemd-nspawn >/dev/null \
	  || $(MAKE) --no-print-directory debian PACKAGES="systemd systemd-container" \
	  || echo "Going on without: the tests of the systemd units will be skipped."

# Debian packages by name: installed where we may, named where we may not.
debian:
	@if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  apt-get update -qq && apt-get install -y -qq --no-install-recommends $(PACKAGES) >/dev/null; \
	elif command -v sudo >/dev/null && command -v apt-get >/dev/null && sudo -n true 2>/dev/null; then \
	  sudo apt-get update -qq && sudo apt-get install -y -qq --no-install-recommends $(PACKAGES) >/dev/null; \
	else \
	  echo "These Debian packages are missing; ask an administrator to install: $(PACKAGES)"; exit 1; \
	fi

lint: setup ## format, lint, types, import contracts, generated documents
	$(BIN)/ruff format --check --quiet $(CODE)
	$(BIN)/ruff check --quiet $(CODE)
	$(BIN)/mypy --no-error-summary
	$(BIN)/lint-imports --no-logo
	$(BIN)/python -m tests.requirements_table --check

check: lint ## lint, and the unit and property tests: a minute
	$(PYTEST) tests/unit tests/property

format: setup ## put the code into house format, and the generated documents up to date
	$(BIN)/ruff check --quiet --fix $(CODE)
	$(BIN)/ruff format --quiet $(CODE)
	$(BIN)/python -m tests.requirements_table
	$(BIN)/python -m tests.round_diagram

test: lint ## every test, with branch coverage of the domain of at least 98 %
	$(PYTEST) tests/unit tests/property --cov=controller.domain --cov-branch --cov-fail-under=98
	$(PYTEST) tests/contract tests/scenarios tests/simulation

bench: setup ## benchmarks as ratios against a bare baseline; writes build/bench.json
	$(BIN)/python -m tests.bench.run

clean: ## remove .venv and everything that was built
	rm -rf .venv build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
