"""The list of groups: ListGroups goes through all shards, some groups at a time, with other clients' turns between."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from kcoord.group.request_slices import ROWS
from kcoord.group.state.step import CachedReply
from kcoord.loop.turn_queue import TurnQueue
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.messages import ListGroupsRequest, ListGroupsResponse, Response
from kcoord.server.connections.outbox import Waiting
from kcoord.server.shards.shard_host import ShardHost

__all__ = ["GroupList"]


class GroupList:
    """One ListGroups request, while it is carried out. A small list is answered at once."""

    def __init__(
        self,
        turns: TurnQueue,
        hosts: Sequence[ShardHost],
        request: ListGroupsRequest,
        deliver: Callable[[Response, CachedReply | None], None],
    ) -> None:
        self._turns = turns
        self._hosts = hosts
        self._request = request
        self._deliver = deliver
        self._answers: dict[int, ListGroupsResponse] = {}
        self._asked = 0
        self._is_asking = True
        self._slices = self._steps()

    def start(self) -> None:
        """Take the first slice, and queue up for the others."""
        if self._take_slice():
            self._turns.add(self._take_slice)

    def _take_slice(self) -> bool:
        for _ in self._slices:
            return True
        return False

    def _steps(self) -> Iterator[None]:
        room = ROWS
        for host in self._hosts:
            group_ids = host.shard.group_ids()
            for at in range(0, max(1, len(group_ids)), ROWS):
                some = group_ids[at : at + ROWS]
                if len(some) > room:
                    yield
                    room = ROWS
                room -= len(some)
                take = partial(self._take, self._asked)
                self._asked += 1
                host.list_groups(self._request, some, Waiting(self._request, take))
        self._is_asking = False
        self._answer_if_complete()

    def _take(self, at: int, response: Response, _remember: CachedReply | None) -> None:
        assert isinstance(response, ListGroupsResponse)
        self._answers[at] = response
        self._answer_if_complete()

    def _answer_if_complete(self) -> None:
        if self._is_asking or len(self._answers) < self._asked:
            return
        listed = [self._answers[at] for at in range(self._asked)]
        error = next((each.error_code for each in listed if each.error_code), 0)
        if error == ErrorCode.NOT_COORDINATOR:  # Java's admin client retries a list on two errors only
            error = ErrorCode.COORDINATOR_NOT_AVAILABLE
        groups = [group for each in listed for group in each.groups]
        self._deliver(ListGroupsResponse(error_code=error, groups=groups), None)
