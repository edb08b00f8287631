"""How is a legacy worker configured? Connect's own settings, with its defaults; times in ms."""

from __future__ import annotations

import attrs

from kcoord.assign import ServerAssignor
from kcoord.assign.incremental import MAX_DELAY_MS
from kcoord.protocol.embedded import SESSIONED


@attrs.frozen
class LegacySetup:
    """One worker."""

    group_id: str
    url: str
    protocol: int = SESSIONED
    """`connect.protocol`: the best version that it offers; all below are offered too."""
    session_timeout_ms: int = 10_000
    rebalance_timeout_ms: int = 60_000
    heartbeat_interval_ms: int = 3_000
    """Also how long the coordinator may be unknown before all is stopped."""
    request_timeout_ms: int = 40_000
    retry_backoff_ms: int = 100
    retry_backoff_max_ms: int = 1_000
    max_delay_ms: int = MAX_DELAY_MS
    """`scheduled.rebalance.max.delay.ms`."""
    assignor: ServerAssignor | None = None
    """What it leads by, under `compatible` and `sessioned`; None: Connect's own."""
    worker_sync_timeout_ms: int = 3_000
    """How long the config topic may take to be read to its end."""
    worker_unsync_backoff_ms: int = 300_000
    """How long an eager worker waits that could not read it."""
    join_version: int = 9
    sync_version: int = 5
    heartbeat_version: int = 4
    leave_version: int = 5
