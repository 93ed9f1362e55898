#!/usr/bin/env bash
# fuzz.sh TIME: runs every fuzz target of the module for TIME each. What it finds is left in testdata/fuzz: commit it.
#
# Go 1.26 now and then ends a target that found nothing with "context deadline exceeded" when TIME is up (go.dev/issue/75804,
# mended in 1.27). That, and only that, with no failing input written, is the end of the time and not a finding.
set -euo pipefail
cd "$(dirname "$0")/.."
time=${1:-60s}
out=$(mktemp)
trap 'rm -f "$out"' EXIT

ended_late() { # only the deadline's words stand under the FAIL line, and no input was written
  ! grep -q 'Failing input written\|panic:\|^fatal error' "$out" &&
    [ "$(sed -n '/^--- FAIL: /,/^FAIL$/p' "$out" | sed '1d;$d')" = '    context deadline exceeded' ]
}

grep -rHoE '^func Fuzz[A-Za-z0-9_]+' --include='*_test.go' internal cmd | sort |
  while IFS=: read -r file decl; do
    target=${decl#func }
    echo "fuzz $(dirname "$file") $target"
    if ! go test "./$(dirname "$file")" -run '^$' -fuzz "^$target\$" -fuzztime "$time" </dev/null 2>&1 | tee "$out"; then
      ended_late || exit 1
      echo "fuzz: $target found nothing; its time ran out in the middle of a call"
    fi
  done
