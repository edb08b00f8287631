"""Interfaces that the gateway needs from other parts: the client side, the groups, the map of instances.

1. The server provides a client's connection (`ClientSide`).
2. The coordinator provides questions about groups (`GroupReader`), and the steps of one group (`GroupService`), which
   clients reach only through `guarded_groups.py`.
3. Several instances provide who stands where (`Places`).

These interfaces are structural: neither side imports the other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from kcoord.gateway.settings import Address
from kcoord.group.consumer.offset_checks import Named
from kcoord.group.group_facts import GroupFacts
from kcoord.group.state.connection_opening import Opening
from kcoord.group.state.step import CachedReply, RequestContext
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.messages import Request, Response
from kcoord.protocol.undecoded_call import Call

__all__ = ["Call", "ClientSide", "GroupReader", "GroupService", "Places"]


class ClientSide(Protocol):
    """A client's connection, as its client session sees it."""

    serial: int
    """Unique. The newest connection has the highest number."""
    peer: str
    """"1.2.3.4:5678", for log lines."""
    client_host: str
    """"/1.2.3.4", as group descriptions show it (GW-8)."""
    is_patient: bool
    """Settable. Whether the client is known to wait for an answer for longer than one heartbeat interval."""
    has_hung_up: bool
    """Whether the client has ended the connection. What it sent before may still count."""

    @property
    def broker_id(self) -> int | None: ...
    @property
    def pipelined(self) -> bool: ...
    @property
    def opened(self) -> Opening | None: ...
    @property
    def local_address(self) -> tuple[str, int]: ...

    authenticated: bool
    """Settable. Frames may be larger once the client has authenticated."""

    def send(self, data: bytes | bytearray | memoryview) -> None: ...
    def answer(
        self, call: Call, response: Response, remember: CachedReply | None = None, valid_until_ms: int | None = None
    ) -> None: ...
    def finish(self, call: Call) -> None: ...
    def close(self, reason: str) -> None: ...
    def end(self) -> None: ...
    def pause_reading(self, who: str) -> None: ...
    def resume_reading(self, who: str) -> None: ...
    def when_more(self, call: Call, tell: Callable[[], None]) -> None: ...
    def forget_answers(self) -> None:
        """Repeat no remembered answer: the next frame is handled as if it were the first of its kind."""
        ...


class GroupReader(Protocol):
    """Questions about the groups that kcoord coordinates: all in this process, or each in one of several instances.

    None of them changes a group or a member's session. An answer is given only after everything that it can show is
    committed, and only while the instance that gives it is known to coordinate the group (GW-21). If nobody can be
    asked, errors are NOT_COORDINATOR or COORDINATOR_LOAD_IN_PROGRESS, and facts are not `known` or not `loaded`.
    """

    def flush_held_reply(self, group_id: str, connection: int) -> None:
        """Answer at once the request of that connection that is held back, if there is one."""
        ...

    async def check_delete(self, group_id: str) -> ErrorCode: ...
    async def check_offset_delete(self, group_id: str) -> ErrorCode: ...
    async def subscribed_among(self, group_id: str, topics: Sequence[str]) -> frozenset[str]: ...
    async def facts(self, group_ids: Sequence[str]) -> dict[str, GroupFacts]:
        """The facts that the coordinators of these groups give now; at once for groups of this instance."""
        ...

    def known_facts(self, group_id: str) -> GroupFacts:
        """The same without asking: exact if this instance coordinates the group, else as last heard."""
        ...

    def owned(self) -> set[int]:
        """The partitions whose groups this instance serves now."""
        ...

    def groups_of(self, partition: int) -> list[str]:
        """All groups of a partition that this instance serves."""
        ...

    def now_ms(self) -> int: ...


class GroupService(GroupReader, Protocol):
    """The groups themselves: their steps, and their members' sessions."""

    async def call(
        self, request: Request, context: RequestContext, submitted: Callable[[], None] | None = None
    ) -> tuple[Response, CachedReply | None]: ...
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
    def pause_session(self, group_id: str, member_id: str, until_ms: int) -> None: ...
    def resume_session(self, group_id: str, member_id: str) -> None: ...


class Places(Protocol):
    """Which of several instances stands before which broker, by the map that all of them have (GW-19)."""

    def address_of(self, broker_id: int, reached: str, /) -> Address | None:
        """Host and port by which a client that reached this instance by host `reached` gets to that broker.

        None: the map does not say.
        """
        ...

    def is_here(self, broker_id: int) -> bool:
        """Whether this instance stands before the broker."""
        ...

    def leave(self) -> None:
        """Note that this instance is about to stop: from now on others are named in its place, if there are any."""
        ...

    def others(self) -> frozenset[tuple[int, int]]:
        """All other living instances of the map, each as its id and its start time (unix ms)."""
        ...

    def has_0_1_0(self) -> bool:
        """Whether an instance may be of release 0.1.0, which does not say what records it reads."""
        ...

    def began_new(self) -> bool:
        """Whether the installation began with a kcoord that adopts groups, as far as one of the instances knows."""
        ...

    def brokers(self) -> Mapping[int, Address | None]:
        """All brokers of the map, each with its own address if this instance has seen it."""
        ...

    async def known(self) -> None:
        """Wait until there is a map."""
        ...
