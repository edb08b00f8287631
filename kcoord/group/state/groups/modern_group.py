"""The state of a group without a barrier: members, three epochs, a target for each member, and who owns what.

Only `replay` changes the durable state. It calls the `set_…` functions here, which keep the indexes up to date: the
owner of a resource, the member whose target names it, and the members that have not converged.

The group epoch counts changes of the input of an assignment. The assignment epoch is the group epoch that the target
was made for. A member's epoch is the assignment epoch whose target it owns in full (CG-10).
"""

from __future__ import annotations

from typing import Any, Generic, TypeAlias, TypeVar

import attrs

from kcoord.group.state.deadlines import NEVER_MS
from kcoord.group.state.groups.computation import Computation
from kcoord.group.state.groups.modern_member import NO_CONNECTION, ModernMember, R
from kcoord.group.state.groups.modern_states import ModernState
from kcoord.protocol.frozen_class import frozen

M = TypeVar("M", bound=ModernMember[Any, Any])

LONG_AGO_MS = -(1 << 62)
"""A time before all others."""
UNSET = -1
"""In the history: a time that has not come yet."""


@frozen(slots=True)
class Target(Generic[R]):
    """What one member is to own in the end. It stays when the member goes, so that a member that returns gets it back
    (CG-22).
    """

    resources: frozenset[R]
    version: int = 0
    metadata: bytes = b""
    """For the member's assignor, from the worker that computed."""
    instance_id: str | None = None
    url: str | None = None


