#!/usr/bin/env bash
# Installs what is missing, builds, runs every test. See usage().
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
. ci/python.sh

usage() {
  cat <<'TEXT'
usage: ./test.sh [--fast] [-h]

Installs the packages that are missing (ci/setup.sh --test), builds into build/test with warnings as errors,
and runs the C++ tests, the Python tests and the end-to-end tests, which start the real programs on free
loopback ports. The last line is the result: "N passed, N failed".

  --fast    without the end-to-end tests
  -h        this text

Exit code: 0 all passed, 1 a test failed or something does not compile, 2 usage or configuration.
TEXT
}

fast=
for argument; do
  case $argument in
    --fast) fast=1 ;;
    -h | --help) usage; exit 0 ;;
    *) echo "test.sh: unknown option '$argument' (see ./test.sh --help)" >&2; exit 2 ;;
  esac
done

ci/setup.sh --test
# The newest assertions of the code are on; -O1 compiles in half the time of the release build.
build=$PWD/build/test
ci/build.sh build/test -Dtests=enabled -Dwerror=true -Db_ndebug=false -Doptimization=1
python=$(heddle_python pytest hypothesis numpy pandas matplotlib psutil mpmath) || exit 2

reports=$build/reports
rm -rf "$reports"
mkdir -p "$reports"
passed=0 failed=0

# add NAME STATUS REPORT...: adds the cases of the reports to the totals and prints a line. A program that
# failed without a failed case (it crashed, or found nothing to run) counts as one failure.
add() {
  local name=$1 status=$2 p f s
  shift 2
  read -r p f s < <("$python" ci/count_tests.py "$@")
  [ "$status" -eq 0 ] || [ "$f" -gt 0 ] || f=1
  passed=$((passed + p)) failed=$((failed + f))
  printf '%s: %d passed, %d failed' "$name" "$p" "$f"
  [ "$s" -eq 0 ] || printf ', %d skipped' "$s"
  printf ' (%d s)\n' $((SECONDS - started))
}

started=$SECONDS status=0
meson test -C "$build" --no-rebuild --print-errorlogs --quiet || status=$?
add 'C++ tests' "$status" "$build/meson-logs/testlog.junit.xml"

service=$(find "$build" -type f -name heddle-service -perm -u+x)
load=$(find "$build" -type f -name heddle-load -perm -u+x)

# run_pytest NAME REPORT ARGUMENT...
run_pytest() {
  local name=$1 report=$reports/$2.xml
  shift 2
  started=$SECONDS status=0
  PYTHONPATH=$PWD HEDDLE_SERVICE=$service HEDDLE_LOAD=$load PYTHONDONTWRITEBYTECODE=1 \
    "$python" -m pytest -q --tb=short --junitxml="$report" "$@" || status=$?
  add "$name" "$status" "$report"
}

run_pytest 'Python tests' python tests --ignore=tests/e2e
[ -n "$fast" ] || run_pytest 'end-to-end tests' e2e tests/e2e

echo
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
