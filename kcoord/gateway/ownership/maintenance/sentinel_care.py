"""All sentinels of this process: which groups are taken, and the regular care of their sentinels.

Appearance: once a generation is stable, its sentinel gets the topics of that generation's members. It has the group's
protocol type, or that of release 0.1.0 while an instance of that release shares the groups (AD-4, AD-5). A change of
topics takes a join; a change of type takes a leave and a join.

Heartbeats go out well within the session, and a LeaveGroup (the farewell) when a group has had no members here for a
while (GW-13). Both go over the connection of a member whose client has proved that it may read the group; the one that
proved it first comes first. If upstream refuses one, or it ends, the next takes over at once; if there is no other,
kcoord tries again soon. When no member's connection is left, kcoord uses a connection of its own, if upstream lets it
in without credentials. With SASL kcoord keeps the last member's connection for the farewell after its client has gone.
A sentinel that nobody can speak for ends with its session.

The group's coordinator, which may be another instance, says whether the group has members. kcoord asks it about all
groups at once, not too often, and about a single group again before a farewell. An instance that dies leaves sentinels
behind: the instance that coordinates those groups says the farewell for it (`inherit`).
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Awaitable, Callable, Iterable, Iterator
from functools import partial
from typing import Protocol

from kcoord.gateway.interfaces import Places
from kcoord.gateway.ownership.access.group_ownership import OwnershipContext, facts_of
from kcoord.gateway.ownership.access.guarded_groups import GuardedGroups
from kcoord.gateway.ownership.access.outage import find
from kcoord.gateway.ownership.access.rights import Rights
from kcoord.gateway.ownership.maintenance.group_appearances import GroupAppearances
from kcoord.gateway.ownership.sentinel.appearance import CONSUMER, OF_0_1_0, KnownAppearance
from kcoord.gateway.ownership.sentinel.sentinel import Sentinel
from kcoord.gateway.ownership.sentinel.shared_sentinel import SharedSentinel
from kcoord.gateway.ownership.sentinel.state import SessionLimit
from kcoord.gateway.ownership.sentinel.upstream_errors import PASSING
from kcoord.gateway.session.client_session import ClientSession
from kcoord.gateway.session.connection_context import ConnectionContext, Spawner
from kcoord.gateway.session.service_connection import ReleaseConnection, ServiceConnection
from kcoord.gateway.session.upstream import Asker, UpstreamLost
from kcoord.gateway.topology.coordinators import Coordinators
from kcoord.group.group_facts import UNKNOWN, GroupFacts
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.describe_groups_response import DescribedGroup
from kcoord.protocol.primitives import DecodeError

__all__ = ["Sentinels"]

log = logging.getLogger("kcoord.gateway")

LAST_FAREWELLS_S = 1.0
"""How long a stop of this process waits for them, in seconds."""
FAREWELLS_AT_ONCE = 100
"""How many groups that a predecessor may have left behind kcoord gives back in one round."""
CHANGES_AT_ONCE, CHANGES_A_ROUND = 50, 200
"""How many sentinels change their appearance at the same time, and how many begin to in one round of care. After a
restart all of them are looked at, and their members' calls come first.
"""
ASKED_EVERY_MS = 5_000
"""How often, in ms, kcoord asks other instances about the groups whose sentinels are here."""


class ReleasesUnderWay(Protocol):
    """The groups that go back to the cluster now."""

    def is_under_way(self, group_id: str, /) -> bool: ...
    def tend(self, sentinel: Sentinel, facts: GroupFacts, /) -> None: ...


class SentinelsContext(OwnershipContext, ConnectionContext, Spawner, Protocol):
    """What the sentinels need from the gateway."""

    appearances: GroupAppearances
    coordinators: Coordinators
    guarded: GuardedGroups
    places: Places | None
    rights: Rights

    @property
    def releases(self) -> ReleasesUnderWay: ...
    def own(self, broker_id: int | None) -> ServiceConnection | None: ...
    def member_sessions(self, group_id: str) -> list[ClientSession]: ...
    def flush_held_reply(self, session: ClientSession) -> None: ...


class Sentinels:
    """All sentinels of this process."""

    def __init__(self, gateway: SentinelsContext) -> None:
        self._gateway = gateway
        self._session = SessionLimit(gateway.settings.sentinel_session_timeout_ms)
        self._kind = Sentinel if gateway.places is None else SharedSentinel
        self._all: dict[str, Sentinel] = {}
        self._asked_ms = 0
        self._is_tending = False
        self._changing: set[str] = set()
        self._changes = asyncio.Semaphore(CHANGES_AT_ONCE)
        self._was_of_0_1_0 = False

    def of(self, group_id: str) -> Sentinel:
        """The group's sentinel, joined or not."""
        found = self._all.get(group_id)
        if found is None:
            gateway, members_of = self._gateway, self._gateway.guarded.member_ids
            found = self._kind(
                group_id, self._session, gateway.appearances, self._forget_answers, members_of, self._apart
            )
            self._all[group_id] = found
        return found

    def _forget_answers(self, group_id: str) -> None:
        """The group is the cluster's, or may be: kcoord repeats no remembered answer to a client."""
        for session in self._gateway.member_sessions(group_id):
            session.client.forget_answers()

    def known(self, group_id: str) -> Sentinel | None:
        return self._all.get(group_id)

    def recognise(self, session: ClientSession, described: DescribedGroup) -> None:
        """The cluster has described the group to a client: does it show the sentinel of a predecessor of this process?

        A group without members here is not concerned: its sentinel may be about to leave.
        """
        group_id = described.group_id
        if self._gateway.owns(group_id) and self._gateway.groups.known_facts(group_id).has_members:
            self.of(group_id).recognise(session, described)

    def inherit(self, group_ids: Iterable[str]) -> None:
        """The earlier holder of these groups' sentinels may have died before its farewell: take care of them."""
        for group_id in group_ids:
            sentinel = self.of(group_id)
            sentinel.inherited = sentinel.inherited or not sentinel.is_joined

    def carry(self, sentinel: Sentinel, session: ClientSession) -> None:
        """From now on `session` can speak for the sentinel."""
        for gone in [each for each in sentinel.carriers if isinstance(each, ClientSession) and each.gone]:
            self._gateway.flush_held_reply(gone)
        sentinel.carriers[session] = None

    def drop(self, session: ClientSession, group_id: str | None = None) -> None:
        """`session` can no longer speak for that group; without `group_id`, for any group."""
        for each in list(session.members or ()) if group_id is None else (group_id,):
            sentinel = self._all.get(each)
            if sentinel is not None:
                sentinel.carriers.pop(session, None)

    def is_last_carrier(self, session: ClientSession) -> bool:
        """Whether some joined sentinel would have nobody to speak for it without `session`."""
        if not self._gateway.settings.uses_sasl:
            return False
        return any(
            sentinel.is_joined and list(sentinel.carriers) == [session]
            for group_id in session.members or ()
            if (sentinel := self._all.get(group_id)) is not None
        )

    def speakers(self, sentinel: Sentinel) -> Iterator[Asker]:
        """The connections that can speak for the sentinel now, the best first.

        A broker answers the requests of a connection in turn, so connections without a request under way come first.
        """
        carriers = [each for each in sentinel.carriers if isinstance(each, ClientSession) and each.may_ask]
        own = self._own(sentinel)
        yield from (each for each in carriers if not each.in_flight)
        if own is not None:
            yield own
        yield from (each for each in carriers if each.in_flight)

    def _own(self, sentinel: Sentinel) -> Asker | None:
        """kcoord's own connection to the group's coordinator; None if upstream asks for credentials."""
        return self._gateway.own(self._coordinator(sentinel))

    def _coordinator(self, sentinel: Sentinel) -> int | None:
        """The broker that coordinates the group, as far as kcoord knows."""
        broker_id = self._gateway.coordinators.of(sentinel.group_id)
        return sentinel.broker_id if broker_id is None else broker_id

    async def speak(
        self, sentinel: Sentinel, say: Callable[[Asker], Awaitable[ErrorCode]], at_last: Asker | None = None
    ) -> ErrorCode:
        """The result of `say` over the first connection that upstream allows it on. Raises UpstreamLost if none works.

        `at_last` is tried when all others are refused.
        """
        error: ErrorCode | None = None
        lost = UpstreamLost(f"nobody can speak for the sentinel of group {sentinel.group_id}")
        speakers = list(self.speakers(sentinel))
        for speaker in [*speakers, *([at_last] if at_last is not None and at_last not in speakers else ())]:
            try:
                error = await say(speaker)
            except (UpstreamLost, DecodeError) as fault:
                log.debug("group %s: one that speaks for the sentinel is lost: %s", sentinel.group_id, fault)
                continue
            if error != ErrorCode.GROUP_AUTHORIZATION_FAILED:
                return error
            if isinstance(speaker, ClientSession):
                self._gateway.rights.refused(speaker, sentinel.group_id)
                self._gateway.flush_held_reply(speaker)
        if error is None:
            raise lost
        return error

    async def speak_freely(self, sentinel: Sentinel, say: Callable[[Asker], Awaitable[ErrorCode]]) -> ErrorCode:
        """As `speak`, but over kcoord's own connection if upstream lets it in: members' connections may be waiting.
        Raises UpstreamLost.
        """
        own = self._own(sentinel)
        return await self.speak(sentinel, say) if own is None else await say(own)

    def _apart(self, group_id: str) -> ReleaseConnection | None:
        """A new connection to the group's coordinator; None if upstream asks for credentials."""
        uses_sasl = self._gateway.settings.uses_sasl
        return None if uses_sasl else ReleaseConnection(self._gateway, self._coordinator(self.of(group_id)))

    async def tend(self) -> None:
        """Take care of all sentinels; called about once a second."""
        now_ms = self._gateway.now_ms()
        before, self._was_of_0_1_0 = self._was_of_0_1_0, self._gateway.appearances.is_of_0_1_0
        is_early = self._kind.IS_SHARED and now_ms - self._asked_ms < ASKED_EVERY_MS and before == self._was_of_0_1_0
        if self._is_tending or is_early or not self._all:
            return
        self._is_tending, self._asked_ms = True, now_ms
        try:
            facts = await self._gateway.groups.facts(list(self._all))
        finally:
            self._is_tending = False
        for group_id, sentinel in list(self._all.items()):
            self._gateway.releases.tend(sentinel, facts.get(group_id, UNKNOWN))
        for sentinel in self._due(now_ms, facts):
            self._gateway.spawn(self._leave(sentinel) if sentinel.empty_since_ms is not None else self._beat(sentinel))
        may_change = [
            (sentinel, _shown_at(known))
            for group_id, sentinel in self._all.items()
            if (known := facts.get(group_id, UNKNOWN)).has_members and self._may_change(sentinel, _shown_at(known))
        ]
        # at random, so that groups in which it fails again and again keep no others waiting
        for sentinel, generation in random.sample(may_change, min(len(may_change), CHANGES_A_ROUND)):
            self._changing.add(sentinel.group_id)
            self._gateway.spawn(self._change_appearance(sentinel, generation))

    def _due(self, now_ms: int, facts: dict[str, GroupFacts]) -> Iterable[Sentinel]:
        forgotten = []
        heirs_left = FAREWELLS_AT_ONCE
        for group_id, sentinel in list(self._all.items()):
            known = facts.get(group_id, UNKNOWN)
            if self._is_busy(sentinel) or not known.loaded:
                continue
            if not sentinel.is_joined and not sentinel.inherited:
                if not sentinel.carriers and not (sentinel.refused and known.has_members):
                    forgotten.append(group_id)
                elif known.has_members and not sentinel.refused and sentinel.is_due(now_ms):
                    sentinel.empty_since_ms = None
                    yield sentinel  # it was removed, and kcoord could not bring it back yet
            elif known.has_members:
                sentinel.empty_since_ms = None
                if (sentinel.is_joined or sentinel.carriers) and not sentinel.refused and sentinel.is_due(now_ms):
                    yield sentinel
            elif sentinel.empty_since_ms is None:
                sentinel.empty_since_ms = now_ms
            elif now_ms - sentinel.empty_since_ms >= self._gateway.settings.sentinel_grace_ms:
                heirs_left -= sentinel.inherited
                if heirs_left >= 0:
                    yield sentinel
        for group_id in forgotten:
            del self._all[group_id]

    def _is_busy(self, sentinel: Sentinel) -> bool:
        """Whether other code works on it now, so that the regular care begins nothing meanwhile."""
        return sentinel.lock.locked() or sentinel.is_taking or self._gateway.releases.is_under_way(sentinel.group_id)

    def _may_change(self, sentinel: Sentinel, generation: int) -> bool:
        """Whether its appearance may have to change for that generation, and now is the time to find out."""
        if self._is_busy(sentinel) or sentinel.group_id in self._changing or not sentinel.is_joined:
            return False
        if sentinel.is_of_type(OF_0_1_0.protocol_type) or self._was_of_0_1_0:
            return sentinel.is_of_type(OF_0_1_0.protocol_type) != self._was_of_0_1_0
        return (
            sentinel.appearance_for != generation if sentinel.is_of_type(CONSUMER) else sentinel.appearance_for is None
        )

    async def _change_appearance(self, sentinel: Sentinel, generation: int) -> None:
        """Give it the appearance of that generation. If that fails now, the next round tries again."""
        told: KnownAppearance | None = None

        async def change(asker: Asker) -> ErrorCode:
            nonlocal told
            told = await self._gateway.appearances.of(sentinel.group_id, asker)
            return ErrorCode.NONE if told is None else await sentinel.change_appearance(asker, told, generation)

        try:
            async with self._changes:
                error = await self.speak(sentinel, change)
            if error:
                log.info("group %s upstream: the sentinel's new topics got %s", sentinel.group_id, error.name)
            elif told is not None and sentinel.is_joined and not sentinel.is_of_type(told.appearance.protocol_type):
                sentinel.taking = self._gateway.spawn(self._come_as_another(sentinel, told))
        except (UpstreamLost, DecodeError) as fault:
            log.debug("the sentinel of group %s keeps its topics: %s", sentinel.group_id, fault)
        finally:
            self._changing.discard(sentinel.group_id)

    async def _come_as_another(self, sentinel: Sentinel, told: KnownAppearance) -> ErrorCode:
        """Leave and join with another protocol type; commits wait meanwhile. This counts as taking the group."""

        async def always() -> bool:
            return True

        try:
            error = await self.speak(sentinel, lambda asker: sentinel.make_way(asker, always))
            if error:
                return error
            sentinel.appearance = told.appearance
            return await self.speak(sentinel, partial(self._come_back, sentinel))
        except (UpstreamLost, DecodeError) as fault:
            log.debug("the sentinel of group %s cannot come back yet: %s", sentinel.group_id, fault)
            return ErrorCode.COORDINATOR_NOT_AVAILABLE

    async def _beat(self, sentinel: Sentinel) -> None:
        """Send a heartbeat, and join again if upstream no longer knows the sentinel.

        If no connection works, the heartbeat is due again in the next round; after another error, well before the
        session ends.
        """
        try:
            error = await self.speak(sentinel, sentinel.beat)
            if not sentinel.is_joined:
                error = await self.speak(sentinel, partial(self._come_back, sentinel))
        except UpstreamLost as fault:
            log.debug("no sign of life for group %s: %s", sentinel.group_id, fault)
            return
        sentinel.heard(error, self._gateway.now_ms())
        if error != ErrorCode.NONE:
            log.info("group %s upstream: the sentinel's heartbeat got %s", sentinel.group_id, error.name)

    async def _come_back(self, sentinel: Sentinel, asker: Asker) -> ErrorCode:
        """Join the group again if it has members. Raises UpstreamLost."""
        facts = await facts_of(self._gateway, sentinel.group_id)
        return await sentinel.keep(asker, facts.generation or 0) if facts.has_members else ErrorCode.NONE

    def steps_aside(self, group_id: str, session: ClientSession) -> bool:
        """Whether upstream may have refused a JoinGroup that `session` passed on because of the sentinel.

        If so, the sentinel leaves if it is there, and the refused client shall try again.
        """
        if not self.may_be_there(group_id):
            return False
        self._gateway.spawn(self._step_aside(self.of(group_id), session))
        return True

    def may_be_there(self, group_id: str) -> bool:
        """Whether the sentinel may be in the group upstream, or on its way into it."""
        sentinel = self.of(group_id)
        return not sentinel.refused or sentinel.inherited or sentinel.lock.locked()

    async def _step_aside(self, sentinel: Sentinel, session: ClientSession) -> None:
        try:
            facts = await facts_of(self._gateway, sentinel.group_id)
            await self.speak(sentinel, sentinel.look, session)
            if (sentinel.inherited or not sentinel.refused) and not facts.has_members:
                await self._leave(sentinel, session)
        except (UpstreamLost, DecodeError) as fault:
            log.debug("the sentinel of group %s cannot step aside yet: %s", sentinel.group_id, fault)

    async def leave_empty_groups(self) -> None:
        """Before a stop: leave the groups that have no members here, without the usual grace. Otherwise nobody could
        join them at the brokers before the sentinel's session ends. Other instances, if there are any, see to it later.
        """
        if self._kind.IS_SHARED or not self._all:
            return
        facts = await self._gateway.groups.facts(list(self._all))
        empty = [
            sentinel
            for group_id, sentinel in self._all.items()
            if sentinel.is_joined and (known := facts.get(group_id, UNKNOWN)).loaded and not known.has_members
        ]
        leaving = [self._gateway.spawn(self._leave(each)) for each in empty if not self._is_busy(each)]
        if leaving:
            await asyncio.wait(leaving, timeout=LAST_FAREWELLS_S)

    async def give_back(self, sentinel: Sentinel) -> None:
        """Leave at once if the group has no members here: kcoord refused its first member."""
        if sentinel.taking is not None:
            await asyncio.wait({sentinel.taking})
        try:
            facts = await facts_of(self._gateway, sentinel.group_id)
        except UpstreamLost:
            return  # the next look does it
        if sentinel.is_joined and not facts.has_members:
            await self._leave(sentinel)

    async def _leave(self, sentinel: Sentinel, at_last: Asker | None = None) -> None:
        """Leave if the group is still empty. `at_last` speaks for the sentinel if nobody else can."""
        group_id = sentinel.group_id
        was_joined = sentinel.is_joined
        if next(self.speakers(sentinel), at_last) is None:
            sentinel.inherited = False  # no connection can speak for it: it ends with its session upstream
            return

        async def is_empty() -> bool:
            return not (await facts_of(self._gateway, group_id)).has_members

        try:
            error = await self.speak(sentinel, lambda asker: sentinel.leave(asker, is_empty), at_last)
            if error == ErrorCode.NOT_COORDINATOR:
                asker = next(self.speakers(sentinel), at_last)
                for found, node_id in (await find(asker, [group_id])).items() if asker is not None else ():
                    self._gateway.coordinators.learn(found, node_id)
            elif error == ErrorCode.NONE and was_joined:  # a member may have joined while the farewell was under way
                await self.speak(sentinel, partial(self._come_back, sentinel))
        except (UpstreamLost, DecodeError) as fault:
            log.debug("no farewell to group %s: %s", group_id, fault)
            return
        if error in PASSING or error == ErrorCode.NON_EMPTY_GROUP or sentinel.is_joined:
            return
        if error != ErrorCode.NONE:
            log.warning("group %s upstream: the sentinel could not leave: %s", group_id, error.name)
            sentinel.inherited = False
            return
        if was_joined:
            log.info("group %s has no members here: given back to upstream", group_id)
        for carrier in list(sentinel.carriers):
            del sentinel.carriers[carrier]
            if isinstance(carrier, ClientSession):
                self._gateway.flush_held_reply(carrier)


def _shown_at(known: GroupFacts) -> int:
    """The generation, or the group epoch of a consumer group, for which the sentinel is to have its appearance."""
    return (known.generation if known.consumer_epoch is None else known.consumer_epoch) or 0
