"""How are consumers of the new protocol (KIP-848) brought into a stable group, inside the load generator?"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

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
NOT_YET = frozenset(
    {ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, ErrorCode.COORDINATOR_NOT_AVAILABLE, ErrorCode.NOT_COORDINATOR}
)
"""What a broker answers that has just begun."""


async def settle_consumers(lines: Sequence[Asking], group_id: str, topic: str) -> list[bytes]:
    """Bring consumers of `topic` into a stable group, one on each line; the steady heartbeat of each as a frame. Raises
    WorkersFailed.
    """
    find = FindCoordinatorRequest(key_type=0, coordinator_keys=[group_id])  # who begins makes its topic only then
    await lines[0].ask(find, FIND_VERSION, FindCoordinatorResponse)
    epochs = dict.fromkeys(lines, 0)
    owned: dict[Asking, list[TopicPartitions]] = {line: [] for line in lines}
    rounds = unchanged = 0
    while unchanged < QUIET_ROUNDS:
        before = dict(epochs)
        for line in lines:
            request = ConsumerGroupHeartbeatRequest(group_id, f"consumer-{lines.index(line):04}", epochs[line])
            if not epochs[line]:
                request.rebalance_timeout_ms, request.subscribed_topic_names = REBALANCE_MS, [topic]
            request.topic_partitions = owned[line]
            told = await line.ask(request, VERSION, ConsumerGroupHeartbeatResponse)
            if told.error_code in NOT_YET:
                continue
            if told.error_code:
                raise WorkersFailed(f"error {told.error_code}: {told.error_message}")
            epochs[line] = told.member_epoch
            if told.assignment is not None:
                has = told.assignment.topic_partitions
                owned[line] = [TopicPartitions(each.topic_id, each.partitions) for each in has]
        await asyncio.sleep(PAUSE_S)  # a broker makes an assignment once in a while only
        is_settled = len(set(epochs.values())) == 1 and all(owned.values())
        unchanged = unchanged + 1 if is_settled and epochs == before else 0
        rounds += 1
        if rounds > SETTLE_ROUNDS:
            raise WorkersFailed(f"group {group_id} does not settle: epochs {sorted(epochs.values())}")
    return [
        request_frame(
            ConsumerGroupHeartbeatRequest(group_id, f"consumer-{at:04}", epochs[line], topic_partitions=None), VERSION
        )
        for at, line in enumerate(lines)
    ]
