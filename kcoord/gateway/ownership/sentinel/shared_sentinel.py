"""The shared sentinel: one member upstream for several instances, which do not fence each other at each commit.

Members of one group may be connected to several instances, because old connections stay when the map changes. All
instances commit in the name of the same static member upstream. So they read its state where all can read it: in the
group itself. DescribeGroups tells the member's id, the mark in its metadata, and the upstream generation, which the
sentinel assigns to itself (`appearance.py` reads both). Rules (GW-12, GW-20), beside those of `sentinel.py`:

1. **Seen is as good as joined.** An instance that finds the sentinel upstream with the mark that it needs acts as this
   sentinel.
2. **A new mark is a new member.** An instance that needs another mark joins without a member id. This takes the static
   member over, and fences all instances that act as the earlier one, with everything that they still have in flight. So
   a farewell that was decided when the group was empty cannot remove a sentinel that has come since.
3. **kcoord tells nobody of a generation without a fresh look.** Before a JoinGroup answer leaves, the instance looks
   for the mark upstream. The look must begin after the group's step was made, because another instance may have said
   farewell, or deleted the group, since this one looked last. All calls that wait share one look.
4. **First the name, then the check, then the commit** (`offsets.py`). If the name was read before a newer generation
   began, that generation's mark fences it, and the mark is there before anybody hears of the generation. If the name
   was read later, the check that follows fails. A commit never takes the sentinel over from a newer mark: an owner that
   was overtaken may not know of that generation for as long as its lease lasts.
5. An instance never makes a mark in advance, because a farewell may be under way while a group is empty.
6. If another instance is joining, this one waits until that is done.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from kcoord.gateway.ownership.sentinel import joins
from kcoord.gateway.ownership.sentinel.appearance import Appearance, KnownAppearance
from kcoord.gateway.ownership.sentinel.described_groups import Seen, described_group, seen_sentinel
from kcoord.gateway.ownership.sentinel.sentinel import Current, MayGo, Sentinel
from kcoord.gateway.ownership.sentinel.state import (
    Apart,
    AppearanceSource,
    MembersOf,
    SessionLimit,
    no_connection,
    nobody,
)
from kcoord.gateway.ownership.sentinel.upstream_errors import LOST, PASSING
from kcoord.gateway.session.upstream import Asker, error_of
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.messages import DescribeGroupsRequest, DescribeGroupsResponse

__all__ = ["SharedSentinel"]

log = logging.getLogger("kcoord.gateway")

WITH_INSTANCE, HIGHEST = 4, 5
"""Versions of DescribeGroups that tell group instance ids, and that do not answer a missing group with an error."""
LOOK_AGAIN_S = 0.05
LOOKS = 200
"""How many times kcoord looks, with a pause of `LOOK_AGAIN_S` seconds between. In all this takes longer than an empty
group usually waits for more members upstream (`group.initial.rebalance.delay.ms`).
"""


class SharedSentinel(Sentinel):
    """kcoord's member in one group upstream, as one of several instances uses it."""

    IS_SHARED = True
    OVERTAKEN = LOST | {ErrorCode.REBALANCE_IN_PROGRESS}
    __slots__ = ("_arrived", "_looked", "_looked_mark")

    def __init__(
        self,
        group_id: str,
        session_limit: SessionLimit,
        appearance_source: AppearanceSource,
        forget_answers: Callable[[str], None] = lambda _group_id: None,
        members_of: MembersOf = nobody,
        apart: Apart = no_connection,
    ) -> None:
        super().__init__(group_id, session_limit, appearance_source, forget_answers, members_of, apart)
        self._arrived = 0
        """How many calls have asked for a mark."""
        self._looked = 0
        """How many of them had asked before the last look or join that found or made `_looked_mark`."""
        self._looked_mark: int | None = None

    async def hold(self, asker: Asker, generation: int, current: Current) -> ErrorCode:
        self._arrived += 1
        mine = self._arrived
        async with self.lock:
            if self._looked_mark == generation and self._looked >= mine:
                return ErrorCode.NONE
            covers = self._arrived
            error, seen = await self._settled(asker)
            if error:
                return error
            if self._fits(seen, generation):
                self.pass_for(asker, seen)
            elif self._is_younger(seen, generation) and await current() != generation:
                return ErrorCode.NONE  # the caller is too late: no member will use `generation`
            else:
                error = await self._join_until(asker, generation)
            if not error:
                self._looked, self._looked_mark = covers, generation
            return error

    async def keep(self, asker: Asker, generation: int) -> ErrorCode:
        async with self.lock:
            if self.is_joined:
                return ErrorCode.NONE
            error, seen = await self._settled(asker)
            if error:
                return error
            if seen is not None and seen.mark is not None:
                self.pass_for(asker, seen)
                return ErrorCode.NONE
            return await self._join_until(asker, generation)

    async def take(self, asker: Asker, generation: int, first: Appearance | None) -> ErrorCode:
        if first is None:
            return await self.keep(asker, generation)
        async with self.lock:
            self.appearance, self.appearance_for = first, None
            return await self._join_until(asker, generation)

    async def change_appearance(self, asker: Asker, told: KnownAppearance, generation: int) -> ErrorCode:
        async with self.lock:
            error, seen = await self._settled(asker)
            if error or seen is None or seen.mark is None:
                return error
            self.pass_for(asker, seen)  # so it joins by this member id, and takes over no newer sentinel
            return await self._change(asker, told, generation, seen.mark)

    async def place(self, asker: Asker, generation: int, current: int | None) -> ErrorCode:
        async with self.lock:
            if self.mark == generation:
                return ErrorCode.NONE
            if generation != current:
                return ErrorCode.ILLEGAL_GENERATION
            error, seen = await self._settled(asker)
            if error:
                return error
            if self._fits(seen, generation):
                self.pass_for(asker, seen)
                return ErrorCode.NONE
            if self._is_younger(seen, generation):
                return ErrorCode.ILLEGAL_GENERATION
            return await self._join_until(asker, generation)

    async def leave(self, asker: Asker, may_go: MayGo) -> ErrorCode:
        if not self.member_id:
            return await self.make_way(asker, may_go)
        return await super().leave(asker, may_go)

    async def make_way(self, asker: Asker, may_go: MayGo) -> ErrorCode:
        async with self.lock:
            error, seen = await self._settled(asker)
            if error:
                return error
            if seen is None:
                self.forget()
                self.note_description(await described_group(asker, self.group_id))
                return ErrorCode.NONE
            if not seen.is_stable:
                return ErrorCode.COORDINATOR_LOAD_IN_PROGRESS  # another instance goes on joining
            return await self._leave(asker, seen.member_id) if await may_go() else ErrorCode.NON_EMPTY_GROUP

    async def _join_until(self, asker: Asker, mark: int) -> ErrorCode:
        """Join as a new member, unless another instance has joined with the same mark. Raises UpstreamLost."""
        for _ in range(LOOKS):
            self.member_id = ""
            error = await joins.join(self, asker, mark)
            if error not in self.OVERTAKEN:
                return error
            error, seen = await self._settled(asker)
            if error:
                return error
            if self._fits(seen, mark):
                self.pass_for(asker, seen)
                return ErrorCode.NONE
        return ErrorCode.COORDINATOR_NOT_AVAILABLE

    async def _settled(self, asker: Asker) -> tuple[ErrorCode, Seen | None]:
        """As `_look`, after waiting, for a limited time, until no instance is joining. Raises UpstreamLost."""
        error, seen = ErrorCode.NONE, None
        for _ in range(LOOKS):
            error, seen = await self._look(asker)
            if error or seen is None or seen.is_stable:
                break
            await asyncio.sleep(LOOK_AGAIN_S)
        if seen is not None and seen.shown is not None:
            self.appearance = seen.shown.appearance
        return error, seen

    async def _look(self, asker: Asker) -> tuple[ErrorCode, Seen | None]:
        """The sentinel as it is upstream; None: it is not the group's only member, or upstream does not tell."""
        version = await asker.version(DescribeGroupsRequest, HIGHEST)
        if version is None or version < WITH_INSTANCE:
            return ErrorCode.NONE, None
        response = await asker.ask(DescribeGroupsRequest(groups=[self.group_id]), version)
        assert isinstance(response, DescribeGroupsResponse)
        described = response.groups[0]
        error = error_of(described.error_code)
        if error in PASSING:
            return error, None
        return ErrorCode.NONE, None if error else seen_sentinel(described)

    @staticmethod
    def _fits(seen: Seen | None, mark: int) -> bool:
        return seen is not None and seen.mark == mark

    @staticmethod
    def _is_younger(seen: Seen | None, mark: int) -> bool:
        return seen is not None and seen.mark is not None and seen.mark > mark
