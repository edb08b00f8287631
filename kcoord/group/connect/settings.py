"""What can be set about connect groups, and what holds for one group?

The server has values for all groups; a group's own configuration (record 8) overrides some. A value that was stored
under other bounds than the server has now is brought within them, so that a group never stands still for it.
"""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from kcoord.assign.cooperative import CooperativeAssignor
from kcoord.assign.interface import ServerAssignor
from kcoord.assign.uniform import UniformAssignor

SESSION_TIMEOUT = "connect.session.timeout.ms"
HEARTBEAT_INTERVAL = "connect.heartbeat.interval.ms"
REBALANCE_DELAY = "connect.rebalance.delay.ms"
MAX_SIZE = "connect.max.size"
ASSIGNORS = "connect.assignors"


@attrs.frozen(slots=True)
class ConnectSettings:
    """Limits and times of connect groups; Kafka's defaults for consumer groups where Kafka has none for these."""

    session_timeout_ms: int = 45_000
    """`group.connect.session.timeout.ms`"""
    min_session_timeout_ms: int = 45_000
    """`group.connect.min.session.timeout.ms`"""
    max_session_timeout_ms: int = 60_000
    """`group.connect.max.session.timeout.ms`"""
    heartbeat_interval_ms: int = 5_000
    """`group.connect.heartbeat.interval.ms`"""
    min_heartbeat_interval_ms: int = 5_000
    """`group.connect.min.heartbeat.interval.ms`"""
    max_heartbeat_interval_ms: int = 15_000
    """`group.connect.max.heartbeat.interval.ms`"""
    max_size: int = 2**31 - 1
    """`group.connect.max.size`: members of one group."""
    rebalance_delay_ms: int = 300_000
    """`group.connect.rebalance.delay.ms`: how long the resources of a departed worker wait for it; Connect's own
    `scheduled.rebalance.max.delay.ms`.
    """
    max_rebalance_delay_ms: int = 3_600_000
    """`group.connect.max.rebalance.delay.ms`: caps what an install may ask for (connect-groups rule 22)."""
    assignors: tuple[ServerAssignor, ...] = attrs.field(factory=lambda: (UniformAssignor(), CooperativeAssignor()))
    """`group.connect.assignors`: in the server's order; the first one is the default."""


@attrs.frozen(slots=True)
class Effective:
    """What holds for one group."""

    session_timeout_ms: int
    heartbeat_interval_ms: int
    rebalance_delay_ms: int
    max_size: int
    assignors: tuple[ServerAssignor, ...]

    def assignor(self, name: str) -> ServerAssignor | None:
        """The server-side assignor of that name, if it is on."""
        return next((each for each in self.assignors if each.name == name), None)


def of_server(server: ConnectSettings) -> Effective:
    """What holds for a group without a configuration of its own."""
    return Effective(
        server.session_timeout_ms,
        server.heartbeat_interval_ms,
        server.rebalance_delay_ms,
        server.max_size,
        server.assignors,
    )


def overridden(server: ConnectSettings, own: Mapping[str, str]) -> Effective:
    """What holds for a group with the configuration `own`; its values have been checked when they were set."""
    by_name = {each.name: each for each in server.assignors}
    named = [by_name[name] for name in own.get(ASSIGNORS, "").split(",") if name in by_name]
    return Effective(
        _within(
            own.get(SESSION_TIMEOUT),
            server.session_timeout_ms,
            server.min_session_timeout_ms,
            server.max_session_timeout_ms,
        ),
        _within(
            own.get(HEARTBEAT_INTERVAL),
            server.heartbeat_interval_ms,
            server.min_heartbeat_interval_ms,
            server.max_heartbeat_interval_ms,
        ),
        _within(own.get(REBALANCE_DELAY), server.rebalance_delay_ms, 0, server.max_rebalance_delay_ms),
        _within(own.get(MAX_SIZE), server.max_size, 1, server.max_size),
        tuple(named) or server.assignors,
    )


def _within(own: str | None, otherwise: int, least: int, most: int) -> int:
    return otherwise if own is None else min(max(int(own), least), most)
