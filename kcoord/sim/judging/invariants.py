"""The invariants of a group: whether the coordinator's state is consistent, checked whenever a step has changed it.

| invariant | rules |
| --- | --- |
| indexes: owners, claimants, unconverged agree with a recount; targets are disjoint | CG-2, CG-18, CG-22 |
| epochs: group, assignment and member epochs never go back; a member at the assignment epoch owns its target | CG-10 |
| bump: the group epoch moves if, and only if, there is a reason | CG-13 |
| computing: in a group above its assignment epoch somebody computes, or it has failed and says so | CG-14, CG-20 |
| timers: everything that will fall due has a timer | CG-7, CG-20, CG-22 |
"""

from __future__ import annotations

from collections.abc import Iterable

from kcoord.assign import Resource
from kcoord.group.connect.reasons import Reason
from kcoord.group.connect.selection import Absent, select
from kcoord.group.state.deadlines import NEVER_MS
from kcoord.group.state.groups.connect_group import NO_DEADLINE, PASSED_DEADLINE, ConnectGroup
from kcoord.group.state.groups.modern_member import JOINING_EPOCH
from kcoord.group.state.shard_state import ShardState
from kcoord.group.state.step import Step
from kcoord.protocol.records import ConnectWorkerGroupMetadataKey
from kcoord.sim.basis.trace import names
from kcoord.sim.basis.violation import Violation

NOTHING: frozenset[Resource] = frozenset()

Signature = tuple[object, ...]


class Invariants:
    """What is known of the group as it was after the previous step."""

    def __init__(self) -> None:
        self.epoch = 0
        self._assignment_epoch = 0
        self._claimed: frozenset[Resource] = frozenset()
        self._signature: Signature = ()
        self._asked: Signature = ()

    def begin(self, group: ConnectGroup | None) -> None:
        """The log has been replayed: from here on, epochs are those that are committed."""
        self.epoch = 0 if group is None else group.epoch
        self._assignment_epoch = 0 if group is None else group.assignment_epoch
        self._signature, self._asked = ((), ()) if group is None else signature(group)
        self._claimed = NOTHING if group is None else frozenset(group.claimants)

    def forget(self) -> None:
        """The group does not exist any more."""
        self.epoch = self._assignment_epoch = 0
        self._signature = ()

    def look(self, group: ConnectGroup, step: Step, state: ShardState, now_ms: int) -> None:
        """A step has changed the group, or may have."""
        self._owned(group)
        _claimed_once(group)
        _counted(group)
        self._epochs(group)
        self._installed(group)
        if group.group_id not in state.quarantine:
            _timed(group, now_ms)
        self._bumped(group, step)
        self._claimed = frozenset(group.claimants)
        behind = group.epoch > group.assignment_epoch and group.computation is None
        if behind and group.participants() and not self._is_excused(group):
            _nobody_computes(group, state)

    def _owned(self, group: ConnectGroup) -> None:
        """The owner index has each resource that is in a current."""
        _owned_once(group)

    def _is_excused(self, group: ConnectGroup) -> bool:
        """Whether nobody has to compute at this moment, although the group has changed."""
        return group.repetition.due_ms != NEVER_MS

    def _installed(self, group: ConnectGroup) -> None:
        """A new target names only what exists (CG-18)."""
        if group.configured is None or group.error or group.assignment_epoch == self._assignment_epoch:
            return
        exists = group.configured.resources
        for member_id, target in group.targets.items():
            if not target.resources <= exists:
                deleted = names(target.resources - exists)
                raise Violation("targets", f"{member_id} is to own {deleted}, which do not exist")
        lost = (self._claimed & exists) - group.claimants.keys() - group.placed.unplaced.keys()
        if lost and group.assignment_epoch == group.epoch:
            raise Violation("targets", f"{names(lost)} were somebody's, and wait for nobody")

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
            if member.epoch > group.assignment_epoch:
                raise Violation("epochs", f"{member.member_id} is at {member.epoch} above the assignment epoch")
            if (
                member.epoch == group.assignment_epoch > JOINING_EPOCH
                and not member.evicted
                and member.current != group.target_of(member)
            ):
                raise Violation("epochs", f"{member.member_id} is at the assignment epoch and does not own its target")

    def _bumped(self, group: ConnectGroup, step: Step) -> None:
        """The group epoch moves if there is a reason, and only then (CG-13)."""
        before, asked = self._signature, self._asked
        self._signature, self._asked = signature(group)
        moved = group.epoch - self.epoch
        self.epoch, self._assignment_epoch = group.epoch, group.assignment_epoch
        changed = before != self._signature
        if not moved:
            if changed and group.members:
                raise Violation("bump", f"no new group epoch after {before} became {self._signature}")
            return
        reasons = [
            getattr(record.value, "reason", "") for record in step.records
            if isinstance(record.key, ConnectWorkerGroupMetadataKey)
        ]  # fmt: skip
        free = (Reason.DELAY_OVER, Reason.RETRY, Reason.PLACEMENT)
        if not changed and self._asked == asked and not any(reason.startswith(free) for reason in reasons):
            raise Violation("bump", f"a new group epoch without a reason: {reasons}")


