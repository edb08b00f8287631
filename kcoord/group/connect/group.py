"""What has a connect group beside the heart? The configured set, who computes, a scheduled delay, and its history."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeAlias

import attrs

from kcoord.assign.model import Group as AssignorInput
from kcoord.assign.placement import NO_RULES, Rules
from kcoord.group.connect.support import Supports, support_of
from kcoord.group.deadlines import NEVER_MS
from kcoord.group.modern.group import ModernGroup
from kcoord.group.modern.group import Target as ModernTarget
from kcoord.group.modern.member import NO_CONNECTION
from kcoord.group.modern.member import Member as ModernMember
from kcoord.group.repetition import Repetition
from kcoord.group.translation.session import LegacyFleet
from kcoord.protocol.config_source import ConfigSource, is_of_file
from kcoord.protocol.records import ConnectWorkerGroupHistoryValue, ConnectWorkerGroupMemberMetadataValue
from kcoord.protocol.resources import Resource

Said: TypeAlias = ConnectWorkerGroupMemberMetadataValue
if TYPE_CHECKING:
    Member: TypeAlias = ModernMember[Said, Resource]
    Target: TypeAlias = ModernTarget[Resource]
else:  # to call a class with its parameters takes ten times as long as the class alone
    Member, Target = ModernMember, ModernTarget
Resources: TypeAlias = frozenset[Resource]

NO_OFFSET = -1
NO_DEADLINE = -1
PASSED_DEADLINE = 0
UNKNOWN_DELAY = -1
LONG_AGO_MS = -(1 << 62)
"""The delay is over, and the group epoch was bumped for that already."""

PROTOCOL_TYPE = "connect"
"""As ListGroups and DescribeGroups name it."""


@attrs.frozen(slots=True)
class Configured:
    """The resources that exist, as of an offset of the workers' configuration topic, or of a file (CG-21)."""

    resources: Resources
    offset: int = NO_OFFSET
    source: int = ConfigSource.UNSAID

    @property
    def rank(self) -> tuple[int, int]:
        """The higher one counts: what stands in the topic goes before a file, and a known offset before none."""
        if self.offset == NO_OFFSET:
            return (0, NO_OFFSET)
        return (1 if self.is_of_file else 2, self.offset)

    @property
    def is_of_file(self) -> bool:
        """Whether the offset counts changes of a file."""
        return is_of_file(self.source, self.offset)

    @property
    def topic_offset(self) -> int:
        """The offset where it is one of the topic, else NO_OFFSET."""
        return NO_OFFSET if self.is_of_file else self.offset


@attrs.frozen(slots=True)
class Placed:
    """How an assignment follows the placement rules."""

    rules: Rules = NO_RULES
    """Those that held then."""
    is_followed: bool = True
    """False: a worker has computed it, which knows of no rules."""
    unplaced: Mapping[Resource, str] = attrs.Factory(dict)
    """What nobody runs because of them, and why."""
    unmet: Mapping[Resource, str] = attrs.Factory(dict)
    """What runs where they do not want it, since there is no other place, and why."""
    has_more: bool = False
    """More is to move once this has come about."""


NOT_PLACED = Placed()


@attrs.frozen(slots=True)
class Frozen:
    """The input that a worker was given to compute with (CG-18). It dies with the shard."""

    epoch: int
    """The group epoch that the assignment will be of."""
    input: AssignorInput
    at_ms: int
    """When, on the steps' clock: a delay that the assignment schedules counts from here."""
    merged: frozenset[str] = frozenset()
    """Departed members whose targets the input shows as those of the workers that are back in their places."""


@attrs.define(slots=True, eq=False)
class Computation:
    """A worker has been chosen to compute the next assignment."""

    epoch: int
    """The group epoch when the chosen one was last looked at."""
    assignor: str
    chosen: str
    excluded: set[str] = attrs.Factory(set)
    """Who has failed at this input already (CG-20)."""
    due_ms: int = NEVER_MS
    """When it is given up (CG-20); never before it has been told."""
    frozen: Frozen | None = None


