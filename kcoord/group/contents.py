"""What does a shard hold? Its groups, its offsets, and who is to be looked at when."""

from __future__ import annotations

from collections.abc import Callable

from kcoord.group.deadlines import NEVER_MS, Deadlines
from kcoord.group.generic.group import GenericGroup
from kcoord.group.offsets.store import Offsets
from kcoord.group.settings import GroupSettings


class Contents:
    """The state of a shard. What `replay` makes of it is durable; all else is session state and ends with the
    process.
    """

    def __init__(self, settings: GroupSettings, ids: Callable[[], str]) -> None:
        self.settings = settings
        self.ids = ids
        self.groups: dict[str, GenericGroup] = {}
        """Each holds its durable record and its session state; see there. Groups come and go by `replay` alone."""
        self.offsets = Offsets()
        """Durable: committed offsets."""
        self.live = False
        """Session: whether the log has been replayed to its end, so that groups have sessions."""
        self.deadlines: Deadlines[GenericGroup] = Deadlines()
        """Session: timers."""
        self.expiry_due_ms = NEVER_MS
        """Session: when expired offsets are looked for next."""
