"""How many partitions of each topic each member has, while the balance of mixed subscriptions is looked for."""

from __future__ import annotations


class TopicCounts:
    """Topics and members are numbered from 0."""

    def __init__(self, topics: int, members: int) -> None:
        self.loads: list[int] = [0] * members
        """How many partitions each member has."""
        self.subscribers: list[list[int]] = [[] for _ in range(topics)]
        """Who subscribes to each topic, in order."""
        self.kept: list[dict[int, int]] = [{} for _ in range(topics)]
        """How many partitions of each topic each member had at the beginning, and does not have to move."""
        self.held: list[dict[int, int]] = [{} for _ in range(topics)]
        """How many it is to have; members that have none are not there."""

    def start(self, topic: int, member: int, count: int) -> None:
        """The member has so many of the topic at the beginning."""
        self.kept[topic][member] = self.held[topic][member] = count
        self.loads[member] += count

    def move(self, topic: int, giver: int, taker: int) -> None:
        """A partition of the topic goes from one member to another."""
        held = self.held[topic]
        if held[giver] == 1:
            del held[giver]
        else:
            held[giver] -= 1
        held[taker] = held.get(taker, 0) + 1
        self.loads[giver] -= 1
        self.loads[taker] += 1
