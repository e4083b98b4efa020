"""Facts about the host for the manifest. Each is optional: unreadable means None and a check."""

import os
import platform
import re
import resource
import shutil
import socket
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TypeVar

from harness import procfs
from harness.budgets import HostLimits
from harness.cpus import CpuSets

SYSCTLS = (
    "net.ipv4.ip_local_port_range",
    "net.ipv4.ip_local_reserved_ports",
    "net.ipv4.tcp_congestion_control",
    "net.ipv4.tcp_timestamps",
    "net.ipv4.tcp_tw_reuse",
    "net.ipv4.tcp_max_syn_backlog",
    "net.core.somaxconn",
    "fs.file-max",
    "kernel.pid_max",
    "kernel.threads-max",
    "vm.max_map_count",
)
# In this order: the first one that the kernel lets both ends use. Some hosts run bbr by default,
# which paces even the loopback.
TCP_CONGESTION = 13  # linux/tcp.h; the types of the socket module do not know it
CONGESTION_CONTROLS = ("cubic", "reno")

T = TypeVar("T")


@dataclass(frozen=True)
class Check:
    """One thing looked at before or during a run. status: ok, warning, skipped or failed."""

    name: str
    status: str
    detail: str

    def as_json(self) -> dict[str, str]:
        return asdict(self)


def read_sysctl(name: str) -> str | None:
    """The value with its parts joined by one space; None when this host does not show it."""
    try:
        text = Path("/proc/sys", *name.split(".")).read_text(encoding="ascii")
    except (OSError, UnicodeDecodeError):
        return None
    return " ".join(text.split())


def whole_sysctl(name: str) -> int | None:
    value = read_sysctl(name)
    return int(value) if value is not None and re.fullmatch(r"[0-9]{1,20}", value) else None


def raise_descriptor_limit() -> tuple[int, int]:
    """Raises the soft limit to the hard one, for this process and its children.

    Returns what was found: (soft before, hard).
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return soft, hard


def _finite(limit: int) -> int | None:
    return None if limit == resource.RLIM_INFINITY else limit


def host_limits() -> HostLimits:
    # The kernel lets root start processes beyond the limit.
    processes = None if os.geteuid() == 0 else resource.getrlimit(resource.RLIMIT_NPROC)[1]
    return HostLimits(
        nofile_hard=_finite(resource.getrlimit(resource.RLIMIT_NOFILE)[1]),
        pid_max=whole_sysctl("kernel.pid_max"),
        threads_max=whole_sysctl("kernel.threads-max"),
        max_map_count=whole_sysctl("vm.max_map_count"),
        user_processes=None if processes is None else _finite(processes),
    )


def choose_congestion_control() -> str | None:
    """None: leave the host's default, because none of ours may be chosen."""
    return next((name for name in CONGESTION_CONTROLS if may_use_congestion_control(name)), None)


def may_use_congestion_control(name: str) -> bool:
    """Tried on a socket: what is allowed depends on the kernel and on this process's privileges."""
    with socket.socket() as probe:
        try:
            probe.setsockopt(socket.IPPROTO_TCP, TCP_CONGESTION, name.encode())
        except OSError:
            return False
    return True


def _cpu_model() -> str:
    text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    match = re.search(r"^(?:model name|Model|CPU part)\s*:\s*(.+)$", text, re.MULTILINE)
    if match is None:
        raise ValueError("no model in /proc/cpuinfo")
    return match.group(1).strip()


def _memory() -> tuple[int, int]:
    return procfs.parse_meminfo(Path("/proc/meminfo").read_text(encoding="ascii"))


def _os_name() -> str:
    return platform.freedesktop_os_release()["PRETTY_NAME"]


def _governor() -> str:
    path = Path("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")
    return path.read_text(encoding="ascii").strip()


class FactReader:
    """Reads facts one by one; what cannot be read is None and leaves a skipped check."""

    def __init__(self) -> None:
        self.checks: list[Check] = []

    def read(self, name: str, source: Callable[[], T]) -> T | None:
        try:
            return source()
        except (OSError, ValueError, KeyError) as error:
            self.checks.append(Check(name, "skipped", f"cannot be read here: {error}"))
            return None


def collect_host(
    results: Path, cpus: CpuSets, nofile: tuple[int, int]
) -> tuple[dict[str, object], list[Check]]:
    """The manifest's `host`, and checks for what could not be read."""
    facts = FactReader()
    memory = facts.read("memory", _memory)
    disk = facts.read("disk", lambda: shutil.disk_usage(results))
    sysctls = {name: read_sysctl(name) for name in SYSCTLS}
    for name, value in sysctls.items():
        if value is None:
            facts.checks.append(Check(name, "skipped", "cannot be read here"))
    host: dict[str, object] = {
        "cpuModel": facts.read("cpu-model", _cpu_model),
        "cpus": cpus.host,
        "memTotalBytes": memory[0] if memory else None,
        "memAvailableBytes": memory[1] if memory else None,
        "diskTotalBytes": disk.total if disk else None,
        "diskAvailableBytes": disk.free if disk else None,
        "kernel": platform.release(),
        "os": facts.read("os", _os_name),
        "governor": facts.read("governor", _governor),
        "cpusets": {"service": list(cpus.service), "loadgen": list(cpus.loadgen)},
        "limits": {"nofileSoft": nofile[0], "nofileHard": nofile[1]},
        "sysctls": sysctls,
    }
    return host, facts.checks
