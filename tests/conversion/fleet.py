"""What does a test of conversions work with? Scripted Java workers in a house whose coordinator is checked after each
step, and beside them workers of the new protocol, which do what they are told at once.

After each step another shard is loaded from the log as it stands, compacted too, as after a crash there: it must be
sound, and show the same durable state as the one that lives.
"""

from __future__ import annotations

from collections import Counter, deque
from typing import Any

from kcoord.group.durable_invariants import complaints
from kcoord.group.shard import Shard
from kcoord.group.state.connect_settings import ConnectSettings
from kcoord.group.state.groups.classic_group import ClassicGroup
from kcoord.group.state.records.connect_replay import settle_load
from kcoord.group.state.replay import replay
from kcoord.group.state.settings import GroupSettings
from kcoord.group.state.shard_state import ShardState
from kcoord.group.state.step import Step
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated import connect_group_heartbeat_request as heartbeat_request
from kcoord.protocol.message_base import Response
from kcoord.protocol.messages import (
    ConnectGroupHeartbeatRequest,
    ConnectGroupHeartbeatResponse,
    HeartbeatResponse,
    SyncGroupResponse,
)
from kcoord.protocol.records import Record, encode_record
from kcoord.protocol.resources import pack, unpack
from kcoord.resource import Resource
from kcoord.sim.classic_worker.actions import Send
from tests.group.connect.consistency import durable
from tests.sim.classic_worker.house import GROUP, WALL_MS, Call, Host
from tests.translation.fleet import Fleet as TranslatedFleet

INTERVAL_MS = 1_000
SETTLED_MS = 20_000
TASKS = {"a": 4, "b": 3, "c": 5}
ERRORS = (HeartbeatResponse, SyncGroupResponse)


def settings(**connect: Any) -> GroupSettings:
    """The server's: `connect` for connect groups."""
    return GroupSettings(
        initial_rebalance_delay_ms=100,
        connect=ConnectSettings(
            heartbeat_interval_ms=INTERVAL_MS, min_heartbeat_interval_ms=100, rebalance_delay_ms=0, **connect
        ),
    )


class Fleet(TranslatedFleet):
    """A house whose mode is `barrier` unless it is told otherwise."""

    def __init__(self, group_settings: GroupSettings | None = None) -> None:
        super().__init__(group_settings or settings())
        self.news: list[NewWorker] = []
        self.errors: list[tuple[str, ErrorCode]] = []
        """What heartbeats and syncs were told, but for NONE and REBALANCE_IN_PROGRESS."""
        self.checked = True

    def start_new(self, name: str, **fields: Any) -> NewWorker:
        """Start a worker of the new protocol."""
        worker = NewWorker(self, name, fields)
        self.news.append(worker)
        self.hosts.append(worker)  # type: ignore[arg-type]
        worker.beat()
        return worker

    def stop(self, host: Host) -> None:
        """Stop a worker of the classic protocol in order."""
        host.do(host.worker.leave(self.events.now_ms))

    def runs(self) -> dict[str, frozenset[Resource]]:
        """Who runs what."""
        return {host.name: host.runs for host in self.alive}

    def started(self, count: int, **setup: int) -> list[Host]:
        """A fleet of this many classic workers, which run everything that exists."""
        hosts = [self.worker(f"w{number}", **setup) for number in range(count)]
        self.run(SETTLED_MS)
        self.configure(**TASKS)
        self.run(SETTLED_MS)
        self.must_be_well()
        return hosts

    def must_be_well(self) -> None:
        """All that is configured runs, once, nothing ever ran twice, and nobody was reset."""
        assert self.all_run_once(), {name: sorted(runs) for name, runs in self.runs().items()}
        assert not self.doubles
        assert not self.errors

    def configure_group(self, **values: str) -> None:
        """`classic_mode="individual"` for `connect.classic.mode`."""
        named = {f"connect.{name.replace('_', '.')}": value for name, value in values.items()}
        now_ms = self.events.now_ms
        self.take(self.shard.alter_config(GROUP, named, now_ms, WALL_MS + now_ms))

    def is_connect(self) -> bool:
        """Whether the group is a connect group now."""
        return GROUP in self.shard.state.connect

    @property
    def classic(self) -> ClassicGroup:
        """The group, while it is a classic one."""
        return self.shard.state.groups[GROUP]

    def epoch(self) -> int:
        """The group epoch, or generation."""
        return self.shard.facts(GROUP).generation or 0

    def take(self, step: Step) -> None:
        """Check what a crash would find here."""
        step.checked()
        super().take(step)
        if step.records and self.checked:
            self.check()

    def answer(self, call: Call, response: Response) -> None:
        """Note errors."""
        if isinstance(response, ERRORS):
            error = ErrorCode(response.error_code)
            if error not in (ErrorCode.NONE, ErrorCode.REBALANCE_IN_PROGRESS):
                self.errors.append((call.host.name, error))
        super().answer(call, response)

    def check(self) -> None:
        """A load from the log as it stands gives what lives."""
        found = [self.loaded(self.log), self.loaded(compacted(self.log))]
        live = self.shard.state
        for state in found:
            assert not list(complaints(state))
            assert durable(state) == durable(live)
            records = {group_id: group.record for group_id, group in state.groups.items()}
            assert records == {group_id: group.record for group_id, group in live.groups.items()}
        assert not list(complaints(live))
        assert not live.groups.keys() & live.connect.keys()

    def loaded(self, log: list[Record]) -> ShardState:
        """What a load finds in a log."""
        state = ShardState(self.settings, lambda: "id")
        for record in log:
            replay(state, record)
        settle_load(state)
        return state

    def crash_at(self, position: int) -> Fleet:
        """Another house over the first `position` records of this one's log; its shard is loaded."""
        other = Fleet(self.settings)
        other.log = self.log[:position]
        other.shard = Shard(self.settings, other.make_id)
        for record in other.log:
            other.shard.replay(record)
        other.take(other.shard.loaded(0, WALL_MS))
        return other


