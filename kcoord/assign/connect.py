"""The client-side assignor `connect`, for groups that also have members of the classic protocol.

Classic members are listed with version -1 and their embedded metadata. These are Connect's own bytes: a version, a url
and a config offset, and more that is not read here (`kcoord/protocol/embedded.py` has all of it). The group has their
targets as it has everybody's; the coordinator turns them into assignments for Connect's workers. So `connect` computes
as `cooperative`, which follows the same principles as Connect's own leaders: connectors and tasks are even separately,
nothing moves without need, and the work of a departed worker waits for it for a while. In addition:

- It computes nothing from a configuration older than what some classic member has read: that member would be given what
  was deleted since, and be told an offset below its own, on which it joins again without end. Nor does it compute if
  nobody has said what is configured: the classic members know what this assignor would take away. Then the assignment
  is an error, and the coordinator asks again when the group knows more.
- A classic member whose metadata cannot be read has no offset to compare with, and gets its share all the same.
"""

from __future__ import annotations

import struct

from kcoord.assign.cooperative import cooperate
from kcoord.assign.interface import ConnectAssignor
from kcoord.assign.model import Assignment, Group, Member

CLASSIC_VERSION = -1
"""`Member.version` of a member that speaks the classic protocol."""
CONFIG_MISMATCH = 1
"""The error in place of an assignment, as Connect's leaders give it."""
NO_OFFSET = -1
_URL = struct.Struct(">hh")
"""The version, and the length of the url that follows."""
_OFFSET = struct.Struct(">q")


class MixedAssignor(ConnectAssignor):
    """Reads classic members' metadata. So a worker that lists it computes for them too, and Java workers do not
    compute.
    """

    name = "connect"
    minimum_version = CLASSIC_VERSION
    maximum_version = 0

    def assign(self, group: Group) -> Assignment:
        """Assign everything except what waits; an error if a classic member has read further."""
        classic = [member for member in group.members if member.version == CLASSIC_VERSION]
        if classic and (group.configured is None or group.config_offset < max(map(config_offset, classic))):
            return Assignment((), error=CONFIG_MISMATCH)
        return cooperate(group)


def config_offset(member: Member) -> int:
    """The offset up to which a classic member has read the configuration topic."""
    try:
        _, length = _URL.unpack_from(member.metadata)
        (offset,) = _OFFSET.unpack_from(member.metadata, _URL.size + max(length, 0))
    except struct.error:  # shorter than that
        return NO_OFFSET
    return int(offset)
