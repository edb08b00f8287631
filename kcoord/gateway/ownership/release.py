"""Release: a group of kcoord's becomes the cluster's again, by one ordinary rebalance (AD-15 to AD-18).

A group is released once its setting `gateway.owner` says `cluster`, or `--groups` does not match it any more; both are
so after a restart, too, and a kcoord that died on the way goes on where it was. Rules:

1. The sentinel joins again, and offers what the members speak beside its own protocol: so they can get in upstream.
2. Members hear REBALANCE_IN_PROGRESS at their next Heartbeat, and join. The cluster is asked for a new id for each, and
   its JoinGroup is passed on with that: the answer tells it to its member. (librdkafka takes its partitions for lost
   where a JoinGroup is answered with nothing but a new id.) What else carries a new id passes.
3. Who has joined upstream leaves the group here, as one that has stopped, when it comes by the id that it has there.
   Before that its connection may end, or kcoord: then it comes by the id that it had here, and must be known. Until
   then its commits go on in the sentinel's name. The group's coordinator here tells nobody anything any more.
4. When the JoinGroups of all that are members here are on their way the sentinel leaves, and all get one generation. It
   does so as well after the time that a rebalance may take: upstream would count it as a member that has joined, and
   its leader would give it work.
5. Late commits by old ids, or by new ids with the generation of before, which some clients send while they wait for
   their JoinGroup, are told to join (REBALANCE_IN_PROGRESS, in a transaction ILLEGAL_GENERATION): no member may hear
   that it, or its generation, is unknown, or it takes its partitions for lost. Whose session has ended has to hear it:
   others may own these by now.
6. Workers of the new protocol cannot go to a cluster that does not know it: a group that has some is not released.
7. If kcoord died during a release and some members had joined upstream, their connections have ended and they will join
   again. While the cluster still waits for the sentinel, none of them has been answered: they are put out, and the
   release starts from the beginning. Otherwise the sentinel leaves at once. Who comes by an id that no member has, or
   had, here is a member upstream or nobody: that is for the cluster to say.
8. A coordinator upstream that has just loaded its log knows only one protocol of each member, the one that was chosen,
   which is kcoord's own. It refuses every other. A member that is refused for this tries again after the sentinel has
   offered once more what the members speak. Where the sentinel had left the log may not say so, nor that anybody has
   joined. Then the release begins again: a member that joined alone would be given the others' partitions.
9. With credentials nobody but a member can put the sentinel out, over a connection that waits for nothing: so the last
   member does it before it joins, which costs a second rebalance.
"""

from __future__ import annotations

import asyncio
import logging
import struct
from collections import Counter
from collections.abc import Coroutine, Iterable, Mapping
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import attrs

from kcoord.bounded_cache import BoundedCache
from kcoord.gateway.ownership.cluster_groups import ClusterGroups
from kcoord.gateway.ownership.former_member_ids import FormerMemberIds
from kcoord.gateway.ownership.group_appearances import DEAD
from kcoord.gateway.ownership.group_ownership import OwnershipContext, facts_of, members_named
from kcoord.gateway.ownership.guarded_groups import GuardedGroups
from kcoord.gateway.ownership.paused_sessions import PausedSessions
from kcoord.gateway.ownership.sentinel import INSTANCE_ID, REBALANCE_TIMEOUT_MS, STRANGER, Sentinel
from kcoord.gateway.ownership.sentinels import Sentinels
from kcoord.gateway.session.connection_context import Spawner
from kcoord.gateway.session.responses import decode, encoded
from kcoord.gateway.session.upstream import Asker, Expected, UpstreamLost
from kcoord.group.facts import GroupFacts
from kcoord.group.group_configs import Owner
from kcoord.group.refuse import refuse
from kcoord.group.translation.leave_group import STOPPED
from kcoord.protocol.call import Call
from kcoord.protocol.embedded import NAMES
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.describe_groups_response import DescribedGroupMember
from kcoord.protocol.generated.join_group_request import JoinGroupRequestProtocol
from kcoord.protocol.generated.leave_group_request import MemberIdentity
from kcoord.protocol.messages import (
    ConnectGroupDescribeRequest,
    ConnectGroupDescribeResponse,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
    HeartbeatRequest,
    JoinGroupRequest,
    JoinGroupResponse,
    LeaveGroupRequest,
    SyncGroupRequest,
)
from kcoord.protocol.primitives import DecodeError

