# SPDX-License-Identifier: Apache-2.0
# The commands of the project; each sets up what it needs first. `make help` lists the first ones.

PREFIX ?= $(CURDIR)/build/install
JOBS ?= $(shell nproc)
RANKS ?= 2
SAMPLE_PRESET ?= dev
FUZZ_TARGETS ?= config sequence kernels ranks npy safetensors trace capture

RUN_JOB = .venv/bin/openaclnn demo --text data/alice29.txt

SOURCES = $(shell find include src tests bench examples -name '*.cc' -o -name '*.c' -o -name '*.h' 2>/dev/null)
CLANG_FORMAT = clang-format-14
# Tests are left out: GoogleTest's macros cost a minute a file and break rules that are not ours.
TIDY_FILES = '/src/(?!.*(test|bench|fuzz)\.cc$$)'
# GCC 12's TSan cannot place its shadow where the kernel randomises more than 28 bits of addresses.
NO_ASLR = $(shell setarch -R true 2>/dev/null && echo setarch -R)

define build
	cmake --preset $(1) -DBUILD_TESTING=$(2)
	cmake --build --preset $(1) --parallel $(JOBS)
endef

.DEFAULT_GOAL := help
.PHONY: help help-all run demo demo-ranks test test-clients sample build install uninstall bench bench-training bench-ranks bench-rooms check-cost asan tsan valgrind coverage fuzz torture instructions aarch64 lint nightly format clean

# The comments of targets whose `##` has a * are what `make help` shows.
define show_targets
	@sed -nE 's/^([a-z0-9-]+):.*$(1) (.*)/\1 \2/p' $(MAKEFILE_LIST) | while read -r name text; do \
	  printf '%s\n' "$$text" | fold -s -w 57 | sed 's/ *$$//; 1!s/^/                      /' | \
	    sed "1s/^/$$(printf '  make %-15s' "$$name")/"; \
	done
endef

