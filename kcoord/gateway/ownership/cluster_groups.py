"""Groups that match `--groups` and are the cluster's all the same: which of their members come through kcoord?

A group that has members at the cluster is not taken, so the calls of those that come through kcoord pass. Rules:

1. Direct are the members that DescribeGroups names upstream, less those whose JoinGroup or Heartbeat has succeeded
   through this kcoord within their session (AD-6). Only the answers to calls of such groups are read.
2. Who came through is remembered with its connection, and forgotten with it. While a member waits for an answer (a
   JoinGroup waits for the others), its session does not end.
3. The log says once that a group is the cluster's, and once that it is kcoord's again.
4. An instance knows its own connections only, and says so. The members of one group come by one instance, the one that
   stands before the group's coordinator, but for a while after a change of the map.
5. Nobody hears from the cluster that the group is not for its kind because of kcoord's own member: clients end then.
6. No member of the group here, and none that has gone from here, hears from the cluster that it is unknown: the cluster
   has not given out its id. It is told to join, and joins the cluster without an id. Anybody else hears it: what it
   owned may be another's by now.
"""

from __future__ import annotations

import logging
import struct
import weakref
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Protocol

import attrs

from kcoord.bounded_cache import BoundedCache
from kcoord.gateway.ownership.former_member_ids import FormerMemberIds
from kcoord.gateway.ownership.sentinel import INSTANCE_ID, STRANGER
from kcoord.gateway.ownership.sentinels import Sentinels
from kcoord.gateway.ports import GroupReader, Places
from kcoord.gateway.session.contexts import Spawner
from kcoord.gateway.session.responses import decode, encoded
from kcoord.gateway.session.upstream import Asker, Deliver, Expected, UpstreamLost
from kcoord.gateway.settings import GatewaySettings
from kcoord.group.group_configs import Owner
from kcoord.group.refuse import refuse
from kcoord.group.request_slices import ROWS
from kcoord.loop.turn_queue import TurnQueue
from kcoord.ownership_words import DIRECT, ELSEWHERE, THROUGH_INSTANCE, THROUGH_KCOORD
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.describe_groups_response import DescribedGroupMember
from kcoord.protocol.generated.join_group_request import JoinGroupRequestProtocol
from kcoord.protocol.messages import (
    DescribeGroupsRequest,
    DescribeGroupsResponse,
    HeartbeatRequest,
    HeartbeatResponse,
    JoinGroupRequest,
    JoinGroupResponse,
    Request,
    Response,
    SyncGroupRequest,
)
from kcoord.protocol.primitives import DecodeError

if TYPE_CHECKING:
    from kcoord.gateway.session.client_session import ClientSession

__all__ = ["ClusterGroup", "ClusterGroups", "Sighting"]

log = logging.getLogger("kcoord.gateway")

SEEN_BYTES, SAID_BYTES = 16 << 20, 4 << 20
"""Members that have come through, and groups of which the log has said that they are the cluster's."""
USUAL_SESSION_MS = 45_000
"""The session of a member whose JoinGroup was not seen here: the default of Kafka's consumers."""
NOT_KNOWN = -1
"""A generation that nobody has named."""
NEWEST_DESCRIBE = 5
"""The last version of DescribeGroups in which a group that is not there is no error."""

_SIZE = struct.Struct(">i")


