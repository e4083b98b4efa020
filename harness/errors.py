"""The errors of the harness; each carries the exit code that formats.md gives its kind."""

EXIT_OK = 0
EXIT_FAILED = 1
EXIT_USAGE = 2
EXIT_NOT_MEASURABLE = 3
EXIT_INTERRUPTED = 130


class HarnessError(Exception):
    """Anything that the harness tells the user in one line instead of a traceback."""

    exit_code = EXIT_FAILED


class UsageError(HarnessError):
    """A wrong option, file, profile or configuration; nothing was started."""

    exit_code = EXIT_USAGE


class NotMeasurable(HarnessError):
    """This host cannot give a trustworthy result (no disk space, nothing that fits)."""

    exit_code = EXIT_NOT_MEASURABLE


class Interrupted(HarnessError):
    """The user stopped the run with SIGINT, SIGTERM or SIGHUP."""

    exit_code = EXIT_INTERRUPTED


class RunBroken(HarnessError):
    """The run cannot go on, for the disk is full or its folder is gone; its children are ended."""


class TrialFailed(HarnessError):
    """One trial gave no trustworthy numbers; it becomes an error row and the run goes on."""
