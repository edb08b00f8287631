"""The assignor `range` of consumer groups: each member gets a range of each topic that it subscribes to.

All topics are cut in one order of the members. So topics with the same number of partitions and the same subscribers
are cut alike (co-partitioned), whatever the order is. Two orders are tried: Kafka's, by instance id or member id, and
the one in which the members stand in the present target (`range_orders`). The one with fewer moves is taken, Kafka's if
both need as many.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from kcoord.assign.consumer.model import ConsumerTarget, ConsumerTargets, SubscribedGroup
from kcoord.assign.consumer.range_orders import present_order
from kcoord.assign.consumer.range_subscribers import RangeSubscribers, kafkas_order


class RangeConsumerAssignor:
    """The assignor `range`."""

    name = "range"
    reads_racks = False

    def assign(self, group: SubscribedGroup) -> ConsumerTargets:
        """Cut each topic into as many ranges as it has subscribers; sizes differ by one at most, long ones first."""
        subscribers = RangeSubscribers(sorted(group.members, key=kafkas_order), group.topics)
        order = list(range(len(subscribers.members)))
        if subscribers.assigned:
            kept = subscribers.kept(order)
            if kept < subscribers.assigned:
                other = present_order(subscribers)
                if subscribers.kept(other) > kept:
                    order = other
        return _targets(subscribers, order)


def _targets(subscribers: RangeSubscribers, order: list[int]) -> dict[str, ConsumerTarget]:
    """The targets when the ranges are given out in this order."""
    targets: dict[str, ConsumerTarget] = {}
    next_place = [0] * len(subscribers.counts)
    for at in order:
        member = subscribers.members[at]
        before = member.target
        target: dict[bytes, AbstractSet[int]] = {}
        for topic in subscribers.topics_of[at]:
            first, end = subscribers.cut(topic, next_place[topic])
            next_place[topic] += 1
            if first < end:
                topic_id = subscribers.topic_ids[topic]
                partitions = frozenset(range(first, end))
                had = before.get(topic_id)
                target[topic_id] = had if had is not None and had == partitions else partitions
        targets[member.member_id] = before if target == before else target
    return targets
