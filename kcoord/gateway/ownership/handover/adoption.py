"""Adoption: kcoord takes over a group that runs at the cluster, and no member notices (AD-6 to AD-14).

kcoord adopts a stable classic group once all its members come through this kcoord. Steps:

1. kcoord holds the group's calls, and waits for the calls that are under way (`group_traffic.py`).
2. The group's coordinator here takes the members over. They are in its log before kcoord does anything upstream.
3. Upstream the sentinel joins, removes the members, and joins again in their place (`Sentinel.adopt`).
4. The calls go on. The members keep their ids, their generation and their assignments. If step 3 takes long, the calls
   go on before its end: then commits wait, and so do all other calls until the cluster has said that it has removed
   the members.
5. If a client gets into the group between 2 and 3, the cluster refuses the sentinel. Members that were already removed
   join the cluster again, as in a release (`Releases.send_back`).

If kcoord dies on the way, the cluster decides. If the members are still there, it refuses the sentinel, the group's
calls pass again, and kcoord gives up what it wrote. (With several instances kcoord does not do so: the members here end
with their sessions, which nobody refreshes.) If the members are gone, the sentinel gets in, and the group is kcoord's.

Of several instances, one adopts a group if all members come through that instance. They do so once each member has
found its coordinator again, because all instances name the same one.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from functools import partial
from typing import Protocol

import attrs

from kcoord.gateway.ownership.access.group_ownership import OwnershipContext, facts_of
from kcoord.gateway.ownership.access.guarded_groups import GuardedGroups
from kcoord.gateway.ownership.handover.cluster_groups import NOT_KNOWN, ClusterGroup, ClusterGroups, Sighting
from kcoord.gateway.ownership.handover.group_traffic import GroupTraffic
from kcoord.gateway.ownership.handover.release import Releases
from kcoord.gateway.ownership.maintenance.group_appearances import GroupAppearances
from kcoord.gateway.ownership.maintenance.sentinel_care import Sentinels
from kcoord.gateway.ownership.sentinel.described_groups import described_group, other_members
from kcoord.gateway.ownership.sentinel.sentinel import Sentinel
from kcoord.gateway.ownership.sentinel.upstream_errors import is_refusal
from kcoord.gateway.session.client_session import ClientSession
from kcoord.gateway.session.connection_context import ConnectionContext, Spawner
from kcoord.gateway.session.service_connection import ServiceConnection
from kcoord.gateway.session.upstream import Asker, UpstreamLost
from kcoord.gateway.topology.coordinators import Coordinators
from kcoord.group.group_facts import GroupFacts
from kcoord.group.state.owner_setting import Owner
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.adopt_group_request import AdoptedMember
from kcoord.protocol.generated.leave_group_request import MemberIdentity
from kcoord.protocol.messages import AdoptGroupRequest
from kcoord.protocol.primitives import DecodeError

__all__ = ["Adoptions", "CannotAdopt"]

log = logging.getLogger("kcoord.gateway")

STABLE = "Stable"
HAS_MEMBERS = "kcoord has members in this group already"
AT_ONCE = 8
"""How many groups kcoord checks or adopts at the same time."""
LOOK_EVERY_MS, LOOKS_A_SECOND = 2_000, 50
"""How often, in ms, kcoord checks whether a group can be adopted, and the most such checks in one second."""
DRAINED_WITHIN_S = 0.5
"""How long, in seconds, kcoord waits for calls that are under way. If they take longer, it tries the adoption later."""
OPENED_AFTER_S = 1.0
"""How long, in seconds, the group's calls wait for the sentinel at most (AD-11)."""
STAND_IN_WITHIN_S = 0.2
"""How long, in seconds, the calls wait after that for the name in which commits go meanwhile."""
WARNED_AFTER_MS = 30_000
"""How long the same thing must be in the way of an adoption before the log says so."""
FULL_AGAIN_MS = 60_000
"""How long kcoord waits before it tries again to adopt a group in which the cluster has no place for the sentinel. Each
attempt holds the group's calls for a moment.
"""
GENEROUS_SESSION_MS, GENEROUS_REBALANCE_MS = 60_000, 300_000
"""Session and rebalance timeout, in ms, of a member whose JoinGroup kcoord has not seen, until its next one (AD-13)."""


