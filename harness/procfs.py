"""Parsers for the kernel's text files. Pure: text in, numbers out; KeyError or ValueError when the
text is not what proc(5) says."""

from dataclasses import dataclass

# /proc counts CPU time in ticks of 1/100 s on every Linux that Debian runs on (USER_HZ).
MICROS_PER_TICK = 10_000
CPU_FIELDS = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")


@dataclass(frozen=True)
class CpuTimes:
    """Cumulative microseconds; `user` includes nice (and guests, which the kernel adds there)."""

    user: int
    system: int
    idle: int
    iowait: int
    irq: int
    softirq: int
    steal: int

    @property
    def busy(self) -> int:
        """All but idle and iowait."""
        return self.user + self.system + self.irq + self.softirq + self.steal


@dataclass(frozen=True)
class ProcessStat:
    """Of one process, all its threads: cumulative microseconds, a count, pages."""

    user_micros: int
    system_micros: int
    threads: int
    rss_pages: int


def parse_stat(text: str) -> dict[str, CpuTimes]:
    """/proc/stat: 'cpu' (all CPUs) and 'cpuN' -> times."""
    times: dict[str, CpuTimes] = {}
    for line in text.splitlines():
        if not line.startswith("cpu"):
            break
        name, *fields = line.split()
        ticks = dict(zip(CPU_FIELDS, (int(f) * MICROS_PER_TICK for f in fields), strict=False))
        times[name] = CpuTimes(
            user=ticks["user"] + ticks["nice"],
            system=ticks["system"],
            idle=ticks["idle"],
            iowait=ticks["iowait"],
            irq=ticks["irq"],
            softirq=ticks["softirq"],
            steal=ticks["steal"],
        )
    return times


def parse_process_stat(text: str) -> ProcessStat:
    """/proc/PID/stat; the name in brackets may itself hold brackets and spaces."""
    fields = text[text.rindex(")") + 2 :].split()
    # proc(5) counts from 1 with the name as field 2; `fields` begins at field 3.
    return ProcessStat(
        user_micros=int(fields[14 - 3]) * MICROS_PER_TICK,
        system_micros=int(fields[15 - 3]) * MICROS_PER_TICK,
        threads=int(fields[20 - 3]),
        rss_pages=int(fields[24 - 3]),
    )


def parse_meminfo(text: str) -> tuple[int, int]:
    """/proc/meminfo -> (total, available) bytes."""
    found: dict[str, int] = {}
    for line in text.splitlines():
        name, _, value = line.partition(":")
        if name in ("MemTotal", "MemAvailable"):
            found[name] = int(value.split()[0]) * 1024
            if len(found) == 2:
                break
    return found["MemTotal"], found["MemAvailable"]


def parse_paired(text: str, protocol: str) -> dict[str, int]:
    """/proc/net/snmp and netstat: a line of names, then a line of values, per protocol."""
    lines = [line for line in text.splitlines() if line.startswith(protocol + ":")]
    names, values = lines[0].split()[1:], lines[1].split()[1:]
    return {name: int(value) for name, value in zip(names, values, strict=True)}


def parse_sockstat(text: str) -> int:
    """/proc/net/sockstat -> TCP sockets in use."""
    for line in text.splitlines():
        if line.startswith("TCP:"):
            fields = line.split()
            return int(fields[fields.index("inuse") + 1])
    raise KeyError("TCP")


def parse_loopback(text: str) -> tuple[int, int, int, int]:
    """/proc/net/dev -> (received bytes, sent bytes, received packets, sent packets) of lo."""
    for line in text.splitlines():
        name, _, rest = line.partition(":")
        if name.strip() == "lo":
            fields = [int(field) for field in rest.split()]
            return fields[0], fields[8], fields[1], fields[9]
    raise KeyError("lo")
