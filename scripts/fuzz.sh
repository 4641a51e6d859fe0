#!/usr/bin/env bash
# Runs every fuzz target of the module for the given time each: scripts/fuzz.sh 1m. The last line of each tells how many inputs were
# tried and how many were worth keeping. Making such an input smaller takes a minute by default, most of the time there is.
set -euo pipefail
grep -rno --include='*_test.go' -E '^func Fuzz[A-Za-z0-9_]*' . | sort | while IFS=: read -r file _ declaration; do
  target=${declaration#func }
  echo "$target in $(dirname "$file")"
  go test -run '^$' -fuzz "^$target\$" -fuzztime "$1" -fuzzminimizetime 2s "$(dirname "$file")" </dev/null
done
