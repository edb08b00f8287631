"""What does a test of connect groups work with? One shard, its log, a clock that stands until it is moved, and workers'
requests in short.

Resources are written in short: "AC0" is connector A, "AT1" its task 1. Each step's records are kept, so
that `restart` replays them into a new shard. Each step ends with three checks: a replay of its records gives the same
state, what is always true (`consistency.py`) is, and the hot path's answers are the ones that the shard would give.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar, cast

import attrs

from kcoord.group.connect.native_dialect import is_noop_heartbeat
from kcoord.group.shard import Shard
from kcoord.group.state.connect_settings import ConnectSettings
from kcoord.group.state.connection_opening import Opening
from kcoord.group.state.groups.connect_group import ConnectGroup, ConnectMember
from kcoord.group.state.groups.modern_states import ModernState
from kcoord.group.state.replay import replay
from kcoord.group.state.settings import GroupLimits, GroupSettings
from kcoord.group.state.shard_state import ShardState
from kcoord.group.state.step import CachedReply, PredictedReply, RequestContext, Slowed, Step
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated import connect_group_heartbeat_request as heartbeat_request
from kcoord.protocol.generated import connect_group_install_assignment_request as install_request
from kcoord.protocol.generated.connect_group_describe_response import DescribedGroup
from kcoord.protocol.message_base import Request, Response
from kcoord.protocol.messages import (
    ConnectGroupDescribeRequest,
    ConnectGroupDescribeResponse,
    ConnectGroupHeartbeatRequest,
    ConnectGroupHeartbeatResponse,
    ConnectGroupInstallAssignmentRequest,
    ConnectGroupInstallAssignmentResponse,
    ConnectGroupPrepareAssignmentRequest,
    ConnectGroupPrepareAssignmentResponse,
    DeleteGroupsRequest,
    DeleteGroupsResponse,
)
from kcoord.protocol.records import Record, decode_record, encode_record
from kcoord.protocol.resources import pack, unpack
from kcoord.resource import CONNECTOR, Resource
from tests.group.connect.consistency import check_consistent, durable, session
from tests.group.sabotage import Saboteur, Take

GROUP = "g"
WALL_MS = 1_700_000_000_000
SESSION_MS = 10_000
INTERVAL_MS = 1_000
REBALANCE_MS = 30_000
DELAY_MS = 60_000

SETTINGS = ConnectSettings(
    session_timeout_ms=SESSION_MS,
    min_session_timeout_ms=5_000,
    max_session_timeout_ms=60_000,
    heartbeat_interval_ms=INTERVAL_MS,
    min_heartbeat_interval_ms=100,
    rebalance_delay_ms=DELAY_MS,
)

LIMITS = GroupLimits()

R = TypeVar("R", bound=Response)


def res(text: str) -> frozenset[Resource]:
    """`"AC0 AT1"`: connector A and its task 1."""
    return frozenset(Resource(each[0], CONNECTOR if each[1] == "C" else int(each[2:])) for each in text.split())


def text(resources: Iterable[Resource]) -> str:
    """The other way round, sorted."""
    return " ".join(f"{name}C0" if task < 0 else f"{name}T{task}" for name, task in sorted(resources))


def packed(resources: str) -> list[heartbeat_request.ConnectorsAndTasks]:
    """As a heartbeat carries them."""
    return pack(res(resources), heartbeat_request.ConnectorsAndTasks, heartbeat_request.ConnectorTaskId)


def assignor(
    name: str = "cooperative",
    low: int = 0,
    high: int = 1,
    reason: int = 0,
    version: int | None = None,
    data: bytes = b"",
) -> heartbeat_request.Assignor:
    """A client-side assignor as a worker lists it."""
    return heartbeat_request.Assignor(name, low, high, reason, high if version is None else version, data)


@attrs.define(eq=False)
class Told:
    """An answer to a heartbeat, in short."""

    error: ErrorCode
    epoch: int
    owned: str | None
    """What the assignment says; None where there is none."""
    response: ConnectGroupHeartbeatResponse

    @property
    def brief(self) -> tuple[int, str | None]:
        return self.epoch, self.owned


class World:
    """One shard with one group, and everybody's requests."""

    def __init__(self, settings: ConnectSettings = SETTINGS, group: str = GROUP, limits: GroupLimits = LIMITS) -> None:
        self.settings = GroupSettings(connect=settings, limits=limits)
        self.group_id = group
        self.now_ms = 1_000_000
        self.opened: dict[int, Opening] = {}
        """When connections were made, where that says more than their numbers."""
        self.wall_step_ms = 0
        """How far the wall clock has been set on since the beginning."""
        self.log: list[tuple[bytes, bytes | None]] = []
        self.steps: list[list[Record]] = []
        self.slowed: list[Slowed] = []
        self.answers: dict[object, Response] = {}
        self.remembered: dict[object, bool] = {}
        """Whether that very request is."""
        self.predicted: dict[object, PredictedReply] = {}
        """What is remembered in its place."""
        self.asked: dict[object, tuple[Request, RequestContext]] = {}
        self._hot: dict[object, tuple[PredictedReply, RequestContext, CachedReply]] = {}
        self._epochs: dict[str, int] = {}
        self.checked = True
        """False for a log that was cut in the midst of a step: what is always true need not be."""
        self.saboteur: Saboteur | None = None
        """Breaks off a copy of each step first."""
        self._shadow = ShardState(self.settings, lambda: "id")
        self.shard = Shard(self.settings, lambda: "id")
        self._keep(self.shard.loaded(self.now_ms, self.wall_ms))

    @property
    def wall_ms(self) -> int:
        return WALL_MS + self.now_ms + self.wall_step_ms

    def _sabotage(self, own: object | None, take: Take) -> None:
        if self.saboteur is not None:
            log = [decode_record(key, value) for key, value in self.log]
            self.saboteur.attack(self.shard, log, own, self.now_ms, take)

    # -- time and faults ----------------------------------------------------------------------------------------------

    def pass_ms(self, ms: int) -> None:
        """Let time go on, doing what falls due on the way."""
        end_ms = self.now_ms + ms
        while (due := self.shard.next_deadline()) is not None and due <= end_ms:
            self.now_ms = max(self.now_ms, due)
            self._sabotage(None, lambda shard: shard.advance(self.now_ms, self.wall_ms))
            self._keep(self.shard.advance(self.now_ms, self.wall_ms))
        self.now_ms = end_ms

    def restart(self, lose_ms: int = 0, compacted: bool = False, lease_ms: int = 0) -> list[object]:
        """The coordinator is killed, and loads its log after `lose_ms`; returns whose answers were kept back.
        `lease_ms`: for so long the lost one may still answer.
        """
        waiting = self.shard.drop()
        for *_, remember in self._hot.values():
            assert remember.basis.version != remember.version, "a hot answer of a lost shard"
        self._hot.clear()
        self.now_ms += lose_ms
        self.shard = Shard(self.settings, lambda: "id")
        for key, value in self._compacted() if compacted else self.log:
            self.shard.replay(decode_record(key, value))
        self._keep(self.shard.loaded(self.now_ms, self.wall_ms, lease_ms))
        return waiting

    def _compacted(self) -> list[tuple[bytes, bytes | None]]:
        """The last record of each key, without tombstones."""
        last = {key: at for at, (key, _) in enumerate(self.log)}
        return [entry for at, entry in enumerate(self.log) if last[entry[0]] == at and entry[1] is not None]

    @contextmanager
    def nothing_changes(self) -> Iterator[None]:
        """Whatever is asked in this block must leave everything as it was."""
        state = self.shard.state
        before = durable(state), session(state), len(self.log)
        yield
        assert (durable(state), session(state), len(self.log)) == before

    # -- requests -----------------------------------------------------------------------------------------------------

    def send(self, request: Request, connection: int = 1, pipelined: bool = False, client: str = "w") -> object:
        """One request; its answer is found in `answers` under the returned token when it is given."""
        token = object()
        opened = self.opened.get(connection)
        context = RequestContext(0, client, "/10.0.0.1", connection, self.wall_ms, pipelined, opened)
        self.asked[token] = request, context
        quiet = isinstance(request, ConnectGroupHeartbeatRequest) and is_noop_heartbeat(self.shard.state, request)
        self._sabotage(token, lambda shard: shard.handle(request, context, token, self.now_ms))
        step = self.shard.handle(request, context, token, self.now_ms)
        assert not (quiet and step.records), "a heartbeat that says nothing writes something"
        self._keep(step)
        return token

    def ask(self, request: Request, answer: type[R], **how: Any) -> R:
        response = self.answers[self.send(request, **how)]
        assert isinstance(response, answer)
        return response

    def beat(
        self,
        member: str,
        epoch: int,
        owned: str | None = None,
        connection: int = 1,
        pipelined: bool = False,
        **fields: Any,
    ) -> Told:
        """A heartbeat that is answered at once."""
        return self.told(self.send_beat(member, epoch, owned, connection, pipelined, **fields))

    def send_beat(
        self,
        member: str,
        epoch: int,
        owned: str | None = None,
        connection: int = 1,
        pipelined: bool = False,
        **fields: Any,
    ) -> object:
        request = ConnectGroupHeartbeatRequest(
            self.group_id,
            member,
            epoch,
            connectors_and_tasks=None if owned is None else packed(owned),
            **fields,
        )
        return self.send(request, connection, pipelined)

    def told(self, token: object) -> Told:
        response = cast(ConnectGroupHeartbeatResponse, self.answers[token])
        given = response.assignment
        owned = None if given is None else text(unpack(given.connectors_and_tasks))
        return Told(ErrorCode(response.error_code), response.member_epoch, owned, response)

    def join(self, member: str, connection: int = 1, **fields: Any) -> Told:
        """Epoch 0 with all fields, nothing owned; with the client-side assignor `cooperative` unless said otherwise."""
        if "client_assignors" not in fields and "server_assignor" not in fields:
            fields["client_assignors"] = [assignor()]
        fields.setdefault("rebalance_timeout_ms", REBALANCE_MS)
        return self.beat(member, 0, "", connection, **fields)

    def prepare(self, member: str, epoch: int, connection: int = 1) -> ConnectGroupPrepareAssignmentResponse:
        request = ConnectGroupPrepareAssignmentRequest(self.group_id, member, epoch)
        return self.ask(request, ConnectGroupPrepareAssignmentResponse, connection=connection)

    def install(
        self,
        member: str,
        epoch: int,
        group_epoch: int,
        targets: Mapping[str, str],
        delay_ms: int = 0,
        error: int = 0,
        connection: int = 1,
    ) -> ErrorCode:
        request = self.install_request(member, epoch, group_epoch, targets, delay_ms, error)
        return ErrorCode(self.ask(request, ConnectGroupInstallAssignmentResponse, connection=connection).error_code)

    def install_request(
        self,
        member: str,
        epoch: int,
        group_epoch: int,
        targets: Mapping[str, str],
        delay_ms: int = 0,
        error: int = 0,
    ) -> ConnectGroupInstallAssignmentRequest:
        members = [
            install_request.Member(
                each, pack(res(what), install_request.ConnectorsAndTasks, install_request.ConnectorTaskId)
            )
            for each, what in targets.items()
        ]
        return ConnectGroupInstallAssignmentRequest(self.group_id, member, epoch, group_epoch, error, members, delay_ms)

    def compute(
        self, member: str, epoch: int, targets: Mapping[str, str], delay_ms: int = 0, connection: int = 1
    ) -> ConnectGroupPrepareAssignmentResponse:
        """The chosen worker prepares and installs."""
        prepared = self.prepare(member, epoch, connection)
        assert prepared.error_code == 0, prepared.error_message
        error = self.install(member, epoch, prepared.group_epoch, targets, delay_ms, connection=connection)
        assert error is ErrorCode.NONE
        return prepared

    def configure(self, **values: str) -> None:
        """The group's own settings are these from now on; `rebalance_delay_ms="1"` for `connect.rebalance.delay.ms`."""
        named = {f"connect.{name.replace('_', '.')}": value for name, value in values.items()}
        self._keep(self.shard.alter_config(self.group_id, named, self.now_ms, self.wall_ms))

    def describe(self) -> DescribedGroup:
        request = ConnectGroupDescribeRequest([self.group_id])
        return self.ask(request, ConnectGroupDescribeResponse, connection=0).groups[0]

    def delete(self) -> ErrorCode:
        response = self.ask(DeleteGroupsRequest([self.group_id]), DeleteGroupsResponse, connection=0)
        return ErrorCode(response.results[0].error_code)

    # -- looking ------------------------------------------------------------------------------------------------------

    @property
    def group(self) -> ConnectGroup:
        return self.shard.state.connect[self.group_id]

    def member(self, member_id: str) -> ConnectMember:
        return self.group.members[member_id]

    def targets(self) -> dict[str, str]:
        return {member_id: text(target.resources) for member_id, target in sorted(self.group.targets.items())}

    def currents(self) -> dict[str, tuple[int, str]]:
        return {each.member_id: (each.epoch, text(each.current)) for each in self.group.members.values()}

    def table(self) -> tuple[int, int, dict[str, str], dict[str, tuple[int, str]]]:
        """The group as a row of a table: group epoch, assignment epoch, targets, members' epochs and assignments."""
        return self.group.epoch, self.group.assignment_epoch, self.targets(), self.currents()

    def chosen(self) -> str | None:
        return self.group.chosen()

    # -- keeping ------------------------------------------------------------------------------------------------------

    def _keep(self, step: Step) -> None:
        step.checked()
        self.steps.append(step.records)
        self.slowed += step.slowed
        for record in step.records:
            key, value = encode_record(record)
            self.log.append((key, value))
            replay(self._shadow, decode_record(key, value))
        for reply in step.replies:
            assert reply.token not in self.answers, "answered twice"
            self.answers[reply.token] = reply.response
            self.remembered[reply.token] = reply.cached is not None and reply.cached.predicted is None
            if reply.cached is not None:
                request, context = self.asked[reply.token]
                listed = getattr(request, "connectors_and_tasks", None) is not None
                predicted = reply.cached.predicted or PredictedReply(request, reply.response)
                self._hot[context.connection, listed] = predicted, context, reply.cached
                self.predicted[reply.token] = predicted
        if self.checked:
            self._check()

    def _check(self) -> None:
        state = self.shard.state
        assert durable(state) == durable(self._shadow), "a replay gives another state"
        check_consistent(state, self.now_ms)
        epochs = {group_id: group.epoch for group_id, group in state.connect.items()}
        for group_id, epoch in epochs.items():
            assert epoch >= self._epochs.get(group_id, 0), "the group epoch goes back"
        self._epochs = epochs
        self._check_hot_answers()

    def _check_hot_answers(self) -> None:
        """Every answer that may be repeated is the one that the shard would give (CG-25)."""
        for where, (predicted, context, remember) in list(self._hot.items()):
            if remember.basis.version != remember.version:
                del self._hot[where]
                continue
            if context.connection in self.shard.state.held:
                continue  # the connection has another request open
            member = cast(ConnectMember, remember.session)
            seen_ms, bound_ms = member.last_seen_ms, member.session_timeout_ms
            again = attrs.evolve(context, wall_ms=self.wall_ms)
            step = self.shard.handle(predicted.request, again, remember, self.now_ms)
            member.last_seen_ms, member.session_timeout_ms = seen_ms, bound_ms
            assert not step.records
            assert [reply.response for reply in step.replies if reply.token is remember] == [predicted.response]
            assert len(step.replies) == 1, "a hot request lets something else go"

    # -- stories begin here -------------------------------------------------------------------------------------------

    @classmethod
    def settled(cls, targets: Mapping[str, str], settings: ConnectSettings = SETTINGS, **fields: Any) -> World:
        """Workers W1, W2, ... that own these resources and have converged, each on the connection of its number; the
        first one has computed. All epochs are the number of workers. `fields` go into every join.
        """
        world = cls(settings)
        for at, member in enumerate(targets, 1):
            world.join(member, connection=at, **fields)
        first, epoch = next(iter(targets)), len(targets)
        world.beat(first, 0)
        world.compute(first, 0, targets)
        for at, (member, owned) in enumerate(targets.items(), 1):
            assert world.beat(member, 0, connection=at).brief == (epoch, owned)
        assert world.group.state is ModernState.STABLE
        return world

    def live(self, ms: int, *silent: str, **owned: str) -> None:
        """Let time pass while these workers heartbeat, at the epoch that they were told and by the connection that they
        came by last: the `silent` ones without a list, the others owning that.
        """
        for _ in range(ms // INTERVAL_MS):
            self.pass_ms(INTERVAL_MS)
            for member in [*silent, *owned]:
                known = self.member(member)
                told = self.beat(member, known.epoch, owned.get(member), connection=known.connection)
                assert told.error in (ErrorCode.NONE, ErrorCode.COMPUTE_ASSIGNMENT)
