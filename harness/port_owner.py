"""Who listens on a TCP port, as far as this user may see it in /proc."""

import os
from pathlib import Path

LISTEN = "0A"  # the kernel's TCP_LISTEN, as /proc/net/tcp writes it
PROC = Path("/proc")


def port_owner(port: int) -> str | None:
    """`NAME, process PID` of a listener on `port`; None when it cannot be told (it belongs to
    another user, or ended meanwhile). Walks over all processes: for error messages only.
    """
    sockets = {f"socket:[{inode}]" for inode in _listening_inodes(port)}
    if not sockets:
        return None
    pids = sorted(int(entry.name) for entry in PROC.iterdir() if entry.name.isdecimal())
    for pid in pids:
        if sockets & _open_files(pid):
            return f"{_name(pid)}, process {pid}"
    return None


def _listening_inodes(port: int) -> set[str]:
    found: set[str] = set()
    for table in ("tcp", "tcp6"):
        try:
            lines = (PROC / "net" / table).read_text(encoding="ascii").splitlines()[1:]
        except OSError:
            continue
        for fields in map(str.split, lines):
            if fields[3] == LISTEN and int(fields[1].rpartition(":")[2], 16) == port:
                found.add(fields[9])
    return found


def _open_files(pid: int) -> set[str]:
    folder = f"{PROC}/{pid}/fd"
    found: set[str] = set()
    try:
        for name in os.listdir(folder):
            found.add(os.readlink(f"{folder}/{name}"))
    except OSError:
        pass  # another user's process, or one that has just ended
    return found


def _name(pid: int) -> str:
    try:
        return (PROC / str(pid) / "comm").read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return "unknown"
