#!/usr/bin/env bash
# Compares this host's settings with host-tuning/settings.conf. See usage().
set -euo pipefail
export LC_ALL=C

settings=$(dirname "${BASH_SOURCE[0]}")/settings.conf
sysctls=${HEDDLE_SYSCTL_ROOT:-/proc/sys}

usage() {
  cat <<'TEXT'
usage: host-tuning/tune-benchmark-host.sh --check [--format text|tsv] | --print | -h

Compares the kernel settings and limits of this host with what a benchmark needs (host-tuning/settings.conf).
Changes nothing.

  --check         one line per setting: what was found, what is wanted
  --format FORMAT text (default), for people; or tsv: name, found, wanted, and ok, differs or unreadable
  --print         the wanted settings only
  -h, --help      this text

Exit code: 0 all as wanted, 1 a setting differs or cannot be read, 2 usage.
Environment: HEDDLE_SYSCTL_ROOT, the folder to read instead of /proc/sys.
TEXT
}

fail_usage() {
  echo "tune-benchmark-host.sh: $1 (see --help)" >&2
  exit 2
}

# wanted_lines: "NAME RULE VALUE" of each setting, without comments and blank lines.
wanted_lines() {
  sed -e 's/#.*//' -e '/^[[:space:]]*$/d' "$settings"
}

# found_value NAME: prints what this host has, with single blanks; status 1 when that cannot be read.
found_value() {
  local text
  if [ "$1" = nofile ]; then
    text=$(ulimit -Hn)
  else
    text=$(cat "$sysctls/${1//.//}" 2>/dev/null) || return 1
  fi
  # Reads to the end of the text, which read reports as 1: there is no NUL to stop at.
  read -r -d '' -a words <<<"$text" || true
  echo "${words[*]}"
}

# at_least FOUND WANTED: numbers of any length, since fs.file-max may be 2^63 - 1.
at_least() {
  [ "$1" = unlimited ] && return 0
  [[ $1 =~ ^[0-9]+$ ]] || return 1
  [ "${#1}" -gt "${#2}" ] && return 0
  [ "${#1}" -eq "${#2}" ] && [[ ! $1 < $2 ]]
}

# covers "LOW HIGH" "LOW HIGH": does the first range hold the second.
covers() {
  local found wanted
  read -r -a found <<<"$1"
  read -r -a wanted <<<"$2"
  [ "${#found[@]}" -eq 2 ] && at_least "${wanted[0]}" "${found[0]}" && at_least "${found[1]}" "${wanted[1]}"
}

# contains LIST PORT: is the port in a list like "8080,9000-9100".
contains() {
  local part parts
  IFS=, read -r -a parts <<<"$1"
  for part in "${parts[@]}"; do
    covers "${part%-*} ${part#*-}" "$2 $2" && return 0
  done
  return 1
}

# holds RULE FOUND WANTED
holds() {
  case $1 in
    '=') [ "$2" = "$3" ] ;;
    '>=') at_least "$2" "$3" ;;
    covers) covers "$2" "$3" ;;
    contains) contains "$2" "$3" ;;
    *) echo "tune-benchmark-host.sh: $settings: unknown rule '$1'" >&2; exit 2 ;;
  esac
}

# wanted_text RULE VALUE: for people and for the tsv; a rule other than "the same" is named.
wanted_text() {
  case $1 in
    '=') echo "$2" ;;
    covers) echo "$2 or wider" ;;
    *) echo "$1 $2" ;;
  esac
}

check() {
  local format=$1 name rule wanted found state differing=0
  while read -r name rule wanted; do
    state=ok
    if ! found=$(found_value "$name"); then
      state=unreadable
    elif ! holds "$rule" "$found" "$wanted"; then
      state=differs
    fi
    [ "$state" = ok ] || differing=$((differing + 1))
    wanted=$(wanted_text "$rule" "$wanted")
    if [ "$format" = tsv ]; then
      printf '%s\t%s\t%s\t%s\n' "$name" "$found" "$wanted" "$state"
    else
      printf '%-10s %-33s found %-14s wanted %s\n' "$state" "$name" "${found:-nothing}" "$wanted"
    fi
  done < <(wanted_lines)
  [ "$differing" -eq 0 ]
}

print() {
  local name rule wanted
  while read -r name rule wanted; do
    echo "$name $rule $wanted"
  done < <(wanted_lines)
}

action='' format=text
while [ $# -gt 0 ]; do
  case $1 in
    --check | --print) action=$1 ;;
    --format)
      [ $# -gt 1 ] || fail_usage "--format needs a value: text or tsv"
      format=$2
      shift
      ;;
    -h | --help) usage; exit 0 ;;
    *) fail_usage "unknown option '$1'" ;;
  esac
  shift
done
case $format in
  text | tsv) ;;
  *) fail_usage "unknown format '$format', accepted are text and tsv" ;;
esac
[ -r "$settings" ] || fail_usage "cannot read $settings"

case $action in
  --check) check "$format" ;;
  --print) print ;;
  *) fail_usage "nothing to do: --check or --print is needed" ;;
esac