if TYPE_CHECKING:
    from kcoord.gateway.session.client_session import ClientSession
    from kcoord.gateway.session.upstream import Upstream

__all__ = ["Releases"]

T = TypeVar("T")

log = logging.getLogger("kcoord.gateway")

NEEDS_ID_VERSION = 4
"""The first version of JoinGroup that gives a newcomer its id before it joins (KIP-394)."""
NEWEST_DESCRIBE = 5
LEFT_EARLIER_MS = 5_000
"""So long before a rebalance would end upstream without those that are missing, the sentinel leaves."""
SPOKEN_BYTES = 4 << 20
"""How much is kept of what members speak, in bytes."""
LOOKS, LOOK_AGAIN_S = 100, 0.01
"""How often it is looked whether all that have come are members upstream."""
_SIZE = struct.Struct(">i")


@attrs.frozen
class _Join:
    """A JoinGroup that was passed on."""

    there: str | None
    """By what the cluster knows its member: its new id, or its instance id; None: neither was told (before KIP-394)."""
    session: ClientSession
    upstream: Upstream | None
    """The connection that it went by."""
    client_id: str

    @property
    def is_lost(self) -> bool:
        """Whether it will never be answered."""
        return self.session.gone or self.session.upstream is not self.upstream

    def has_arrived(self, there: AbstractSet[str | None], unnamed: Counter[str]) -> bool:
        """Whether the cluster has its member: by name, or as one of those that are `unnamed`, by client id."""
        if self.there is not None:
            return self.there in there
        unnamed[self.client_id] -= 1
        return unnamed[self.client_id] >= 0


@attrs.define
class _Release:
    """A group on its way out."""

    ids: dict[str, str] = attrs.Factory(dict)
    """By the member id that upstream has given out: the one that its member had here."""
    came: dict[str, _Join] = attrs.Factory(dict)
    """JoinGroups that are on their way, by the id that their member has here, until it has heard the answer."""
    have_all_gone: bool = False
    """Whether nobody else is a member here."""
    leave_by_ms: int | None = None
    """When the sentinel leaves at the latest; None until somebody has joined upstream."""
    has_left: bool = False
    """Whether the sentinel has left, or is about to."""
    is_left: bool = False
    """Whether the cluster has said that it has left."""
    unheard: dict[str, tuple[JoinGroupRequest, str]] = attrs.Factory(dict)
    """Of members that have not come yet by the id that they have upstream, and may never have heard of it: by that id
    the JoinGroup that was answered, and the id here.
    """
    dead: set[str] = attrs.Factory(set)
    """Ids that are nobody's, here or upstream."""

    def stays(self, before: str) -> None:
        """Its JoinGroup was refused, or is lost."""
        self.came.pop(before, None)
        self.have_all_gone = False

    def starts_over(self) -> None:
        """Upstream has the sentinel still, and knows of no join."""
        self.came.clear()
        self.have_all_gone = self.has_left = self.is_left = False
        self.leave_by_ms = None


class ReleaseContext(OwnershipContext, Spawner, Protocol):
    """What a release needs."""

    cluster_groups: ClusterGroups
    former_ids: FormerMemberIds
    guarded: GuardedGroups
    paused_sessions: PausedSessions

    @property
    def sentinels(self) -> Sentinels: ...
    def member_sessions(self, group_id: str) -> list[ClientSession]: ...


