"""The validity of targets: each partition of each subscribed topic is once there, with a subscriber."""

from __future__ import annotations

from kcoord.assign.consumer.model import ConsumerTargets, SubscribedGroup

__all__ = ["NotValid", "check_targets"]


class NotValid(Exception):
    """The targets break a rule. The text says which."""


def check_targets(group: SubscribedGroup, targets: ConsumerTargets) -> None:
    """Raises NotValid if these are no targets for that group."""
    subscriptions = {each.member_id: each.subscribed_topics for each in group.members}
    owners: dict[tuple[bytes, int], str] = {}
    for member_id, target in targets.items():
        if member_id not in subscriptions:
            raise NotValid(f"{member_id} is no member of the group")
        for topic_id, numbers in target.items():
            if numbers and topic_id not in subscriptions[member_id]:
                raise NotValid(f"{member_id} does not subscribe to topic {_name(group, topic_id)}")
            for number in numbers:
                other = owners.setdefault((topic_id, number), member_id)
                if other != member_id:
                    raise NotValid(f"{_name(group, topic_id)}-{number} is assigned to {other} and to {member_id}")
    subscribed = frozenset[bytes]().union(*subscriptions.values())
    for topic_id in sorted(subscribed & group.topics.keys()):
        for number in range(group.topics[topic_id]):
            if owners.pop((topic_id, number), None) is None:
                raise NotValid(f"{_name(group, topic_id)}-{number} is assigned to nobody")
    for topic_id, number in owners:
        raise NotValid(f"topic {_name(group, topic_id)} has no partition {number}")


def _name(group: SubscribedGroup, topic_id: bytes) -> str:
    return group.names.get(topic_id) or topic_id.hex()
