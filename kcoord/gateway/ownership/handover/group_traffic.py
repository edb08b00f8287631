"""Group traffic: the calls of the cluster's groups, counted while they pass, and held while kcoord adopts such a group.

Adoption removes a group's members upstream. A commit that arrives there in between would fail, and so would one that is
still under way (AD-7, AD-9). So before the removal new calls of the group wait here, and kcoord waits for the calls
that have begun: those that a handler works on, and those that the cluster has yet to answer.
"""

from __future__ import annotations

import asyncio
import struct
from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING

from kcoord.gateway.session.group_id_peek import ONE_GROUP, peek_group
from kcoord.gateway.session.upstream import Deliver, Expected
from kcoord.protocol.undecoded_call import Call

if TYPE_CHECKING:
    from kcoord.gateway.session.client_session import ClientSession

__all__ = ["GroupTraffic"]

_SIZE = struct.Struct(">i")


class GroupTraffic:
    """The calls of all groups that kcoord may take, or still has members of (`Gateway.owns`)."""

    def __init__(self, owns: Callable[[str], bool]) -> None:
        self._owns = owns
        self._handled: Counter[str] = Counter()
        """How many calls a handler works on, by group."""
        self._passing: dict[str, Counter[ClientSession]] = {}
        """How many calls the cluster has yet to answer, by group and connection."""
        self._holds: dict[str, asyncio.Future[None]] = {}
        """Groups whose calls wait; the future is done when the calls go on."""
        self._drained: dict[str, asyncio.Future[None]] = {}
        """By group: a future that is done when no call of the group is under way."""

    # -- calls --------------------------------------------------------------------------------------------------------

    async def enter(self, group_id: str) -> bool:
        """Wait until the group is not held, then count a call that a handler takes up. Returns whether it waited."""
        waits = group_id in self._holds
        while (hold := self._holds.get(group_id)) is not None:
            await asyncio.shield(hold)
        self._handled[group_id] += 1
        return waits

    def leave(self, group_id: str) -> None:
        """The handler has finished a call: it is answered, or passed on."""
        self._handled[group_id] -= 1
        if not self._handled[group_id]:
            del self._handled[group_id]
            self._look(group_id)

    def passing(self, session: ClientSession, call: Call, deliver: Deliver | None) -> Deliver | None:
        """Count a call that is passed on. Returns the function that takes the cluster's answer.

        That function gives the answer to `deliver`, or to the client if `deliver` is None. kcoord does not count a call
        of any other group, and returns `deliver`.
        """
        if call.header.api_key not in ONE_GROUP:
            return deliver
        group_id = peek_group(call)
        if not self._owns(group_id):
            return deliver
        self._passing.setdefault(group_id, Counter())[session] += 1

        def delivered(owed: Expected, frame: bytes) -> None:
            self._answered(group_id, session)
            if deliver is None:
                session.to_client(_SIZE.pack(len(frame)) + frame)
            else:
                deliver(owed, frame)

        return delivered

    def lost(self, session: ClientSession) -> None:
        """The session's connection to the cluster has ended: the answers that it owes will not come."""
        for group_id in [group_id for group_id, sessions in self._passing.items() if session in sessions]:
            self._passing[group_id][session] = 1
            self._answered(group_id, session)

    def _answered(self, group_id: str, session: ClientSession) -> None:
        sessions = self._passing.get(group_id)
        if sessions is None or session not in sessions:
            return
        sessions[session] -= 1
        if not sessions[session]:
            del sessions[session]
        if not sessions:
            del self._passing[group_id]
            self._look(group_id)

    # -- holding ------------------------------------------------------------------------------------------------------

    async def hold(self, group_id: str, patience_s: float) -> bool:
        """Let the group's calls wait from now on, until `go_on`.

        False: calls that are under way take longer than `patience_s`, in seconds, or the group is held already. This
        call then holds nothing.
        """
        if group_id in self._holds:
            return False
        loop = asyncio.get_running_loop()
        self._holds[group_id] = loop.create_future()
        if self._is_quiet(group_id):
            return True
        drained = self._drained[group_id] = loop.create_future()
        try:
            await asyncio.wait_for(drained, patience_s)
        except TimeoutError:
            self.go_on(group_id)
            return False
        except asyncio.CancelledError:
            self.go_on(group_id)
            raise
        finally:
            del self._drained[group_id]
        return True

    def go_on(self, group_id: str) -> None:
        """Let the group's calls go on, those that wait included."""
        self._holds.pop(group_id).set_result(None)

    def _is_quiet(self, group_id: str) -> bool:
        return group_id not in self._handled and group_id not in self._passing

    def _look(self, group_id: str) -> None:
        drained = self._drained.get(group_id)
        if drained is not None and not drained.done() and self._is_quiet(group_id):
            drained.set_result(None)
