"""What does the OS say that a process has used?"""

from __future__ import annotations

import os
import platform
import re
import resource
import sqlite3
import subprocess
from importlib.metadata import version

import attrs
import psutil

from tests.kafka.libs import java_command, kafka_version

KIB = 1024


@attrs.frozen
class Process:
    """One process under measurement."""

    pid: int

    def cpu_s(self) -> float:
        """CPU seconds so far, user and system."""
        times = psutil.Process(self.pid).cpu_times()
        return float(times.user + times.system)

    def resident_bytes(self) -> int:
        """Memory that it holds."""
        return int(psutil.Process(self.pid).memory_info().rss)


def machine_facts() -> list[str]:
    """What the figures depend on: cores, memory and versions; nothing that names the machine."""
    java = subprocess.run([java_command(), "-version"], capture_output=True, text=True, check=True).stderr
    said = re.search(r'version "([^"]+)"', java)
    return [
        f"{os.cpu_count()} cores, {psutil.virtual_memory().total / KIB**3:.0f} GiB, {platform.system()} "
        f"{platform.machine()}",
        f"{platform.python_implementation()} {platform.python_version()}, uvloop {version('uvloop')}, SQLite "
        f"{sqlite3.sqlite_version}",
        f"Apache Kafka {kafka_version()} on Java {said[1] if said else 'unknown'}",
    ]


def allow_connections() -> None:
    """Raise the limit on open files, which connections are, as far as this user may; processes started later have it "
    "too."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
