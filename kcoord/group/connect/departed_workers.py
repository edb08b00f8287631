"""Departed workers: how long their work waits for them, and which joining worker gets it (CG-22).

| who sets the rebalance delay | when it holds |
| --- | --- |
| the group, by `connect.rebalance.delay.ms` | always |
| its classic workers, by their `scheduled.rebalance.max.delay.ms` | if the group sets none, once their leader has shown it (CM-36) |
| kcoord, by `group.connect.rebalance.delay.ms` | otherwise |

| the worker joins | it is known by | it gets the waiting target |
| --- | --- | --- |
| after its previous member has gone | member id, instance id or url, in this order | when it joins |
| before the session of its previous member has ended (a process was killed and is quickly back) | the url, if only this participant has it | by the next assignment, which is computed as if the worker had had that target all the time |

The worker gets the target less what other targets name by now, and less what no longer exists.
"""  # noqa: E501

from __future__ import annotations

from enum import IntEnum

import attrs

from kcoord.group.state.connect_settings import Effective
from kcoord.group.state.deadlines import NEVER_MS
from kcoord.group.state.groups.connect_group import UNKNOWN_DELAY, ConnectGroup, ConnectMember, Metadata, Resources
from kcoord.group.state.groups.modern_member import NO_CONNECTION
from kcoord.group.state.records import connect_records as records
from kcoord.group.state.shard_state import ShardState
from kcoord.group.state.transition import Transition

NOT_USED = "NOTUSED"
"""The url that all Connect workers without a REST interface advertise, dedicated MirrorMaker 2 included."""
RUNS_ON_MS = 70_000
"""How long a Connect worker with default settings may run on after it has left without stopping (CM-13)."""
BACK_OFF_SHARE, READS_MS = 0.228, 1_600
"""The back-off of such a worker as a share of its own delay, and the time for its reads before it stops (CM-45)."""

# -- the delay ---------------------------------------------------------------------------------------------------------


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


# -- the return --------------------------------------------------------------------------------------------------------


def departed_like(transition: Transition, group: ConnectGroup, member_id: str, metadata: Metadata) -> str | None:
    """The id of the departed member that the joining worker was before; None: it was none of them."""
    departed = dict(group.departed())
    if member_id in departed:
        return member_id
    for departed_id, target in departed.items():
        if metadata.instance_id is not None and target.instance_id == metadata.instance_id:
            return departed_id
    if not is_one(transition, group, metadata.url):
        return None
    return next((each for each, target in departed.items() if target.url == metadata.url), None)


def is_one(transition: Transition, group: ConnectGroup, url: str | None, connection: int = NO_CONNECTION) -> bool:
    """Whether the url identifies the worker that joins by this connection: no other member with an open connection has
    that url (CM-46).
    """
    return (
        bool(url)
        and url != NOT_USED
        and not any(
            member.metadata.url == url
            and not member.evicted
            and member.connection not in (NO_CONNECTION, connection)
            and not transition.state.is_closed(member.connection)
            for member in group.members.values()
        )
    )


def reunited(transition: Transition, group: ConnectGroup) -> dict[str, str]:
    """Workers that were back before their previous member had gone: the new member id by the previous one. The input
    of the next assignment shows the previous member's target as the new member's, so that nothing is lost.
    """
    departed = group.departed()
    if not departed:
        return {}
    by_url: dict[str | None, list[ConnectMember]] = {}
    for member in group.participants():
        by_url.setdefault(member.metadata.url, []).append(member)
    found = {}
    for predecessor_id, target in departed:
        by_its_url = target.url not in (None, NOT_USED) and target.instance_id is None
        heirs = by_url.get(target.url, []) if by_its_url else []
        if len(heirs) == 1 and transition.connect.dialect(heirs[0]).inherits_by_url:
            found[predecessor_id] = heirs[0].member_id
    return found


def left_of(group: ConnectGroup, predecessor_id: str) -> Resources:
    """The resources of a departed member's target that are still there for its return."""
    waiting = group.targets[predecessor_id].resources
    mine = frozenset([each for each in waiting if group.claimants.get(each, predecessor_id) == predecessor_id])
    return mine if group.configured is None else mine & group.configured.resources


def take_over_target(
    transition: Transition, group: ConnectGroup, predecessor_id: str, member_id: str, metadata: Metadata
) -> None:
    """Give a waiting target to the joining member that it waited for."""
    predecessor, mine = group.targets[predecessor_id], left_of(group, predecessor_id)
    if predecessor_id != member_id:
        transition.write(records.member_target(group.group_id, predecessor_id, None))
    target = attrs.evolve(predecessor, resources=mine, instance_id=metadata.instance_id, url=metadata.url)
    transition.write(records.member_target(group.group_id, member_id, target))
