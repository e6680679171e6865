# A thin front for Meson: every target is a line or two. `make` alone lists them.

BUILD     := build
BUILD_SAN := build-san
PREFIX    ?= /usr/local
DESTDIR   ?=
# Where the loader and pkg-config look: in /usr, Debian keeps libraries by architecture.
MULTIARCH := $(shell $(CC) -print-multiarch 2>/dev/null)
LIBDIR    ?= $(if $(filter /usr,$(PREFIX)),lib$(if $(MULTIARCH),/$(MULTIARCH)),lib)
# 170 test programs are linked: mold takes a sixth of the time.
ifneq ($(shell command -v mold),)
export CC_LD ?= mold
endif

.DEFAULT_GOAL := help
.PHONY: help deps build program build-san run test test-all lint fmt bench prove install clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "%-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

deps: ## install the Debian packages that are missing (root), or say which
	@tools/deps

build: deps ## build everything into build/ (optimised, asserts on)
	@test -f $(BUILD)/build.ninja || meson setup $(BUILD) --prefix=$(PREFIX) --libdir=$(LIBDIR)
	@ninja -C $(BUILD)

program: deps ## only the program, build/pawl
	@test -f $(BUILD)/build.ninja || meson setup $(BUILD) --prefix=$(PREFIX) --libdir=$(LIBDIR)
	@ninja -C $(BUILD) pawl

# The tests start the program thousands of times; 186,000 relocations were a fifth of each start.
build-san: deps ## build with AddressSanitizer and UBSan into build-san/
	@test -f $(BUILD_SAN)/build.ninja || meson setup $(BUILD_SAN) -Dbuildtype=debug -Doptimization=1 \
	    -Db_sanitize=address,undefined -Db_pie=false
	@ninja -C $(BUILD_SAN)

run: build ## build, then show the program at work
	@tools/run-demo

test: program build-san ## build, then run every test under the sanitizers
	@tools/run-tests --build $(BUILD_SAN)

test-all: build build-san ## every test in both builds; a skipped test is a failure
	@tools/deps all
	@tools/npm-ci tests/browser tests/mcp tests/transport/npm tests/server/lint tests/traces
	@tools/run-tests --strict --build $(BUILD); plain=$$?; tools/run-tests --strict --build $(BUILD_SAN) && exit $$plain

lint: deps ## format check, clang-tidy, cppcheck, and a clang build with warnings as errors
	@tools/lint

fmt: deps ## format every tracked C file in place
	@git ls-files -z '*.c' '*.h' | xargs -0 -r clang-format -i

bench: build ## run the benchmarks
	@bench/run

prove: build ## the long proofs: simulation, kill soaks, fuzzing
	@tools/prove

install: build ## install into PREFIX (default /usr/local), below DESTDIR
	@tools/install $(BUILD) $(PREFIX) $(LIBDIR) "$(DESTDIR)"

clean: ## remove what was built
	@rm -rf build build-san build-clang
