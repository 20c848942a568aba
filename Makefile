PYTHON ?= python3
HOST ?= 127.0.0.1
PORT ?= 4000
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
# Every package comes from the pinned, hashed lists; the package itself then installs without fetching anything.
# Compiling is left to the first import: most of what is installed is never imported.
LOCKED := $(PIP) install --quiet --no-compile --require-hashes
EDITABLE := $(PIP) install --quiet --no-deps --no-build-isolation --editable .

.DEFAULT_GOAL := help
.PHONY: help install run test clients compat faults recorded fuzz soak bench coverage check format audit lock lock-clients lock-compat clean

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

install: $(VENV)/.dev ## Create .venv with everything that development needs

run: $(VENV)/.run ## Start the gateway with the demo model, no key needed (HOST, PORT)
	@env -u LITELLM_MASTER_KEY $(BIN)/gateway-compaction serve \
		--config config/litellm.yaml --host $(HOST) --port $(PORT) --no-auth

test: $(VENV)/.dev ## Run all tests, real Redis and a real proxy included
	$(BIN)/python -m tests.run

# Clients whose requirements agree share an environment; none of them is in that of the gateway.
CLIENTS := .clients
# OpenHands needs Python 3.12: it is played where PYTHON312 names one.
PYTHON312 ?=
CLIENT_LISTS := kits openai2 aider $(if $(PYTHON312),openhands)
CLIENT_PROGRAMS := tests/clients/programs

clients: $(VENV)/.dev $(CLIENT_LISTS:%=$(CLIENTS)/%/.made) $(CLIENTS)/node/.made ## Play every client of docs/clients.md (npm needed)
	mkdir -p $(CLIENTS)/node/programs && cp $(CLIENT_PROGRAMS)/*.mjs $(CLIENTS)/node/programs/
	CLIENTS_HOME=$(CLIENTS) $(BIN)/python -m pytest tests/clients tests/e2e/test_kept_restarts.py

$(CLIENTS)/%/.made: requirements/clients/%.txt | $(BIN)/python
	$(if $(filter openhands,$*),$(PYTHON312),$(PYTHON)) -m venv $(CLIENTS)/$*
	$(CLIENTS)/$*/bin/python -m pip --disable-pip-version-check install --quiet --require-hashes -r $<
	@touch $@

# The install scripts of claude-code and opencode put the program of their own package for this machine in place.
# `npm ci` would insist on packages for other kinds of machines, which not every registry has.
$(CLIENTS)/node/.made: $(CLIENT_PROGRAMS)/package.json $(CLIENT_PROGRAMS)/package-lock.json
	mkdir -p $(CLIENTS)/node && cp $^ $(CLIENTS)/node/
	cd $(CLIENTS)/node && npm install --no-audit --no-fund
	@touch $@

# Each LiteLLM has an environment of its own (COMPAT_LISTS chooses among them). Another Python wants another folder:
# make compat PYTHON=python3.13 COMPAT=.compat-3.13
COMPAT ?= .compat
COMPAT_LISTS ?= litellm-1.108 litellm-1.109 litellm-1.110
COMPAT_TESTS ?= tests/e2e tests/admin/test_proxy.py tests/test_ask_again.py

compat: $(COMPAT_LISTS:%=$(COMPAT)/%/.made) ## Run the end-to-end tests on each LiteLLM that README names
	failed=; for list in $(COMPAT_LISTS); do echo "$$list"; \
		$(COMPAT)/$$list/bin/python -m pytest -q $(COMPAT_TESTS) || failed="$$failed $$list"; done; \
	[ -z "$$failed" ] || { echo "failed:$$failed"; exit 1; }

$(COMPAT)/%/.made: requirements/compat/%.txt
	$(PYTHON) -m venv $(COMPAT)/$*
	$(COMPAT)/$*/bin/python -m pip --disable-pip-version-check install --quiet --no-compile --require-hashes -r $<
	@touch $@

faults: $(VENV)/.dev ## Put every fault into a running gateway and write docs/reliability.md (half an hour)
	$(BIN)/python -m tests.faults

recorded: $(VENV)/.dev ## Play the conversations of ../shared/data through every door (RECORDED_SHARE, RECORDED_MINUTES)
	$(BIN)/python -m tests.recorded

fuzz: $(VENV)/.dev ## Play random steps against a model (FUZZ_STEPS, a million; FUZZ_MINUTES)
	$(BIN)/python -m tests.fuzz

