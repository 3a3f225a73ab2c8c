# Needs make, a C compiler, Rust (rustup fetches the version of rust-toolchain.toml) and
# Python >= 3.11 with venv. `make help` lists what there is.

ROOT := $(shell cd "$$(dirname "$$(echo '$(MAKEFILE_LIST)' | sed 's/^ *//')")" && pwd -P)

ifneq ($(CURDIR),$(ROOT))
# Called from another folder, as in `make -f path/to/Makefile test`: go there first.
.PHONY: all $(MAKECMDGOALS)
all $(MAKECMDGOALS):
	@$(MAKE) --no-print-directory -C "$(ROOT)" $(filter-out all,$@)
else

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help
MAKEFLAGS += --no-builtin-rules

# The first interpreter that is new enough; another may be named: make PYTHON=python3.13 build
PYTHON ?= $(shell for python in python3 python3.14 python3.13 python3.12 python3.11; do \
	"$$python" -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))' \
	2>/dev/null && echo "$$python" && break; done)
# By path and not by activation, so that blanks in the path do no harm.
BIN := .venv/bin
INSTALL := PYTHON="$(PYTHON)" scripts/install.sh
STAGES := MAKE="$(MAKE)" "$(PYTHON)" scripts/stages.py
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export CARGO_TERM_COLOR ?= auto

