"""What follows from a change, in the same step: the next assignment or the wait for it, and an entry of history."""

from __future__ import annotations

from kcoord.group.consumer.computing_choice import ensure_asked, select
from kcoord.group.consumer.next_assignment import compute, due_ms
from kcoord.group.consumer.topic_facts import learn_topics
from kcoord.group.modern.held_replies import notify_touched
from kcoord.group.modern.history import note_convergence
from kcoord.group.state.groups.consumer_group import ConsumerGroup
from kcoord.group.state.transition import Transition


def settle(transition: Transition, group: ConsumerGroup) -> None:
    """Bring the group to rest after a change. It may be a classic group then."""
    if not transition.consumer.classic.convert(transition, group):
        bring_to_rest(transition, group)


def bring_to_rest(transition: Transition, group: ConsumerGroup) -> None:
    """Do the same with a group that stays a consumer group."""
    learn_topics(transition, group)
    if group.members and group.epoch > group.assignment_epoch:
        _assign(transition, group)
    else:
        group.end_computation()
    notify_touched(transition, group)
    note_convergence(transition, group)


def _assign(transition: Transition, group: ConsumerGroup) -> None:
    """Make the next assignment, have a member make it, or look again when it may be made."""
    if due_ms(transition, group) <= transition.now_ms:
        client_side = select(transition, group)
        if client_side is not None:
            ensure_asked(transition, group, client_side)
        else:
            group.end_computation()
            compute(transition, group)
    if group.epoch > group.assignment_epoch and due_ms(transition, group) > transition.now_ms:
        transition.wake(group, due_ms(transition, group))
