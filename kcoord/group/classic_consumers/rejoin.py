"""When a classic member has to join again, and how long it may take.

It is called when its own share changes, and only then (KG-22): when it has to let go of something, and when it is to
have something new, of which all is free. Another member's change leaves the generation that it knows valid. (Apache
Kafka calls every classic member at each epoch.)
"""

from __future__ import annotations

from kcoord.group.consumer.answers import advance, next_of
from kcoord.group.state.deadlines import NEVER_MS
from kcoord.group.state.groups.consumer_group import ConsumerGroup, ConsumerMember, Stage
from kcoord.group.state.transition import Transition


def has_to_rejoin(group: ConsumerGroup, member: ConsumerMember) -> bool:
    """Whether the member's next heartbeat calls it."""
    if member.stage is Stage.UNREVOKED:
        return True
    after = next_of(group, member)
    if (after.assigned, after.pending) == (member.assigned, member.pending):
        return False
    return bool(after.pending) or after.stage is not Stage.UNRELEASED or member.stage is not Stage.UNRELEASED


def call(transition: Transition, group: ConsumerGroup, member: ConsumerMember) -> None:
    """Note that the member was told to join again. It is removed if it has not done so in its rebalance timeout."""
    if member.call_due_ms == NEVER_MS:
        _expect(transition, group, member)


def expect_sync(transition: Transition, group: ConsumerGroup, member: ConsumerMember) -> None:
    """Note that the member has joined. It is removed if it does not sync in its rebalance timeout."""
    _expect(transition, group, member)


def _expect(transition: Transition, group: ConsumerGroup, member: ConsumerMember) -> None:
    member.call_due_ms = transition.now_ms + member.metadata.rebalance_timeout_ms
    transition.wake(group, member.call_due_ms)


def follow_quietly(transition: Transition, group: ConsumerGroup, member: ConsumerMember) -> None:
    """Move a member whose share stays to the assignment epoch. It is not told."""
    after = next_of(group, member)
    if (after.assigned, after.pending) == (member.assigned, member.pending):
        advance(transition, group, member, None, is_told=False)
