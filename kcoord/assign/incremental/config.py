"""Which configurations is a round computed from?

The leader's own, where it has read as much as any member; else what it has read meanwhile; if that is not enough
either, from none: all get CONFIG_MISMATCH, and the leader reads on.
"""

from __future__ import annotations

from kcoord.assign.incremental.model import CONFIG_MISMATCH, Answer, Memory, Seen, Share, Snapshot


def agreed(seen: Seen) -> tuple[Snapshot, int] | None:
    """The configurations, and the offset that the answer names; None: the leader lacks some.

    The offset is the highest that any member has read, also where the leader has read more.
    """
    highest = max(worker.config_offset for worker in seen.workers)
    if seen.snapshot.offset >= highest:
        return seen.snapshot, highest
    if seen.fresh is not None and seen.fresh.offset >= highest:
        return seen.fresh, seen.fresh.offset
    return None


def mismatch(seen: Seen, memory: Memory) -> Answer:
    """The answer of a leader that lacks configurations: nothing changes, in its memory either."""
    return Answer(
        shares={worker.member_id: Share() for worker in seen.workers},
        leader_url=leader_url(seen),
        config_offset=max(worker.config_offset for worker in seen.workers),
        snapshot=seen.snapshot,
        memory=memory,
        error=CONFIG_MISMATCH,
    )


def leader_url(seen: Seen) -> str:
    """Where the leader is found. Raises ValueError if it is none of the members."""
    for worker in seen.workers:
        if worker.member_id == seen.leader_id:
            return worker.url
    raise ValueError(f"the leader {seen.leader_id} is not among the {len(seen.workers)} members: list it too")
