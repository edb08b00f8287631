"""The state of a connect group: what every group without a barrier has, the configured set, who computes, the delay."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeAlias

import attrs

from kcoord.assign.model import Group as AssignorInput
from kcoord.assign.placement import NO_RULES, Rules
from kcoord.group.state.classic_workers.session import ClassicWorkers
from kcoord.group.state.deadlines import NEVER_MS
from kcoord.group.state.groups.assignor_support import Supports, support_of
from kcoord.group.state.groups.computation import Computation
from kcoord.group.state.groups.modern_group import ModernGroup
from kcoord.group.state.groups.modern_group import Target as ModernTarget
from kcoord.group.state.groups.modern_member import ModernMember
from kcoord.group.state.repeated_rebalances import Repetition
from kcoord.protocol.config_source import ConfigSource, is_of_file
from kcoord.protocol.records import ConnectWorkerGroupMemberMetadataValue
from kcoord.resource import Resource

Metadata: TypeAlias = ConnectWorkerGroupMemberMetadataValue
if TYPE_CHECKING:
    ConnectMember: TypeAlias = ModernMember[Metadata, Resource]
    Target: TypeAlias = ModernTarget[Resource]
else:  # to call a class with its parameters takes ten times as long as the class alone
    ConnectMember, Target = ModernMember, ModernTarget
Resources: TypeAlias = frozenset[Resource]

NO_OFFSET = -1
NO_DEADLINE = -1
PASSED_DEADLINE = 0
"""The delay is over, and the group epoch was already bumped for that."""
UNKNOWN_DELAY = -1

PROTOCOL_TYPE = "connect"
"""The protocol type in ListGroups and DescribeGroups."""


@attrs.frozen(slots=True)
class Configured:
    """The configured set: the resources that exist, as of an offset of Connect's config topic or of a file (CG-21)."""

    resources: Resources
    offset: int = NO_OFFSET
    source: int = ConfigSource.UNSAID

    @property
    def rank(self) -> tuple[int, int]:
        """The set with the higher rank counts: a topic ranks above a file, and a known offset above an unknown one."""
        if self.offset == NO_OFFSET:
            return (0, NO_OFFSET)
        return (1 if self.is_of_file else 2, self.offset)

    @property
    def is_of_file(self) -> bool:
        """Whether the offset belongs to a file."""
        return is_of_file(self.source, self.offset)

    @property
    def topic_offset(self) -> int:
        """The offset if it belongs to the topic, else NO_OFFSET."""
        return NO_OFFSET if self.is_of_file else self.offset


@attrs.frozen(slots=True)
class Placed:
    """How an assignment follows the placement rules."""

    rules: Rules = NO_RULES
    """The rules when the assignment was computed."""
    is_followed: bool = True
    """False: a worker computed the assignment, and workers know no rules."""
    unplaced: Mapping[Resource, str] = attrs.Factory(dict)
    """Resources that nobody runs because of the rules, each with the reason."""
    unmet: Mapping[Resource, str] = attrs.Factory(dict)
    """Resources that run in a place that the rules do not want, because there is no other; each with the reason."""
    has_more: bool = False
    """More resources are to move after the members have reached this assignment."""


NOT_PLACED = Placed()


@attrs.frozen(slots=True)
class Frozen:
    """The frozen input of an assignor (CG-18). It is lost with the shard."""

    epoch: int
    """The group epoch of the assignment that is computed from it."""
    input: AssignorInput
    at_ms: int
    """When it was frozen, on the steps' clock. A delay that the assignment schedules counts from here."""
    merged: frozenset[str] = frozenset()
    """Departed members whose workers are back: the input shows their targets as targets of these workers."""


@attrs.define(slots=True, eq=False, weakref_slot=False)
class ConnectGroup(ModernGroup[ConnectMember, Resource]):
    """One connect group."""

    # durable
    configured: Configured | None = None
    """None until a worker reports the set or an install defines it. Forgotten when the group is empty (CG-21)."""
    computed_by: str | None = None
    """The member whose assignment is installed. It computes again while it qualifies (CG-16)."""
    computed_by_url: str | None = None
    """The url of that member: classic workers forward REST requests to it."""
    computed_offset: int = NO_OFFSET
    """The offset of Connect's config topic as of which the installed target was computed (CM-7)."""
    config_round: int = NO_OFFSET
    """The offset of the open config round of classic workers. NO_OFFSET: no round is open."""
    assignor: str = ""
    """The assignor that made the installed target."""
    delay_deadline_wall_ms: int = NO_DEADLINE
    """When the delay ends for resources of departed members, in Unix time. Part of the installed target (CG-22). Only
    a load compares it with a clock; while the shard runs, `delay_due_ms` counts.
    """
    delay_ms: int = UNKNOWN_DELAY
    """The time from the install to that deadline."""
    workers_delay_ms: int = UNKNOWN_DELAY
    """The delay that is set on the classic workers, as their leader has shown it (CM-36)."""
    error: int = 0
    """Why the assignment epoch moved without a new target (CG-20); 0: it did not."""
    error_message: str | None = None
    # an index of durable state
    supports: Supports = attrs.Factory(Supports)
    """What the participants support (CG-15, CG-16)."""
    # session
    computation: Computation[Frozen] | None = None
    delay_due_ms: int = NEVER_MS
    """`delay_deadline_wall_ms` on the steps' clock. NEVER_MS once the group epoch has moved for it."""
    retry_due_ms: int = NEVER_MS
    """When the group tries again after an assignment error (CG-20)."""
    failures: int = 0
    """Assignment errors in a row that are tried again."""
    repetition: Repetition = attrs.Factory(Repetition)
    """Notices rebalances that repeat earlier ones and change nothing."""
    placed: Placed = NOT_PLACED
    """How the installed target follows the placement rules. After a load, NOT_PLACED until `recall_placed`."""
    fenced: dict[str, str] = attrs.Factory(dict)
    """By instance id, the member id that was replaced last (CG-28)."""
    classic: ClassicWorkers[Resource] = attrs.Factory(ClassicWorkers)
    """The group's state about its classic members."""

    def has_participants(self) -> bool:
        """Whether any member takes part in assignments."""
        return bool(self.supports.by_member)

    def participants(self) -> list[ConnectMember]:
        """The members that take part in assignments: all that are not excluded (`evicted`, CG-7)."""
        return [member for member in self.members.values() if not member.evicted]

    def note_support(self, member: ConnectMember) -> None:
        """Update `supports` after the member has joined, changed its metadata, or was excluded or taken in again. Only
        `replay` calls this.
        """
        if member.evicted:
            self.supports.drop(member.member_id)
        else:
            self.supports.put(member.member_id, support_of(member.metadata))

    def drop_member(self, member_id: str, instance_id: str | None) -> None:
        """Remove a member with all that it owns. Its target stays."""
        super().drop_member(member_id, instance_id)
        self.supports.drop(member_id)

    def index(self) -> None:
        """Build the indexes after a load."""
        super().index()
        self.supports = Supports.of([(member.member_id, member.metadata) for member in self.participants()])
