#!/usr/bin/env bash
# Runs several scenario files one after the other. See usage().
set -euo pipefail
top=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

usage() {
  cat <<'TEXT'
usage: ./benchmarks.sh [-o "OPTIONS"] [-h] [SCENARIO_FILE...]

Runs ./benchmark.sh with each scenario file in turn (default: scenarios-quick.csv scenarios-default.csv)
and goes on after one that failed.

  -o "OPTIONS"   options for every ./benchmark.sh, split at spaces, such as "-n 5 -C"
  -h             this text

Exit code: 0 when all ended with 0, 130 as soon as one was interrupted, else the highest of theirs.
TEXT
}

[ "${1:-}" != --help ] || { usage; exit 0; }
options=()
while getopts ':o:h' option; do
  case $option in
    o) read -ra options <<<"$OPTARG" ;;
    h) usage; exit 0 ;;
    *) echo "benchmarks.sh: unknown or incomplete option -$OPTARG (see -h)" >&2; exit 2 ;;
  esac
done
shift $((OPTIND - 1))
[ $# -gt 0 ] || set -- scenarios-quick.csv scenarios-default.csv

worst=0
ended=()
for file; do
  printf '== %s\n' "$file"
  status=0
  "$top/benchmark.sh" "${options[@]}" "$file" || status=$?
  ended+=("$status  $file")
  [ "$status" -ne 130 ] || exit 130
  [ "$status" -le "$worst" ] || worst=$status
done
printf '== exit codes\n'
printf '%s\n' "${ended[@]}"
exit "$worst"
