# The commands of this repository. `make help` lists them.
JOBS ?= $(shell nproc)
FUZZ_SECONDS ?= 60
# Modes for `make test-vllm`; empty: all that the binary has.
VLLM_MODES ?=
# How much of `make test-full` is run.
KILLS ?= 1000
SEEDS ?= 1000
TURNS ?= 1000000
SOAK_TURNS ?= 1000000
# Arguments for `make simulate`; `build/release/tests/simulate --help` says which there are.
SIMULATE_ARGS ?=
BIN := build/release/verbatim

.DEFAULT_GOAL := help
.PHONY: help install-deps test-deps build demo test test-full test-vllm dynamo-upstream test-agents test-fast lint format sanitize asan-ubsan tsan fuzz simulate bench mutate clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-15s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: ## install what is missing, build, and watch a token-exact tool conversation
	@scripts/install-deps.sh build
	@$(MAKE) --no-print-directory build
	$(BIN) demo

test: test-deps ## everything that must pass before a change is merged
	@JOBS=$(JOBS) scripts/run-tests.sh

test-full: test ## and more of the same: 1,000 x kill -9 under load, a soak of a million turns, a million simulated; hours
	@KILLS=$(KILLS) SEEDS=$(SEEDS) TURNS=$(TURNS) SOAK_TURNS=$(SOAK_TURNS) scripts/run-tests.sh full

test-vllm: build test-deps ## conversations through a real vLLM on the CPU; installs 6 GB into .venv-vllm
	@scripts/engines/vllm/install.sh .venv-vllm
	VLLM_MODES="$(VLLM_MODES)" .venv/bin/python -m pytest -q --durations=5 tests/vllm

dynamo-upstream: build test-deps ## cassettes, their replays, and the same turns on real Dynamo frontends; a part of test
	@scripts/run-tests.sh upstream

test-agents: build test-deps ## opencode, Codex CLI and OpenAI's Node SDK as they are; installs 640 MB into .venv-opencode, -codex, -openai-node, with npm
	@for name in opencode codex openai-node; do scripts/agents/install.sh $$name .venv-$$name || exit; done
	.venv/bin/python -m pytest -q tests/e2e/test_opencode.py tests/e2e/test_codex.py tests/e2e/test_openai_node.py

test-fast: test-deps ## formatting, layout, build and unit tests
	@JOBS=$(JOBS) scripts/run-tests.sh fast

build: build/release/build.ninja ## build/release/verbatim
	@cmake --build --preset release -j $(JOBS)

build/%/build.ninja:
	@cmake --preset $*

lint: ## clang-format, layout rules, shellcheck, Python syntax, clang-tidy; warnings are errors
	@scripts/install-deps.sh build lint
	@JOBS=$(JOBS) scripts/run-tests.sh lint

format: ## format the sources
	@scripts/format.sh

sanitize: asan-ubsan tsan ## unit tests under address + undefined behaviour, then thread sanitizer

asan-ubsan tsan:
	@scripts/install-deps.sh build sanitize
	@$(MAKE) --no-print-directory build/$@/build.ninja
	@cmake --build --preset $@ -j $(JOBS)
	@symbolizer=external_symbolizer_path=$$(command -v llvm-symbolizer-19); \
	ASAN_OPTIONS=$$symbolizer:strict_string_checks=1 UBSAN_OPTIONS=$$symbolizer:print_stacktrace=1 \
	TSAN_OPTIONS=$$symbolizer:second_deadlock_stack=1 \
	ctest --test-dir build/$@ --output-on-failure --no-tests=error --timeout 1200 -j $(JOBS)

fuzz: ## each fuzz target for FUZZ_SECONDS (60)
	@scripts/install-deps.sh build fuzz
	@$(MAKE) --no-print-directory build/fuzz/build.ninja
	@cmake --build --preset fuzz -j $(JOBS)
	@JOBS=$(JOBS) scripts/fuzz.sh $(FUZZ_SECONDS)

simulate: build ## whole gateway on simulated time, network and disk, by seeds
	build/release/tests/simulate $(SIMULATE_ARGS)

mutate: ## each rule that answers are proved by, and those of cassettes, taken out: do the tests notice? Needs an hour
	@scripts/install-deps.sh build
	@scripts/mutate.py --jobs $(JOBS)

bench: ## the benchmarks, and the comparisons with peers
	@scripts/install-deps.sh build bench
	@$(MAKE) --no-print-directory build test-deps build/bench/build.ninja
	@cmake --build --preset bench -j $(JOBS)
	@scripts/bench.sh

install-deps: ## the Debian packages for build, lint and tests
	@scripts/install-deps.sh

test-deps: ## what `make test` needs: packages, .venv, two of Dynamo, models
	@scripts/install-deps.sh
	@scripts/test-deps.sh

clean: ## remove build/ (models/ and each .venv stay)
	rm -rf build
