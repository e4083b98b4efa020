#!/usr/bin/env bash
# Static checks: shellcheck, mypy --strict, the layering of the folders, words that must not be there.
#
#   usage: ci/check-lint.sh
#
# Runs all of them, then fails when one has failed. Exit code: 0 fine, 1 findings, 2 a tool is missing.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. ci/python.sh

case ${1:-} in
  '') ;;
  -h | --help) sed -n '2,6s/^# \{0,1\}//p' "$0"; exit 0 ;;
  *) echo "ci/check-lint.sh: unknown option '$1'" >&2; exit 2 ;;
esac
for tool in shellcheck mypy; do
  if ! command -v $tool >/dev/null; then
    echo "ci/check-lint.sh: $tool is not installed (ci/setup.sh --test installs it)" >&2
    exit 2
  fi
done
python=$(heddle_python numpy) || exit 2

failed=0
check() {
  local name=$1
  shift
  "$@" || { echo "ci/check-lint.sh: $name has findings" >&2; failed=1; }
}

# Shell scripts by their first line, or by the shellcheck directive of files that are only sourced.
mapfile -d '' -t tracked < <(git ls-files -z)
scripts=()
for file in "${tracked[@]}"; do
  [ -f "$file" ] || continue
  IFS= read -r first <"$file" 2>/dev/null || first=
  case $first in
    '#!'*sh | '#!'*'sh '* | '# shellcheck shell='*) scripts+=("$file") ;;
  esac
done
check shellcheck shellcheck --external-sources "${scripts[@]}"

check mypy mypy --python-executable "$python" --cache-dir .mypy_cache --no-error-summary
# The scripts here are no package: each is a program of its own.
check "mypy of ci" mypy --strict --cache-dir .mypy_cache --no-error-summary ci/*.py
check layers "$python" ci/check_layers.py .
check words "$python" ci/check_words.py .
exit $failed
