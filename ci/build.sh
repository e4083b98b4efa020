#!/usr/bin/env bash
# Configures a build folder once and builds it. See usage().
set -euo pipefail

usage() {
  cat <<'TEXT'
usage: ci/build.sh BUILD_DIR [MESON_OPTION...]

Configures BUILD_DIR (a path below the project's top folder, or absolute) with the given Meson options when
it is new or when the options or CXX have changed, then builds everything in it.

  ci/build.sh build/release
  CXX=clang++-16 ci/build.sh build/clang -Dwerror=true

HEDDLE_JOBS sets the number of compilers at a time; without it one for each CPU and each 1.5 GiB of free
memory. Exit code: 0 built, 1 does not compile, 2 usage or configuration.
TEXT
}

case ${1:-} in
  -h | --help) usage; exit 0 ;;
  '' | -*) usage >&2; exit 2 ;;
esac
cd "$(dirname "${BASH_SOURCE[0]}")/.."
dir=$1
shift
say() { printf 'build: %s\n' "$*" >&2; }
for tool in meson ninja; do
  command -v $tool >/dev/null || { say "$tool is not installed (ci/setup.sh installs it)"; exit 2; }
done

# What the folder was configured with, to see a change. Meson itself keeps a compiler for ever.
asked="CXX=${CXX:-} folder=$PWD $*"
known=$dir/heddle-configured-with
if [ ! -f "$dir/build.ninja" ] || [ "$(cat "$known" 2>/dev/null)" != "$asked" ]; then
  fresh=()
  [ -f "$dir/meson-private/coredata.dat" ] && fresh=(--wipe)
  log=$(mktemp)
  if ! meson setup "${fresh[@]}" "$dir" . "$@" >"$log" 2>&1; then
    tail -n 25 "$log" >&2
    rm -f "$log"
    say "could not configure $dir, the reason is above"
    exit 2
  fi
  rm -f "$log"
  printf '%s\n' "$asked" >"$known"
fi

# RESTinio with Asio needs more than 1 GiB per compiler; too many at once and the kernel kills one.
jobs=${HEDDLE_JOBS:-}
if [ -z "$jobs" ]; then
  jobs=$(awk '/^MemAvailable:/ { n = int($2 / (1.5 * 1024 * 1024)) } END { print n < 1 ? 1 : n }' /proc/meminfo)
  cpus=$(nproc)
  [ "$jobs" -le "$cpus" ] || jobs=$cpus
fi

quiet=(--quiet)
[ ! -t 1 ] || quiet=()
if ! ninja -C "$dir" -j "$jobs" "${quiet[@]}"; then
  say "$dir does not compile, the first error is above"
  exit 1
fi
