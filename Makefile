# Every target does its own set-up: a machine with Python 3.11 or newer and make is enough.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
TESTABLE := $(VENV)/.testable
PIP := python -m pip install --quiet --disable-pip-version-check
INSTALL := $(BIN)/$(PIP) -c constraints.txt -e
# Packages whose files are the very ones that were tested; the package itself is built with what they bring.
LOCKED := $(BIN)/$(PIP) --require-hashes
OWN := $(BIN)/$(PIP) --no-deps --no-build-isolation -e .
# The lowest versions are tested on the lowest Python, where that is to be had.
LOWEST := .venv-lowest
LOWEST_PYTHON ?= $(shell command -v python3.11 || echo $(PYTHON))
# Modules keep to one process each, as the tests of one share what is costly to make.
PYTEST := python -m pytest -n 2 --dist loadscope -rs

.PHONY: demo test test-quick test-lowest lint bench audit lock clean

$(READY): pyproject.toml requirements.lock
	$(PYTHON) -m venv $(VENV)
	$(LOCKED) -r requirements.lock
	$(OWN)
	touch $(READY)

# torch without gigabytes of CUDA, where its own index can be reached; give TORCH_INDEX= for another build.
TORCH_INDEX ?= $(shell curl -sfI --max-time 5 https://download.pytorch.org/whl/cpu/ > /dev/null && \
	echo --extra-index-url https://download.pytorch.org/whl/cpu)

$(TESTABLE): $(READY) requirements-test.lock constraints.txt
	$(LOCKED) -r requirements-test.lock
	$(INSTALL) ".[train]" $(TORCH_INDEX)
	touch $(TESTABLE)

$(LOWEST)/.ready: pyproject.toml constraints-lowest.txt
	$(LOWEST_PYTHON) -m venv $(LOWEST)
	$(LOWEST)/bin/$(PIP) -c constraints-lowest.txt -e ".[test]"
	touch $@

demo: $(READY)
	$(BIN)/python -m declump.cli demo -o demo --overwrite

test: lint
	$(BIN)/$(PYTEST)

test-quick: $(TESTABLE)
	$(BIN)/$(PYTEST) -m "not slow and not data"

# Without torch, whose tests skip; with a cache of its own, as another numba would take the compiled kernels for stale.
test-lowest: $(LOWEST)/.ready
	NUMBA_CACHE_DIR=$(CURDIR)/$(LOWEST)/numba $(LOWEST)/bin/$(PYTEST)

lint: $(TESTABLE)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

bench: $(READY)
	$(BIN)/python benchmarks/speed.py

# Versions and licences of all that is installed, and a bill of materials.
audit: $(TESTABLE)
	$(BIN)/python tools/supply.py audit
	$(BIN)/python tools/supply.py bom

lock: $(TESTABLE)
	$(BIN)/python tools/supply.py lock

clean:
	rm -rf $(VENV) $(LOWEST) demo build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
