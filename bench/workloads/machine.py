"""Processor time of processes, and what the machine gives at the moment."""
import os
import tempfile
import time

TICKS = os.sysconf("SC_CLK_TCK")


def stat_fields(pid):
    with open(f"/proc/{pid}/stat") as file:
        return file.read().rsplit(")", 1)[1].split()


def with_descendants(pid):
    children = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                children.setdefault(int(stat_fields(name)[1]), []).append(int(name))
            except OSError:
                pass  # It has ended.
    found, to_do = [], [pid]
    while to_do:
        found.append(to_do.pop())
        to_do += children.get(found[-1], [])
    return found


def cpu_seconds(pid):
    """Of a process, its descendants and those of them that have ended."""
    ticks = 0
    for one in with_descendants(pid):
        try:
            ticks += sum(map(int, stat_fields(one)[11:15]))
        except OSError:
            pass
    return ticks / TICKS


def busy_seconds():
    """Of all processors together, since the machine started."""
    with open("/proc/stat") as file:
        times = list(map(int, file.readline().split()[1:9]))
    return (sum(times) - times[3] - times[4]) / TICKS


def syncs_per_second(directory):
    """How many times 1 KiB can be appended to a file and synced: the limit of one durable caller."""
    with tempfile.TemporaryFile(dir=directory, buffering=0) as file:
        count, start = 0, time.perf_counter()
        while time.perf_counter() - start < 0.5:
            file.write(b"x" * 1024)
            os.fdatasync(file.fileno())
            count += 1
        return count / (time.perf_counter() - start)


def description():
    with open("/proc/cpuinfo") as file:
        model = next((line.split(":")[1].strip() for line in file if line.startswith("model name")), "unknown")
    return {"processor": model, "cores": os.cpu_count(), "kernel": os.uname().release,
            "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")}
