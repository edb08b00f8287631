"""Socket activation: listening sockets that systemd hands down to kcoord and keeps open across restarts.

systemd, or another program that starts kcoord, opens the sockets and keeps them. While kcoord is down, connections wait
in them and no client is refused. Environment variables say what is handed down: LISTEN_PID (to which process),
LISTEN_FDS (how many sockets, from file descriptor 3 on) and LISTEN_FDNAMES (the name of each). Rules:

1. A socket belongs to the listener with the same port. Its address must be the listener's address or a wider one (all
   addresses of the host). A listener without a socket opens its own.
2. The names `clients`, `internal` and `broker-N` say which listener a socket is for; the socket must fit that listener.
   Other names mean nothing.
3. A socket that is not a listening TCP socket is an error. So is one that belongs to no listener, because its clients
   would wait in it forever; but with a cluster behind, it may be the port of a broker that is not known yet.
"""

from __future__ import annotations

import os
import re
import socket
from collections.abc import MutableMapping, Sequence

import attrs

__all__ = ["CLIENTS", "INTERNAL", "HandedDown", "HandedDownError", "broker"]

FIRST_FD = 3
CLIENTS, INTERNAL = "clients", "internal"
OWN_NAME = re.compile(r"clients|internal|broker-\d+")
WILDCARDS = frozenset({"0.0.0.0", "::"})


def broker(broker_id: int | None) -> str:
    """The name of the listener for an upstream broker; for None, of the bootstrap listener."""
    return CLIENTS if broker_id is None else f"broker-{broker_id}"


class HandedDownError(Exception):
    """A socket cannot be used; the text says which, why, and what to do."""


@attrs.define(eq=False)
class _Socket:
    listening: socket.socket
    name: str
    taken: bool = False

    @property
    def host(self) -> str:
        return str(self.listening.getsockname()[0])

    @property
    def port(self) -> int:
        return int(self.listening.getsockname()[1])

    def __str__(self) -> str:
        where = f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"
        return f"{where} ({self.name})" if OWN_NAME.fullmatch(self.name) else where


class HandedDown:
    """The sockets that were handed down; false if there are none."""

    def __init__(self, sockets: Sequence[tuple[socket.socket, str]] = ()) -> None:
        """Sockets, each with its name. Raises HandedDownError."""
        self._sockets = [_Socket(*each) for each in sockets]
        for listening, name in sockets:
            _check(listening, name)

    @classmethod
    def take(cls, environment: MutableMapping[str, str] = os.environ) -> HandedDown:
        """The sockets that `environment` hands down to this process. Removes the variables, so that no child process
        takes them for its own. Raises HandedDownError.
        """
        pid, number, names = (environment.pop(f"LISTEN_{each}", "") for each in ("PID", "FDS", "FDNAMES"))
        if not number or pid != str(os.getpid()):
            return cls()
        if not number.isdecimal():
            raise HandedDownError(f"LISTEN_FDS={number} is no number of sockets")
        called = names.split(":") if names else []
        if called and len(called) != int(number):
            raise HandedDownError(f"LISTEN_FDNAMES={names} names {len(called)} sockets, and LISTEN_FDS={number}")
        sockets = []
        for at in range(int(number)):
            fd = FIRST_FD + at
            try:
                os.set_inheritable(fd, False)
                sockets.append((socket.socket(fileno=fd), called[at] if called else ""))
            except OSError as error:
                raise HandedDownError(
                    f"LISTEN_FDS={number}, but file descriptor {fd} is no socket ({error.strerror}): systemd may hand "
                    "down TCP sockets only (ListenStream=)"
                ) from None
        return cls(sockets)

    def __bool__(self) -> bool:
        return bool(self._sockets)

    def of(self, listener: str, host: str, port: int) -> list[socket.socket]:
        """The sockets for a listener at `host`:`port`. If there are none, it opens its own. Raises HandedDownError."""
        found = []
        for each in self._sockets:
            named = each.name if OWN_NAME.fullmatch(each.name) else None
            if named not in (None, listener) or (named is None and each.port != port):
                continue
            if each.port != port or not _covers(each.host, host, port):
                raise HandedDownError(
                    f"the socket that was handed down for {each} does not fit {host}:{port}, where kcoord is to listen "
                    f"({listener}): write the same address into ListenStream= and into kcoord's setting"
                )
            each.taken = True
            found.append(each.listening)
        return found

    def check_all_taken(self, listeners: str) -> None:
        """Raise HandedDownError if some sockets belong to no listener. `listeners` names the listeners for the text."""
        left = [str(each) for each in self._sockets if not each.taken]
        if left:
            raise HandedDownError(
                f"nothing listens on what was handed down for {', '.join(left)}: kcoord listens on {listeners}. Remove "
                "it from the .socket unit, or set kcoord's listener to it"
            )


def _check(listening: socket.socket, name: str) -> None:
    if listening.family not in (socket.AF_INET, socket.AF_INET6) or listening.type != socket.SOCK_STREAM:
        raise HandedDownError(
            f"a socket that was handed down{f' as {name}' if name else ''} is no TCP socket: use ListenStream= with a "
            "port in the .socket unit"
        )
    if not listening.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
        raise HandedDownError(
            f"a socket that was handed down{f' as {name}' if name else ''} does not listen: set Accept=no in the "
            ".socket unit"
        )


def _covers(bound: str, host: str, port: int) -> bool:
    """Whether a socket that is bound to the address `bound` accepts connections to `host`."""
    if bound in WILDCARDS:
        return True
    try:
        found = socket.getaddrinfo(host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except OSError:
        return False
    return bound in {str(address[4][0]) for address in found}
