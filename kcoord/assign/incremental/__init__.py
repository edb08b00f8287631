"""What does a Java leader answer? Connect's own assignors (KIP-415), as pure functions of what a leader sees and keeps.

Not an assignor of this room's interface: it has rounds, revocations and a memory, and its answers are increments.
Start at ``model``. ``leader`` is a round under `compatible` and `sessioned`, ``eager`` one under `default`;
``follower`` is what a worker runs and reports after an answer. ``tests/assign/test_java_leaders.py`` holds all of it to
Connect's own classes.
"""

from kcoord.assign.incremental.follower import synced, written
from kcoord.assign.incremental.leader import answer
from kcoord.assign.incremental.model import MAX_DELAY_MS, Answer, Memory, Seen, Share, Snapshot, Worker

__all__ = ["MAX_DELAY_MS", "Answer", "Memory", "Seen", "Share", "Snapshot", "Worker", "answer", "synced", "written"]
