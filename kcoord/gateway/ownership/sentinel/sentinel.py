"""The sentinel: kcoord's own member, by which it takes a group from upstream, keeps it, and gives it back.

**kcoord takes a group by joining it upstream as its only member** (GW-11 to GW-13). This member, the *sentinel*, is
static, and no other client speaks its protocol. While it is there, nobody can join past kcoord, upstream counts the
group as active, and kcoord commits offsets in its name. It looks like a member of the group's own kind
(`appearance.py`). Rules:

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

This file has what others ask of a sentinel. What kcoord knows about it is in `state.py`, its requests to upstream in
`requests.py` and `joins.py`, the steps of an adoption in `replacement.py`, and those of a release in `admission.py`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from kcoord.gateway.ownership.sentinel import admission, joins, replacement, requests
from kcoord.gateway.ownership.sentinel.appearance import Appearance, KnownAppearance
from kcoord.gateway.ownership.sentinel.described_groups import (
    INSTANCE_ID,
    described_group,
    other_members,
    seen_sentinel,
)
from kcoord.gateway.ownership.sentinel.state import SentinelState
from kcoord.gateway.ownership.sentinel.upstream_errors import LOST
from kcoord.gateway.session.upstream import Asker
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.describe_groups_response import DescribedGroup
from kcoord.protocol.generated.join_group_request import JoinGroupRequestProtocol
from kcoord.protocol.generated.leave_group_request import MemberIdentity

__all__ = ["Current", "MayGo", "Sentinel"]

Current = Callable[[], Awaitable[int | None]]
"""Asks for the group's generation here, now."""
MayGo = Callable[[], Awaitable[bool]]
"""Asks whether the sentinel may still leave. It is called when the member that would leave is already known."""


class Sentinel(SentinelState):
    """kcoord's member in one group upstream."""

    __slots__ = ()

    def recognise(self, asker: Asker, described: DescribedGroup) -> None:
        """If a predecessor of this process left the sentinel in the group, act as that one from now on (rule 3). If the
        group has members there but not the sentinel, it is the cluster's. If it has both, it is contested.
        """
        if self.has_acted or self.lock.locked():
            return
        seen, others = seen_sentinel(described), other_members(described)
        if seen is not None and seen.is_stable and seen.shown is not None:
            self.pass_for(asker, seen)
        elif others and len(others) == len(described.members):
            self.note_refusal()
        elif others:
            self.is_contested = True

    async def look(self, asker: Asker) -> ErrorCode:
        """See if it is in the group. A group with members but without it is the cluster's. Raises UpstreamLost."""
        async with self.lock:
            described = await described_group(asker, self.group_id)
            if any(each.group_instance_id == INSTANCE_ID for each in described.members):
                self.inherited = self.inherited or not self.is_joined
            elif described.members:
                self.note_refusal()
                self.note_description(described)
            return ErrorCode.NONE

    # -- being in the group -------------------------------------------------------------------------------------------

    async def take(self, asker: Asker, generation: int, first: Appearance | None) -> ErrorCode:
        """Take the group before a member joins it. Raises UpstreamLost.

        `first`: the appearance for the group's first member, if it has no members here yet.
        """
        async with self.lock:
            if first is None:
                return ErrorCode.NONE if self.is_joined else await joins.join(self, asker, generation)
            if self.is_joined and self.is_of_type(first.protocol_type):
                return ErrorCode.NONE
            self.appearance, self.appearance_for = first, None
            # the generation that the first one opens needs no other
            return await joins.join(self, asker, generation + 1)

    async def hold(self, asker: Asker, generation: int, current: Current) -> ErrorCode:
        """Make sure that upstream has a generation for `generation` of the group here. Raises UpstreamLost.

        If the group has another generation by now, the caller is too late: no member will use `generation`.
        """
        async with self.lock:
            if self.mark == generation or (self.mark is not None and generation != await current()):
                return ErrorCode.NONE
            return await joins.join(self, asker, generation)

    async def keep(self, asker: Asker, generation: int) -> ErrorCode:
        """Make sure that the sentinel is in the group, for any generation. Raises UpstreamLost."""
        async with self.lock:
            return ErrorCode.NONE if self.is_joined else await joins.join(self, asker, generation)

    async def place(self, asker: Asker, generation: int, current: int | None) -> ErrorCode:
        """Be in the group for commits of `generation`, if that is the current one. Raises UpstreamLost.

        A commit must not go in the name of a newer generation, because upstream would accept it."""
        async with self.lock:
            if self.mark == generation:
                return ErrorCode.NONE
            return ErrorCode.ILLEGAL_GENERATION if generation != current else await joins.join(self, asker, generation)

    async def beat(self, asker: Asker) -> ErrorCode:
        """Send a heartbeat. Raises UpstreamLost."""
        async with self.lock:
            error = await requests.heartbeat(self, asker)
            if error in LOST or (error == ErrorCode.REBALANCE_IN_PROGRESS and not self.offers):
                self.mark = None  # in a release it waits for the members, which must join before it does
            return error

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
            error = await joins.join(self, asker, mark)
            if error:
                return error
        self.appearance_for = generation
        return ErrorCode.NONE

    # -- leaving it ---------------------------------------------------------------------------------------------------

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
        error = await requests.evict(self, asker, member_id)
        if error in LOST:
            error = ErrorCode.NONE
        if error == ErrorCode.NONE:
            self.forget()
            self.note_description(await described_group(asker, self.group_id))
        return error

    # -- adoption -----------------------------------------------------------------------------------------------------

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
            return await replacement.adopt(self, asker, parker, members, generation, as_joined)

    async def find_stand_in(self, asker: Asker, generation: int) -> None:
        """While the join of `adopt` waits: find out who it is by now upstream, so that commits need not wait (AD-11).

        The group's generation, here and upstream, is still `generation`. Raises UpstreamLost.
        """
        await replacement.find_stand_in(self, asker, generation)

    # -- release ------------------------------------------------------------------------------------------------------

    async def let_in(self, asker: Asker, terms: admission.Terms) -> ErrorCode:
        """Offer the protocols of the group's members, so that they can join it upstream. Raises UpstreamLost.

        `terms` is called when the sentinel has nothing else to do, because what holds may have changed while it had.
        OPERATION_NOT_ATTEMPTED: there are none any more.
        """
        async with self.lock:
            return await admission.let_in(self, asker, terms)

    async def let_nobody_in(self, asker: Asker, generation: int) -> ErrorCode:
        """Offer only its own protocol and remove members that have come. Raises UpstreamLost."""
        async with self.lock:
            return await admission.let_nobody_in(self, asker, generation)

    async def go(self, asker: Asker, right_after: Callable[[], None] | None = None) -> ErrorCode:
        """Leave the group to the members that are in it now. Raises UpstreamLost.

        `right_after` sends what is to follow over the same connection with nothing in between.
        """
        async with self.lock:
            return await admission.go(self, asker, right_after)
