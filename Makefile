# A thin front for Meson: every target is a line or two. `make` alone lists them.

BUILD     := build
BUILD_SAN := build-san
BUILD_TSAN := build-tsan
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
.PHONY: help deps build program build-san build-tsan coverage run test test-all lint fmt bench prove install uninstall site deb clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "%-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# Every target installs the Debian packages that it needs and that are missing (root), or says which.
deps: ## install what every target together needs
	@tools/deps program transports test lint all bench deb

configure-program:
	@tools/deps program
	@tools/configure $(BUILD) --prefix=$(PREFIX) --libdir=$(LIBDIR)

program: configure-program ## only the program, build/pawl, and the transports whose libraries are installed
	@ninja -C $(BUILD) program

run: program ## build the program, then show it at work
	@tools/run-demo

build: ## build everything into build/ (optimised, asserts on)
	@tools/deps test
	@tools/configure $(BUILD) --prefix=$(PREFIX) --libdir=$(LIBDIR)
	@ninja -C $(BUILD)

# The tests start the program thousands of times; 186,000 relocations were a fifth of each start.
build-san: ## build with AddressSanitizer and UBSan into build-san/
	@tools/deps test
	@tools/configure $(BUILD_SAN) -Dbuildtype=debug -Doptimization=1 -Db_sanitize=address,undefined -Db_pie=false
	@ninja -C $(BUILD_SAN)

build-tsan: ## build with ThreadSanitizer into build-tsan/
	@tools/deps test
	@tools/configure $(BUILD_TSAN) -Dbuildtype=debug -Doptimization=1 -Db_sanitize=thread
	@ninja -C $(BUILD_TSAN)

test: build-san ## build, then run every test under the sanitizers
	@tools/run-tests --build $(BUILD_SAN)

# ThreadSanitizer sees the engine, the server and the store where they run: the tests on SQLite.
test-all: ## every test in both builds, those on SQLite under ThreadSanitizer too; a skipped test is a failure
	@tools/deps all
	@$(MAKE) --no-print-directory build build-san build-tsan
	@tools/npm-ci tests/browser tests/mcp tests/transport/npm tests/server/lint tests/traces tests/clients
	@tools/run-tests --strict --build $(BUILD); plain=$$?; tools/run-tests --build $(BUILD_TSAN) --only sqlite; races=$$?; \
	    tools/run-tests --strict --build $(BUILD_SAN) && [ $$races = 0 ] && exit $$plain

coverage: ## which branches the tests take, against the floor in tools/coverage.floor
	@tools/deps test
	@tools/coverage

lint: ## format check, clang-tidy, cppcheck, and a clang build with warnings as errors
	@tools/deps lint
	@tools/lint

fmt: ## format every tracked C file in place
	@tools/deps lint
	@git ls-files -z '*.c' '*.h' | xargs -0 -r clang-format -i

bench: ## run the benchmarks
	@tools/deps bench
	@$(MAKE) --no-print-directory build
	@bench/run

prove: ## every long proof in an hour (PROVE_SCALE=n: in n hours), with a table of what was done
	@tools/deps all
	@$(MAKE) --no-print-directory build
	@tools/prove

install: configure-program ## install into PREFIX (default /usr/local), below DESTDIR
	@ninja -C $(BUILD) installed
	@tools/install $(BUILD) $(PREFIX) $(LIBDIR) "$(DESTDIR)"

uninstall: ## remove what make install has put into PREFIX, below DESTDIR
	@tools/uninstall $(BUILD) $(PREFIX) $(LIBDIR) "$(DESTDIR)"

site: ## make the documentation a static site in build-site/
	@tools/site/build.py build-site

deb: ## build the Debian packages into build-deb/, checked by lintian
	@tools/deps deb
	@tools/deb

clean: ## remove what was built
	@rm -rf build build-san build-tsan build-coverage build-clang build-deb build-site
