"""How does a benchmark use the load generator, which is a process of its own?"""

from __future__ import annotations

import json
import subprocess
import sys
from types import TracebackType
from typing import Any, Self

import attrs

SETTLE_DEADLINE_S = 300.0
CLASSIC_GROUP = "connect-bench"
"""The group of `classic_workers`."""


class LoadFailed(Exception):
    """The load generator could not do what it was told; the text is its own."""


@attrs.frozen
class Count:
    """How many answers a fleet had by when (s, on a clock that all counts of one loader share)."""

    answers: int
    at_s: float


@attrs.define(eq=False)
class Loader:
    """A running load generator; it ends with the `with` block."""

    _process: subprocess.Popen[str] = attrs.field(init=False)

    def __enter__(self) -> Self:
        command = [sys.executable, "-m", "bench.load_process"]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.communicate()

    def _do(self, what: str, **arguments: Any) -> dict[str, Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps({"do": what, **arguments}) + "\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            pass  # it ended: said below
        answered = self._process.stdout.readline()
        if not answered:
            raise LoadFailed(f"{what} {arguments}: the load generator ended")
        answer: dict[str, Any] = json.loads(answered)
        if "error" in answer:
            raise LoadFailed(f"{what} {arguments}: {answer['error']}")
        return answer

    def members(self, fleet: str, address: tuple[str, int], groups: int, size: int, ring: int = 64) -> int:
        """Bring `groups` groups of `size` members into being at `address`; the size of a heartbeat's frame, in "
        "bytes."""
        host, port = address
        answer = self._do("members", fleet=fleet, host=host, port=port, groups=groups, size=size, ring=ring)
        return int(answer["frame_bytes"])

    def connect_members(self, fleet: str, address: tuple[str, int], groups: int, size: int, ring: int = 64) -> int:
        """The same for connect groups of `size` workers."""
        host, port = address
        answer = self._do("connect_members", fleet=fleet, host=host, port=port, groups=groups, size=size, ring=ring)
        return int(answer["frame_bytes"])

    def consumers(
        self, fleet: str, address: tuple[str, int], groups: int, size: int, topic: str, ring: int = 64
    ) -> int:
        """The same for groups of `size` new consumers (KIP-848) of `topic`."""
        host, port = address
        shape = {"groups": groups, "size": size, "topic": topic, "ring": ring}
        return int(self._do("consumers", fleet=fleet, host=host, port=port, **shape)["frame_bytes"])

    def begin_consumer_groups(self, address: tuple[str, int], lines: int, groups: int, size: int, topic: str) -> None:
        """Bring `groups` groups of `size` new consumers of `topic` into being (`consumers.begin_groups`), over so many
        connections, which are closed then.
        """
        host, port = address
        self._do("begin_consumer_groups", host=host, port=port, lines=lines, groups=groups, size=size, topic=topic)

    def workers(
        self, address: tuple[str, int], count: int, connectors: int, tasks: int, interval_s: float, max_wait_ms: int
    ) -> None:
        """Bring one connect group of `count` workers into being, and wait until it is stable."""
        host, port = address
        shape = {"count": count, "connectors": connectors, "tasks": tasks, "deadline_s": SETTLE_DEADLINE_S}
        self._do("workers", host=host, port=port, interval_s=interval_s, max_wait_ms=max_wait_ms, **shape)

    def idle(self, seconds: float) -> float:
        """Let the load go on as it is for `seconds`; returns how long it really was."""
        return float(self._do("idle", seconds=seconds)["seconds"])

    def one_more_worker(self) -> dict[str, Any]:
        """One worker joins the group of `workers`; what it cost (see `workers.Joined`), and `watched_s`, how long the
        group was watched.
        """
        return self._do("one_more_worker", deadline_s=SETTLE_DEADLINE_S)

    def classic_workers(
        self,
        address: tuple[str, int],
        count: int,
        connectors: int,
        tasks: int,
        interval_ms: int,
        session_ms: int,
        grown: bool,
    ) -> None:
        """Bring one group of `count` of Connect's own workers into being, and wait until all runs and nothing moves."""
        host, port = address
        where = {"host": host, "port": port, "group_id": CLASSIC_GROUP, "deadline_s": SETTLE_DEADLINE_S}
        shape = {"connectors": connectors, "tasks": tasks, "interval_ms": interval_ms, "session_ms": session_ms}
        self._do("classic_workers", count=count, grown=grown, **where, **shape)

    def classic_event(self, event: str, max_delay_ms: int) -> dict[str, Any]:
        """A worker of that group joins, leaves or bounces (`classic_fleet.Spent`), all having that
        `scheduled.rebalance.max.delay.ms`; returns when nothing moves any more and all runs.
        """
        return self._do("classic_event", event=event, max_delay_ms=max_delay_ms, deadline_s=SETTLE_DEADLINE_S)

    def echoes(self, fleet: str, address: tuple[str, int], connections: int, frame_bytes: int, ring: int = 64) -> None:
        """Connect to an echo server."""
        host, port = address
        self._do(
            "echoes", fleet=fleet, host=host, port=port, connections=connections, frame_bytes=frame_bytes, ring=ring
        )

    def beat(self, fleet: str, in_flight: int) -> None:
        """Let `fleet` repeat its frames as fast as they are answered."""
        self._do("beat", fleet=fleet, in_flight=in_flight)

    def pace(self, fleet: str, every_s: float) -> None:
        """Let each connection of `fleet` send its frame once every `every_s` seconds."""
        self._do("pace", fleet=fleet, every_s=every_s)

    def count(self, fleet: str) -> Count:
        """The answers so far."""
        return Count(**self._do("count", fleet=fleet))

    def rest(self, fleet: str) -> None:
        """Stop the load and wait until all is answered. Raises LoadFailed when an answer was wrong or is missing."""
        self._do("rest", fleet=fleet)

    def close(self, fleet: str) -> None:
        """Close the connections of `fleet`."""
        self._do("close", fleet=fleet)

    def joins(
        self, address: tuple[str, int], clients: int, seconds: float, sync: bool = False
    ) -> tuple[int, list[float]]:
        """Let `clients` clients join new groups for `seconds`: how many joins were answered, and how long each took, "
        "in ms."""
        host, port = address
        answer = self._do("joins", host=host, port=port, clients=clients, seconds=seconds, sync=sync)
        return int(answer["joins"]), list(answer["latencies_ms"])
