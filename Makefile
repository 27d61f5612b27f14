# Everything a clone needs. Each target sets up what it uses and may be run again at any time.
# Needs: a Rust toolchain (rustup), Python 3.11 or later, a C compiler.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
SHELL  := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

export PATH := $(if $(CARGO_HOME),$(CARGO_HOME),$(HOME)/.cargo)/bin:$(PATH)
export PYO3_PYTHON := $(CURDIR)/$(BIN)/python
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PIP_QUIET := 1
# `maturin develop` installs into this environment, whatever is active outside.
export VIRTUAL_ENV := $(CURDIR)/$(VENV)
unexport CONDA_PREFIX
# Images of containers often set it. Each of some hundred processes of the tests would compile the package anew.
unexport PYTHONDONTWRITEBYTECODE

say = @printf '\n\033[1m== %s\033[0m\n' "$(1)"

.PHONY: help
help: ## Say what can be made
	@echo "fadeout: make targets"
	@grep -hE '^[a-z][a-z-]*:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 18 | sed 's/^/  /'

# --- what the others need -------------------------------------------------------------------

$(BIN)/python:
	@command -v cargo >/dev/null || { echo "cargo was not found: install Rust from https://rustup.rs"; exit 1; }
	@command -v $(PYTHON) >/dev/null || { echo "$(PYTHON) was not found: install Python 3.11 or later, or set PYTHON=..."; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "$(PYTHON) is older than 3.11: set PYTHON=python3.12, say"; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.maturin: | $(BIN)/python
	$(BIN)/python -m pip install --quiet 'maturin>=1.16,<2'
	@touch $@

$(VENV)/.zig: | $(VENV)/.maturin
	$(BIN)/python -m pip install --quiet 'maturin[zig]>=1.16,<2'
	@touch $@

# Extras beside those of development, as `.ci/run` sets them.
FADEOUT_EXTRAS ?=

$(VENV)/.tools: pyproject.toml tools/requirements.py | $(BIN)/python
	$(BIN)/python -m pip install --quiet --requirement <($(BIN)/python tools/requirements.py dev docs $(FADEOUT_EXTRAS))
	@touch $@

.PHONY: build
build: $(VENV)/.maturin ## Build the native module and install the package into .venv
	$(call say,build)
	$(BIN)/maturin develop --quiet

# --- for users ------------------------------------------------------------------------------

.PHONY: demo
demo: build ## Run one example: its table, what it shows, the paths of its figure and report
	$(call say,fadeout run blockage)
	$(BIN)/fadeout run blockage --out out/demo --force
	@echo
	@echo "The study of this example has a paper's table beside ours (about two minutes on two cores):"
	@echo "  $(BIN)/fadeout study blockage --quick --seeds 8 --out out/study-blockage"

# `PGO=` builds without the runs of tools/pgo_training.py, in a third of the time. `ZIG=` links with the C library
# of this machine instead of glibc 2.17.
PGO := 1
ZIG := $(if $(filter Linux,$(shell uname -s)),--zig --compatibility manylinux2014)
HOST = $(shell rustc -vV | sed -n 's/^host: //p')
PROFILE := $(CURDIR)/target/pgo

.PHONY: wheel
wheel: $(VENV)/.zig $(if $(PGO),profile) ## Build a wheel into dist/, for machines without Rust; PGO= for a faster build
	$(call say,wheel)
	@# maturin finds zig by the Python of the path.
	PATH="$(CURDIR)/$(BIN):$$PATH" RUSTFLAGS="$(if $(PGO),-Cprofile-use=$(PROFILE)/merged.profdata)" \
		$(BIN)/maturin build --release --locked --target $(HOST) --out dist $(ZIG)
	@ls dist/*.whl

# The wheel that records the profile runs on this machine only. So it needs no zig, whose linker refuses options of
# the profiler.
.PHONY: profile
profile: $(VENV)/.maturin
	$(call say,profile)
	rustup component add llvm-tools
	rm -rf $(PROFILE)
	$(PYTHON) -m venv $(PROFILE)/venv
	RUSTFLAGS="-Cprofile-generate=$(PROFILE)/raw" \
		$(BIN)/maturin build --release --locked --target $(HOST) --compatibility linux --out $(PROFILE)/wheel
	$(PROFILE)/venv/bin/python -m pip install --quiet $(PROFILE)/wheel/*.whl
	$(PROFILE)/venv/bin/python tools/pgo_training.py
	$$(rustc --print sysroot)/lib/rustlib/$(HOST)/bin/llvm-profdata merge --output $(PROFILE)/merged.profdata $(PROFILE)/raw

# The platform tag, and the symbols of the C library.
.PHONY: check-wheel
check-wheel: $(VENV)/.maturin ## Check the symbols of the wheel in dist/ and install it into an empty environment
	$(BIN)/python -m pip install --quiet auditwheel
	$(BIN)/python tools/check_wheel.py dist

# --- checks ---------------------------------------------------------------------------------

# A crate to check alone: `make check CRATE=radio`, `make test CRATE=radio`.
CRATE ?=
PACKAGE := $(if $(CRATE),--package fadeout-$(CRATE),--workspace)
# Benchmarks have no tests. Their dependencies would change the features of those of `make build`,
# and have half of them compiled twice.
TESTED := $(if $(CRATE),--package fadeout-$(CRATE),--workspace --exclude fadeout-benches)

.PHONY: check
check: $(VENV)/.tools check-format check-lint check-prose check-types ## Format, lint, prose, types; CRATE=radio for one crate

# The stages that need no Rust test run beside those that do: on two cores the one fills the
# pauses of the other. `tools/stages.py` prints the time of each and stops at the first failure.
.PHONY: test
ifeq ($(CRATE),)
test: $(VENV)/.tools ## Run every check; CRATE=radio for the Rust tests of one crate
	$(BIN)/python tools/stages.py
else
test: $(BIN)/python
	cargo test --package fadeout-$(CRATE) --locked --quiet
endif

.PHONY: check-format
check-format: $(VENV)/.tools
	cargo fmt --all --check
	$(BIN)/ruff format --check --quiet python tests/python tools docs

.PHONY: check-lint
check-lint: $(VENV)/.tools
	cargo clippy $(PACKAGE) --all-targets --locked --quiet -- -D warnings
	$(BIN)/ruff check --quiet python tests/python tools docs

.PHONY: check-prose
check-prose: $(VENV)/.tools
	$(BIN)/python tools/prose.py

.PHONY: check-commits
check-commits: $(BIN)/python
	$(BIN)/python tools/commit_form.py --history

# The version whose output and configuration `deny.toml` is for.
CARGO_DENY := 0.20.2

.PHONY: check-licences
check-licences:
	@cargo deny --version 2>/dev/null | grep -q ' $(CARGO_DENY)$$' \
		|| cargo install --quiet --locked --debug cargo-deny --version $(CARGO_DENY)
	cargo deny --log-level error check licenses bans sources
	@if cargo deny --log-level error fetch db >/dev/null 2>&1; \
	then cargo deny --log-level error check --disable-fetch advisories; \
	else echo "skipped: security advisories (their database cannot be reached)"; fi

# The four crates for users, and those that they need.
.PHONY: check-crates
check-crates: $(BIN)/python ## Package the crates that are published, and build each from its package
	cargo package --workspace --locked $(foreach crate,benches browser capture packetdrill python testkit,--exclude fadeout-$(crate))

# The oldest compiler: `rust-version` of Cargo.toml.
MSRV := $(shell sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)

.PHONY: check-msrv
check-msrv: $(BIN)/python ## Check the code with the oldest compiler that is supported
	rustup toolchain install $(MSRV) --profile minimal
	cargo +$(MSRV) check --workspace --locked

CARGO_SEMVER_CHECKS := 0.51.0

# Compares with the last tag. A version before 1.0 may break interfaces with its second number.
.PHONY: check-semver
check-semver: ## Compare the interfaces of the crates for users with the last release
	@tag=$$(git describe --tags --abbrev=0 --match 'v*' 2>/dev/null) || { echo "skipped: there is no tag v*"; exit 0; }; \
	cargo semver-checks --version 2>/dev/null | grep -q ' $(CARGO_SEMVER_CHECKS)$$' \
		|| cargo install --quiet --locked cargo-semver-checks --version $(CARGO_SEMVER_CHECKS); \
	cargo semver-checks --baseline-rev "$$tag" --package fadeout-core --package fadeout-congestion \
		--package fadeout-transport --package fadeout

.PHONY: check-targets
check-targets: $(BIN)/python $(VENV)/.zig ## Compare the fingerprints of all examples with WebAssembly, 64-bit ARM and musl
	$(BIN)/python tools/targets.py

.PHONY: check-rust
check-rust: $(BIN)/python
	cargo test $(TESTED) --locked --quiet

.PHONY: check-rust-docs
check-rust-docs: $(BIN)/python
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --locked --quiet

.PHONY: check-types
check-types: $(VENV)/.tools
	$(BIN)/pyright --warnings

.PHONY: check-docs
check-docs: $(VENV)/.tools
	@# A killed build leaves pages without the index of the search, of which Sphinx warns.
	@test -e docs/_build/check/searchindex.js || rm -rf docs/_build/check
	$(BIN)/sphinx-build --quiet --fail-on-warning --keep-going -t check -b html docs docs/_build/check

.PHONY: check-python
check-python: $(VENV)/.tools
	$(BIN)/python -m pytest --quiet --numprocesses auto --dist worksteal --ignore tests/python/test_packaging.py

# It builds a wheel, so it waits while another cargo runs. Among the tests above it kept one of two
# workers waiting.
.PHONY: check-packaging
check-packaging: $(VENV)/.tools
	FADEOUT_PACKAGING=1 $(BIN)/python -m pytest --quiet tests/python/test_packaging.py

.PHONY: hooks
hooks: ## Install the hook that checks the form of commit messages
	git config core.hooksPath tools/hooks
	@echo "installed: git runs tools/hooks/commit-msg on each commit"

# --- the rest -------------------------------------------------------------------------------

CASES ?= 100000
# Other cases each time; the line that a failing test prints has its own.
SEED  := $(or $(SEED),$(shell date +%s))

.PHONY: soak
soak: $(if $(CRATE),$(BIN)/python,build $(VENV)/.tools) ## Run the random tests with CASES cases each (100,000) from SEED; CRATE=transport for one crate
	$(call say,random tests with $(CASES) cases each from seed $(SEED))
	FADEOUT_CASES=$(CASES) FADEOUT_SEED=$(SEED) cargo test --locked --quiet \
		$(if $(CRATE),--package fadeout-$(CRATE),--workspace)
ifeq ($(CRATE),)
	FADEOUT_CASES=$(CASES) FADEOUT_SEED=$(SEED) $(BIN)/python -m pytest --quiet --numprocesses auto \
		tests/python/test_random_scenarios.py
endif

# What .cargo/mutants.toml says of timeouts and outputs is for this version.
CARGO_MUTANTS := 27.1.0

.PHONY: mutants
mutants: ## Mutation tests of a crate: CRATE=transport, FILE='tcp/*.rs' for some files, SHARD=0/8 for a part
	@test -n "$(CRATE)" || { echo "which crate? make mutants CRATE=transport [FILE='tcp/*.rs'] [SHARD=0/8]"; exit 2; }
	@cargo install --list | grep -q '^cargo-mutants v$(CARGO_MUTANTS):' \
		|| cargo install --quiet --locked cargo-mutants --version $(CARGO_MUTANTS)
	@mkdir -p out/mutants-$(CRATE)
	$(call say,mutants of $(CRATE))
	cargo mutants --package fadeout-$(CRATE) $(if $(FILE),--file 'crates/$(CRATE)/src/$(FILE)') \
		$(if $(SHARD),--shard $(SHARD)) --output out/mutants-$(CRATE) $(MUTANTS)

# As gungraun in benches/Cargo.toml.
GUNGRAUN := 0.20.0

.PHONY: bench-tools
bench-tools: $(BIN)/python
	@if command -v valgrind >/dev/null && ! cargo install --list | grep -q '^gungraun-runner v$(GUNGRAUN):'; \
	then cargo install --quiet --locked gungraun-runner --version $(GUNGRAUN); fi

.PHONY: bench
bench: bench-tools ## Measure speed; fails when an instruction count grew
	$(call say,benchmarks)
	$(BIN)/python tools/bench.py

.PHONY: bench-accept
bench-accept: bench-tools ## Make the instruction counts of now the accepted ones
	$(call say,instruction counts)
	$(BIN)/python tools/bench.py --accept

.PHONY: docs
docs: build $(VENV)/.tools ## Build the documentation: pages are carried out, figures drawn
	$(BIN)/sphinx-build --quiet --fail-on-warning --keep-going -b html docs docs/_build/html
	@echo "documentation: docs/_build/html/index.html"

.PHONY: playground
playground: $(BIN)/python ## Build the page that simulates in a browser into docs/_build/extra/playground
	$(BIN)/python tools/playground.py docs/_build/extra/playground

.PHONY: check-playground
check-playground: build $(VENV)/.tools playground ## Build that page, and compare its runs with this machine's in Chromium
	FADEOUT_PLAYGROUND=$(CURDIR)/docs/_build/extra/playground $(BIN)/python -m pytest --quiet tests/python/test_playground.py

# Name of the version in the site, such as v0.2.0.
VERSION := main

.PHONY: docs-site
docs-site: playground docs ## Build the documentation as one version of a site: docs/_build/site; VERSION=v0.2.0
	$(BIN)/python tools/docs_site.py docs/_build/site --version $(VERSION)

.PHONY: notebooks
notebooks: $(BIN)/python ## Make the notebooks of the tutorial anew
	$(BIN)/python docs/notebooks.py

STUDIES := blockage calibration congestion-controls fallback inter-rat-handover link-retransmission \
	mobility multipath quic slow-start vehicular

.PHONY: study-docs
study-docs: $(VENV)/.maturin ## Run all studies and put their reports into the docs; goes on after an interruption
	@# The studies take 4.5 hours of a processor. `make build` keeps assertions, which take more.
	$(BIN)/maturin develop --release --quiet
	@set -e; for study in $(STUDIES); do \
		printf '\n\033[1m== study %s\033[0m\n' "$$study"; \
		$(BIN)/fadeout study "$$study" --out "out/study-$$study" --force --keep-runs; \
	done
	$(BIN)/python tools/study_docs.py $(STUDIES)

.PHONY: schema
schema: build ## Write schemas/scenario.schema.json anew
	@mkdir -p schemas
	$(BIN)/fadeout schema --out schemas/scenario.schema.json --force

.PHONY: standards
standards: $(BIN)/python ## Put clauses into the form `Standard:` and write docs/standards.md anew
	$(BIN)/python tools/standards.py --fix

.PHONY: tables
tables: build ## Write python/fadeout/_tables.py anew, from the tables that there are
	$(BIN)/python tools/tables.py

.PHONY: fmt
fmt: $(VENV)/.tools ## Format the code
	cargo fmt --all
	$(BIN)/ruff format python tests/python tools docs
	$(BIN)/ruff check --fix --quiet python tests/python tools docs

.PHONY: clean
clean: ## Remove what was built; results in out/ stay
	rm -rf $(VENV) target docs/_build docs/generated
