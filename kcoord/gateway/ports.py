"""What the gateway needs of those around it: the client side, the groups, the map of instances.

Of the server: a client's connection (`ClientSide`). Of the coordinator: what can be asked about groups (`GroupReader`),
and the steps of one group (`GroupService`), which clients reach by `guarded_groups.py` only. Of several instances: who
stands where (`Places`). They are structural: neither side imports the other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from kcoord.gateway.settings import Address
from kcoord.group.facts import GroupFacts
from kcoord.group.opening import Opening
from kcoord.group.step import Remember, RequestContext
from kcoord.protocol.call import Call
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.messages import Request, Response

__all__ = ["Call", "ClientSide", "GroupReader", "GroupService", "Places"]


class ClientSide(Protocol):
    """A client's connection, as its client session sees it."""

    serial: int
    """Unique and growing: the newest connection has the highest."""
    peer: str
    """"1.2.3.4:5678", for log lines."""
    client_host: str
    """"/1.2.3.4", as group descriptions show it (GW-8)."""

    @property
    def broker_id(self) -> int | None: ...
    @property
    def pipelined(self) -> bool: ...
    @property
    def opened(self) -> Opening | None: ...
    @property
    def local_address(self) -> tuple[str, int]: ...

    authenticated: bool
    """Settable: frames may be larger once the client has said who it is."""

    def send(self, data: bytes | bytearray | memoryview) -> None: ...
    def answer(
        self, call: Call, response: Response, remember: Remember | None = None, valid_until_ms: int | None = None
    ) -> None: ...
    def finish(self, call: Call) -> None: ...
    def close(self, reason: str) -> None: ...
    def end(self) -> None: ...
    def pause_reading(self, who: str) -> None: ...
    def resume_reading(self, who: str) -> None: ...
    def when_more(self, call: Call, tell: Callable[[], None]) -> None: ...
    def forget_answers(self) -> None:
        """Repeat nothing from memory: the next frame is judged as if it were the first of its kind."""
        ...


class GroupReader(Protocol):
    """What can be asked about the groups that kcoord coordinates: all of them in this process, or each where one of
    several instances has it. Nothing of it moves a group, or a member's session.

    Every answer is given when what it could have seen is committed, and only while whoever gives it is known to
    coordinate the group (GW-21). Where nobody can be asked, errors are NOT_COORDINATOR or
    COORDINATOR_LOAD_IN_PROGRESS, and facts are not `known` or not `loaded`.
    """

    def let_go(self, group_id: str, connection: int) -> None:
        """Answer at once what is held back for that connection."""
        ...

    async def check_delete(self, group_id: str) -> ErrorCode: ...
    async def check_offset_delete(self, group_id: str) -> ErrorCode: ...
    async def subscribed_among(self, group_id: str, topics: Sequence[str]) -> frozenset[str]: ...
    async def facts(self, group_ids: Sequence[str]) -> dict[str, GroupFacts]:
        """What the coordinators of these groups say now; at once for those that this instance coordinates."""
        ...

    def known_facts(self, group_id: str) -> GroupFacts:
        """The same without asking: exact where this instance coordinates the group, else as last heard."""
        ...

    def owned(self) -> set[int]:
        """The partitions whose groups this instance serves now."""
        ...

    def groups_of(self, partition: int) -> list[str]:
        """All groups of a partition that this instance serves."""
        ...

    def now_ms(self) -> int: ...


class GroupService(GroupReader, Protocol):
    """The groups themselves: their steps, and the sessions of their members."""

    async def call(
        self, request: Request, context: RequestContext, submitted: Callable[[], None] | None = None
    ) -> tuple[Response, Remember | None]: ...
    async def check_commit(
        self, group_id: str, member_id: str, instance_id: str | None, generation: int, transactional: bool
    ) -> ErrorCode: ...
    def pause_session(self, group_id: str, member_id: str, until_ms: int) -> None: ...
    def resume_session(self, group_id: str, member_id: str) -> None: ...


class Places(Protocol):
    """Which of several instances stands before which broker: the map that all of them have (GW-19)."""

    def address_of(self, broker_id: int, reached: str, /) -> Address | None:
        """Host and port by which a client that reached this instance by host `reached` gets to that broker; None where
        the map does not say."""
        ...

    def is_here(self, broker_id: int) -> bool:
        """Whether it is this instance that stands before the broker."""
        ...

    def leave(self) -> None:
        """This instance is about to stop: from now on others are named in its place, where there are any."""
        ...

    def others(self) -> frozenset[tuple[int, int]]:
        """All other instances that the map knows, each as its id and when it started."""
        ...

    def has_0_1_0(self) -> bool:
        """Whether one of the instances may be of release 0.1.0: it does not say which records it reads."""
        ...

    def brokers(self) -> Mapping[int, Address | None]:
        """All brokers that the map knows, each with its own address where that was seen here."""
        ...

    async def known(self) -> None:
        """Returns when there is a map."""
        ...
