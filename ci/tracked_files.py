"""Which files the checks look at."""

import subprocess
import sys
from pathlib import Path


def tracked_files(top: Path) -> list[Path]:
    """Paths relative to top of the files that git tracks and that exist; every file when top is not
    inside a git work tree. Ends the program when git cannot tell (say, over the owner of the tree).
    """
    if not any((folder / ".git").exists() for folder in (top.resolve(), *top.resolve().parents)):
        return [path.relative_to(top) for path in sorted(top.rglob("*")) if path.is_file()]
    command = ["git", "-C", str(top), "ls-files", "-z"]
    listing = subprocess.run(command, capture_output=True, text=True, check=False)
    if listing.returncode != 0:
        sys.exit(f"git ls-files failed: {listing.stderr.strip()}")
    names = filter(None, listing.stdout.split("\0"))
    return [Path(name) for name in names if (top / name).is_file()]
