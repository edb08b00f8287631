"""The calls of a group that is being released: JoinGroup, SyncGroup, Heartbeat and LeaveGroup of its members.

What happens to a group as a whole, and the rules, are in `release.py`.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
import struct
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

import attrs

from kcoord.gateway.ownership.access.group_ownership import facts_of, members_named
from kcoord.gateway.ownership.access.paused_sessions import PausedSessions
from kcoord.gateway.ownership.handover.cluster_groups import ClusterGroups
from kcoord.gateway.ownership.handover.former_member_ids import FormerMemberIds
from kcoord.gateway.ownership.handover.open_release import OpenRelease, PassedJoin
from kcoord.gateway.ownership.handover.release import LOOK_AGAIN_S, LOOKS, ReleaseContext, Releases
from kcoord.gateway.ownership.sentinel.described_groups import described_group
from kcoord.gateway.ownership.sentinel.requests import REBALANCE_TIMEOUT_MS
from kcoord.gateway.ownership.sentinel.upstream_errors import STRANGER
from kcoord.gateway.session.collected_responses import decode, encoded
from kcoord.gateway.session.upstream import Expected, UpstreamLost
from kcoord.group.error_responses import refuse
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.leave_group_request import MemberIdentity
from kcoord.protocol.messages import (
    HeartbeatRequest,
    JoinGroupRequest,
    JoinGroupResponse,
    LeaveGroupRequest,
    SyncGroupRequest,
)
from kcoord.protocol.primitives import DecodeError
from kcoord.protocol.undecoded_call import Call

if TYPE_CHECKING:
    from kcoord.gateway.session.client_session import ClientSession

__all__ = ["NEEDS_ID_VERSION", "ReleaseCalls"]

log = logging.getLogger("kcoord.gateway")

NEEDS_ID_VERSION = 4
"""The first version of JoinGroup that gives a newcomer its id before it joins (KIP-394)."""
LEFT_EARLIER_MS = 5_000
"""The sentinel leaves at the latest this many ms before upstream would end the rebalance without missing members."""
_SIZE = struct.Struct(">i")


class ReleaseCallContext(ReleaseContext, Protocol):
    """What the calls of such a group need from the gateway."""

    cluster_groups: ClusterGroups
    former_ids: FormerMemberIds
    paused_sessions: PausedSessions
    releases: Releases


@attrs.frozen
class _Join:
    """A member's JoinGroup on its way to the cluster."""

    request: JoinGroupRequest
    release: OpenRelease
    before: str
    """The id that the member has or had here; for a newcomer a text of its own."""
    new_id: str | None
    """The member id with which it is passed on; None: it is passed on without one."""
    joins_now: bool
    """Whether it brings the member into the group. False: the cluster only gives it an id."""


