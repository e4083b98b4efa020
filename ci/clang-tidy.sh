#!/usr/bin/env bash
# The slow check: clang-tidy with the rules of .clang-tidy over the C++ files. See usage().
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

usage() {
  cat <<'TEXT'
usage: ci/clang-tidy.sh [PATH_PATTERN]

Builds build/clang with clang 16, then runs clang-tidy 16 over the translation units whose path matches the
regular expression (without one: services, loadgen and host-tuning; some minutes).
Exit code: 0 no findings, 1 findings, 2 usage or a missing tool.
TEXT
}

case ${1:-} in
  -h | --help) usage; exit 0 ;;
  -*) usage >&2; exit 2 ;;
esac
for tool in clang++-16 clang-tidy-16 run-clang-tidy-16; do
  if ! command -v $tool >/dev/null; then
    echo "ci/clang-tidy.sh: $tool is not installed (ci/setup.sh --test installs it)" >&2
    exit 2
  fi
done
# The same options as in .ci/run, so that neither makes the other configure again.
CXX=clang++-16 ci/build.sh build/clang -Dwerror=true -Doptimization=1
run-clang-tidy-16 -clang-tidy-binary "$(command -v clang-tidy-16)" -quiet -p build/clang -j "$(nproc)" \
  "${1:-/(services|loadgen|host-tuning)/}"