@attrs.frozen
class ClusterGroup:
    """A group that the cluster has, as this kcoord sees it."""

    group_id: str
    through: tuple[DescribedGroupMember, ...]
    """Members that come through this kcoord."""
    direct: tuple[DescribedGroupMember, ...]
    """All other members."""
    is_shared: bool
    """Whether there may be other instances, by which some of `direct` come."""
    state: str = ""
    """In Kafka's words."""
    protocol_type: str = ""
    protocol: str = ""
    """What the members speak, in a stable group."""
    owner: str = Owner.AUTO
    """Who is to have it (`gateway.owner`)."""
    adopts: bool = True
    """Whether groups are adopted that nothing else is said of (`gateway.adopt`)."""

    @property
    def as_joined(self) -> JoinGroupRequestProtocol:
        """What somebody offers who joins as its members have."""
        return JoinGroupRequestProtocol(name=self.protocol, metadata=self.through[0].member_metadata)

    def ways(self) -> Iterator[tuple[DescribedGroupMember, str]]:
        """Each member, and the word for the way it comes by (`ownership_words.py`)."""
        through, direct = (THROUGH_INSTANCE, ELSEWHERE) if self.is_shared else (THROUGH_KCOORD, DIRECT)
        yield from ((each, through) for each in self.through)
        yield from ((each, direct) for each in self.direct)

    @property
    def told(self) -> str:
        """Who has the group, how many members come through kcoord, and what brings the group to kcoord."""
        instance = "this instance of kcoord" if self.is_shared else "kcoord"
        others = f"{len(self.direct)} directly{' or through another instance' if self.is_shared else ''}"
        count, came = len(self.through) + len(self.direct), len(self.through)
        ways = f"{came} of {count} members {'comes' if came == 1 else 'come'} through {instance}"
        return f"the cluster has this group, not kcoord: {ways}{f', {others}' if self.direct else ''}. {self._next}"

    @property
    def _next(self) -> str:
        """What has to be done, or will be."""
        if self.owner == Owner.CLUSTER:
            return "It was given to the cluster (gateway.owner=cluster); kcoord groups adopt brings it back"
        if self.direct:
            return (
                "Point those at kcoord (bootstrap.servers); until the last of them is moved or stopped, the group "
                "stays with the cluster"
            )
        if self.owner == Owner.AUTO and not self.adopts:
            return "kcoord groups adopt takes it over, and no member notices (gateway.adopt=manual)"
        return f"kcoord takes it over as soon as it is stable; it is {self.state}"


@attrs.frozen(slots=True)
class Sighting:
    """How a member came last."""

    session: weakref.ref[ClientSession]
    seen_ms: int
    session_ms: int | None
    """None where its JoinGroup was not seen here; likewise the next."""
    rebalance_ms: int | None
    generation: int
    """In which it has come last; -1: not known."""

    @property
    def client_host(self) -> str:
        """Where the client is; the cluster takes kcoord's address for that. Empty where its connection has ended."""
        session = self.session()
        return "" if session is None else session.client.client_host


class ClusterGroupsContext(Spawner, Protocol):
    """What is known of the cluster's groups rests on this."""

    former_ids: FormerMemberIds
    groups: GroupReader
    now_ms: Callable[[], int]
    places: Places | None
    sentinels: Sentinels
    settings: GatewaySettings
    turns: TurnQueue


