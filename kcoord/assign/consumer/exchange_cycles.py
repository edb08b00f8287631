"""Chains of moves over several topics that make a group more even, or save moves (negative cycles of a flow).

A partition of one topic goes from a member to a second, one of another topic from there to a third, and so on. Such a
chain is worth it

- if the first member of it has two partitions more than the last: the group gets more even; or
- if fewer partitions are away from their former owners after it, and the group is as even as before: the first member
  has one more than the last, or is the last.

Both are one cost: the sum of the squares of the members' counts first, the number of moves second. Chains become cycles
when their ends are tied together by a hub, through which a partition's count goes back. When no cycle of negative cost
is left, no assignment is more even, and no other one that is as even needs fewer moves. In a large group the search
may end before that (`_LOOKS`).
"""

from __future__ import annotations

from typing import TypeAlias

from kcoord.assign.consumer.topic_counts import TopicCounts

_LOOKS = 1_000_000
"""The search ends after about this many looks at a count. Most groups of a few hundred members need fewer."""
_HUB = -1
_NOBODY = -2
_FAR = 1 << 60

Move: TypeAlias = tuple[int, int, int]
"""Topic, giver, taker."""


def cancel_cycles(counts: TopicCounts) -> None:
    """Make all exchanges that are worth it, in any order, as long as looks are left."""
    if _is_perfect(counts):
        return
    search = _Search(counts)
    while search.looks < _LOOKS:
        moves = search.find()
        if not moves:
            return
        for topic, giver, taker in moves:
            counts.move(topic, giver, taker)


def _is_perfect(counts: TopicCounts) -> bool:
    """All have the same number, or one more, and nothing has moved: there is nothing to look for."""
    if max(counts.loads) - min(counts.loads) > 1:
        return False
    for kept, held in zip(counts.kept, counts.held, strict=True):
        for at, had in kept.items():
            if held.get(at, 0) < had:
                return False
    return True


class _Search:
    """A search for cycles, by the rounds of Bellman and Ford over all counts."""

    def __init__(self, counts: TopicCounts) -> None:
        self.counts = counts
        self.looks = 0
        self.unit = 2 * (sum(counts.loads) + len(counts.loads)) + 1
        """What one less in the sum of squares is worth: more than all moves."""

    def find(self) -> list[Move]:
        """The moves of cycles of negative cost; none if there is no such cycle."""
        counts = self.counts
        self.member_cost = [_FAR] * len(counts.loads)
        self.member_from = [_NOBODY] * len(counts.loads)
        self.topic_cost = [_FAR] * len(counts.held)
        self.topic_from = [_NOBODY] * len(counts.held)
        self.hub_cost = 0
        while self.looks < _LOOKS and self._pass_on():
            moves = self._exchanges()
            if moves:
                return moves
        return []

    def _pass_on(self) -> bool:
        """One round over all counts. False if no way became cheaper."""
        cheaper = self._from_hub()
        cheaper = self._to_topics() or cheaper
        cheaper = self._to_members() or cheaper
        return self._to_hub() or cheaper

    def _from_hub(self) -> bool:
        cheaper = False
        member_cost, hub_cost, unit = self.member_cost, self.hub_cost, self.unit
        for at, load in enumerate(self.counts.loads):
            cost = hub_cost - (2 * load - 1) * unit
            if cost < member_cost[at]:
                member_cost[at] = cost
                self.member_from[at] = _HUB
                cheaper = True
        self.looks += len(member_cost)
        return cheaper

    def _to_topics(self) -> bool:
        """A member that gives a partition: one more move, unless it got it only now."""
        cheaper = False
        member_cost, topic_cost, topic_from = self.member_cost, self.topic_cost, self.topic_from
        for topic, held in enumerate(self.counts.held):
            kept = self.counts.kept[topic]
            best, found = topic_cost[topic], _NOBODY
            for at, has in held.items():
                cost = member_cost[at]
                if cost < best:
                    if has <= kept.get(at, 0):
                        cost += 1
                    if cost < best:
                        best, found = cost, at
            self.looks += len(held)
            if found != _NOBODY:
                topic_cost[topic], topic_from[topic] = best, found
                cheaper = True
        return cheaper

    def _to_members(self) -> bool:
        """A member that gets a partition: one move less if it gave one away."""
        cheaper = False
        member_cost, member_from = self.member_cost, self.member_from
        for topic, cost in enumerate(self.topic_cost):
            if cost == _FAR:
                continue
            held, kept = self.counts.held[topic], self.counts.kept[topic]
            for at in self.counts.subscribers[topic]:
                if cost <= member_cost[at]:
                    getting = cost - 1 if held.get(at, 0) < kept.get(at, 0) else cost
                    if getting < member_cost[at]:
                        member_cost[at], member_from[at] = getting, topic
                        cheaper = True
            self.looks += len(self.counts.subscribers[topic])
        return cheaper

    def _to_hub(self) -> bool:
        cheaper = False
        for at, load in enumerate(self.counts.loads):
            cost = self.member_cost[at] + (2 * load + 1) * self.unit
            if self.member_from[at] != _HUB and cost < self.hub_cost:
                self.hub_cost = cost
                cheaper = True
        return cheaper

    def _exchanges(self) -> list[Move]:
        """The moves of all chains found that are worth it and share no member; else of a cycle without the hub."""
        seen = [0] * len(self.member_from)
        moves: list[Move] = []
        for _, at in self._ends():
            moves += self._walk(at, seen, at + 1, over_hub=True)
        if moves:
            return moves
        seen = [0] * len(self.member_from)
        for at, topic in enumerate(self.member_from):
            if topic >= 0 and not seen[at]:
                moves = self._walk(at, seen, at + 1, over_hub=False)
                if moves:
                    return moves
        return []

    def _ends(self) -> list[tuple[int, int]]:
        """The members at which chains end that are worth it, the best first."""
        if self.hub_cost >= 0:
            return []
        ends = []
        for at, load in enumerate(self.counts.loads):
            cost = self.member_cost[at] + (2 * load + 1) * self.unit
            if cost < 0 and self.member_from[at] >= 0:
                ends.append((cost, at))
        return sorted(ends)

    def _walk(self, start: int, seen: list[int], walk: int, over_hub: bool) -> list[Move]:
        """The moves on the way to a member, if the way began at the hub, or ran into a circle, as the caller wants."""
        moves: list[Move] = []
        at = start
        while not seen[at]:
            seen[at] = walk
            topic = self.member_from[at]
            if topic < 0:
                return moves if over_hub else []
            giver = self.topic_from[topic]
            moves.append((topic, giver, at))
            at = giver
        if over_hub or seen[at] != walk:
            return []
        return moves[[taker for _, _, taker in moves].index(at) :]
