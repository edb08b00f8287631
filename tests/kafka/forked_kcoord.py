"""How does a process of kcoord begin without a new interpreter? It is forked from one that has imported kcoord already.

To import the command line takes half a second of a core, a server's modules as much again, and the tests run more than
a thousand commands and eight hundred servers. So there is one process for each of pytest's that has imported all that
they need, and forks (multiprocessing's fork server). From then on it is as `python -m kcoord`.
"""

import io
import multiprocessing
import multiprocessing.connection
import os
import pkgutil
import runpy
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path

from tests.repository import ROOT

CONTEXT = multiprocessing.get_context("forkserver")
IMPORTED = ("cli", "client", "server", "gateway", "group", "assign", "log", "instances", "loop", "protocol")
"""The packages of kcoord whose modules that process has imported."""
_WRITTEN = os.O_WRONLY | os.O_CREAT | os.O_APPEND


def _modules(package: str) -> Iterator[str]:
    """The names of a package's modules."""
    return (each.name for each in pkgutil.walk_packages([ROOT / "kcoord" / package], f"kcoord.{package}."))


CONTEXT.set_forkserver_preload(["kcoord.settings_sources", *chain.from_iterable(map(_modules, IMPORTED))])


class ForkedKcoord:
    """`kcoord` with these words, in a process that has been forked for it. It is used as a subprocess.Popen is."""

    def __init__(self, words: Sequence[str], env: Mapping[str, str], out: Path, err: Path) -> None:
        """What it prints is added to the files `out` and `err`, which may be the same."""
        self._words = words
        self._process = CONTEXT.Process(target=_be_kcoord, args=(list(words), dict(env), out, err))
        self._lock = threading.Lock()
        self._process.start()
        assert self._process.pid is not None
        self.pid: int = self._process.pid

    @property
    def returncode(self) -> int | None:
        """Its exit code, or the negative number of the signal that has ended it; None: it runs."""
        return self.poll()

    def poll(self) -> int | None:
        """The same."""
        with self._lock:
            return self._process.exitcode

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end; the exit code. Raises subprocess.TimeoutExpired after `timeout` seconds."""
        multiprocessing.connection.wait([self._process.sentinel], timeout)
        code = self.poll()
        if code is None:
            raise subprocess.TimeoutExpired(["kcoord", *self._words], timeout or 0)
        return code

    def send_signal(self, number: int) -> None:
        """Send a signal, unless it has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """SIGKILL."""
        self.send_signal(signal.SIGKILL)


def _be_kcoord(words: Sequence[str], env: Mapping[str, str], out: Path, err: Path) -> None:
    """As `python -m kcoord` does."""
    os.environ.clear()
    os.environ.update(env)
    for number, (path, how) in enumerate(((Path(os.devnull), os.O_RDONLY), (out, _WRITTEN), (err, _WRITTEN))):
        opened = os.open(path, how, 0o600)
        os.dup2(opened, number)
        os.close(opened)
    if "PYTHONUNBUFFERED" in env:
        assert isinstance(sys.stdout, io.TextIOWrapper)
        sys.stdout.reconfigure(write_through=True)
    sys.argv = ["kcoord", *words]
    runpy.run_module("kcoord", run_name="__main__", alter_sys=True)
