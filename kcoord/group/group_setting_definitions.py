"""The settings that one group may have: their names, what they mean, and which values they may have.

A group's own setting has the name of the server's setting without the leading `group.`, and overrides it, as Kafka's
`consumer.…` overrides `group.consumer.…`. Settings of consumer groups are kcoord's only where kcoord serves consumer
groups; elsewhere they are the cluster's. `group_configs.py` describes and alters them.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum, StrEnum
from typing import Any

import attrs

from kcoord.assign.placement.document import read_setting, write_setting
from kcoord.group.state.connect_settings import (
    ASSIGNORS,
    CLASSIC_MODE,
    CLASSIC_WAIT,
    HEARTBEAT_INTERVAL,
    LEADER_WAIT,
    MAX_CLASSIC_WAIT_MS,
    MAX_LEADER_WAIT_MS,
    MAX_SIZE,
    MIGRATION_POLICY,
    MODES_OWN_WAIT,
    PLACEMENT,
    REBALANCE_DELAY,
    SESSION_TIMEOUT,
    ClassicMode,
    ConnectSettings,
    MigrationPolicy,
)
from kcoord.group.state.consumer_settings import (
    ASSIGNMENT_INTERVAL,
    INTERVALS_WAIT,
    MAX_WAIT_MS,
    ConsumerSettings,
)
from kcoord.group.state.consumer_settings import CLASSIC_MODE as CONSUMER_CLASSIC_MODE
from kcoord.group.state.consumer_settings import HEARTBEAT_INTERVAL as CONSUMER_HEARTBEAT_INTERVAL
from kcoord.group.state.consumer_settings import HEARTBEAT_WAIT as CONSUMER_HEARTBEAT_WAIT
from kcoord.group.state.consumer_settings import MAX_SIZE as CONSUMER_MAX_SIZE
from kcoord.group.state.consumer_settings import MIGRATION_POLICY as CONSUMER_MIGRATION_POLICY
from kcoord.group.state.consumer_settings import SESSION_TIMEOUT as CONSUMER_SESSION_TIMEOUT
from kcoord.group.state.owner_setting import OWNER, Owner

PREFIXES = ("connect.", OWNER)
"""The prefixes of all group settings that are always kcoord's."""
CONSUMER_PREFIX = "consumer."
"""That of those that are kcoord's where it serves consumer groups (rule 8 above)."""
_SERVER_PREFIX = "group."


class Kind(IntEnum):
    """The type of a value, with Kafka's numbers."""

    STRING = 2
    INT = 3
    LIST = 7


@attrs.frozen
class Definition:
    """One setting of a group. `of_server` and `bounds` get the server's settings for groups of its kind."""

    name: str
    kind: Kind
    of_server: Callable[[Any], str]
    bounds: Callable[[Any], tuple[int, int]] | None
    about: str
    words: type[StrEnum] | None = None
    """The words that a STRING may be."""
    check: Callable[[str], str] | None = None
    """For a STRING without `words`: returns the value as it is stored. Raises ValueError with what is wrong."""
    overrides: bool = True
    """Whether the server has such a setting for all groups."""
    server: type[ConnectSettings | ConsumerSettings] = ConnectSettings
    """The server's settings of its kind."""

    @property
    def server_name(self) -> str:
        """The name of the server's setting that this one overrides; the own name if only groups have the setting."""
        return _SERVER_PREFIX + self.name if self.overrides else self.name


