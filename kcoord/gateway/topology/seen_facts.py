"""What looks at the cluster have shown of topics, and what the group of each consumer was told of it (KG-17).

No I/O and no clock: `topic_watch.py` looks, and so does the simulator. A consumer is known by its connection and its
group.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Generic, TypeVar

import attrs

from kcoord.group.state.seen_topics import SeenTopics
from kcoord.group.state.topic import Topic

__all__ = ["Followed", "News", "SeenFacts"]

AGREEING, AGREE_MS = 3, 10_000
"""How many looks must agree that there is less than before, and the time in ms from the first of them to the last."""
KEPT_MS = 2 * AGREE_MS
"""How long a topic to which nobody subscribes is known after a look at it, in ms."""

NO_ID = bytes(16)
C = TypeVar("C", bound=Hashable)
"""A connection."""


@attrs.frozen
class News:
    """What a group is to be told with a consumer's heartbeat."""

    seen: SeenTopics
    resolved: frozenset[str] | None
    """The topics that match the consumer's regular expression; None: it has none."""


@attrs.define
class _Fact:
    """What the looks at one topic have shown."""

    topic: Topic | None
    looks_ms: list[int]
    """When the last looks were made that have shown it so: no more than are needed to agree."""
    changed_at: int
    """The number of the change that it was, or of its becoming certain."""
    former_id: bytes = NO_ID
    """The id of the topic that had this name before."""
    is_certain: bool = False
    is_loss: bool = False
    """Whether there was more before, or there is nothing."""
    less: _Fact | None = None
    """What the last looks have shown, if that is less."""

    @property
    def looked_ms(self) -> int:
        """When the last look was made."""
        return max(self.looks_ms[-1], 0 if self.less is None else self.less.looks_ms[-1])


@attrs.define
class Followed:
    """What one consumer subscribes to."""

    names: frozenset[str] = frozenset()
    pattern: str = ""
    resolved: frozenset[str] = frozenset()
    """The topics that match its regular expression."""
    told_at: int = -1
    """The number of the last change that its group was told of; -1: it was told nothing yet."""
    told_ms: int = 0
    """When that was."""

    @property
    def topics(self) -> frozenset[str]:
        """The names that it subscribes to in one way or the other."""
        return self.names | self.resolved


