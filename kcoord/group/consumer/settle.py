"""What follows from a change, in the same step: the next assignment, and an entry of history."""

from __future__ import annotations

from kcoord.group.consumer.next_assignment import compute
from kcoord.group.consumer.topic_facts import learn_topics
from kcoord.group.modern.held_replies import notify_touched
from kcoord.group.modern.history import note_convergence
from kcoord.group.state.groups.consumer_group import ConsumerGroup
from kcoord.group.state.transition import Transition


def settle(transition: Transition, group: ConsumerGroup) -> None:
    """Bring the group to rest after a change."""
    learn_topics(transition, group)
    if group.members and group.epoch > group.assignment_epoch:
        compute(transition, group)
    notify_touched(transition, group)
    note_convergence(transition, group)
