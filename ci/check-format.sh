#!/usr/bin/env bash
# Checks the format of every C++ and Python file that git tracks; changes nothing.
#
#   usage: ci/check-format.sh [--fix]     --fix rewrites the C++ files instead
#
# Exit code: 0 fine, 1 something is not formatted, 2 the formatter is missing.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. ci/python.sh

mode=(--dry-run -Werror)
case ${1:-} in
  '') ;;
  --fix) mode=(-i) ;;
  -h | --help) sed -n '2,6s/^# \{0,1\}//p' "$0"; exit 0 ;;
  *) echo "ci/check-format.sh: unknown option '$1'" >&2; exit 2 ;;
esac

# Other versions break lines elsewhere.
formatter=clang-format-16
if ! command -v $formatter >/dev/null; then
  echo "ci/check-format.sh: $formatter is not installed (ci/setup.sh --test installs it)" >&2
  exit 2
fi

failed=0
git ls-files -z '*.cpp' '*.hpp' | xargs -0 --no-run-if-empty $formatter --style=file "${mode[@]}" || failed=1

# There is no formatter for Python in the package list: syntax and line length, from .editorconfig.
python=$(heddle_python ast) || exit 2
git ls-files -z '*.py' | xargs -0 --no-run-if-empty "$python" ci/check_python_format.py || failed=1
exit $failed
