#!/usr/bin/env bash
# Makes sure that the packages on ci/packages-debian*.txt are there. See usage().
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. ci/python.sh

usage() {
  cat <<'TEXT'
usage: ci/setup.sh [--test] [--bench] [--check] [-h]

Installs the Debian or Ubuntu packages that Heddle needs; says and does nothing when all are there.
Needs root or a sudo without password; otherwise prints the one command to run and stops. Where there is
no apt, or no right to install, tools and libraries that came from elsewhere count, too.

  --test    also what ./test.sh and the checks need     (ci/packages-debian-test.txt)
  --bench   also the reference servers and clients      (ci/packages-debian-bench.txt)
  --check   install nothing, print what is missing
  -h        this text

Exit code: 0 all there, 2 something is missing and was not installed.
TEXT
}

lists=(ci/packages-debian.txt)
check_only=
for argument; do
  case $argument in
    --test) lists+=(ci/packages-debian-test.txt) ;;
    --bench) lists+=(ci/packages-debian-bench.txt) ;;
    --check) check_only=1 ;;
    -h | --help) usage; exit 0 ;;
    *) echo "ci/setup.sh: unknown option '$argument' (see ci/setup.sh --help)" >&2; exit 2 ;;
  esac
done

have() { command -v "$1" >/dev/null; }
say() { printf 'setup: %s\n' "$*" >&2; }

# wanted[i] = "name|alternative", probes[i] = "cmd:...", "header:...", "file:..." or "python:..."
wanted=() probes=()
while read -r names probe _; do
  case $names in '' | '#'*) continue ;; esac
  wanted+=("$names")
  probes+=("$probe")
done < <(cat "${lists[@]}")

# Sets missing to the indexes of wanted that no installed package satisfies. One call of dpkg-query.
find_missing() {
  local -A installed=()
  local name status i
  if have dpkg-query; then
    while read -r name status; do
      [ "${status:1:1}" = i ] && installed[$name]=1
    # dpkg-query fails when it does not know one of the names; that one is simply missing.
    done < <(tr '|' '\n' < <(printf '%s\n' "${wanted[@]}") |
      xargs dpkg-query -W -f="\${Package} \${db:Status-Abbrev}\n" 2>/dev/null)
  fi
  missing=()
  for i in "${!wanted[@]}"; do
    for name in ${wanted[i]//|/ }; do
      [ -n "${installed[$name]:-}" ] && continue 2
    done
    missing+=("$i")
  done
}

# Takes out of missing what is found without a package.
drop_found_elsewhere() {
  local i kind what left=()
  for i in "${missing[@]}"; do
    kind=${probes[i]%%:*} what=${probes[i]#*:}
    case $kind in
      cmd) have "$what" ;;
      header) printf '#include <%s>\n' "$what" | "${CXX:-g++}" -std=c++20 -fsyntax-only -x c++ - 2>/dev/null ;;
      file) [ -e "$what" ] ;;
      python) heddle_python "$what" >/dev/null 2>&1 ;;
      *) false ;;
    esac || left+=("$i")
  done
  missing=("${left[@]}")
}

# Sets install to one package name for each missing entry: the first alternative that apt can deliver,
# and unavailable to the entries for which there is none.
choose_packages() {
  local -A candidate=()
  local name value i
  while read -r name value; do
    candidate[$name]=$value
  done < <(for i in "${missing[@]}"; do tr '|' '\n' <<<"${wanted[i]}"; done | LC_ALL=C xargs apt-cache policy |
    awk '/^[^ ]/ { name = $1; sub(/:$/, "", name) } /^  Candidate:/ && $2 != "(none)" { print name, $2 }')
  install=() unavailable=()
  for i in "${missing[@]}"; do
    for name in ${wanted[i]//|/ }; do
      if [ -n "${candidate[$name]:-}" ]; then
        install+=("$name")
        continue 2
      fi
    done
    unavailable+=("${wanted[i]}")
  done
}

# --no-remove: a package in conflict (another Boost, say) is somebody's; it is not ours to remove.
apt_install=(apt-get install -y --no-install-recommends --no-remove)

# Runs apt-get with the rights to do so, its output into $log. While it runs no service gets started:
# packages ask policy-rc.d, and 101 means "not allowed".
run_apt() {
  # shellcheck disable=SC2016 # expanded by the inner shell
  local quiet='policy=/usr/sbin/policy-rc.d
    if [ ! -e $policy ]; then
      trap "rm -f $policy" EXIT
      printf "#!/bin/sh\nexit 101\n" >$policy
      chmod 755 $policy
    fi
    export DEBIAN_FRONTEND=noninteractive LC_ALL=C
    "$@"'
  "${as_root[@]}" sh -c "$quiet" sh "$@" -o DPkg::Lock::Timeout=120 >>"$log" 2>&1 </dev/null
}

names_of_missing() {
  local i
  for i in "${missing[@]}"; do printf '%s ' "${wanted[i]%%|*}"; done
}

find_missing
[ ${#missing[@]} -gt 0 ] || exit 0
if [ -n "$check_only" ]; then
  drop_found_elsewhere
  [ ${#missing[@]} -gt 0 ] || exit 0
  for i in "${missing[@]}"; do printf '%s\n' "${wanted[i]}"; done
  exit 2
fi

if [ "$(id -u)" = 0 ]; then
  as_root=(env)
elif have sudo && sudo -n true 2>/dev/null; then
  as_root=(sudo -n)
else
  as_root=()
fi

# In a Nix shell everything comes from the flake: nothing is installed into the host.
if ! have apt-get || [ ${#as_root[@]} -eq 0 ] || [ -n "${IN_NIX_SHELL:-}" ]; then
  drop_found_elsewhere
  [ ${#missing[@]} -gt 0 ] || exit 0
  if have apt-get; then
    choose_packages
    say "packages are missing and this user may not install them. Run this once, then start again:"
    printf '  sudo sh -c "apt-get update && %s"\n' "${apt_install[*]} ${install[*]} ${unavailable[*]%%|*}" >&2
  else
    say "this system has no apt-get; please install what these Debian packages stand for, then start again:"
    printf '  %s\n' "$(names_of_missing)" >&2
  fi
  exit 2
fi

log=$(mktemp)
trap 'rm -f "$log"' EXIT
fail() {
  say "$1"
  tail -n 15 "$log" >&2
  exit 2
}

update() { run_apt apt-get update || fail "apt-get update failed:"; }

choose_packages
updated=
if [ ${#unavailable[@]} -gt 0 ]; then  # no package lists yet, or old ones
  say "reading the package lists"
  update
  updated=1
  choose_packages
fi
if [ ${#unavailable[@]} -gt 0 ]; then
  say "this distribution has no package for: ${unavailable[*]}"
  exit 2
fi

say "installing ${#install[@]} packages: ${install[*]}"
if ! run_apt "${apt_install[@]}" "${install[@]}"; then
  # Lists older than the archive name versions that are gone; once with new ones, then it is an error.
  [ -n "$updated" ] || update
  run_apt "${apt_install[@]}" "${install[@]}" || fail "could not install: ${install[*]}"
fi

find_missing
[ ${#missing[@]} -eq 0 ] || fail "still missing after the installation: $(names_of_missing)"
