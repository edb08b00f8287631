"""Substitutes for what kcoord's server and gateway take from the machine during a run: clocks, random numbers, the file
that keeps broker addresses, and the iteration order of sets of connections.
"""

from __future__ import annotations

import contextlib
import importlib
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

from kcoord.gateway.session.client_session import ClientSession
from kcoord.gateway.settings import Address
from kcoord.sim.adoption.loop import BEGIN_S, SimLoop

CLOCKED = ("kcoord.log.clock", "kcoord.server.clock", "kcoord.gateway.gateway", "kcoord.server.shards.coordinator")
"""The modules that get the loop's clock."""
EPOCH_NS = 1_767_225_600 * 10**9
"""The time of day when a run begins, in Unix ns."""


class _Time:
    """The clocks of the module `time`."""

    def __init__(self, loop: SimLoop) -> None:
        self._loop = loop

    def __getattr__(self, name: str) -> Any:
        return getattr(time, name)

    def monotonic_ns(self) -> int:
        return self._loop.time_ns()

    def monotonic(self) -> float:
        return self._loop.time()

    def clock_gettime_ns(self, _clock: int) -> int:
        return self._loop.time_ns()

    def time_ns(self) -> int:
        return EPOCH_NS + self._loop.time_ns() - round(BEGIN_S * 1e9)


class _Secrets:
    """What the sentinel uses of the module `secrets`."""

    def __init__(self, random: Random) -> None:
        self._random = random

    def token_hex(self, size: int) -> str:
        return self._random.randbytes(size).hex()


class _NoFreeze:
    """What a load uses of the module `gc`."""

    def freeze(self) -> None: ...


class BrokerFile:
    """The file of broker addresses, in memory."""

    def __init__(self) -> None:
        self._kept: dict[Path, dict[int, Address]] = {}

    def read(self, path: Path) -> dict[int, Address]:
        """The addresses that were written last."""
        return dict(self._kept.get(path, {}))

    def write(self, path: Path, addresses: dict[int, Address]) -> None:
        """Keep these addresses."""
        self._kept[path] = dict(addresses)


@contextlib.contextmanager
def replaced(loop: SimLoop, random: Random) -> Iterator[None]:
    """Replace all of this in kcoord's modules."""
    clock, file = _Time(loop), BrokerFile()
    instead: list[tuple[str, str, object]] = [(name, "time", clock) for name in CLOCKED]
    instead += [
        ("kcoord.gateway.ownership.access.member_sessions", "random", Random(random.getrandbits(64))),
        ("kcoord.gateway.ownership.sentinel.state", "secrets", _Secrets(Random(random.getrandbits(64)))),
        ("kcoord.gateway.topology.brokers", "_read", file.read),
        ("kcoord.gateway.topology.brokers", "_write", file.write),
        ("kcoord.server.shards.shard_loading", "gc", _NoFreeze()),
    ]
    with contextlib.ExitStack() as stack:
        for name, attribute, value in instead:
            module = importlib.import_module(name)
            stack.callback(setattr, module, attribute, getattr(module, attribute))
            setattr(module, attribute, value)
        stack.callback(setattr, ClientSession, "__hash__", ClientSession.__hash__)
        ClientSession.__hash__ = _by_serial  # type: ignore[assignment]
        yield


def _by_serial(session: ClientSession) -> int:
    """A hash with which sets of connections have the same order in each run."""
    return session.client.serial