class ClusterGroups:
    """What this kcoord knows of such groups, by the connections that end at it."""

    def __init__(self, gateway: ClusterGroupsContext) -> None:
        self._gateway = gateway
        self._seen: BoundedCache[tuple[str, str], Sighting] = BoundedCache(SEEN_BYTES)
        self._said: BoundedCache[str, weakref.ref[ClientSession]] = BoundedCache(SAID_BYTES)
        """Groups of which the log has said that the cluster has them, and by which connection a member came last."""
        self._leaders: BoundedCache[str, tuple[int, str]] = BoundedCache(SAID_BYTES)
        """By group: the newest generation that a JoinGroup was answered with, and who leads it."""

    async def reader(self, session: ClientSession, request: Request) -> Deliver | None:
        """Who passes on the cluster's answer to a call of such a group, and learns from it; None: nothing is learnt."""
        if not isinstance(request, JoinGroupRequest | SyncGroupRequest | HeartbeatRequest):
            return None
        is_ours = await self._gateway.former_ids.is_ours(request.group_id, request.member_id)

        def deliver(owed: Expected, frame: bytes) -> None:
            response = decode(owed, frame)
            instead = self.instead(session, request, response, is_ours)
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
    ) -> ErrorCode:
        """What a client is told in place of an error that it has because of kcoord; NONE: the cluster's answer holds
        (rules 5 and 6 above). `is_ours`: its member id is, or was, that of a member here.
        """
        error, group_id = getattr(response, "error_code", 0), request.group_id
        if error in STRANGER and is_ours:
            if not isinstance(request, JoinGroupRequest):
                return ErrorCode.REBALANCE_IN_PROGRESS
            self._gateway.former_ids.note(request, request.member_id)
            return ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
        if isinstance(request, JoinGroupRequest) and error == ErrorCode.INCONSISTENT_GROUP_PROTOCOL:
            steps_aside = self._gateway.sentinels.steps_aside(group_id, session)
            return ErrorCode.COORDINATOR_LOAD_IN_PROGRESS if steps_aside else ErrorCode.NONE
        return ErrorCode.NONE

    def learn(self, session: ClientSession, request: JoinGroupRequest | HeartbeatRequest, response: Response) -> None:
        """The cluster has answered a call of such a group."""
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
        is_last = session.in_flight == 1  # else a question would wait behind a call that may wait for the other members
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
        """A call of that member has succeeded over that connection, in that generation. `times`: its session and
        rebalance timeouts, in ms; None where the call names none.
        """
        known = self._seen.get((group_id, member_id))
        session_ms, rebalance_ms = times or ((None, None) if known is None else (known.session_ms, known.rebalance_ms))
        self._seen[group_id, member_id] = Sighting(
            weakref.ref(session), self._gateway.now_ms(), session_ms, rebalance_ms, generation
        )

    def comes_through(self, group_id: str, member_id: str) -> bool:
        """Whether that member, which the cluster has, comes through this kcoord (rules 1 and 2 above)."""
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
        """The group as the cluster has it; None where it has no members there but kcoord's own. Raises UpstreamLost."""
        version = await asker.version(DescribeGroupsRequest, NEWEST_DESCRIBE)
        if version is None:
            return None
        response = await asker.ask(DescribeGroupsRequest(groups=[group_id]), version)
        assert isinstance(response, DescribeGroupsResponse)
        through: list[DescribedGroupMember] = []
        direct: list[DescribedGroupMember] = []
        for described in response.groups:
            for at, member in enumerate(described.members):
                if at and not at % ROWS:
                    await self._gateway.turns.give_way()
                if member.group_instance_id != INSTANCE_ID:
                    (through if self.comes_through(group_id, member.member_id) else direct).append(member)
        if not through and not direct:
            return None
        [group] = response.groups
        kind = group.group_state, group.protocol_type, group.protocol_data
        owner = self._gateway.groups.known_facts(group_id).owner
        is_shared, adopts = self._gateway.places is not None, self._gateway.settings.adopts
        return ClusterGroup(group_id, tuple(through), tuple(direct), is_shared, *kind, owner, adopts)

    def waiting(self) -> list[str]:
        """The groups of which the log has said that the cluster has them."""
        return list(self._said)

    def asker(self, group_id: str) -> ClientSession | None:
        """The connection of a member of that group, over which the cluster can be asked for it."""
        heard = self._said.get(group_id)
        session = None if heard is None else heard()
        return session if session is not None and session.may_ask and not session.gone else None

    def sighting(self, group_id: str, member_id: str) -> Sighting | None:
        """How that member came last."""
        return self._seen.get((group_id, member_id))

    def leader(self, group_id: str, generation: int) -> str | None:
        """Who leads that generation; None where nobody has seen it."""
        of, leader = self._leaders.get(group_id) or (NOT_KNOWN, "")
        return leader if of == generation else None

    def adopted(self, group_id: str) -> None:
        """The group is not the cluster's any more."""
        self._said.pop(group_id)

    def taken(self, group_id: str) -> None:
        """A member's call has succeeded here: kcoord has the group, if its sentinel is there."""
        sentinel = self._gateway.sentinels.known(group_id)
        if group_id in self._said and sentinel is not None and sentinel.is_joined:
            self._said.pop(group_id)
            log.info("group %s is kcoord's now: its last member at the cluster has gone", group_id)

    async def _say(self, session: ClientSession, group_id: str) -> None:
        try:
            found = await self.look(session, group_id)
        except (UpstreamLost, DecodeError) as fault:
            log.debug("group %s: the cluster does not say who is in it: %s", group_id, fault)
            found = None
        if found is None:
            self._said.pop(group_id)  # the next call that passes says it
            return
        log.info("group %s: %s", group_id, found.told)
