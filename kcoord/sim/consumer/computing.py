"""How a consumer of a run computes its group's assignment when it is asked to (KG-27).

Its assignor gives out as `uniform` does. While things go wrong it takes long now and then, it fails, what it makes is
not valid, or it hangs. A repeated request to compute changes nothing.
"""

from __future__ import annotations

from enum import Enum

from kcoord.assign.consumer import ConsumerTargets, SubscribedGroup, Subscriber, UniformConsumerAssignor
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated import consumer_group_install_assignment_request as wire
from kcoord.protocol.generated.consumer_group_heartbeat_request import Assignor
from kcoord.protocol.messages import (
    ConsumerGroupInstallAssignmentRequest,
    ConsumerGroupInstallAssignmentResponse,
    ConsumerGroupPrepareAssignmentRequest,
    ConsumerGroupPrepareAssignmentResponse,
)
from kcoord.sim.basis.violation import Violation
from kcoord.sim.consumer.context import ConsumerContext
from kcoord.sim.consumer.flawed_assignor import FLAWS, AssignorFailed
from kcoord.sim.consumer.membership import ConsumerMembership

OWN = "own"
"""The name of the assignor."""
FLAWED = 0.2
"""The share of computations, while things go wrong, that do."""
HANGS_MS = 20_000
"""How long a computation takes that hangs: longer than the coordinator waits for it."""


def listed(reads_more: bool) -> tuple[Assignor, ...]:
    """What a consumer lists. One that reads more versions can read what all others say."""
    return (Assignor(OWN, -1 if reads_more else 0, 1, 0, 1, b""),)


class Step(Enum):
    """How far it is."""

    IDLE = "it is to compute nothing"
    PREPARING = "it has asked for the group"
    ASSIGNING = "its assignor runs"
    INSTALLING = "its targets are under way"


class Computing:
    """The computation of one consumer."""

    def __init__(self, context: ConsumerContext, membership: ConsumerMembership) -> None:
        self._context, self._membership = context, membership
        self._step = Step.IDLE
        self._epoch = 0
        self._targets: ConsumerTargets | None = None
        """None: its assignor has failed."""
        self._is_valid = True
        self.turn = 0
        """Counts computations, so that the end of one that was given up is ignored."""

    def give_up(self) -> None:
        """Its connection has gone, or its membership."""
        self._step = Step.IDLE
        self.turn += 1

    def begins(self) -> bool:
        """It is asked to compute. Returns whether it begins to."""
        return self._step is Step.IDLE

    def prepare(self) -> ConsumerGroupPrepareAssignmentRequest:
        """The request for the group."""
        self._step = Step.PREPARING
        membership = self._membership
        return ConsumerGroupPrepareAssignmentRequest(membership.group_id, membership.member_id, membership.epoch)

    def prepared(self, response: ConsumerGroupPrepareAssignmentResponse) -> int | None:
        """Run the assignor. Returns how long that takes, in ms; None: it has nothing to install."""
        if response.error_code:
            self.give_up()
            return None
        self._step, self._epoch = Step.ASSIGNING, response.group_epoch
        context, random = self._context, self._context.random
        self._targets, self._is_valid = UniformConsumerAssignor().assign(_shown(response)), True
        if not context.faulty:
            return 1
        if random.random() < FLAWED:
            if random.random() < 0.3:
                return HANGS_MS
            self._is_valid = False
            try:
                self._targets = random.choice(FLAWS)(self._targets)
            except AssignorFailed:
                self._targets = None
        return random.choice((1, 1, 300, 3_000))

    def install(self) -> ConsumerGroupInstallAssignmentRequest:
        """The request with the targets."""
        self._step = Step.INSTALLING
        membership, targets = self._membership, self._targets
        return ConsumerGroupInstallAssignmentRequest(
            membership.group_id,
            membership.member_id,
            membership.epoch,
            self._epoch,
            1 if targets is None else 0,
            [
                wire.Member(each, [wire.TopicPartitions(topic, sorted(numbers)) for topic, numbers in target.items()])
                for each, target in ({} if targets is None else targets).items()
            ],
        )

    def installed(self, response: ConsumerGroupInstallAssignmentResponse) -> None:
        """Take the answer in."""
        text = response.error_message or ""
        if response.error_code == ErrorCode.INVALID_ASSIGNMENT and self._is_valid and "was prepared" not in text:
            raise Violation("computed", f"what {self._membership.member_id} has computed is refused: {text}")
        self.give_up()


def _shown(response: ConsumerGroupPrepareAssignmentResponse) -> SubscribedGroup:
    """The group as its assignor sees it."""
    return SubscribedGroup(
        tuple(
            Subscriber(
                each.member_id,
                each.instance_id,
                each.rack_id,
                frozenset(each.subscribed_topic_ids),
                {part.topic_id: frozenset(part.partitions) for part in each.topic_partitions},
            )
            for each in response.members
        ),
        {topic.topic_id: topic.num_partitions for topic in response.topics},
        {topic.topic_id: topic.topic_name for topic in response.topics},
    )
