# From a bare checkout with Python 3.11 and make: `make reproduce` and `make test` set themselves up.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
DOCS_VENV := .venv-docs
OUT ?= out
# The authors' own strings, for the exact edition, where they lie beside the checkout; AUTHORS_DATA=DIR names another place.
AUTHORS_DATA ?= $(wildcard ../shared/authors-data)
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check

# The tests start hundreds of processes: without its bytecode each would compile the package anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: reproduce test test-long test-cluster test-explorer test-install proofs test-proofs test-torch lint coverage audit-offline audit soak bench docs lock clean

# The paper: its theorems, step by step, and its whole experiment. A run that was interrupted goes on.
reproduce: $(VENV)/ready
	mkdir -p $(OUT)
	$(BIN)/tallystick prove > $(OUT)/theorems.txt
	$(BIN)/tallystick reproduce --resume --out $(OUT)/reproduction $(if $(AUTHORS_DATA),--authors-data $(AUTHORS_DATA))
	@tail -n 1 $(OUT)/theorems.txt

# Tests with a step of their own, and a plugin that only they use and that takes every process seconds to load.
# Playwright keeps an event loop running from its first test on, so the browser comes last.
EXPLORER := $(addprefix tests/explore/test_,any_input.py command.py connections.py workers.py) tests/browser
APART := $(addprefix --ignore=,$(EXPLORER) tests/cluster tests/proofs) -p no:schemathesis

test: $(VENV)/ready
	$(BIN)/python -m pytest -n auto --dist worksteal -m 'not long' $(APART)

# What takes long: the whole experiment on a few seeds, and many cases where the tests above take a few. Only the files that have
# such tests are read.
LONG = $(filter-out $(EXPLORER) $(addsuffix /%,tests/browser tests/cluster tests/proofs),$(shell grep -rl --include='test_*.py' 'mark\.long' tests))
test-long: $(VENV)/ready
	$(BIN)/python -m pytest -n auto --dist worksteal -m long --durations 20 -p no:schemathesis $(LONG)

# Runs on a cluster of processes, some of which are killed.
test-cluster: $(VENV)/ready
	$(BIN)/python -m pytest -p no:schemathesis tests/cluster

# The explorer in a real browser, asked anything, and with clients and workers that fail it. Needs Debian's package chromium.
test-explorer: $(VENV)/ready
	$(BIN)/python -m pytest $(EXPLORER)

# The wheel in a fresh environment, as a user without the extras gets it, then with the extra train. Needs the network.
test-install: $(VENV)/ready
	bash .ci/install

# The theorems in Coq: compiles every file, prints what each theorem rests on, and builds the proven checker. Needs Debian's packages
# coq, libcoq-flocq, libcoq-mathcomp-algebra, libzarith-ocaml-dev and ocaml-findlib, and no setup.
proofs:
	$(PYTHON) proofs/check.py

# That Coq refuses them once they are changed, and that the proven checker agrees with the one in Python. The proofs are no
# prerequisite: with several jobs make would begin all other targets before it came to the tests, which would then run alone.
test-proofs: $(VENV)/ready
	$(MAKE) --no-print-directory proofs
	$(BIN)/python -m pytest -p no:schemathesis tests/proofs

# The training loop against PyTorch, and the baselines of the measurements against the training loop.
NUMBA := tests/test_bench.py::test_numba_trains_to_the_same_weights
test-torch: $(VENV)/torch
	$(BIN)/python -m pytest -n auto --dist worksteal -p no:schemathesis tests/pytorch $(NUMBA)

lint: $(VENV)/ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright

# Branches of the package that the tests go through, in every process that they start; docs/reliability.md says what is left.
coverage: $(VENV)/torch
	mkdir -p $(OUT)/coverage
	$(BIN)/coverage erase
	$(BIN)/coverage run -m pytest -n auto --dist worksteal --ignore tests/proofs
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report --fail-under 95

# What is handed out and what it rests on: the archives, licences, a bill of materials.
audit-offline: $(VENV)/ready
	$(BIN)/python audit/packages.py dist
	$(BIN)/python audit/licences.py $(OUT)/audit/licences.md
	$(BIN)/python audit/sbom.py $(OUT)/audit/sbom.json

# The same, and what needs the network: the lowest and newest versions that are allowed, in environments of their own, and known
# vulnerabilities. Its last step ends with 3 where a version could not be asked about, and says which.
audit: audit-offline
	$(BIN)/python audit/versions.py
	$(BIN)/python audit/vulnerabilities.py

# Every promise of docs/reliability.md at length: most of an hour on two cores. Ends with the figures.
soak: $(VENV)/torch
	$(BIN)/python soak/run.py

# Every measurement, on whatever devices there are; docs/performance.md has the tables.
bench: $(VENV)/torch
	mkdir -p $(OUT)/bench
	for suite in languages certificates limits contenders; do \
		$(BIN)/python -m benchmarks.run --suite $$suite --out $(OUT)/bench/$$suite.json --force || exit; \
	done
	for suite in training settings scaling; do \
		$(BIN)/python -m benchmarks.run --suite $$suite --out $(OUT)/bench/$$suite.json \
			--figure $(OUT)/bench/$$suite.svg --force || exit; \
	done

# In an environment of its own, a small one: the core's libraries and the site's, and the package as it stands here.
docs: $(DOCS_VENV)/ready
	NO_MKDOCS_2_WARNING=1 PYTHONPATH=src $(DOCS_VENV)/bin/mkdocs build --strict --quiet

$(DOCS_VENV)/ready: requirements-docs.txt
	$(PYTHON) -m venv --clear $(DOCS_VENV)
	$(DOCS_VENV)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-docs.txt
	touch $@

# Installs exactly what requirements.txt pins, each file checked against its hash.
$(VENV)/ready: requirements.txt pyproject.toml
	$(PYTHON) -m venv --clear $(VENV)
	$(PIP) --require-hashes -r requirements.txt
	$(PIP) --no-deps --no-build-isolation --editable .
	touch $@

$(VENV)/torch: $(VENV)/ready requirements-torch.txt
	$(PIP) -r requirements-torch.txt
	touch $@

# Renews the pins. Needs uv on the path; the results name no download address. PyTorch and numba have a file of their
# own, requirements-torch.txt, renewed by hand: builds of PyTorch differ from place to place.
COMPILE = uv pip compile pyproject.toml --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header
lock:
	$(COMPILE) --extra dev --output-file requirements.txt
	$(COMPILE) --extra docs --constraint requirements.txt --output-file requirements-docs.txt

clean:
	rm -rf $(VENV) $(DOCS_VENV) $(OUT) dist site $(foreach dir,proofs proofs/checker,$(addprefix $(dir)/,*.vo *.vok *.vos *.glob .*.aux)) proofs/checker/build
