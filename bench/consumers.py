"""How are consumers of the new protocol (KIP-848) brought into a stable group, inside the load generator?"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import attrs

from bench.lines import Asking, request_frame
from bench.workers import WorkersFailed
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.consumer_group_heartbeat_request import TopicPartitions
from kcoord.protocol.messages import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)

VERSION, FIND_VERSION = 1, 4
REBALANCE_MS = 60_000
SETTLE_ROUNDS = 600
PAUSE_S, QUIET_ROUNDS = 0.05, 40
FEW_QUIET_ROUNDS = 2
"""The same for groups of which nobody speaks afterwards."""
NOT_YET = frozenset(
    {ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, ErrorCode.COORDINATOR_NOT_AVAILABLE, ErrorCode.NOT_COORDINATOR}
)
"""What a broker answers that has just begun."""


async def settle_consumers(lines: Sequence[Asking], group_id: str, topic: str) -> list[bytes]:
    """Bring consumers of `topic` into a stable group, one on each line; the steady heartbeat of each as a frame. Raises
    WorkersFailed.
    """
    await _find(lines[0], group_id)
    members = [_Consumer(line, group_id, f"consumer-{at:04}", topic) for at, line in enumerate(lines)]
    await _settle(members, PAUSE_S, QUIET_ROUNDS)
    return [each.steady_frame() for each in members]


async def begin_groups(lines: Sequence[Asking], groups: int, size: int, topic: str) -> None:
    """Bring `groups` groups of `size` consumers of `topic` into being, named `bench-00000` and so on; a few of them at
    one time, one on each line. Raises WorkersFailed.
    """

    async def some(at: int) -> None:
        for number in range(at, groups, len(lines)):
            await _find(lines[at], group_name(number))
            members = [_Consumer(lines[at], group_name(number), f"consumer-{each:04}", topic) for each in range(size)]
            await _settle(members, PAUSE_S, FEW_QUIET_ROUNDS)

    await asyncio.gather(*map(some, range(len(lines))))


async def _find(line: Asking, group_id: str) -> None:
    """Ask for the group's coordinator: a fresh broker makes its topic only then."""
    find = FindCoordinatorRequest(key_type=0, coordinator_keys=[group_id])
    await line.ask(find, FIND_VERSION, FindCoordinatorResponse)


def group_name(number: int) -> str:
    """The id of a group of `begin_groups`."""
    return f"bench-{number:05}"


@attrs.define(eq=False)
class _Consumer:
    """A consumer that takes and lets go of what it is told at once."""

    line: Asking
    group_id: str
    id: str
    topic: str
    epoch: int = 0
    owned: list[TopicPartitions] = attrs.Factory(list)

    async def beat(self) -> None:
        """One heartbeat, with all that it has. Raises WorkersFailed."""
        request = ConsumerGroupHeartbeatRequest(self.group_id, self.id, self.epoch)
        if not self.epoch:
            request.rebalance_timeout_ms, request.subscribed_topic_names = REBALANCE_MS, [self.topic]
        request.topic_partitions = self.owned
        told = await self.line.ask(request, VERSION, ConsumerGroupHeartbeatResponse)
        if told.error_code in NOT_YET:
            return
        if told.error_code:
            raise WorkersFailed(f"error {told.error_code}: {told.error_message}")
        self.epoch = told.member_epoch
        if told.assignment is not None:
            has = told.assignment.topic_partitions
            self.owned = [TopicPartitions(each.topic_id, each.partitions) for each in has]

    def steady_frame(self) -> bytes:
        """Its heartbeat when nothing changes."""
        request = ConsumerGroupHeartbeatRequest(self.group_id, self.id, self.epoch, topic_partitions=None)
        return request_frame(request, VERSION)


async def _settle(members: Sequence[_Consumer], pause_s: float, quiet_rounds: int) -> None:
    """Let the members of a group speak in turn until nothing has changed for so many rounds. Raises WorkersFailed."""
    rounds = unchanged = 0
    while unchanged < quiet_rounds:
        before = [each.epoch for each in members]
        for each in members:
            await each.beat()
        await asyncio.sleep(pause_s)  # a broker makes an assignment once in a while only
        epochs = [each.epoch for each in members]
        is_settled = len(set(epochs)) == 1 and all(each.owned for each in members)
        unchanged = unchanged + 1 if is_settled and epochs == before else 0
        rounds += 1
        if rounds > SETTLE_ROUNDS:
            raise WorkersFailed(f"group {members[0].group_id} does not settle: epochs {sorted(epochs)}")
