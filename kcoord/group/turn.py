"""What does a transition work with? One turn of a shard: its state, the time, and the step that is being made.

Whatever is written is replayed at once, so that everything after it in the same turn sees what a restart would see.
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
    """One request, or one look at what fell due."""

    contents: Contents
    now_ms: int
    """Monotonic, for timers."""
    wall_ms: int
    """Unix time, for records."""
    step: Step
    journal: Journal
    """What stood before the records that this part of the step has written."""

    def write(self, record: Record) -> None:
        """Append `record` to the step and apply it."""
        self.journal.note(self.contents, record)
        self.step.records.append(record)
        replay(self.contents, record)

    def answer(self, token: Token, response: Response, remember: Remember | None = None) -> None:
        """Reply to the request that came with `token`."""
        self.step.replies.append(Reply(token, response, remember))

    def wake(self, group: GenericGroup | ConnectGroup, at_ms: int) -> None:
        """Look at `group` again at `at_ms` at the latest."""
        self.contents.deadlines.want(group, at_ms)
