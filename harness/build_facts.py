"""Commit, compiler, flags and versions: what exactly was measured."""

import hashlib
import importlib.metadata
import json
import platform
import shlex
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

PYTHON_PACKAGES = ("numpy", "pandas", "matplotlib", "psutil")


@dataclass(frozen=True)
class Commit:
    """`dirty_diff` is a SHA-256 over the diff and the names and contents of untracked files."""

    commit: str | None
    dirty: bool | None
    dirty_diff: str | None


def run_text(command: Sequence[str], folder: Path | None = None) -> str | None:
    """Standard output of a short command; None when it is absent or fails."""
    try:
        done = subprocess.run(
            command, cwd=folder, capture_output=True, timeout=30, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.decode("utf-8", "replace") if done.returncode == 0 else None


def read_commit(root: Path, results: Path) -> Commit:
    """The state of the checkout; all None when it is no git repository. What lies below `results`
    is not part of it."""
    commit = run_text(["git", "rev-parse", "HEAD"], root)
    diff = run_text(["git", "diff", "HEAD", "--binary"], root)
    untracked = run_text(["git", "ls-files", "--others", "--exclude-standard", "-z"], root)
    if commit is None or diff is None or untracked is None:
        return Commit(None, None, None)
    names = sorted(
        name
        for name in untracked.split("\0")
        if name and not (root / name).resolve().is_relative_to(results)
    )
    if not diff and not names:
        return Commit(commit.strip(), False, None)
    digest = hashlib.sha256(diff.encode())
    for name in names:
        digest.update(name.encode() + (file_digest(root / name) or "").encode())
    return Commit(commit.strip(), True, digest.hexdigest())


def file_digest(path: Path) -> str | None:
    """SHA-256 of a file; None when it cannot be read."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return None


def build_folder(binary: Path) -> Path | None:
    """The Meson build folder that holds a binary; None for a binary from elsewhere."""
    folders = [folder for folder in binary.resolve().parents if (folder / "meson-info").is_dir()]
    return folders[0] if folders else None


def read_build(binary: Path) -> dict[str, str | None]:
    """Compiler, flags and build type of the build that made `binary`."""
    folder = build_folder(binary)
    compile_line = _compile_line(folder) if folder else None
    if folder is None or compile_line is None:
        return {"compiler": None, "flags": None, "buildType": None}
    compiler, *arguments = compile_line
    version = (run_text([compiler, "--version"]) or compiler).splitlines()[0]
    flags = [a for a in arguments if a.startswith(("-O", "-g", "-f", "-m", "-D", "-std", "-W"))]
    options = _options(folder)
    return {
        "compiler": version,
        "flags": " ".join(dict.fromkeys(flags)),
        "buildType": " ".join(
            f"{name}={options[name]}"
            for name in ("buildtype", "optimization", "debug", "b_lto", "b_ndebug")
            if name in options
        ),
    }


def _compile_line(folder: Path) -> list[str] | None:
    try:
        commands = json.loads((folder / "compile_commands.json").read_text(encoding="utf-8"))
        for command in commands:
            if "services/" in command["file"] and "tests/" not in command["file"]:
                words = shlex.split(command["command"])
                return words[1:] if words[0].endswith("ccache") else words
    except (OSError, ValueError, KeyError, TypeError):
        pass
    return None


def _options(folder: Path) -> dict[str, str]:
    try:
        text = (folder / "meson-info" / "intro-buildoptions.json").read_text(encoding="utf-8")
        return {option["name"]: str(option["value"]).lower() for option in json.loads(text)}
    except (OSError, ValueError, KeyError, TypeError):
        return {}


def read_versions(service: Path, load: Path) -> dict[str, str | None]:
    """Versions found at run time; None for what does not tell its version."""
    versions: dict[str, str | None] = {
        "heddle-service": _first_line(run_text([str(service), "--version"])),
        "heddle-load": _first_line(run_text([str(load), "--version"])),
        "python": platform.python_version(),
        "libc": " ".join(platform.libc_ver()).strip() or None,
    }
    for name in PYTHON_PACKAGES:
        try:
            versions[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            versions[name] = None
    folder = build_folder(service)
    return {**versions, **(_libraries(folder) if folder else {})}


def _first_line(text: str | None) -> str | None:
    lines = (text or "").strip().splitlines()
    return lines[0] if lines else None


def _libraries(folder: Path) -> dict[str, str | None]:
    try:
        info = folder / "meson-info"
        meson = json.loads((info / "meson-info.json").read_text(encoding="utf-8"))
        text = (info / "intro-dependencies.json").read_text(encoding="utf-8")
        libraries = {item["name"]: item["version"] for item in json.loads(text)}
        return {"meson": meson["meson_version"]["full"], **libraries}
    except (OSError, ValueError, KeyError, TypeError):
        return {}
