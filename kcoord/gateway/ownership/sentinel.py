"""The sentinel: how a group is taken from upstream, kept, and given back.

**kcoord takes a group by joining it upstream as its only member** (GW-11 to GW-13): a static member, the
*sentinel*, whose protocol nobody else speaks. While it is there nobody can join past kcoord, upstream counts the group
as active, and offsets are committed in its name. It looks like a member of the group's own kind
(`sentinel_appearance.py`). Rules:

1. The sentinel joins over a member's own connection, before the group's first JoinGroup is answered. What is refused
   because there are members of any kind is not taken, and all calls of that group go upstream. That one client lacks
   the right says nothing of the group.
2. Each generation of the group here has an upstream generation of its own: `mark` is the one that the sentinel joined
   with last, in its metadata. No JoinGroup answer leaves before `hold` has made its mark. So upstream refuses a
   commit of an earlier generation that is still under way.
3. Joining anew without a member id takes the static member over, and fences whoever held it: a predecessor of this
   process, or another instance (see `shared_sentinel.py` for several at work).
4. Upstream refuses a join of another protocol type than the group has. If a sentinel of another type is there, it is
   put out by its instance id, and the join is tried once more (AD-5). So are those who wait in the group for
   the sentinel: a release that was taken back had let them in.
5. One thing at a time a group (`lock`).
6. Beside `kcoord` it offers a protocol of a name that no other process has, and that is never chosen. So two processes
   that join by one member id are never given one generation: of two that sync in it upstream answers only the later.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Awaitable, Callable, Sequence
from collections.abc import Set as AbstractSet
from typing import ClassVar, Protocol

import attrs

from kcoord.gateway.ownership.sentinel_appearance import OF_0_1_0, Appearance
from kcoord.gateway.session.upstream import Asker, error_of
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.describe_groups_response import DescribedGroup, DescribedGroupMember
from kcoord.protocol.generated.join_group_request import JoinGroupRequestProtocol
from kcoord.protocol.generated.leave_group_request import MemberIdentity
from kcoord.protocol.generated.sync_group_request import SyncGroupRequestAssignment
from kcoord.protocol.messages import (
    DescribeGroupsRequest,
    DescribeGroupsResponse,
    HeartbeatRequest,
    HeartbeatResponse,
    JoinGroupRequest,
    JoinGroupResponse,
    LeaveGroupRequest,
    LeaveGroupResponse,
    SyncGroupRequest,
    SyncGroupResponse,
)

__all__ = [
    "INSTANCE_ID",
    "LOST",
    "PASSING",
    "STRANGER",
    "AppearanceSource",
    "Identity",
    "KnownAppearance",
    "Sentinel",
    "SessionLimit",
    "is_refusal",
]

log = logging.getLogger("kcoord.gateway")

INSTANCE_ID = PROTOCOL = "kcoord"
REBALANCE_TIMEOUT_MS = 60_000
SHORTEST_SESSION_MS = 6_000
ATTEMPTS = 16
"""Enough for every step of the way down to the session that upstream allows."""
GENERATIONS_BEHIND = 16
"""How many generations the cluster may lag behind kcoord at a release; the sentinel joins once for each of them."""
BEATS_A_SESSION, TRIES_A_SESSION = 3, 30
"""Signs of life in one session, where upstream takes them and where it does not."""

STATIC_JOIN, STATIC_SYNC, STATIC_HEARTBEAT, STATIC_LEAVE = 5, 3, 3, 3
"""The first versions with a group instance id (KIP-345)."""

NEWEST_DESCRIBE = 5
"""The last version of DescribeGroups in which a group that is not there is no error."""
PREPARING = "PreparingRebalance"
LOOKS, LOOK_AGAIN_S = 200, 0.002
"""How often it is looked whether a join waits for the group's members."""

PASSING = frozenset(
    {ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, ErrorCode.COORDINATOR_NOT_AVAILABLE, ErrorCode.NOT_COORDINATOR}
)
"""Errors that say nothing about the group."""
LOST = frozenset({ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.FENCED_INSTANCE_ID, ErrorCode.ILLEGAL_GENERATION})
"""Errors for those who are no members, or not in this generation. A sentinel that gets one has to join again."""
STRANGER = LOST - {ErrorCode.ILLEGAL_GENERATION}
"""Errors for those who are no members."""