class ReleaseCalls:
    """The calls of all groups that this instance gives back."""

    def __init__(self, gateway: ReleaseCallContext) -> None:
        self._gateway = gateway
        self._newcomers = itertools.count(1)

    # -- JoinGroup ----------------------------------------------------------------------------------------------------

    async def join(self, session: ClientSession, call: Call, request: JoinGroupRequest) -> None:
        """Handle a JoinGroup of a member or of a newcomer. Raises UpstreamLost."""
        session.add_member(request.group_id, "")  # with SASL nobody else may be left who can speak for the sentinel
        release = self._gateway.releases.opened(request.group_id)
        if release is None:
            await self._put_off(session, call, request)
            return
        self.hear(request.group_id, request.member_id)
        before = release.ids.get(request.member_id) or request.member_id or await self._before(request)
        new_id = request.member_id if await self._is_upstreams(session, call, request, release) else None
        is_dynamic = request.group_instance_id is None and call.header.api_version >= NEEDS_ID_VERSION
        if new_id is None and request.member_id and is_dynamic:
            new_id = await self._given_id(session, call, request, release)
            if new_id is None:
                return
            release.ids[new_id] = before
        join = _Join(request, release, before, new_id, joins_now=new_id is not None or not is_dynamic)

        def deliver(owed: Expected, frame: bytes) -> None:
            response = decode(owed, frame)
            assert isinstance(response, JoinGroupResponse)
            if self._must_come_again(join, response):
                session.to_client(encoded(owed, refuse(request, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)))
                return
            self._gateway.cluster_groups.learn(session, request, response)
            session.to_client(_SIZE.pack(len(frame)) + frame)

        def pass_it() -> None:
            session.pass_changed(call, attrs.evolve(request, member_id=new_id or ""), deliver)

        if not join.joins_now:
            pass_it()
            return
        if await self._has_to_make_way(session, join):
            await self._in_place_of_the_sentinel(session, join, pass_it)
        else:
            pass_it()
        await self._came(session, join, call.header.client_id or "")

    async def _put_off(self, session: ClientSession, call: Call, request: JoinGroupRequest) -> None:
        """The release is not open, so upstream would not let the member in yet: it must try again. Raises UpstreamLost.

        Its JoinGroup is a sign of life, so this refreshes its session.
        """
        self._gateway.releases.note_protocols(request)
        generation = (await facts_of(self._gateway, request.group_id)).generation or 0
        known = request.member_id, request.group_instance_id, generation
        await self._gateway.guarded.check_commit(session, request.group_id, *known, transactional=False)
        session.answer(call, refuse(request, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS))

    async def _before(self, request: JoinGroupRequest) -> str:
        """Under which id a member that comes without one is counted. Raises UpstreamLost.

        It is the id here of the static member that has started again; for a newcomer it is a text of its own.
        """
        name = request.group_instance_id
        here = {} if name is None else await self._gateway.guarded.members(request.group_id)
        return next((each for each, its_name in here.items() if its_name == name), f"newcomer {next(self._newcomers)}")

    async def _is_upstreams(
        self, session: ClientSession, call: Call, request: JoinGroupRequest, release: OpenRelease
    ) -> bool:
        """Whether upstream is to judge the member id in `request`: it gave it out, as far as kcoord can tell, or the
        member comes when others have its work (rules 5 and 7 of `release.py`).
        """
        member_id = request.member_id
        if member_id in release.ids:
            return member_id not in release.dead
        former_ids = self._gateway.former_ids
        if release.sends_back:
            return bool(member_id) and not await former_ids.is_known(request.group_id, member_id)
        return bool(member_id) and not await former_ids.is_ours(session, call, request)

    async def _given_id(
        self, session: ClientSession, call: Call, request: JoinGroupRequest, release: OpenRelease
    ) -> str | None:
        """Ask the cluster for a new member id for a member of this group. Raises UpstreamLost.

        None: the cluster gave another answer, and the client has been answered.
        """
        asked = attrs.evolve(request, member_id="")
        response = await session.ask(asked, call.header.api_version, call.header.client_id)
        assert isinstance(response, JoinGroupResponse)
        if response.error_code == ErrorCode.MEMBER_ID_REQUIRED:
            return response.member_id
        if self._is_shut_out(request, response, release):
            response = refuse(request, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
        session.answer(call, response)
        return None

    def _is_shut_out(self, request: JoinGroupRequest, response: JoinGroupResponse, release: OpenRelease) -> bool:
        """Whether upstream has refused the member because it forgot what the sentinel offers (rule 8 of `release.py`).

        If so, the sentinel offers it again, and the member must try again.
        """
        if response.error_code != ErrorCode.INCONSISTENT_GROUP_PROTOCOL:
            return False
        self._gateway.releases.offer_again(request.group_id, release)
        return True

    async def _has_to_make_way(self, session: ClientSession, join: _Join) -> bool:
        """Whether this is the member that removes the sentinel, before its own connection has to wait (rule 9 of
        `release.py`). Raises UpstreamLost.
        """
        uses_sasl = self._gateway.settings.uses_sasl
        return uses_sasl and not join.release.has_left and await self._is_last(session, join)

    async def _in_place_of_the_sentinel(self, session: ClientSession, join: _Join, pass_it: Callable[[], None]) -> None:
        """Remove the sentinel and pass the last JoinGroup on in one go. Raises UpstreamLost."""
        release = join.release
        release.has_left = True
        try:
            error = await self._gateway.sentinels.of(join.request.group_id).go(session, pass_it)
        except (UpstreamLost, DecodeError):
            release.has_left = False
            raise
        release.has_left = release.is_left = not error

    async def _is_last(self, session: ClientSession, join: _Join) -> bool:
        """Whether the JoinGroups of all other members here are upstream. Raises UpstreamLost, also if one of them is on
        its way for long.
        """
        group_id, release = join.request.group_id, join.release
        for _ in range(LOOKS):
            if not await self._gateway.guarded.member_ids(group_id) <= {join.before, *release.came}:
                return False
            missing = release.missing((await described_group(session, group_id)).members)
            missing.pop(join.before, None)
            if not missing:
                return True
            await asyncio.sleep(LOOK_AGAIN_S)
        raise UpstreamLost(f"group {group_id}: a member's JoinGroup has not arrived")

    async def _came(self, session: ClientSession, join: _Join, client_id: str) -> None:
        """Note that a member's JoinGroup is under way upstream; after the last one the sentinel leaves (rule 4 of
        `release.py`).
        """
        gateway, request, release = self._gateway, join.request, join.release
        group_id = request.group_id
        there = join.new_id if join.new_id is not None else request.group_instance_id
        release.came[join.before] = PassedJoin(there, session, session.upstream, client_id)
        gateway.paused_sessions.pause(group_id, [join.before], gateway.now_ms())  # no heartbeat until it is answered
        patience_ms = max(request.rebalance_timeout_ms, REBALANCE_TIMEOUT_MS) - LEFT_EARLIER_MS
        if release.leave_by_ms is None:
            release.leave_by_ms = gateway.now_ms() + patience_ms
        if release.have_come(await gateway.guarded.member_ids(group_id)):
            gateway.spawn(gateway.releases.end(gateway.sentinels.of(group_id), release))

    def _must_come_again(self, join: _Join, response: JoinGroupResponse) -> bool:
        """Take the cluster's answer. Returns whether the member must try again instead of hearing it."""
        request, release, before, new_id = join.request, join.release, join.before, join.new_id
        self._gateway.paused_sessions.returned(request.group_id, before)
        is_given = new_id is None or new_id in release.ids  # by the cluster, to this JoinGroup or the one before
        is_dead = response.error_code == ErrorCode.UNKNOWN_MEMBER_ID and is_given
        if is_dead and new_id is not None:
            release.dead.add(new_id)
        if is_dead or self._is_shut_out(request, response, release):
            release.stays(before)
            return True
        if response.error_code == ErrorCode.MEMBER_ID_REQUIRED:
            release.ids[response.member_id] = response.member_id
        elif join.joins_now and response.error_code:
            release.stays(before)
            if response.error_code == ErrorCode.UNKNOWN_MEMBER_ID and before == request.member_id:
                self._gateway.spawn(self._is_gone(request))
        elif join.joins_now:
            release.unheard[response.member_id] = request, before
            release.ids[response.member_id] = before
        return False

    # -- after it -----------------------------------------------------------------------------------------------------

    def hear(self, group_id: str, *member_ids: str) -> None:
        """Members come by ids from the cluster, so they have the answer to their JoinGroup (rule 3 of `release.py`)."""
        release = self._gateway.releases.opened(group_id)
        if release is None:
            return
        for member_id in member_ids:
            heard = release.unheard.pop(member_id, None)
            if heard is not None:
                self._gateway.spawn(self._goes(*heard, release))

    async def _is_gone(self, request: JoinGroupRequest) -> None:
        """Remove a member here that has heard that it is unknown."""
        try:
            identity = MemberIdentity(request.member_id, request.group_instance_id)
            await self._gateway.guarded.give_up(request.group_id, [identity])
        except UpstreamLost:
            log.debug("group %s: a member that is unknown is one here until its session ends", request.group_id)

    async def _goes(self, request: JoinGroupRequest, before: str, release: OpenRelease) -> None:
        """Remove a member here that has joined upstream."""
        gateway, group_id = self._gateway, request.group_id
        join = release.came.get(before)
        if join is None or join.there != before:  # else an earlier process of kcoord has passed it on
            gateway.former_ids.note(request, before)
        identity = MemberIdentity("" if request.group_instance_id else before, request.group_instance_id)
        try:
            await gateway.guarded.give_up(group_id, [identity])
            if not (await facts_of(gateway, group_id)).has_members:
                await gateway.releases.end(gateway.sentinels.of(group_id), release)
        except UpstreamLost:
            log.debug("group %s: a member that has gone is one here until its session ends", group_id)

    async def member_call(
        self, session: ClientSession, call: Call, request: SyncGroupRequest | HeartbeatRequest | LeaveGroupRequest
    ) -> None:
        """Handle a Heartbeat, SyncGroup or LeaveGroup. Raises UpstreamLost.

        kcoord answers a member that has yet to join upstream; the calls of all others pass (rule 2 of `release.py`).
        """
        gateway, group_id = self._gateway, request.group_id
        if isinstance(request, LeaveGroupRequest):
            left = members_named(request)
            if not left & await gateway.guarded.member_ids(group_id):
                session.pass_on(call, await gateway.cluster_groups.reader(session, call, request))
                return
            response, _ = await gateway.guarded.call(session, call, request)
            release = gateway.releases.opened(group_id)
            if release is not None:
                await gateway.releases.end_if_all_have_come(gateway.sentinels.of(group_id), release)
            session.drop_members(group_id, left)
            session.answer(call, response)
            return
        known = request.member_id, request.group_instance_id, request.generation_id
        if await gateway.guarded.check_commit(session, group_id, *known, transactional=False) in STRANGER:
            session.pass_on(call, await gateway.cluster_groups.reader(session, call, request))
            return
        session.add_member(group_id, request.member_id)
        session.answer(call, refuse(request, ErrorCode.REBALANCE_IN_PROGRESS))
