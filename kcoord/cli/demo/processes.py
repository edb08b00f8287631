"""The demo's processes: how they are started and ended.

Each has a session of its own, so Ctrl-C in the terminal reaches only the demo, which then ends them in order.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import attrs

_PATIENCE_S = 15.0
"""How long a process may take to end on SIGTERM."""


@attrs.define(eq=False)
class Child:
    """A kcoord process that the demo has started."""

    name: str
    log: Path
    process: asyncio.subprocess.Process

    @classmethod
    async def start(cls, name: str, arguments: Sequence[str], log: Path) -> Child:
        """Start `kcoord` with these arguments. What it prints is appended to `log`."""
        with log.open("ab") as out:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "kcoord", *arguments),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                start_new_session=True,
                env={**os.environ, "PYTHONUNBUFFERED": "1"},
            )
        return cls(name, log, process)

    @property
    def pid(self) -> int:
        return self.process.pid

    @property
    def running(self) -> bool:
        return self.process.returncode is None

    @property
    def ending(self) -> str:
        """How the process has ended."""
        code = self.process.returncode
        if code is None:
            return "runs"
        return f"ended by {signal.Signals(-code).name}" if code < 0 else f"ended with {code}"

    def last_line(self) -> str:
        """The last line that the process has printed."""
        with contextlib.suppress(OSError):
            lines = [line for line in self.log.read_text(errors="replace").splitlines() if line.strip()]
            if lines:
                return lines[-1].removeprefix("kcoord: ")
        return f"see {self.log}"

    def send(self, number: signal.Signals) -> None:
        """Send a signal if the process still runs."""
        if self.running:
            with contextlib.suppress(ProcessLookupError):
                self.process.send_signal(number)


async def end(children: Iterable[Child]) -> None:
    """End them together: in order if they can, by force if they take too long."""
    running = [child for child in children if child.running]
    for child in running:
        child.send(signal.SIGTERM)
    waits = [asyncio.ensure_future(child.process.wait()) for child in running]
    if waits:
        await asyncio.wait(waits, timeout=_PATIENCE_S)
    for child in running:
        child.send(signal.SIGKILL)
    await asyncio.gather(*waits)
