"""What can be set about groups? Plain values, times in ms, with Apache Kafka's defaults."""

from __future__ import annotations

import attrs

from kcoord.group.connect.settings import ConnectSettings

MINUTE_MS = 60_000
DAY_MS = 24 * 60 * MINUTE_MS


@attrs.frozen(slots=True)
class GroupSettings:
    """Limits and times of groups and of the offsets in kcoord's own log."""

    min_session_timeout_ms: int = 6_000
    """`group.min.session.timeout.ms`: JoinGroup with a shorter session is INVALID_SESSION_TIMEOUT."""
    max_session_timeout_ms: int = 30 * MINUTE_MS
    """`group.max.session.timeout.ms`: likewise for a longer one."""
    initial_rebalance_delay_ms: int = 3_000
    """`group.initial.rebalance.delay.ms`: how long an empty group waits for more members; again for each that
    arrives meanwhile.
    """
    max_size: int = 2**31 - 1
    """`group.max.size`: members of one group."""
    new_member_join_timeout_ms: int = 5 * MINUTE_MS
    """How long a new member's first JoinGroup may stay parked; a constant in Apache Kafka."""
    offset_metadata_max_bytes: int = 4_096
    """`offset.metadata.max.bytes`: length of the text beside an offset (UTF-16 units, as Apache Kafka counts)."""
    offsets_retention_ms: int = 7 * DAY_MS
    """`offsets.retention.minutes`, in ms."""
    offsets_retention_check_interval_ms: int = 10 * MINUTE_MS
    """`offsets.retention.check.interval.ms`: how often expired offsets and empty groups without offsets are removed."""
    connect: ConnectSettings = attrs.Factory(ConnectSettings)
    """`group.connect.*`"""
