"""Member sessions: the client connections that carry members of groups, and the regular question of their rights.

kcoord asks the broker for the rights of each such connection in time, so the broker does not cut it as idle (GW-6), and
a client that may not go on is sent away.
"""

from __future__ import annotations

import logging
import random
from typing import TYPE_CHECKING, Protocol

from kcoord.gateway.ownership.access.rights import READ, Rights
from kcoord.gateway.session.authorization import Authorization
from kcoord.gateway.session.connection_context import ConnectionContext, Spawner
from kcoord.gateway.session.upstream import UpstreamLost
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.primitives import DecodeError

if TYPE_CHECKING:
    from kcoord.gateway.session.client_session import ClientSession

__all__ = ["MemberSessions"]

log = logging.getLogger("kcoord.gateway")

SOONEST_QUESTION, LATEST_QUESTION = 0.6, 0.95
"""kcoord asks about rights at a random moment between these parts of the interval, so that it has the answer before the
interval is over.
"""
NOT_HERE = frozenset({ErrorCode.NOT_COORDINATOR, ErrorCode.GROUP_AUTHORIZATION_FAILED})
"""Errors to the question of rights after which a member must connect elsewhere, or may not go on."""


class MemberSessionsContext(ConnectionContext, Spawner, Protocol):
    """What `MemberSessions` needs from the gateway."""

    rights: Rights

    def pause_members(self, session: ClientSession) -> None: ...


class MemberSessions:
    """The connections of one gateway that carry members."""

    def __init__(self, gateway: MemberSessionsContext) -> None:
        self._gateway = gateway
        self._all: dict[ClientSession, None] = {}  # in their order, so that a simulated run can be repeated

    def add(self, session: ClientSession) -> None:
        """From now on `session` carries a member."""
        if session not in self._all:
            self._all[session] = None
            session.question_due_ms = self._next_question_ms()

    def discard(self, session: ClientSession) -> None:
        """The connection has ended."""
        self._all.pop(session, None)

    def of(self, group_id: str) -> list[ClientSession]:
        """The connections of members of that group."""
        return [session for session in self._all if session.members is not None and group_id in session.members]

    def tend(self, now_ms: int) -> None:
        """Begin to ask for the rights of the connections for which it is time; called about once a second."""
        for session in [session for session in self._all if session.question_due_ms <= now_ms and session.may_ask]:
            session.question_due_ms = self._next_question_ms()
            self._gateway.spawn(self._question(session))

    async def _question(self, session: ClientSession) -> None:
        """Ask for the rights of a member's connection, so that it is not idle. Close it if the client may not go on."""
        for group_id in list(session.members or ()):
            try:
                found = await self._gateway.rights.ask(session, group_id)
            except (UpstreamLost, DecodeError) as lost:
                log.debug("no answer to the question of rights: %s", lost)
                return
            may_go_on = found.allows(READ) if isinstance(found, Authorization) else found not in NOT_HERE
            if not may_go_on and not session.gone:
                self._gateway.pause_members(session)
                session.client.end()
                return

    def _next_question_ms(self) -> int:
        interval_ms = self._gateway.settings.question_interval_ms
        return self._gateway.now_ms() + int(interval_ms * random.uniform(SOONEST_QUESTION, LATEST_QUESTION))
