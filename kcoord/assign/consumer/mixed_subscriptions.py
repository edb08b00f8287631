"""Balance of members whose subscriptions overlap: as even as the subscriptions allow.

It counts only: how many partitions of each topic each member has. Which partitions move is decided at the end.

1. What is free goes to the subscribers that have least, topic by topic, those with most partitions for each subscriber
   first.
2. In 16 rounds at most, each topic moves partitions from those that have most to those that have least, until its
   subscribers differ by one at most, as far as they have partitions of this topic.
3. What no single topic can do alone is left to `exchange_cycles`: chains of moves over several topics, and moves that
   turn out not to be needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heapify, heappop, heappush, heapreplace

from kcoord.assign.consumer.exchange_cycles import cancel_cycles
from kcoord.assign.consumer.subscriptions import SubscriptionClass
from kcoord.assign.consumer.topic_counts import TopicCounts
from kcoord.assign.consumer.working_targets import WorkingTargets

_ROUNDS = 16


def balance_mixed(working: WorkingTargets, part: Sequence[SubscriptionClass]) -> None:
    """Make the numbers of partitions of these members as even as their subscriptions allow."""
    topics = sorted(frozenset().union(*[each.topics for each in part]))
    numbers = sorted([at for each in part for at in each.members])
    counts = _counted(working, part, topics, numbers)
    free = [len(working.free[topic]) for topic in topics]
    order = sorted(range(len(topics)), key=lambda topic: _urgency(counts, topic, free[topic]))
    for topic in order:
        _fill(counts, topic, free[topic])
    for _ in range(_ROUNDS):
        if not sum([_level(counts, topic) for topic in order]):
            break
    cancel_cycles(counts)
    for at, topic_id in enumerate(topics):
        _hand_over(working, topic_id, counts.kept[at], counts.held[at], numbers)


def _counted(
    working: WorkingTargets, part: Sequence[SubscriptionClass], topics: list[bytes], numbers: list[int]
) -> TopicCounts:
    """The counts of what the members have; members are numbered from 0 here."""
    counts = TopicCounts(len(topics), len(numbers))
    index = {topic: at for at, topic in enumerate(topics)}
    place = {number: at for at, number in enumerate(numbers)}
    for each in part:
        for topic in each.topics:
            counts.subscribers[index[topic]] += [place[number] for number in each.members]
        for number in each.members:
            for topic, partitions in working.held[number].items():
                counts.start(index[topic], place[number], len(partitions))
    for subscribers in counts.subscribers:
        subscribers.sort()
    return counts


def _urgency(counts: TopicCounts, topic: int, free: int) -> tuple[float, int, int]:
    """Topics with many partitions for each subscriber come first: the others can even out what these leave."""
    subscribers = len(counts.subscribers[topic])
    partitions = free + sum(counts.kept[topic].values())
    return -partitions / subscribers, subscribers, topic


def _fill(counts: TopicCounts, topic: int, free: int) -> None:
    """Give what is free to those that have least."""
    if not free:
        return
    loads, held = counts.loads, counts.held[topic]
    least = [(loads[at], at) for at in counts.subscribers[topic]]
    heapify(least)
    for _ in range(free):
        load, at = least[0]
        held[at] = held.get(at, 0) + 1
        loads[at] = load + 1
        heapreplace(least, (load + 1, at))


def _level(counts: TopicCounts, topic: int) -> bool:
    """Move partitions of this topic until nobody who has one has two more than another subscriber. True if any moved.

    Among equals it is one that got it only now who gives, and one that gave before who gets.
    """
    loads, held, kept = counts.loads, counts.held[topic], counts.kept[topic]
    subscribers = counts.subscribers[topic]
    if not held or max([loads[at] for at in held]) - min([loads[at] for at in subscribers]) < 2:
        return False
    most = [(-loads[at], held[at] <= kept.get(at, 0), at) for at in held]
    least = [(loads[at], held.get(at, 0) >= kept.get(at, 0), at) for at in subscribers]
    heapify(most)
    heapify(least)
    moved = False
    while most:
        load, _, giver = most[0]
        if -load != loads[giver] or not held.get(giver, 0):
            heappop(most)
            continue
        low, _, taker = least[0]
        if low != loads[taker]:
            heappop(least)
            continue
        if loads[giver] - loads[taker] < 2:
            break
        counts.move(topic, giver, taker)
        moved = True
        for at in (giver, taker):
            heappush(least, (loads[at], held.get(at, 0) >= kept.get(at, 0), at))
            if held.get(at, 0):
                heappush(most, (-loads[at], held[at] <= kept.get(at, 0), at))
    return moved


def _hand_over(
    working: WorkingTargets, topic: bytes, kept: dict[int, int], held: dict[int, int], numbers: list[int]
) -> None:
    """Let the members have as many partitions of the topic as was found."""
    for at, had in kept.items():
        has = held.get(at, 0)
        if has < had:
            working.give_up(numbers[at], topic, had - has)
    pool = working.drained(topic)
    done = 0
    for at in sorted(held):
        more = held[at] - kept.get(at, 0)
        if more > 0:
            working.take(numbers[at], topic, pool[done : done + more])
            done += more
