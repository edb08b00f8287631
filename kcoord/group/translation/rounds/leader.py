"""The leader of the classic workers: who leads, and whether the leader is ready.

The leader that assignments name is the worker that computed the last one. Connect keeps state in it (who owns which
connector, session keys), and forwards requests to its url. Until it has fetched its own assignment, nobody is given
anything new that might ask it (CM-11, CM-15, CM-23).
"""

from __future__ import annotations

from kcoord.group.state.groups.connect_group import ConnectGroup, ConnectMember
from kcoord.group.state.shard_state import ShardState


def known_as(member_id: str | None, url: str | None) -> str:
    """What identifies a leader: its url, so that a leader that comes back at that url is the same (CM-20)."""
    return url or member_id or ""


def leader_known_as(group: ConnectGroup) -> str:
    """What identifies the group's leader; empty if nobody has led yet."""
    return known_as(group.computed_by, group.computed_by_url)


def live_classic_leader(group: ConnectGroup) -> ConnectMember | None:
    """The leader, if it is a classic worker that takes part."""
    leader = group.members.get(group.computed_by or "")
    return leader if leader is not None and leader.classic is not None and not leader.evicted else None


def is_ready(state: ShardState, group: ConnectGroup) -> bool:
    """Whether the leader is a member, has the assignment that it made and can be reached, and no other worker is about
    to lead. True if the coordinator computed: then there is nobody to wait for.
    """
    if group.computed_by is None:
        return True
    look = group.classic.look
    if look is not None and look.leader != group.computed_by:
        return False
    leader = group.members.get(group.computed_by)
    if leader is None or leader.evicted or state.is_closed(leader.connection):
        return False
    return leader.classic is None or group.classic.ready_leader == leader.member_id


def is_free_to_lead(group: ConnectGroup, chosen: str) -> bool:
    """Whether `chosen` may compute. There are never two leaders, so a worker that leads must have joined, and wait,
    before another one computes (CM-14). If it has not joined, it is called.
    """
    leader = live_classic_leader(group)
    if leader is None or leader.member_id == chosen:
        group.classic.retiring = None
        return True
    if leader.classic is not None and leader.classic.parked_join is not None:
        group.classic.retiring = None
        return True
    group.classic.retiring = leader.member_id
    group.touched.add(leader.member_id)
    return False
