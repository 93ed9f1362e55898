#!/usr/bin/env bash
# fuzz.sh TIME: runs every fuzz target of the module for TIME each. What it finds is left in testdata/fuzz: commit it.
set -euo pipefail
cd "$(dirname "$0")/.."
time=${1:-60s}
grep -rHoE '^func Fuzz[A-Za-z0-9_]+' --include='*_test.go' internal cmd | sort |
  while IFS=: read -r file decl; do
    target=${decl#func }
    echo "fuzz $(dirname "$file") $target"
    go test "./$(dirname "$file")" -run '^$' -fuzz "^$target\$" -fuzztime "$time" </dev/null
  done
