"""The invariants of a consumer group: whether the coordinator's state contradicts itself, and what moves its epochs.

| invariant | rules |
| --- | --- |
| what is always true of its durable state (`group/durable_invariants.py`) | KG-3, KG-8 |
| indexes: owners, claimants, static members and members that have not converged agree with a recount | KG-8 |
| copies: targets by topic, and the names that members subscribe to, are those of the records | KG-6, KG-7 |
| targets: a target names only what exists; a member that has arrived is assigned its target | KG-7, KG-8 |
| epochs: the group epoch and the assignment epoch never go back | KG-3 |
| pace: the assignment is made with the bump, unless it has to wait; then it is not made earlier | KG-7 |
| bump: the group epoch moves if, and only if, there is a reason | KG-6 |
| computing: who is to compute is a member that can | KG-27 |
| timers: what will fall due has a timer | KG-5, KG-27 |
| held: an answer that waits is its member's, by the connection that brought the request | KG-10, KG-26 |
"""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from kcoord.group.durable_invariants import of_consumer_group
from kcoord.group.state.consumer_settings import ConsumerSettings
from kcoord.group.state.deadlines import NEVER_MS
from kcoord.group.state.groups.consumer_group import NOTHING, ConsumerGroup, ConsumerMember, Stage
from kcoord.group.state.shard_state import ShardState
from kcoord.sim.basis.violation import Violation
from kcoord.sim.consumer.computing import OWN

Signature = tuple[object, ...]


def contradictions(group: ConsumerGroup, *, live: bool, may_wait: bool = False) -> Iterator[str]:
    """Where a group contradicts itself, one sentence each. `live`: it is served, and not merely replayed. `may_wait`:
    its next assignment may have to wait.
    """
    yield from of_consumer_group(group)
    yield from _of_computation(group)
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
    if live and group.members and group.assignment_epoch != group.epoch:
        computes = group.computation is not None or _is_waited_for(group)
        if not may_wait and group.failure is None and not computes:
            yield f"the group is at {group.epoch}, its assignment at {group.assignment_epoch}"
    elif live:
        existing = {(topic.id, at) for topic in group.topics.values() for at in range(topic.partitions)}
        if not claimants.keys() <= existing:
            yield "a target names what does not exist"
    for member in members.values():
        yield from (f"{member.member_id} {what}" for what in _of_member(group, member))


def _is_waited_for(group: ConsumerGroup) -> bool:
    """Whether the next assignment waits for static members that are away for a while (KG-27)."""
    lists = [member.metadata.client_assignors for member in group.members.values()]
    lowest = min((each.minimum_version for listed in lists for each in listed), default=0)
    return all(lists) and all(
        member.away or all(each.minimum_version > lowest for each in member.metadata.client_assignors)
        for member in group.members.values()
    )


def _of_computation(group: ConsumerGroup) -> Iterator[str]:
    """Who computes must read what all others say, and list what it is to run (KG-27)."""
    computation = group.computation
    if computation is None:
        return
    if computation.chosen not in group.members:
        yield f"{computation.chosen} is to compute, and has gone"
        return
    ranges = {
        member_id: [each for each in member.metadata.client_assignors if each.name == computation.assignor]
        for member_id, member in group.members.items()
    }
    if computation.frozen is None and not all(ranges.values()):
        yield f"{computation.chosen} is to run {computation.assignor}, which somebody does not list"
    lowest = min((each.minimum_version for listed in ranges.values() for each in listed), default=0)
    if computation.frozen is None and any(each.minimum_version > lowest for each in ranges[computation.chosen]):
        yield f"{computation.chosen} is to compute, and does not read what all say"


def held_contradictions(state: ShardState) -> Iterator[str]:
    """Where the answers that wait contradict what their members know of them: such an answer would wait for ever."""
    for connection, waiting in state.held.items():
        for member_id, (_, member) in waiting.items():
            if member.held is None or member.held.connection != connection:
                yield f"an answer to {member_id} waits on #{connection}, and the member does not know"


def _of_member(group: ConsumerGroup, member: ConsumerMember) -> Iterator[str]:
    if member.names != frozenset(member.metadata.subscribed_topic_names):
        yield "subscribes to other names than it said"
    partitions, by_topic = group.targets_by_topic.get(member.member_id, (None, {}))
    if partitions is not None and partitions != {(topic, at) for topic, numbers in by_topic.items() for at in numbers}:
        yield "has a target that is another one by topic"
    if member.release_due_ms != NEVER_MS and member.stage is not Stage.UNREVOKED:
        yield "has nothing to let go of, and a time to do so"
    if any(epoch > group.epoch for epoch in member.epochs.values()):
        yield "has something since an epoch that has not come yet"
    if member.stage is Stage.STABLE and member.epoch == group.assignment_epoch:
        subscribed = group.subscribed_ids(member)
        target = frozenset(each for each in group.target_of(member) or NOTHING if each[0] in subscribed)
        waits = group.assignment_epoch != group.epoch
        kept = frozenset(each for each in member.assigned if each[0] in subscribed)
        # while the next assignment waits, a topic may go, and a member may want again what it dropped
        if member.assigned != target and not (waits and kept <= target):
            yield f"has arrived at {member.epoch}, and is not assigned its target"
    has_converged = member.stage is Stage.STABLE and member.current == (group.target_of(member) or NOTHING)
    if has_converged == (member.member_id in group.unconverged):
        yield f"has {'' if has_converged else 'not '}converged, and the group counts it otherwise"


