"""The setup of a classic consumer, with the defaults of Java's. Times are in ms."""

from __future__ import annotations

import attrs

from kcoord.group.state.groups.consumer_group import PROTOCOL_TYPE

EAGER, COOPERATIVE = "range", "cooperative-sticky"


@attrs.frozen
class ConsumerSetup:
    """The setup of one consumer."""

    group_id: str
    instance_id: str | None
    is_cooperative: bool
    session_timeout_ms: int
    rebalance_timeout_ms: int
    heartbeat_interval_ms: int
    request_timeout_ms: int = 30_000
    retry_backoff_ms: int = 100
    retry_backoff_max_ms: int = 1_000
    protocol_type: str = PROTOCOL_TYPE
    join_version: int = 9
    sync_version: int = 5
    heartbeat_version: int = 4
    leave_version: int = 5

    @property
    def assignor(self) -> str:
        """The name of the assignor that it offers."""
        return COOPERATIVE if self.is_cooperative else EAGER
