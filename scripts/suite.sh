#!/usr/bin/env bash
# Runs the whole kernel suite, in the simulator and on the adapter that kgen takes by itself, whole models in the simulator, and breaks
# kernels of gen in 300 places: scripts/suite.sh
#
# Prints how many cases ran in how much time, and of a failure the smallest case and the command that runs it again.
set -euo pipefail
cd "$(dirname "$0")/.."
export CGO_ENABLED=0 KGEN_REQUIRE=1 KGEN_SUITE=all

# without what passes one by one
quietly() { "$@" 2>&1 | grep -v --line-buffered -E '^ *(=== |--- PASS|error: XDG_RUNTIME_DIR)' || return "${PIPESTATUS[0]}"; }

started=$SECONDS
quietly go test -count=1 -timeout 60m -v -run '^(TestSuite|TestOnAdapter)$' ./codegen/kernels
echo "suite: all of it in $((SECONDS - started)) s" >&2
started=$SECONDS
quietly go test -count=1 -timeout 60m -v -run '^(TestSimul.*|TestUses.*)$' . ./codegen
echo "suite: whole models in the simulator, and memory plans of all presets, in $((SECONDS - started)) s" >&2
started=$SECONDS
quietly go test -count=1 -timeout 60m -v -run '^TestMutants$' ./internal/mutants -mutants 300
echo "suite: mutants in $((SECONDS - started)) s" >&2
