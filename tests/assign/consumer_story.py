"""Stories of consumer groups: what happens, and who has which partitions after it, line by line.

    x has 4, y has 2         |
    A B subscribe to x y     | A: x0 x1 x2 | B: x3 y0 y1
    they have                | A: x0 y1    | B: x1
    A is static as i7, B leaves, x is gone

Topics and members are letters. `they have` says what the targets are, instead of asking the assignor.
"""

from __future__ import annotations

import re

import attrs

from kcoord.assign.consumer import (
    ConsumerAssignor,
    ConsumerTarget,
    ConsumerTargets,
    SubscribedGroup,
    Subscriber,
)


def topic_id(topic: str) -> bytes:
    """The id of a topic of one letter."""
    return topic.encode().rjust(16, b"\0")


def target(text: str) -> dict[bytes, frozenset[int]]:
    """`x0 x1 y0` as a target."""
    found: dict[bytes, set[int]] = {}
    for each in text.split():
        found.setdefault(topic_id(each[0]), set()).add(int(each[1:]))
    return {topic: frozenset(partitions) for topic, partitions in found.items()}


def shown(target: ConsumerTarget) -> str:
    """A target as a line has it."""
    return " ".join(
        f"{topic[-1:].decode()}{partition}" for topic in sorted(target) for partition in sorted(target[topic])
    )


@attrs.define
class ConsumerStory:
    """A group that goes through the lines of a story."""

    assignor: ConsumerAssignor
    topics: dict[bytes, int] = attrs.Factory(dict)
    members: dict[str, Subscriber] = attrs.Factory(dict)

    def play(self, story: str) -> None:
        """All lines. Raises AssertionError at the first that does not come true."""
        for line in filter(str.strip, story.splitlines()):
            happens, *columns = (each.strip() for each in line.split("|"))
            expected = {name: targets.strip() for name, _, targets in (each.partition(":") for each in columns if each)}
            if happens == "they have":
                self._install({name: target(text) for name, text in expected.items()})
                continue
            for event in happens.split(", "):
                self._happen(event)
            given = self.assignor.assign(SubscribedGroup(tuple(self.members.values()), dict(self.topics)))
            if expected:
                assert {name: shown(each) for name, each in given.items()} == expected, line
            self._install(given)

    def _install(self, targets: ConsumerTargets) -> None:
        for name, member in self.members.items():
            self.members[name] = attrs.evolve(member, target=targets.get(name, {}))

    def _happen(self, event: str) -> None:
        if found := re.fullmatch(r"(\w) has (\d+)", event):
            self.topics[topic_id(found[1])] = int(found[2])
        elif found := re.fullmatch(r"(\w) is gone", event):
            del self.topics[topic_id(found[1])]
        elif found := re.fullmatch(r"([\w ]+) subscribes? to([\w ]*)", event):
            for name in found[1].split():
                member = self.members.get(name, Subscriber(name))
                subscribed = frozenset(map(topic_id, found[2].split()))
                self.members[name] = attrs.evolve(member, subscribed_topics=subscribed)
        elif found := re.fullmatch(r"(\w) is static as (\w+)", event):
            self.members[found[1]] = attrs.evolve(self.members[found[1]], instance_id=found[2])
        elif found := re.fullmatch(r"([\w ]+) leaves?", event):
            for name in found[1].split():
                del self.members[name]
        else:
            raise ValueError(event)
