"""What happens if somebody dies at one step of an adoption or a release? The way from kcoord to the brokers knows.

Each step is a request that kcoord sends, or passes on, to the cluster. A trap is a proxy that waits for that request,
and kills: before the request has gone on to the broker, or just after, so that nobody has read the answer.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Mapping
from typing import TypeGuard

import attrs

from kcoord.protocol.frame import decode_request_header
from kcoord.protocol.messages import REQUESTS, JoinGroupRequest, LeaveGroupRequest, Request, SyncGroupRequest
from tests.faults.proxy import KafkaProxy
from tests.kafka.wait import eventually

KCOORD = "kcoord"
GROUP_CALLS = frozenset({11, 13, 14})
"""JoinGroup, LeaveGroup, SyncGroup."""


@attrs.frozen
class Step:
    """The `number`-th request that `is_it`, once there was one that `begins` it all."""

    name: str
    is_it: Callable[[Request], bool]
    number: int = 1

    def __str__(self) -> str:
        return self.name


def _begins(request: Request) -> bool:
    """kcoord joins, and offers what the members speak beside what only it speaks."""
    return _kcoord_joins(request) and any(not each.name.startswith(KCOORD) for each in request.protocols)


def _kcoord_joins(request: Request) -> TypeGuard[JoinGroupRequest]:
    return isinstance(request, JoinGroupRequest) and request.group_instance_id == KCOORD


def _kcoord_syncs(request: Request) -> bool:
    return isinstance(request, SyncGroupRequest) and request.group_instance_id == KCOORD


def _kcoord_leaves(request: Request) -> bool:
    return isinstance(request, LeaveGroupRequest) and _leaving(request) == {KCOORD}


def _members_are_put_out(request: Request) -> bool:
    return isinstance(request, LeaveGroupRequest) and KCOORD not in _leaving(request)


def _leaving(request: LeaveGroupRequest) -> set[str | None]:
    return {each.group_instance_id for each in request.members}


def _asks_for_an_id(request: Request) -> bool:
    """A dynamic member joins only with the id that the answer to this gives it."""
    return isinstance(request, JoinGroupRequest) and not request.member_id and request.group_instance_id is None


def _joins(request: Request) -> bool:
    """A static member joins without an id, too."""
    if not isinstance(request, JoinGroupRequest) or _kcoord_joins(request):
        return False
    return bool(request.member_id) or request.group_instance_id is not None


ADOPTION = (
    Step("kcoord joins among the members", _kcoord_joins),
    Step("the members are put out", _members_are_put_out),
    Step("kcoord joins in their place", _kcoord_joins, 2),
    Step("kcoord syncs", _kcoord_syncs),
)
"""AD-8, a to d."""
GETS_AN_ID = Step("the first member gets an id", _asks_for_an_id)
"""Of dynamic members only."""
RELEASE = (
    Step("kcoord lets the members in", _kcoord_joins),
    Step("kcoord syncs among them", _kcoord_syncs),
    GETS_AN_ID,
    Step("the first member joins", _joins),
    Step("the last member joins", _joins, 2),
    Step("kcoord leaves", _kcoord_leaves),
)
"""AD-15, of a group of two members."""


class StepTrap:
    """The way to the brokers (node id to port), in an event loop of its own. A context manager."""

    def __init__(self, brokers: Mapping[int, int]) -> None:
        self._brokers = brokers
        self._ends: asyncio.Event
        self._loop: asyncio.AbstractEventLoop
        self._opened = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), daemon=True)
        self._has_begun, self._left = False, 0
        self._step: Step | None = None
        self._group = ""
        self._sprung = threading.Event()

    def __enter__(self) -> StepTrap:
        self._thread.start()
        self._opened.wait()
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._ends.set)
        self._thread.join()

    def lay(self, step: Step, *, is_late: bool, kill: Callable[[], None], is_lost: bool, group: str = "") -> None:
        """Let `kill` run at that step, counted from now on, once: before the request goes on to the broker, or after
        that where it `is_late`. It never arrives where that `is_lost` with whoever is killed. With `group` only this
        group's requests count.
        """
        self._sprung.clear()
        self._group = group
        self._kill, self._is_late, self._is_lost = kill, is_late, is_lost and not is_late
        self._has_begun, self._left, self._step = False, step.number, step

    def wait(self) -> None:
        """Wait until somebody was killed."""
        eventually(self._sprung.is_set, f"the step comes: {self._step}")

    async def _serve(self) -> None:
        self._loop, self._ends = asyncio.get_running_loop(), asyncio.Event()
        async with KafkaProxy.opened(self._brokers) as proxy:
            proxy.watch = self._watch
            self.bootstrap = proxy.bootstrap
            self._opened.set()
            await self._ends.wait()

    async def _watch(self, frame: bytes, has_passed: bool) -> None:
        """Nothing else gets through while it is killed. Raises ConnectionError where the request is lost."""
        if self._step is None or int.from_bytes(frame[:2], "big") not in GROUP_CALLS or has_passed != self._is_late:
            return
        header, start = decode_request_header(frame)
        request = REQUESTS[header.api_key].decode(frame, header.api_version, start)
        if self._group and getattr(request, "group_id", None) != self._group:
            return
        self._has_begun = self._has_begun or _begins(request)
        if not self._has_begun or not self._step.is_it(request):
            return
        self._left -= 1
        if self._left:
            return
        self._step = None
        self._kill()
        self._sprung.set()
        if self._is_lost:
            raise ConnectionError
