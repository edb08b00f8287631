"""Groups of every kind, brought into being at a kcoord of any release, and what it answers about them.

| group | what is in it |
| --- | --- |
| readers | a classic consumer group, one of its two members static; it has committed offsets |
| plain | offsets that somebody committed without being a member |
| gone | was deleted: only tombstones are left |
| workers | a classic Connect group of two workers |
| modern | a connect group with settings of its own; one worker is static, one has left for good |
| computed | a connect group whose worker computed the assignment; another waits for what that one must release |
| mixed | a connect group of a classic worker and a new one |

`play` does that, `ask_all` asks everything that can be asked about them, and `go_on` is what each member does next, as
if nothing had happened.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import attrs

from kcoord.protocol.embedded import (
    NAMES,
    SESSIONED,
    WorkerAssignment,
    WorkerState,
    decode_assignment,
    decode_state,
    encode_assignment,
    encode_state,
)
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.connect_group_heartbeat_request import Assignor
from kcoord.protocol.generated.describe_configs_request import DescribeConfigsResource
from kcoord.protocol.generated.incremental_alter_configs_request import AlterableConfig, AlterConfigsResource
from kcoord.protocol.generated.join_group_request import JoinGroupRequestProtocol
from kcoord.protocol.generated.offset_commit_request import OffsetCommitRequestPartition, OffsetCommitRequestTopic
from kcoord.protocol.generated.offset_fetch_request import OffsetFetchRequestGroup
from kcoord.protocol.generated.sync_group_request import SyncGroupRequestAssignment
from kcoord.protocol.messages import (
    ConnectGroupDescribeRequest,
    DeleteGroupsRequest,
    DescribeConfigsRequest,
    DescribeGroupsRequest,
    HeartbeatRequest,
    IncrementalAlterConfigsRequest,
    JoinGroupRequest,
    JoinGroupResponse,
    ListGroupsRequest,
    OffsetCommitRequest,
    OffsetFetchRequest,
    Request,
    SyncGroupRequest,
    SyncGroupResponse,
)
from kcoord.resource import Resource
from tests.connectgroups.worker import Worker, describe, resources
from tests.gateway.scripted import ask, connect, until
from tests.server.harness import Client

SESSION_MS = 600_000
"""Longer than any test: nobody's session ends by itself."""
SETTINGS: dict[str, object] = {
    "offsets.topic.num.partitions": 4,
    "group.initial.rebalance.delay.ms": 0,
    "group.connect.min.session.timeout.ms": 1_000,
    "group.connect.max.session.timeout.ms": SESSION_MS,
    "group.connect.session.timeout.ms": SESSION_MS,
    "group.connect.min.heartbeat.interval.ms": 100,
    "group.connect.heartbeat.interval.ms": 100,
    "group.connect.rebalance.delay.ms": 0,
    "offsets.retention.minutes": 2**31 - 1,
    "history.retention.ms": 10 * 365 * 86_400_000,
}
"""Of the kcoord that coordinates them."""
GROUP_RESOURCE, SET = 32, 0
WORK = resources("a", "a-0", "a-1", "b", "b-0")
OFFSET = 7
CLASSIC_GROUPS = ["readers", "plain", "workers"]
CONNECT_GROUPS = ["modern", "computed", "mixed"]
QUESTIONS: list[tuple[Request, int]] = [
    (DescribeGroupsRequest(groups=CLASSIC_GROUPS), 5),
    *((ConnectGroupDescribeRequest([group]), 0) for group in CONNECT_GROUPS),
    *(
        (DescribeConfigsRequest(resources=[DescribeConfigsResource(GROUP_RESOURCE, group)]), 4)
        for group in CONNECT_GROUPS
    ),
    (OffsetFetchRequest(groups=[OffsetFetchRequestGroup(each) for each in ("readers", "plain", "gone", "modern")]), 8),
    (ListGroupsRequest(), 5),  # last: it leaves out what has not been loaded yet
]
RETRY = (ErrorCode.NOT_COORDINATOR, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, ErrorCode.COORDINATOR_NOT_AVAILABLE)