class Releases:
    """The groups that this instance gives back."""

    def __init__(self, gateway: ReleaseContext) -> None:
        self._gateway = gateway
        self._open: dict[str, _Release] = {}
        self._beginning: set[str] = set()
        self._parked: dict[str, set[asyncio.Future[None]]] = {}
        """By group: done when its members are to join upstream, for those whose JoinGroup waits here for others."""
        self._spoken: BoundedCache[str, list[JoinGroupRequestProtocol]] = BoundedCache(SPOKEN_BYTES)
        """What somebody speaks who has come before the release of the group was open."""
        self._said: set[str] = set()
        """Groups of which the log has said that they cannot be released."""

    def is_open(self, group_id: str) -> bool:
        """Whether the group's members are sent to the cluster now."""
        return group_id in self._open

    def is_under_way(self, group_id: str) -> bool:
        """Whether it is open, is about to begin, or is being taken back."""
        return group_id in self._open or group_id in self._beginning

    def concerns(self, group_id: str) -> bool:
        """Whether the group has to go, so that nobody is told anything by its coordinator here any more: what a member
        gave up when it joined upstream, another would be given.
        """
        if group_id in self._open:
            return True
        sentinel = self._gateway.sentinels.known(group_id)
        if sentinel is not None and sentinel.refused:
            return False  # the cluster has it already: what is known here of its members ends with their sessions
        known = self._gateway.groups.known_facts(group_id)
        is_to_go = self._gateway.owner_of(group_id, known) == Owner.CLUSTER
        return is_to_go and known.has_members and group_id not in self._said

    # -- begin and end ------------------------------------------------------------------------------------------------

    def tend(self, sentinel: Sentinel, facts: GroupFacts) -> None:
        """Begin or end the release of a group, if it is time; called from time to time."""
        group_id, release = sentinel.group_id, self._open.get(sentinel.group_id)
        is_to_go = self._gateway.owner_of(group_id, facts) == Owner.CLUSTER
        if not is_to_go:
            self._said.discard(group_id)
        if group_id in self._beginning:
            return
        if not is_to_go and (sentinel.offers or release is not None) and not (release and release.leave_by_ms):
            self._open.pop(group_id, None)  # it shall be kcoord's again, and no member has gone yet
            self._beginning.add(group_id)
            self._gateway.spawn(self._take_back(sentinel, facts.generation or 0))
        elif release is None:
            if is_to_go and facts.has_members and not sentinel.refused:
                self._beginning.add(group_id)
                self._gateway.spawn(self._begin(sentinel))
        else:
            late = release.leave_by_ms is not None and self._gateway.now_ms() >= release.leave_by_ms
            if release.have_all_gone or not facts.has_members or (late and not release.has_left):
                self._gateway.spawn(self._end(sentinel, release))

    async def _begin(self, sentinel: Sentinel, again: _Release | None = None) -> None:
        """Let the members in; `again`, where a release is open and upstream does not know what they speak any more."""
        group_id = sentinel.group_id
        try:
            offers = list(sentinel.offers) or await self._offers(group_id)
            if offers == []:
                offers = self._spoken.get(group_id) or []
            if not offers:
                if offers is None and group_id not in self._said:
                    self._said.add(group_id)
                    log.warning("group %s cannot be released: it has workers of the new protocol", group_id)
                return
            members = await self._gateway.guarded.member_ids(group_id)
            generation = (await facts_of(self._gateway, group_id)).generation or 0
            error = await self._gateway.sentinels.speak(
                sentinel, lambda asker: sentinel.let_in(asker, offers, generation, members)
            )
            if error:
                log.info("group %s is not released yet: the cluster answered %s", group_id, error.name)
                return
        except (UpstreamLost, DecodeError) as fault:
            log.info("group %s is not released yet: %s", group_id, fault)
            return
        finally:
            self._beginning.discard(group_id)
        if again is not None:
            again.has_left = again.is_left = not sentinel.is_joined
            return
        is_left = not sentinel.is_joined
        self._send_members(group_id, _Release(has_left=is_left, is_left=is_left))
        log.info("group %s is being released to the cluster: its members are asked to join there", group_id)

    def send_back(self, group_id: str) -> None:
        """Its members join the cluster again, where an adoption that failed has put them out: the sentinel is not there
        (AD-10).
        """
        self._send_members(group_id, _Release(has_left=True, is_left=True, leave_by_ms=self._gateway.now_ms()))

    def _send_members(self, group_id: str, release: _Release) -> None:
        self._open[group_id] = release
        for parked in self._parked.pop(group_id, ()):
            parked.set_result(None)
        for session in self._gateway.member_sessions(group_id):
            session.client.forget_answers()
            self._gateway.groups.let_go(group_id, session.client.serial)

    async def or_none(self, group_id: str, answer: Coroutine[Any, Any, T]) -> T | None:
        """The group's answer to a JoinGroup, which may wait for other members; None once all are to join upstream."""
        parked: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._parked.setdefault(group_id, set()).add(parked)
        answered = asyncio.ensure_future(answer)
        try:
            both: set[asyncio.Future[Any]] = {answered, parked}
            await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
            if answered.done():
                return answered.result()
            answered.add_done_callback(_ignore)
            return None
        finally:
            waiting = self._parked.get(group_id)
            if waiting is not None:
                waiting.discard(parked)
                if not waiting:
                    del self._parked[group_id]

    async def _take_back(self, sentinel: Sentinel, generation: int) -> None:
        """The sentinel lets nobody in any more."""
        try:
            await self._gateway.sentinels.speak(sentinel, lambda asker: sentinel.let_nobody_in(asker, generation))
        except (UpstreamLost, DecodeError) as fault:
            log.info("group %s: the sentinel joins again with the next call: %s", sentinel.group_id, fault)
        finally:
            self._beginning.discard(sentinel.group_id)

    async def _offers(self, group_id: str) -> list[JoinGroupRequestProtocol] | None:
        """What the members of the group speak; nothing where they speak nothing yet, None where some speak nothing that
        the cluster knows.
        """
        if not (await facts_of(self._gateway, group_id)).has_members:
            return []
        described = await self._gateway.guarded.describe(DescribeGroupsRequest(groups=[group_id]))
        assert isinstance(described, DescribeGroupsResponse)
        [group] = described.groups
        if group.protocol_type and group.protocol_data and group.members:
            metadata = group.members[0].member_metadata
            return [JoinGroupRequestProtocol(name=group.protocol_data, metadata=metadata)]
        if group.group_state != DEAD:  # it has members, who have yet to agree on a protocol
            return []
        told = await self._gateway.guarded.describe(ConnectGroupDescribeRequest(group_ids=[group_id]))
        assert isinstance(told, ConnectGroupDescribeResponse)
        if told.groups[0].legacy_mode is None:
            return None
        return [JoinGroupRequestProtocol(name=name, metadata=b"") for name in reversed(NAMES)]

    async def _end(self, sentinel: Sentinel, release: _Release) -> None:
        """The sentinel leaves once those who have come are in the group upstream; with nobody left here it is over."""
        group_id, gateway = sentinel.group_id, self._gateway
        if not release.has_left:
            release.has_left = True
            try:
                error = await gateway.sentinels.speak_freely(
                    sentinel, lambda asker: self._leave(sentinel, release, asker)
                )
                lost = f"the cluster answered {error.name}" if error else ""
            except (UpstreamLost, DecodeError) as fault:
                lost = str(fault)
            if lost:
                release.has_left = False
                log.info("group %s: the sentinel cannot leave yet: %s", group_id, lost)
                return
            release.is_left = True
        try:
            is_empty = not (await facts_of(gateway, group_id)).has_members
        except UpstreamLost as fault:
            log.debug("group %s: whether its release is over is asked again: %s", group_id, fault)
            return
        if release.is_left and is_empty and self._open.get(group_id) is release:
            del self._open[group_id]
            log.info("group %s is the cluster's again", group_id)

    async def _leave(self, sentinel: Sentinel, release: _Release, asker: Asker) -> ErrorCode:
        """Leave once all that have come are members upstream. REBALANCE_IN_PROGRESS where some were refused meanwhile:
        whoever joins alone would be given what the others own. Raises UpstreamLost.
        """
        version = await asker.version(DescribeGroupsRequest, NEWEST_DESCRIBE)
        for _ in range(LOOKS):
            response = await asker.ask(DescribeGroupsRequest(groups=[sentinel.group_id]), version or 0)
            assert isinstance(response, DescribeGroupsResponse)
            missing = _missing(release.came, response.groups[0].members)
            for before in [before for before, join in missing.items() if join.is_lost]:
                release.stays(before)
            if not (release.have_all_gone and missing):
                break
            await asyncio.sleep(LOOK_AGAIN_S)
        is_complete = release.have_all_gone and not missing
        is_late = release.leave_by_ms is not None and self._gateway.now_ms() >= release.leave_by_ms
        is_empty = not (await facts_of(self._gateway, sentinel.group_id)).has_members
        may_go = is_complete or is_late or is_empty
        return await sentinel.go(asker) if may_go else ErrorCode.REBALANCE_IN_PROGRESS

    # -- calls --------------------------------------------------------------------------------------------------------

    async def join(self, session: ClientSession, call: Call, request: JoinGroupRequest) -> None:
        """A member joins, or somebody new. Raises UpstreamLost."""
        release = self._open.get(request.group_id)
        if release is None:  # upstream would not let it in yet
            self._spoken[request.group_id] = request.protocols
            generation = (await facts_of(self._gateway, request.group_id)).generation or 0
            known = request.member_id, request.group_instance_id, generation
            await self._gateway.guarded.check_commit(session, request.group_id, *known, transactional=False)  # it lives
            session.answer(call, refuse(request, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS))
            return
        self.hear(request.group_id, request.member_id)
        before = release.ids.get(request.member_id, request.member_id)
        new_id = request.member_id if await self._is_upstreams(request, release) else None
        is_dynamic = request.group_instance_id is None and call.header.api_version >= NEEDS_ID_VERSION
        if new_id is None and request.member_id and is_dynamic:
            new_id = await self._given_id(session, call, request, release)
            if new_id is None:
                return
            release.ids[new_id] = before
        joins_now = new_id is not None or not is_dynamic
        if joins_now:
            await self._about_to_join(session, request, release, before)

        def deliver(owed: Expected, frame: bytes) -> None:
            response = decode(owed, frame)
            assert isinstance(response, JoinGroupResponse)
            self._gateway.paused_sessions.returned(request.group_id, before)
            is_dead = response.error_code == ErrorCode.UNKNOWN_MEMBER_ID and new_id in release.ids
            if is_dead and new_id is not None:
                release.dead.add(new_id)
            if is_dead or self._is_shut_out(request, response, release):
                release.stays(before)
                session.to_client(encoded(owed, refuse(request, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)))
                return
            if response.error_code == ErrorCode.MEMBER_ID_REQUIRED:
                release.ids[response.member_id] = before
            elif joins_now and response.error_code:
                release.stays(before)
            elif joins_now:
                release.unheard[response.member_id] = request, before
                release.ids[response.member_id] = before
            self._gateway.cluster_groups.learn(session, request, response)
            session.to_client(_SIZE.pack(len(frame)) + frame)

        session.pass_changed(call, attrs.evolve(request, member_id=new_id or ""), deliver)
        if joins_now:
            await self._came(session, request, release, before, new_id, call.header.client_id or "")

    def _is_shut_out(self, request: JoinGroupRequest, response: JoinGroupResponse, release: _Release) -> bool:
        """Whether upstream has forgotten what the sentinel offers: this member has to try again (rule 8 above)."""
        if response.error_code != ErrorCode.INCONSISTENT_GROUP_PROTOCOL:
            return False
        if release.is_left:
            release.starts_over()
        if not release.has_left and request.group_id not in self._beginning:  # else it is about to go
            self._beginning.add(request.group_id)
            self._gateway.spawn(self._begin(self._gateway.sentinels.of(request.group_id), release))
        return True

    async def _given_id(
        self, session: ClientSession, call: Call, request: JoinGroupRequest, release: _Release
    ) -> str | None:
        """The id that the cluster gives out for a member of this group; None: it has said something else, and so is its
        client told. Raises UpstreamLost.
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

    async def _is_upstreams(self, request: JoinGroupRequest, release: _Release) -> bool:
        """Whether this id was given out upstream, as far as can be told here (rule 7 above)."""
        member_id = request.member_id
        if member_id in release.ids:
            return member_id not in release.dead
        return bool(member_id) and not await self._gateway.former_ids.is_ours(request.group_id, member_id)

    async def _about_to_join(
        self, session: ClientSession, request: JoinGroupRequest, release: _Release, before: str
    ) -> None:
        """With credentials the last one puts the sentinel out, before its own connection has to wait (rule 9 above)."""
        gateway, group_id = self._gateway, request.group_id
        if not gateway.settings.uses_sasl or release.has_left:
            return
        if await gateway.guarded.member_ids(group_id) <= {before, *release.came}:
            release.has_left = True
            try:
                await gateway.sentinels.of(group_id).go(session)
            except (UpstreamLost, DecodeError):
                release.has_left = False
                raise
            release.is_left = True

    async def _came(
        self,
        session: ClientSession,
        request: JoinGroupRequest,
        release: _Release,
        before: str,
        new_id: str | None,
        client_id: str,
    ) -> None:
        """Its JoinGroup is on its way upstream (rule 3 above)."""
        gateway, group_id = self._gateway, request.group_id
        there = new_id if new_id is not None else request.group_instance_id
        release.came[before] = _Join(there, session, session.upstream, client_id)
        gateway.paused_sessions.pause(group_id, [before], gateway.now_ms())  # it cannot heartbeat until it is answered
        patience_ms = max(request.rebalance_timeout_ms, REBALANCE_TIMEOUT_MS) - LEFT_EARLIER_MS
        if release.leave_by_ms is None:
            release.leave_by_ms = gateway.now_ms() + patience_ms
        if await gateway.guarded.member_ids(group_id) <= release.came.keys():
            release.have_all_gone = True
            gateway.spawn(self._end(gateway.sentinels.of(group_id), release))

    def hear(self, group_id: str, *member_ids: str) -> None:
        """Members that come by ids that the cluster gave out have heard that they have joined there (rule 3 above)."""
        release = self._open.get(group_id)
        if release is None:
            return
        for member_id in member_ids:
            heard = release.unheard.pop(member_id, None)
            if heard is not None:
                self._gateway.spawn(self._goes(*heard, release))

    async def _goes(self, request: JoinGroupRequest, before: str, release: _Release) -> None:
        """It is a member here no more."""
        gateway, group_id = self._gateway, request.group_id
        join = release.came.get(before)
        if join is None or join.there != before:  # else a predecessor of this process has handed it down
            gateway.former_ids.note(request, before)
        identity = MemberIdentity("" if request.group_instance_id else before, request.group_instance_id, STOPPED)
        try:
            await gateway.guarded.give_up(group_id, [identity])
            if not (await facts_of(gateway, group_id)).has_members:
                await self._end(gateway.sentinels.of(group_id), release)
        except UpstreamLost:
            log.debug("group %s: a member that has gone is one here until its session ends", group_id)

    async def member_call(
        self, session: ClientSession, call: Call, request: SyncGroupRequest | HeartbeatRequest | LeaveGroupRequest
    ) -> None:
        """A Heartbeat, SyncGroup or LeaveGroup: of a member that has yet to join upstream, or of another (rule 2
        above). Raises UpstreamLost.
        """
        gateway, group_id = self._gateway, request.group_id
        if isinstance(request, LeaveGroupRequest):
            left = members_named(request)
            if not left & await gateway.guarded.member_ids(group_id):
                session.pass_on(call, await gateway.cluster_groups.reader(session, request))
                return
            response, _ = await gateway.guarded.call(session, call, request)
            session.drop_members(group_id, left)
            session.answer(call, response)
            return
        known = request.member_id, request.group_instance_id, request.generation_id
        if await gateway.guarded.check_commit(session, group_id, *known, transactional=False) in STRANGER:
            session.pass_on(call, await gateway.cluster_groups.reader(session, request))
            return
        session.add_member(group_id, request.member_id)
        session.answer(call, refuse(request, ErrorCode.REBALANCE_IN_PROGRESS))

    def may_commit(self, group_id: str, is_placed: bool) -> bool:
        """Whether commits of members that have yet to join upstream can go in the sentinel's name. A sentinel that is
        not in its place, the generation of the commit, cannot come there: it would wait for those that join.
        """
        release = self._open.get(group_id)
        return release is None or (is_placed and not release.has_left)


def _missing(came: Mapping[str, _Join], members: Iterable[DescribedGroupMember]) -> dict[str, _Join]:
    """Of the JoinGroups on their way those whose members the cluster does not have yet.

    It gives ids of its own to clients from before KIP-394, so of these it has as many as it has members with their
    client id whom nobody else has joined as.
    """
    ids = {join.there for join in came.values() if join.there is not None}
    there: set[str | None] = set()
    unnamed: Counter[str] = Counter()
    for member in members:
        named = ids & {member.member_id, member.group_instance_id}
        there |= named
        unnamed[member.client_id] += not named and member.group_instance_id != INSTANCE_ID
    return {before: join for before, join in came.items() if not join.has_arrived(there, unnamed)}


def _ignore(answered: asyncio.Future[Any]) -> None:
    """Nobody waits for that any more."""
    if not answered.cancelled():
        answered.exception()
