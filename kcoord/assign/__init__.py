"""Assignors: pure functions from a group to an assignment, which says who runs what. They depend on no other package.

Start at ``model`` (their input and output) and ``interface`` (what an assignor is); ``built_in`` lists those that come
with kcoord.
"""

from kcoord.assign.connect import MixedAssignor
from kcoord.assign.cooperative import CooperativeAssignor
from kcoord.assign.eager import EagerAssignor
from kcoord.assign.interface import ConnectAssignor, ServerAssignor
from kcoord.assign.model import NO_DELAY, Assignment, Departed, Group, Member, MemberAssignment, Metadata
from kcoord.assign.uniform import UniformAssignor
from kcoord.resource import CONNECTOR, Resource, tell

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