@attrs.define(slots=True, eq=False, weakref_slot=False)
class ConnectGroup(ModernGroup[Member, Resource]):
    """One connect group."""

    # durable
    configured: Configured | None = None
    """None until somebody says, or an install defines it; forgotten when the group is empty (CG-21)."""
    computed_by: str | None = None
    """The member whose assignment is installed; it computes again while it qualifies (CG-16)."""
    computed_by_url: str | None = None
    """Where that member is: legacy workers forward requests there."""
    computed_offset: int = NO_OFFSET
    """Up to which offset of the workers' configuration topic the installed target was computed (CM-7)."""
    config_round: int = NO_OFFSET
    """The offset at which a config round of legacy workers is open."""
    assignor: str = ""
    """The assignor that made the installed target."""
    delay_deadline_wall_ms: int = NO_DEADLINE
    """Until when resources of departed members wait, in Unix time; part of the installed target (CG-22). Only a load
    compares it with a clock: while the shard runs, `delay_due_ms` counts.
    """
    delay_ms: int = UNKNOWN_DELAY
    """How far away that deadline was at the install."""
    workers_delay_ms: int = UNKNOWN_DELAY
    """How long the classic workers are set to let lost work wait, as their leader has shown (CM-36)."""
    error: int = 0
    """Why the assignment epoch moved without a new target; 0 where it did not (CG-20)."""
    error_message: str | None = None
    history: dict[int, ConnectWorkerGroupHistoryValue] = attrs.Factory(dict)
    """By group epoch, oldest first."""
    # an index over what is durable
    supports: Supports = attrs.Factory(Supports)
    """What the participants support (CG-15, CG-16)."""
    # session
    restored_at_ms: int = LONG_AGO_MS
    """When the group was restored, if it was."""
    restored_at_connection: int = NO_CONNECTION
    """What comes by connections up to this number is of before the group was restored after a fault (CG-4)."""
    computation: Computation | None = None
    delay_due_ms: int = NEVER_MS
    """`delay_deadline_wall_ms` on the steps' clock; never once it has been told."""
    retry_due_ms: int = NEVER_MS
    """When an assignment that failed is tried again (CG-20)."""
    failures: int = 0
    """How often in a row it has failed."""
    repetition: Repetition = attrs.Factory(Repetition)
    """Whether assignments are computed again and again, and nothing comes of it."""
    placed: Placed = NOT_PLACED
    """How the installed target follows the placement rules. Not known after a load, until it is found out."""
    fenced: dict[str, str] = attrs.Factory(dict)
    """By instance id, the member id that was replaced last (CG-28)."""
    legacy: LegacyFleet[Resource] = attrs.Factory(LegacyFleet)
    """What concerns members that speak the generic protocol."""

    def has_participants(self) -> bool:
        """Whether there is anybody to assign to."""
        return bool(self.supports.by_member)

    def participants(self) -> list[Member]:
        """The members that an assignment is made for: all but those that were put out (CG-7)."""
        return [member for member in self.members.values() if not member.put_out]

    def note_support(self, member: Member) -> None:
        """The member has come, says something else, or takes part no longer or again. Only `replay` calls this."""
        if member.put_out:
            self.supports.drop(member.member_id)
        else:
            self.supports.put(member.member_id, support_of(member.said))

    def drop_member(self, member_id: str, instance_id: str | None) -> None:
        """A member is gone, and owns nothing any more. Its target stays."""
        super().drop_member(member_id, instance_id)
        self.supports.drop(member_id)

    def index(self) -> None:
        """Make the indexes from what was loaded."""
        super().index()
        self.supports = Supports.of([(member.member_id, member.said) for member in self.participants()])

    def chosen(self) -> str | None:
        """Who computes, if anybody."""
        return None if self.computation is None else self.computation.chosen

    def end_computation(self) -> None:
        """Nobody computes any more. Who did is told, if it waits; the hot path has remembered nothing of it."""
        if self.computation is not None:
            self.touched.add(self.computation.chosen)
            self.computation = None
            self.version += 1
