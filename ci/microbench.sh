#!/usr/bin/env bash
# Time, instructions and allocations of the load generator's small operations. See usage().
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=ci/python.sh
. ci/python.sh

usage() {
  cat <<'TEXT'
usage: ci/microbench.sh [--kernels NAME,...] [--min-time SECONDS] [-h]

Builds tests/microbench into build/microbench and prints a table: per operation the time (Google Benchmark,
median of repeats with minimum and maximum), the instructions (valgrind's callgrind; without valgrind the
CPU's counter through perf) and the allocations of memory. Instructions and allocations repeat exactly; the
time depends on the host and on what else it does.

  --kernels NAME,...   only these
  --min-time SECONDS   of each repeat of the timing [0.2]

Exit code: 0 all measured, 1 does not compile or a kernel failed, 2 usage or configuration.
TEXT
}

for argument; do
  case $argument in -h | --help) usage; exit 0 ;; esac
done
ci/setup.sh --test
ci/setup.sh --bench
dir=build/microbench
if [ ! -f "$dir/build.ninja" ]; then
  mkdir -p build
  meson setup "$dir" . -Dmicrobench=enabled >"$dir.log" 2>&1 || { tail -n 25 "$dir.log" >&2; exit 2; }
fi
ninja -C "$dir" --quiet tests/microbench/time-kernels tests/microbench/count-kernels
exec "$(heddle_python json)" ci/microbench.py --time "$dir/tests/microbench/time-kernels" \
  --count "$dir/tests/microbench/count-kernels" "$@"
