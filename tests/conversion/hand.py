"""What does a test work with that puts a classic group into a state by hand? Connect workers' requests, one by one."""

from __future__ import annotations

from typing import Any

from kcoord.group.durable_invariants import complaints
from kcoord.group.shard import Shard
from kcoord.group.state.groups.connect_group import ConnectGroup
from kcoord.group.state.settings import GroupSettings
from kcoord.group.state.shard_state import ShardState
from kcoord.group.state.step import RequestContext, Step
from kcoord.protocol.embedded import (
    NAMES,
    WorkerAssignment,
    WorkerState,
    decode_assignment,
    encode_assignment,
    encode_state,
)
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.join_group_request import JoinGroupRequestProtocol
from kcoord.protocol.generated.sync_group_request import SyncGroupRequestAssignment
from kcoord.protocol.message_base import Request, Response
from kcoord.protocol.messages import (
    ConnectGroupHeartbeatRequest,
    ConnectGroupHeartbeatResponse,
    HeartbeatRequest,
    HeartbeatResponse,
    JoinGroupRequest,
    JoinGroupResponse,
    SyncGroupRequest,
    SyncGroupResponse,
)
from kcoord.protocol.records import Record, decode_record, encode_record
from tests.conversion.fleet import compacted, settings
from tests.group.connect.world import res, text

GROUP = "connect-cluster"
WALL_MS = 1_700_000_000_000
SESSION_MS, REBALANCE_MS = 10_000, 60_000


