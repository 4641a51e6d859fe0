# The commands of this repository; `make help` lists them. Needed: Go 1.26, Python 3 with pip, bash, git.

SHELL := bash

# The project is built without cgo, so that no C compiler is needed and tests run what users run.
export CGO_ENABLED := 0
# A home and a cache folder, also where the environment names none.
export HOME := $(or $(HOME),$(shell bash -c 'echo ~'))
export KGEN_CACHE := $(shell scripts/cache-dir.sh)

# What `make demo` runs.
export MODEL ?= $(KGEN_CACHE)/models/SmolLM2-135M-Instruct.Q4_1.gguf
export PROMPT ?= What is the capital of France?

# How long `make fuzz` spends on each target.
FUZZTIME ?= 1m

.DEFAULT_GOAL := help
.PHONY: help setup demo test test-all check fmt golden notices bench fuzz clean need-go

help: ## List these commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-8s %s\n", $$1, $$2 }' Makefile

setup: ## Get the model, the WebGPU libraries and the software Vulkan adapters
	@scripts/setup.sh

demo: need-go ## Answer a prompt through the generated package of SmolLM2, on the best device found
	@scripts/setup.sh model
	@scripts/setup.sh library || echo "demo: no WebGPU library; going on with what this machine has" >&2
	@# Without a runtime folder, Mesa's layer that selects devices prints an error for each instance.
	@[ -n "$$XDG_RUNTIME_DIR$$MESA_VK_DEVICE_SELECT" ] || export NODEVICE_SELECT=1; \
		go run ./examples/smollm2 "$$MODEL" "$$PROMPT"

test: need-go ## Set up, check the source and run all tests; what set-up should have brought is required
	@scripts/setup.sh
	@$(MAKE) --no-print-directory check
	KGEN_REQUIRE=1 go test -timeout 30m ./...
	@scripts/matrix.sh

test-all: need-go ## Run all tests, with the whole kernel suite on the simulator and every library, and 300 mutants; prints counts and times
	@scripts/setup.sh
	@$(MAKE) --no-print-directory check
	KGEN_REQUIRE=1 go test -timeout 30m ./...
	@scripts/suite.sh
	@KGEN_SUITE=all scripts/matrix.sh

check: need-go ## Check formatting, and vet and build for every platform
	@unformatted=$$(gofmt -l .) && [ -z "$$unformatted" ] || { echo "gofmt would change: $$unformatted" >&2; exit 1; }
	go vet -tags nogpu ./...
	@for platform in linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64; do \
		echo "go vet and build for $$platform"; \
		export GOOS=$${platform%/*} GOARCH=$${platform#*/}; \
		go vet ./... && go build -o /dev/null ./cmd/kgen || exit 1; done
	GOOS=js GOARCH=wasm go vet ./runtime/... ./models/tokenizer/...

fmt: ## Format the Go source
	gofmt -w .

golden: need-go ## Rewrite the golden files of every package that has some; read the difference before you commit it
	go test -count=1 -run 'Golden|Cases|Graphs|Document|Scripts' $$(grep -rlF --include='*_test.go' 'flag.Bool("update"' . | xargs -n 1 dirname | sort -u) -update

notices: need-go ## Write THIRD_PARTY_NOTICES.md from go.mod and the table of libraries
	go run ./internal/libraries/notices THIRD_PARTY_NOTICES.md

bench: need-go ## Run the benchmarks
	go test -run '^$$' -bench . ./...

fuzz: need-go ## Run every fuzz target for FUZZTIME (1m)
	@scripts/fuzz.sh $(FUZZTIME)

clean: ## Remove what was built; the cache outside the tree stays
	rm -rf kgen out

# Go's own error would come late and without the version.
need-go:
	@command -v go >/dev/null || { echo "go is missing: install Go 1.26 or newer" >&2; exit 1; }
