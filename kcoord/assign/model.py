"""What does an assignor get, and what does it give?

Values only, nothing that changes. A target is what a member is meant to run, not what it runs at this moment: the
assignor says what shall be, the coordinator brings it about one worker at a time. Times in ms.
"""

from __future__ import annotations

import attrs

from kcoord.assign.resource import Resource

NO_DELAY = -1
"""`Group.remaining_delay_ms` where no delay is running: a fresh departure may start one."""


@attrs.frozen
class Member:
    """A worker of the group, with the target that it has now."""

    member_id: str
    instance_id: str | None = None
    url: str | None = None
    target: frozenset[Resource] = frozenset()
    """Also that of a worker that came back in time."""
    version: int = 0
    """The version of `metadata`; -1 for a member that speaks the generic protocol."""
    reason: int = 0
    metadata: bytes = b""
    """What the member's own assignor gave (`ConnectAssignor.metadata`); empty for server-side ones."""
    epoch: int = 0


@attrs.frozen
class Departed:
    """A worker that is gone, and whose target nobody has been given yet."""

    member_id: str
    instance_id: str | None = None
    url: str | None = None
    target: frozenset[Resource] = frozenset()


@attrs.frozen
class Group:
    """All that an assignor may look at."""

    members: tuple[Member, ...]
    configured: frozenset[Resource] | None = None
    """What exists; None where no worker ever said."""
    config_offset: int = -1
    departed: tuple[Departed, ...] = ()
    remaining_delay_ms: int = NO_DELAY
    """-1: no delay is running; 0: it is over, assign now; > 0: so long will it run yet."""
    rebalance_delay_ms: int = 0
    """How long a fresh delay should be; 0: the resources of the departed are not kept for them."""


@attrs.frozen
class MemberAssignment:
    """What one member shall run: all of it, not a difference."""

    member_id: str
    resources: frozenset[Resource] = frozenset()
    version: int = 0
    """The version of `metadata`."""
    metadata: bytes = b""
    """Handed to the member's assignor as it is."""
    error: int = 0


@attrs.frozen
class Assignment:
    """What all members shall run. A member that is not named gets nothing."""

    members: tuple[MemberAssignment, ...]
    scheduled_delay_ms: int = 0
    """> 0: resources of departed workers are left to nobody, and the group shall be assigned again after so long."""
    error: int = 0
    """Not 0: no assignment could be made; the coordinator keeps the targets that there are."""


@attrs.frozen
class Metadata:
    """What a worker's assignor tells the assignor that computes."""

    reason: int = 0
    """A change to another value than 0 makes the group assign anew."""
    version: int = 0
    metadata: bytes = b""
    """Must not hold the assignment nor the config offset: each change of it makes the group assign anew."""
