"""The sentinel: kcoord's own member, by which it takes a group from upstream, keeps it, and gives it back.

**kcoord takes a group by joining it upstream as its only member** (GW-11 to GW-13). This member, the *sentinel*, is
static, and no other client speaks its protocol. While it is there, nobody can join past kcoord, upstream counts the
group as active, and kcoord commits offsets in its name. It looks like a member of the group's own kind
(`sentinel_appearance.py`). Rules:

1. The sentinel joins over a member's own connection, before kcoord answers the group's first JoinGroup. If upstream
   refuses it because there are members of any kind, kcoord does not take the group, and all its calls go upstream. That
   one client lacks the right says nothing about the group.
2. Each generation of the group here has an upstream generation of its own. `mark` is the generation here that the
   sentinel joined for last; it is in the sentinel's metadata. No JoinGroup answer leaves before `hold` has made its
   mark. So upstream refuses a commit of an earlier generation that is still under way.
3. A sentinel that a predecessor of this process left in the group is as good as its own. The first description of the
   group tells its member id, its mark and its upstream generation (`recognise`), so nothing has to be asked again after
   a restart. A join without a member id takes the static member over and fences its previous holder (see
   `shared_sentinel.py` for several instances).
4. Upstream refuses a join whose protocol type is not the group's. If a sentinel of another type is there, kcoord
   removes it by its instance id and joins once more (AD-5). kcoord does the same with members that wait in the group
   for the sentinel, because a release that was taken back had let them in.
5. For each group the sentinel does one thing at a time (`lock`).
6. Beside `kcoord` the sentinel offers a protocol with a name that is unique to this process and is never chosen. So two
   processes that join by one member id never get one generation: of two that sync in it, upstream answers only the
   later.
7. Upstream lets the first member of an empty group wait for others (`group.initial.rebalance.delay.ms`), and nothing
   else can be asked over that connection meanwhile. So when kcoord takes a group, the sentinel sends another JoinGroup
   just before its own, with a member id that nobody has. Upstream refuses it at once, and changes nothing. Brokers
   check the protocols before the member id. So UNKNOWN_MEMBER_ID says that nobody keeps the sentinel out, and the
   group's first member need not wait for the sentinel (`has_room`).
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Awaitable, Callable, Sequence
from collections.abc import Set as AbstractSet
from typing import ClassVar, Protocol

import attrs

from kcoord.gateway.ownership.described_groups import described_group
from kcoord.gateway.ownership.sentinel_appearance import OF_0_1_0, Appearance, SeenAppearance, read_appearance
from kcoord.gateway.session.upstream import Asker, UpstreamLost, error_of
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.describe_groups_response import DescribedGroup, DescribedGroupMember
from kcoord.protocol.generated.join_group_request import JoinGroupRequestProtocol
from kcoord.protocol.generated.leave_group_request import MemberIdentity
from kcoord.protocol.generated.sync_group_request import SyncGroupRequestAssignment
from kcoord.protocol.messages import (
    HeartbeatRequest,
    HeartbeatResponse,
    JoinGroupRequest,
    JoinGroupResponse,
    LeaveGroupRequest,
    LeaveGroupResponse,
    SyncGroupRequest,
    SyncGroupResponse,
)
from kcoord.protocol.primitives import DecodeError

__all__ = [
    "INSTANCE_ID",
    "LOST",
    "PASSING",
    "STABLE",
    "STRANGER",
    "AppearanceSource",
    "Identity",
    "KnownAppearance",
    "Seen",
    "Sentinel",
    "SessionLimit",
    "is_refusal",
    "seen_sentinel",
]

log = logging.getLogger("kcoord.gateway")

INSTANCE_ID = PROTOCOL = "kcoord"
REBALANCE_TIMEOUT_MS = 60_000
SHORTEST_SESSION_MS = 6_000
ATTEMPTS = 16
"""Most attempts of one join: enough for every step down to the session that upstream allows."""
GENERATIONS_BEHIND = 16
"""How many generations the cluster may be behind kcoord at a release; the sentinel joins once for each of them."""
BEATS_A_SESSION, TRIES_A_SESSION = 3, 30
"""Heartbeats in one session: while upstream accepts them, and while it does not."""

STATIC_JOIN, STATIC_SYNC, STATIC_HEARTBEAT, STATIC_LEAVE = 5, 3, 3, 3
"""The first versions with a group instance id (KIP-345)."""

PREPARING, STABLE = "PreparingRebalance", "Stable"
LOOKS, LOOK_AGAIN_S = 200, 0.002
"""How often, and at which pause in seconds, kcoord checks whether a join waits for the group's members."""

