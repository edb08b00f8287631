"""The configurations that a Java leader computes a round from.

They are the leader's own, if it has read as far as every member; else what it has read since it joined. If that is not
enough either, nothing is computed: all get CONFIG_MISMATCH, and the leader reads on.
"""

from __future__ import annotations

from kcoord.assign.incremental.model import CONFIG_MISMATCH, Answer, Memory, Seen, Share, Snapshot


def agreed(seen: Seen) -> tuple[Snapshot, int] | None:
    """The configurations, and the offset that the answer names; None: the leader lacks some.

    With the leader's own configurations, the offset is the highest that any member has read, even if the leader has
    read further. With what it has read since, it is the offset of that.
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
    """The leader's url. Raises ValueError if the leader is not one of the members."""
    for worker in seen.workers:
        if worker.member_id == seen.leader_id:
            return worker.url
    raise ValueError(f"the leader {seen.leader_id} is not among the {len(seen.workers)} members: list it too")
