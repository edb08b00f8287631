"""Assignors of consumer groups (KIP-848): pure functions from subscriptions to targets.

Start at ``model`` (their input and output) and ``interface`` (what an assignor is); ``target_validity`` says which
targets are valid. ``built_in`` lists the assignors that come with kcoord, which are in ``uniform`` and ``ranges``.
``client_side_assignor`` has those that run in a consumer of the group.
"""

from kcoord.assign.consumer.client_side_assignor import (
    ClientSideAssignor,
    ConsumerAssignment,
    ConsumerMemberAssignment,
    PreparedGroup,
    PreparedMember,
)
from kcoord.assign.consumer.interface import ConsumerAssignor
from kcoord.assign.consumer.model import ConsumerTarget, ConsumerTargets, SubscribedGroup, Subscriber
from kcoord.assign.consumer.ranges import RangeConsumerAssignor
from kcoord.assign.consumer.target_validity import NotValid, check_targets
from kcoord.assign.consumer.uniform import UniformConsumerAssignor
from kcoord.assign.model import Metadata

__all__ = [
    "ClientSideAssignor",
    "ConsumerAssignment",
    "ConsumerAssignor",
    "ConsumerMemberAssignment",
    "ConsumerTarget",
    "ConsumerTargets",
    "Metadata",
    "NotValid",
    "PreparedGroup",
    "PreparedMember",
    "RangeConsumerAssignor",
    "SubscribedGroup",
    "Subscriber",
    "UniformConsumerAssignor",
    "check_targets",
]