@attrs.define
class ClassicMember:
    """A member of the classic protocol; with protocol type `connect` a worker of Connect. It leads if it must."""

    group: str
    protocol_type: str
    instance_id: str | None = None
    member_id: str = ""
    generation: int = -1
    assignment: str = ""
    """What SyncGroup brought last, in hex."""
    owned: frozenset[Resource] = frozenset()
    _client: Client | None = attrs.field(default=None, init=False)

    async def ask(self, at: int, request: Request, version: int) -> Any:
        """The answer that comes by the member's own connection to that port."""
        client = self._client
        if client is None or client.writer.is_closing() or client.writer.get_extra_info("peername")[1] != at:
            client = self._client = await connect(at)
        return await ask(client, request, version)

    @property
    def protocol(self) -> str:
        return NAMES[SESSIONED] if self.protocol_type == "connect" else "range"

    @property
    def metadata(self) -> bytes:
        """What it says of itself when it joins."""
        if self.protocol_type != "connect":
            return b"subscribed to t"
        allocation = WorkerAssignment(SESSIONED, config_offset=OFFSET, assigned=self.owned) if self.owned else None
        return encode_state(WorkerState(SESSIONED, "http://classic", OFFSET, allocation))

    async def join(self, at: int) -> None:
        """Join and sync, until it is in a generation that lasts so long."""
        error = ErrorCode.REBALANCE_IN_PROGRESS
        while error:
            joined: Any = await self.ask(at, self.join_request(), 9)
            self.member_id = joined.member_id or self.member_id
            if joined.error_code in (ErrorCode.MEMBER_ID_REQUIRED, *RETRY):
                continue
            assert joined.error_code == ErrorCode.NONE, ErrorCode(joined.error_code)
            self.generation = joined.generation_id
            synced: Any = await self.ask(at, self.sync_request(joined), 5)
            error = ErrorCode(synced.error_code)
            assert error in (ErrorCode.NONE, ErrorCode.REBALANCE_IN_PROGRESS), error
        self.take(synced)

    def join_request(self) -> JoinGroupRequest:
        return JoinGroupRequest(
            group_id=self.group,
            session_timeout_ms=SESSION_MS,
            rebalance_timeout_ms=SESSION_MS,
            member_id=self.member_id,
            group_instance_id=self.instance_id,
            protocol_type=self.protocol_type,
            protocols=[JoinGroupRequestProtocol(self.protocol, self.metadata)],
        )

    def sync_request(self, joined: JoinGroupResponse | None = None) -> SyncGroupRequest:
        """Who leads shares the work out, in the order of the members' ids."""
        members = sorted(joined.members, key=lambda each: each.member_id) if joined else []
        shares = [f"partition {at}".encode() for at in range(len(members))]
        if self.protocol_type == "connect":
            work = sorted(WORK)
            shares = [
                _share(self.member_id, each.metadata, frozenset(work[at :: len(members)]))
                for at, each in enumerate(members)
            ]
        given = zip(members, shares, strict=True)
        return SyncGroupRequest(
            group_id=self.group,
            generation_id=self.generation,
            member_id=self.member_id,
            group_instance_id=self.instance_id,
            protocol_type=self.protocol_type,
            protocol_name=self.protocol,
            assignments=[SyncGroupRequestAssignment(each.member_id, share) for each, share in given],
        )

    def take(self, synced: SyncGroupResponse) -> None:
        """Run what was assigned."""
        self.assignment = synced.assignment.hex()
        if self.protocol_type == "connect" and synced.assignment:
            told = decode_assignment(synced.assignment)
            self.owned = (self.owned - told.revoked) | told.assigned

    async def heartbeat(self, at: int) -> ErrorCode:
        """One heartbeat."""
        request = HeartbeatRequest(self.group, self.generation, self.member_id, self.instance_id)
        answer: Any = await self.ask(at, request, 4)
        return ErrorCode(answer.error_code)


def _share(leader: str, metadata: bytes, target: frozenset[Resource]) -> bytes:
    held = decode_state(metadata).allocation
    owned = frozenset[Resource]() if held is None else held.assigned
    increment = WorkerAssignment(
        SESSIONED, 0, leader, "http://classic", OFFSET, assigned=target - owned, revoked=owned - target
    )
    return encode_assignment(increment)


@attrs.define
class ConnectMember:
    """A worker of the new protocol, as it is to go on."""

    group: str
    member_id: str
    epoch: int
    owned: frozenset[Resource]


@attrs.define
class Cast:
    """All members, as they are when `play` ends."""

    classic: list[ClassicMember]
    connect: list[ConnectMember]


