"""Connect's own assignors (KIP-415), as pure functions of what a Java leader sees and remembers.

They do not have the interface of the other assignors of this package: they have rounds, revocations and a memory, and
their answers are increments. Start at ``model``. ``leader`` is a round under `compatible` and `sessioned`, ``eager`` a
round under `default`; ``follower`` is what a worker runs and reports after an answer.
``tests/assign/test_java_leaders.py`` compares all of it with Connect's own classes.
"""

from kcoord.assign.incremental.follower import synced, written
from kcoord.assign.incremental.leader import answer
from kcoord.assign.incremental.model import MAX_DELAY_MS, Answer, Memory, Seen, Share, Snapshot, Worker

__all__ = ["MAX_DELAY_MS", "Answer", "Memory", "Seen", "Share", "Snapshot", "Worker", "answer", "synced", "written"]
