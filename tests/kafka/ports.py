"""Which TCP ports does a server of the tests get?

A server that is killed and started again needs the same port again, so ports are chosen up front. They lie below the
range that the OS takes outgoing connections' ports from: a port of that range can be gone, or connected to itself,
while its server is down. What one process has given to a server that is down is not free for another process, of this
run or of another one beside it: each locks what it gives, in one file that all of them know, until it ends.
"""

import fcntl
import os
import random
import socket
import tempfile
from functools import cache
from pathlib import Path

FIRST, LAST = 15_000, 32_000

_random = random.SystemRandom()
_given: set[int] = set()


@cache
def _locks() -> int:
    """The file whose bytes are the ports. It stays open: closing it would give all of them up."""
    return os.open(Path(tempfile.gettempdir(), f"kcoord-tests-ports-{os.getuid()}"), os.O_RDWR | os.O_CREAT, 0o600)


def _is_nobodys(first: int, length: int) -> bool:
    """Whether no other process has these ports; they are this process's from now on."""
    try:
        fcntl.lockf(_locks(), fcntl.LOCK_EX | fcntl.LOCK_NB, length, first)
    except OSError:
        return False
    return True


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def port_block(length: int) -> int:
    """The first of `length` consecutive ports that are free on 127.0.0.1 and given to nobody else."""
    for _ in range(1000):
        first = _random.randrange(FIRST, LAST - length)
        block = range(first, first + length)
        if _given.isdisjoint(block) and _is_nobodys(first, length) and all(map(_is_free, block)):
            _given.update(block)
            return first
    raise RuntimeError(f"no {length} consecutive free ports between {FIRST} and {LAST}")


def free_port() -> int:
    """One free port on 127.0.0.1."""
    return port_block(1)