DEFINITIONS: dict[str, Definition] = {
    each.name: each
    for each in (
        Definition(
            SESSION_TIMEOUT,
            Kind.INT,
            lambda server: str(server.session_timeout_ms),
            lambda server: (server.min_session_timeout_ms, server.max_session_timeout_ms),
            "How long a worker may go without a heartbeat before it counts as gone, in ms.",
        ),
        Definition(
            HEARTBEAT_INTERVAL,
            Kind.INT,
            lambda server: str(server.heartbeat_interval_ms),
            lambda server: (server.min_heartbeat_interval_ms, server.max_heartbeat_interval_ms),
            "How often workers send a heartbeat, in ms.",
        ),
        Definition(
            REBALANCE_DELAY,
            Kind.INT,
            lambda server: str(server.rebalance_delay_ms),
            lambda server: (0, server.max_rebalance_delay_ms),
            "How long the work of a worker that has gone waits for its return, in ms.",
        ),
        Definition(
            MAX_SIZE,
            Kind.INT,
            lambda server: str(server.max_size),
            lambda server: (1, server.max_size),
            "The most workers that the group may have.",
        ),
        Definition(
            ASSIGNORS,
            Kind.LIST,
            lambda server: ",".join(each.name for each in server.assignors),
            None,
            "The server-side assignors that workers may choose, the default first.",
        ),
        Definition(
            MIGRATION_POLICY,
            Kind.STRING,
            lambda server: server.migration_policy,
            None,
            "In which direction the group may change its protocol: bidirectional, upgrade, downgrade or disabled.",
            MigrationPolicy,
        ),
        Definition(
            CLASSIC_MODE,
            Kind.STRING,
            lambda server: server.classic_mode,
            None,
            "How workers of the classic protocol rebalance: all together (barrier) or each on its own (individual).",
            ClassicMode,
        ),
        Definition(
            CLASSIC_WAIT,
            Kind.INT,
            lambda server: str(server.classic_wait_ms),
            lambda _server: (MODES_OWN_WAIT, MAX_CLASSIC_WAIT_MS),
            "How long a heartbeat of such a worker may wait for its answer, in ms; -1: the mode's own value.",
        ),
        Definition(
            LEADER_WAIT,
            Kind.INT,
            lambda server: str(server.leader_wait_ms),
            lambda _server: (0, MAX_LEADER_WAIT_MS),
            "How long the leadership of these workers is kept for a leader that was stopped in good order, in ms.",
        ),
        Definition(
            PLACEMENT,
            Kind.STRING,
            lambda _server: "",
            None,
            "The rules for where connectors and tasks may run, as JSON (see kcoord placement).",
            check=lambda document: write_setting(read_setting(document)),
            overrides=False,
        ),
        Definition(
            OWNER,
            Kind.STRING,
            lambda _server: Owner.AUTO,
            None,
            "Who coordinates the group: kcoord takes it over from the cluster, or gives it back; "
            "auto: what gateway.adopt says.",
            Owner,
            overrides=False,
        ),
    )
}


CONSUMER_DEFINITIONS: dict[str, Definition] = {
    each.name: each
    for each in (
        Definition(
            CONSUMER_SESSION_TIMEOUT,
            Kind.INT,
            lambda server: str(server.session_timeout_ms),
            lambda server: (server.min_session_timeout_ms, server.max_session_timeout_ms),
            "How long a consumer may go without a heartbeat before it counts as gone, in ms.",
            server=ConsumerSettings,
        ),
        Definition(
            CONSUMER_HEARTBEAT_INTERVAL,
            Kind.INT,
            lambda server: str(server.heartbeat_interval_ms),
            lambda server: (server.min_heartbeat_interval_ms, server.max_heartbeat_interval_ms),
            "How often consumers send a heartbeat, in ms.",
            server=ConsumerSettings,
        ),
        Definition(
            CONSUMER_HEARTBEAT_WAIT,
            Kind.INT,
            lambda server: str(server.heartbeat_wait_ms),
            lambda _server: (INTERVALS_WAIT, MAX_WAIT_MS),
            "How long a heartbeat of a consumer may wait for its answer, in ms; 0: not at all; "
            "-1: as long as the interval allows.",
            server=ConsumerSettings,
        ),
        Definition(
            ASSIGNMENT_INTERVAL,
            Kind.INT,
            lambda server: str(server.assignment_interval_ms),
            lambda server: (server.min_assignment_interval_ms, server.max_assignment_interval_ms),
            "The shortest time between two assignments of the group, in ms.",
            server=ConsumerSettings,
        ),
        Definition(
            CONSUMER_MAX_SIZE,
            Kind.INT,
            lambda server: str(server.max_size),
            lambda server: (1, server.max_size),
            "The most consumers that the group may have.",
            server=ConsumerSettings,
        ),
        Definition(
            CONSUMER_MIGRATION_POLICY,
            Kind.STRING,
            lambda server: server.migration_policy,
            None,
            "In which direction the group may change its protocol: bidirectional, upgrade, downgrade or disabled.",
            MigrationPolicy,
            server=ConsumerSettings,
        ),
        Definition(
            CONSUMER_CLASSIC_MODE,
            Kind.STRING,
            lambda server: server.classic_mode,
            None,
            "How consumers of the classic protocol rebalance: all together (barrier) or each on its own (individual).",
            ClassicMode,
            server=ConsumerSettings,
        ),
    )
}


def prefixes(*, consumer_groups: bool) -> tuple[str, ...]:
    """The prefixes of the group settings that are kcoord's. `consumer_groups`: whether it serves consumer groups."""
    return (*PREFIXES, CONSUMER_PREFIX) if consumer_groups else PREFIXES
