"""The setup of a classic worker: Connect's own settings, with its defaults. Times are in ms."""

from __future__ import annotations

from typing import Protocol

import attrs

from kcoord.assign import ServerAssignor
from kcoord.assign.incremental import MAX_DELAY_MS
from kcoord.protocol.embedded import SESSIONED

CONNECT = "connect"


class ClientSetup(Protocol):
    """What the model of Kafka's client needs to know of its member."""

    @property
    def group_id(self) -> str: ...
    @property
    def protocol_type(self) -> str: ...
    @property
    def instance_id(self) -> str | None:
        """`group.instance.id`: a member that has one does not leave."""

    @property
    def session_timeout_ms(self) -> int: ...
    @property
    def rebalance_timeout_ms(self) -> int: ...
    @property
    def heartbeat_interval_ms(self) -> int: ...
    @property
    def request_timeout_ms(self) -> int: ...
    @property
    def retry_backoff_ms(self) -> int: ...
    @property
    def retry_backoff_max_ms(self) -> int: ...
    @property
    def join_version(self) -> int: ...
    @property
    def sync_version(self) -> int: ...
    @property
    def heartbeat_version(self) -> int: ...
    @property
    def leave_version(self) -> int: ...


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
    protocol_type: str = CONNECT
    instance_id: str | None = None
