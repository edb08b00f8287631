"""The settings of groups as plain values: times in ms, with Apache Kafka's defaults."""

from __future__ import annotations

import attrs

from kcoord.group.state.connect_settings import ConnectSettings
from kcoord.group.state.consumer_settings import ConsumerSettings

MINUTE_MS = 60_000
DAY_MS = 24 * 60 * MINUTE_MS


@attrs.frozen(slots=True)
class GroupLimits:
    """Limits of one request, one member and one group (`limits`)."""

    id_length: int = 1_024
    """`group.max.id.length`: characters of an id or a name."""
    member_metadata_bytes: int = 4 << 20
    """`group.max.member.metadata.bytes`: metadata of one member for all its protocols or assignors."""
    group_bytes: int = 30 << 20
    """`group.max.bytes`: ids, metadata and assignments of all members; they must fit one record of the log."""
    resources: int = 20_000
    """`group.connect.max.resources`: connectors and tasks in one list."""
    offsets: int = 200_000
    """`group.max.offsets`: partitions for which a group can have offsets in kcoord's own log."""
    creations_per_s: int = 100
    """`max.group.creation.rate`: groups that one connection may create in a second."""
    creations_at_once: int = 10_000
    """`max.group.creation.burst`: groups that one connection may create at once."""


@attrs.frozen(slots=True)
class GroupSettings:
    """Limits and times of groups and of the offsets in kcoord's own log."""

    min_session_timeout_ms: int = 6_000
    """`group.min.session.timeout.ms`: a JoinGroup with a shorter session timeout gets INVALID_SESSION_TIMEOUT."""
    max_session_timeout_ms: int = 30 * MINUTE_MS
    """`group.max.session.timeout.ms`: the same for a longer one."""
    initial_rebalance_delay_ms: int = 3_000
    """`group.initial.rebalance.delay.ms`: how long an empty group waits for more members. Each member that arrives
    meanwhile starts the wait again.
    """
    max_size: int = 2**31 - 1
    """`group.max.size`: members of one group."""
    new_member_join_timeout_ms: int = 5 * MINUTE_MS
    """How long a new member's first JoinGroup may wait for its answer. A constant in Apache Kafka."""
    offset_metadata_max_bytes: int = 4_096
    """`offset.metadata.max.bytes`: length of the text beside an offset, in UTF-16 units, as Apache Kafka counts."""
    offsets_retention_ms: int = 7 * DAY_MS
    """`offsets.retention.minutes`, in ms."""
    offsets_retention_check_interval_ms: int = 10 * MINUTE_MS
    """`offsets.retention.check.interval.ms`: how often expired offsets and empty groups without offsets are removed."""
    limits: GroupLimits = attrs.Factory(GroupLimits)
    """Limits of requests, members and groups."""
    connect: ConnectSettings = attrs.Factory(ConnectSettings)
    """`group.connect.*`"""
    consumer: ConsumerSettings = attrs.Factory(ConsumerSettings)
    """`group.consumer.*`"""
