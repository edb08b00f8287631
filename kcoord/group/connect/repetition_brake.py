"""The brake of a connect group whose rebalances repeat themselves: the next one waits for a back-off (`repetition`)."""

from __future__ import annotations

from kcoord.group.connect.rebalance_input import rebalance_input
from kcoord.group.state.deadlines import NEVER_MS
from kcoord.group.state.groups.connect_group import ConnectGroup
from kcoord.group.state.metrics import CONNECT
from kcoord.group.state.repetition import FREE
from kcoord.group.state.step import Slowed
from kcoord.group.state.transition import Transition


def has_to_wait(transition: Transition, group: ConnectGroup) -> bool:
    """Whether the next rebalance must wait because it would repeat earlier ones. If not, the rebalance begins here."""
    repetition, now_ms = group.repetition, transition.now_ms
    if repetition.is_awaited(group.epoch, now_ms):
        return True  # nothing has changed since the last check
    given = rebalance_input(group, transition.state.effective(group.group_id).placement)
    due_ms = repetition.due(given, now_ms)
    if due_ms <= now_ms:
        repetition.begin(given, now_ms)
        return False
    if repetition.due_ms == NEVER_MS:
        transition.state.counters.slowed[CONNECT] += 1
        transition.step.slowed.append(Slowed(group.group_id, repetition.times, repetition.times == FREE))
    repetition.due_ms, repetition.waits_for = due_ms, group.epoch
    transition.wake(group, due_ms)
    return True
