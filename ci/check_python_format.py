"""Checks Python files: they compile, no line is too long, no tab, no trailing blank, one newline at
the end.

`check_python_format.py FILE...` prints FILE:LINE: what; exit code 1 when there is something to
print. Nothing is written, not even a compiled file.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

MAX_COLUMNS = 100  # as in .editorconfig


def faults(path: Path) -> Iterator[tuple[int, str]]:
    """Line number and description of each fault."""
    text = path.read_text(encoding="utf-8")
    try:
        compile(text, str(path), "exec", dont_inherit=True)
    except SyntaxError as error:
        yield error.lineno or 1, f"does not compile: {error.msg}"
    lines = text.split("\n")
    for number, line in enumerate(lines, start=1):
        if len(line) > MAX_COLUMNS:
            yield number, f"{len(line)} columns, {MAX_COLUMNS} are allowed"
        if "\t" in line:
            yield number, "a tab"
        if line != line.rstrip():
            yield number, "blanks at the end"
    if text and (lines[-1] != "" or lines[-2:] == ["", ""]):
        yield len(lines), "not exactly one newline at the end"


def main(names: list[str]) -> int:
    found = [f"{name}:{line}: {what}" for name in names for line, what in faults(Path(name))]
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
