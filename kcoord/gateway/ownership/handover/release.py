"""Release: kcoord gives a group back to the cluster, by one ordinary rebalance (AD-15 to AD-18).

kcoord releases a group if its setting `gateway.owner` says `cluster`, or if `--groups` no longer matches it. Both still
hold after a restart, so a kcoord that died during a release goes on with it. Rules:

1. The sentinel joins again. Beside its own protocol it offers the protocol of the members, so that they can join
   upstream. It may have to wait there for a member id that nobody uses, and upstream answers nothing else on that
   connection meanwhile. So it joins over a connection of its own, if upstream lets kcoord in without credentials.
2. Each member hears REBALANCE_IN_PROGRESS at its next Heartbeat, and joins. kcoord asks the cluster for a new member id
   and passes the member's JoinGroup on with that id, so the member learns its id from the answer. (librdkafka takes its
   partitions for lost when a JoinGroup is answered with nothing but a new id.) All calls with a new id pass.
3. When a member comes by its new id, kcoord removes it from the group here, as a member that has stopped. Before that,
   its connection or kcoord may end; then the member comes by its old id, and kcoord must still know it. While the
   sentinel is there, the commits of such a member go on in the sentinel's name. The group's coordinator here answers no
   more JoinGroup, SyncGroup or Heartbeat.
4. When the JoinGroups of all members here are under way and upstream names all of them, the sentinel leaves, and all
   members get one generation. A member that leaves meanwhile, or whose session ends, is not waited for. The sentinel
   also leaves shortly before the rebalance would end upstream: otherwise upstream would count it as a member that has
   joined, and the leader would give it work.
5. Some clients commit while they wait for the answer to their JoinGroup: by an old id, or by a new id with the earlier
   generation. Such a late commit gets an error that tells the member to join: REBALANCE_IN_PROGRESS, or
   ILLEGAL_GENERATION in a transaction. A member that hears that it is unknown takes its partitions for lost. A member
   whose session has ended must hear it, because others may own its partitions by now.
6. Workers of the new protocol cannot go to a cluster that does not know it. A group that has such workers is not
   released.
7. If kcoord died during a release, the connections of members that had joined upstream have ended, and these members
   will join again. If the cluster still waits for the sentinel, none of them has had an answer: kcoord removes them
   there and begins the release again. Otherwise the sentinel leaves at once. If a client comes by an id that no member
   here has or had, its call passes: either it is a member upstream, or the cluster refuses it.
8. A coordinator upstream that has just loaded its log knows only one protocol of each member, the chosen one. That is
   kcoord's own, so it refuses all others. A member that is refused for this reason tries again, and the sentinel offers
   the members' protocol once more. If the sentinel had left, the log may not say so, and may not say who has joined.
   Then the release begins again: a member that joined alone would get the partitions of the others.
9. With SASL only a member can remove the sentinel, over a connection on which nothing waits. So the last member removes
   it, once upstream has the JoinGroups of all others, and its own JoinGroup follows in one go. A member that upstream
   has given an id is waited for there. A static member is not, so the others first get a generation without it, and the
   rebalance begins again: nobody syncs in between.

Here is how a release begins and ends; the calls of the members meanwhile are in `calls_during_release.py`.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from kcoord.bounded_cache import BoundedCache
from kcoord.gateway.ownership.access.group_ownership import OwnershipContext, facts_of
from kcoord.gateway.ownership.access.guarded_groups import GuardedGroups
from kcoord.gateway.ownership.handover.open_release import OpenRelease
from kcoord.gateway.ownership.maintenance.group_appearances import DEAD
from kcoord.gateway.ownership.maintenance.sentinel_care import Sentinels
from kcoord.gateway.ownership.sentinel.admission import LetIn
from kcoord.gateway.ownership.sentinel.described_groups import INSTANCE_ID, described_group
from kcoord.gateway.ownership.sentinel.sentinel import Sentinel
from kcoord.gateway.session.connection_context import Spawner
from kcoord.gateway.session.upstream import Asker, UpstreamLost
from kcoord.group.apis.connect_group_describe import CONNECT
from kcoord.group.group_facts import GroupFacts
from kcoord.group.state.owner_setting import Owner
from kcoord.protocol.embedded import NAMES
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.describe_groups_response import DescribedGroupMember
from kcoord.protocol.generated.join_group_request import JoinGroupRequestProtocol
from kcoord.protocol.messages import (
    ConnectGroupDescribeRequest,
    ConnectGroupDescribeResponse,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
    JoinGroupRequest,
)
from kcoord.protocol.primitives import DecodeError

if TYPE_CHECKING:
    from kcoord.gateway.session.client_session import ClientSession

__all__ = ["ReleaseContext", "Releases"]

T = TypeVar("T")

log = logging.getLogger("kcoord.gateway")

SPOKEN_BYTES = 4 << 20
"""Size limit, in bytes, of the memory of members' protocols."""
LOOKS, LOOK_AGAIN_S = 100, 0.01
"""How often, and at which pause in seconds, kcoord checks whether all that have come are members upstream."""