help:
	$(call show_targets,##\*)
	@echo '  make help-all       the others: benches, sanitizers, packages, the site'

help-all: ## list all commands
	$(call show_targets,##\*?)

run: build ##* the operators on a real text: error, time, share of what the machine allows
	$(RUN_JOB)

demo: build ##* train a language model through torch-npu and on the CPU; compare, plot, write
	tests/clients/setup.sh 2.8.0 2.8.0.post5
	PYTHONPATH=python .venv/bin/openaclnn run -- \
	  build/clients/torch-2.8.0/bin/python -W ignore examples/train_text.py

demo-ranks: build ## the same model on RANKS (2) processes: data-parallel, vocabulary-parallel
	tests/clients/setup.sh 2.8.0 2.8.0.post5
	for option in "" --vocabulary-parallel; do \
	  PYTHONPATH=python .venv/bin/openaclnn run --ranks $(RANKS) -- \
	    build/clients/torch-2.8.0/bin/python -W ignore examples/train_text.py --steps 50 \
	    --ranks $(RANKS) $(RANKS_OPTIONS) $$option || exit 1; \
	done

test: ##* all tests of the release build
	scripts/setup.sh test
	$(call build,release,ON)
	cmake --install build/release --prefix build/install
	ctest --preset release --output-on-failure --parallel $(JOBS)

test-clients: build ## programs of others: C, C++, ctypes, and torch-npu from the package index; CLIENT=ascend, ggml, llama, mindspore, models, opinfo: theirs
	python3 tests/clients/$(if $(filter ascend ggml llama mindspore models opinfo,$(CLIENT)),$(CLIENT),run).py build/install $(VERSIONS)

build: ##* the libraries, installed to build/install
	scripts/setup.sh run
	$(call build,release,OFF)
	cmake --install build/release --prefix build/install

install: build ##* the toolkit to PREFIX: bin/openaclnn, include, lib64, set_env.sh, version files
	cmake --install build/release --prefix "$(PREFIX)"
	.venv/bin/python scripts/packaging/install_requirements.py "$(PREFIX)/lib64/openaclnn/requirements"

uninstall: ## remove from PREFIX what install put there
	cmake -DPREFIX="$(PREFIX)" -P cmake/uninstall.cmake

.PHONY: wheel test-wheel test-readme test-image wheel-aarch64 release docs test-docs
wheel: ## a wheel for glibc 2.27 and newer, in dist/
	scripts/setup.sh wheel
	scripts/packaging/wheel.sh

test-wheel: wheel ## install it in Debian 12 with Python alone and in Debian 13 (chroots; root), use it there
	tests/install/wheel.sh dist

test-readme: ## follow README.md and README.zh-CN.md line by line in a new Debian 12 (a chroot; root; downloads PyTorch)
	tests/install/readme.py $(README_OPTIONS)

test-image: wheel ## build the image of Containerfile with the wheel (podman, or buildah) and use it
	tests/install/image.sh "$$(ls -t dist/openaclnn-*$$(uname -m).whl | head -n 1)"

wheel-aarch64: ## the wheel for aarch64 by a cross compiler, and what it does under qemu
	scripts/setup.sh cross
	scripts/setup.sh wheel
	scripts/packaging/wheel.sh dist aarch64
	tests/install/wheel_aarch64.sh dist

release: ## wheels, sources and notes in dist/, checked; prints what publishes them; STEPS: some of it
	scripts/setup.sh cross
	scripts/setup.sh wheel
	.venv/bin/python scripts/packaging/release.py $(STEPS)

docs: build ## the documentation's pages in English and Chinese, to build/docs/html; every link is looked at
	scripts/site/docs.sh

test-docs: docs ## a browser (chromium) searches, copies, follows links and reads on a telephone's width
	scripts/setup.sh site
	tests/site/run.sh

sample: ## add an operator of each kind to a copy of the tree: count the edits, build, test
	scripts/setup.sh test
	.venv/bin/python scripts/checks/sample_operator.py --jobs $(JOBS) --preset $(SAMPLE_PRESET)

BENCH = all
bench: build ## time the operators beside their peers (downloads PyTorch, JAX) and the roofs; with BENCH=walk every record, with BENCH=drawn the calls of models
	bench/setup.sh
	mkdir -p build/bench
	.venv/bin/openaclnn bench --$(BENCH) --figures build/bench/$(BENCH:all=out).json --markdown build/bench/$(BENCH:all=out).md \
	  $$(test $(BENCH) = all -a -x build/bench/venv/bin/python && echo --plots build/bench/plots) $(BENCH_OPTIONS)

bench-training: build ## time the training of `make demo` on the NPU and with PyTorch on the CPU, in turn
	tests/clients/setup.sh 2.8.0 2.8.0.post5
	PYTHONPATH=python build/clients/torch-2.8.0/bin/python bench/training.py $(BENCH_OPTIONS)

bench-ranks: ## time collectives between processes beside gloo (torch: a download) and a bare socket
	scripts/setup.sh test
	$(call build,release,ON)
	tests/clients/setup.sh 2.8.0 2.8.0.post5
	bench/ranks/compare.py build/release/bench/ranks_bench \
	  --torch build/clients/torch-2.8.0/bin/python $(BENCH_OPTIONS)

bench-rooms: ## time the operators' rooms and the runtime from C++, without peers
	scripts/setup.sh test
	$(call build,release,ON)
	cmake --build --preset release --target bench

check-cost: build ## what OPENACLNN_CHECK=fast and =full cost on the shapes of the bench
	PYTHONPATH=python .venv/bin/python bench/check_cost.py $(BENCH_OPTIONS)

asan: ## the native tests under AddressSanitizer and UBSan
	scripts/setup.sh test
	$(call build,asan,ON)
	ctest --preset asan --output-on-failure --parallel $(JOBS)

tsan: ## the tests of the runtime, the shared kernels and one operator under ThreadSanitizer
	scripts/setup.sh test
	$(call build,tsan,ON)
	$(NO_ASLR) ctest --preset tsan --output-on-failure --parallel $(JOBS)

valgrind: ## a short form of the native tests under memcheck
	scripts/setup.sh ci
	$(call build,release,ON)
	tests/valgrind.sh build/release

coverage: ## lines and branches of src/ that the tests reach, for each folder
	scripts/setup.sh test
	$(call build,coverage,ON)
	cmake --install build/coverage --prefix build/coverage/install
	find build/coverage -name '*.gcda' -delete
	ctest --preset coverage --parallel $(JOBS) || echo 'coverage: tests failed; what they reached is counted'
	.venv/bin/python scripts/checks/coverage.py build/coverage

fuzz: ## FUZZ_SECONDS (60) of libFuzzer on each of FUZZ_TARGETS, JOBS at once, under ASan and UBSan
	scripts/setup.sh fuzz
	cmake --preset fuzz -DBUILD_TESTING=ON
	cmake --build --preset fuzz --parallel $(JOBS) --target ascendcl \
	  $(addprefix fuzz_,$(filter-out npy safetensors trace capture,$(FUZZ_TARGETS)))
	FUZZ_TARGETS="$(FUZZ_TARGETS)" FUZZ_JOBS=$(JOBS) tests/fuzz/run.sh build/fuzz $(FUZZ_OPTIONS)

torture: ## for TORTURE_SECONDS (3600): failing allocations, ranks that die, any numbers, the runtime's stress
	scripts/setup.sh test
	$(call build,release,ON)
	cmake --install build/release --prefix build/install
	tests/torture/run.sh build/release

instructions: ## count the instructions of each operator's call, look at the loops for AVX-512
	scripts/setup.sh ci
	$(call build,release,ON)
	python3 tests/instructions.py build/release
	python3 tests/hot_loops.py build/release

aarch64: ## the operators' tests for aarch64, under qemu; AARCH64_TEST: one of them alone, as kernels_test
	scripts/setup.sh cross
	scripts/packaging/aarch64_packages.sh build/aarch64-root
	cmake --preset aarch64 -DBUILD_TESTING=ON
	cmake --build --preset aarch64 --parallel $(JOBS) $(addprefix --target ,$(AARCH64_TEST))
	ctest --preset aarch64 --output-on-failure --parallel $(JOBS) --no-tests=error \
	  $(if $(AARCH64_TEST),-R '^$(AARCH64_TEST)$$')

lint: ##* formatting, clang-tidy, ruff, layout
	scripts/setup.sh ci
	$(CLANG_FORMAT) --dry-run -Werror $(SOURCES)
	cmake --preset dev
	.venv/bin/python scripts/checks/clang_tidy.py build/dev --jobs $(JOBS) --only $(TIDY_FILES) $(TIDY_OPTIONS)
	.venv/bin/python -m ruff check --quiet
	.venv/bin/python -m pytest -q scripts bench/ranks
	.venv/bin/python scripts/checks/check_layout.py
	.venv/bin/python scripts/site/generate_readme.py --check
	.venv/bin/python scripts/site/generate_man.py --check
	.venv/bin/python scripts/site/check_translation.py

nightly: ## all that continuous integration has, also where it takes hours
	.ci/run --all

format: ## rewrite the sources with clang-format
	scripts/setup.sh ci
	$(CLANG_FORMAT) -i $(SOURCES)

clean: ## remove build/ and .venv/
	rm -rf build .venv
