"""Checks which folder may use which, and that no source file grows too long.

`check_layers.py TOP` looks at the includes of the C++ files and the imports of the Python files
that git tracks below TOP (every file when TOP is no work tree) and prints FILE:LINE: what for each
arrow that is not on the tables below. Exit code 1 when there is one. Arrows point down only, so no
two folders can use each other; tests may use everything.
"""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from tracked_files import tracked_files

MAX_LINES = 600

# Folder -> folders it may use besides itself. A file directly in a parent ("loadgen/main.cpp")
# falls under the parent's own entry.
LEAVES = {"services/metrics", "host-tuning"}
BELOW_MODELS = {"services/upstream", "services/movies", "services/waiting", "services/api"}
CPP_ARROWS: dict[str, set[str]] = {
    "host-tuning": set(),
    "services/metrics": {"host-tuning"},
    "services/api": set(),
    "services/waiting": LEAVES,
    "services/movies": LEAVES | {"services/waiting", "services/api"},
    "services/upstream": LEAVES | {"services/waiting", "services/api"},
    "services/models": LEAVES | BELOW_MODELS,
    "services/servers": LEAVES | BELOW_MODELS | {"services/models"},
    "services/approaches": LEAVES | BELOW_MODELS | {"services/models", "services/servers"},
    "loadgen/plan": set(),
    "loadgen/record": set(),
    "loadgen/http": {"loadgen/plan"},  # a request's bytes are made from the plan's description
    "loadgen/engine": {"host-tuning", "loadgen/plan", "loadgen/http", "loadgen/record"},
    "loadgen/report": {"loadgen/record"},
    "loadgen": {
        "host-tuning",
        "loadgen/plan",
        "loadgen/http",
        "loadgen/record",
        "loadgen/engine",
        "loadgen/report",
    },
}
PYTHON_ARROWS: dict[str, set[str]] = {"harness": {"analysis"}, "analysis": set()}

# What a folder must not include from outside: pure folders touch no network and no threads, and
# only the servers know the HTTP library.
NETWORK = r"boost/(asio|beast|fiber)|restinio|sys/socket|sys/epoll"
THREADS = r"thread|mutex|condition_variable"
FORBIDDEN_HEADERS: dict[str, str] = {
    "services/api": rf"({NETWORK}|{THREADS}|unistd\.h|sys/)",
    "services/metrics": r"(boost/(asio|beast|fiber)|restinio)",
    "services/waiting": r"(boost/beast|restinio|http_parser)",
    "services/movies": r"(boost/beast|restinio)",
    "services/upstream": r"restinio",
    "services/models": r"restinio",
    "loadgen/plan": rf"({NETWORK}|{THREADS})",
    "loadgen/record": rf"({NETWORK})",
    "loadgen": r"restinio",
}

INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)')
Fault = tuple[Path, int, str]


def owner(path: str, table: dict[str, set[str]]) -> str | None:
    """The longest entry of the table that contains the path."""
    parents = [parent.as_posix() for parent in Path(path).parents]
    return next((parent for parent in parents if parent in table), None)


def cpp_faults(path: Path, text: str) -> Iterator[Fault]:
    user = owner(path.as_posix(), CPP_ARROWS)
    if user is None:
        return
    for number, line in enumerate(text.splitlines(), start=1):
        match = INCLUDE.match(line)
        if not match:
            continue
        ours, foreign = match.groups()
        if foreign is not None:
            pattern = FORBIDDEN_HEADERS.get(user)
            if pattern and re.match(pattern, foreign):
                yield path, number, f"{user} must not include <{foreign}>"
            continue
        used = owner(ours, CPP_ARROWS)
        if used is None:
            yield path, number, f'"{ours}" is not written from the top folder'
        elif used != user and used not in CPP_ARROWS[user]:
            yield path, number, f"{user} must not use {used}"


def imported(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Line and top package of every absolute import."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name.split(".")[0]) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            yield node.lineno, node.module.split(".")[0]


def python_faults(path: Path, text: str) -> Iterator[Fault]:
    user = path.parts[0]
    if user not in PYTHON_ARROWS:
        return
    for number, package in imported(ast.parse(text)):
        ours = package in PYTHON_ARROWS or package == "tests"
        if ours and package != user and package not in PYTHON_ARROWS[user]:
            yield path, number, f"{user} must not import {package}"


def faults(top: Path) -> Iterator[Fault]:
    for path in tracked_files(top):
        if path.suffix not in {".cpp", ".hpp", ".py", ".sh"}:
            continue
        text = (top / path).read_text(encoding="utf-8")
        lines = text.count("\n")
        if lines > MAX_LINES:
            yield path, lines, f"{lines} lines, {MAX_LINES} are allowed: which two things are here?"
        if path.suffix == ".py":
            yield from python_faults(path, text)
        elif path.suffix != ".sh":
            yield from cpp_faults(path, text)


def main(arguments: list[str]) -> int:
    found = list(faults(Path(arguments[0] if arguments else ".")))
    for path, line, what in found:
        print(f"{path}:{line}: {what}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