@attrs.frozen
class Pace:
    """How long after an assignment the next one comes at the earliest, in ms (KG-7)."""

    interval_ms: int
    """As it is set."""
    rest_ms: int
    """Because of the time that an assignment takes. A group that was restored after a fault does not know that."""

    @classmethod
    def of(cls, settings: ConsumerSettings, takes_ms: int) -> Pace:
        """The pace if an assignment takes so long."""
        return cls(settings.assignment_interval_ms, min(10 * takes_ms, 15_000) if takes_ms >= 20 else 0)

    @property
    def longest_ms(self) -> int:
        """The longest wait."""
        return max(self.interval_ms, self.rest_ms)


class GroupHistory:
    """What is known of a group as it was after the previous step."""

    def __init__(self, group: ConsumerGroup | None, pace: Pace) -> None:
        """`group` None: it was made just now, and not of a classic group."""
        self._pace = pace
        self._assignment_ms: int | None = None
        """When the last assignment was made; None: before the load, or never."""
        self._is_own = False
        """Whether a consumer made it, which takes none of the coordinator's time."""
        self.epoch = 1 if group is None else group.epoch
        self._assignment_epoch = 0 if group is None else group.assignment_epoch
        self._signature: Signature = ((), ()) if group is None else signature(group)
        self._names = frozenset[str]() if group is None else _names(group)

    def look(self, group: ConsumerGroup, now_ms: int, *, is_timed: bool) -> None:
        """A step has changed the group, or may have."""
        wrong = next(contradictions(group, live=True, may_wait=self._pace.longest_ms > 0), None)
        if wrong is not None:
            raise Violation("books", f"{group.group_id}: {wrong}")
        if group.epoch < self.epoch or group.assignment_epoch < self._assignment_epoch:
            raise Violation(
                "epochs",
                f"{group.group_id} was at {self.epoch} and {self._assignment_epoch}, "
                f"and is at {group.epoch} and {group.assignment_epoch}",
            )
        self._paced(group, now_ms)
        self._bumped(group)
        if is_timed:
            _has_timers(group, now_ms, self._pace.longest_ms)

    def _paced(self, group: ConsumerGroup, now_ms: int) -> None:
        """Assignments are some time apart (KG-7). One that was made and not committed does not count after a load."""
        if group.assignment_epoch == self._assignment_epoch:
            return
        if not self._assignment_epoch and not group.targets:
            return  # nobody has computed yet, and members need an epoch to be at
        last_ms, self._assignment_ms = self._assignment_ms, now_ms
        was_own, self._is_own = self._is_own, group.assignor == OWN
        if last_ms is None:
            return
        knows = group.restored_at_ms < last_ms and not was_own
        if now_ms < last_ms + (self._pace.longest_ms if knows else self._pace.interval_ms):
            raise Violation("pace", f"{group.group_id} is assigned again {now_ms - last_ms} ms after the last time")

    def _bumped(self, group: ConsumerGroup) -> None:
        """The group epoch moves if there is a reason, and only then (KG-6)."""
        before, had, epoch = self._signature, self._names, self.epoch
        waited = self.epoch != self._assignment_epoch
        self._signature, self._names = signature(group), _names(group)
        self.epoch, self._assignment_epoch = group.epoch, group.assignment_epoch
        has_reason = before != self._signature or not had <= self._names
        must_bump = before[0] != self._signature[0] or not had <= self._names if waited else has_reason
        if group.epoch > epoch and not has_reason:
            raise Violation("bump", f"{group.group_id} is at {group.epoch} without a reason: {group.reason}")
        if group.epoch == epoch and must_bump and group.members:
            raise Violation("bump", f"{group.group_id} stays at {epoch}, and {before} is {self._signature} now")


def _has_timers(group: ConsumerGroup, now_ms: int, rest_ms: int) -> None:
    waits = bool(group.members) and group.epoch != group.assignment_epoch
    due_ms = group.assignment_ms + rest_ms if waits else NEVER_MS
    if waits and group.failure is not None and group.failure.epoch == group.epoch:
        due_ms = max(due_ms, group.failure.retry_ms)
    if group.computation is not None:
        due_ms = group.computation.due_ms
    elif waits and _is_waited_for(group):
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
    subscribers = [each for each in group.members.values() if each.names or each.metadata.subscribed_topic_regex]
    members = sorted(
        (
            _name(member),
            tuple(sorted(member.names)),
            member.metadata.subscribed_topic_regex or "",
            tuple((each.name, each.minimum_version, each.reason) for each in member.metadata.client_assignors),
        )
        for member in subscribers
    )
    names = group.all_names()
    topics = sorted((name, topic.id, topic.partitions) for name, topic in group.topics.items() if name in names)
    return tuple(members), tuple(topics)