def is_refusal(error: ErrorCode) -> bool:
    """Whether upstream has said that this group cannot be taken."""
    return error != ErrorCode.NONE and error not in PASSING


class SessionLimit:
    """The longest session, in ms, that upstream is known to allow; shared by all sentinels."""

    def __init__(self, session_timeout_ms: int) -> None:
        self.session_timeout_ms = session_timeout_ms

    def lower(self) -> bool:
        """Upstream refused it; False when there is nothing lower to try."""
        if self.session_timeout_ms <= SHORTEST_SESSION_MS:
            return False
        self.session_timeout_ms = max(self.session_timeout_ms // 2, SHORTEST_SESSION_MS)
        return True


@attrs.frozen(slots=True)
class Identity:
    """In whose name offsets are committed, and for which generation here."""

    member_id: str
    generation: int
    """Upstream's."""
    mark: int | None

    def stands_for(self, generation: int) -> bool:
        """Whether a commit of that generation here may go in this name; a negative one is nobody's."""
        return self.mark is not None and (generation < 0 or self.mark == generation)


@attrs.frozen
class KnownAppearance:
    """How the sentinel of a group is to look."""

    appearance: Appearance
    is_settled: bool
    """Whether this holds for the whole generation: False while the group's topics cannot be told."""


class AppearanceSource(Protocol):
    """Who knows how a sentinel is to look."""

    async def of(self, group_id: str, asker: Asker, /) -> KnownAppearance | None:
        """What the group's coordinator and the cluster say now; None where nobody can say. Raises UpstreamLost."""
        ...


Current = Callable[[], Awaitable[int | None]]
"""Asks for the group's generation here, now."""
MayGo = Callable[[], Awaitable[bool]]
"""Asks whether the sentinel may still leave: it is known by then which member it would be."""


MembersOf = Callable[[str], Awaitable[AbstractSet[str]]]
"""Tells the ids of a group's members here."""


async def nobody(_group_id: str) -> AbstractSet[str]:
    return frozenset()


class Sentinel:
    """kcoord's member in one group upstream."""

    __slots__ = (
        "_appearances",
        "_members_of",
        "_on_refused",
        "_own_protocol",
        "_session",
        "appearance",
        "appearance_for",
        "beat_due_ms",
        "broker_id",
        "carriers",
        "comes_back",
        "empty_since_ms",
        "generation",
        "group_id",
        "inherited",
        "lock",
        "mark",
        "member_id",
        "offers",
        "refused",
        "taking",
        "taking_since_ms",
    )

    IS_SHARED: ClassVar = False
    """Whether other instances may pass for it too."""

    def __init__(
        self,
        group_id: str,
        session: SessionLimit,
        appearances: AppearanceSource,
        on_refused: Callable[[str], None] = lambda _group_id: None,
        members_of: MembersOf = nobody,
    ) -> None:
        """`on_refused` is told when upstream has said that the group is somebody else's."""
        self.group_id = group_id
        self._members_of = members_of
        self._on_refused = on_refused
        self._session = session
        self._appearances = appearances
        self._own_protocol = f"{PROTOCOL}-{secrets.token_hex(4)}"
        self.appearance: Appearance | None = None
        """How it looks while it is joined, or will when it joins next; None: it asks before it joins."""
        self.appearance_for: int | None = None
        """The generation here that the appearance belongs to; None: it may lack topics."""
        self.member_id = ""
        self.generation = -1
        """Upstream's."""
        self.mark: int | None = None
        """The generation here that `generation` stands for; None: not joined, or not known to be."""
        self.offers: tuple[JoinGroupRequestProtocol, ...] = ()
        """What it offers beside its own protocol, while the group is released."""
        self.broker_id: int | None = None
        """Over whose port it joined last."""
        self.inherited = False
        """Whether it may be in the group though it is not known to have joined: a predecessor of this process may have
        left it there, or the answer to a join was lost.
        """
        self.refused = False
        """Upstream has members in it that are not ours: its calls go upstream."""
        self.taking: asyncio.Task[ErrorCode] | None = None
        self.taking_since_ms = 0
        self.comes_back = False
        """Whether the group had members here already when it began to be taken: they may be the cluster's by now."""
        self.carriers: dict[Asker, None] = {}
        """Connections of members, over which it can be spoken for: who has proved first to read the group comes first.
        """
        self.lock = asyncio.Lock()
        self.empty_since_ms: int | None = None
        self.beat_due_ms = 0
        """When it must give the next sign of life."""

    @property
    def is_joined(self) -> bool:
        return self.mark is not None

    @property
    def is_taking(self) -> bool:
        return self.taking is not None and not self.taking.done()

    @property
    def beat_interval_ms(self) -> int:
        return self._session.session_timeout_ms // BEATS_A_SESSION

    def is_due(self, now_ms: int) -> bool:
        """Whether it must give a sign of life."""
        return now_ms >= self.beat_due_ms

    def heard(self, error: ErrorCode, now_ms: int) -> None:
        """What came of a sign of life: when the next one is due."""
        tries = BEATS_A_SESSION if error == ErrorCode.NONE else TRIES_A_SESSION
        self.beat_due_ms = now_ms + self._session.session_timeout_ms // tries

    @property
    def identity(self) -> Identity:
        """Whom it passes for upstream."""
        return Identity(self.member_id, self.generation, self.mark)

    def doubt(self, identity: Identity) -> None:
        """Upstream does not know `identity` any more."""
        if self.identity == identity:
            self.mark, self.beat_due_ms = None, 0

    async def hold(self, asker: Asker, generation: int, current: Current) -> ErrorCode:
        """Make sure that upstream has a generation for `generation` of the group here. Raises UpstreamLost.

        Where the group has another generation by now, whoever asks comes too late: nobody will use it.
        """
        async with self.lock:
            if self.mark == generation or (self.mark is not None and generation != await current()):
                return ErrorCode.NONE
            return await self._join(asker, generation)

    async def keep(self, asker: Asker, generation: int) -> ErrorCode:
        """Make sure that the sentinel is in the group, for whichever generation. Raises UpstreamLost."""
        async with self.lock:
            return ErrorCode.NONE if self.is_joined else await self._join(asker, generation)

    async def take(self, asker: Asker, generation: int, first: Appearance | None) -> ErrorCode:
        """Take the group before somebody joins it. `first`: how to look for its first member, if it has none here yet.
        Raises UpstreamLost.
        """
        async with self.lock:
            if first is None:
                return ErrorCode.NONE if self.is_joined else await self._join(asker, generation)
            if self.is_joined and self.is_of_type(first.protocol_type):
                return ErrorCode.NONE
            self.appearance, self.appearance_for = first, None
            return await self._join(asker, generation + 1)  # the generation that the first one opens needs no other

    async def adopt(
        self,
        asker: Asker,
        parker: Asker | None,
        members: list[MemberIdentity],
        generation: int,
        as_joined: JoinGroupRequestProtocol,
    ) -> ErrorCode:
        """Come into a group that has these members in that generation, and none but these, and put them out
        (AD-8). `as_joined`: what somebody offers who joins as they have. Raises UpstreamLost.
        """
        async with self.lock:
            self.appearance = None
            await self._know_appearance(asker, generation)
            if parker is None:
                return await self._replace(asker, members, generation)
            parked = asyncio.ensure_future(self._ask_to_join(parker, generation, [as_joined]))
            try:
                error = await self._is_parked_among(asker, members, parked)
                while error == ErrorCode.INVALID_SESSION_TIMEOUT and self._session.lower():
                    parked = asyncio.ensure_future(self._ask_to_join(parker, generation, [as_joined]))
                    error = await self._is_parked_among(asker, members, parked)
                if not error:
                    return await self._replace(asker, members, generation)
                await self._put_out(asker)
                self._forget()
                return error
            finally:
                parked.cancel()
                await asyncio.gather(parked, return_exceptions=True)

    async def let_in(
        self, asker: Asker, offers: Sequence[JoinGroupRequestProtocol], generation: int, members: AbstractSet[str]
    ) -> ErrorCode:
        """Offer what the group's members speak, so that they can join it upstream. Raises UpstreamLost.

        Where somebody is there already it is so. If this process does not know of that, another one died on the way:
        while the cluster waits for the sentinel of that one, nobody has been told yet that it has joined, and all who
        have are put out, since their connections have ended; else the sentinel leaves them alone. Where `members` of
        the group here are in it by their ids it was never adopted: it is theirs.
        """
        async with self.lock:
            described = await self._described(asker)
            others = [each for each in described.members if each.group_instance_id != INSTANCE_ID]
            if any(each.member_id in members for each in others):
                if len(others) < len(described.members):
                    await self._put_out(asker)
                self._is_refused()
                return ErrorCode.INCONSISTENT_GROUP_PROTOCOL
            self.offers = tuple(offers)
            self.inherited = self.inherited or self.mark is not None  # until it is known to have joined, or left
            if others and self.mark is not None:
                self.inherited = False
                return ErrorCode.NONE
            if not others:
                return await self._join_not_before(asker, generation)
            if described.group_state != PREPARING or len(others) == len(described.members):
                return await self._go(asker)
            return await self._replace(asker, [MemberIdentity(each.member_id) for each in others], generation)

    async def _join_not_before(self, asker: Asker, generation: int) -> ErrorCode:
        """Join, so that the next generation upstream is not before that `generation` here: of two claims to a partition
        clients take the one of the younger generation. Raises UpstreamLost.
        """
        error = await self._join(asker, generation)
        for _ in range(GENERATIONS_BEHIND):
            if error or self.generation + 1 >= generation:
                break
            error = await self._join(asker, generation)
        return error

    async def let_nobody_in(self, asker: Asker, generation: int) -> ErrorCode:
        """Offer nothing any more, and put out who has come: the group is not released. Raises UpstreamLost."""
        async with self.lock:
            self.offers, self.mark, self.beat_due_ms = (), None, 0
            return await self._join(asker, generation)

    async def look(self, asker: Asker) -> ErrorCode:
        """See whether it is in the group: a group that others are in without it is theirs. Raises UpstreamLost."""
        async with self.lock:
            members = (await self._described(asker)).members
            if any(each.group_instance_id == INSTANCE_ID for each in members):
                self.inherited = self.inherited or not self.is_joined
            elif members:
                self._is_refused()
            return ErrorCode.NONE

    async def _described(self, asker: Asker) -> DescribedGroup:
        version = await asker.version(DescribeGroupsRequest, NEWEST_DESCRIBE)
        response = await asker.ask(DescribeGroupsRequest(groups=[self.group_id]), version or 0)
        assert isinstance(response, DescribeGroupsResponse)
        return response.groups[0]

    async def _others(self, asker: Asker) -> list[DescribedGroupMember]:
        members = (await self._described(asker)).members
        return [each for each in members if each.group_instance_id != INSTANCE_ID]

    async def go(self, asker: Asker) -> ErrorCode:
        """Leave the group to those who are in it now. Raises UpstreamLost."""
        async with self.lock:
            return await self._go(asker)

    async def _go(self, asker: Asker) -> ErrorCode:
        error = await self._put_out(asker)
        if error in LOST or error == ErrorCode.NONE:
            self._forget()
            self.refused = self.inherited = True  # a coordinator that loads its log may not know that it has left
            return ErrorCode.NONE
        return error

    async def _is_parked_among(
        self, asker: Asker, members: list[MemberIdentity], parked: asyncio.Future[JoinGroupResponse]
    ) -> ErrorCode:
        """NONE once the group waits for these members to join again, since this one has, whose JoinGroup is `parked`.
        Raises UpstreamLost.
        """
        known = {each.member_id for each in members}
        for _ in range(LOOKS):
            if parked.done() and parked.result().error_code:
                return error_of(parked.result().error_code)
            described = await self._described(asker)
            others = {each.member_id for each in described.members if each.group_instance_id != INSTANCE_ID}
            if described.error_code or others - known:
                return error_of(described.error_code) or ErrorCode.INCONSISTENT_GROUP_PROTOCOL
            if described.group_state == PREPARING and len(described.members) > len(others):
                return ErrorCode.NONE
            await asyncio.sleep(LOOK_AGAIN_S)
        return ErrorCode.INCONSISTENT_GROUP_PROTOCOL

    async def _replace(self, asker: Asker, members: list[MemberIdentity], mark: int) -> ErrorCode:
        """Put the members out and join, with nothing in between. Raises UpstreamLost."""
        self.member_id, self.refused = "", False
        version = await asker.version(LeaveGroupRequest)
        if version is None or version < STATIC_LEAVE:
            return ErrorCode.UNSUPPORTED_VERSION
        leaving = asyncio.ensure_future(asker.ask(LeaveGroupRequest(group_id=self.group_id, members=members), version))
        joining = asyncio.ensure_future(self._join(asker, mark))
        left, error = await asyncio.gather(leaving, joining)
        assert isinstance(left, LeaveGroupResponse)
        return error or error_of(left.error_code)

    def is_of_type(self, protocol_type: str) -> bool:
        return self.appearance is not None and self.appearance.protocol_type == protocol_type

    async def change_appearance(self, asker: Asker, told: KnownAppearance, generation: int) -> ErrorCode:
        """Look as it was `told` in a generation here, if it is in the group and has that type already.
        Raises UpstreamLost.
        """
        async with self.lock:
            return ErrorCode.NONE if self.mark is None else await self._change(asker, told, generation, self.mark)

    async def _change(self, asker: Asker, told: KnownAppearance, generation: int, mark: int) -> ErrorCode:
        if not told.is_settled or not self.is_of_type(told.appearance.protocol_type):
            return ErrorCode.NONE
        if self.offers:  # members join upstream: it would wait for them, over a connection that one of them needs
            return ErrorCode.NONE
        if self.appearance != told.appearance:
            self.appearance = told.appearance
            # until it has joined: if the answer is lost, it is in the group all the same, and must come back
            self.inherited, self.beat_due_ms = True, 0
            error = await self._join(asker, mark)
            if error:
                return error
        self.appearance_for = generation
        return ErrorCode.NONE

    async def place(self, asker: Asker, generation: int, current: int | None) -> ErrorCode:
        """Be in the group for commits of `generation`, if that is the current one: a commit must not go in the name of
        a younger generation, by which upstream would accept it. Raises UpstreamLost."""
        async with self.lock:
            if self.mark == generation:
                return ErrorCode.NONE
            return ErrorCode.ILLEGAL_GENERATION if generation != current else await self._join(asker, generation)

    async def beat(self, asker: Asker) -> ErrorCode:
        """Give a sign of life. Raises UpstreamLost."""
        async with self.lock:
            version = await asker.version(HeartbeatRequest)
            if self.mark is None or version is None or version < STATIC_HEARTBEAT:
                return ErrorCode.NONE
            request = HeartbeatRequest(
                group_id=self.group_id,
                generation_id=self.generation,
                member_id=self.member_id,
                group_instance_id=INSTANCE_ID,
            )
            response = await asker.ask(request, version)
            assert isinstance(response, HeartbeatResponse)
            error = error_of(response.error_code)
            if error in LOST or (error == ErrorCode.REBALANCE_IN_PROGRESS and not self.offers):
                self.mark = None  # in a release it waits for the members, who are to join before it does
            return error

    async def leave(self, asker: Asker, may_go: MayGo) -> ErrorCode:
        """Leave the group, if it is in it; also what a predecessor of this process left behind. NON_EMPTY_GROUP if it
        may not go any more. Raises UpstreamLost.
        """
        async with self.lock:
            return await self._leave(asker, self.member_id) if await may_go() else ErrorCode.NON_EMPTY_GROUP

    async def make_way(self, asker: Asker, may_go: MayGo) -> ErrorCode:
        """As `leave`, so that upstream may do something to the group: whoever passes for the sentinel now."""
        return await self.leave(asker, may_go)

    async def _leave(self, asker: Asker, member_id: str) -> ErrorCode:
        error = await self._put_out(asker, member_id)
        if error in LOST:
            error = ErrorCode.NONE
        if error == ErrorCode.NONE:
            self._forget()
        return error

    async def _put_out(self, asker: Asker, member_id: str = "") -> ErrorCode:
        """Take the sentinel out of the group; without a member id whichever is there."""
        version = await asker.version(LeaveGroupRequest)
        if version is None or version < STATIC_LEAVE:
            return ErrorCode.UNSUPPORTED_VERSION
        identity = MemberIdentity(member_id=member_id, group_instance_id=INSTANCE_ID, reason="no members here")
        response = await asker.ask(LeaveGroupRequest(group_id=self.group_id, members=[identity]), version)
        assert isinstance(response, LeaveGroupResponse)
        error = error_of(response.error_code)
        if error == ErrorCode.NONE and response.members:
            error = error_of(response.members[0].error_code)
        return error

    def _is_in(self, asker: Asker, mark: int) -> None:
        self.mark, self.refused, self.inherited = mark, False, False
        self.broker_id, self.empty_since_ms = asker.broker_id, None

    def _forget(self) -> None:
        self.member_id, self.generation, self.mark, self.empty_since_ms = "", -1, None, None
        self.inherited, self.beat_due_ms = False, 0
        self.appearance = self.appearance_for = None
        self.offers = ()

    async def _know_appearance(self, asker: Asker, mark: int) -> None:
        """Find out how to look, unless that is known. Raises UpstreamLost."""
        if self.appearance is None:
            told = await self._appearances.of(self.group_id, asker)
            self.appearance = OF_0_1_0 if told is None else told.appearance
            self.appearance_for = mark if told is not None and told.is_settled else None

    async def _join(self, asker: Asker, mark: int) -> ErrorCode:
        """Join, or join again, with that mark. Raises UpstreamLost.

        Not where members of a group that is released are in it already: it might have to lead them.
        """
        if self.offers and await self._others(asker):
            return ErrorCode.REBALANCE_IN_PROGRESS
        await self._know_appearance(asker, mark)
        before, self.mark = self.identity, None
        version = await asker.version(JoinGroupRequest)
        if version is None or version < STATIC_JOIN:
            log.error("upstream is too old for groups to be taken: JoinGroup v%d is needed (Kafka 2.3)", STATIC_JOIN)
            return ErrorCode.UNSUPPORTED_VERSION
        error = ErrorCode.NONE
        may_put_out = True
        for _ in range(ATTEMPTS):
            error = await self._try(asker, mark)
            if error == ErrorCode.NONE:
                self._is_in(asker, mark)
                return error
            if error == ErrorCode.INCONSISTENT_GROUP_PROTOCOL and self.offers:
                await self._put_out(asker)  # members have come meanwhile: it may not hold them up
                return ErrorCode.REBALANCE_IN_PROGRESS
            if error == ErrorCode.INCONSISTENT_GROUP_PROTOCOL and may_put_out:
                may_put_out, self.member_id = False, ""
                if await self._make_room(asker) == ErrorCode.NONE:
                    continue
            if not self._can_mend(error):
                break
        if self._refuses(error):
            self._is_refused()
        is_as_before = bool(before.member_id) and self.identity == attrs.evolve(before, mark=None)
        if error == ErrorCode.GROUP_AUTHORIZATION_FAILED and is_as_before:
            self.mark = before.mark  # whoever asked may not: the sentinel is there still
        return error

    async def _make_room(self, asker: Asker) -> ErrorCode:
        """Put out what stands in the way of a join: those whom a release let in that was taken back, or else a sentinel
        of another type. The former came beside the members here, and wait in the group for the sentinel, so that none
        of them has been answered. Where some of them are members here the group was never adopted: it is theirs.
        """
        described = await self._described(asker)
        others = [each.member_id for each in described.members if each.group_instance_id != INSTANCE_ID]
        here = await self._members_of(self.group_id)
        waits = described.group_state == PREPARING and 0 < len(others) < len(described.members)
        if not waits or not here or not here.isdisjoint(others):
            return await self._put_out(asker)
        version = await asker.version(LeaveGroupRequest)
        members = [MemberIdentity(each) for each in others]
        response = await asker.ask(LeaveGroupRequest(group_id=self.group_id, members=members), version or STATIC_LEAVE)
        assert isinstance(response, LeaveGroupResponse)
        return error_of(response.error_code)

    def _is_refused(self) -> None:
        self._forget()
        self.refused = True
        self._on_refused(self.group_id)

    def _refuses(self, error: ErrorCode) -> bool:
        """Whether upstream has said that the group is somebody else's."""
        return is_refusal(error) and error != ErrorCode.GROUP_AUTHORIZATION_FAILED

    async def _ask_to_join(
        self, asker: Asker, mark: int, others: Sequence[JoinGroupRequestProtocol] = ()
    ) -> JoinGroupResponse:
        """JoinGroup with the protocol that nobody else speaks, and with `others`. Raises UpstreamLost."""
        assert self.appearance is not None
        version = await asker.version(JoinGroupRequest)
        metadata = self.appearance.metadata(mark)
        own = [JoinGroupRequestProtocol(name=name, metadata=metadata) for name in (PROTOCOL, self._own_protocol)]
        request = JoinGroupRequest(
            group_id=self.group_id,
            session_timeout_ms=self._session.session_timeout_ms,
            rebalance_timeout_ms=REBALANCE_TIMEOUT_MS,
            member_id=self.member_id,
            group_instance_id=INSTANCE_ID,
            protocol_type=self.appearance.protocol_type,
            protocols=[*own, *self.offers, *others],
        )
        joined = await asker.ask(request, version or STATIC_JOIN)
        assert isinstance(joined, JoinGroupResponse)
        return joined

    async def _try(self, asker: Asker, mark: int) -> ErrorCode:
        assert self.appearance is not None
        joined = await self._ask_to_join(asker, mark)
        error = error_of(joined.error_code)
        if error == ErrorCode.MEMBER_ID_REQUIRED:
            self.member_id = joined.member_id
        if error != ErrorCode.NONE:
            return error
        self.member_id, self.generation = joined.member_id, joined.generation_id
        leads = joined.leader == joined.member_id and not joined.skip_assignment
        error = await self._sync(asker, self.appearance, leads)
        if error == ErrorCode.REBALANCE_IN_PROGRESS and self.offers:
            return ErrorCode.NONE  # a member of a group that is released has come: it is to wait for all the others
        return error

    async def _sync(self, asker: Asker, appearance: Appearance, leads: bool) -> ErrorCode:
        version = await asker.version(SyncGroupRequest)
        if version is None or version < STATIC_SYNC:
            return ErrorCode.UNSUPPORTED_VERSION
        request = SyncGroupRequest(
            group_id=self.group_id,
            generation_id=self.generation,
            member_id=self.member_id,
            group_instance_id=INSTANCE_ID,
            protocol_type=appearance.protocol_type,
            protocol_name=PROTOCOL,
            assignments=[self._assignment(appearance)] if leads else [],
        )
        response = await asker.ask(request, version)
        assert isinstance(response, SyncGroupResponse)
        return error_of(response.error_code)

    def _assignment(self, appearance: Appearance) -> SyncGroupRequestAssignment:
        """What it assigns to itself, with its generation: other instances read it there."""
        return SyncGroupRequestAssignment(member_id=self.member_id, assignment=appearance.assignment(self.generation))

    def _can_mend(self, error: ErrorCode) -> bool:
        """Whether another attempt may succeed where one failed with `error`."""
        match error:
            case ErrorCode.INVALID_SESSION_TIMEOUT:
                return self._session.lower()
            case ErrorCode.REBALANCE_IN_PROGRESS | ErrorCode.MEMBER_ID_REQUIRED | ErrorCode.ILLEGAL_GENERATION:
                return True
            case ErrorCode.UNKNOWN_MEMBER_ID | ErrorCode.FENCED_INSTANCE_ID:
                if error == ErrorCode.FENCED_INSTANCE_ID:
                    self._say_that_it_was_taken_over()
                known, self.member_id = self.member_id, ""
                return bool(known)
        return False

    def _say_that_it_was_taken_over(self) -> None:
        log.error("group %s was taken over upstream by another kcoord (group.instance.id kcoord)", self.group_id)