async def play(at: int) -> Cast:
    """Bring all groups into being at the kcoord on that port."""
    readers = await _readers(at)
    await _plain_and_gone(at)
    workers = await _classic_pair(ClassicMember("workers", "connect"), ClassicMember("workers", "connect"), at)
    modern = await _modern(at)
    computed = await _computed(at)
    new, classic = await _mixed(at)
    return Cast([*readers, *workers, classic], [*modern, *computed, new])


async def _classic_pair(one: ClassicMember, other: ClassicMember, at: int) -> list[ClassicMember]:
    await one.join(at)
    joining = asyncio.create_task(other.join(at))
    await until(lambda: _is_called(one, at), "the first is called")
    await asyncio.gather(joining, one.join(at))
    return [one, other]


async def _is_called(member: ClassicMember, at: int) -> bool:
    return await member.heartbeat(at) == ErrorCode.REBALANCE_IN_PROGRESS


async def _readers(at: int) -> list[ClassicMember]:
    members = await _classic_pair(
        ClassicMember("readers", "consumer", "fixed"), ClassicMember("readers", "consumer"), at
    )
    await commit(at, "readers", 41, members[0])
    await commit(at, "readers", 42, members[0])
    return members


async def commit(at: int, group: str, offset: int, member: ClassicMember | None = None) -> None:
    """Commit an offset, as a member or as nobody in particular."""
    partition = OffsetCommitRequestPartition(0, offset, committed_metadata=f"note {offset}")
    who: dict[str, Any] = {}
    if member is not None:
        who = {
            "generation_id_or_member_epoch": member.generation,
            "member_id": member.member_id,
            "group_instance_id": member.instance_id,
        }
    request = OffsetCommitRequest(group, topics=[OffsetCommitRequestTopic("t", partitions=[partition])], **who)
    answer = await ask(await connect(at), request, 8)
    assert answer.topics[0].partitions[0].error_code == ErrorCode.NONE


async def _plain_and_gone(at: int) -> None:
    await commit(at, "plain", 5)
    await commit(at, "gone", 6)
    deleted = await ask(await connect(at), DeleteGroupsRequest(["gone"]), 2)
    assert deleted.results[0].error_code == ErrorCode.NONE


async def _modern(at: int) -> list[ConnectMember]:
    values = {"connect.session.timeout.ms": str(SESSION_MS - 1), "connect.heartbeat.interval.ms": "101"}
    changes = [AlterableConfig(name, SET, value) for name, value in values.items()]
    altered = await ask(
        await connect(at), IncrementalAlterConfigsRequest([AlterConfigsResource(GROUP_RESOURCE, "modern", changes)]), 1
    )
    assert altered.responses[0].error_code == ErrorCode.NONE, altered
    one, two, three = [Worker(await connect(at), "modern", f"m{number}") for number in (1, 2, 3)]
    assert await one.join(WORK, instance_id="fixed", url="http://modern") == ErrorCode.NONE
    assert await two.join() == ErrorCode.NONE
    assert await three.join() == ErrorCode.NONE
    await _settle([one, two, three])
    assert await three.leave() == ErrorCode.NONE
    await _settle([one, two])
    return [_kept(one), _kept(two)]


async def _computed(at: int) -> list[ConnectMember]:
    eager = [Assignor("eager", 0, 1, 0, 1, b"meta")]
    one, two = [Worker(await connect(at), "computed", f"c{number}") for number in (1, 2)]
    await one.join(WORK, server_assignor=None, client_assignors=eager)
    await one.install((await one.prepare()).group_epoch, {"c1": WORK})
    await _settle([one])
    await two.join(server_assignor=None, client_assignors=eager)
    await until(lambda: _is_asked(two, one), "somebody computes")
    computing = one if one.last.error_code == ErrorCode.COMPUTE_ASSIGNMENT else two
    half = resources("a", "a-0")
    epoch = (await computing.prepare()).group_epoch
    assert (await computing.install(epoch, {"c1": half, "c2": WORK - half})).error_code == ErrorCode.NONE
    await two.heartbeat()
    return [_kept(one), _kept(two)]


async def _is_asked(*workers: Worker) -> bool:
    return ErrorCode.COMPUTE_ASSIGNMENT in [await each.heartbeat() for each in workers]