@attrs.define(slots=True, eq=False, weakref_slot=False)
class ModernGroup(Generic[M, R]):
    """Members, and what they own. A resource can be of any type."""

    group_id: str
    # durable
    epoch: int = 0
    """The group epoch."""
    reason: str = ""
    """Why the group epoch moved last."""
    reason_wall_ms: int = -1
    assignment_epoch: int = 0
    members: dict[str, M] = attrs.Factory(dict)
    targets: dict[str, Target[R]] = attrs.Factory(dict)
    """By member id. Includes departed members, until an assignment gives their resources away."""
    history: dict[int, Any] = attrs.Factory(dict)
    """By group epoch, oldest first: what the records of the history have, in the format of the group's kind."""
    # indexes of durable state
    static_ids: dict[str, str] = attrs.Factory(dict)
    """Member id by instance id."""
    owners: dict[R, str] = attrs.Factory(dict)
    """The member whose current has a resource. No other member may be granted it (CG-2)."""
    also_owned: dict[R, set[str]] = attrs.Factory(dict)
    """The other members that may be running a resource: workers that joined with it although it was not granted to
    them. `owners` has the smallest member id of all of them, so that it does not depend on the order of records.
    """
    claimants: dict[R, str] = attrs.Factory(dict)
    """The member whose target names a resource."""
    unconverged: set[str] = attrs.Factory(set)
    """Members whose current is not their target."""
    # session
    version: int = 0
    """Moves with every change in the group; not with heartbeats that say nothing new. A watcher need not look again
    while it is the same. The hot path uses the version of each member instead (CG-25).
    """
    touched: set[str] = attrs.Factory(set)
    """Members for which this step may have changed something. They are notified if they wait (CG-26)."""
    dead: bool = False
    computation: Computation[Any] | None = None
    """The computation of the next assignment by a member; None: no member is to compute."""
    restored_at_ms: int = LONG_AGO_MS
    """When the group was last restored after a fault."""
    restored_at_connection: int = NO_CONNECTION
    """Connections up to this number were made before the group was restored after a fault (CG-4)."""
    wake_ms: int = NEVER_MS
    """For `Deadlines`."""

    # -- questions ----------------------------------------------------------------------------------------------------

    @property
    def state(self) -> ModernState:
        """See `states.py`."""
        if self.dead:
            return ModernState.DEAD
        if not self.members:
            return ModernState.EMPTY
        if self.epoch > self.assignment_epoch:
            return ModernState.ASSIGNING
        return ModernState.RECONCILING if self.unconverged else ModernState.STABLE

    def target_of(self, member: M) -> frozenset[R] | None:
        """The resources that `member` is to own; None: no assignment has named it yet."""
        target = self.targets.get(member.member_id)
        return None if target is None else target.resources

    def takes_part(self, member_id: str) -> bool:
        """Whether assignments are made for it: it is a member and not excluded (`evicted`, CG-7)."""
        member = self.members.get(member_id)
        return member is not None and not member.evicted

    def departed(self) -> list[tuple[str, Target[R]]]:
        """The targets of members that have gone or are excluded, sorted by member id: resources that wait for their
        return, or for others.
        """
        return sorted((each for each in self.targets.items() if not self.takes_part(each[0])), key=lambda each: each[0])

    def chosen(self) -> str | None:
        """The id of the member that is chosen to compute; None: no member is."""
        return None if self.computation is None else self.computation.chosen

    def end_computation(self) -> None:
        """End the computation. If the chosen member's heartbeat is held, its answer tells it. The hot path needs no
        notice: it remembers no answer to a chosen member.
        """
        if self.computation is not None:
            self.touched.add(self.computation.chosen)
            self.computation = None
            self.version += 1

    # -- what the hot path remembers (CG-25) --------------------------------------------------------------------------

    def forget(self, member: M) -> None:
        """Move the member's version, because something has changed that its answer depends on: the hot path must not
        repeat the last answer.
        """
        member.version += 1
        self.version += 1

    def forget_all(self) -> None:
        """Do what `forget` does, for every member."""
        for member in self.members.values():
            member.version += 1
        self.version += 1

    # -- changes by records; only `replay` calls these ----------------------------------------------------------------

    def set_metadata(self, member: M, instance_id: str | None) -> None:
        """Add a member, or note that its metadata has changed."""
        self.members[member.member_id] = member
        self.forget(member)
        if instance_id is not None:
            self.static_ids[instance_id] = member.member_id
        self._judge(member.member_id)

    def set_current(self, member: M, current: frozenset[R]) -> None:
        """Set what the member may be running from now on."""
        member_id = member.member_id
        self.forget(member)
        for resource in member.current - current:
            self._disown(resource, member_id)
        for resource in current - member.current:
            self._own(resource, member_id)
        member.current = current
        self._judge(member_id)

    def _own(self, resource: R, member_id: str) -> None:
        """Note that the member may be running the resource from now on."""
        first = self.owners.setdefault(resource, member_id)
        if first != member_id:
            self.owners[resource] = min(first, member_id)
            self.also_owned.setdefault(resource, set()).add(max(first, member_id))

    def _disown(self, resource: R, member_id: str) -> None:
        """Note that the member no longer runs the resource. It is free if no other member may be running it."""
        others = self.also_owned.get(resource)
        if others is not None:
            others.discard(member_id)
            if self.owners.get(resource) == member_id and others:
                self.owners[resource] = min(others)
                others.discard(self.owners[resource])
                member_id = ""
            if not others:
                del self.also_owned[resource]
        if self.owners.get(resource) == member_id:
            del self.owners[resource]
            claimant = self.claimants.get(resource)
            if claimant is not None:
                self.touched.add(claimant)

    def drop_member(self, member_id: str, instance_id: str | None) -> None:
        """Remove a member with all that it owns. Its target stays."""
        member = self.members[member_id]
        self.set_current(member, frozenset())
        del self.members[member_id]
        self.unconverged.discard(member_id)
        if instance_id is not None and self.static_ids.get(instance_id) == member_id:
            del self.static_ids[instance_id]

    def set_target(self, member_id: str, target: Target[R] | None) -> None:
        """Set a member's target; None: it has none any more."""
        predecessor = self.targets.pop(member_id, None)
        if predecessor is not None:
            for resource in predecessor.resources:
                if self.claimants.get(resource) == member_id:
                    del self.claimants[resource]
        if target is not None:
            self.targets[member_id] = target
            for resource in target.resources:
                self.claimants[resource] = member_id
        member = self.members.get(member_id)
        if member is not None:
            self.forget(member)
        self.touched.add(member_id)
        self._judge(member_id)

    def set_assignment_epoch(self, epoch: int) -> None:
        """Set the assignment epoch. A member that owns its whole target moves to this epoch."""
        if epoch != self.assignment_epoch:
            self.forget_all()
        self.assignment_epoch = epoch

    def index(self) -> None:
        """Build the indexes after a load: in the log, records of different keys may have another order than the changes
        had.
        """
        self.claimants = {
            resource: member_id for member_id, each in self.targets.items() for resource in each.resources
        }
        self.owners, self.also_owned = {}, {}
        for member_id, each in sorted(self.members.items()):
            for resource in each.current:
                self._own(resource, member_id)
        self.unconverged.clear()
        for member_id in self.members:
            self._judge(member_id)

    def _judge(self, member_id: str) -> None:
        """Note whether the member has converged."""
        member = self.members.get(member_id)
        target = self.targets.get(member_id)
        if member is None or (member.current == target.resources if target is not None else not member.current):
            self.unconverged.discard(member_id)
        else:
            self.unconverged.add(member_id)

    def close(self) -> None:
        """Mark the group as dead: the hot path answers nothing for it any more, and none of its timers runs."""
        self.dead = True
        self.forget_all()
        self.wake_ms = NEVER_MS


AnyGroup: TypeAlias = ModernGroup[Any, Any]
"""A group of any kind."""
