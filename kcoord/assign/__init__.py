"""Who runs what? Assignors: pure functions from a group to an assignment. Knows nobody.

Start at ``model`` (what they get and give) and ``interface`` (what they are).
"""

from kcoord.assign.interface import ConnectAssignor, ServerAssignor
from kcoord.assign.model import NO_DELAY, Assignment, Departed, Group, Member, MemberAssignment, Metadata
from kcoord.assign.resource import CONNECTOR, Resource, tell

__all__ = [
    "CONNECTOR",
    "NO_DELAY",
    "Assignment",
    "ConnectAssignor",
    "Departed",
    "Group",
    "Member",
    "MemberAssignment",
    "Metadata",
    "Resource",
    "ServerAssignor",
    "tell",
]
