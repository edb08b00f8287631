"""The state of a shard: its groups, committed offsets, configurations and timers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import chain

import attrs

from kcoord.group.state.classic_workers.newcomers import Newcomers
from kcoord.group.state.committed_offsets import Offsets
from kcoord.group.state.connect_settings import Effective, of_server, overridden
from kcoord.group.state.connections import Connections
from kcoord.group.state.consumer_settings import ConsumerSettings
from kcoord.group.state.consumer_settings import overridden as overridden_for_consumers
from kcoord.group.state.deadlines import NEVER_MS, Deadlines
from kcoord.group.state.groups.classic_group import ClassicGroup
from kcoord.group.state.groups.connect_group import ConnectGroup
from kcoord.group.state.groups.consumer_group import ConsumerGroup
from kcoord.group.state.groups.modern_group import LONG_AGO_MS, AnyGroup
from kcoord.group.state.groups.modern_member import AnyMember
from kcoord.group.state.metrics import ConsumerCounters, Counters
from kcoord.group.state.quarantine import Quarantine
from kcoord.group.state.settings import GroupSettings
from kcoord.group.state.step import RequestContext, Token
from kcoord.group.state.topic import Topic
from kcoord.protocol.record_levels import RECORD_LEVEL


@attrs.define
class Census:
    """How many members all consumer groups of a shard had when they were counted last."""

    consumers: int = 0
    due_ms: int = LONG_AGO_MS
    """When they are counted next."""


class ShardState:
    """The state of a shard. The part that `replay` changes is durable. All else is session state and ends with the
    process.
    """

    def __init__(self, settings: GroupSettings, ids: Callable[[], str]) -> None:
        self.settings = settings
        self._of_server = of_server(settings.connect)
        self._effective: dict[str, tuple[dict[str, str], Effective]] = {}
        """By group: its configuration, and the values in force that were computed from it."""
        self._consumer_settings: dict[str, tuple[dict[str, str], ConsumerSettings]] = {}
        """The same for consumer groups."""
        self.ids = ids
        self.groups: dict[str, ClassicGroup] = {}
        """Classic groups. Each has its durable record and its session state. Only
        `replay` adds and removes groups.
        """
        self.connect: dict[str, ConnectGroup] = {}
        """Connect groups."""
        self.consumer: dict[str, ConsumerGroup] = {}
        """Consumer groups. A name is never in two of the three."""
        self.declared: dict[str, Topic] = {}
        """Durable: the topics of a kcoord without a cluster, by name, in the partition that has them."""
        self.topics: Mapping[str, Topic] | None = None
        """Session: the topics that exist, by name; None: nobody has told yet."""
        self.topic_names: Mapping[bytes, str] = {}
        """Session: the names of these topics, by id."""
        self.resolutions: Mapping[str, frozenset[str]] = {}
        """Session: by regular expression, the names that match it, as far as anybody has told."""
        self.configurations: dict[str, dict[str, str]] = {}
        """Durable: the own settings of groups, also of groups that do not exist (any more)."""
        self.offsets = Offsets()
        """Durable: committed offsets."""
        self.newest_connection = -1
        """Session: the highest number of a connection that brought a request."""
        self.predecessor_connection = -1
        """Session: connections up to this number were made before the load (CG-4)."""
        self.alone_since_ms = LONG_AGO_MS
        """Session: the time on the steps' clock since which no other instance can have answered for this shard.
        LONG_AGO_MS: no other instance ever could. A connection that was made earlier counts as made before the load,
        whichever instance accepted it.
        """
        self.connections = Connections(self._connections_in_use)
        """Session: which connections are open, and which are closed."""
        self.record_level = RECORD_LEVEL
        """Session: the level of the records that may be written, which every living instance reads."""
        self.live = False
        """Session: whether the log has been replayed to its end, so that groups have sessions."""
        self.counters = Counters()
        """Session: counts of what has happened in groups of all kinds but consumer groups."""
        self.consumer_counters = ConsumerCounters()
        """Session: the same of consumer groups."""
        self.census = Census()
        """Session: how many consumers there are."""
        self.deadlines: Deadlines[ClassicGroup | AnyGroup] = Deadlines()
        """Session: timers of groups."""
        self.holds: Deadlines[AnyMember] = Deadlines()
        """Session: timers of held heartbeat answers (CG-26)."""
        self.held: dict[int, dict[str, tuple[AnyGroup, AnyMember]]] = {}
        """Session: members with a held answer, by connection and member id."""
        self.newcomers = Newcomers()
        """Session: member ids that classic workers were given and have not yet joined a connect group with."""
        self.waiting: dict[int, tuple[Token, str]] = {}
        """Session: tokens of requests that are not answered yet, by identity, each with the group that it waits in."""
        self.quarantine: dict[str, Quarantine] = {}
        """Session: groups in quarantine after a fault, by name."""
        self.expiry_due_ms = NEVER_MS
        """Session: when the shard looks for expired offsets next."""
        self.loaded_ms = self.loaded_wall_ms = 0
        """Session: when the replay of the log ended, on the steps' clock and in Unix time."""

    def is_closed(self, connection: int) -> bool:
        """Whether a member's newest connection has been closed (CM-19, CM-20, CM-23)."""
        return self.connections.is_closed(connection)

    def is_of_before_load(self, group: AnyGroup, context: RequestContext) -> bool:
        """Whether a request's connection may have been made before the shard was loaded or the group was restored. Then
        nobody knows whether its member has used a newer one (CG-4).
        """
        if context.connection <= max(self.predecessor_connection, group.restored_at_connection):
            return True
        since_ms = max(self.alone_since_ms, group.restored_at_ms)
        return context.opened is not None and context.opened.since_ms < since_ms

    def _connections_in_use(self) -> Iterator[int]:
        return (member.connection for group in self.modern() for member in group.members.values())

    def modern(self) -> Iterator[AnyGroup]:
        """All groups without a barrier."""
        return chain[AnyGroup](self.connect.values(), self.consumer.values())

    def modern_group(self, group_id: str) -> AnyGroup | None:
        """The connect group or consumer group of this name; None: there is none."""
        return self.connect.get(group_id) or self.consumer.get(group_id)

    def any_group(self, group_id: str) -> ClassicGroup | AnyGroup | None:
        """The group of this name, whatever its kind; None: there is none."""
        return self.groups.get(group_id) or self.modern_group(group_id)

    def effective(self, group_id: str) -> Effective:
        """The values in force for a connect group: its own settings, and the server's for all others."""
        own = self.configurations.get(group_id)
        if own is None:
            return self._of_server
        known = self._effective.get(group_id)
        if known is None or known[0] is not own:
            known = self._effective[group_id] = (own, overridden(self.settings.connect, own))
        return known[1]

    def consumer_settings(self, group_id: str) -> ConsumerSettings:
        """The values in force for a consumer group: its own settings, and the server's for all others."""
        own = self.configurations.get(group_id)
        if own is None:
            return self.settings.consumer
        known = self._consumer_settings.get(group_id)
        if known is None or known[0] is not own:
            in_force = overridden_for_consumers(self.settings.consumer, own)
            known = self._consumer_settings[group_id] = (own, in_force)
        return known[1]
