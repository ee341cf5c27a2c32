# Everything a developer does here. `make` alone lists the targets; nothing but Python 3.11+ has to be installed.

UV := sh tools/uv
RUN := $(UV) run --frozen
PACKAGES := packages/ldp-core packages/ldp-quality packages/ldp-orchestration packages/ldp-maintenance packages/ldp-cli
PYTEST_ARGS ?=

.DEFAULT_GOAL := help
.PHONY: help install lint format typecheck test test-pythons test-lowest crash-test integration demo bench build smoke docs docs-serve reference clean ci

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/\1|\2/' | awk -F'|' '{printf "  %-13s %s\n", $$1, $$2}'

# Tests start hundreds of processes; each is seconds faster with the bytecode of its libraries, and ours, at hand.
install test test-pythons test-lowest integration: export UV_COMPILE_BYTECODE := 1
test test-pythons test-lowest integration: export LDP_NO_SKIPS := 1
test test-pythons test-lowest integration: export LDP_SAME_EXAMPLES := 1

install: ## make .venv with the workspace and the tools
	$(UV) sync --frozen

lint: ## ruff, layers, declared dependencies, module sizes, tidiness
	$(RUN) ruff check .
	$(RUN) ruff format --check .
	$(RUN) lint-imports --no-cache
	for package in $(PACKAGES); do (cd $$package && sh ../../tools/uv run --frozen deptry src) || exit 1; done
	$(RUN) python tools/sizes.py
	$(RUN) python tools/tidy.py

format: ## format and mend what ruff can
	$(RUN) ruff format .
	$(RUN) ruff check --fix .

typecheck: ## mypy --strict
	$(RUN) mypy $(addsuffix /src,$(PACKAGES))

test: ## all tests that need Python alone
	$(RUN) python -m compileall -q packages/*/src
	$(RUN) pytest -n auto --maxprocesses 4 -m "not service" $(PYTEST_ARGS)

test-pythons: ## the tests of the packages on every other installed Python of 3.11 to 3.13
	$(RUN) python tools/pythons.py

test-lowest: ## and with the lowest versions of the direct dependencies
	$(RUN) python tools/lowest.py

crash-test: ## kill runs, ticks, backfills and upkeep N times at random moments, go on, count rows lost and doubled
	$(RUN) python tools/crash.py $(or $(N),100)
	$(RUN) python tools/crash_schedule.py $(or $(N),100)
	$(RUN) python tools/crash_maintain.py $(or $(N),100)

integration: ## install and start services on loopback, and test against them
	sh tools/services
	LDP_SERVICES=1 $(RUN) --group services pytest -m service $(PYTEST_ARGS)

demo: ## the main job, from end to end
	$(RUN) --no-default-groups --package ldp-cli ldp demo

bench: ## ratios of wall, CPU and memory to the naive way and to the bound (BENCH_ARGS)
	$(RUN) python benchmarks/bench.py $(BENCH_ARGS)

build: ## wheels and sdists into dist/
	rm -rf dist
	$(UV) build --all-packages --out-dir dist

smoke: build ## install the wheels alone and together in fresh environments, and use them
	$(RUN) python tools/smoke.py

reference: ## write the generated pages: configuration and command line
	$(RUN) python tools/reference.py

docs: ## build the site, strictly
	$(RUN) python tools/reference.py --check
	$(RUN) mkdocs build --strict

docs-serve: ## the site on a local port, rebuilt as you write
	$(RUN) mkdocs serve

clean: ## remove what builds and tests leave
	rm -rf dist build site .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache .coverage* .venv-*
	find . -name __pycache__ -type d -not -path './.venv*' -prune -exec rm -rf {} +

ci: lint typecheck test test-pythons test-lowest integration docs smoke ## all of it, as CI runs it
