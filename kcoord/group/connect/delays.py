"""The rebalance delay: how long the resources of a departed worker wait for its return, and who has set that.

| who sets the delay | when it holds |
| --- | --- |
| the group, by `connect.rebalance.delay.ms` | always |
| its classic workers, by their `scheduled.rebalance.max.delay.ms` | if the group sets none, once their leader has shown it (CM-36) |
| kcoord, by `group.connect.rebalance.delay.ms` | otherwise |
"""  # noqa: E501

from __future__ import annotations

from enum import IntEnum

from kcoord.group.state.connect_settings import Effective
from kcoord.group.state.deadlines import NEVER_MS
from kcoord.group.state.groups.connect_group import UNKNOWN_DELAY, ConnectGroup
from kcoord.group.state.records import connect_records as records
from kcoord.group.state.shard_state import ShardState
from kcoord.group.state.transition import Transition

RUNS_ON_MS = 70_000
"""How long a Connect worker with default settings may run on after it has left without stopping (CM-13)."""
BACK_OFF_SHARE, READS_MS = 0.228, 1_600
"""The back-off of such a worker as a share of its own delay, and the time for its reads before it stops (CM-45)."""


class DelaySource(IntEnum):
    """Who has set the delay."""

    GROUP = 1
    WORKERS = 2
    SERVER = 3


def rebalance_delay(transition: Transition, group: ConnectGroup, limits: Effective) -> tuple[int, DelaySource]:
    """The delay that holds, in ms."""
    if limits.has_own_delay:
        return limits.rebalance_delay_ms, DelaySource.GROUP
    if group.classic.members and group.workers_delay_ms != UNKNOWN_DELAY:
        longest_ms = transition.state.settings.connect.max_rebalance_delay_ms
        return min(group.workers_delay_ms, longest_ms), DelaySource.WORKERS
    return limits.rebalance_delay_ms, DelaySource.SERVER


def know_workers_delay(transition: Transition, group: ConnectGroup, delay_ms: int) -> None:
    """Take in the delay that the classic workers are set to, in ms. A delay that runs already is changed as if this one
    had been known when it began.
    """
    limits = transition.state.effective(group.group_id)
    before_ms, _ = rebalance_delay(transition, group, limits)
    transition.write(records.workers_delay(group, delay_ms))
    longer_ms = rebalance_delay(transition, group, limits)[0] - before_ms
    if longer_ms and group.delay_due_ms != NEVER_MS:
        group.delay_due_ms = max(transition.now_ms, group.delay_due_ms + longer_ms)
        left_ms = group.delay_due_ms - transition.now_ms
        transition.write(records.delay_moved(group, transition.wall_ms + left_ms, left_ms))
        transition.wake(group, group.delay_due_ms)


def least_delay_ms(state: ShardState, group: ConnectGroup) -> int:
    """How long a delay that runs goes on, at least, once the group is answered again, in ms (CG-22)."""
    session_ms = state.effective(group.group_id).session_timeout_ms
    return session_ms if group.delay_ms == UNKNOWN_DELAY else min(session_ms, group.delay_ms)


def runs_on_ms(transition: Transition, group: ConnectGroup) -> int:
    """How long a classic worker that left without stopping may run on, in ms, by the longest delay that is known."""
    delay_ms, _ = rebalance_delay(transition, group, transition.state.effective(group.group_id))
    return max(RUNS_ON_MS, int(BACK_OFF_SHARE * max(delay_ms, group.workers_delay_ms)) + READS_MS)
