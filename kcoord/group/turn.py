"""The transition in progress: one turn of a shard, with its state, the time, and the step that it makes.

A record is replayed as soon as it is written. So everything after it in the same turn sees what a restart would see.
"""

from __future__ import annotations

from kcoord.group.connect.group import ConnectGroup
from kcoord.group.contents import Contents
from kcoord.group.generic.group import GenericGroup
from kcoord.group.journal import Journal
from kcoord.group.replay import replay
from kcoord.group.step import Remember, Reply, Step, Token
from kcoord.protocol.frozen import frozen
from kcoord.protocol.message import Response
from kcoord.protocol.records import Record


@frozen(slots=True, eq=False)
class Turn:
    """The handling of one request, or of what is due at one time."""

    contents: Contents
    now_ms: int
    """Monotonic, for timers."""
    wall_ms: int
    """Unix time, for records."""
    step: Step
    journal: Journal
    """The state before the records that this part of the step has written."""

    def write(self, record: Record) -> None:
        """Append `record` to the step and apply it."""
        self.journal.note(self.contents, record)
        self.step.records.append(record)
        replay(self.contents, record)

    def answer(self, token: Token, response: Response, remember: Remember | None = None) -> None:
        """Reply to the request that came with `token`."""
        self.step.replies.append(Reply(token, response, remember))

    def wake(self, group: GenericGroup | ConnectGroup, at_ms: int) -> None:
        """Have the shard look at `group` again at `at_ms` at the latest."""
        self.contents.deadlines.want(group, at_ms)
