"""The settings of consumer groups: the server's values, and the values in force for one group.

Kafka's names and defaults; times in ms. A group's own settings (record 8) override some of the server's. A stored value
that is outside the server's current bounds is moved to the nearest bound, as for connect groups.
"""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from kcoord.assign.consumer.interface import ConsumerAssignor
from kcoord.assign.consumer.ranges import RangeConsumerAssignor
from kcoord.assign.consumer.uniform import UniformConsumerAssignor
from kcoord.group.state.connect_settings import ClassicMode, MigrationPolicy, within, word

SESSION_TIMEOUT = "consumer.session.timeout.ms"
HEARTBEAT_INTERVAL = "consumer.heartbeat.interval.ms"
HEARTBEAT_WAIT = "consumer.heartbeat.wait.ms"
ASSIGNMENT_INTERVAL = "consumer.assignment.interval.ms"
MAX_SIZE = "consumer.max.size"
MIGRATION_POLICY = "consumer.migration.policy"
CLASSIC_MODE = "consumer.classic.mode"
INTERVALS_WAIT = -1
"""The value of the wait that stands for as long as the interval allows."""
MAX_WAIT_MS = 30_000
"""The longest wait that a group may set. Clients give up a request after 30 s (`request.timeout.ms`)."""


def _names(assignors: tuple[ConsumerAssignor, ...]) -> list[str]:
    return [each.name for each in assignors]


@attrs.frozen(slots=True)
class ConsumerSettings:
    """`group.consumer.*`"""

    session_timeout_ms: int = 45_000
    """`group.consumer.session.timeout.ms`: a member is removed after this time without a heartbeat."""
    min_session_timeout_ms: int = 45_000
    """`group.consumer.min.session.timeout.ms`"""
    max_session_timeout_ms: int = 60_000
    """`group.consumer.max.session.timeout.ms`"""
    heartbeat_interval_ms: int = 5_000
    """`group.consumer.heartbeat.interval.ms`: the time between two heartbeats that members are told."""
    min_heartbeat_interval_ms: int = 5_000
    """`group.consumer.min.heartbeat.interval.ms`"""
    max_heartbeat_interval_ms: int = 15_000
    """`group.consumer.max.heartbeat.interval.ms`"""
    heartbeat_wait_ms: int = INTERVALS_WAIT
    """`group.consumer.heartbeat.wait.ms`: how long an answer that would say nothing new waits at most; 0: not at all;
    -1: as long as the interval allows.
    """
    heartbeats_per_s: int = 20
    """How many heartbeats the consumers of one partition of the log send at most, if their intervals allow that. No
    setting of the server: the simulator and tests use others.
    """
    assignment_interval_ms: int = 0
    """`group.consumer.assignment.interval.ms`: the shortest time between two assignments of a group. Kafka: 1000."""
    min_assignment_interval_ms: int = 0
    """`group.consumer.min.assignment.interval.ms`"""
    max_assignment_interval_ms: int = 15_000
    """`group.consumer.max.assignment.interval.ms`"""
    max_size: int = 2**31 - 1
    """`group.consumer.max.size`: members of one group."""
    migration_policy: MigrationPolicy = MigrationPolicy.BIDIRECTIONAL
    """`group.consumer.migration.policy`: whether a classic group becomes a consumer group with the first consumer of
    the new protocol, and a consumer group a classic one when the last of these has gone.
    """
    classic_mode: ClassicMode = ClassicMode.BARRIER
    """`group.consumer.classic.mode`: how a group that has only consumers of the classic protocol is managed."""
    client_assignors: bool = False
    """`group.consumer.client.assignors.enable`: whether consumers may compute their groups' assignments."""
    assignors: tuple[ConsumerAssignor, ...] = attrs.field(
        factory=lambda: (UniformConsumerAssignor(), RangeConsumerAssignor()), eq=_names
    )
    """`group.consumer.assignors`: those that members may wish for. The first serves groups whose members wish for none.
    """

    @property
    def assignor_names(self) -> list[str]:
        """The names of the assignors, the default first."""
        return _names(self.assignors)

    @property
    def wait_ms(self) -> int:
        """How long an answer waits at most."""
        wait_ms = self.heartbeat_interval_ms if self.heartbeat_wait_ms == INTERVALS_WAIT else self.heartbeat_wait_ms
        return min(wait_ms, self.session_timeout_ms // 3)


def overridden(server: ConsumerSettings, own: Mapping[str, str]) -> ConsumerSettings:
    """The values in force for a group with the configuration `own`. Its values were checked when they were set."""
    session_ms = within(
        own.get(SESSION_TIMEOUT),
        server.session_timeout_ms,
        server.min_session_timeout_ms,
        server.max_session_timeout_ms,
    )
    interval_ms = within(
        own.get(HEARTBEAT_INTERVAL),
        server.heartbeat_interval_ms,
        server.min_heartbeat_interval_ms,
        server.max_heartbeat_interval_ms,
    )
    assignment_interval_ms = within(
        own.get(ASSIGNMENT_INTERVAL),
        server.assignment_interval_ms,
        server.min_assignment_interval_ms,
        server.max_assignment_interval_ms,
    )
    return attrs.evolve(
        server,
        session_timeout_ms=session_ms,
        heartbeat_interval_ms=interval_ms,
        heartbeat_wait_ms=within(own.get(HEARTBEAT_WAIT), server.heartbeat_wait_ms, INTERVALS_WAIT, MAX_WAIT_MS),
        assignment_interval_ms=assignment_interval_ms,
        max_size=within(own.get(MAX_SIZE), server.max_size, 1, server.max_size),
        migration_policy=word(MigrationPolicy, own.get(MIGRATION_POLICY), server.migration_policy),
        classic_mode=word(ClassicMode, own.get(CLASSIC_MODE), server.classic_mode),
    )


def adjusted(server: ConsumerSettings, own: Mapping[str, str]) -> dict[str, str]:
    """The values in force of the settings that were set to another value, by the name of the group's setting."""
    now = overridden(server, own)
    in_force = {
        SESSION_TIMEOUT: now.session_timeout_ms,
        HEARTBEAT_INTERVAL: now.heartbeat_interval_ms,
        HEARTBEAT_WAIT: now.heartbeat_wait_ms,
        ASSIGNMENT_INTERVAL: now.assignment_interval_ms,
        MAX_SIZE: now.max_size,
    }
    return {name: str(value) for name, value in in_force.items() if own.get(name, str(value)) != str(value)}
