"""Who runs what in a group that has legacy workers as well? The client-side assignor `connect`.

Members that speak the generic protocol are listed with version -1 and their embedded metadata: Connect's own bytes, a
version, an url and a config offset, and more that is not read here (`kcoord/protocol/embedded.py` has all of it).
What they have as targets is in the group as everybody's; the coordinator turns it into what Connect's workers are told.
So this computes as `cooperative`, which has what Connect's own leaders go by: connectors and tasks even each for
themselves, nothing moved that need not be, the work of a departed worker kept for it for a while. What is beside it:

- Nothing is computed from less than a legacy worker has read of the configuration topic: it would be given what was
  deleted since, and be told an offset below its own, on which it joins again for ever. Neither is it where nobody has
  said what is configured: the legacy workers know what this one would take away.
  The assignment is an error then, and the coordinator asks again when the group has heard more.
- A legacy member whose metadata cannot be read gives no offset to compare with, and is assigned to all the same.
"""

from __future__ import annotations

import struct

from kcoord.assign.cooperative import cooperate
from kcoord.assign.interface import ConnectAssignor
from kcoord.assign.model import Assignment, Group, Member

LEGACY_VERSION = -1
"""`Member.version` of a member that speaks the generic protocol."""
CONFIG_MISMATCH = 1
"""The error of an assignment that is none, as Connect's leaders give it."""
NO_OFFSET = -1
_URL = struct.Struct(">hh")
"""The version, and the length of the url that follows."""
_OFFSET = struct.Struct(">q")


class MixedAssignor(ConnectAssignor):
    """Reads legacy members' metadata, so a worker that lists it computes for them, too, and Java workers do not."""

    name = "connect"
    minimum_version = LEGACY_VERSION
    maximum_version = 0

    def assign(self, group: Group) -> Assignment:
        """All of it but what waits; an error where a legacy worker knows more."""
        legacy = [member for member in group.members if member.version == LEGACY_VERSION]
        if legacy and (group.configured is None or group.config_offset < max(map(config_offset, legacy))):
            return Assignment((), error=CONFIG_MISMATCH)
        return cooperate(group)


def config_offset(member: Member) -> int:
    """Up to where a legacy member has read the configuration topic."""
    try:
        _, length = _URL.unpack_from(member.metadata)
        (offset,) = _OFFSET.unpack_from(member.metadata, _URL.size + max(length, 0))
    except struct.error:  # shorter than that
        return NO_OFFSET
    return int(offset)
