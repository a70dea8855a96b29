# SPDX-License-Identifier: Apache-2.0
# The front door. Every target is complete in itself: it installs what is missing, builds what is stale, then works.
#
#   make demo      installs, builds, gets the default model and answers a prompt
#   make test      installs, builds, runs every test
#   make build     installs and builds build/bin/nereid
#   make bench     micro-benchmarks
#   make check     test + format + headers + sanitized parser tests + fuzzers (FUZZ_SECONDS=60 each)
#   make asan tsan the whole suite under a sanitizer          make fuzz    the fuzzers alone
#   make conformance-onnx  the onnx package's backend tests, one line a group (ARGS='--match Conv' and the like)
#   make format    formats the sources                        make docs    the generated reference pages
#   make cuda      the program with its CUDA plugin beside it (needs nvcc; the tests need no GPU)
#   make cuda-test cuda-bench  agreement with the CPU, and speed, on a machine with a GPU
#   make dist      a folder and a tarball that run on any x86-64 Linux, with the CUDA plugin if `make cuda` made one
#   make wheel     a later milestone                          make clean   removes build products, keeps models
#   make install   into PREFIX (/usr/local)

MODEL  ?= smollm2-135m
PROMPT ?= Explain in one sentence why the sky is blue.
PREFIX ?= /usr/local
FUZZ_SECONDS ?= 60
export FUZZ_SECONDS
.DEFAULT_GOAL := help
.PHONY: help demo test build bench conformance-onnx format check wheel cuda cuda-test cuda-bench dist asan tsan fuzz docs clean install lint

help:
	@sed -n '2,18s/^# \{0,1\}//p' Makefile

demo:
	@scripts/bootstrap
	@scripts/build release nereid
	@build/bin/nereid models pull $(MODEL)
	@build/bin/nereid run $(MODEL) --chat -p "$(PROMPT)" -n 64
	@echo
	@echo 'Next: build/bin/nereid run $(MODEL) --chat   (a conversation; build/bin/nereid --help lists the rest)'

build:
	@scripts/bootstrap
	@scripts/build release nereid
	@echo 'Next: build/bin/nereid --help, or make demo'

test:
	@scripts/bootstrap build test
	@$(MAKE) --no-print-directory lint
	@scripts/fetch_models --only demo --only test
	@scripts/build release
	@scripts/test release

conformance-onnx:
	@scripts/bootstrap build conformance
	@scripts/build release nereid
	@build/venv/bin/python tests/conformance/onnx/run.py $(ARGS)

lint:
	@tools/check_layers
	@tools/check_size

bench:
	@scripts/bootstrap build bench
	@scripts/build bench
	@for program in build/bench/bin/*_bench; do [ ! -x "$$program" ] || "$$program" || exit 1; done
	@echo 'Next: build/bin/nereid bench $(MODEL)   (a language model, whole)'

format:
	@scripts/bootstrap
	@tools/format

check: test
	@tools/format --check
	@tools/check_headers
	@scripts/build asan nereid_parser_tests
	@scripts/test asan -L parser
	@$(MAKE) --no-print-directory fuzz
	@echo 'Next: everything held; commit.'

asan tsan:
	@scripts/bootstrap
	@scripts/fetch_models --only demo --only test
	@scripts/build $@
	@scripts/test $@

fuzz:
	@scripts/bootstrap build fuzz
	@scripts/build fuzz nereid_fuzzers
	@scripts/fuzz

docs:
	@scripts/bootstrap
	@scripts/build release nereid_gen_docs
	@build/release/bin/nereid_gen_docs docs/reference

cuda:
	@scripts/bootstrap
	@scripts/build cuda nereid
	@echo 'Next: build/bin/nereid doctor, then build/bin/nereid run $(MODEL) --device cuda -p "..."'

# On the machine with the GPU: MODEL there is a path.
cuda-test: cuda dist
	@build/dist/nereid-*/cuda-test.sh $(MODEL)

cuda-bench: cuda dist
	@build/dist/nereid-*/cuda-bench.sh $(CONFIGS)

dist:
	@scripts/bootstrap
	@[ -e build/bin/libnereid_cuda.so ] || scripts/build release nereid
	@scripts/dist

wheel:
	@echo 'The Python package comes with a later milestone; there is nothing to build yet.' >&2; exit 2

install: build
	@scripts/build release nereid_shared nereid_static
	@. build/env.sh && "$$CMAKE" --install build/release --prefix "$(PREFIX)"

clean:
	@find build -mindepth 1 -maxdepth 1 ! -name models ! -name venv ! -name env.sh -exec rm -rf {} +
	@echo 'clean: build products are gone; build/models and build/venv are kept'
