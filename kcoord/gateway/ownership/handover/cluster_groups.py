"""Cluster groups: groups that match `--groups` but are the cluster's, and which of their members come through kcoord.

kcoord does not take a group that has members at the cluster. So it passes on the calls of members that come through it.
Rules:

1. A member is direct if DescribeGroups names it upstream and no JoinGroup or Heartbeat of it has succeeded through this
   kcoord within its session (AD-6). kcoord reads only the answers to calls of such groups.
2. kcoord remembers a member that came through together with its connection, and forgets it with the connection. While a
   member waits for an answer (a JoinGroup waits for the other members), its session does not end.
3. The log says once that a group is the cluster's, and once that it is kcoord's again.
4. An instance knows only its own connections, and says so. All members of a group come through one instance, the one
   that stands before the group's coordinator, except for a while after a change of the map.
5. If the cluster refuses a client's protocol because of kcoord's own member, kcoord does not pass that error on:
   clients stop at it.
6. The cluster does not know the member ids that kcoord gave out. A member of the group here, and one that has gone from
   here to the cluster, does not get the cluster's UNKNOWN_MEMBER_ID. kcoord tells it to join, and it joins the cluster
   without an id. Every other client gets the error, because another member may own its partitions by now.
"""

from __future__ import annotations

import logging
import struct
import weakref
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Protocol

import attrs

from kcoord.bounded_cache import BoundedCache
from kcoord.gateway.interfaces import GroupReader, Places
from kcoord.gateway.ownership.handover.former_member_ids import FormerMemberIds
from kcoord.gateway.ownership.maintenance.sentinel_care import Sentinels
from kcoord.gateway.ownership.sentinel.described_groups import INSTANCE_ID, described_groups
from kcoord.gateway.ownership.sentinel.upstream_errors import STRANGER
from kcoord.gateway.session.collected_responses import decode, encoded
from kcoord.gateway.session.connection_context import Spawner
from kcoord.gateway.session.upstream import Asker, Deliver, Expected, UpstreamLost
from kcoord.group.error_responses import refuse
from kcoord.group.group_facts import GroupFacts
from kcoord.group.request_slices import ROWS
from kcoord.group.state.owner_setting import Owner
from kcoord.group_owner_words import DIRECT, ELSEWHERE, THROUGH_INSTANCE, THROUGH_KCOORD
from kcoord.loop.turn_queue import TurnQueue
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.describe_groups_response import DescribedGroupMember
from kcoord.protocol.generated.join_group_request import JoinGroupRequestProtocol
from kcoord.protocol.messages import (
    HeartbeatRequest,
    HeartbeatResponse,
    JoinGroupRequest,
    JoinGroupResponse,
    Request,
    Response,
    SyncGroupRequest,
)
from kcoord.protocol.primitives import DecodeError
from kcoord.protocol.undecoded_call import Call

if TYPE_CHECKING:
    from kcoord.gateway.session.client_session import ClientSession

__all__ = ["ClusterGroup", "ClusterGroups", "Sighting"]

log = logging.getLogger("kcoord.gateway")

SEEN_BYTES, SAID_BYTES = 16 << 20, 4 << 20
"""Size limits, in bytes, of the memory of members that came through, and of the other memories by group."""
USUAL_SESSION_MS = 45_000
"""Assumed session timeout of a member whose JoinGroup kcoord has not seen: the default of Kafka's consumers."""
NOT_KNOWN = -1
"""The generation if no call has named one."""

_SIZE = struct.Struct(">i")


