"""Who runs what? Assignors: pure functions from a group to an assignment. Knows nobody.

Start at ``model`` (what they get and give) and ``interface`` (what they are); ``built_in`` lists those that are here.
"""

from kcoord.assign.connect import MixedAssignor
from kcoord.assign.cooperative import CooperativeAssignor
from kcoord.assign.eager import EagerAssignor
from kcoord.assign.interface import ConnectAssignor, ServerAssignor
from kcoord.assign.model import NO_DELAY, Assignment, Departed, Group, Member, MemberAssignment, Metadata
from kcoord.assign.resource import CONNECTOR, Resource, tell
from kcoord.assign.uniform import UniformAssignor

__all__ = [
    "CONNECTOR",
    "NO_DELAY",
    "Assignment",
    "ConnectAssignor",
    "CooperativeAssignor",
    "Departed",
    "EagerAssignor",
    "Group",
    "Member",
    "MemberAssignment",
    "Metadata",
    "MixedAssignor",
    "Resource",
    "ServerAssignor",
    "UniformAssignor",
    "tell",
]