class CannotAdopt(Exception):
    """The group cannot be adopted now; the text says why."""


class _NotComplete(CannotAdopt):
    """Some members are connected to the cluster directly, which the log has said already."""


class _Refused(CannotAdopt):
    """The cluster has refused the sentinel."""

    def __init__(self, error: ErrorCode) -> None:
        self.is_full = error == ErrorCode.GROUP_MAX_SIZE_REACHED
        full = ": it has group.max.size members, and kcoord needs a place beside them. Stop one, or raise that setting"
        super().__init__(f"the cluster answered {error.name}{full if self.is_full else ''}")


@attrs.define
class _Hindrance:
    """What is in the way of one group's adoption, and since when."""

    why: str
    since_ms: int
    said: bool = False


@attrs.frozen
class _Known:
    """What kcoord knows about a group that it is about to adopt."""

    group: ClusterGroup
    generation: int
    leader: str | None
    sightings: dict[str, Sighting]
    """By member id."""

    def request(self) -> AdoptGroupRequest:
        """The request to the group's coordinator here."""
        return AdoptGroupRequest(
            group_id=self.group.group_id,
            generation_id=self.generation,
            protocol_type=self.group.protocol_type,
            protocol_name=self.group.protocol,
            leader=self.leader,
            members=[
                AdoptedMember(
                    member_id=each.member_id,
                    group_instance_id=each.group_instance_id,
                    client_id=each.client_id,
                    client_host=seen.client_host or each.client_host,
                    session_timeout_ms=seen.session_ms or GENEROUS_SESSION_MS,
                    rebalance_timeout_ms=seen.rebalance_ms or GENEROUS_REBALANCE_MS,
                    metadata=each.member_metadata,
                    assignment=each.member_assignment,
                )
                for each in self.group.through
                for seen in [self.sightings[each.member_id]]
            ],
        )

    @property
    def told(self) -> tuple[str, int, int]:
        """Group id, generation and number of members, for the log."""
        return self.group.group_id, self.generation, len(self.group.through)

    @property
    def identities(self) -> list[MemberIdentity]:
        """All members, as LeaveGroup names them."""
        return [
            MemberIdentity(each.member_id, each.group_instance_id, "adopted by kcoord") for each in self.group.through
        ]


@attrs.frozen
class _Askers:
    """The connections over which an adoption asks upstream (AD-14).

    With SASL they are two members' connections, or only one if no other member is connected. Without SASL they are two
    of kcoord's own.
    """

    asker: Asker
    parker: Asker | None
    """The connection for the JoinGroup that waits upstream until the members have joined or gone; None: there is no
    second connection.
    """
    own: tuple[ServiceConnection, ...]

    def close(self) -> None:
        for each in self.own:
            each.close()


class AdoptionContext(OwnershipContext, ConnectionContext, Spawner, Protocol):
    """What an adoption needs from the gateway."""

    appearances: GroupAppearances
    cluster_groups: ClusterGroups
    coordinators: Coordinators
    guarded: GuardedGroups
    releases: Releases
    traffic: GroupTraffic

    @property
    def adopts(self) -> bool: ...
    @property
    def sentinels(self) -> Sentinels: ...
    def own(self, broker_id: int | None) -> ServiceConnection | None: ...


