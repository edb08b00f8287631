"""Which groups are taken, and what do their sentinels need from time to time?

Signs of life well within the session, and a farewell when a group has had no members here for a while (gateway rule
13). Both go over a member's connection; where none is left, over one of kcoord's own if upstream lets it in without
credentials. With SASL the last member's connection is kept for the farewell after its client has gone; a sentinel that
nobody can speak for ends with its session.

Whether a group has members its coordinator says, who may be another instance: it is asked about all groups at once,
not too often, and about a single group again before a farewell. An instance that dies leaves sentinels behind: who
coordinates those groups says the farewell for it (`inherit`).
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import TYPE_CHECKING

from kcoord.gateway.here import facts_of
from kcoord.gateway.leg import Leg
from kcoord.gateway.outage import find
from kcoord.gateway.sentinel import PASSING, Sentinel, SessionLimit
from kcoord.gateway.shared_sentinel import SharedSentinel
from kcoord.gateway.upstream import Asker, UpstreamLost
from kcoord.group.facts import UNKNOWN, GroupFacts
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.primitives import DecodeError

if TYPE_CHECKING:
    from kcoord.gateway.gateway import Gateway

__all__ = ["Sentinels"]

log = logging.getLogger("kcoord.gateway")

FAREWELLS_AT_ONCE = 100
"""How many groups are given back in one round that a predecessor may have left behind."""
ASKED_EVERY_MS = 5_000
"""How often other instances are asked about the groups whose sentinels are here."""


class Sentinels:
    """All sentinels of this process."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway
        self._session = SessionLimit(gateway.settings.sentinel_session_timeout_ms)
        self._kind = Sentinel if gateway.places is None else SharedSentinel
        self._all: dict[str, Sentinel] = {}
        self._asked_ms = 0
        self._is_tending = False

    def of(self, group_id: str) -> Sentinel:
        """The group's sentinel, joined or not."""
        found = self._all.get(group_id)
        if found is None:
            found = self._all[group_id] = self._kind(group_id, self._session)
        return found

    def known(self, group_id: str) -> Sentinel | None:
        return self._all.get(group_id)

    def inherit(self, group_ids: Iterable[str]) -> None:
        """Whoever had the sentinels of these groups before may have died before its farewell."""
        for group_id in group_ids:
            sentinel = self.of(group_id)
            sentinel.inherited = sentinel.inherited or not sentinel.is_joined

    def carry(self, sentinel: Sentinel, leg: Leg) -> None:
        """`leg` can speak for the sentinel from now on."""
        for gone in [each for each in sentinel.carriers if isinstance(each, Leg) and each.gone]:
            self._gateway.let_go(gone)
        sentinel.carriers[leg] = None

    def drop(self, leg: Leg) -> None:
        """`leg` can speak for nobody any more."""
        for group_id in leg.members or ():
            sentinel = self._all.get(group_id)
            if sentinel is not None:
                sentinel.carriers.pop(leg, None)

    def is_last_carrier(self, leg: Leg) -> bool:
        """Whether a sentinel is in its group that nobody could speak for without `leg`."""
        if not self._gateway.settings.uses_sasl:
            return False
        return any(
            sentinel.is_joined and all(other is leg for other in sentinel.carriers)
            for group_id in leg.members or ()
            if (sentinel := self._all.get(group_id)) is not None
        )

    def asker(self, sentinel: Sentinel) -> Asker | None:
        """Who can speak for the sentinel now."""
        for carrier in reversed(sentinel.carriers):
            if isinstance(carrier, Leg) and carrier.may_ask:
                return carrier
        broker_id = self._gateway.coordinators.of(sentinel.group_id)
        return self._gateway.own(sentinel.broker_id if broker_id is None else broker_id)

    async def tend(self) -> None:
        """Look after all sentinels; called about once a second."""
        now_ms = self._gateway.now_ms()
        is_early = self._kind.IS_SHARED and now_ms - self._asked_ms < ASKED_EVERY_MS
        if self._is_tending or is_early or not self._all:
            return
        self._is_tending, self._asked_ms = True, now_ms
        try:
            facts = await self._gateway.groups.facts(list(self._all))
        finally:
            self._is_tending = False
        for sentinel in self._due(now_ms, facts):
            self._gateway.spawn(self._leave(sentinel) if sentinel.empty_since_ms is not None else self._beat(sentinel))

    def _due(self, now_ms: int, facts: dict[str, GroupFacts]) -> Iterable[Sentinel]:
        forgotten = []
        heirs_left = FAREWELLS_AT_ONCE
        for group_id, sentinel in list(self._all.items()):
            known = facts.get(group_id, UNKNOWN)
            if sentinel.lock.locked() or sentinel.is_taking or not known.loaded:
                continue
            if not sentinel.is_joined and not sentinel.inherited:
                if not sentinel.carriers and not (sentinel.refused and known.has_members):
                    forgotten.append(group_id)
            elif known.has_members:
                sentinel.empty_since_ms = None
                if sentinel.is_joined and now_ms - sentinel.beat_ms >= sentinel.beat_interval_ms:
                    sentinel.beat_ms = now_ms
                    yield sentinel
            elif sentinel.empty_since_ms is None:
                sentinel.empty_since_ms = now_ms
            elif now_ms - sentinel.empty_since_ms >= self._gateway.settings.sentinel_grace_ms:
                heirs_left -= sentinel.inherited
                if heirs_left >= 0:
                    yield sentinel
        for group_id in forgotten:
            del self._all[group_id]

    async def _beat(self, sentinel: Sentinel) -> None:
        asker = self.asker(sentinel)
        if asker is None:
            return
        try:
            error = await sentinel.beat(asker)
            if not sentinel.is_joined:
                await self._come_back(sentinel, asker)
        except (UpstreamLost, DecodeError) as fault:
            log.debug("no sign of life for group %s: %s", sentinel.group_id, fault)
        else:
            if error != ErrorCode.NONE:
                log.info("group %s upstream: the sentinel's heartbeat got %s", sentinel.group_id, error.name)

    async def _come_back(self, sentinel: Sentinel, asker: Asker) -> None:
        """Be in the group, if it has members. Raises UpstreamLost."""
        facts = await facts_of(self._gateway, sentinel.group_id)
        if facts.has_members:
            await sentinel.keep(asker, facts.generation or 0)

    async def _leave(self, sentinel: Sentinel) -> None:
        group_id = sentinel.group_id
        was_joined = sentinel.is_joined
        asker = self.asker(sentinel)
        if asker is None:
            sentinel.inherited = False  # nobody can speak for it: it ends with its session upstream
            return

        async def is_empty() -> bool:
            return not (await facts_of(self._gateway, group_id)).has_members

        try:
            error = await sentinel.leave(asker, is_empty)
            if error == ErrorCode.NOT_COORDINATOR:
                for found, node_id in (await find(asker, [group_id])).items():
                    self._gateway.coordinators.learn(found, node_id)
            elif error == ErrorCode.NONE and was_joined:
                await self._come_back(sentinel, asker)  # somebody may have joined while the farewell was under way
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
            if isinstance(carrier, Leg):
                self._gateway.let_go(carrier)
