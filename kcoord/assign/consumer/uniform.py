"""The assignor `uniform` of consumer groups: even numbers of partitions, with few moves.

Parts of a group that share no topic are balanced by themselves. Where all members of a part subscribe to the same
topics, `same_subscriptions` balances it, else `mixed_subscriptions`.
"""

from __future__ import annotations

from operator import attrgetter

from kcoord.assign.consumer.mixed_subscriptions import balance_mixed
from kcoord.assign.consumer.model import ConsumerTargets, SubscribedGroup
from kcoord.assign.consumer.same_subscriptions import balance_same
from kcoord.assign.consumer.subscriptions import classes_of, parts_of
from kcoord.assign.consumer.working_targets import WorkingTargets

_NOTHING: frozenset[bytes] = frozenset()


class UniformConsumerAssignor:
    """The assignor `uniform`."""

    name = "uniform"
    reads_racks = False

    def assign(self, group: SubscribedGroup) -> ConsumerTargets:
        """Spread all partitions of subscribed topics evenly over those that subscribe to them."""
        members = sorted(group.members, key=attrgetter("member_id"))
        classes = classes_of(members, group.topics)
        subscribed = [_NOTHING] * len(members)
        for each in classes:
            for at in each.members:
                subscribed[at] = each.topics
        topics = sorted(_NOTHING.union(*[each.topics for each in classes]))
        working = WorkingTargets(members, subscribed, {topic: group.topics[topic] for topic in topics})
        for part in parts_of(classes):
            if len(part) == 1:
                balance_same(working, part[0])
            else:
                balance_mixed(working, part)
        return working.targets()