@attrs.frozen
class ClusterGroup:
    """A group of the cluster, as this kcoord sees it."""

    group_id: str
    through: tuple[DescribedGroupMember, ...]
    """Members that come through this kcoord."""
    direct: tuple[DescribedGroupMember, ...]
    """All other members."""
    is_shared: bool
    """Whether there may be other instances, through which some of `direct` come."""
    state: str = ""
    """The group's state, in Kafka's words."""
    protocol_type: str = ""
    protocol: str = ""
    """The protocol of the members, in a stable group."""
    owner: str = Owner.AUTO
    """Who shall have the group (`gateway.owner`); the cluster, if no `--groups` matches it."""
    is_matched: bool = True
    """Whether a `--groups` matches it."""
    adopts: bool = True
    """Whether kcoord adopts groups whose `gateway.owner` leaves it open (`gateway.adopt`)."""
    has_just_begun: bool = False
    """Whether some of `direct` may come through this kcoord, and only have sent nothing since it started."""
    hindrance: str = ""
    """Why kcoord's last attempt to adopt the group failed; empty if there was none."""

    @property
    def as_joined(self) -> JoinGroupRequestProtocol:
        """The protocol that a member offers in order to join like the present members."""
        return JoinGroupRequestProtocol(name=self.protocol, metadata=self.through[0].member_metadata)

    def ways(self) -> Iterator[tuple[DescribedGroupMember, str]]:
        """Each member, with the word for how it comes (`group_owner_words.py`)."""
        through, direct = (THROUGH_INSTANCE, ELSEWHERE) if self.is_shared else (THROUGH_KCOORD, DIRECT)
        yield from ((each, through) for each in self.through)
        yield from ((each, direct) for each in self.direct)

    @property
    def told(self) -> str:
        """That the cluster has the group, how many members come through kcoord, and what brings the group to kcoord."""
        instance = "this instance of kcoord" if self.is_shared else "kcoord"
        others = f"{len(self.direct)} directly{' or through another instance' if self.is_shared else ''}"
        count, came = len(self.through) + len(self.direct), len(self.through)
        ways = f"{came} of {count} members {'comes' if came == 1 else 'come'} through {instance}"
        return f"the cluster has this group, not kcoord: {ways}{f', {others}' if self.direct else ''}. {self._next}"

    @property
    def _next(self) -> str:
        """What the user must do, or what kcoord will do."""
        if not self.is_matched:
            return "It stays with the cluster: no --groups of this kcoord matches it"
        if self.owner == Owner.CLUSTER:
            return "It was given to the cluster (gateway.owner=cluster); kcoord groups adopt brings it back"
        if self.direct:
            so_far = " (kcoord has just started: who has sent nothing since counts as direct)"
            return (
                f"Point those at kcoord (bootstrap.servers){so_far if self.has_just_begun else ''}; until the last of "
                "them is moved or stopped, the group stays with the cluster"
            )
        if self.owner == Owner.AUTO and not self.adopts:
            return "kcoord groups adopt takes it over, and no member notices (gateway.adopt=manual)"
        if self.hindrance:
            return f"kcoord has not been able to take it over, and tries again: {self.hindrance}"
        return f"kcoord takes it over as soon as it is stable; it is {self.state}"


@attrs.frozen(slots=True)
class Sighting:
    """A member's last call through this kcoord."""

    session: weakref.ref[ClientSession]
    seen_ms: int
    session_ms: int | None
    """The session timeout; None if kcoord has not seen the member's JoinGroup. The same holds for `rebalance_ms`."""
    rebalance_ms: int | None
    generation: int
    """The generation of the last call; -1: not known."""

    @property
    def client_host(self) -> str:
        """The client's host, for which the cluster takes kcoord's address. Empty if its connection has ended."""
        session = self.session()
        return "" if session is None else session.client.client_host


class ClusterGroupsContext(Spawner, Protocol):
    """What `ClusterGroups` needs from the gateway."""

    former_ids: FormerMemberIds
    groups: GroupReader
    now_ms: Callable[[], int]
    places: Places | None
    sentinels: Sentinels
    turns: TurnQueue

    @property
    def adopts(self) -> bool: ...
    def matches(self, group_id: str) -> bool: ...
    def owner_of(self, group_id: str, facts: GroupFacts) -> str: ...


