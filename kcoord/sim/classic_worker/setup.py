"""The setup of a classic worker: Connect's own settings, with its defaults. Times are in ms."""

from __future__ import annotations

import attrs

from kcoord.assign import ServerAssignor
from kcoord.assign.incremental import MAX_DELAY_MS
from kcoord.protocol.embedded import SESSIONED


@attrs.frozen
class ClassicSetup:
    """The setup of one worker."""

    group_id: str
    url: str
    protocol: int = SESSIONED
    """`connect.protocol`: the newest version that it offers. All older ones are offered too."""
    session_timeout_ms: int = 10_000
    rebalance_timeout_ms: int = 60_000
    heartbeat_interval_ms: int = 3_000
    """Also how long the coordinator may be unknown before everything is stopped."""
    request_timeout_ms: int = 40_000
    retry_backoff_ms: int = 100
    retry_backoff_max_ms: int = 1_000
    max_delay_ms: int = MAX_DELAY_MS
    """`scheduled.rebalance.max.delay.ms`."""
    assignor: ServerAssignor | None = None
    """The assignor that it leads with, under `compatible` and `sessioned`. None: Connect's own."""
    worker_sync_timeout_ms: int = 3_000
    """How long reading the config topic to its end may take."""
    worker_unsync_backoff_ms: int = 300_000
    """How long an eager worker waits that could not read it."""
    join_version: int = 9
    sync_version: int = 5
    heartbeat_version: int = 4
    leave_version: int = 5