# The modules that tables declare in macros, where rustfmt does not look.
TABLED := $(wildcard crates/laws/src/growth/*.rs crates/laws/src/idle/*.rs crates/laws/src/start/*.rs crates/tcp/src/recovery/*.rs crates/net/src/queue/*.rs crates/net/src/parts/*.rs crates/net/src/parts/channel/*.rs crates/net/src/parts/jitter/*.rs crates/net/src/parts/aggregation/*.rs crates/app/src/application/*.rs)
RUST_SOURCES := Cargo.toml Cargo.lock $(shell find crates -name '*.rs' -o -name Cargo.toml -o -path '*/bpf/*')
PACKAGE_SOURCES := pyproject.toml $(wildcard README.md LICENSE-*) \
	$(shell find python/ackclock -type f -not -path '*/__pycache__/*' -not -name '*.so' -not -name THIRD-PARTY-NOTICES)
SOURCES := $(RUST_SOURCES) $(PACKAGE_SOURCES)
# The second package, in Python alone: studies and suites.
STUDIES_SOURCES := studies/pyproject.toml $(wildcard studies/README.md studies/LICENSE-*) \
	$(shell find studies/ackclock_studies -type f -not -path '*/__pycache__/*')
STUDIES_WHEEL := $(BIN)/python -m flit_core.wheel studies --outdir
PYTHON_FILES := conftest.py python studies scripts
# The Cargo profile of `make build`. Compiled dependencies of `dev` serve the tests, too.
PROFILE ?= dev
TEST_FLAGS ?=
PYTEST := $(BIN)/python -m pytest
SAMPLE ?= 60
# The loader of laws in the kernel (crates/kernel) is built where libelf's and zlib's headers are; without them, and in
# `make wheels`, everything else is, and `ackclock kernel` says what is missing.
LOADER := $(if $(shell pkg-config --exists libelf zlib 2>/dev/null && echo yes),--features loader)
# Whose code a wheel carries; it is made for each.
NOTICES := python/ackclock/THIRD-PARTY-NOTICES
# What is given to others does not name the builder's folders. A build for this machine does: flags of its own would
# compile all that the tests use once more.
UNNAMED := --remap-path-prefix=$(or $(CARGO_HOME),$(HOME)/.cargo)=/cargo
UNNAMED_HERE := --remap-path-prefix=$(ROOT)=/ackclock
RUST_TESTS := --workspace --locked $(LOADER) --lib --bins --tests
# Those of them that send real packets; what they cannot do here is shown.
LIVE_TESTS = $(RUST_TESTS) -- --ignored --show-output --skip timed::
# The Cargo profile of `make wheels`.
WHEELS_PROFILE ?= release
# `make wheel` builds the engine twice: first to count which branches are common, then with those counts
# (decision 32). `make LEARN=off wheel` leaves the first build out.
LEARN ?= on
ifeq ($(LEARN),on)
LEARNED := target/profile/ackclock.profdata
endif

# Wheels carry the page of `ackclock serve` and the view of notebooks, which Node.js builds in a few seconds;
# `make PAGE=off wheel` leaves them out.
PAGE ?= on
ifeq ($(PAGE),on)
PAGE_MADE := dist/.page
endif
PAGE_SOURCES := $(wildcard web/*.json web/*.html web/vite*.ts) $(shell find web/src web/lessons -type f)

# Wheels for others are linked by zig (requirements/wheel.txt), which knows the symbols of older C libraries and of the
# other processor: they run with glibc 2.28 and later.
GLIBC := manylinux_2_28
ARCHITECTURES := x86_64 aarch64

.PHONY: help
help: ## This list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | expand -t 12

.PHONY: build
build: .venv/.studies ## .venv with the command .venv/bin/ackclock (no link-time optimisation)

.PHONY: wheel
wheel: dist/.built dist/.studies ## dist/*.whl, core and studies, for machines as new as this one without Rust: optimised across crates, from a profile

# A target of its own, and not in CI: each of them takes ten minutes on two cores.
.PHONY: wheels
wheels: $(ARCHITECTURES:%=dist/wheels/.%) dist/wheels/.studies ## dist/wheels/*.whl: x86-64 and arm64, glibc 2.28 and later, without a profile

.PHONY: test-wheel
test-wheel: wheel ## Install the wheels without Rust in a new environment, and run a study with it
	PYTHON="$(PYTHON)" PAGE="$(PAGE)" scripts/test_wheel.sh dist

.PHONY: demo
demo: build ## Reproduce the study altman1997 with few seeds, and say where its report lies
	@$(BIN)/ackclock reproduce altman1997 --quick --out report/altman1997
	@echo
	@echo "The report: $(ROOT)/report/altman1997/index.html. All seeds, some minutes: $(BIN)/ackclock reproduce altman1997"

.PHONY: web
web: ## The page for browsers, in web/dist: one file for any web server, or to be opened (needs Node.js)
	scripts/web.sh build

# The stages of `make test`, and those that `make test-all` adds (scripts/stages.py; their budgets: ci/budget.toml).
MOST := tools lint-text compile lint-code test-rust test-python
REST := test-slow test-web test-timed test-live test-linux site test-installed

.PHONY: test
test: ## Lints, types, the Rust tests, and the Python tests but for those that `test-all` adds
	@$(STAGES) $(MOST)

.PHONY: test-all
test-all: ## The same, and the page in Chromium, real packets, the clock, slow studies, beginnings, the site, the wheel
	@$(STAGES) $(MOST) $(REST)

.PHONY: test-rest
test-rest: ## The stages that `test-all` adds to `test`
	@$(STAGES) $(REST)

.PHONY: test-crate
test-crate: ## The tests of one crate, in seconds: make test-crate C=net
	cargo test --package ackclock-$(C) --locked $(TEST_FLAGS)

.PHONY: tools
tools: .venv/.dev ## .venv with the pinned packages

.PHONY: compile
compile: build ## The Rust tests and the package, in one compilation
	cargo test $(RUST_TESTS) --no-run

.PHONY: lint-text
lint-text: .venv/.dev ## The checks that compile nothing: formatting, words, the law of dependence
	cargo fmt --all --check
	rustfmt --edition 2024 --check $(TABLED)
	cargo fmt --manifest-path fuzz/Cargo.toml --check
	$(BIN)/python scripts/check_layers.py
	$(BIN)/python scripts/check_rooms.py
	$(BIN)/python scripts/map.py --check
	$(BIN)/python scripts/check_names.py
	$(BIN)/python scripts/check_dependencies.py
	$(BIN)/python scripts/check_writes.py
	$(BIN)/python scripts/check_words.py
	$(BIN)/python scripts/check_commits.py
	$(BIN)/python scripts/check_studies.py
	scripts/audit.sh
	$(BIN)/ruff check $(PYTHON_FILES)
	$(BIN)/ruff format --check $(PYTHON_FILES)
	$(BIN)/typos

.PHONY: lint
lint: lint-text lint-code ## Formatting, lints, types, words, the law of dependence

.PHONY: lint-code
lint-code: .venv/.dev build ## The checks that compile: Clippy, the documents of the crates, types
	cargo clippy --workspace --all-targets --locked $(LOADER) -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --locked $(LOADER)
	$(BIN)/python scripts/generate_scenario.py --check
	$(BIN)/python scripts/generate_tables.py --check
	$(BIN)/basedpyright
	cd python/tests && ../../$(BIN)/python -m mypy.stubtest ackclock._core

.PHONY: test-rust
test-rust: ## The Rust tests but for those that need root or the machine's clock
	cargo test $(RUST_TESTS) $(TEST_FLAGS)
	cargo test --workspace --locked $(LOADER) --doc

.PHONY: test-web
test-web: build ## The page in Chromium, and WebAssembly against native; skipped without Node.js or Chromium
	LOADER="$(LOADER)" scripts/web.sh test

.PHONY: test-installed
test-installed: build ## The package that was tested, with pip and without Rust, and all commands of the documents
	PYTHON="$(PYTHON)" scripts/test_wheel.sh target/wheels

.PHONY: test-notebook
test-notebook: web .venv-lab/.installed ## The view of notebooks in JupyterLab (a minute; not in CI: it needs 300 MB more)
	cd web && JUPYTER_LAB="$(ROOT)/.venv-lab/bin/jupyter-lab" npx playwright test notebook.spec.ts

.PHONY: test-python
test-python: .venv/.dev build ## The Python tests that need neither long nor root nor the machine's clock
	$(PYTEST) -m "not live and not slow and not linux" --numprocesses=auto --dist=worksteal

.PHONY: test-slow
test-slow: .venv/.dev build ## The Python tests that take long
	$(PYTEST) -m "slow and not live and not linux" --numprocesses=auto --dist=worksteal

.PHONY: test-timed
test-timed: ## The tests that judge the machine's clock: names with `timed::`, and nothing beside them
	cargo test $(RUST_TESTS) -- --ignored --show-output timed::

.PHONY: test-live
test-live: .venv/.dev build ## The tests of real packets and of the kernel; they need root
	@# Once more where one failed: the machine may have stopped a path for a while.
	cargo test $(LIVE_TESTS) || cargo test $(LIVE_TESTS)
	$(PYTEST) -m "live and untimed" --reruns 1 --numprocesses=4
	$(PYTEST) -m "live and not untimed" --reruns 2 --numprocesses=2

.PHONY: test-linux
test-linux: .venv/.dev build ## The tests on a kernel in virtual time; skipped where none lies in the cache
	$(PYTEST) -m linux --numprocesses=auto --dist=worksteal

.PHONY: soak
soak: ## The random tests with new cases, fifty times as many (some minutes)
	PROPTEST_CASES=12800 cargo test --workspace --lib --locked $(TEST_FLAGS)
	ACKCLOCK_HOSTILE_RUNS=100000 cargo test --package ackclock-script --test hostile_path --locked $(TEST_FLAGS)
	ACKCLOCK_HOSTILE=50000 ACKCLOCK_HOSTILE_SEED=$$RANDOM cargo test --package ackclock-lab --test hostile --locked $(TEST_FLAGS)

.PHONY: mutants
mutants: .venv/.dev ## The share of mutations that tests notice; SAMPLE=60 of them (an hour)
	$(BIN)/python scripts/mutants.py --sample $(SAMPLE)

.PHONY: fuzz-seeds
fuzz-seeds: ## What the fuzzers begin with, in fuzz/corpus (see CONTRIBUTING.md)
	cargo run --quiet --locked --manifest-path fuzz/Cargo.toml --example seed

.PHONY: bench
bench: dist/.venv/.installed ## The speed of the wheel, beside ns-2 and ns-3 if they are installed
	dist/.venv/bin/ackclock bench --peers

.PHONY: generate
generate: .venv/.dev build ## Generate what follows from the schema and from the tables of a run
	$(BIN)/python scripts/generate_scenario.py
	$(BIN)/python scripts/generate_tables.py

.PHONY: docs
docs: build ## Generate docs/reference, and docs/images from the reports in report/
	$(BIN)/python scripts/reference.py
	$(BIN)/python scripts/map.py
	$(BIN)/python scripts/picture.py

.PHONY: numbers
numbers: .venv/.dev build ## Hold the simulated columns of the pages' tables against this build (a minute)
	$(BIN)/python scripts/tables.py

.PHONY: site
site: .venv-site/.installed ## The documents as a site with search, in target/site; links are checked (some seconds)
	NO_MKDOCS_2_WARNING=1 .venv-site/bin/python -m mkdocs --quiet build --strict
	@echo "The site: $(ROOT)/target/site (to read and search it: python3 -m http.server --directory target/site)"

.PHONY: format
format: .venv/.dev ## Rewrite the sources in the house's format
	cargo fmt --all
	rustfmt --edition 2024 $(TABLED)
	cargo fmt --manifest-path fuzz/Cargo.toml
	$(BIN)/ruff check --fix $(PYTHON_FILES)
	$(BIN)/ruff format $(PYTHON_FILES)

.PHONY: new-law new-start new-idle new-recovery new-queue new-channel new-part new-app new-study new-suite new-column
new-law: ## Begin a growth law with its test, its page and its line: make new-law NAME=probe
new-start: ## Begin a slow-start law with its test and its line
new-idle: ## Begin an idle rule with its test and its line
new-recovery: ## Begin a recovery with its test and its line
new-channel: ## Begin a channel of a link with its test and its line
new-part: ## Begin a part of a link with its test and its two lines
new-queue: ## Begin a queueing discipline with its test, its page and its line
new-app: ## Begin an application with its test, its page and its line
new-study: ## Begin a study with its test and its page
new-suite: ## Begin a test set of one case with its test
new-column: ## Begin a column of a table of runs: make new-column TABLE=links NAME=probe_packets
new-law new-start new-idle new-recovery new-queue new-channel new-part new-app new-study new-suite new-column:
	$(PYTHON) scripts/new.py $(@:new-%=%) $(NAME) $(if $(TABLE),--table $(TABLE))

.PHONY: lock
lock: ## Pin the newest versions in requirements/
	PYTHON="$(PYTHON)" scripts/lock.sh --upgrade

.PHONY: clean
clean: ## Remove everything that was built
	rm -rf .venv .venv-lab .venv-site .venv-zig dist report target fuzz/target web/node_modules web/dist web/test-results .pytest_cache .ruff_cache .mypy_cache
	find python studies scripts -name __pycache__ -type d -prune -exec rm -rf {} +

# Each file in .venv whose name begins with a dot stands for a finished step.
.venv/.created:
	@if [ -z "$(PYTHON)" ]; then \
	echo "make: no Python >= 3.11 with venv and ensurepip was found (on Debian: apt install python3-venv)" >&2; \
	exit 1; fi
	"$(PYTHON)" -m venv --clear .venv
	@touch $@

.venv/.runtime: requirements/runtime.txt requirements/tools.txt | .venv/.created
	$(INSTALL) .venv requirements/runtime.txt
	@touch $@

.venv/.dev: requirements/dev.txt .venv/.runtime
	$(INSTALL) .venv requirements/dev.txt
	@touch $@

# Apart from `.venv`, so that only the site pays for its packages.
.venv-site/.installed: requirements/site.txt
	$(INSTALL) .venv-site requirements/site.txt
	@touch $@

# JupyterLab with the package, and the view that `make web` has built.
.venv-lab/.installed: requirements/lab.txt .venv/.studies
	$(INSTALL) .venv-lab requirements/lab.txt
	.venv-lab/bin/python -m pip install --quiet --no-deps target/wheels/*.whl
	@touch $@

# Apart from `.venv`, too: 413 MB that only wheels need.
.venv-zig/.installed: requirements/wheel.txt
	$(INSTALL) .venv-zig requirements/wheel.txt
	@touch $@

# The lists of sources, so that a file that was taken away is noticed too.
.venv/.sources: LISTED = $(SOURCES)
.venv/.studies-sources: LISTED = $(STUDIES_SOURCES)
.venv/.sources .venv/.studies-sources: FORCE | .venv/.created
	$(file >$@.new,$(sort $(LISTED)))
	@cmp --silent $@.new $@ || cp $@.new $@

# Not the page itself: `make build` takes it as it is, and neither makes it nor waits for Node.js.
dist/.page: $(PAGE_SOURCES) $(if $(wildcard python/ackclock/serve/page.html),,FORCE)
	scripts/web.sh page
	@mkdir -p dist
	@touch $@

target/profile/ackclock.profdata: $(RUST_SOURCES) scripts/profile.sh
	scripts/profile.sh $@

.venv/.installed: .venv/.sources $(SOURCES) .venv/.runtime
	@rm -rf target/wheels
	$(BIN)/python scripts/notices.py $(NOTICES) $(LOADER)
	ACKCLOCK_BUILD=$(PROFILE) $(BIN)/maturin build --profile $(PROFILE) --quiet $(LOADER) --interpreter $(BIN)/python \
	--out target/wheels
	$(BIN)/python -m pip install --quiet --no-deps --force-reinstall target/wheels/ackclock-*.whl
	@touch $@

.venv/.studies: .venv/.studies-sources .venv/.installed $(STUDIES_SOURCES)
	@rm -f target/wheels/ackclock_studies-*.whl
	$(STUDIES_WHEEL) target/wheels >/dev/null
	$(BIN)/python -m pip install --quiet --no-deps --force-reinstall target/wheels/ackclock_studies-*.whl
	@touch $@

# An empty file of counts says that they cannot be made here.
dist/.built: .venv/.sources $(SOURCES) $(LEARNED) $(PAGE_MADE) .venv/.runtime
	@mkdir -p dist
	@rm -f dist/ackclock-*.whl
	$(BIN)/python scripts/notices.py $(NOTICES) $(LOADER)
	@# The separator of encoded flags is no blank, so that paths may have some.
	export ACKCLOCK_BUILD="wheel without a profile" CARGO_ENCODED_RUSTFLAGS="$(UNNAMED)"$$'\x1f'"$(UNNAMED_HERE)"; \
	if [ -s "$(LEARNED)" ]; then export ACKCLOCK_BUILD=wheel \
	CARGO_ENCODED_RUSTFLAGS="$$CARGO_ENCODED_RUSTFLAGS"$$'\x1f'"-Cprofile-use=$(ROOT)/$(LEARNED)"; fi; \
	$(BIN)/maturin build --profile release --quiet $(LOADER) --interpreter $(BIN)/python --out dist
	if [ -s "$(LEARNED)" ]; then scripts/profile.sh --check $(LEARNED) $${CARGO_TARGET_DIR:-target}/release; fi
	@touch $@

dist/.studies dist/wheels/.studies: .venv/.studies-sources .venv/.runtime $(STUDIES_SOURCES)
	@mkdir -p $(@D)
	@rm -f $(@D)/ackclock_studies-*.whl
	$(STUDIES_WHEEL) $(@D) >/dev/null
	@touch $@

# With zig the engine's functions have other names than those that `scripts/profile.sh` counts, on x86-64 too.
dist/wheels/.%: .venv/.sources $(SOURCES) $(PAGE_MADE) .venv/.runtime .venv-zig/.installed
	@mkdir -p dist/wheels
	@rm -f dist/wheels/*_$*.whl
	rustup target add $*-unknown-linux-gnu
	$(BIN)/python scripts/notices.py $(NOTICES)
	CARGO_ENCODED_RUSTFLAGS="$(UNNAMED)"$$'\x1f'"$(UNNAMED_HERE)" \
	PATH="$(ROOT)/.venv-zig/bin:$$PATH" ACKCLOCK_BUILD="wheel without a profile" \
	$(BIN)/maturin build --profile $(WHEELS_PROFILE) --quiet --zig --compatibility $(GLIBC) \
	--target $*-unknown-linux-gnu --out dist/wheels
	@touch $@

dist/.venv/.installed: dist/.built dist/.studies requirements/runtime.txt
	rm -rf dist/.venv
	$(INSTALL) dist/.venv requirements/runtime.txt
	dist/.venv/bin/python -m pip install --quiet --no-deps dist/*.whl
	@touch $@

.PHONY: FORCE
FORCE:

endif
