"""Balance of members that all subscribe to the same topics: no two differ by more than one partition.

The members that have most are the ones that may have one more. So nobody gives up anything that the balance does not
need: no balanced assignment needs fewer moves.
"""

from __future__ import annotations

from kcoord.assign.consumer.subscriptions import SubscriptionClass
from kcoord.assign.consumer.working_targets import WorkingTargets


def balance_same(working: WorkingTargets, members: SubscriptionClass) -> None:
    """Take what members have above their share, and give it and all that is free to those below."""
    topics = sorted(members.topics)
    have = [working.sizes[at] for at in members.members]
    total = sum(have) + sum([len(working.free[topic]) for topic in topics])
    shares = _shares(have, total)
    wants: list[tuple[int, int]] = []
    for at, had, share in zip(members.members, have, shares, strict=True):
        if had > share:
            working.give_up_any(at, had - share)
        elif had < share:
            wants.append((at, share - had))
    _give_out(working, topics, wants)


def _shares(have: list[int], total: int) -> list[int]:
    """How many partitions each member is to have. Those that have too many anyway get one more first."""
    even, left_over = divmod(total, len(have))
    shares = [even] * len(have)
    chosen = [at for at, had in enumerate(have) if had > even]
    if len(chosen) < left_over:
        chosen += [at for at, had in enumerate(have) if had <= even]
    for at in chosen[:left_over]:
        shares[at] += 1
    return shares


def _give_out(working: WorkingTargets, topics: list[bytes], wants: list[tuple[int, int]]) -> None:
    """Give out what is free, topic by topic, to one member after the other; `wants` add up to what is free."""
    waiting = iter(wants)
    at, want = next(waiting, (0, 0))
    for topic in topics:
        pool = working.drained(topic)
        done = 0
        while done < len(pool):
            if not want:
                at, want = next(waiting)
            run = pool[done : done + want]
            working.take(at, topic, run)
            done += len(run)
            want -= len(run)
