"""Command line: renders the reports of a result folder once more."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from analysis.render import render_run

USAGE_ERROR = 2


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="analysis", description="Writes verdicts.csv, charts, results.png, results.svg and "
        "results.md of a result folder anew, from its results.csv, manifest.json and trials/.")
    parser.add_argument("run_dir", type=Path, metavar="RUN_DIR", help="a folder in build/results")
    parser.add_argument("--keep-raw", action="store_true",
                        help="also write SCENARIO/APPROACH-{latency,system,runtime}.csv")
    options = parser.parse_args(arguments)
    folder: Path = options.run_dir
    if not (folder / "results.csv").is_file() and not (folder / "manifest.json").is_file():
        print(f"analysis: {folder} holds neither results.csv nor manifest.json", file=sys.stderr)
        return USAGE_ERROR
    for warning in render_run(folder, options.keep_raw):
        print(f"warning: {warning}", file=sys.stderr)
    print(folder / "results.md")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
