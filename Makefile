# From a bare checkout with Python 3.11 and make: `make reproduce` and `make test` set themselves up.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
OUT ?= out

.PHONY: reproduce test lint docs lock clean

# The theory's part of the paper: every theorem, step by step, with the solver's word on each.
reproduce: $(VENV)/ready
	$(BIN)/tallystick prove

test: $(VENV)/ready
	$(BIN)/python -m pytest -n auto

lint: $(VENV)/ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright

docs: $(VENV)/ready
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

# Installs exactly what requirements.txt pins, each file checked against its hash.
$(VENV)/ready: requirements.txt pyproject.toml
	$(PYTHON) -m venv --clear $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	touch $@

# Renews the pins. Needs uv on the path; the result names no download address.
lock:
	uv pip compile pyproject.toml --extra prove --extra dev --universal --python-version 3.11 \
		--generate-hashes --no-emit-index-url --no-header --output-file requirements.txt

clean:
	rm -rf $(VENV) $(OUT) dist site
