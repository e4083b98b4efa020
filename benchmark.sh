#!/usr/bin/env bash
# Installs what is missing, builds, runs a benchmark, leaves a report: see ./benchmark.sh --help
set -euo pipefail
top=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=ci/python.sh
. "$top/ci/python.sh"
export PYTHONPATH="$top${PYTHONPATH:+:$PYTHONPATH}"

if [ -z "${HEDDLE_SERVICE:-}" ] || [ -z "${HEDDLE_LOAD:-}" ]; then
  # Help and wrong arguments are answered before anything is installed or built; 10 means "go on".
  if python=$(heddle_python 2>/dev/null); then
    status=0
    HEDDLE_CHECK_ARGUMENTS=1 "$python" -P -m harness "$@" || status=$?
    [ "$status" -eq 10 ] || exit "$status"
  fi
  "$top/ci/setup.sh"
  "$top/ci/build.sh" build/release -Dtests=disabled
fi

python=$(heddle_python numpy pandas matplotlib psutil) || exit 2
exec "$python" -P -m harness "$@"
