"""The calls between an instance and its local coordinator, and the requests that instances relay to each other.

`LocalGroups` is the interface of this process's coordinator. It is a structural type, so that neither side imports the
other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from kcoord.group.api_handlers_and_rights import ALL_APIS
from kcoord.group.consumer.offset_checks import Named
from kcoord.group.group_facts import GroupFacts
from kcoord.group.multi_group_requests import group_of, split
from kcoord.group.state.step import CachedReply, RequestContext
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.messages import (
    ListGroupsRequest,
    Request,
    Response,
)

__all__ = ["RELAYED", "LocalGroups", "group_in"]

RELAYED: dict[int, type[Request]] = {row.key: row.request for row in ALL_APIS if row.relayed}
"""The group's own steps: the requests that one instance relays to another (GW-20), by API key."""


def group_in(request: Request) -> str | None:
    """The group that a request names; None for ListGroups, and for a request that names none or several."""
    if isinstance(request, ListGroupsRequest):
        return None
    parts = split(request)
    if parts is None:
        return group_of(request)
    return parts[0][0] if len(parts) == 1 else None


class LocalGroups(Protocol):
    """The groups of the partitions that this process owns. For all other groups it answers NOT_COORDINATOR."""

    def expect(self, partition: int) -> None: ...
    async def gain(self, partition: int) -> None: ...
    async def lose(self, partition: int) -> None: ...
    def unreadable(self) -> frozenset[int]: ...
    def owned(self) -> set[int]: ...
    def groups_of(self, partition: int) -> list[str]: ...
    def submit(
        self, request: Request, context: RequestContext, deliver: Callable[[Response, CachedReply | None], None]
    ) -> None: ...
    async def call(
        self, request: Request, context: RequestContext, submitted: Callable[[], None] | None = None
    ) -> tuple[Response, CachedReply | None]: ...
    def flush_held_reply(self, group_id: str, connection: int) -> None: ...
    def closed(self, connection: int) -> None: ...
    async def check_commit(
        self,
        group_id: str,
        member_id: str,
        instance_id: str | None,
        generation: int,
        transactional: bool,
        api_version: int = 0,
        partitions: Sequence[Named] = (),
    ) -> ErrorCode: ...
    async def check_delete(self, group_id: str) -> ErrorCode: ...
    async def check_offset_delete(self, group_id: str) -> ErrorCode: ...
    async def subscribed_among(self, group_id: str, topics: Sequence[str]) -> frozenset[str]: ...
    async def facts(self, group_ids: Sequence[str]) -> dict[str, GroupFacts]: ...
    def known_facts(self, group_id: str) -> GroupFacts: ...
    def pause_session(self, group_id: str, member_id: str, until_ms: int) -> None: ...
    def resume_session(self, group_id: str, member_id: str) -> None: ...
    def now_ms(self) -> int: ...
