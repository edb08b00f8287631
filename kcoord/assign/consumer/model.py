"""The input and the output of consumer groups' assignors: `SubscribedGroup` and `ConsumerTargets`.

These are values that never change. A target is what a member is meant to consume, not what it consumes at this moment.
Topics are named by their ids, 16 bytes, as in the protocol.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import TypeAlias

import attrs

ConsumerTarget: TypeAlias = Mapping[bytes, AbstractSet[int]]
"""The partitions of each topic, by topic id."""
ConsumerTargets: TypeAlias = Mapping[str, ConsumerTarget]
"""The target of each member, by member id. A member that is not named gets nothing."""


@attrs.frozen
class Subscriber:
    """A consumer of the group, with its present target."""

    member_id: str
    instance_id: str | None = None
    """The static member's name (`group.instance.id`); None for a dynamic member."""
    rack_id: str | None = None
    """Where it runs (`client.rack`). The built-in assignors do not read it, nor do Kafka's (KAFKA-16694)."""
    subscribed_topics: AbstractSet[bytes] = frozenset()
    """By name or by regular expression. Members with the same subscription may share one set, which saves time."""
    target: ConsumerTarget = attrs.field(factory=dict)
    """What it has been assigned until now. It may name topics and partitions that do not exist any more."""


@attrs.frozen
class SubscribedGroup:
    """All that an assignor may look at."""

    members: tuple[Subscriber, ...]
    topics: Mapping[bytes, int]
    """How many partitions each topic has. A subscribed topic that is not here does not exist."""
    names: Mapping[bytes, str] = attrs.field(factory=dict)
    """The topics' names. The built-in assignors do not read them."""
