"""The input and the output of assignors: `Group` and `Assignment`.

These are values that never change. A target is what a member is meant to run, not what it runs at this moment: the
assignor says what is to be, and the coordinator brings it about, one worker at a time. Times are in ms.
"""

from __future__ import annotations

import attrs

from kcoord.resource import Resource, resources_of

NO_DELAY = -1
"""`Group.remaining_delay_ms` if no delay is running: a new departure may start one."""


@attrs.frozen
class Member:
    """A worker of the group, with its present target."""

    member_id: str
    instance_id: str | None = None
    """The static member's name (`group.instance.id`); None for a dynamic member."""
    url: str | None = None
    """Where other workers reach this one; None if it did not say."""
    target: frozenset[Resource] = attrs.field(default=frozenset(), converter=resources_of)
    """A worker that came back in time has its old target."""
    version: int = 0
    """The version of `metadata`; -1 for a member that speaks the classic protocol."""
    reason: int = 0
    """`Metadata.reason` of the member's own assignor; 0 for server-side ones."""
    metadata: bytes = b""
    """What the member's own assignor gave (`ConnectAssignor.metadata`); empty for server-side ones."""
    epoch: int = 0
    """The member epoch: 0 for a member that has not had an assignment yet."""


@attrs.frozen
class Departed:
    """A worker that is gone, and whose target has been given to nobody yet."""

    member_id: str
    instance_id: str | None = None
    """As in `Member`."""
    url: str | None = None
    """As in `Member`."""
    target: frozenset[Resource] = attrs.field(default=frozenset(), converter=resources_of)
    """What it was to run when it left."""


@attrs.frozen
class Group:
    """All that an assignor may look at."""

    members: tuple[Member, ...]
    configured: frozenset[Resource] | None = attrs.field(
        default=None, converter=attrs.converters.optional(resources_of)
    )
    """What exists; None if no worker ever said."""
    config_offset: int = -1
    """The offset in Connect's config topic at which `configured` was read; -1 if no such topic is behind it."""
    departed: tuple[Departed, ...] = ()
    """The workers whose target waits for them, or for somebody else."""
    remaining_delay_ms: int = NO_DELAY
    """-1: no delay is running; 0: it is over, assign now; above 0: the time that is left."""
    rebalance_delay_ms: int = 0
    """How long a new delay should be; 0: the resources of departed workers are not kept for them."""


@attrs.frozen
class MemberAssignment:
    """What one member is to run: everything, not a difference."""

    member_id: str
    resources: frozenset[tuple[str, int]] = frozenset()
    """As `Resource` or as plain tuples: kcoord takes both."""
    version: int = 0
    """The version of `metadata`."""
    metadata: bytes = b""
    """Handed to the member's assignor unchanged."""
    error: int = 0
    """Handed to the member's assignor unchanged; 0: no error."""


@attrs.frozen
class Assignment:
    """What all members are to run. A member that is not named gets nothing."""

    members: tuple[MemberAssignment, ...]
    scheduled_delay_ms: int = 0
    """Above 0: resources of departed workers are left unassigned, and the group is to be assigned again after that
    time.
    """
    error: int = 0
    """Not 0: no assignment could be made, and the coordinator keeps the present targets."""


@attrs.frozen
class Metadata:
    """What a worker's assignor tells the assignor that computes."""

    reason: int = 0
    """A change to another value than 0 makes the group compute a new assignment."""
    version: int = 0
    """The version of `metadata`, within the range that the assignor states."""
    metadata: bytes = b""
    """Must contain neither the assignment nor the config offset: each change of it makes the group compute a new
    assignment.
    """
