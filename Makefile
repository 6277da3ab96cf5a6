# Every target does its own set-up: a machine with Python 3.11 or newer and make is enough.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
TESTABLE := $(VENV)/.testable
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e

.PHONY: demo test lint bench clean

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(INSTALL) .
	touch $(READY)

$(TESTABLE): $(READY)
	$(INSTALL) ".[test,train]"
	@# The report is tested in a real browser where one can be had; elsewhere those tests skip.
	-@command -v chromedriver >/dev/null || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null \
		&& apt-get install -y -qq --no-install-recommends chromium chromium-driver >/dev/null 2>&1; } || true
	touch $(TESTABLE)

demo: $(READY)
	$(BIN)/python -m declump.cli demo -o demo --overwrite

test: lint
	$(BIN)/python -m pytest -n 2

lint: $(TESTABLE)
	$(BIN)/ruff check src tests benchmarks
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

bench: $(READY)
	$(BIN)/python benchmarks/speed.py

clean:
	rm -rf $(VENV) demo build dist
