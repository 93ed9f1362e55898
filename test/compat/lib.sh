# lib.sh: what the shell suites share. A check is a function; `check NAME FUNCTION ARGS` runs it, and says ok or FAIL with what it
# printed. `finish` prints the closing line and sets the exit code.
passed=0
failed=0
scratch=$(mktemp -d)
children=()
: "${BOOTSTRAP:?host:port of a broker}"
run_id=$(printf '%x%x' "$$" "$(date +%s)")

# Ends what this suite started and nothing else.
cleanup() {
  local pid
  for pid in "${children[@]}"; do kill "$pid" 2>/dev/null && wait "$pid" 2>/dev/null; done
  rm -rf "$scratch"
}
trap cleanup EXIT

check() {
  local name=$1 out
  shift
  # A subshell with its own -e: the first failing command is the check's failure.
  set +e
  out=$(set -e; "$@" 2>&1)
  local code=$?
  set -e
  if [ $code = 0 ]; then
    passed=$((passed + 1))
    echo "ok $name"
  else
    failed=$((failed + 1))
    echo "FAIL $name (exit $code)"
    printf '%s\n' "$out" | tail -n 30 | sed 's/^/    /'
  fi
}

same() { # WANT GOT: two files
  cmp -s "$1" "$2" || { echo "want $(wc -l <"$1") lines, got $(wc -l <"$2"):"; diff "$1" "$2" | head -20; return 1; }
}

holds() { # TEXT PATTERN...: each extended pattern is found
  local text=$1 p
  shift
  for p in "$@"; do
    grep -Eq -- "$p" <<<"$text" || { echo "no match for $p in:"; echo "$text"; return 1; }
  done
}

until_holds() { # SECONDS PATTERN COMMAND...: repeats the command until its output matches
  local end=$((SECONDS + $1)) p=$2 out
  shift 2
  while :; do
    out=$("$@" 2>&1) || true
    grep -Eq -- "$p" <<<"$out" && return 0
    [ $SECONDS -lt $end ] || { echo "still no match for $p in:"; echo "$out"; return 1; }
    sleep 0.5
  done
}

finish() {
  echo "$passed passed, $failed failed"
  [ $failed = 0 ] && [ $passed -gt 0 ]
}