class ReleaseContext(OwnershipContext, Spawner, Protocol):
    """What a release needs from the gateway."""

    guarded: GuardedGroups

    @property
    def sentinels(self) -> Sentinels: ...
    def member_sessions(self, group_id: str) -> list[ClientSession]: ...


class Releases:
    """The releases of all groups that this instance gives back."""

    def __init__(self, gateway: ReleaseContext) -> None:
        self._gateway = gateway
        self._open: dict[str, OpenRelease] = {}
        self._beginning: set[str] = set()
        self._parked: dict[str, dict[asyncio.Future[None], None]] = {}
        """By group: one future for each JoinGroup that waits here for other members. It is done when the members must
        join upstream.
        """
        self._spoken: BoundedCache[str, tuple[tuple[str, bytes], ...]] = BoundedCache(SPOKEN_BYTES)
        """By group: the protocols of the last client whose JoinGroup came before the release was open."""
        self._said: set[str] = set()
        """Groups that cannot be released, after the log has said so."""

    def is_open(self, group_id: str) -> bool:
        """Whether the group's members are sent to the cluster now."""
        return group_id in self._open

    def opened(self, group_id: str) -> OpenRelease | None:
        """The open release of the group, if there is one."""
        return self._open.get(group_id)

    def is_under_way(self, group_id: str) -> bool:
        """Whether the group's release is open, is about to begin, or is being taken back."""
        return group_id in self._open or group_id in self._beginning

    def concerns(self, group_id: str) -> bool:
        """Whether the group must go to the cluster.

        Its coordinator here then gives out no assignments any more: it would give one member what another gave up when
        it joined upstream.
        """
        if group_id in self._open:
            return True
        sentinel = self._gateway.sentinels.known(group_id)
        if sentinel is not None and (sentinel.refused or (sentinel.is_taking and sentinel.is_contested)):
            return False  # the cluster has it, or still has it: its members here end with their sessions
        known = self._gateway.groups.known_facts(group_id)
        is_to_go = self._gateway.owner_of(group_id, known) == Owner.CLUSTER
        return is_to_go and known.has_members and known.consumer_epoch is None and group_id not in self._said

    def may_commit(self, group_id: str, is_placed: bool) -> bool:
        """Whether a commit of a member that has yet to join upstream can go in the sentinel's name.

        `is_placed`: whether the sentinel stands for the generation of the commit. If not, it cannot join for that
        generation now, because its join would wait for the members.
        """
        release = self._open.get(group_id)
        return release is None or (is_placed and not release.has_left)

    # -- begin and end ------------------------------------------------------------------------------------------------

    def tend(self, sentinel: Sentinel, facts: GroupFacts) -> None:
        """Begin, end or take back the release of the sentinel's group, if it is time; called regularly."""
        if not facts.loaded:
            return  # nobody says who shall have it
        group_id, release = sentinel.group_id, self._open.get(sentinel.group_id)
        is_to_go = self._gateway.owner_of(group_id, facts) == Owner.CLUSTER
        if not is_to_go:
            self._said.discard(group_id)
            sentinel.delay = ""
        if group_id in self._beginning:
            return
        if not is_to_go and (sentinel.offers or release is not None) and not (release and release.leave_by_ms):
            self._open.pop(group_id, None)  # kcoord shall have it again, and no member has come yet
            self._beginning.add(group_id)
            self._gateway.spawn(self._take_back(sentinel, facts.generation or 0))
        elif release is None:
            if is_to_go and facts.has_members and facts.consumer_epoch is None and not sentinel.refused:
                self._beginning.add(group_id)
                self._gateway.spawn(self._begin(sentinel))
        else:
            late = release.leave_by_ms is not None and self._gateway.now_ms() >= release.leave_by_ms
            if not facts.has_members or (late and not release.has_left):
                self._gateway.spawn(self.end(sentinel, release))
            else:
                self._gateway.spawn(self.end_if_all_have_come(sentinel, release))

    def offer_again(self, group_id: str, release: OpenRelease) -> None:
        """Upstream has forgotten what the sentinel offers: offer it again, unless the sentinel leaves or joins now."""
        if release.is_left:
            release.starts_over()
        if not release.has_left and group_id not in self._beginning:
            self._beginning.add(group_id)
            self._gateway.spawn(self._begin(self._gateway.sentinels.of(group_id), release))

    async def _begin(self, sentinel: Sentinel, again: OpenRelease | None = None) -> None:
        """Let the members in upstream. `again`: the open release, if upstream has forgotten their protocol."""
        group_id = sentinel.group_id
        terms = partial(self._terms, sentinel, again)
        try:
            if await terms() is None:
                return
            error = await self._gateway.sentinels.speak(sentinel, lambda asker: sentinel.let_in(asker, terms))
            if error == ErrorCode.OPERATION_NOT_ATTEMPTED:
                return  # it was taken back while the sentinel was busy
            if error:
                sentinel.note_delay(f"the cluster answered {error.name}")
                return
        except (UpstreamLost, DecodeError) as fault:
            sentinel.note_delay(str(fault))
            return
        finally:
            self._beginning.discard(group_id)
        if again is not None:
            again.has_left = again.is_left = not sentinel.is_joined
            return
        is_left = not sentinel.is_joined
        self._send_members(group_id, OpenRelease(has_left=is_left, is_left=is_left))
        log.info("group %s is being released to the cluster: its members are asked to join there", group_id)

    async def _terms(self, sentinel: Sentinel, again: OpenRelease | None) -> LetIn | None:
        """What the sentinel must know to let the members in; None if it must not, or cannot. Raises UpstreamLost."""
        group_id = sentinel.group_id
        facts = await facts_of(self._gateway, group_id)
        if again is None and self._gateway.owner_of(group_id, facts) != Owner.CLUSTER:
            return None
        offers = list(sentinel.offers) or await self._offers(group_id)
        if offers == []:
            spoken = self._spoken.get(group_id) or ()
            offers = [JoinGroupRequestProtocol(name=name, metadata=metadata) for name, metadata in spoken]
        if offers is None and group_id not in self._said:
            self._said.add(group_id)
            log.warning("group %s cannot be released: it has workers of the new protocol", group_id)
        if not offers:
            return None
        return LetIn(offers, facts.generation or 0, await self._gateway.guarded.member_ids(group_id))

    def note_protocols(self, request: JoinGroupRequest) -> None:
        """Keep the protocols of a client whose JoinGroup came before the release was open."""
        self._spoken[request.group_id] = tuple((each.name, each.metadata) for each in request.protocols)

    def send_back(self, group_id: str) -> None:
        """Send members back to the cluster after a failed adoption that removed them there (AD-10).

        The sentinel is not in the group.
        """
        now_ms = self._gateway.now_ms()
        self._send_members(group_id, OpenRelease(has_left=True, is_left=True, leave_by_ms=now_ms, sends_back=True))

    def _send_members(self, group_id: str, release: OpenRelease) -> None:
        self._open[group_id] = release
        for parked in self._parked.pop(group_id, ()):
            parked.set_result(None)
        for session in self._gateway.member_sessions(group_id):
            session.client.forget_answers()
            self._gateway.groups.flush_held_reply(group_id, session.client.serial)

    async def or_none(self, group_id: str, answer: Coroutine[Any, Any, T]) -> T | None:
        """The group's answer to a JoinGroup, which may wait for other members. None: now all must join upstream."""
        parked: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._parked.setdefault(group_id, {})[parked] = None
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
                waiting.pop(parked, None)
                if not waiting:
                    del self._parked[group_id]

    async def _take_back(self, sentinel: Sentinel, generation: int) -> None:
        """Let the sentinel offer only its own protocol again."""
        try:
            await self._gateway.sentinels.speak(sentinel, lambda asker: sentinel.let_nobody_in(asker, generation))
        except (UpstreamLost, DecodeError) as fault:
            log.info("group %s: the sentinel joins again with the next call: %s", sentinel.group_id, fault)
        finally:
            self._beginning.discard(sentinel.group_id)

    async def _offers(self, group_id: str) -> list[JoinGroupRequestProtocol] | None:
        """The protocols that the members of the group speak. Raises UpstreamLost.

        Empty: they have not agreed on one yet. None: some members speak no protocol that the cluster knows.
        """
        if not (await facts_of(self._gateway, group_id)).has_members:
            return []
        described = await self._gateway.guarded.describe(DescribeGroupsRequest(groups=[group_id]))
        assert isinstance(described, DescribeGroupsResponse)
        [group] = described.groups
        if group.protocol_type and group.protocol_data and group.members:
            metadata = group.members[0].member_metadata
            return [JoinGroupRequestProtocol(name=group.protocol_data, metadata=metadata)]
        if group.group_state != DEAD:  # its members have not agreed on a protocol yet
            return []
        told = await self._gateway.guarded.describe(ConnectGroupDescribeRequest(group_ids=[group_id]))
        assert isinstance(told, ConnectGroupDescribeResponse)
        if any(each.protocol == CONNECT for each in told.groups[0].members):
            return None
        return [JoinGroupRequestProtocol(name=name, metadata=b"") for name in reversed(NAMES)]

    async def end_if_all_have_come(self, sentinel: Sentinel, release: OpenRelease) -> None:
        """Let the sentinel leave if those that have come no longer wait for anybody: the last members that had not come
        have left, or their sessions have ended. With several instances only the cluster knows who has come.
        """
        if not release.came:
            return
        try:
            here = await self._gateway.guarded.member_ids(sentinel.group_id)
        except UpstreamLost:
            return  # it is asked again
        if sentinel.IS_SHARED or release.have_come(here):
            await self.end(sentinel, release)

    async def end(self, sentinel: Sentinel, release: OpenRelease) -> None:
        """Let the sentinel leave once the members that have come are in the group upstream. If the group has no members
        here any more, the release is over.
        """
        group_id, gateway = sentinel.group_id, self._gateway
        if not release.has_left:
            release.has_left = True
            level = logging.INFO
            try:
                error = await gateway.sentinels.speak_freely(
                    sentinel, lambda asker: self._leave(sentinel, release, asker)
                )
                lost = f"the cluster answered {error.name}" if error else ""
                if error == ErrorCode.REBALANCE_IN_PROGRESS:
                    level = logging.DEBUG  # it is not time yet
            except (UpstreamLost, DecodeError) as fault:
                lost = str(fault)
            if lost:
                release.has_left = False
                log.log(level, "group %s: the sentinel cannot leave yet: %s", group_id, lost)
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

    async def _leave(self, sentinel: Sentinel, release: OpenRelease, asker: Asker) -> ErrorCode:
        """Leave if all members here have come and are members upstream. Raises UpstreamLost.

        It also leaves if the time for it is over, or if no member is left here. REBALANCE_IN_PROGRESS: it must stay,
        for example because a JoinGroup was refused meanwhile. Members that join without the others would get what the
        others own.
        """
        for _ in range(LOOKS):
            members = (await described_group(asker, sentinel.group_id)).members
            missing = release.missing(members)
            have_come = release.have_come(await self._gateway.guarded.member_ids(sentinel.group_id))
            if not (have_come and missing):
                break
            await asyncio.sleep(LOOK_AGAIN_S)
        have_come = have_come or await self._have_come_by_instances(sentinel, release, members)
        is_complete = have_come and not missing
        is_late = release.leave_by_ms is not None and self._gateway.now_ms() >= release.leave_by_ms
        is_empty = not (await facts_of(self._gateway, sentinel.group_id)).has_members
        may_go = is_complete or is_late or is_empty
        return await sentinel.go(asker) if may_go else ErrorCode.REBALANCE_IN_PROGRESS

    async def _have_come_by_instances(
        self, sentinel: Sentinel, release: OpenRelease, there: list[DescribedGroupMember]
    ) -> bool:
        """Whether `there` are all members that are here, and this instance's newcomers. Raises UpstreamLost.

        An instance does not see the JoinGroups that come by another one, so with several instances they are counted. A
        newcomer that comes by another instance is taken for one of the members; whoever is left out then joins in one
        more rebalance.
        """
        if not sentinel.IS_SHARED:
            return False
        here = await self._gateway.guarded.member_ids(sentinel.group_id)
        count = sum(each.group_instance_id != INSTANCE_ID for each in there)
        return bool(here) and count >= len(here | release.came.keys())


def _ignore(answered: asyncio.Future[Any]) -> None:
    """Take the exception of an answer that nobody waits for any more, so that asyncio does not log it."""
    if not answered.cancelled():
        answered.exception()