class SeenFacts(Generic[C]):
    """What one process knows of topics, and for whom. A consumer is its connection and its group."""

    def __init__(self) -> None:
        self._facts: dict[str, _Fact] = {}
        self._followed: dict[tuple[C, str], Followed] = {}  # in their order, so that a run can be repeated
        self._change = 0

    # -- consumers ----------------------------------------------------------------------------------------------------

    def of(self, consumer: tuple[C, str]) -> Followed | None:
        """What the consumer subscribes to; None: it is not known."""
        return self._followed.get(consumer)

    def consumers(self) -> list[tuple[tuple[C, str], Followed]]:
        """All consumers, with what they subscribe to."""
        return list(self._followed.items())

    def follow(self, consumer: tuple[C, str], followed: Followed) -> None:
        """From now on the consumer subscribes to that."""
        self._followed[consumer] = followed

    def drop(self, connection: C) -> None:
        """The connection has ended."""
        for consumer in [each for each in self._followed if each[0] == connection]:
            del self._followed[consumer]

    def forget(self, consumer: tuple[C, str]) -> None:
        """It is not known any more what the consumer subscribes to."""
        self._followed.pop(consumer, None)

    def add_matching(self, group_id: str, pattern: str, matched: frozenset[str]) -> None:
        """Add what matches now for all in the group that subscribe by that expression. Names that are gone count when
        looks agree, and are left out once the group has been told.
        """
        for (_, of), each in self._followed.items():
            if of != group_id or each.pattern != pattern:
                continue
            each.resolved -= {name for name in each.resolved - matched if self._is_gone(name, each.told_at)}
            if matched - each.resolved:
                each.resolved, each.told_at = each.resolved | matched, -1

    def _is_gone(self, name: str, told_at: int) -> bool:
        fact = self._facts.get(name)
        return fact is not None and fact.topic is None and fact.is_certain and fact.changed_at <= told_at

    def news(self, consumer: tuple[C, str], now_ms: int) -> News | None:
        """What the consumer's group has not been told yet, which it is told now; None: nothing."""
        followed = self._followed.get(consumer)
        return self.told(followed, now_ms) if followed is not None and self.has_news(followed, now_ms) else None

    def has_news(self, followed: Followed, now_ms: int) -> bool:
        """Whether there is anything that the consumer's group has not been told yet, or not lately: what was lost is
        told again and again, because a group that has heard of more since does not believe it at once.
        """
        return followed.told_at < 0 or bool(self._new_to(followed, now_ms))

    def _new_to(self, followed: Followed, now_ms: int) -> dict[str, _Fact]:
        """What is new of a consumer's topics since its group was told. Nothing else: another process may have seen more
        since.
        """
        facts = {name: fact for name in sorted(followed.topics) if (fact := self._facts.get(name)) is not None}
        is_late = now_ms - followed.told_ms >= AGREE_MS
        return {
            name: fact
            for name, fact in facts.items()
            if fact.changed_at > followed.told_at or (is_late and fact.is_certain and fact.is_loss)
        }

    def told(self, followed: Followed, now_ms: int) -> News:
        """What is new of a consumer's topics, which its group is told now."""
        facts = self._new_to(followed, now_ms)
        followed.told_at, followed.told_ms = self._change, now_ms
        return News(
            SeenTopics(
                there={
                    name: fact.topic for name, fact in facts.items() if fact.topic is not None and not fact.is_certain
                },
                certain={name: fact.topic for name, fact in facts.items() if fact.is_certain},
                agreed_ms=max((now_ms - fact.looks_ms[0] for fact in facts.values() if fact.is_certain), default=0),
            ),
            followed.resolved if followed.pattern else None,
        )

    def untold(self, consumer: tuple[C, str]) -> None:
        """The group has not heard what it was to be told with the last heartbeat: tell it with the next one."""
        followed = self._followed.get(consumer)
        if followed is not None:
            followed.told_at = -1

    # -- looks --------------------------------------------------------------------------------------------------------

    def forget_unused(self, now_ms: int) -> None:
        """Forget the topics to which nobody subscribes. Those that were looked at lately, for members of a classic
        group, are kept until looks may agree.
        """
        in_use = frozenset[str]().union(*(followed.topics for followed in self._followed.values()))
        self._facts = {
            name: fact for name, fact in self._facts.items() if name in in_use or now_ms - fact.looked_ms < KEPT_MS
        }

    def names_by_id(self) -> dict[bytes, str]:
        """The names of the topics that were seen, by their ids."""
        return {fact.topic.id: name for name, fact in self._facts.items() if fact.topic is not None}

    def note_all(self, shown: Mapping[str, Topic | None], now_ms: int) -> None:
        """Note what a look has shown; None: there is no such topic."""
        for name in sorted(shown):
            self._note(name, shown[name], now_ms)

    def _note(self, name: str, topic: Topic | None, now_ms: int) -> None:
        known = self._facts.get(name)
        if known is None:
            self._facts[name] = _Fact(topic, [now_ms], self._next_change(), is_loss=topic is None)
        elif known.topic != topic and not _is_less(topic, known):
            former_id = known.former_id if known.topic is None else known.topic.id
            self._facts[name] = _Fact(topic, [now_ms], self._next_change(), former_id)
        elif known.topic == topic:
            known.less = None
            if _agrees(known, now_ms) and not known.is_certain:
                known.is_certain, known.changed_at = True, self._next_change()
        elif known.less is None or known.less.topic != topic:
            known.less = _Fact(topic, [now_ms], 0, is_loss=True)
        elif _agrees(known.less, now_ms):
            self._facts[name] = attrs.evolve(known.less, is_certain=True, changed_at=self._next_change())

    def _next_change(self) -> int:
        self._change += 1
        return self._change


def _agrees(fact: _Fact, now_ms: int) -> bool:
    """Another look has shown the same: do enough of them agree by now?"""
    looks_ms = fact.looks_ms
    looks_ms.append(now_ms)
    while len(looks_ms) > AGREEING and now_ms - looks_ms[1] >= AGREE_MS:
        del looks_ms[0]
    return len(looks_ms) >= AGREEING and now_ms - looks_ms[0] >= AGREE_MS


def _is_less(topic: Topic | None, known: _Fact) -> bool:
    """Whether a look shows less than is known, or a topic that had the name before: that broker may lag behind."""
    if topic is None or known.topic is None:
        return known.topic is not None
    if topic.id == known.topic.id:
        return topic.partitions < known.topic.partitions
    return topic.id == known.former_id