def compacted(log: list[Record]) -> list[Record]:
    """The last record of each key, without tombstones."""
    last = {encode_record(record)[0]: at for at, record in enumerate(log)}
    return [
        record for at, record in enumerate(log) if last[encode_record(record)[0]] == at and record.value is not None
    ]


class NewWorker:
    """A worker of the new protocol that leaves computing to others, as far as a house looks at it."""

    def __init__(self, house: Fleet, name: str, fields: dict[str, Any]) -> None:
        self.house, self.name, self.member_id = house, name, f"new-{name}"
        self.worker = self
        self.fields = {
            "rebalance_timeout_ms": 60_000,
            "url": f"http://{name}",
            **(fields or {"server_assignor": "cooperative"}),
        }
        self.connection = 1_000 + len(house.news)
        self.queue: deque[Call] = deque()
        self.in_work: Call | None = None
        self.cut_off = False
        self.closed: str | None = None
        self.runs: frozenset[Resource] = frozenset()
        self.running = self.runs
        self.started: list[Resource] = []
        self.stops: list[Resource] = []
        self.sent: Counter[str] = Counter()
        self.epoch = 0
        self.errors: list[tuple[ErrorCode, str | None]] = []
        self._number = 0
        self._due_ms = 0

    @property
    def stable(self) -> bool:
        """It is a member."""
        return self.epoch > 0

    def beat(self, epoch: int | None = None) -> None:
        """Send a heartbeat, a join where it has no epoch."""
        if self.closed is not None:
            return
        sent = self.epoch if epoch is None else epoch
        owned = pack(self.runs, heartbeat_request.ConnectorsAndTasks, heartbeat_request.ConnectorTaskId)
        request = ConnectGroupHeartbeatRequest(
            GROUP, self.member_id, sent, connectors_and_tasks=owned, **({} if sent else self.fields)
        )
        if sent < 0:
            self.closed = "left"
            self.stops += sorted(self.runs)
            self.runs = frozenset()
        self._number += 1
        call = Call(self, self.connection, self._number, request, 0)  # type: ignore[arg-type]
        self.house.events.after(1, self.house.arrive, call)

    def leave(self) -> None:
        """Stop in order."""
        self.beat(-1)

    def kill(self) -> None:
        """The process dies."""
        self.closed = "killed"
        self.runs = frozenset()
        self.connection = 0

    def hear(self, _: object) -> None:
        """It does not read the config topic."""

    def lose(self) -> None:
        """The connection breaks; it comes again by another."""
        self.connection += 500
        self.in_work = None
        self.beat()

    def do(self, _: list[Send]) -> None:
        """What `received` asks for, it has done already."""

    def received(self, _: int, response: Response, __: int) -> list[Send]:
        """Do what the answer says, and send the next heartbeat: at once after a change."""
        assert isinstance(response, ConnectGroupHeartbeatResponse)
        if self.closed is not None:
            return []
        error = ErrorCode(response.error_code)
        wait_ms = INTERVAL_MS
        if error is ErrorCode.NONE:
            self.epoch = response.member_epoch
            if response.assignment is not None:
                told = unpack(response.assignment.connectors_and_tasks)
                if told != self.runs:
                    wait_ms = 5
                self.stops += sorted(self.runs - told)
                self.started += sorted(told - self.runs)
                self.runs = told
                self.house.judge()
        else:
            self.errors.append((error, response.error_message))
            if error in (ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.FENCED_MEMBER_EPOCH):
                self.epoch, self.runs = 0, frozenset()
        self._due_ms = self.house.events.now_ms + wait_ms
        self.house.events.after(wait_ms, self._ring, self._due_ms)
        return []

    def _ring(self, due_ms: int) -> None:
        if due_ms == self._due_ms:
            self.beat()


__all__ = ["GROUP", "SETTLED_MS", "TASKS", "Fleet", "NewWorker", "compacted", "settings"]
