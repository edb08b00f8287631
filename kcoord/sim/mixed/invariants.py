"""The invariants of a group with classic workers: as `sim/judging/invariants.py`, except for what these do differently.

A classic worker's epoch is the generation that it was told, and the assignment may be behind that. The group epoch also
moves so that generations move (CM-3); that does not change what an assignment is made from.
"""

from __future__ import annotations

from kcoord.group.state.deadlines import NEVER_MS
from kcoord.group.state.groups.connect_group import ConnectGroup
from kcoord.group.state.groups.modern_member import JOINING_EPOCH
from kcoord.group.state.step import Step
from kcoord.resource import Resource
from kcoord.sim.basis.violation import Violation
from kcoord.sim.judging.invariants import Invariants


class MixedInvariants(Invariants):
    """What is known of the group as it was after the previous step."""

    def _installed(self, group: ConnectGroup) -> None:
        """A conversion also installs an assignment, from what the workers ran, and the next one follows it. A classic
        leader that has read less than others comes again by itself when it reads on.
        """
        behind = group.configured is not None and group.computed_offset < group.configured.offset
        if group.epoch == group.assignment_epoch and not behind:
            super()._installed(group)

    def _owned(self, group: ConnectGroup) -> None:
        """A worker that comes back as a stranger reports what others may have by now (CM-12)."""
        holders: dict[Resource, set[str]] = {}
        for member in group.members.values():
            for resource in member.current:
                holders.setdefault(resource, set()).add(member.member_id)
        known = {each: {owner, *group.also_owned.get(each, ())} for each, owner in group.owners.items()}
        if holders != known:
            raise Violation("indexes", f"owners are {known}, counted {holders}")

    def _is_excused(self, group: ConnectGroup) -> bool:
        """Whether it waits for more workers or for the predecessor as leader (CM-14), or the leader is asked what
        exists.
        """
        fleet = group.classic
        is_asked = fleet.look is not None or fleet.frozen_until_ms != NEVER_MS
        waits = fleet.gathering_due_ms != NEVER_MS or fleet.retiring is not None or is_asked
        return waits or super()._is_excused(group)

    def _epochs(self, group: ConnectGroup) -> None:
        if group.epoch < self.epoch or group.assignment_epoch < self._assignment_epoch:
            raise Violation(
                "epochs",
                f"group {self.epoch} and assignment {self._assignment_epoch} became "
                f"{group.epoch} and {group.assignment_epoch}",
            )
        if group.assignment_epoch > group.epoch:
            raise Violation("epochs", f"assignment {group.assignment_epoch} is above the group's {group.epoch}")
        for member in group.members.values():
            if member.epoch > group.epoch:
                raise Violation("epochs", f"{member.member_id} is at {member.epoch} above the group's {group.epoch}")
            if member.classic is not None:
                continue
            if member.epoch > group.assignment_epoch:
                raise Violation("epochs", f"{member.member_id} is at {member.epoch} above the assignment epoch")
            if (
                member.epoch == group.assignment_epoch > JOINING_EPOCH
                and not member.evicted
                and member.current != group.target_of(member)
            ):
                raise Violation("epochs", f"{member.member_id} is at the assignment epoch and does not own its target")

    def _bumped(self, group: ConnectGroup, step: Step) -> None:
        self.epoch, self._assignment_epoch = group.epoch, group.assignment_epoch