async def _mixed(at: int) -> tuple[ConnectMember, ClassicMember]:
    new = Worker(await connect(at), "mixed", "n1")
    assert await new.join(WORK, config_offset=OFFSET) == ErrorCode.NONE
    await new.settle(WORK)
    classic = ClassicMember("mixed", "connect")
    await classic.join(at)

    async def shares() -> bool:
        await new.heartbeat()
        if await classic.heartbeat(at) == ErrorCode.REBALANCE_IN_PROGRESS:
            await classic.join(at)
        await new.heartbeat()
        return bool(classic.owned) and new.owned | classic.owned == WORK and not new.owned & classic.owned

    await until(shares, "the classic worker and the new one share the work")
    await until(lambda: _is_stable(at, "mixed", new), "the mixed group is at rest")
    return _kept(new), classic


async def _settle(workers: Sequence[Worker]) -> None:
    async def at_rest() -> bool:
        for each in workers:
            assert await each.heartbeat() == ErrorCode.NONE
        ran = [resource for each in workers for resource in each.owned]
        return sorted(ran) == sorted(WORK) and len({each.epoch for each in workers}) == 1

    await until(at_rest, "the workers share the work")


async def _is_stable(at: int, group: str, worker: Worker) -> bool:
    await worker.heartbeat()
    found = await describe(await connect(at), group)
    return bool(found.group_state == "Stable")


def _kept(worker: Worker) -> ConnectMember:
    return ConnectMember(worker.group_id, worker.member_id, worker.epoch, worker.owned)


async def ask_all(at: int) -> list[dict[str, Any]]:
    """What the kcoord on that port answers to each of the questions, once it has loaded everything."""
    found = []
    for question, version in QUESTIONS:

        async def answered(question: Request = question, version: int = version) -> Any:
            answer = attrs.asdict(await ask(await connect(at), question, version))
            return None if _errors(answer) & set(RETRY) else answer

        found.append(plain(await until(answered, f"an answer to {question.NAME}")))
    return found


def plain(value: Any) -> Any:
    """As JSON has it, without what a load may change: the epoch that a member reached without a change of what it owns
    is not written (CG-11).
    """
    if isinstance(value, dict):
        return {name: plain(each) for name, each in value.items() if name not in ("member_epoch", "throttle_time_ms")}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    return value.hex() if isinstance(value, bytes) else value


def _errors(value: Any) -> set[int]:
    if isinstance(value, list):
        return set().union(*map(_errors, value))
    if not isinstance(value, dict):
        return set()
    return {value.get("error_code", 0)}.union(*map(_errors, value.values()))


async def go_on(at: int, cast: Cast) -> None:
    """Every member goes on in the generation or epoch that it knows, and runs what it ran."""
    for member in cast.classic:
        assert await member.heartbeat(at) == ErrorCode.NONE, member
        if member.group != "mixed":
            synced: Any = await member.ask(at, member.sync_request(), 5)
            assert (ErrorCode(synced.error_code), synced.assignment.hex()) == (ErrorCode.NONE, member.assignment)
    for kept in cast.connect:
        worker = await _goes_on(at, kept)
        if kept.group != "computed":
            assert (worker.epoch, worker.owned) == (kept.epoch, kept.owned), kept


async def _goes_on(at: int, kept: ConnectMember) -> Worker:
    """The worker, after a heartbeat. Of a connection that was made just when the log was loaded nobody can say whether
    it is the newer one: then it connects once more, as workers do (CG-4).
    """

    async def goes_on() -> Worker | None:
        worker = Worker(await connect(at), kept.group, kept.member_id, kept.epoch, kept.owned)
        error = await worker.heartbeat()
        assert error in (ErrorCode.NONE, ErrorCode.COMPUTE_ASSIGNMENT, ErrorCode.NOT_COORDINATOR), (error, kept)
        return None if error == ErrorCode.NOT_COORDINATOR else worker

    found: Worker = await until(goes_on, f"{kept.member_id} of {kept.group} goes on")
    return found


async def bring_to_rest(at: int, cast: Cast) -> None:
    """What was under way goes on to its end: one worker releases, the other takes."""
    pair = [
        Worker(await connect(at), kept.group, kept.member_id, kept.epoch, kept.owned)
        for kept in cast.connect
        if kept.group == "computed"
    ]
    await _settle(pair)
