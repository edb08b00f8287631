"""Which TCP ports does a server of the tests get?

A server that is killed and started again needs the same port again, so ports are chosen up front. They lie below the
range that the OS takes outgoing connections' ports from: a port of that range can be gone, or connected to itself,
while its server is down. Where several processes share the tests (pytest-xdist), each has a part of the range: what one
has given to a server that is down is then not free for another.
"""

import os
import random
import socket


def _range_of(worker: str, workers: int) -> tuple[int, int]:
    """First and last port of the process called `worker` ("gw0", "gw1", …), one of so many."""
    first, last = 15_000, 32_000
    share = (last - first) // workers
    number = int(worker.removeprefix("gw")) if worker else 0
    return first + number * share, first + (number + 1) * share


FIRST, LAST = _range_of(os.environ.get("PYTEST_XDIST_WORKER", ""), int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", 1)))

_random = random.SystemRandom()
_given: set[int] = set()


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def port_block(length: int) -> int:
    """The first of `length` consecutive ports that are free on 127.0.0.1 and given to nobody else in this run."""
    for _ in range(1000):
        first = _random.randrange(FIRST, LAST - length)
        block = range(first, first + length)
        if _given.isdisjoint(block) and all(_is_free(port) for port in block):
            _given.update(block)
            return first
    raise RuntimeError(f"no {length} consecutive free ports between {FIRST} and {LAST}")


def free_port() -> int:
    """One free port on 127.0.0.1."""
    return port_block(1)
