"""The settings of consumer groups: the server's values. Kafka's names and defaults; times in ms."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

INTERVALS_WAIT = -1
"""The value of the wait that stands for a part of the interval."""


@attrs.frozen(slots=True)
class ConsumerSettings:
    """`group.consumer.*`"""

    session_timeout_ms: int = 45_000
    """`group.consumer.session.timeout.ms`: a member is removed after this time without a heartbeat."""
    heartbeat_interval_ms: int = 5_000
    """`group.consumer.heartbeat.interval.ms`: the time between two heartbeats that members are told."""
    heartbeat_wait_ms: int = INTERVALS_WAIT
    """`group.consumer.heartbeat.wait.ms`: how long an answer that would say nothing new waits; 0: not at all; -1: four
    fifths of the interval.
    """
    max_size: int = 2**31 - 1
    """`group.consumer.max.size`: members of one group."""
    assignors: Sequence[str] = ("uniform", "range")
    """`group.consumer.assignors`: those that members may wish for. The first serves groups whose members wish for none.
    """

    @property
    def wait_ms(self) -> int:
        """How long an answer waits. librdkafka gives up exactly one interval after its heartbeat."""
        if self.heartbeat_wait_ms == INTERVALS_WAIT:
            return self.heartbeat_interval_ms * 4 // 5
        return min(self.heartbeat_wait_ms, self.session_timeout_ms // 3)
