"""The settings of consumer groups: the server's values. Kafka's names and defaults; times in ms."""

from __future__ import annotations

from collections.abc import Sequence

import attrs


@attrs.frozen(slots=True)
class ConsumerSettings:
    """`group.consumer.*`"""

    session_timeout_ms: int = 45_000
    """`group.consumer.session.timeout.ms`: a member is removed after this time without a heartbeat."""
    heartbeat_interval_ms: int = 5_000
    """`group.consumer.heartbeat.interval.ms`: the time between two heartbeats that members are told."""
    max_size: int = 2**31 - 1
    """`group.consumer.max.size`: members of one group."""
    assignors: Sequence[str] = ("uniform", "range")
    """`group.consumer.assignors`: those that members may wish for. The first serves groups whose members wish for none.
    """
