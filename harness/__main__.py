"""`python3 -m harness` is what benchmark.sh runs."""

import sys

from harness.cli import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
