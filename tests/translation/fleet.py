"""What does a test of classic workers in a connect group work with? A house of scripted Java workers on a shard whose
mode is `individual`, with what a server adds: held answers are let go when more comes, closed connections are told of,
and the coordinator can be loaded anew from its records. After each step a replay of the records must give the same
state, and what is always true (`consistency`) must be.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import attrs

from kcoord.group.shard import Shard
from kcoord.group.state.connect_settings import ClassicMode, ConnectSettings
from kcoord.group.state.groups.connect_group import ConnectGroup
from kcoord.group.state.replay import replay
from kcoord.group.state.settings import GroupSettings
from kcoord.group.state.shard_state import ShardState
from kcoord.group.state.step import Step
from kcoord.protocol.records import Record, decode_record, encode_record
from kcoord.sim.classic_worker import ClassicSetup
from tests.group.connect.consistency import check_consistent, durable
from tests.sim.classic_worker.house import GROUP, WALL_MS, Call, Host, House

DELAY_MS = 20_000
SETTINGS = GroupSettings(
    initial_rebalance_delay_ms=100,
    connect=ConnectSettings(classic_mode=ClassicMode.INDIVIDUAL, rebalance_delay_ms=DELAY_MS),
)
SETTLED_MS = 15_000


class Worker(Host):
    """One process, whose connections' ends are told to the coordinator."""

    def hang_up(self) -> None:
        """Close the connection."""
        gone, house = self.connection, self.house
        super().hang_up()
        if gone:
            house.events.after(1, house.close, gone)  # type: ignore[attr-defined]


class Fleet(House):
    """All of it."""

    def __init__(self, settings: GroupSettings = SETTINGS) -> None:
        super().__init__(settings)
        self.settings = settings
        self.log: list[Record] = []
        self.joins_before: Counter[str] = Counter()
        self.checked = True
        self._shadow = ShardState(settings, self.make_id)

    def worker(self, name: str, **settings: Any) -> Host:
        """Start one, or start it again at its place."""
        setup = attrs.evolve(ClassicSetup(GROUP, f"http://{name}", max_delay_ms=DELAY_MS), **settings)
        host = Worker(self, setup)
        self.hosts.append(host)
        host.do(host.worker.start(self.events.now_ms))
        return host

    @property
    def group(self) -> ConnectGroup:
        """The group, as the coordinator knows it."""
        return self.shard.state.connect[GROUP]

    def arrive(self, call: Call) -> None:
        """A request has come; what is kept back on its connection is let go."""
        host = call.host
        if host.connection == call.connection and host.in_work is not None:
            self.take(self.shard.flush_held_reply(call.connection, self.events.now_ms, WALL_MS + self.events.now_ms))
        super().arrive(call)

    def take(self, step: Step) -> None:
        """What is written is read as a load would read it."""
        step.checked()
        for record in step.records:
            written = decode_record(*encode_record(record))
            self.log.append(written)
            replay(self._shadow, written)
        super().take(step)
        if self.checked:
            assert durable(self.shard.state) == durable(self._shadow), "a replay gives another state"
            check_consistent(self.shard.state, self.events.now_ms)

    def close(self, connection: int) -> None:
        """The coordinator hears of a connection's end."""
        self.take(self.shard.closed(connection, self.events.now_ms, WALL_MS + self.events.now_ms))

    def reload(self) -> None:
        """The coordinator dies, and another loads its log; every connection breaks."""
        self.shard.drop()
        self.shard = Shard(self.settings, self.make_id)
        for record in self.log:
            self.shard.replay(record)
        self.take(self.shard.loaded(self.events.now_ms, WALL_MS + self.events.now_ms))
        for host in self.alive:
            host.lose()

    def mark(self) -> None:
        """Count JoinGroups from here."""
        self.joins_before = self.joins()

    def new_joins(self) -> dict[str, int]:
        """JoinGroups since the mark, by worker."""
        return dict(self.joins() - self.joins_before)

    def stops(self) -> dict[str, int]:
        """How many stops there were so far, by worker."""
        return {host.name: len(host.stops) for host in self.hosts if host.stops}