PASSING = frozenset(
    {ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, ErrorCode.COORDINATOR_NOT_AVAILABLE, ErrorCode.NOT_COORDINATOR}
)
"""Errors that say nothing about the group."""
LOST = frozenset({ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.FENCED_INSTANCE_ID, ErrorCode.ILLEGAL_GENERATION})
"""Errors for a client that is not a member, or not in this generation. A sentinel that gets one must join again."""
STRANGER = LOST - {ErrorCode.ILLEGAL_GENERATION}
"""Errors for a client that is not a member."""


def is_refusal(error: ErrorCode) -> bool:
    """Whether this error of upstream's means that kcoord cannot take the group."""
    return error != ErrorCode.NONE and error not in PASSING


class SessionLimit:
    """The longest session, in ms, that upstream is known to allow; shared by all sentinels."""

    def __init__(self, session_timeout_ms: int) -> None:
        self.session_timeout_ms = session_timeout_ms

    def lower(self) -> bool:
        """Lower the limit, because upstream refused it. Returns False if there is nothing lower to try."""
        if self.session_timeout_ms <= SHORTEST_SESSION_MS:
            return False
        self.session_timeout_ms = max(self.session_timeout_ms // 2, SHORTEST_SESSION_MS)
        return True


@attrs.frozen(slots=True)
class Identity:
    """The member in whose name kcoord commits offsets, and the generation here that it stands for."""

    member_id: str
    generation: int
    """Upstream's."""
    mark: int | None

    def stands_for(self, generation: int) -> bool:
        """Whether a commit of that generation here may go in this name; a negative generation belongs to no member."""
        return self.mark is not None and (generation < 0 or self.mark == generation)


@attrs.frozen
class KnownAppearance:
    """The appearance that the sentinel of a group must have."""

    appearance: Appearance
    is_settled: bool
    """Whether this holds for the whole generation: False while the group's topics are not known."""


@attrs.frozen(slots=True)
class Seen:
    """The sentinel as upstream describes it."""

    member_id: str
    shown: SeenAppearance | None
    """None while an instance is joining, or if kcoord cannot read it."""
    is_stable: bool

    @property
    def mark(self) -> int | None:
        return None if self.shown is None else self.shown.mark


def seen_sentinel(described: DescribedGroup) -> Seen | None:
    """The sentinel in a description of its group; None: it is not the group's only member."""
    if [each.group_instance_id for each in described.members] != [INSTANCE_ID]:
        return None
    [member] = described.members
    shown = read_appearance(described.protocol_type, member.member_metadata, member.member_assignment)
    return Seen(member.member_id, shown, described.group_state == STABLE)


class AppearanceSource(Protocol):
    """The source of sentinels' appearances."""

    async def of(self, group_id: str, asker: Asker, /) -> KnownAppearance | None:
        """The appearance by the coordinator and the cluster now; None: not known. Raises UpstreamLost."""
        ...


Current = Callable[[], Awaitable[int | None]]
"""Asks for the group's generation here, now."""
MayGo = Callable[[], Awaitable[bool]]

"""Asks whether the sentinel may still leave. It is called when the member that would leave is already known."""


MembersOf = Callable[[str], Awaitable[AbstractSet[str]]]
"""Tells the ids of a group's members here."""


@attrs.frozen
class LetIn:
    """What the sentinel must know to let the group's members in."""

    offers: Sequence[JoinGroupRequestProtocol]
    """The protocols that they speak."""
    generation: int
    """The group's generation here."""
    members: AbstractSet[str]
    """The ids of its members here."""


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
        "has_acted",
        "has_room",
        "inherited",
        "lock",
        "mark",
        "member_id",
        "offers",
        "refused",
        "stand_in",
        "taking",
        "taking_since_ms",
    )

    IS_SHARED: ClassVar = False
    """Whether other instances may act as this sentinel too."""

    def __init__(
        self,
        group_id: str,
        session: SessionLimit,
        appearances: AppearanceSource,
        on_refused: Callable[[str], None] = lambda _group_id: None,
        members_of: MembersOf = nobody,
    ) -> None:
        """`on_refused` is called when upstream has said that the group has other members."""
        self.group_id = group_id
        self._members_of = members_of
        self._on_refused = on_refused
        self._session = session
        self._appearances = appearances
        self._own_protocol = f"{PROTOCOL}-{secrets.token_hex(4)}"
        self.appearance: Appearance | None = None
        """How it looks while it is joined, or at its next join; None: it asks before it joins."""
        self.appearance_for: int | None = None
        """The generation here that the appearance belongs to; None: it may lack topics."""
        self.member_id = ""
        self.generation = -1
        """The generation upstream."""
        self.mark: int | None = None
        """The generation here that `generation` stands for; None: not joined, or not known to be."""
        self.offers: tuple[JoinGroupRequestProtocol, ...] = ()
        """What it offers beside its own protocol while the group is being released."""
        self.broker_id: int | None = None
        """The broker over whose port it joined last."""
        self.inherited = False
        """Whether it may be in the group although this process does not know of a join: a predecessor of this process
        may have left it there, or the answer to a join was lost.
        """
        self.refused = False
        """Whether the group has other members upstream: all its calls go upstream."""
        self.has_acted = False
        """Whether this process has changed anything in the group upstream, or tried to."""
        self.stand_in: Identity | None = None
        """The member in whose name commits go while the join that adopts the group waits upstream (AD-11)."""
        self.taking: asyncio.Task[ErrorCode] | None = None
        self.taking_since_ms = 0
        self.has_room: asyncio.Event | None = None
        """While kcoord takes the group: set when upstream has said that nobody keeps the sentinel out (rule 7)."""
        self.comes_back = False
        """Whether the group already had members here when kcoord began to take it: they may be the cluster's by now."""
        self.carriers: dict[Asker, None] = {}
        """Connections of members that can speak for it; the one that proved first that it may read the group is first.
        """
        self.lock = asyncio.Lock()
        self.empty_since_ms: int | None = None
        self.beat_due_ms = 0
        """When the next heartbeat is due."""

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
        """Whether a heartbeat is due."""
        return now_ms >= self.beat_due_ms

    def heard(self, error: ErrorCode, now_ms: int) -> None:
        """Take the result of a heartbeat, and set when the next one is due."""
        tries = BEATS_A_SESSION if error == ErrorCode.NONE else TRIES_A_SESSION
        self.beat_due_ms = now_ms + self._session.session_timeout_ms // tries

    @property
    def identity(self) -> Identity:
        """The member that it is upstream."""
        return self.stand_in or Identity(self.member_id, self.generation, self.mark)

    def doubt(self, identity: Identity) -> None:
        """Upstream no longer knows `identity`."""
        if self.stand_in == identity:
            self.stand_in = None
        elif self.identity == identity:
            self.mark, self.beat_due_ms = None, 0

    def recognise(self, asker: Asker, described: DescribedGroup) -> None:
        """If a predecessor of this process left the sentinel in the group, act as that one from now on (rule 3)."""
        seen = None if self.has_acted or self.lock.locked() else seen_sentinel(described)
        if seen is not None and seen.is_stable and seen.shown is not None:
            self._pass_for(asker, seen)

    def _pass_for(self, asker: Asker, seen: Seen | None) -> None:
        assert seen is not None
        assert seen.shown is not None
        self.member_id, self.generation, self.appearance = seen.member_id, seen.shown.generation, seen.shown.appearance
        self._is_in(asker, seen.shown.mark)

    async def hold(self, asker: Asker, generation: int, current: Current) -> ErrorCode:
        """Make sure that upstream has a generation for `generation` of the group here. Raises UpstreamLost.

        If the group has another generation by now, the caller is too late: no member will use `generation`.
        """
        async with self.lock:
            if self.mark == generation or (self.mark is not None and generation != await current()):
                return ErrorCode.NONE
            return await self._join(asker, generation)

    async def keep(self, asker: Asker, generation: int) -> ErrorCode:
        """Make sure that the sentinel is in the group, for any generation. Raises UpstreamLost."""
        async with self.lock:
            return ErrorCode.NONE if self.is_joined else await self._join(asker, generation)

    async def take(self, asker: Asker, generation: int, first: Appearance | None) -> ErrorCode:
        """Take the group before a member joins it. Raises UpstreamLost.

        `first`: the appearance for the group's first member, if it has no members here yet.
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
        """Join a group that has exactly these members in that generation, and remove them (AD-8). Raises UpstreamLost.

        `as_joined`: the protocol that a member offers in order to join like them. A full group has no place beside
        them, so the first of them is removed with the first join already (AD-14).
        """
        async with self.lock:
            self.has_acted, self.appearance = True, None
            await self._know_appearance(asker, generation)
            if parker is None:
                return await self._replace(asker, members, generation)
            parked = asyncio.ensure_future(self._ask_to_join(parker, generation, [as_joined]))
            try:
                error = await self._is_parked_among(asker, members, parked)
                while error == ErrorCode.INVALID_SESSION_TIMEOUT and self._session.lower():
                    parked = asyncio.ensure_future(self._ask_to_join(parker, generation, [as_joined]))
                    error = await self._is_parked_among(asker, members, parked)
                if error == ErrorCode.GROUP_MAX_SIZE_REACHED:
                    parked = asyncio.ensure_future(self._ask_to_join(parker, generation, [as_joined], members[:1]))
                    error = await self._is_parked_among(asker, members, parked)
                if not error:
                    return await self._replace(asker, members, generation)
                await self._evict(asker)
                self._forget()
                return error
            finally:
                parked.cancel()
                await asyncio.gather(parked, return_exceptions=True)

    async def let_in(self, asker: Asker, terms: Callable[[], Awaitable[LetIn | None]]) -> ErrorCode:
        """Offer the protocols of the group's members, so that they can join it upstream. Raises UpstreamLost.

        `terms` is called when the sentinel has nothing else to do, because what holds may have changed while it had.
        OPERATION_NOT_ATTEMPTED: there are none any more.

        If members are there already, the sentinel has let them in. If this process does not know of that, an earlier
        process died on the way. While the cluster waits for that one's sentinel, no member has had an answer to its
        join, and their connections have ended: the sentinel removes them all. Otherwise it leaves the group to them.
        If `members` of the group here are in it by their ids, the group was never adopted: it is the cluster's.
        """
        async with self.lock:
            let_in = await terms()
            if let_in is None:
                return ErrorCode.OPERATION_NOT_ATTEMPTED
            generation = let_in.generation
            described = await self._described(asker)
            others = [each for each in described.members if each.group_instance_id != INSTANCE_ID]
            if any(each.member_id in let_in.members for each in others):
                if len(others) < len(described.members):
                    await self._evict(asker)
                self._is_refused()
                return ErrorCode.INCONSISTENT_GROUP_PROTOCOL
            self.offers = tuple(let_in.offers)
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
        """Join until the next generation upstream is not below `generation` here (AD-18). Raises UpstreamLost.

        Of two members that claim one partition, clients believe the one with the higher generation.
        """
        error = await self._join(asker, generation)
        for _ in range(GENERATIONS_BEHIND):
            if error or self.generation + 1 >= generation:
                break
            error = await self._join(asker, generation)
        return error

    async def let_nobody_in(self, asker: Asker, generation: int) -> ErrorCode:
        """Offer only its own protocol and remove members that have come. Raises UpstreamLost."""
        async with self.lock:
            self.offers, self.mark, self.beat_due_ms = (), None, 0
            return await self._join(asker, generation)

    async def look(self, asker: Asker) -> ErrorCode:
        """See if it is in the group. A group with members but without it is the cluster's. Raises UpstreamLost."""
        async with self.lock:
            members = (await self._described(asker)).members
            if any(each.group_instance_id == INSTANCE_ID for each in members):
                self.inherited = self.inherited or not self.is_joined
            elif members:
                self._is_refused()
            return ErrorCode.NONE

    async def _described(self, asker: Asker) -> DescribedGroup:
        return await described_group(asker, self.group_id)

    async def _others(self, asker: Asker) -> list[DescribedGroupMember]:
        members = (await self._described(asker)).members
        return [each for each in members if each.group_instance_id != INSTANCE_ID]

    async def go(self, asker: Asker) -> ErrorCode:
        """Leave the group to the members that are in it now. Raises UpstreamLost."""
        async with self.lock:
            return await self._go(asker)

    async def _go(self, asker: Asker) -> ErrorCode:
        error = await self._evict(asker)
        if error in LOST or error == ErrorCode.NONE:
            self._forget()
            self.refused = self.inherited = True  # a coordinator that loads its log may not know that it has left
            return ErrorCode.NONE
        return error

    async def _is_parked_among(
        self, asker: Asker, members: list[MemberIdentity], parked: asyncio.Future[JoinGroupResponse]
    ) -> ErrorCode:
        """NONE once the group waits for these members to join again because of the sentinel's own JoinGroup, `parked`.
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
        """Remove the members and join, with nothing in between. Raises UpstreamLost."""
        self.member_id, self.refused = "", False
        version = await asker.version(LeaveGroupRequest)
        if version is None or version < STATIC_LEAVE:
            return ErrorCode.UNSUPPORTED_VERSION
        leaving = asyncio.ensure_future(self._remove(asker, members))
        joining = asyncio.ensure_future(self._join(asker, mark))
        try:
            left, error = await asyncio.gather(leaving, joining)
        finally:
            self.stand_in = None
        return error or left

    async def _remove(self, asker: Asker, members: Sequence[MemberIdentity]) -> ErrorCode:
        """Remove members from the group. Raises UpstreamLost."""
        version = await asker.version(LeaveGroupRequest)
        request = LeaveGroupRequest(group_id=self.group_id, members=list(members))
        response = await asker.ask(request, version or STATIC_LEAVE)
        assert isinstance(response, LeaveGroupResponse)
        return error_of(response.error_code)

    async def find_stand_in(self, asker: Asker, generation: int) -> None:
        """While the join of `adopt` waits: find out who it is by now upstream, so that commits need not wait (AD-11).

        The group's generation, here and upstream, is still `generation`. Raises UpstreamLost.
        """
        described = await self._described(asker)
        own = [each.member_id for each in described.members if each.group_instance_id == INSTANCE_ID]
        is_alone = described.group_state == PREPARING and len(own) == len(described.members) == 1
        if is_alone and self.is_taking:
            self.stand_in = Identity(own[0], generation, generation)

    def is_of_type(self, protocol_type: str) -> bool:
        return self.appearance is not None and self.appearance.protocol_type == protocol_type

    async def change_appearance(self, asker: Asker, told: KnownAppearance, generation: int) -> ErrorCode:
        """Take on the appearance `told` for a generation here, if it is in the group and already has that type.
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
        """Be in the group for commits of `generation`, if that is the current one. Raises UpstreamLost.

        A commit must not go in the name of a newer generation, because upstream would accept it."""
        async with self.lock:
            if self.mark == generation:
                return ErrorCode.NONE
            return ErrorCode.ILLEGAL_GENERATION if generation != current else await self._join(asker, generation)

    async def beat(self, asker: Asker) -> ErrorCode:
        """Send a heartbeat. Raises UpstreamLost."""
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
                self.mark = None  # in a release it waits for the members, which must join before it does
            return error

    async def leave(self, asker: Asker, may_go: MayGo) -> ErrorCode:
        """Leave the group if it is in it, also if a predecessor of this process left it there. Raises UpstreamLost.

        Returns NON_EMPTY_GROUP if it may no longer leave.
        """
        async with self.lock:
            return await self._leave(asker, self.member_id) if await may_go() else ErrorCode.NON_EMPTY_GROUP

    async def make_way(self, asker: Asker, may_go: MayGo) -> ErrorCode:
        """As `leave`, so that upstream can change the group; also if another instance made the present sentinel."""
        return await self.leave(asker, may_go)

    async def _leave(self, asker: Asker, member_id: str) -> ErrorCode:
        error = await self._evict(asker, member_id)
        if error in LOST:
            error = ErrorCode.NONE
        if error == ErrorCode.NONE:
            self._forget()
        return error

    async def _evict(self, asker: Asker, member_id: str = "") -> ErrorCode:
        """Remove the sentinel from the group; without a member id, any sentinel that is there."""
        self.has_acted = True
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
        """Find out the appearance, unless it is known. Raises UpstreamLost."""
        if self.appearance is None:
            told = await self._appearances.of(self.group_id, asker)
            self.appearance = OF_0_1_0 if told is None else told.appearance
            self.appearance_for = mark if told is not None and told.is_settled else None

    async def _join(self, asker: Asker, mark: int) -> ErrorCode:
        """Join, or join again, with that mark. Raises UpstreamLost.

        It does not join if members of a group that is being released are in it already: it might have to lead them.
        """
        self.has_acted = True
        if self.offers and await self._others(asker):
            return ErrorCode.REBALANCE_IN_PROGRESS
        await self._know_appearance(asker, mark)
        before, self.mark = self.identity, None
        version = await asker.version(JoinGroupRequest)
        if version is None or version < STATIC_JOIN:
            log.error("upstream is too old for groups to be taken: JoinGroup v%d is needed (Kafka 2.3)", STATIC_JOIN)
            return ErrorCode.UNSUPPORTED_VERSION
        error = ErrorCode.NONE
        may_evict = True
        for _ in range(ATTEMPTS):
            error = await self._try(asker, mark)
            if error == ErrorCode.NONE:
                self._is_in(asker, mark)
                return error
            if error == ErrorCode.INCONSISTENT_GROUP_PROTOCOL and self.offers:
                await self._evict(asker)  # members have come meanwhile: it must not hold them up
                return ErrorCode.REBALANCE_IN_PROGRESS
            if error == ErrorCode.INCONSISTENT_GROUP_PROTOCOL and may_evict:
                may_evict, self.member_id = False, ""
                if await self._make_room(asker) == ErrorCode.NONE:
                    continue
            if not self._can_mend(error):
                break
        if self._refuses(error):
            self._is_refused()
        is_as_before = bool(before.member_id) and self.identity == attrs.evolve(before, mark=None)
        if error == ErrorCode.GROUP_AUTHORIZATION_FAILED and is_as_before:
            self.mark = before.mark  # this client lacks the right: the sentinel is still there
        return error

    async def _make_room(self, asker: Asker) -> ErrorCode:
        """Remove what prevents a join: members that a release let in before it was taken back, or a sentinel of another
        type.

        Those members wait in the group for the sentinel, so none of them has been given anything. If some of them are
        members here by the same ids, the group was never adopted: it is the cluster's.
        """
        described = await self._described(asker)
        others = [each.member_id for each in described.members if each.group_instance_id != INSTANCE_ID]
        here = await self._members_of(self.group_id)
        waits = described.group_state == PREPARING and 0 < len(others) < len(described.members)
        if not waits or not here or not here.isdisjoint(others):
            return await self._evict(asker)
        return await self._remove(asker, [MemberIdentity(each) for each in others])

    def _is_refused(self) -> None:
        self._forget()
        self.refused = True
        self._on_refused(self.group_id)

    def _refuses(self, error: ErrorCode) -> bool:
        """Whether this error of upstream's means that the group has other members."""
        return is_refusal(error) and error != ErrorCode.GROUP_AUTHORIZATION_FAILED

    async def _ask_to_join(
        self,
        asker: Asker,
        mark: int,
        others: Sequence[JoinGroupRequestProtocol] = (),
        in_place_of: Sequence[MemberIdentity] = (),
    ) -> JoinGroupResponse:
        """Send JoinGroup with the protocol that nobody else speaks, and with `others`; just before it, LeaveGroup of
        `in_place_of`. Raises UpstreamLost.
        """
        leaving = asyncio.ensure_future(self._remove(asker, in_place_of)) if in_place_of else None
        version = await asker.version(JoinGroupRequest)
        joining = asyncio.ensure_future(asker.ask(self._join_request(mark, others), version or STATIC_JOIN))
        joined, *_ = await asyncio.gather(joining, *filter(None, [leaving]))
        assert isinstance(joined, JoinGroupResponse)
        return joined

    def _join_request(self, mark: int, others: Sequence[JoinGroupRequestProtocol] = ()) -> JoinGroupRequest:
        assert self.appearance is not None
        metadata = self.appearance.metadata(mark)
        own = [JoinGroupRequestProtocol(name=name, metadata=metadata) for name in (PROTOCOL, self._own_protocol)]
        return JoinGroupRequest(
            group_id=self.group_id,
            session_timeout_ms=self._session.session_timeout_ms,
            rebalance_timeout_ms=REBALANCE_TIMEOUT_MS,
            member_id=self.member_id,
            group_instance_id=INSTANCE_ID,
            protocol_type=self.appearance.protocol_type,
            protocols=[*own, *self.offers, *others],
        )

    async def _look_for_room(self, asker: Asker, mark: int, has_room: asyncio.Event) -> None:
        """Set `has_room` if upstream says that nobody in the group keeps the sentinel out (rule 7 above)."""
        request = attrs.evolve(self._join_request(mark), member_id=self._own_protocol, group_instance_id=None)
        try:
            version = await asker.version(JoinGroupRequest)
            response = await asker.ask(request, version or STATIC_JOIN)
        except (UpstreamLost, DecodeError):
            return  # the join itself tells
        assert isinstance(response, JoinGroupResponse)
        if response.error_code == ErrorCode.UNKNOWN_MEMBER_ID:
            has_room.set()

    async def _try(self, asker: Asker, mark: int) -> ErrorCode:
        assert self.appearance is not None
        if self.has_room is None or self.has_room.is_set():
            joined = await self._ask_to_join(asker, mark)
        else:
            looking = asyncio.ensure_future(self._look_for_room(asker, mark, self.has_room))  # it is sent first
            joining = asyncio.ensure_future(self._ask_to_join(asker, mark))
            _, joined = await asyncio.gather(looking, joining)
        error = error_of(joined.error_code)
        if error == ErrorCode.MEMBER_ID_REQUIRED:
            self.member_id = joined.member_id
        if error != ErrorCode.NONE:
            return error
        self.member_id, self.generation = joined.member_id, joined.generation_id
        if self.offers and joined.protocol_name != PROTOCOL:
            return ErrorCode.NONE  # in a release others have come first: they wait for its sync until all have joined
        leads = joined.leader == joined.member_id and not joined.skip_assignment
        error = await self._sync(asker, self.appearance, leads)
        if error == ErrorCode.REBALANCE_IN_PROGRESS and self.offers:
            return ErrorCode.NONE  # in a release a member has come: it must wait for all the others
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
        """What it assigns to itself, with its generation, which other instances read there."""
        return SyncGroupRequestAssignment(member_id=self.member_id, assignment=appearance.assignment(self.generation))

    def _can_mend(self, error: ErrorCode) -> bool:
        """Whether another attempt may succeed after one that failed with `error`."""
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
