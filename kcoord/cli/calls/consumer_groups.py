"""The description of a consumer group of the new protocol (KIP-848): the response of ConsumerGroupDescribe, as commands
use it.

Every broker that knows the protocol answers. Only kcoord also sends the history, what members must let go of, and
who computes.
"""

from collections.abc import Iterable
from typing import Any, ClassVar

import attrs

from kcoord.cli.calls.connect_groups import address_of
from kcoord.cli.calls.group_ownership import UNKNOWN, Ownership
from kcoord.cli.calls.modern_groups import AWAY, Epoch, GroupView, MemberView, Words
from kcoord.cli.output.resource_texts import partitions_json
from kcoord.client import Broker, ClientError, Cluster
from kcoord.client.connection import error_name
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated import consumer_group_describe_response as wire
from kcoord.protocol.messages import ConsumerGroupDescribeRequest, ConsumerGroupDescribeResponse

Partition = tuple[str, int]
Partitions = frozenset[Partition]

CLASSIC_MEMBER = 0
"""`MemberType` of a member that speaks the classic protocol."""
AWAY_EPOCH = -2
_NOT_ONE = (ErrorCode.GROUP_ID_NOT_FOUND, ErrorCode.UNSUPPORTED_VERSION)
"""The errors of a coordinator that has no such consumer group. The second one is that of Kafka 3.7 to 3.9 if the
protocol is off.
"""


@attrs.frozen
class Consumer(MemberView[Partition]):
    """A member of the group."""

    rack: str | None
    names: tuple[str, ...]
    """The topics that it subscribes to by name."""
    pattern: str
    """The regular expression that it subscribes to; empty: none."""
    protocol: str
    """consumer or classic."""

    @property
    def is_classic(self) -> bool:
        """Whether it speaks the classic protocol."""
        return self.protocol == "classic"

    @property
    def subscription(self) -> str:
        """What it subscribes to, for people."""
        return ", ".join([*self.names, *([f"/{self.pattern}/"] if self.pattern else [])])

    def as_json(self) -> dict[str, Any]:
        return {
            "member": self.member,
            "instance": self.instance,
            "client": self.client,
            "host": self.host,
            "rack": self.rack,
            "epoch": self.epoch,
            "state": self.state,
            "owns": partitions_json(self.owns),
            "target": partitions_json(self.target),
            "waits_for": partitions_json(self.waits_for),
            "must_release": partitions_json(self.must_release),
            "protocol": self.protocol,
            "topics": [*self.names],
            "pattern": self.pattern or None,
        }


@attrs.frozen
class ConsumerGroup(GroupView[Consumer]):
    """A consumer group as its coordinator describes it."""

    KIND: ClassVar[str] = "consumer"
    WORDS: ClassVar[Words] = Words("consumer", "consumers", "partition", "partitions")
    FIRST_EPOCH: ClassVar[int] = 1

    has_history: bool
    """Whether the coordinator keeps a history."""
    note: str = ""
    """What is wrong: the group is in quarantine, or its assignor has failed."""
    ownership: Ownership = UNKNOWN
    computing: str | None = None
    """The consumer that computes the next assignment (KG-27). None: nobody computes, or the coordinator does."""

    def shares_json(self, shares: Partitions) -> dict[str, Any]:
        """Partitions, for programs."""
        return partitions_json(shares)

    def as_json(self) -> dict[str, Any]:
        return {
            "group": self.group,
            "exists": True,
            "type": self.KIND,
            "state": self.state,
            "coordinator": self.coordinator,
            "epoch": self.epoch,
            "assignment_epoch": self.assignment_epoch,
            "assignor": self.assignor,
            "computing": self.computing,
            "members": [each.as_json() for each in self.workers],
            "note": self.note,
            **self.ownership.as_json(),
        }


async def describe_consumer_group(cluster: Cluster, broker: Broker, group: str) -> ConsumerGroup | None:
    """Ask the group's coordinator. None: it has no consumer group of that name. Raises ClientError."""
    connection = await cluster.to(broker)
    if not connection.serves(ConsumerGroupDescribeRequest):
        return None
    request = ConsumerGroupDescribeRequest(group_ids=[group], include_history=True)
    response = await connection.send(request, ConsumerGroupDescribeResponse)
    (told,) = response.groups
    if told.error_code in _NOT_ONE:
        return None
    if told.error_code:
        why = told.error_message or error_name(told.error_code)
        raise ClientError(f"{address_of(broker)} does not describe {group}: {why}")
    return ConsumerGroup(
        group=group,
        coordinator=address_of(broker),
        state=told.group_state,
        epoch=told.group_epoch,
        assignment_epoch=told.assignment_epoch,
        assignor=told.assignor_name,
        workers=tuple(sorted(map(_consumer, told.members), key=lambda each: (each.client, each.member))),
        history=tuple(
            Epoch.of(each, lambda move: _flat(move.topic_partitions))
            for each in sorted(told.history or (), key=lambda each: each.epoch)
        ),
        has_history=told.history is not None,
        note=told.error_message or "",
        computing=told.computing_member_id,
    )


def _consumer(told: wire.Member) -> Consumer:
    pending, target = _flat(told.pending), _flat(told.target_assignment.topic_partitions)
    owns = _flat(told.assignment.topic_partitions) | pending
    must_release, waits_for = pending | (owns - target), target - (owns - pending)
    if told.member_epoch == AWAY_EPOCH:
        state = AWAY
    elif must_release:
        state = "Releasing"
    else:
        state = "Waiting" if waits_for else "Stable"
    return Consumer(
        member=told.member_id,
        instance=told.instance_id,
        client=told.client_id,
        host=told.client_host.removeprefix("/"),
        epoch=told.member_epoch,
        state=state,
        owns=owns,
        target=target,
        waits_for=waits_for,
        must_release=must_release,
        rack=told.rack_id,
        names=tuple(told.subscribed_topic_names),
        pattern=told.subscribed_topic_regex or "",
        protocol="classic" if told.member_type == CLASSIC_MEMBER else "consumer",
    )


def _flat(topics: Iterable[wire.TopicPartitions]) -> Partitions:
    return frozenset((each.topic_name or "(deleted)", number) for each in topics for number in each.partitions)
