"""A small parent that keeps kcoord's listening sockets while kcoord is stopped and started again, as systemd does."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager

from tests.kafka.kcoord_process import Kcoord
from tests.kafka.process import ServerProcess

FIRST_FD = 3

_RUN = """
import os, sys
fds, command = [int(each) for each in sys.argv[1].split(",")], sys.argv[2:]
kept = [os.dup2(os.dup(fd), 100 + at) for at, fd in enumerate(fds)]  # out of the way of those that come next
for at, fd in enumerate(kept):
    os.dup2(fd, 3 + at)
os.environ["LISTEN_PID"], os.environ["LISTEN_FDS"] = str(os.getpid()), str(len(kept))
os.execv(command[0], command)
"""


class Keeper:
    """Keeps the sockets of a kcoord, which is started by it from now on."""

    def __init__(self, kcoord: Kcoord, ports: Iterable[int], names: str = "") -> None:
        self.kcoord = kcoord
        self.names = names
        self.sockets = [_listening(port) for port in ports]

    def start(self, *, wait: bool = True) -> None:
        """Start kcoord with the sockets."""
        environment = {name: value for name, value in os.environ.items() if not name.startswith("KCOORD_")}
        environment |= {"PYTHONPATH": str(self.kcoord.site), "PYTHONSAFEPATH": "1", "PYTHONUNBUFFERED": "1"}
        if self.names:
            environment["LISTEN_FDNAMES"] = self.names
        fds = [each.fileno() for each in self.sockets]
        for fd in fds:
            os.set_inheritable(fd, True)
        command = [sys.executable, "-c", _RUN, ",".join(map(str, fds)), *self.kcoord.command()]
        self.kcoord.adopt(ServerProcess.start("kcoord", command, self.kcoord.log, environment, pass_fds=fds))
        if wait:
            self.kcoord.wait_until_it_answers()

    def close(self) -> None:
        """Keep them no more."""
        for each in self.sockets:
            each.close()


@contextmanager
def kept(kcoord: Kcoord, ports: Iterable[int], names: str = "") -> Iterator[Keeper]:
    """kcoord, not started yet, with these ports kept for it."""
    with ExitStack() as stack:
        keeper = Keeper(kcoord, ports, names)
        stack.callback(keeper.close)
        stack.callback(kcoord.remove)
        yield keeper


def _listening(port: int) -> socket.socket:
    made = socket.socket()
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    made.bind(("127.0.0.1", port))
    made.listen(4096)
    return made
