"""How does a test run workers in processes of their own, and see who ran what when?"""

from __future__ import annotations

import signal
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import attrs

from tests.kafka.wait import NotYet, eventually
from tests.repository import ROOT


@attrs.frozen
class Line:
    """One line of the shared file."""

    at_ms: int
    worker: str
    what: str
    resource: str


@attrs.define
class Fleet:
    """Workers of one group that write into one file."""

    bootstrap: str
    group: str
    folder: Path
    _children: dict[str, subprocess.Popen[bytes]] = attrs.field(factory=dict, init=False)

    @property
    def file(self) -> Path:
        """Where all write."""
        return self.folder / "ticks"

    def start(self, name: str, *options: str) -> None:
        """Start a worker of that name."""
        command = [sys.executable, "-m", "tests.worker.child", self.bootstrap, self.group, name, str(self.file)]
        with (self.folder / f"{name}.log").open("ab") as log:
            self._children[name] = subprocess.Popen(
                [*command, *options], cwd=ROOT, stdin=subprocess.PIPE, stdout=log, stderr=log
            )

    def freeze(self, name: str) -> None:
        """SIGSTOP."""
        self._children[name].send_signal(signal.SIGSTOP)

    def thaw(self, name: str) -> None:
        """SIGCONT."""
        self._children[name].send_signal(signal.SIGCONT)

    def kill(self, name: str) -> None:
        """SIGKILL."""
        self._children[name].kill()
        self._children.pop(name).communicate()

    def leave(self, name: str) -> None:
        """Let it end in order."""
        self._children.pop(name).communicate(timeout=60)

    def remove(self) -> None:
        """Make sure that all are gone."""
        for child in self._children.values():
            child.kill()
            child.communicate()

    def lines(self) -> list[Line]:
        """All that was written."""
        text = self.file.read_text() if self.file.exists() else ""
        found = []
        for line in text.splitlines():
            at_ms, worker, what, resource = line.split()
            found.append(Line(int(at_ms), worker, what, resource))
        return found

    def running(self) -> dict[str, set[str]]:
        """What each worker has started and not stopped, as far as it was told."""
        running: dict[str, set[str]] = defaultdict(set)
        for line in self.lines():
            if line.what == "start":
                running[line.worker].add(line.resource)
            elif line.what == "stop":
                running[line.worker].discard(line.resource)
        return running

    def wait_for(self, *names: str, of: int = 6) -> dict[str, set[str]]:
        """Wait until these share all resources: each one at one of them, connectors and tasks evenly."""

        def shared() -> dict[str, set[str]]:
            running = {name: self.running()[name] for name in names}
            once = sum(map(len, running.values())) == of == len(set().union(*running.values()))
            tasks = [sum("-" in resource for resource in each) for each in running.values()]
            connectors = [len(each) - count for each, count in zip(running.values(), tasks, strict=True)]
            if not once or any(max(counts) - min(counts) > 1 for counts in (tasks, connectors)):
                raise NotYet(f"{running}")
            return running

        return eventually(shared, f"{', '.join(names)} share {of} resources", every_s=0.05)

    def check_one_owner(self) -> None:
        """No resource ticked at a worker after another had started it, unless it came back (CG-2)."""
        owner: dict[str, str] = {}
        for line in sorted(self.lines(), key=lambda line: line.at_ms):
            if line.what == "start":
                owner[line.resource] = line.worker
            elif line.what == "tick":
                assert owner[line.resource] == line.worker, f"{line} while {owner[line.resource]} runs it"

    def starts(self) -> int:
        """How often anything was started."""
        return sum(line.what == "start" for line in self.lines())