soak: $(VENV)/.dev ## Let 64 clients talk to two replicas for ten minutes, and see that nothing grows (SOAK_MINUTES)
	$(BIN)/python -m tests.soak

coverage: $(VENV)/.dev ## Run the tests of core/, which cover every line and branch of it
	$(BIN)/python -m coverage run --branch --source gateway_compaction/core -m pytest -q tests/core tests/seeds tests/test_policy*.py
	$(BIN)/python -m coverage report --show-missing --fail-under=100

bench: $(VENV)/.dev ## Measure the CPU of the hook beside other tools into docs/benchmarks.md (two minutes; BENCH=--full)
	$(BIN)/python -m bench.hook $(BENCH) --json docs/benchmarks.json --markdown docs/benchmarks.md

check: $(VENV)/.dev ## Lint, check the format and the types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(VENV)/.dev ## Apply the format and the safe lint fixes
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# Hashes must be those of the public files, not of a local mirror's builds: hence no pip configuration.
COMPILE := env -u PIP_FIND_LINKS -u PIP_EXTRA_INDEX_URL PIP_CONFIG_FILE=/dev/null \
	CUSTOM_COMPILE_COMMAND="make lock" $(BIN)/pip-compile --quiet --no-config --generate-hashes \
	--allow-unsafe --strip-extras --no-emit-options --no-emit-index-url --no-emit-find-links \
	--no-emit-trusted-host $(LOCK_FLAGS)

lock: $(VENV)/.dev ## Rewrite the pinned requirements (LOCK_FLAGS=--upgrade to take newer releases)
	$(COMPILE) --output-file requirements/build.txt requirements/build.in
	$(COMPILE) --output-file requirements/run.txt pyproject.toml
	$(COMPILE) --extra dev --constraint requirements/run.txt --constraint requirements/build.txt \
		--output-file requirements/dev.txt pyproject.toml requirements/build.in

lock-clients: $(VENV)/.dev ## The same for the clients that make clients plays
	for list in $(CLIENT_LISTS); do \
		$(COMPILE) --output-file requirements/clients/$$list.txt requirements/clients/$$list.in || exit 1; done
	cd $(CLIENT_PROGRAMS) && npm install --package-lock-only --omit-lockfile-registry-resolved --no-audit --no-fund

lock-compat: $(VENV)/.dev ## The same for the LiteLLMs of make compat
	for list in $(COMPAT_LISTS); do \
		$(subst make lock,make lock-compat,$(COMPILE)) --output-file requirements/compat/$$list.txt \
			requirements/compat/$$list.in requirements/compat/gateway.in requirements/build.in || exit 1; done

# pip-audit stands in an environment of its own, so that what it needs is none of our pins.
AUDIT := .audit

audit: $(AUDIT)/bin/pip-audit ## Ask PyPI's advisory database for holes in the pins (the internet is needed)
	for list in run dev; do \
		$(AUDIT)/bin/pip-audit --disable-pip --require-hashes --requirement requirements/$$list.txt || exit 1; done

$(AUDIT)/bin/pip-audit:
	$(PYTHON) -m venv $(AUDIT)
	$(AUDIT)/bin/python -m pip --disable-pip-version-check install --quiet pip-audit

clean: ## Remove .venv, caches and build output
	rm -rf $(VENV) $(CLIENTS) $(COMPAT) $(AUDIT) build dist htmlcov .coverage .hypothesis .mypy_cache .pytest_cache .ruff_cache *.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "Python 3.11 or newer is needed; name one with PYTHON=…"; exit 1; }
	$(PYTHON) -m venv $(VENV)

# The stamps are newer than the lists they were made from, so that each set-up runs once.
$(VENV)/.build: requirements/build.txt | $(BIN)/python
	$(LOCKED) -r requirements/build.txt
	@touch $@

$(VENV)/.run: requirements/run.txt pyproject.toml $(VENV)/.build
	@echo "Installing the gateway (about a minute, once)"
	$(LOCKED) -r requirements/run.txt
	$(EDITABLE)
	@touch $@

$(VENV)/.dev: requirements/dev.txt pyproject.toml $(VENV)/.build
	@echo "Installing the gateway and the development tools (about a minute, once)"
	$(LOCKED) -r requirements/dev.txt
	$(EDITABLE)
	@touch $(VENV)/.run $@