class Adoptions:
    """The adoptions of this process."""

    def __init__(self, gateway: AdoptionContext) -> None:
        self._gateway = gateway
        self._look_due_ms: dict[str, int] = {}
        self._slots = asyncio.Semaphore(AT_ONCE)
        self._trying: set[str] = set()
        self._ending: set[str] = set()
        """Groups whose last adoption has yet to end: it may still give back what the next one would take."""
        self._hindrances: dict[str, _Hindrance] = {}

    def tend(self) -> None:
        """Begin to check the groups that are due, and to adopt those that can be; called about once a second."""
        waiting, now_ms = self._gateway.cluster_groups.waiting(), self._gateway.now_ms()
        every_ms = max(LOOK_EVERY_MS, len(waiting) * 1000 // LOOKS_A_SECOND)
        self._look_due_ms = {group_id: self._look_due_ms.get(group_id, now_ms) for group_id in waiting}
        self._hindrances = {
            group_id: why for group_id, why in self._hindrances.items() if group_id in self._look_due_ms
        }
        for group_id in [group_id for group_id, due_ms in self._look_due_ms.items() if due_ms <= now_ms]:
            self._look_due_ms[group_id] = now_ms + every_ms
            self._gateway.spawn(self._try(group_id))

    async def _try(self, group_id: str) -> None:
        if group_id in self._trying or group_id in self._ending:
            return
        self._trying.add(group_id)
        try:
            async with self._slots:
                facts = await facts_of(self._gateway, group_id)
                if facts.has_members:
                    await self._clear(group_id)
                if self._is_wanted(group_id, facts):
                    await self.adopt(group_id)
        except (CannotAdopt, UpstreamLost, DecodeError) as reason:
            self._note_failure(group_id, reason)
        finally:
            self._trying.discard(group_id)

    def _note_failure(self, group_id: str, reason: Exception) -> None:
        if isinstance(reason, CannotAdopt):
            self._note(group_id, reason)
        else:
            log.info("group %s is not adopted: the way to the cluster is lost: %s", group_id, reason)

    def _note(self, group_id: str, reason: CannotAdopt) -> None:
        """Keep for `describe` why the group is not adopted, and log it once if the cluster says so or it lasts."""
        if isinstance(reason, _NotComplete):
            self._hindrances.pop(group_id, None)
            return
        why, now_ms = str(reason), self._gateway.now_ms()
        self._gateway.cluster_groups.hindered(group_id, why)
        hindrance = self._hindrances.get(group_id)
        if hindrance is None or hindrance.why != why:
            hindrance = self._hindrances[group_id] = _Hindrance(why, now_ms)
        lasts = now_ms - hindrance.since_ms >= WARNED_AFTER_MS
        if not hindrance.said and (lasts or isinstance(reason, _Refused)):
            hindrance.said = True
            log.warning("group %s is not adopted, kcoord tries again: %s", group_id, why)
        if isinstance(reason, _Refused) and reason.is_full:
            self._look_due_ms[group_id] = now_ms + FULL_AGAIN_MS

    async def _clear(self, group_id: str) -> None:
        """Give up the members here if the cluster has some of them by the same ids. Raises UpstreamLost.

        kcoord died after it had taken them over and before it had removed them there. The session of one that is not
        there any more has ended there: it must hear so, because others may own its partitions. With several instances
        another one may adopt the group at this moment. So this does nothing before that has lasted for long, or while
        the sentinel is there, too.
        """
        gateway, sentinel = self._gateway, self._gateway.sentinels.of(group_id)
        asker = gateway.cluster_groups.asker(group_id)
        if sentinel.is_joined or sentinel.is_taking or asker is None:
            return
        if sentinel.IS_SHARED and not self._has_long_had_members(group_id):
            return
        described = await described_group(asker, group_id)
        there = other_members(described)
        if sentinel.IS_SHARED and len(there) < len(described.members):
            return
        here = await gateway.guarded.members(group_id)
        left = {each.member_id for each in there} & here.keys()
        if left and not gateway.sentinels.of(group_id).is_joined:
            log.info("group %s: %d members are the cluster's still, its adoption was broken off", group_id, len(left))
            await gateway.guarded.give_up(group_id, [MemberIdentity(*each) for each in here.items()])

    def _has_long_had_members(self, group_id: str) -> bool:
        """Whether an adoption has failed for long, because the group has members here."""
        known = self._hindrances.get(group_id)
        if known is None or known.why != HAS_MEMBERS:
            return False
        return self._gateway.now_ms() - known.since_ms >= WARNED_AFTER_MS

    def _is_wanted(self, group_id: str, facts: GroupFacts) -> bool:
        owner = self._gateway.owner_of(group_id, facts)
        return owner == Owner.KCOORD or (owner == Owner.AUTO and self._gateway.adopts)

    async def adopt(self, group_id: str) -> None:
        """Take the group over from the cluster. Raises CannotAdopt, UpstreamLost.

        If the cluster takes long to answer, this returns before it has: the group's calls go on, and the rest follows.
        """
        gateway = self._gateway
        if gateway.appearances.is_of_0_1_0:
            raise CannotAdopt(
                "an instance of release 0.1.0 shares the groups, or is to be able to (compatible.with=0.1.0)"
            )
        if not gateway.matches(group_id):
            raise CannotAdopt("no --groups of this kcoord matches it")
        if gateway.owner_of(group_id, await facts_of(gateway, group_id)) == Owner.CLUSTER:
            raise CannotAdopt("it is to be the cluster's (gateway.owner=cluster)")
        known = await self._known(group_id, None)
        if not await gateway.traffic.hold(group_id, DRAINED_WITHIN_S):
            raise CannotAdopt("its members have calls on their way that take long; it will be tried again")
        try:
            askers = self._askers(self._sessions(known))  # nothing waits on the members' connections now
            ending: asyncio.Task[None] | None = None
            try:
                ending = await self._take_over(await self._known(group_id, askers.asker), askers)
            finally:
                if ending is None:
                    askers.close()
                else:
                    self._ending.add(group_id)
                    ending.add_done_callback(partial(self._ended, group_id, askers))
        finally:
            gateway.traffic.go_on(group_id)

    def _ended(self, group_id: str, askers: _Askers, _: asyncio.Task[None]) -> None:
        self._ending.discard(group_id)
        askers.close()

    async def _take_over(self, known: _Known, askers: _Askers) -> asyncio.Task[None] | None:
        """Take the group over while its calls are held. Raises CannotAdopt, UpstreamLost.

        Returns what is still to be done while they go on; None: nothing.
        """
        gateway, group = self._gateway, known.group
        answer = await gateway.guarded.adopt(known.request())
        if answer.error_code:
            # the record may be there all the same, but the cluster has the group
            gateway.sentinels.of(group.group_id).note_refusal()
            error = ErrorCode(answer.error_code)
            raise CannotAdopt(answer.error_message or f"its coordinator here says {error.name}")
        sentinel = gateway.sentinels.of(group.group_id)
        sentinel.begin_adoption(gateway.now_ms())
        taking = sentinel.taking = gateway.spawn(self._joined(sentinel, known, askers))
        done, _ = await asyncio.wait({taking}, timeout=OPENED_AFTER_S)
        if done:
            sentinel.taking = None
            await self._end(taking.result(), known, askers)
            return None
        if askers.parker is not None:
            finding = gateway.spawn(self._find_stand_in(sentinel, askers.parker, known))
            await asyncio.wait({finding}, timeout=STAND_IN_WITHIN_S)
        return gateway.spawn(self._end_late(taking, known, askers))

    async def _end(self, error: ErrorCode, known: _Known, askers: _Askers) -> None:
        """Do what follows from the cluster's answer. Raises CannotAdopt, UpstreamLost."""
        if is_refusal(error):
            await self._give_back(known, askers.asker)
        if error:
            raise _Refused(error)
        self._gateway.cluster_groups.adopted(known.group.group_id)
        log.info("group %s is kcoord's now: adopted in generation %d, members: %d", *known.told)

    async def _end_late(self, taking: asyncio.Task[ErrorCode], known: _Known, askers: _Askers) -> None:
        """The same when the cluster has answered, while the group's calls go on."""
        await asyncio.wait({taking})
        try:
            await self._end(taking.result(), known, askers)
        except (CannotAdopt, UpstreamLost, DecodeError) as reason:
            self._note_failure(known.group.group_id, reason)

    async def _give_back(self, known: _Known, asker: Asker) -> None:
        """Give the members back after the cluster has refused the sentinel. Raises UpstreamLost.

        Members that the cluster still has go on there. If a client got in at the last moment, the members were removed:
        they join the cluster again, as in a release (AD-10).
        """
        gateway, group_id = self._gateway, known.group.group_id
        group = await gateway.cluster_groups.look(asker, group_id)
        there = set() if group is None else {each.member_id for each in [*group.through, *group.direct]}
        theirs = [each for each in known.identities if each.member_id in there]
        if theirs:
            await gateway.guarded.give_up(group_id, theirs)
        if len(theirs) < len(known.identities):
            gateway.releases.send_back(group_id)

    @staticmethod
    async def _find_stand_in(sentinel: Sentinel, asker: Asker, known: _Known) -> None:
        """Commits go on while the sentinel's join waits, if the cluster says who it is there; else they wait too."""
        try:
            await sentinel.find_stand_in(asker, known.generation)
        except (UpstreamLost, DecodeError) as fault:
            log.debug("group %s: its commits wait for the adoption: %s", sentinel.group_id, fault)

    @staticmethod
    async def _joined(sentinel: Sentinel, known: _Known, askers: _Askers) -> ErrorCode:
        """Let the sentinel replace the members upstream. Returns NONE, or the error that the cluster answered.

        COORDINATOR_NOT_AVAILABLE: the connection was lost, so kcoord does not know who has the group. The next calls of
        the members find out.
        """
        joining = sentinel.adopt(askers.asker, askers.parker, known.identities, known.generation, known.group.as_joined)
        try:
            return await joining
        except (UpstreamLost, DecodeError) as fault:
            log.info("group %s: the way to the cluster was lost while it was adopted: %s", sentinel.group_id, fault)
            sentinel.note_broken_adoption()
            return ErrorCode.COORDINATOR_NOT_AVAILABLE

    # -- what is known ------------------------------------------------------------------------------------------------

    async def _known(self, group_id: str, asker: Asker | None) -> _Known:
        """What kcoord must know for the adoption. Raises CannotAdopt if something is missing, UpstreamLost."""
        gateway = self._gateway
        sentinel = gateway.sentinels.known(group_id)
        facts = await facts_of(gateway, group_id)
        if (sentinel is not None and sentinel.is_joined) or facts.has_members:
            raise CannotAdopt(HAS_MEMBERS)
        if sentinel is not None and sentinel.is_taking:
            raise CannotAdopt("kcoord is about to take it")
        if gateway.releases.is_open(group_id):
            raise CannotAdopt("it is being released")
        asker = asker or gateway.cluster_groups.asker(group_id) or gateway.own(gateway.coordinators.of(group_id))
        if asker is None:
            raise CannotAdopt("no member of it has come through this kcoord")
        group = await gateway.cluster_groups.look(asker, group_id)
        if group is None:
            raise CannotAdopt("it has no members at the cluster")
        return self._checked(group)

    def _checked(self, group: ClusterGroup) -> _Known:
        if group.direct:
            raise _NotComplete(group.told)
        if group.state != STABLE:
            raise CannotAdopt(f"it is {group.state or 'in no state that the cluster tells'}: it has to be Stable")
        if not group.protocol_type:
            raise CannotAdopt("it is not of the classic protocol")
        cluster_groups = self._gateway.cluster_groups
        sightings: dict[str, Sighting] = {}
        for each in group.through:
            seen = cluster_groups.sighting(group.group_id, each.member_id)
            if seen is None:
                raise CannotAdopt(f"{each.client_id} was not seen for a while")
            sightings[each.member_id] = seen
        generations = {seen.generation for seen in sightings.values()}
        if len(generations) != 1 or NOT_KNOWN in generations:
            raise CannotAdopt("not every member has sent a heartbeat since its last rebalance")
        [generation] = generations
        return _Known(group, generation, cluster_groups.leader(group.group_id, generation), sightings)

    # -- who asks the cluster -----------------------------------------------------------------------------------------

    @staticmethod
    def _sessions(known: _Known) -> list[ClientSession]:
        found = [seen.session() for seen in known.sightings.values()]
        return [session for session in dict.fromkeys(found) if session is not None and session.may_ask]

    def _askers(self, sessions: Sequence[ClientSession]) -> _Askers:
        """The connections to ask over. Raises CannotAdopt if no member is connected."""
        if not sessions:
            raise CannotAdopt("no member's connection to the cluster is there")
        if self._gateway.settings.uses_sasl:
            return _Askers(sessions[0], sessions[1] if len(sessions) > 1 else None, ())
        at = sessions[0].broker_id
        asker, parker = ServiceConnection(self._gateway, at), ServiceConnection(self._gateway, at)
        return _Askers(asker, parker, (asker, parker))
