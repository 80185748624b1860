# What a developer runs; `make help` lists it. Needs Python 3.11 or newer and make, no compiler.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
LOCK := $(BIN)/pip-compile --quiet --strip-extras --generate-hashes --allow-unsafe --no-header --no-annotate \
	--no-emit-index-url --no-emit-trusted-host --no-emit-find-links

.DEFAULT_GOAL := help
.PHONY: help setup demo test check fmt format lint types layers lock lock-check bench oracle proto clean

help: ## Say what can be made
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(READY) ## Install everything into .venv, from the lock files

$(READY): requirements.lock requirements-dev.lock pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed: make PYTHON=…")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-dev.lock
	PYTHONWARNINGS=ignore $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --editable .
	@touch $@

demo: $(READY) ## Write a table, serve it, scan it, show where the time goes
	@$(BIN)/flightsrv demo

test: $(READY) ## Run the tests, on all cores
	$(BIN)/pytest --numprocesses auto --quiet

check: format lint types layers test ## All that a commit must pass

fmt: $(READY) ## Format the sources
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix --quiet .

format: $(READY) ## Check the format
	$(BIN)/ruff format --check .

lint: $(READY) ## Check the style
	$(BIN)/ruff check .

types: $(READY) ## Check the types
	$(BIN)/mypy

layers: $(READY) ## Check that imports go one way
	$(BIN)/lint-imports

lock: $(READY) ## Bring the lock files up to date with pyproject.toml; what fits stays
	$(LOCK) --output-file requirements.lock pyproject.toml
	$(LOCK) --output-file requirements-dev.lock --extra dev --constraint requirements.lock pyproject.toml

lock-check: $(READY) ## Check that the lock files are up to date with pyproject.toml
	@mkdir -p .cache/lock && cp requirements.lock requirements-dev.lock .cache/lock
	@$(LOCK) --output-file .cache/lock/requirements.lock pyproject.toml
	@$(LOCK) --output-file .cache/lock/requirements-dev.lock --extra dev --constraint requirements.lock pyproject.toml
	@diff -u requirements.lock .cache/lock/requirements.lock && diff -u requirements-dev.lock .cache/lock/requirements-dev.lock

bench: $(READY) ## Measure against pyarrow's server and cqlite
	$(BIN)/python -m flightsrv.lab.bench

oracle: $(READY) ## Let a real Cassandra node judge; needs Java 17 and Maven
	$(BIN)/pytest -m oracle

proto: $(READY) ## Generate flight_pb2.py anew
	$(BIN)/python -m grpc_tools.protoc -I. --python_out=. --pyi_out=. flightsrv/server/flight.proto

clean: ## Remove what was made, but for .venv and .cache
	rm -rf build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -not -path './.venv/*' -prune -exec rm -rf {} +
