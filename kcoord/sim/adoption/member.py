"""A consumer of a run: it does what Java's consumer does on the group's side, with one assignor for all.

It sends heartbeats, commits what it has read, joins when it is told to, and finds its coordinator again when its
connection ends. It reads a partition on from the offset that the cluster gives. An *eager* consumer commits and gives
up everything before it joins. A *cooperative* one keeps what it has, gives up what is taken away, and then joins once
more.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import struct
from collections import Counter
from collections.abc import Mapping, Sequence
from random import Random
from typing import Any, Protocol

import attrs

from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.join_group_request import JoinGroupRequestProtocol
from kcoord.protocol.generated.join_group_response import JoinGroupResponseMember
from kcoord.protocol.generated.leave_group_request import MemberIdentity
from kcoord.protocol.generated.offset_commit_request import OffsetCommitRequestPartition, OffsetCommitRequestTopic
from kcoord.protocol.generated.offset_fetch_request import OffsetFetchRequestTopic
from kcoord.protocol.generated.sync_group_request import SyncGroupRequestAssignment
from kcoord.protocol.messages import (
    FindCoordinatorRequest,
    HeartbeatRequest,
    JoinGroupRequest,
    JoinGroupResponse,
    LeaveGroupRequest,
    OffsetCommitRequest,
    OffsetFetchRequest,
    Request,
    SyncGroupRequest,
)
from kcoord.sim.adoption.client import Client, ConnectionLost
from kcoord.sim.adoption.context import AdoptionContext
from kcoord.sim.adoption.process import Process
from kcoord.sim.adoption.wires import Address

GROUP, TOPIC = "g", "t"
VERSIONS = {
    FindCoordinatorRequest: 4, JoinGroupRequest: 9, SyncGroupRequest: 5, HeartbeatRequest: 4, LeaveGroupRequest: 5,
    OffsetCommitRequest: 8, OffsetFetchRequest: 7,
}  # fmt: skip
BEFORE_KIP_394 = VERSIONS | {JoinGroupRequest: 3, SyncGroupRequest: 2}
"""The versions of clients that join without a member id."""
LOOK_AGAIN = frozenset({ErrorCode.NOT_COORDINATOR, ErrorCode.COORDINATOR_NOT_AVAILABLE})
ANSWERED_WITHIN_S = 30.0
"""How long a member waits for an answer; for that to a JoinGroup longer, where another member is slow to join."""
UNDER_WAY_MS = 1_000
"""The longest time that a message takes, unless a fault holds it."""
NEVER_MS = -(1 << 40)


@attrs.frozen
class Nature:
    """The setup of a member."""

    cooperative: bool
    session_ms: int
    rebalance_ms: int
    interval_ms: int
    commit_ms: int
    is_old: bool
    """Whether members that are not static are clients from before KIP-394."""


class MemberJudge(Protocol):
    """The judge of what members hear and own."""

    committed: dict[int, int]
    unheard_joins: Counter[str | None]

    def floor(self) -> int: ...
    def joined(self, member: Member, answer: JoinGroupResponse, floor: int) -> None: ...
    def refused(self, member: Member) -> None: ...
    def unknown(self, member: Member, member_id: str, api: str, error: ErrorCode) -> None: ...
    def takes(self, member: Member, partitions: frozenset[int]) -> None: ...
    def acknowledged(self, member: Member, said: dict[int, int], before: dict[int, int], sent_ms: int) -> None: ...
    def withholds(self, generation: int, claimed: dict[int, set[str]]) -> None: ...
    def fetched(self, member: Member, found: dict[int, int], before: dict[int, int]) -> None: ...


class Member:
    """One life of one member."""

    def __init__(
        self,
        context: AdoptionContext,
        judge: MemberJudge,
        name: str,
        at: Address,
        nature: Nature,
        random: Random,
        instance_id: str | None,
    ) -> None:
        self.name = name
        self.at = at
        """The address where it begins: kcoord, or the cluster itself."""
        self.instance_id = instance_id
        self.process = Process(name)
        self.member_id = ""
        self.generation = -1
        self.position: dict[int, int] = {}
        """Partition → the position to read on from, for the partitions that it believes to own."""
        self.joins = 0
        """How many JoinGroups have succeeded."""
        self.errors: list[ErrorCode] = []
        """The errors that it got."""
        self.commits = 0
        """How many commits were acknowledged."""
        self.slowest_commit_ms = 0
        """The longest time that it has waited for one of them."""
        self.known_ids: set[str] = set()
        """The member ids with which it has been in a generation."""
        self.assigned_ids: set[str] = set()
        """Those by which it was also given its share."""
        self.lives_until_ms = NEVER_MS
        """Until when the coordinator counts on it at least, as far as the member can know."""
        self._stable_ms = NEVER_MS
        """When it last called and heard of no rebalance."""
        self.was_late = False
        """Whether its session may have ended before it was last answered as a member: kcoord may not have heard then
        that the cluster has put the member out.
        """
        self.frozen_until_ms = 0
        self.busy_until_ms = 0
        """Until when it works on what it has read: it sends heartbeats and commits, and does not join."""
        self.joins_within_s = ANSWERED_WITHIN_S
        self.losses = 0
        """How often it has lost its connection."""
        self.joins_since_ms: int | None = None
        """When it sent the first of the JoinGroups that have not led to an assignment yet."""
        self.is_refused = False
        """Whether it has ended because the group does not accept its kind."""
        self.must_join = True
        self._context = context
        self._judge = judge
        self._nature = nature
        self._versions = BEFORE_KIP_394 if nature.is_old and instance_id is None else VERSIONS
        self._random = random
        self._client: Client | None = None
        self._beat_ms = self._commit_ms = 0
        self.is_leaving = False
        context.loop.run_for(self.process, self._live())

    @property
    def is_alive(self) -> bool:
        """Whether its process runs."""
        return not self.process.is_dead

    @property
    def is_stable(self) -> bool:
        """Whether it is in a generation, and was not told to join."""
        return self.generation >= 0 and not self.must_join

    def is_counted_on(self) -> bool:
        """Whether its coordinator has no reason to evict it."""
        return self._context.loop.now_ms <= self.lives_until_ms

    def kill(self) -> None:
        """The member dies."""
        if self.is_alive:
            self._context.note(self.name, "dies")
            self.process.kill()

    def leave(self) -> None:
        """The member leaves in order, as soon as it gets to it."""
        self.is_leaving = True

    def cut(self) -> None:
        """The member loses its connections."""
        for end in list(self.process.ends):
            end.sever()

    # -- its life -----------------------------------------------------------------------------------------------------

    async def _live(self) -> None:
        loop = self._context.loop
        while not self.is_leaving:
            if self.frozen_until_ms > loop.now_ms:
                await asyncio.sleep((self.frozen_until_ms - loop.now_ms) / 1000)
                continue
            try:
                if self._client is None or self._client.is_lost:
                    await self._find()
                if self.must_join and not (self.busy_until_ms > loop.now_ms and self.generation >= 0):
                    await self._join()
                else:
                    await self._work()
            except ConnectionLost:
                self.losses += 1
                await self._lose(0.05 + self._random.random() * 0.2)
            if self.is_refused:
                break
        if self.is_leaving and self.member_id and self._client is not None:
            self._context.note(self.name, "leaves")
            self._revoke(frozenset(self.position))
            identity = MemberIdentity(self.member_id, self.instance_id)
            with contextlib.suppress(ConnectionLost):
                await self._ask(LeaveGroupRequest(GROUP, members=[identity]))
        self.process.kill()

    async def _find(self) -> None:
        """Connect to the group's coordinator. Raises ConnectionLost."""
        first = await Client.connect(self._context, self.name, self.at)
        try:
            request = FindCoordinatorRequest(key_type=0, coordinator_keys=[GROUP])
            [found] = (await first.ask(request, VERSIONS[FindCoordinatorRequest])).coordinators
        finally:
            first.close()
        if found.error_code:
            raise ConnectionLost(f"there is no coordinator: {found.error_code}")
        self._client = await Client.connect(self._context, self.name, (found.host, found.port))

    async def _lose(self, pause_s: float) -> None:
        if self._client is not None:
            self._client.close()
            self._client = None
        await asyncio.sleep(pause_s)

    async def _ask(self, request: Request, patience_s: float = ANSWERED_WITHIN_S) -> Any:
        assert self._client is not None
        answer = await self._client.ask(request, self._versions[type(request)], patience_s)
        self._context.fingerprint.answered(self._context.loop.now_ms, answer)
        return answer

    async def _work(self) -> None:
        """Do whatever is due next."""
        loop, nature = self._context.loop, self._nature
        due_ms = min(self._beat_ms, self._commit_ms)
        if due_ms > loop.now_ms:
            await asyncio.sleep((due_ms - loop.now_ms) / 1000)
        if self.is_leaving or self.frozen_until_ms > loop.now_ms:
            return
        if self._commit_ms <= loop.now_ms:
            self._commit_ms = loop.now_ms + nature.commit_ms
            self._read_on()
            await self._commit()
        else:
            self._beat_ms = loop.now_ms + nature.interval_ms
            sent_ms = loop.now_ms
            asked = self.member_id, self.generation
            answer = await self._ask(HeartbeatRequest(GROUP, self.generation, self.member_id, self.instance_id))
            await self._obey(ErrorCode(answer.error_code), "Heartbeat", sent_ms, asked)

    def _read_on(self) -> None:
        for partition in self.position:
            self.position[partition] += self._random.randint(1, 3)

    async def _commit(self) -> None:
        """Commit what was read. Raises ConnectionLost."""
        if not self.position:
            return
        judge, sent_ms = self._judge, self._context.loop.now_ms
        said = dict(self.position)
        before = {partition: judge.committed.get(partition, 0) for partition in said}
        partitions = [OffsetCommitRequestPartition(each, offset) for each, offset in said.items()]
        request = OffsetCommitRequest(
            GROUP,
            self.generation,
            self.member_id,
            self.instance_id,
            topics=[OffsetCommitRequestTopic(name=TOPIC, partitions=partitions)],
        )
        asked = self.member_id, self.generation
        answer = await self._ask(request)
        error = ErrorCode(answer.topics[0].partitions[0].error_code)
        if not error:
            self.commits += 1
            self.slowest_commit_ms = max(self.slowest_commit_ms, self._context.loop.now_ms - sent_ms)
            judge.acknowledged(self, said, before, sent_ms)
        await self._obey(error, "OffsetCommit", sent_ms, asked)

    async def _obey(self, error: ErrorCode, api: str, sent_ms: int, asked: tuple[str, int]) -> None:
        """Do what the response to something other than a JoinGroup says. Raises ConnectionLost."""
        if error:
            self._context.note(self.name, f"{api} in generation {asked[1]}: {error.name}")
            self.errors.append(error)
        if error == ErrorCode.NONE or error == ErrorCode.REBALANCE_IN_PROGRESS:
            self.was_late = not self.is_counted_on()
            self._is_counted_on(sent_ms, is_stable=not error and api != "OffsetCommit")
        if error == ErrorCode.REBALANCE_IN_PROGRESS:
            self.must_join = True
        elif error in LOOK_AGAIN:
            raise ConnectionLost(error.name)
        elif error in (ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.FENCED_INSTANCE_ID):
            self._judge.unknown(self, asked[0], api, error)
            self._forget()
        elif error == ErrorCode.ILLEGAL_GENERATION:
            self._revoke(frozenset(self.position), is_lost=True)
            self.generation, self.must_join = -1, True
        elif error:
            await asyncio.sleep(0.1)

    def _is_counted_on(self, since_ms: int, *, is_stable: bool = True) -> None:
        """It sent a call then, and was answered as a member. Its session goes on from there. But a rebalance may have
        begun when it last heard of none, and then it has to join in time. Commits succeed while others join.
        """
        if is_stable:
            self._stable_ms = since_ms
        until_ms = min(since_ms + self._nature.session_ms, self._stable_ms + self._nature.rebalance_ms)
        self.lives_until_ms = max(self.lives_until_ms, until_ms)

    def _forget(self) -> None:
        """It is not a member any more."""
        self._revoke(frozenset(self.position), is_lost=True)
        self.member_id, self.generation, self.must_join = "", -1, True
        self.lives_until_ms = NEVER_MS
        self.joins_since_ms = None

    # -- rounds -------------------------------------------------------------------------------------------------------

    async def _join(self) -> None:
        """Send one JoinGroup, and do what follows. Raises ConnectionLost."""
        context, judge, loop, nature = self._context, self._judge, self._context.loop, self._nature
        if not nature.cooperative and self.position:
            if self.generation >= 0:
                await self._commit()
                if self.generation < 0:
                    return
            self._revoke(frozenset(self.position))
        sent_ms, floor, asked = loop.now_ms, judge.floor(), self.member_id
        if self.joins_since_ms is None:
            self.joins_since_ms = sent_ms
        judge.unheard_joins[self.instance_id] += 1
        answer = await self._ask(self._join_request(), self.joins_within_s)
        judge.unheard_joins[self.instance_id] -= 1
        error = ErrorCode(answer.error_code)
        if error == ErrorCode.MEMBER_ID_REQUIRED:
            if asked:  # librdkafka takes its partitions for lost
                judge.unknown(self, asked, "JoinGroup", error)
            self.member_id, self.generation = answer.member_id, -1
            return
        if error == ErrorCode.INCONSISTENT_GROUP_PROTOCOL:
            context.note(self.name, "is refused")
            self._revoke(frozenset(self.position), is_lost=True)
            judge.refused(self)
            self.is_refused = True
            return
        if error:
            self.errors.append(error)
            context.note(self.name, f"JoinGroup: {error.name}")
            if error in LOOK_AGAIN:
                raise ConnectionLost(error.name)
            if error in (ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.FENCED_INSTANCE_ID):
                judge.unknown(self, asked, "JoinGroup", error)
                self._forget()
            await asyncio.sleep(0.1)
            return
        self.joins += 1
        self.was_late = False
        judge.joined(self, answer, floor)
        self.known_ids.add(answer.member_id)
        if loop.now_ms - self.joins_since_ms < nature.rebalance_ms:  # else those who do not sync are evicted by now
            self._is_counted_on(max(sent_ms, loop.now_ms - UNDER_WAY_MS))
        self.member_id, self.generation = answer.member_id, answer.generation_id
        context.note(self.name, f"joins generation {self.generation} as {self.member_id}, led by {answer.leader}")
        await self._sync(answer)

    def _join_request(self) -> JoinGroupRequest:
        nature = self._nature
        name = "cooperative" if nature.cooperative else "range"
        return JoinGroupRequest(
            group_id=GROUP,
            session_timeout_ms=nature.session_ms,
            rebalance_timeout_ms=nature.rebalance_ms,
            member_id=self.member_id,
            group_instance_id=self.instance_id,
            protocol_type="consumer",
            protocols=[JoinGroupRequestProtocol(name=name, metadata=_subscription(self.position))],
        )

    async def _sync(self, joined: JoinGroupResponse) -> None:
        context, sent_ms = self._context, self._context.loop.now_ms
        given: Mapping[str, Sequence[int]] = {}
        if joined.leader == joined.member_id and not joined.skip_assignment:
            given = _assign(joined.members, context.plan.partitions)
            self._judge.withholds(joined.generation_id, _withheld(joined.members, given))
        asked = self.member_id, self.generation
        answer = await self._ask(
            SyncGroupRequest(
                group_id=GROUP,
                generation_id=self.generation,
                member_id=self.member_id,
                group_instance_id=self.instance_id,
                protocol_type="consumer",
                protocol_name=joined.protocol_name,
                assignments=[SyncGroupRequestAssignment(who, _pack(what)) for who, what in given.items()],
            )
        )
        if answer.error_code:
            await self._obey(ErrorCode(answer.error_code), "SyncGroup", sent_ms, asked)
            return
        self._is_counted_on(sent_ms)
        self.assigned_ids.add(asked[0])
        self.joins_since_ms = None
        assigned = frozenset(_unpack(answer.assignment))
        self.must_join = False
        self._beat_ms = context.loop.now_ms + self._nature.interval_ms
        self._commit_ms = context.loop.now_ms + self._random.randint(0, self._nature.commit_ms)
        taken_away = frozenset(self.position) - assigned
        if taken_away:
            await self._commit()
            self._revoke(taken_away)
            self.must_join = True
        if self.generation == asked[1]:
            await self._begin(assigned - self.position.keys())

    async def _begin(self, partitions: frozenset[int]) -> None:
        """Read these partitions from the offsets that the cluster gives."""
        if not partitions:
            return
        judge = self._judge
        generation, wanted = self.generation, sorted(partitions)
        self.position |= dict.fromkeys(wanted, 0)
        judge.takes(self, partitions)
        while self.generation == generation:
            before = {partition: judge.committed.get(partition, 0) for partition in wanted}
            try:
                if self._client is None or self._client.is_lost:
                    await self._find()
                topics = [OffsetFetchRequestTopic(name=TOPIC, partition_indexes=wanted)]
                answer = await self._ask(OffsetFetchRequest(group_id=GROUP, topics=topics, require_stable=False))
            except ConnectionLost:
                await self._lose(0.1)
                continue
            if not answer.error_code and answer.topics:
                found = {each.partition_index: each.committed_offset for each in answer.topics[0].partitions}
                judge.fetched(self, found, before)
                self.position |= {partition: max(offset, 0) for partition, offset in found.items()}
                return
            await asyncio.sleep(0.1)

    def _revoke(self, partitions: frozenset[int], *, is_lost: bool = False) -> None:
        if partitions:
            how = "has lost" if is_lost else "gives up"
            self._context.note(self.name, f"{how} {sorted(partitions)}")
        for partition in partitions:
            del self.position[partition]


