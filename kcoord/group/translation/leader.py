"""The leader of the classic workers: who leads, and whether the leader is ready.

The leader that assignments name is the worker that computed the last one. Connect keeps state in it (who owns which
connector, session keys), and forwards requests to its url. Until it has fetched its own assignment, nobody is given
anything new that might ask it (CM-11, CM-15, CM-23).
"""

from __future__ import annotations

from kcoord.group.state.groups.connect_group import ConnectGroup, Member
from kcoord.group.state.shard_state import Contents


def known_as(member_id: str | None, url: str | None) -> str:
    """What identifies a leader: its url, so that a leader that comes back at that url is the same (CM-20)."""
    return url or member_id or ""


def leader_known_as(group: ConnectGroup) -> str:
    """What identifies the group's leader; empty if nobody has led yet."""
    return known_as(group.computed_by, group.computed_by_url)


def live_legacy_leader(group: ConnectGroup) -> Member | None:
    """The leader, if it is a classic worker that takes part."""
    leader = group.members.get(group.computed_by or "")
    return leader if leader is not None and leader.legacy is not None and not leader.put_out else None


def is_ready(contents: Contents, group: ConnectGroup) -> bool:
    """Whether the leader is a member, has the assignment that it made and can be reached, and no other worker is about
    to lead. True if the coordinator computed: then there is nobody to wait for.
    """
    if group.computed_by is None:
        return True
    look = group.legacy.look
    if look is not None and look.leader != group.computed_by:
        return False
    leader = group.members.get(group.computed_by)
    if leader is None or leader.put_out or contents.is_closed(leader.connection):
        return False
    return leader.legacy is None or group.legacy.ready_leader == leader.member_id


def is_free_to_lead(group: ConnectGroup, chosen: str) -> bool:
    """Whether `chosen` may compute. There are never two leaders, so a worker that leads must have joined, and wait,
    before another one computes (CM-14). If it has not joined, it is called.
    """
    leader = live_legacy_leader(group)
    if leader is None or leader.member_id == chosen:
        group.legacy.retiring = None
        return True
    if leader.legacy is not None and leader.legacy.parked_join is not None:
        group.legacy.retiring = None
        return True
    group.legacy.retiring = leader.member_id
    group.touched.add(leader.member_id)
    return False
