# shellcheck shell=bash
# To be sourced. Debian's Python packages belong to /usr/bin/python3; a python3 earlier on PATH (pyenv,
# conda) may not see them, so the scripts look for one that does.

# heddle_python MODULE... prints the first Python >= 3.11 that finds every module; HEDDLE_PYTHON goes
# first, then /usr/bin/python3, then PATH. Returns 1 and says on stderr what each one lacks. The modules
# are found, not imported: an import of pandas alone takes half a second.
heddle_python() {
  local candidate lacks said=
  for candidate in "${HEDDLE_PYTHON:-}" /usr/bin/python3 python3 python3.13 python3.12 python3.11; do
    command -v "${candidate:-/nonexistent}" >/dev/null || continue
    lacks=$("$candidate" - "$@" 2>&1 <<'PYTHON'
import sys
from importlib.util import find_spec
lacks = [] if sys.version_info >= (3, 11) else ["version 3.11"]
print(*lacks, *[name for name in sys.argv[1:] if find_spec(name) is None])
PYTHON
    ) || lacks="everything, it does not run (${lacks%%$'\n'*})"
    if [ -z "$lacks" ]; then
      command -v "$candidate"
      return 0
    fi
    said+="  $(command -v "$candidate") lacks: $lacks"$'\n'
  done
  printf 'no suitable Python found%s\n%s' "${1:+ (modules wanted: $*)}" "${said:-  there is no python3 at all$'\n'}" >&2
  return 1
}