class ClusterGroups:
    """What this kcoord knows about the cluster's groups, from its own connections."""

    def __init__(self, gateway: ClusterGroupsContext) -> None:
        self._gateway = gateway
        self._first_ms: int | None = None
        """When the first member of all came by here."""
        self._seen: BoundedCache[tuple[str, str], Sighting] = BoundedCache(SEEN_BYTES)
        self._said: BoundedCache[str, weakref.ref[ClientSession]] = BoundedCache(SAID_BYTES)
        """Groups that the log has named as the cluster's, each with the connection by which a member came last."""
        self._leaders: BoundedCache[str, tuple[int, str]] = BoundedCache(SAID_BYTES)
        """By group: the generation of the last answered JoinGroup, and its leader."""
        self._hindrances: BoundedCache[str, str] = BoundedCache(SAID_BYTES)
        """By group: why the last attempt to adopt it failed."""

    async def reader(self, session: ClientSession, call: Call, request: Request) -> Deliver | None:
        """The function that passes on the cluster's answer to a call of such a group and learns from it.

        None: there is nothing to learn from the call.
        """
        if not isinstance(request, JoinGroupRequest | SyncGroupRequest | HeartbeatRequest):
            return None
        is_ours = await self._gateway.former_ids.is_ours(session, call, request)
        is_kept_out = isinstance(request, JoinGroupRequest) and self._gateway.sentinels.may_be_there(request.group_id)

        def deliver(owed: Expected, frame: bytes) -> None:
            response = decode(owed, frame)
            instead = self.instead(session, request, response, is_ours, is_kept_out)
            if instead:
                session.to_client(encoded(owed, refuse(request, instead)))
            else:
                session.to_client(_SIZE.pack(len(frame)) + frame)
            if not isinstance(request, SyncGroupRequest):
                self.learn(session, request, response)

        return deliver

    def instead(
        self,
        session: ClientSession,
        request: JoinGroupRequest | SyncGroupRequest | HeartbeatRequest,
        response: Response,
        is_ours: bool,
        is_kept_out: bool,
    ) -> ErrorCode:
        """The error that kcoord sends in place of one that it has caused itself (rules 5 and 6 above).

        NONE: the cluster's answer holds. `is_ours`: the member id is, or was, that of a member here. `is_kept_out`: the
        sentinel may have been in the group when the call was passed on.
        """
        error, group_id = getattr(response, "error_code", 0), request.group_id
        if error in STRANGER and is_ours:
            if not isinstance(request, JoinGroupRequest):
                return ErrorCode.REBALANCE_IN_PROGRESS
            self._gateway.former_ids.note(request, request.member_id)
            return ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
        if isinstance(request, JoinGroupRequest) and error == ErrorCode.INCONSISTENT_GROUP_PROTOCOL:
            steps_aside = self._gateway.sentinels.steps_aside(group_id, session)
            return ErrorCode.COORDINATOR_LOAD_IN_PROGRESS if steps_aside or is_kept_out else ErrorCode.NONE
        return ErrorCode.NONE

    def learn(self, session: ClientSession, request: JoinGroupRequest | HeartbeatRequest, response: Response) -> None:
        """Learn from the cluster's answer to a call of such a group."""
        group_id = request.group_id
        if isinstance(request, JoinGroupRequest):
            assert isinstance(response, JoinGroupResponse)
            if response.error_code == ErrorCode.NONE:
                times = request.session_timeout_ms, request.rebalance_timeout_ms
                self.came(session, group_id, response.member_id, times, response.generation_id)
                self._leaders[group_id] = response.generation_id, response.leader
            elif response.error_code == ErrorCode.MEMBER_ID_REQUIRED:
                return
        elif isinstance(response, HeartbeatResponse) and response.error_code == ErrorCode.NONE:
            self.came(session, group_id, request.member_id, None, request.generation_id)
        else:
            return
        is_last = session.in_flight == 1  # else a question would wait behind another call
        if group_id in self._said:
            self._said[group_id] = weakref.ref(session)
        elif is_last:
            self._said[group_id] = weakref.ref(session)
            self._gateway.spawn(self._say(session, group_id))

    def came(
        self,
        session: ClientSession,
        group_id: str,
        member_id: str,
        times: tuple[int, int] | None,
        generation: int = NOT_KNOWN,
    ) -> None:
        """Note that a call of that member has succeeded over that connection, in that generation.

        `times`: its session and rebalance timeouts, in ms; None if the call does not name them.
        """
        self._first_ms = self._first_ms or self._gateway.now_ms()
        known = self._seen.get((group_id, member_id))
        session_ms, rebalance_ms = times or ((None, None) if known is None else (known.session_ms, known.rebalance_ms))
        self._seen[group_id, member_id] = Sighting(
            weakref.ref(session), self._gateway.now_ms(), session_ms, rebalance_ms, generation
        )

    def comes_through(self, group_id: str, member_id: str) -> bool:
        """Whether that member of the cluster comes through this kcoord (rules 1 and 2 above)."""
        known = self._seen.get((group_id, member_id))
        if known is None:
            return False
        if self._is_there(known):
            return True
        self._seen.pop((group_id, member_id))
        return False

    def _is_there(self, sighting: Sighting) -> bool:
        session = sighting.session()
        if session is None or session.gone or session.upstream is None:
            return False
        session_ms = USUAL_SESSION_MS if sighting.session_ms is None else sighting.session_ms
        return session.in_flight > 0 or self._gateway.now_ms() - sighting.seen_ms < session_ms

    async def look(self, asker: Asker, group_id: str) -> ClusterGroup | None:
        """The group as the cluster describes it. Raises UpstreamLost.

        None: it has no members there but kcoord's own, or upstream has no usable version of DescribeGroups.
        """
        through: list[DescribedGroupMember] = []
        direct: list[DescribedGroupMember] = []
        found = await described_groups(asker, [group_id])
        for at, member in enumerate(found[0].members if found else ()):
            if at and not at % ROWS:
                await self._gateway.turns.give_way()
            if member.group_instance_id != INSTANCE_ID:
                (through if self.comes_through(group_id, member.member_id) else direct).append(member)
        if not through and not direct:
            return None
        group, gateway = found[0], self._gateway
        return ClusterGroup(
            group_id,
            tuple(through),
            tuple(direct),
            is_shared=gateway.places is not None,
            state=group.group_state,
            protocol_type=group.protocol_type,
            protocol=group.protocol_data,
            owner=gateway.owner_of(group_id, gateway.groups.known_facts(group_id)),
            is_matched=gateway.matches(group_id),
            adopts=gateway.adopts,
            has_just_begun=gateway.now_ms() - (self._first_ms or 0) < USUAL_SESSION_MS,
            hindrance=self._hindrances.get(group_id) or "",
        )

    def waiting(self) -> list[str]:
        """The groups that the log has named as the cluster's."""
        return list(self._said)

    def asker(self, group_id: str) -> ClientSession | None:
        """A connection of a member of that group, over which kcoord can ask the cluster about it."""
        heard = self._said.get(group_id)
        session = None if heard is None else heard()
        return session if session is not None and session.may_ask and not session.gone else None

    def sighting(self, group_id: str, member_id: str) -> Sighting | None:
        """The last call of that member through this kcoord."""
        return self._seen.get((group_id, member_id))

    def leader(self, group_id: str, generation: int) -> str | None:
        """The leader of that generation; None if this kcoord has not seen it."""
        of, leader = self._leaders.get(group_id) or (NOT_KNOWN, "")
        return leader if of == generation else None

    def adopted(self, group_id: str) -> None:
        """The group is no longer the cluster's."""
        self._said.pop(group_id)
        self._hindrances.pop(group_id)

    def hindered(self, group_id: str, why: str) -> None:
        """An attempt to adopt the group has failed."""
        self._hindrances[group_id] = why

    def taken(self, group_id: str) -> None:
        """A member's call has succeeded here: kcoord has the group if its sentinel is in it."""
        sentinel = self._gateway.sentinels.known(group_id)
        if group_id in self._said and sentinel is not None and sentinel.is_joined:
            self.adopted(group_id)
            log.info("group %s is kcoord's now: its last member at the cluster has gone", group_id)

    async def _say(self, session: ClientSession, group_id: str) -> None:
        try:
            found = await self.look(session, group_id)
        except (UpstreamLost, DecodeError) as fault:
            log.debug("group %s: the cluster does not say who is in it: %s", group_id, fault)
            found = None
        if found is None:
            self._said.pop(group_id)  # the next call that passes tries again
            return
        log.info("group %s: %s", group_id, found.told)
