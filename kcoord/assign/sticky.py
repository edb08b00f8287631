"""From an even spread to a group's assignment.

Members are taken by member id, so that the order in which they are listed changes nothing.
"""

from __future__ import annotations

from kcoord.assign.balance import balance
from kcoord.assign.model import Assignment, Group, MemberAssignment
from kcoord.resource import Resource


def keep_and_balance(group: Group, resources: frozenset[Resource], scheduled_delay_ms: int = 0) -> Assignment:
    """Spread `resources` over the members with the fewest moves from their present targets."""
    members = sorted(group.members, key=lambda member: member.member_id)
    targets = balance([member.target for member in members], resources)
    return Assignment(
        tuple([MemberAssignment(member.member_id, target) for member, target in zip(members, targets, strict=True)]),
        scheduled_delay_ms,
    )
