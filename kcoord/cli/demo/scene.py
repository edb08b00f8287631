"""The demo's files, settings and commands to try.

Sessions, heartbeats and the rebalance delay are short, so that everything can be seen within seconds. The workers are
static: a restarted one gets back what it had.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import attrs

from kcoord.cli.output.start_screen import address_text, command_name

GROUP = "demo"
DEFAULT_ADDRESS = ("localhost", 9092)

SETTINGS = {
    "group.connect.min.session.timeout.ms": 3_000,
    "group.connect.session.timeout.ms": 8_000,
    "group.connect.min.heartbeat.interval.ms": 500,
    "group.connect.heartbeat.interval.ms": 1_000,
    "group.connect.rebalance.delay.ms": 8_000,
    "group.connect.assignors": "cooperative,uniform",
}


@attrs.frozen
class Try:
    """Something to try: what it shows, and its commands."""

    what: str
    commands: tuple[str, ...]


@attrs.frozen
class Scene:
    """The demo's places and names."""

    data: Path
    address: tuple[str, int]
    workers: Sequence[str]

    @property
    def folder(self) -> Path:
        return self.data / "demo"

    @property
    def connectors(self) -> Path:
        """What the workers run, as TOML files."""
        return self.folder / "connectors"

    @property
    def more(self) -> Path:
        """A connector to add."""
        return self.folder / "more" / "night-clock.toml"

    @property
    def output(self) -> Path:
        """What the tasks write."""
        return self.folder / "output"

    def log(self, name: str) -> Path:
        """The log of a process."""
        return self.folder / "logs" / f"{name}.log"

    @property
    def listen(self) -> str:
        return address_text(*self.address)

    # Processes

    def coordinator_arguments(self) -> list[str]:
        """The arguments after `kcoord`."""
        options = [part for name, value in SETTINGS.items() for part in ("-o", f"{name}={value}")]
        return ["serve", "--listen", self.listen, "--data-dir", str(self.data), *options]

    def worker_arguments(self, instance: str | None) -> list[str]:
        """The arguments after `kcoord`. Without an instance, the worker is dynamic."""
        at = [] if self.address == DEFAULT_ADDRESS else ["--bootstrap-server", self.listen]
        return ["worker", _shown(self.connectors), "-g", GROUP, *at, *(["-i", instance] if instance else [])]

    # For people

    def command(self, *arguments: str) -> str:
        """A kcoord command to paste into a terminal."""
        return " ".join([command_name(), *arguments])

    def tries(self, coordinator: int | None, running: Sequence[tuple[str, int]], gone: Sequence[str]) -> Iterator[Try]:
        """What to try now. `running` has names and process ids of workers, `gone` has names of workers that
        have gone.
        """
        at = [] if self.address == DEFAULT_ADDRESS else ["--bootstrap-server", self.listen]
        if running:
            name, pid = running[-1]
            yield Try(f"kill {name}: the others take over, after a delay", (f"kill -9 {pid}",))
        for name in gone[:1]:
            yield Try(f"start {name} again", (self.command(*self.worker_arguments(name)),))
        yield Try("add a worker", (self.command(*self.worker_arguments(None)),))
        if running:
            name, pid = running[0]
            again = self.command(*self.worker_arguments(name))
            until_gone = f"kill {pid}; while kill -0 {pid} 2>/dev/null; do sleep 0.1; done"
            yield Try(f"restart {name}: it gets back what it had", (until_gone, again))
        yield Try("add a connector", (f"cp {_shown(self.more)} {_shown(self.connectors)}",))
        yield Try("ask why all this happened", (self.command("groups", "explain", GROUP, *at),))
        if coordinator is not None:
            yield Try("kill the coordinator: work goes on, and the demo starts it again", (f"kill -9 {coordinator}",))

    # Files

    def set_up(self) -> None:
        """Create the directories, and connectors if there are none yet: the user may change them. Raises OSError."""
        self.output.mkdir(parents=True, exist_ok=True)
        self.log("any").parent.mkdir(exist_ok=True)
        self.more.parent.mkdir(exist_ok=True)
        self.more.write_text(self._clock("Another clock.", tasks=2))
        if not self.connectors.is_dir():
            self.connectors.mkdir()
            for name, text in self._tables().items():
                (self.connectors / f"{name}.toml").write_text(text)

    def _tables(self) -> dict[str, str]:
        logs = [str(self.log(name).resolve()) for name in ("coordinator", *self.workers)]
        return {
            "clock": self._clock("Each task writes a line a second into output/clock-N.txt.", tasks=4),
            "changes": "# Each task follows one log, and copies what was assigned and revoked.\n"
            + _table("Collect", folder=self._output(), files=logs, contains="kcoord.worker: "),
            "usage": "# How large the files in the data directory are, into output/usage-0.json.\n"
            + _table("Usage", folder=self._output(), of=str(self.data.resolve())),
        }

    def _clock(self, about: str, tasks: int) -> str:
        return f"# {about}\n" + _table("Clock", folder=self._output(), tasks=tasks, stopping_takes_s=0.5)

    def _output(self) -> str:
        return str(self.output.resolve())


def _table(kind: str, **values: object) -> str:
    """The TOML table of a connector. JSON's strings, numbers and lists are valid TOML too."""
    lines = [f'class = "kcoord.cli.demo.connectors:{kind}"', *(f"{k} = {json.dumps(v)}" for k, v in values.items())]
    return "".join(f"{line}\n" for line in lines)


def _shown(path: Path) -> str:
    """The path as short as it can be written from here."""
    absolute, here = path.resolve(), Path.cwd()
    return os.path.relpath(absolute, here) if absolute.is_relative_to(here) else str(absolute)
