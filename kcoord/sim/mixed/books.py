"""Is a group sound in itself that has legacy workers? As `kcoord.sim.books`, but for what they do otherwise.

A legacy worker's epoch is the generation that it was told, which the assignment may be behind. The group epoch also
moves so that generations do (legacy rule 3), which is no change of what an assignment is made from.
"""

from __future__ import annotations

from kcoord.group.connect.group import ConnectGroup
from kcoord.group.modern.member import JOINING_EPOCH
from kcoord.group.step import Step
from kcoord.sim.books import Books
from kcoord.sim.violation import Violation


class MixedBooks(Books):
    """What is known of the group as it was after the step before."""

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
            if member.legacy is not None:
                continue
            if member.epoch > group.assignment_epoch:
                raise Violation("epochs", f"{member.member_id} is at {member.epoch} above the assignment epoch")
            if (
                member.epoch == group.assignment_epoch > JOINING_EPOCH
                and not member.put_out
                and member.current != group.target_of(member)
            ):
                raise Violation("epochs", f"{member.member_id} is at the assignment epoch and does not own its target")

    def _bumped(self, group: ConnectGroup, step: Step) -> None:
        self.epoch, self._assignment_epoch = group.epoch, group.assignment_epoch