def _nobody_computes(group: ConnectGroup, state: ShardState) -> None:
    """Nobody computes: that may be only while the workers that could compute are away (CG-28)."""
    limits = state.effective(group.group_id)
    selection = select(group, [each.name for each in limits.assignors])
    if not isinstance(selection, Absent):
        raise Violation(
            "computing", f"the group is at {group.epoch}, its target at {group.assignment_epoch}: nobody computes"
        )


def _timed(group: ConnectGroup, now_ms: int) -> None:
    """Everything that will fall due has a timer."""
    waits = group.delay_deadline_wall_ms not in (NO_DEADLINE, PASSED_DEADLINE)
    if waits and group.members and group.delay_due_ms == NEVER_MS:
        raise Violation("timers", f"resources wait until {group.delay_deadline_wall_ms}, and nobody knows")
    due_ms = min(group.delay_due_ms, group.retry_due_ms)
    if group.computation is not None:
        due_ms = min(due_ms, group.computation.due_ms)
    for member in group.members.values():
        if member.release_due_ms < due_ms:
            due_ms = member.release_due_ms
    if group.wake_ms > max(due_ms, now_ms + 1):
        raise Violation("timers", f"something falls due at {due_ms}, the group is looked at {group.wake_ms}")


def _owned_once(group: ConnectGroup) -> None:
    """No resource is in two currents, and the owner index has each that is in one."""
    members = group.members
    owners: dict[object, str] = {resource: at for at, member in members.items() for resource in member.current}
    if len(owners) != sum([len(member.current) for member in members.values()]):
        both = _twice([(at, member.current) for at, member in members.items()])
        raise Violation("indexes", f"{both[0]} is in the current of {both[1]} and {both[2]}")
    if owners != group.owners:
        raise Violation("indexes", f"owners are {group.owners}, counted {owners}")


def _claimed_once(group: ConnectGroup) -> None:
    """The same for targets."""
    targets = group.targets
    claimants: dict[object, str] = {resource: at for at, target in targets.items() for resource in target.resources}
    if len(claimants) != sum([len(target.resources) for target in targets.values()]):
        both = _twice([(at, target.resources) for at, target in targets.items()])
        raise Violation("targets", f"{both[0]} is in the target of {both[1]} and {both[2]}")
    if claimants != group.claimants:
        raise Violation("indexes", f"claimants are {group.claimants}, counted {claimants}")


def _twice(given: Iterable[tuple[str, frozenset[Resource]]]) -> tuple[Resource, str, str]:
    """A resource that two members have, and those members."""
    first: dict[Resource, str] = {}
    for at, resources in given:
        for resource in sorted(resources):
            if resource in first:
                return resource, first[resource], at
            first[resource] = at
    raise AssertionError("nobody has what somebody else has")


def _counted(group: ConnectGroup) -> None:
    """The other indexes, and the history."""
    targets = group.targets
    unconverged, static = set(), {}
    for at, member in group.members.items():
        target = targets.get(at)
        if member.current != (NOTHING if target is None else target.resources):
            unconverged.add(at)
        if member.metadata.instance_id is not None:
            static[member.metadata.instance_id] = at
    if unconverged != group.unconverged:
        raise Violation("indexes", f"unconverged are {group.unconverged}, counted {unconverged}")
    if static != group.static_ids:
        raise Violation("indexes", f"static members are {group.static_ids}, counted {static}")
    if group.history:
        epochs = list(group.history)
        if epochs != list(range(epochs[0], group.epoch + 1)):
            raise Violation("history", f"epochs {epochs} at group epoch {group.epoch}")


def signature(group: ConnectGroup) -> tuple[Signature, Signature]:
    """What an assignment is made from: who takes part with which metadata, and what is configured. And the reasons that
    members' assignors give for a new assignment.
    """
    made, asked = [], []
    for member in group.members.values():
        said = member.metadata
        name, offers = said.instance_id or member.member_id, said.assignors
        kinds = tuple([(at.name, at.minimum_version, at.maximum_version, at.version, at.metadata) for at in offers])
        made.append((name, said.server_assignor or "", kinds, member.evicted))
        asked.append((name, tuple([at.reason for at in offers])))
    made.sort()
    asked.sort()
    return (tuple(made), None if group.configured is None else group.configured.resources), tuple(asked)