# -- the assignor ------------------------------------------------------------------------------------------------------


def _subscription(owned: Mapping[int, int]) -> bytes:
    """ConsumerProtocolSubscription, version 0. Its user data says what is owned."""
    told = _pack(sorted(owned))
    name = TOPIC.encode()
    return struct.pack(">hih", 0, 1, len(name)) + name + struct.pack(">i", len(told)) + told


def _claims(metadata: bytes) -> list[int]:
    at = struct.calcsize(">hih") + len(TOPIC) + 4
    return _unpack(metadata[at:])


def _pack(partitions: Sequence[int]) -> bytes:
    return bytes(partitions)


def _unpack(told: bytes) -> list[int]:
    return list(told)


def _assign(members: Sequence[JoinGroupResponseMember], partitions: int) -> dict[str, list[int]]:
    """What each member gets. A claimed partition is given to nobody else until it was given up."""
    claims = {each.member_id: _claims(each.metadata) for each in members}
    times: dict[int, int] = {}
    for claimed in claims.values():
        for partition in claimed:
            times[partition] = times.get(partition, 0) + 1
    least, more = divmod(partitions, len(members))
    order = sorted(claims, key=lambda member_id: (-len(claims[member_id]), member_id))
    quota = {member_id: least + (at < more) for at, member_id in enumerate(order)}
    given = {
        member_id: [each for each in claims[member_id] if times[each] == 1][: quota[member_id]] for member_id in order
    }
    free = [each for each in range(partitions) if each not in times]
    for member_id in order:
        while free and len(given[member_id]) < quota[member_id]:
            given[member_id].append(free.pop())
    return given


def _withheld(members: Sequence[JoinGroupResponseMember], given: Mapping[str, Sequence[int]]) -> dict[int, set[str]]:
    """What nobody gets before the members that claim it have given it up: partition → their ids."""
    free = set(itertools.chain.from_iterable(given.values()))
    withheld: dict[int, set[str]] = {}
    for member in members:
        for partition in set(_claims(member.metadata)) - free:
            withheld.setdefault(partition, set()).add(member.member_id)
    return withheld
