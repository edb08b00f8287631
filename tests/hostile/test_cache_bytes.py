"""Is what is remembered by names of clients' choosing bounded in bytes, however long the names are?"""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import attrs
import pytest

from kcoord.bounded_cache import ENTRY_BYTES, BoundedCache, bytes_of
from kcoord.gateway.gateway import Gateway
from kcoord.gateway.ownership.access.rights import READ
from kcoord.gateway.session.authorization import Authorization
from kcoord.gateway.settings import GatewaySettings
from kcoord.gateway.topology.stale_coordinators import StaleCoordinators
from kcoord.group.group_facts import UNKNOWN
from kcoord.group.state.settings import GroupSettings
from kcoord.instances.relayed_members import RelayedMembers
from kcoord.instances.request_routing import SharedGroups
from kcoord.log.embedded import EmbeddedLog
from kcoord.protocol.generated.find_coordinator_response import Coordinator as Found
from kcoord.protocol.messages import (
    FindCoordinatorRequest,
    FindCoordinatorResponse,
    HeartbeatRequest,
    HeartbeatResponse,
)
from kcoord.server.connections.heartbeat_hot_path import READ_AT_ONCE, READER_BYTES, READERS_BYTES, _readers_of, _shared
from kcoord.server.shards.coordinator import Coordinator

NAME_BYTES, NAMES = 32_000, 1_600
"""As long as Kafka's protocol lets a name be; 51 MB of them."""
BOUND = 40 << 20
"""No memory may hold more of them than this."""


def names() -> Iterator[str]:
    for number in range(NAMES):
        yield f"{number:0{NAME_BYTES}}"


def test_what_was_used_longest_ago_is_forgotten_first() -> None:
    gone: list[tuple[str, int]] = []
    room = 3 * (ENTRY_BYTES + bytes_of("a"))
    known: BoundedCache[str, int] = BoundedCache(room, forgotten=lambda key, value: gone.append((key, value)))
    for number, key in enumerate("abc"):
        known[key] = number
    assert known.get("a") == 0
    known["d"] = 3
    assert gone == [("b", 1)]
    assert known.items() == [("c", 2), ("a", 0), ("d", 3)]
    assert known.oldest() == ("c", 2)
    known["c"] = 4
    assert known.pop("a") == 0
    assert known.pop("a") is None
    assert (known.items(), known.used_bytes) == ([("d", 3), ("c", 4)], room * 2 // 3)
    known["x" * room] = 5
    assert known.items() == [("d", 3), ("c", 4)], "what is larger than all room is not kept, and the others stay"
    assert (gone[-1], known.used_bytes) == (("x" * room, 5), room * 2 // 3)


@attrs.define(eq=False)
class Connection:
    """What a gateway remembers of one connection, without one."""

    gateway: Gateway
    client: Any = attrs.field(factory=lambda: SimpleNamespace(client_host="/10.0.0.1"))
    authorizations: Any = None
    upstream: object = "there"
    sasl: object = None
    broker_id: int = 1
    members: Any = None
    __weakref__: Any = attrs.field(init=False, hash=False, repr=False, eq=False)


class Map:
    """One broker, whose place has just changed."""

    def others(self) -> frozenset[tuple[int, int]]:
        return frozenset()

    def brokers(self) -> dict[int, None]:
        return {1: None}

    def address_of(self, _broker: int, _host: str) -> tuple[str, int]:
        return "here", 9094


def told(name: str) -> FindCoordinatorResponse:
    return FindCoordinatorResponse(coordinators=[Found(key=name, node_id=1, host="h", port=1, error_code=0)])


def ways_in(gateway: Gateway) -> dict[str, Callable[[str], object]]:
    """By each memory, what a client's choice of a name puts into it."""
    session: Any = Connection(gateway)
    moves: Any = StaleCoordinators(Map())  # type: ignore[arg-type]
    moves.look(0)
    guests = RelayedMembers()

    class Elsewhere:
        map: Any = None

        def is_self(self, _instance: object) -> bool:
            return False

    shared = SharedGroups(None, Elsewhere(), lambda _: None, 1.0)  # type: ignore[arg-type]

    def learn_and_join(name: str) -> None:
        gateway.coordinators.learn(name, 1)
        gateway.coordinators.joined(name)

    return {
        "matches": gateway.owns,
        "coordinators": lambda name: gateway.coordinators.learn(name, 1),
        "coordinators of groups with members": learn_and_join,
        "finders": lambda name: gateway.finder(name, session),
        "paused members": lambda name: gateway.paused_sessions.pause("group", [name], 0),
        "rights": lambda name: gateway.rights.remember(session, name, Authorization(1 << READ, 0)),
        "moved coordinators": lambda name: moves.tell(
            session, FindCoordinatorRequest(coordinator_keys=[name]), told(name), 0
        ),
        "what other instances said": lambda name: shared._hear(name, UNKNOWN),
        "members by other instances": lambda name: guests.answered(
            "group", HeartbeatRequest(member_id=name), HeartbeatResponse()
        ),
        "parts of answers": lambda name: _shared(name.encode()),
    }


WAYS_IN = (
    "matches", "coordinators", "coordinators of groups with members", "finders", "paused members", "rights",
    "moved coordinators", "what other instances said", "members by other instances", "parts of answers",
)  # fmt: skip


def test_frames_of_many_lengths_leave_no_more_readers_than_there_is_room_for() -> None:
    """A reader is made for each length of a frame, and each number of them that come together."""
    lengths, most = 100, READERS_BYTES // READER_BYTES
    for length in range(1_000, 1_000 + lengths):
        for count in range(1, READ_AT_ONCE + 1):
            assert len(_readers_of(length)[length * count](bytes(length * count))) == count
    made = lengths * READ_AT_ONCE
    assert sum(len(_readers_of(length)) for length in range(1_000, 1_000 + lengths)) <= most < made


@pytest.mark.parametrize("memory", WAYS_IN)
async def test_long_names_fill_no_memory(tmp_path: Path, memory: str) -> None:
    log = EmbeddedLog(tmp_path, partitions=1)
    await log.open()
    coordinator = Coordinator(log, GroupSettings(), 1, lambda: "id")
    settings = GatewaySettings(
        bootstrap=(("kafka", 9092),),
        groups=(".*",),
        listen_port=9092,
        data_dir=tmp_path,
        security_protocol="SASL_PLAINTEXT" if memory == "finders" else "PLAINTEXT",
    )
    ways = ways_in(Gateway(settings, coordinator))
    assert set(ways) == set(WAYS_IN)
    put = ways[memory]
    gc.collect()
    tracemalloc.start()
    try:
        for name in names():
            put(name)
        gc.collect()
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert held < BOUND
    await coordinator.stop()
    await log.close()
