#!/usr/bin/env bash
# heddle-load beside wrk and h2load, and against its goals for pacing and memory. See --help.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=ci/python.sh
source ci/python.sh
python=$(heddle_python json)
for argument; do
  case $argument in -h | --help) exec "$python" ci/bench_loadgen.py --help ;; esac
done
ci/setup.sh
ci/setup.sh --bench
ci/build.sh build/release -Dtests=disabled
exec "$python" ci/bench_loadgen.py "$@"
