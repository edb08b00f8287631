"""The assignor `eager`: assigns everything from the beginning, as Connect did in its first versions.

Connectors by name, then tasks, are dealt one by one to the members by id. Nothing waits for a departed worker.
"""

from __future__ import annotations

from kcoord.assign.existing_resources import existing
from kcoord.assign.interface import ConnectAssignor
from kcoord.assign.model import Assignment, Group, MemberAssignment
from kcoord.resource import connectors_among, ordered, tasks_among


class EagerAssignor(ConnectAssignor):
    """The assignor `eager`."""

    name = "eager"

    def assign(self, group: Group) -> Assignment:
        """Assign round robin, whatever the targets were."""
        ids = sorted(member.member_id for member in group.members)
        exists = existing(group)
        resources = [*ordered(connectors_among(exists)), *ordered(tasks_among(exists))]
        return Assignment(
            tuple([MemberAssignment(each, frozenset(resources[at :: len(ids)])) for at, each in enumerate(ids)])
        )
