"""The invariants of a consumer group: whether the coordinator's state contradicts itself, and what moves its epochs.

| invariant | rules |
| --- | --- |
| what is always true of its durable state (`group/durable_invariants.py`) | KG-3, KG-8 |
| indexes: owners, claimants, static members and members that have not converged agree with a recount | KG-8 |
| targets: a target names only what exists; a member that has arrived is assigned its target | KG-7, KG-8 |
| epochs: the group epoch and the assignment epoch never go back; the assignment is made with the bump | KG-3, KG-7 |
| bump: the group epoch moves if, and only if, there is a reason | KG-6 |
| timers: what will fall due has a timer | KG-5 |
"""

from __future__ import annotations

from collections.abc import Iterator

from kcoord.group.durable_invariants import of_consumer_group
from kcoord.group.state.deadlines import NEVER_MS
from kcoord.group.state.groups.consumer_group import NOTHING, ConsumerGroup, ConsumerMember, Stage
from kcoord.sim.basis.violation import Violation

Signature = tuple[object, ...]


def contradictions(group: ConsumerGroup, *, live: bool) -> Iterator[str]:
    """Where a group contradicts itself, one sentence each. `live`: it is served, and not merely replayed."""
    yield from of_consumer_group(group)
    members = group.members
    owners = {each: member_id for member_id, member in members.items() for each in member.current}
    if group.owners != owners or group.also_owned:
        yield f"owners are {group.owners} and {group.also_owned}, counted {owners}"
    claimants = {each: member_id for member_id, target in group.targets.items() for each in target.resources}
    if group.claimants != claimants:
        yield f"claimants are {group.claimants}, counted {claimants}"
    static = {
        member.metadata.instance_id: member_id
        for member_id, member in members.items()
        if member.metadata.instance_id is not None
    }
    if group.static_ids != static:
        yield f"static members are {group.static_ids}, counted {static}"
    if live:
        if group.members and group.assignment_epoch != group.epoch:
            yield f"the group is at {group.epoch}, its assignment at {group.assignment_epoch}"
        existing = {(topic.id, at) for topic in group.topics.values() for at in range(topic.partitions)}
        if not claimants.keys() <= existing:
            yield "a target names what does not exist"
    for member in members.values():
        yield from (f"{member.member_id} {what}" for what in _of_member(group, member))


def _of_member(group: ConsumerGroup, member: ConsumerMember) -> Iterator[str]:
    if member.release_due_ms != NEVER_MS and member.stage is not Stage.UNREVOKED:
        yield "has nothing to let go of, and a time to do so"
    if any(epoch > group.epoch for epoch in member.epochs.values()):
        yield "has something since an epoch that has not come yet"
    if member.stage is Stage.STABLE and member.epoch == group.assignment_epoch:
        subscribed = group.subscribed_ids(member)
        target = frozenset(each for each in group.target_of(member) or NOTHING if each[0] in subscribed)
        if member.assigned != target:
            yield f"has arrived at {member.epoch}, and is not assigned its target"
    has_converged = member.stage is Stage.STABLE and member.current == (group.target_of(member) or NOTHING)
    if has_converged == (member.member_id in group.unconverged):
        yield f"has {'' if has_converged else 'not '}converged, and the group counts it otherwise"


class GroupHistory:
    """What is known of a group as it was after the previous step."""

    def __init__(self, group: ConsumerGroup | None) -> None:
        self.epoch = 1 if group is None else group.epoch
        self._assignment_epoch = 0 if group is None else group.assignment_epoch
        self._signature: Signature = ((), ()) if group is None else signature(group)
        self._names = frozenset[str]() if group is None else _names(group)

    def look(self, group: ConsumerGroup, now_ms: int, *, is_timed: bool) -> None:
        """A step has changed the group, or may have."""
        wrong = next(contradictions(group, live=True), None)
        if wrong is not None:
            raise Violation("books", f"{group.group_id}: {wrong}")
        if group.epoch < self.epoch or group.assignment_epoch < self._assignment_epoch:
            raise Violation(
                "epochs",
                f"{group.group_id} was at {self.epoch} and {self._assignment_epoch}, "
                f"and is at {group.epoch} and {group.assignment_epoch}",
            )
        self._bumped(group)
        if is_timed:
            _has_timers(group, now_ms)

    def _bumped(self, group: ConsumerGroup) -> None:
        """The group epoch moves if there is a reason, and only then (KG-6)."""
        before, had, epoch = self._signature, self._names, self.epoch
        self._signature, self._names = signature(group), _names(group)
        self.epoch, self._assignment_epoch = group.epoch, group.assignment_epoch
        has_reason = before != self._signature or not had <= self._names
        if group.epoch > epoch and not has_reason:
            raise Violation("bump", f"{group.group_id} is at {group.epoch} without a reason: {group.reason}")
        if group.epoch == epoch and has_reason and group.members:
            raise Violation("bump", f"{group.group_id} stays at {epoch}, and {before} is {self._signature} now")


def _has_timers(group: ConsumerGroup, now_ms: int) -> None:
    due_ms = NEVER_MS
    for member in group.members.values():
        if member.stage is Stage.UNREVOKED and not member.away and member.release_due_ms == NEVER_MS:
            raise Violation("timers", f"{member.member_id} has to let go of something, and may take for ever")
        due_ms = min(due_ms, member.release_due_ms, member.last_seen_ms + member.session_timeout_ms)
    if group.wake_ms > max(due_ms, now_ms + 1):
        raise Violation("timers", f"something falls due at {due_ms}, {group.group_id} is looked at {group.wake_ms}")


def _name(member: ConsumerMember) -> str:
    return member.metadata.instance_id or member.member_id


def _names(group: ConsumerGroup) -> frozenset[str]:
    return frozenset(map(_name, group.members.values()))


def signature(group: ConsumerGroup) -> Signature:
    """What an assignment is made from: who subscribes to which topics, and what there is of these."""
    members = sorted(
        (_name(member), tuple(sorted(member.names)), member.metadata.subscribed_topic_regex or "")
        for member in group.members.values()
        if member.names or member.metadata.subscribed_topic_regex
    )
    names = group.all_names()
    topics = sorted((name, topic.id, topic.partitions) for name, topic in group.topics.items() if name in names)
    return tuple(members), tuple(topics)
