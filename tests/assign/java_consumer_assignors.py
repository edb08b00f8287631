"""How do Kafka's own assignors of consumer groups get the same groups?

A line of JSON an order, for JavaConsumerAssignors.java: `assignor`, `topics` with their partitions, `members` with
`instance` and `topics`, and `targets`; without the last the answer before is the target. The answer is the targets.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kcoord.assign.consumer import ConsumerTargets, SubscribedGroup
from tests.assign.random_consumers import plain, topic_id, topic_of
from tests.kafka.java import Java

PROGRAM = Path(__file__).with_name("JavaConsumerAssignors.java")


def order(assignor: str, group: SubscribedGroup, follows: bool = False) -> dict[str, Any]:
    """What to assign; `follows`: from where Kafka's assignor has come, not from the group's targets."""
    asked: dict[str, Any] = {
        "assignor": assignor,
        "topics": {topic_of(topic): count for topic, count in group.topics.items()},
        "members": {
            each.member_id: {"instance": each.instance_id, "topics": [topic_of(id_) for id_ in each.subscribed_topics]}
            for each in group.members
        },
    }
    if not follows:
        asked["targets"] = plain({each.member_id: each.target for each in group.members})
    return asked


def asked(java: Java, orders: Sequence[dict[str, Any]]) -> list[ConsumerTargets]:
    """What Kafka's classes answer."""
    lines = java.tool(str(PROGRAM), stdin="".join(json.dumps(each) + "\n" for each in orders)).splitlines()
    assert len(lines) == len(orders)
    return [
        {
            member: {topic_id(int(topic)): frozenset(partitions) for topic, partitions in target.items()}
            for member, target in json.loads(line).items()
        }
        for line in lines
    ]
