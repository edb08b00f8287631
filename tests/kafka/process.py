"""How is a server of the tests run as a process of its own, and ended, in order or not?

Every process started here is ended at the latest when the tests end.
"""

import atexit
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

import attrs

STOP_DEADLINE_S = 120.0

_alive: set["ServerProcess"] = set()


class Child(Protocol):
    """What is used here of a subprocess.Popen."""

    pid: int

    @property
    def returncode(self) -> int | None: ...
    def poll(self) -> int | None: ...
    def wait(self, timeout: float | None = None) -> int: ...
    def send_signal(self, number: int, /) -> None: ...
    def kill(self) -> None: ...


@attrs.define(eq=False)
class ServerProcess:
    """A running server whose output goes to a file."""

    name: str
    log: Path
    popen: Child

    @classmethod
    def start(
        cls,
        name: str,
        command: Sequence[str],
        log: Path,
        env: Mapping[str, str] | None = None,
        pass_fds: Sequence[int] = (),
    ) -> "ServerProcess":
        """Start `command`; what it prints is added to `log`, and it has these file descriptors too."""
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("ab") as out:
            popen = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                env=env,
                pass_fds=pass_fds,
            )
        return cls.of(name, popen, log)

    @classmethod
    def of(cls, name: str, child: Child, log: Path) -> "ServerProcess":
        """One that has been started, with its output going to `log`."""
        process = cls(name, log, child)
        _alive.add(process)
        return process

    @property
    def running(self) -> bool:
        """Whether the process is still there."""
        return self.popen.poll() is None

    def check_running(self) -> None:
        """Raise AssertionError with the end of the log when the process has ended by itself."""
        if not self.running:
            raise AssertionError(f"{self.name} ended with {self.popen.returncode}; end of {self.log}:\n{self.tail()}")

    def tail(self, characters: int = 3000) -> str:
        """The end of what the process printed."""
        return self.log.read_text(errors="replace")[-characters:]

    def stop(self) -> int:
        """SIGTERM, and wait until it has ended; its exit code. Raises AssertionError when it does not end."""
        if self.running:
            self.popen.send_signal(signal.SIGTERM)
        try:
            code = self.popen.wait(STOP_DEADLINE_S)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f"{self.name} did not end on SIGTERM; end of {self.log}:\n{self.tail()}") from None
        _alive.discard(self)
        return code

    def kill(self) -> None:
        """SIGKILL, and wait until it is gone."""
        self.popen.kill()
        self.popen.wait()
        _alive.discard(self)

    def freeze(self) -> None:
        """SIGSTOP: the process is there and does nothing, as one does that is swapped out or in a long collection."""
        self.popen.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """SIGCONT: it goes on."""
        self.popen.send_signal(signal.SIGCONT)


@atexit.register
def _end_all() -> None:
    for process in list(_alive):
        process.kill()
