"""What does a shard hold? Its groups, its offsets, and who is to be looked at when."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from kcoord.group.connect.group import LONG_AGO_MS, ConnectGroup, Member
from kcoord.group.connect.settings import Effective, of_server, overridden
from kcoord.group.connections import Connections
from kcoord.group.deadlines import NEVER_MS, Deadlines
from kcoord.group.generic.group import GenericGroup
from kcoord.group.metrics import Counters
from kcoord.group.offsets.store import Offsets
from kcoord.group.quarantine import Quarantine
from kcoord.group.settings import GroupSettings
from kcoord.group.step import RequestContext, Token
from kcoord.group.translation.newcomers import Newcomers
from kcoord.protocol.record_levels import RECORD_LEVEL


class Contents:
    """The state of a shard. What `replay` makes of it is durable; all else is session state and ends with the
    process.
    """

    def __init__(self, settings: GroupSettings, ids: Callable[[], str]) -> None:
        self.settings = settings
        self._of_server = of_server(settings.connect)
        self._effective: dict[str, tuple[dict[str, str], Effective]] = {}
        """What was made of a group's configuration last."""
        self.ids = ids
        self.groups: dict[str, GenericGroup] = {}
        """Generic groups. Each holds its durable record and its session state; see there. All groups come and go by
        `replay` alone.
        """
        self.connect: dict[str, ConnectGroup] = {}
        """Connect groups; a name is never in both."""
        self.configurations: dict[str, dict[str, str]] = {}
        """Durable: what connect groups have been configured with, also those that are not there (any more)."""
        self.offsets = Offsets()
        """Durable: committed offsets."""
        self.newest_connection = -1
        """Session: the highest number of a connection that brought a request."""
        self.elder_connection = -1
        """Session: what comes by connections up to this number is of before the load (CG-4)."""
        self.alone_since_ms = LONG_AGO_MS
        """Session: since when nobody else can have answered for this shard, on the steps' clock, where anybody could.
        Connections that were made before are of before the load, whichever instance accepted them.
        """
        self.connections = Connections(self._connections_in_use)
        """Session: which connections are there."""
        self.record_level = RECORD_LEVEL
        """Session: the level of the records that may be written, which every living instance reads."""
        self.live = False
        """Session: whether the log has been replayed to its end, so that groups have sessions."""
        self.counters = Counters()
        """Session: what has happened."""
        self.deadlines: Deadlines[GenericGroup | ConnectGroup] = Deadlines()
        """Session: timers of groups."""
        self.holds: Deadlines[Member] = Deadlines()
        """Session: timers of heartbeats' answers that are kept back (CG-26)."""
        self.held: dict[int, dict[str, tuple[ConnectGroup, Member]]] = {}
        """Session: whose answers are kept back, by connection and member id."""
        self.newcomers = Newcomers()
        """Session: ids given to legacy workers that have yet to join connect groups with them."""
        self.waiting: dict[int, tuple[Token, str]] = {}
        """Session: whose request is not answered yet, by identity, and the group that it waits in."""
        self.quarantine: dict[str, Quarantine] = {}
        """Session: groups in which something fell due and could not be done, by name."""
        self.expiry_due_ms = NEVER_MS
        """Session: when expired offsets are looked for next."""
        self.loaded_ms = self.loaded_wall_ms = 0
        """Session: when the log had been replayed, on the steps' clock and in Unix time."""

    def is_closed(self, connection: int) -> bool:
        """Whether the connection that a member came by last has been closed since (CM-19, CM-20, CM-23)."""
        return self.connections.is_closed(connection)

    def is_of_before_load(self, group: ConnectGroup, context: RequestContext) -> bool:
        """Whether a request's connection may have been made before the shard was loaded, or the group was restored:
        then nobody knows whether its member has come by a newer one (CG-4).
        """
        if context.connection <= max(self.elder_connection, group.restored_at_connection):
            return True
        since_ms = max(self.alone_since_ms, group.restored_at_ms)
        return context.opened is not None and context.opened.since_ms < since_ms

    def _connections_in_use(self) -> Iterator[int]:
        return (member.connection for group in self.connect.values() for member in group.members.values())

    def effective(self, group_id: str) -> Effective:
        """What is set for a connect group: the server's settings under the group's own ones."""
        own = self.configurations.get(group_id)
        if own is None:
            return self._of_server
        known = self._effective.get(group_id)
        if known is None or known[0] is not own:
            known = self._effective[group_id] = (own, overridden(self.settings.connect, own))
        return known[1]