class Hand:
    """One shard and its log. Workers go by letters, their member ids are made of them."""

    def __init__(self, group_settings: GroupSettings | None = None, version: int = 2) -> None:
        self.settings = group_settings or settings()
        self.version = version
        self.offset = 7
        """How far the config topic has been read by whoever says something now."""
        self.now_ms = 1_000
        self.ids = 0
        self.log: list[Record] = []
        self.steps: list[int] = []
        """Where each step's records end."""
        self.answers: dict[object, Response] = {}
        self.member_ids: dict[str, str] = {}
        self.generations: dict[str, int] = {}
        self.shard = Shard(self.settings, self._id)
        self.take(self.shard.loaded(self.now_ms, WALL_MS))

    def _id(self) -> str:
        self.ids += 1
        return str(self.ids)

    @property
    def state(self) -> ShardState:
        return self.shard.state

    @property
    def group(self) -> ConnectGroup:
        return self.state.connect[GROUP]

    # -- requests -----------------------------------------------------------------------------------------------------

    def send(self, request: Request, version: int, client: str = "w") -> object:
        """One request; its answer is found under the returned token."""
        token = object()
        context = RequestContext(version, client, "/10.0.0.1", ord(client[-1]), WALL_MS + self.now_ms)
        self.take(self.shard.handle(request, context, token, self.now_ms))
        return token

    def error(self, token: object) -> ErrorCode | None:
        """What a request was told; None while it waits."""
        answer: Any = self.answers.get(token)
        return None if answer is None else ErrorCode(answer.error_code)

    def join(self, who: str, runs: str = "", client: str = "", **fields: Any) -> object:
        """JoinGroup v3: a newcomer needs no id first. `client`: whose connection it comes by."""
        request = JoinGroupRequest(
            group_id=GROUP,
            session_timeout_ms=SESSION_MS,
            rebalance_timeout_ms=REBALANCE_MS,
            member_id=self.member_ids.get(who, ""),
            protocol_type="connect",
            protocols=self.offers(who, runs),
        )
        for name, value in fields.items():
            setattr(request, name, value)
        return self.send(request, 5 if request.group_instance_id else 3, client or who)

    def offers(self, who: str, runs: str) -> list[JoinGroupRequestProtocol]:
        """All embedded protocols up to the worker's version, the newest first."""
        return [
            JoinGroupRequestProtocol(NAMES[number], self.metadata_of(who, runs, number))
            for number in range(self.version, -1, -1)
        ]

    def metadata_of(self, who: str, runs: str, number: int) -> bytes:
        """What a worker says of itself."""
        allocation = WorkerAssignment(number, assigned=res(runs)) if runs and number else None
        return encode_state(WorkerState(number, f"http://{who}", self.offset, allocation))

    def note_ids(self) -> None:
        """Who has come, and was not answered yet."""
        for member_id in self.state.groups[GROUP].members:
            self.member_ids[member_id.partition("-")[0]] = member_id

    def joined(self, *tokens: object) -> None:
        """These have been answered: note who is who."""
        for token in tokens:
            answer = self.answers[token]
            assert isinstance(answer, JoinGroupResponse)
            assert answer.error_code == ErrorCode.NONE
            who = answer.member_id.partition("-")[0]
            self.member_ids[who] = answer.member_id
            self.generations[who] = answer.generation_id

    def sync(self, who: str, client: str = "", **given: str) -> object:
        """SyncGroup v3; the leader gives `A="BC0 BT1 -CT2"`, a minus for what is revoked. `client` as for `join`."""
        request = SyncGroupRequest(
            group_id=GROUP,
            generation_id=self.generations[who],
            member_id=self.member_ids[who],
            assignments=[
                SyncGroupRequestAssignment(self.member_ids[each], self.assignment(who, what))
                for each, what in given.items()
            ],
        )
        return self.send(request, 3, client or who)

    def told(self, token: object) -> tuple[str, str]:
        """What a SyncGroup was answered: what to start, what to stop."""
        answer = self.answers[token]
        assert isinstance(answer, SyncGroupResponse)
        assert answer.error_code == ErrorCode.NONE
        assignment = decode_assignment(answer.assignment)
        return text(assignment.assigned), text(assignment.revoked)

    def assignment(self, leader: str, what: str) -> bytes:
        words = what.split()
        return encode_assignment(
            WorkerAssignment(
                self.version,
                0,
                self.member_ids[leader],
                f"http://{leader}",
                self.offset,
                res(" ".join(word for word in words if word[0] != "-")),
                res(" ".join(word[1:] for word in words if word[0] == "-")) if self.version else frozenset(),
            )
        )

    def beat(self, who: str, generation: int | None = None) -> ErrorCode:
        """A heartbeat of the classic protocol."""
        known = self.generations[who] if generation is None else generation
        token = self.send(HeartbeatRequest(GROUP, known, self.member_ids[who]), 3, who)
        answer = self.answers[token]
        assert isinstance(answer, HeartbeatResponse)
        return ErrorCode(answer.error_code)

    def start_new(self, who: str = "n", **fields: Any) -> ConnectGroupHeartbeatResponse:
        """A worker of the new protocol joins."""
        request = ConnectGroupHeartbeatRequest(
            GROUP,
            f"new-{who}",
            0,
            rebalance_timeout_ms=REBALANCE_MS,
            connectors_and_tasks=[],
            **{"server_assignor": "cooperative", **fields},
        )
        answer = self.answers[self.send(request, 0, who)]
        assert isinstance(answer, ConnectGroupHeartbeatResponse)
        return answer

    def stop_new(self, who: str = "n") -> None:
        """It leaves."""
        self.send(ConnectGroupHeartbeatRequest(GROUP, f"new-{who}", -1), 0, who)

    def configure(self, **values: str) -> None:
        """`classic_mode="individual"` for `connect.classic.mode`."""
        named = {f"connect.{name.replace('_', '.')}": value for name, value in values.items()}
        self.take(self.shard.alter_config(GROUP, named, self.now_ms, WALL_MS + self.now_ms))

    def pass_ms(self, ms: int) -> None:
        """Time goes on."""
        end_ms = self.now_ms + ms
        while (due := self.shard.next_deadline()) is not None and due <= end_ms:
            self.now_ms = max(self.now_ms, due)
            self.take(self.shard.advance(self.now_ms, WALL_MS + self.now_ms))
        self.now_ms = end_ms

    # -- keeping ------------------------------------------------------------------------------------------------------

    def take(self, step: Step) -> None:
        step.checked()
        self.log += [decode_record(*encode_record(record)) for record in step.records]
        if step.records:
            self.steps.append(len(self.log))
        for reply in step.replies:
            assert reply.token not in self.answers, "answered twice"
            self.answers[reply.token] = reply.response
        assert not list(complaints(self.state))

    def reloaded(self, position: int | None = None, compact: bool = False) -> Hand:
        """What another coordinator makes of the log, or of its first records."""
        other = Hand(self.settings, self.version)
        other.log = self.log[:position]
        other.member_ids, other.generations = dict(self.member_ids), dict(self.generations)
        other.now_ms, other.ids = self.now_ms, self.ids
        other.shard = Shard(self.settings, other._id)
        for record in compacted(other.log) if compact else other.log:
            other.shard.replay(record)
        other.take(other.shard.loaded(other.now_ms, WALL_MS + other.now_ms))
        return other

    # -- looking ------------------------------------------------------------------------------------------------------

    def owned(self) -> dict[str, tuple[str, str]]:
        """Of each classic worker: what it may be running, what it is to run."""
        return {
            member_id.partition("-")[0]: (
                text(self.group.members[member_id].current),
                text(self.group.target_of(self.group.members[member_id]) or ()),
            )
            for member_id in self.group.classic.members
        }

    def phases(self) -> dict[str, str]:
        """Where each classic worker stands in its own rebalance."""
        found = {}
        for member_id in self.group.classic.members:
            session = self.group.members[member_id].classic
            assert session is not None
            found[member_id.partition("-")[0]] = session.phase.label
        return found
