"""The order in which the members of a group stand in its present target, for the assignor `range`.

- Members that have partitions of the same topic stand as their partitions do. Where topics contradict each other, or
  say nothing, the mean position decides.
- Members that have nothing are newcomers: one after the other, in Kafka's order, goes to the place at which most
  partitions stay where they are, the last such place if there are several. In a large group with many newcomers only
  some look for their place, and the others stay at the end.
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush

from kcoord.assign.consumer.range_subscribers import RangeSubscribers

_LOOKS = 400_000
"""The search ends after about this many looks at what a member has of a topic."""


def present_order(subscribers: RangeSubscribers) -> list[int]:
    """All members, in the order of the present target."""
    everybody = range(len(subscribers.members))
    order = _in_line([at for at in everybody if subscribers.present[at]], subscribers)
    newcomers = [at for at in everybody if not subscribers.present[at]]
    a_search = 1 + 2 * sum([len(subscribers.topics_of[at]) for at in order])
    for done, newcomer in enumerate(newcomers):
        if (done + 1) * a_search > _LOOKS:
            return order + newcomers[done:]
        order.insert(_best_place(subscribers, order, newcomer), newcomer)
    return order


def _in_line(members: list[int], subscribers: RangeSubscribers) -> list[int]:
    """These members one behind the other, as what they have is (a topological order)."""
    positions = {at: _position(subscribers, at) for at in members}
    behind, ahead = _neighbours(members, subscribers)
    ready = [(positions[at], at) for at in members if not ahead[at]]
    heapify(ready)
    by_position = sorted([(position, at) for at, position in positions.items()], reverse=True)
    line: dict[int, None] = {}
    while len(line) < len(members):
        _, at = heappop(ready) if ready else by_position.pop()
        if at in line:
            continue
        line[at] = None
        for other in behind[at]:
            ahead[other] -= 1
            if not ahead[other]:
                heappush(ready, (positions[other], other))
    return list(line)


def _neighbours(members: list[int], subscribers: RangeSubscribers) -> tuple[dict[int, list[int]], dict[int, int]]:
    """For each member, who is right behind it in some topic, and in how many topics somebody is right ahead of it.

    Who has nothing of a topic with too few partitions is behind all that have something.
    """
    rows: list[list[tuple[int, int]]] = [[] for _ in subscribers.counts]
    without: list[list[int]] = [[] for _ in subscribers.counts]
    for at in members:
        present = subscribers.present[at]
        for topic in subscribers.topics_of[at]:
            if topic in present:
                rows[topic].append((present[topic][0], at))
            elif subscribers.counts[topic] < subscribers.sizes[topic]:
                without[topic].append(at)
    behind: dict[int, list[int]] = {at: [] for at in members}
    ahead = dict.fromkeys(members, 0)
    for row, others in zip(rows, without, strict=True):
        row.sort()
        pairs = [(row[place][1], row[place + 1][1]) for place in range(len(row) - 1)]
        if row:
            pairs += [(row[-1][1], at) for at in others]
        for before, at in pairs:
            behind[before].append(at)
            ahead[at] += 1
    return behind, ahead


def _position(subscribers: RangeSubscribers, at: int) -> float:
    """Where in its topics a member stands, from 0 to 1: the mean over the partitions that it has."""
    position, partitions = 0.0, 0
    for topic, present in subscribers.present[at].items():
        position += sum(present) / subscribers.counts[topic]
        partitions += len(present)
    return position / partitions


def _best_place(subscribers: RangeSubscribers, order: list[int], newcomer: int) -> int:
    """Where in the order the newcomer leaves most partitions where they are."""
    moves_on = [0] * len(subscribers.counts)
    for topic in subscribers.topics_of[newcomer]:
        moves_on[topic] = 1
    places = [0] * len(subscribers.counts)
    gain = best_gain = best = 0
    for behind, at in enumerate(order, 1):
        for topic in subscribers.topics_of[at]:
            place = places[topic]
            places[topic] = place + 1
            if moves_on[topic] and topic in subscribers.present[at]:
                gain += subscribers.kept_at(at, topic, place) - subscribers.kept_at(at, topic, place + 1)
        if gain >= best_gain:
            best, best_gain = behind, gain
    return best
