# SPDX-License-Identifier: Apache-2.0
# Each goal installs what it needs on Debian or Ubuntu; it requires a Swift toolchain.

# Plain assignments, so that only the command line changes them and not an environment variable HOST.
PHOTOS =
HOST = 127.0.0.1
PORT = 8080
SECONDS = 300
FORMATS =
TRAITS =
BASE = HEAD
FILES = 20000
EXAMPLES = 100
SEED = 1
PARTS =
COUNT =
export PHOTOS HOST PORT

.PHONY: help run check test test-deep test-asan test-tsan test-sandbox test-scale soak attack fuzz fuzz-server \
        bench bench-server build wheel deb docs format lint clean
.DEFAULT_GOAL := help

help: ## list the goals
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-12s %s\n", $$1, $$2 }' Makefile
	@echo
	@echo 'make run PHOTOS=~/Pictures PORT=8080 HOST=127.0.0.1 serves a folder of your own.'

run: ## serve a folder of photographs as a gallery (PHOTOS=…, HOST=…, PORT=…)
	@scripts/run

check: ## the inner loop: lint, build and tests of what changed (BASE=HEAD)
	@BASE="$(BASE)" scripts/check

test: ## what CI runs: lint, all tests, the gallery in a browser, servers under attack
	@scripts/test

test-deep: ## about two hours: release tests, traits, sanitizers, fuzzing, scale (FILES=20000)
	@scripts/test-deep "$(FILES)"

test-asan: ## run every test with AddressSanitizer and UndefinedBehaviorSanitizer
	@scripts/test-asan

test-tsan: ## run the tests of loading and serving with ThreadSanitizer
	@scripts/test-tsan

test-sandbox: ## send complete, truncated and changed files through the sandbox
	@scripts/test-sandbox

test-scale: ## workers in Dask, Ray and Spark, killed workers, servers behind nginx, img2dataset (over half an hour)
	@scripts/test-scale

soak: ## mix hostile requests with valid ones (SECONDS=300 SEED=1)
	@scripts/soak "$(SECONDS)" "$(SEED)"

attack: ## attack a server: damaged files, hostile clients, races, kills (PARTS=… COUNT=… SECONDS=… SEED=1)
	@scripts/attack $(PARTS) --seed "$(SEED)" $(if $(COUNT),--count "$(COUNT)") \
	    $(if $(filter command line,$(origin SECONDS)),--seconds "$(SECONDS)")

fuzz: ## decode damaged files with AddressSanitizer (SECONDS=300 per format, FORMATS=…)
	@scripts/fuzz "$(SECONDS)" $(FORMATS)

fuzz-server: ## compare responses with the OpenAPI description (EXAMPLES=100 SEED=1)
	@scripts/fuzz-server "$(EXAMPLES)" "$(SEED)"

bench: ## compare with vipsthumbnail, Pillow, libjpeg-turbo and libpng
	@scripts/bench

bench-server: ## compare the server with nginx's image_filter and with thumbor
	@scripts/bench-server

build: ## build the calotype command in release mode (TRAITS=default,SVG,PDF)
	@TRAITS="$(TRAITS)" scripts/build

wheel: ## build the Python wheel (artifacts/wheel)
	@scripts/wheel

deb: ## build the Debian packages (artifacts/deb)
	@scripts/deb

docs: ## build the documentation site (artifacts/documentation/site)
	@scripts/docs

format: ## format every Swift file
	@scripts/require-swift
	@swift format --in-place --parallel --recursive \
	    Package.swift Sources Tests Snippets Benchmarks/*/Sources Fuzzing/Sources/*Fuzzer

lint: ## check the format, length, structure and wording of every file
	@scripts/require-swift
	@scripts/lint

clean: ## remove build products
	rm -rf .build .build-* artifacts
