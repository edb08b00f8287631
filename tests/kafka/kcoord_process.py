"""How is kcoord run in a test? As the command that users run, in a process of its own.

It can be killed and started again on the same data directory and ports. Its ports are one block: bootstrap P, and
broker b at P + 1 + b (GW-1).
"""

import contextlib
import os
import socket
import ssl
import struct
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import attrs

from tests.kafka.forked_kcoord import ForkedKcoord
from tests.kafka.ports import port_block
from tests.kafka.process import ServerProcess
from tests.kafka.secrets import secrets_in
from tests.kafka.wait import NotYet, eventually
from tests.repository import ROOT

IS_MEASURED = "COVERAGE_PROCESS_CONFIG" in os.environ
"""Whether `make coverage` runs: a process that is killed does not say which lines it has run."""
IS_TESTED = "PYTEST_VERSION" in os.environ
"""Whether pytest runs. Where kcoord is measured, it gets a new interpreter, as users run it."""

HIGHEST_NODE_ID = 3
API_VERSIONS_V0 = struct.pack(">ihhih", 10, 18, 0, 1, -1)  # size, API key, version, correlation id, no client id


def answers_api_versions(port: int, *, tls: bool = False) -> bool:
    """Whether a server of Kafka's protocol on this port of 127.0.0.1 answers ApiVersions."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # without all certificates that there are: they take their time
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    try:
        with contextlib.ExitStack() as stack:
            connection = stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=5))
            if tls:
                connection = stack.enter_context(context.wrap_socket(connection))
            connection.sendall(API_VERSIONS_V0)
            return bool(connection.recv(1))
    except OSError:
        return False


@attrs.define
class Kcoord:
    """`kcoord serve` on 127.0.0.1: standalone, or with `upstream` and `groups` as a gateway."""

    folder: Path
    upstream: str | None = None
    groups: Sequence[str] = ()
    settings: Mapping[str, object] = attrs.Factory(dict)
    port: int = attrs.field(factory=lambda: port_block(2 + HIGHEST_NODE_ID))
    """Where clients come; kcoord listens there itself, if not at `listens`, which something else leads to."""
    listens: int | None = None
    site: Path = ROOT
    """The folder of the package `kcoord` that runs from the next start on: another one is another release."""
    _process: ServerProcess | None = attrs.field(default=None, init=False)

    @property
    def bootstrap(self) -> str:
        """The address that clients are given."""
        return f"127.0.0.1:{self.port}"

    @property
    def data(self) -> Path:
        """The data directory."""
        return self.folder / "data"

    @property
    def log(self) -> Path:
        """All that kcoord has printed."""
        return self.folder / "kcoord.log"

    def command(self) -> list[str]:
        """The command line."""
        options = ["--listen", self.bootstrap, "--data-dir", str(self.data)]
        if self.listens is not None:
            options[1] = f"127.0.0.1:{self.listens}"
            options += ["-o", f"advertise={self.bootstrap}"]
        if self.upstream is not None:
            options += ["--upstream", self.upstream]
        for pattern in self.groups:
            options += ["--groups", pattern]
        for name, value in self.settings.items():
            options += ["-o", f"{name}={value}"]
        return [sys.executable, "-m", "kcoord", "serve", *options]

    def _begin(self, env: Mapping[str, str]) -> ServerProcess:
        command = self.command()
        is_kcoords = command[:3] == [sys.executable, "-m", "kcoord"] and self.site == ROOT
        if not is_kcoords or not IS_TESTED or IS_MEASURED:
            return ServerProcess.start("kcoord", command, self.log, env)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.log.touch()  # it is read at once
        return ServerProcess.of("kcoord", ForkedKcoord(command[3:], env, self.log, self.log), self.log)

    def start(self, *, wait: bool = True) -> "Kcoord":
        """Start it, on what it left if it ran before, and wait until it answers."""
        assert self._process is None or not self._process.running, "kcoord runs already"
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("KCOORD_")}
        env = {**inherited, "PYTHONPATH": str(self.site), "PYTHONSAFEPATH": "1", "PYTHONUNBUFFERED": "1"}
        self._process = self._begin(env)
        if wait:
            self.wait_until_it_answers()
        return self

    def adopt(self, process: ServerProcess) -> None:
        """Somebody else has started it."""
        assert self._process is None or not self._process.running, "kcoord runs already"
        self._process = process

    def wait_until_it_answers(self) -> None:
        """Wait for an answer to ApiVersions on the bootstrap port."""

        def answers() -> bool:
            self.process.check_running()
            if not answers_api_versions(self.port, tls="ssl.certificate.location" in self.settings):
                raise NotYet("no answer")
            return True

        eventually(answers, f"kcoord on {self.bootstrap} answers ApiVersions", every_s=0.03)

    def wait_for_line(self, part: str, times: int = 1) -> None:
        """Wait until this is in the log so many times. (What a client sees may come before the line about it.)"""

        def is_logged() -> bool:
            self.process.check_running()
            found = self.log.read_text().count(part)
            if found < times:
                raise NotYet(f"{part!r} is in the log {found} times, not {times}")
            return True

        eventually(is_logged, f"kcoord logs {part!r}", every_s=0.05)

    @property
    def process(self) -> ServerProcess:
        """The process as it runs, or ran last."""
        assert self._process is not None, "kcoord was never started"
        return self._process

    def kill(self) -> None:
        """End it with SIGKILL."""
        self.process.kill()

    def stop(self) -> int:
        """End it with SIGTERM; the exit code."""
        return self.process.stop()

    def kill_and_restart(self) -> None:
        """`kill -9`, and up again at once on the same data and ports."""
        self.kill()
        self.start()

    def remove(self) -> None:
        """Make sure that it is gone, and that it has logged no secret. If the test has failed, pytest shows what kcoord
        printed last.
        """
        if self._process is not None:
            sys.stderr.write(f"the end of {self.log}:\n{self._process.tail()}\n")
        if self._process is not None and self._process.running:
            if IS_MEASURED:
                self.stop()
            else:
                self.kill()
        leaked = secrets_in(self.log, self._secrets())
        assert not leaked, f"secrets stand in {self.log}: {leaked}"

    def _secrets(self) -> list[str]:
        return [str(value) for name, value in self.settings.items() if name.endswith(("password", "secret"))]
