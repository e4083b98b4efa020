#!/usr/bin/env bash
# Looks for inputs that the load generator's parsers cannot take. See usage().
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

usage() {
  cat <<'TEXT'
usage: ci/fuzz.sh [SECONDS [TARGET...]]

Builds the targets of tests/fuzz (response, plan, url, text; all without TARGET) with clang, libFuzzer and the
address and undefined behaviour sanitizers into build/fuzz, and runs each for SECONDS (default 60) from its
corpus in tests/fuzz/corpus. What a run finds on its way is kept in build/fuzz/found for the next one.
Exit code: 0 nothing was found, 1 an input breaks a target (its file is named), 2 usage or a missing tool.
TEXT
}

case ${1:-} in
  -h | --help) usage; exit 0 ;;
esac
seconds=${1:-60}
[[ $seconds =~ ^[1-9][0-9]*$ ]] || { usage >&2; exit 2; }
[ $# -eq 0 ] || shift
targets=("$@")
[ $# -gt 0 ] || targets=(response plan url text)
clang=$(compgen -c clang++- | grep -E '^clang\+\+-(1[6-9]|[2-9][0-9])$' | sort -V | head -n 1) || {
  echo "ci/fuzz.sh: no clang 16 or newer (ci/setup.sh --test installs it)" >&2
  exit 2
}
for target in "${targets[@]}"; do
  [ -f "tests/fuzz/${target}_target.cpp" ] && continue
  echo "ci/fuzz.sh: no target '$target', accepted: response, plan, url, text" >&2
  exit 2
done

out=build/fuzz
mkdir -p $out/objects $out/failures
flags=(-std=c++20 -O1 -g -fno-omit-frame-pointer "-fsanitize=address,undefined" -fno-sanitize-recover=all
  -D_GLIBCXX_ASSERTIONS -I.)
# Only what the targets link: the parsers, and what they are made of.
sources=(loadgen/plan/*.cpp loadgen/http/*.cpp loadgen/cli/values.cpp loadgen/record/*.cpp)

# shellcheck disable=SC2317 # xargs calls it
compile() {
  local source=$1 object
  object=build/fuzz/objects/$(tr / _ <<<"${source%.cpp}").o
  shift
  "$@" -fsanitize=fuzzer-no-link -c "$source" -o "$object"
}
export -f compile
if ! printf '%s\n' "${sources[@]}" "${targets[@]/%/_target.cpp}" |
  sed '/_target.cpp$/s,^,tests/fuzz/,' |
  xargs -P "$(nproc)" -I '{}' bash -c 'compile "$@"' compile '{}' "$clang" "${flags[@]}"; then
  echo "ci/fuzz.sh: a target does not compile with $clang, the first error is above (libclang-rt there?)" >&2
  exit 2
fi

failed=0
for target in "${targets[@]}"; do
  objects=()
  for source in "${sources[@]}" "tests/fuzz/${target}_target.cpp"; do
    objects+=("$out/objects/$(tr / _ <<<"${source%.cpp}").o")
  done
  "$clang" "${flags[@]}" -fsanitize=fuzzer "${objects[@]}" -lboost_json -lfmt -pthread -o "$out/$target"
  mkdir -p "$out/found/$target"
  log=$out/$target.log
  # No input of 4 KiB is worth an allocation of 64 MiB.
  if "$out/$target" -max_total_time="$seconds" -max_len=4096 -timeout=10 -rss_limit_mb=2048 -malloc_limit_mb=64 \
    -artifact_prefix="$out/failures/$target-" -print_final_stats=1 \
    "$out/found/$target" "tests/fuzz/corpus/$target" >"$log" 2>&1; then
    printf '%s: nothing in %d s, %s inputs\n' "$target" "$seconds" \
      "$(awk '/number_of_executed_units/ { print $2 }' "$log")"
  else
    failed=1
    grep -E '^(does not hold|==|SUMMARY|.*runtime error)' "$log" >&2 || tail -n 20 "$log" >&2
    printf '%s: broken by %s\n' "$target" "$(sed -n 's/.*Test unit written to //p' "$log" | tail -n 1)" >&2
  fi
done
exit $failed
