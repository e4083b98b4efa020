#!/usr/bin/env bash
# What a request costs each approach, beside nginx's `return 200`; what parked requests cost. See --help.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=ci/python.sh
source ci/python.sh
ci/setup.sh
ci/setup.sh --bench
ci/build.sh build/release -Dtests=disabled
exec "$(heddle_python psutil)" ci/bench_service.py \
  --service build/release/services/approaches/heddle-service --load build/release/loadgen/heddle-load "$@"
