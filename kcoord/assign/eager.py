"""Who runs what if nobody keeps anything? The client-side assignor `eager`: all anew, as in Connect's first days.

Connectors by name, then tasks, are dealt one by one to the members by id. Nothing waits for a departed worker.
"""

from __future__ import annotations

from kcoord.assign.interface import ConnectAssignor
from kcoord.assign.model import Assignment, Group, MemberAssignment
from kcoord.assign.resource import CONNECTOR
from kcoord.assign.universe import existing


class EagerAssignor(ConnectAssignor):
    """Client-side."""

    name = "eager"

    def assign(self, group: Group) -> Assignment:
        """Round robin, whatever was."""
        ids = sorted(member.member_id for member in group.members)
        resources = sorted(existing(group), key=lambda resource: (resource[1] != CONNECTOR, resource))
        return Assignment(
            tuple([MemberAssignment(each, frozenset(resources[at :: len(ids)])) for at, each in enumerate(ids)])
        )
