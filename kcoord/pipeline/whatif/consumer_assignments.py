"""What if another assignor had assigned a consumer group's partitions, or with another assignment interval?

The group's records say who subscribed to what at each moment, which topics there were, and when the group epoch moved.
Each choice makes its own assignments from that, with kcoord's own assignors, one after the other: an assignor keeps
what it has assigned before. Nothing is simulated, so there are no seeds: the same history gives the same figures.

- **An assignment** is made when the group epoch moves, or, if the last one is too recent, when the interval is over.
- **Partitions that a member was told by a classic group** are its first target after a conversion, as the log has them.
- **An assignment that waits when the log ends** is made when its interval is over.
- **A static consumer that returns** takes over the target of the one before.
- **A history of which compaction has removed the beginning** counts from where nothing is missing.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence

import attrs

from kcoord.assign.consumer.built_in import CONSUMER_ASSIGNORS
from kcoord.assign.consumer.model import SubscribedGroup, Subscriber
from kcoord.pipeline.history.consumer_partitions import Partitions
from kcoord.pipeline.history.entry import CONSUMERS_TARGET, Entry
from kcoord.pipeline.history.state import CONSUMER, GroupState
from kcoord.pipeline.history.steps import Steps

INTERVALS_MS = (0, 1_000, 5_000, 15_000)
"""The assignment intervals that are tried unless the user names others. Kafka's default is a second."""
_LONG_AGO_MS = -(1 << 62)


@attrs.frozen
class GroupMoment:
    """The group after some of its records."""

    at_ms: int
    exists: bool
    """Whether it is a consumer group then."""
    members: tuple[Subscriber, ...]
    """The members of the consumer group, without targets."""
    sizes: Mapping[bytes, int]
    """How many partitions each topic has."""
    wants_assignment: bool
    """Whether the group epoch has moved."""
    assignor: str | None
    """The assignor that made an assignment at this moment; "": the members brought theirs from a classic group. None:
    no assignment was made.
    """
    targets: Mapping[str, Partitions]
    """The targets in the log."""
    counts: bool
    """Whether nothing is missing in the log from here on."""

    def subscribed(self) -> set[tuple[bytes, int]]:
        """All partitions that there are to consume."""
        topics = set[bytes]().union(*(each.subscribed_topics for each in self.members))
        return {(topic, at) for topic in topics if topic in self.sizes for at in range(self.sizes[topic])}


@attrs.frozen
class AssignmentChoice:
    """An assignor, and the shortest time between two assignments."""

    assignor: str
    interval_ms: int


@attrs.define
class AssignmentCosts:
    """What a choice would have cost, or what the history did."""

    assignments: int = 0
    handed_over: int = 0
    """How many partitions a consumer that stayed had to let go of for another one."""
    taken_up: int = 0
    """How many partitions that nobody had were given to a consumer."""
    unassigned_ms: int = 0
    """How long partitions were given to nobody while there were consumers, summed over partitions."""


@attrs.frozen
class AssignmentComparison:
    """What happened, and what would have happened."""

    first_ms: int
    last_ms: int
    assignors: Sequence[str]
    """Those that made the recorded assignments, the most frequent first."""
    recorded: AssignmentCosts
    choices: Sequence[tuple[AssignmentChoice, AssignmentCosts]]
    """The cheapest first: fewest handed over, then the least time unassigned."""
    differs_ms: int | None
    """When the first recorded assignment was made that kcoord's assignor does not make again (unix ms): the figures of
    the choices prove nothing then. None: it makes all of them again.
    """


def moments_of(group_id: str, entries: Iterable[Entry]) -> Iterator[GroupMoment]:
    """The moments of a group, from its records, in the order of the log. Those after which it is no consumer group are
    told too, without members.
    """
    steps = Steps()
    state: GroupState | None = None
    for step in steps.all(entries):
        state = state or GroupState(step[0].partition, group_id)
        for part in _by_assignment(step):
            epoch, was_consumers = state.epoch, state.kind == CONSUMER and state.alive
            done = state.take(part)
            is_consumers = state.kind == CONSUMER and state.alive
            partitions, members = state.partitions, state.members if is_consumers else {}
            yield GroupMoment(
                part[-1].at_ms,
                is_consumers,
                tuple(
                    Subscriber(each, member.instance_id, None, partitions.subscribed_ids(each))
                    for each, member in members.items()
                ),
                partitions.sizes,
                is_consumers and (not was_consumers or state.epoch != epoch),
                None if done.assigned is None or not is_consumers else done.assigned.assignor or "",
                dict(partitions.targets),
                state.from_start or steps.whole(part[0].offset),
            )


def _by_assignment(step: list[Entry]) -> Iterator[list[Entry]]:
    """The records of a step, cut behind each assignment: steps of one millisecond may have made several."""
    part: list[Entry] = []
    for entry in step:
        part.append(entry)
        if entry.record.key.API_KEY == CONSUMERS_TARGET and entry.record.value is not None:
            yield part
            part = []
    if part:
        yield part


def answer(
    moments: Sequence[GroupMoment], assignors: Sequence[str], intervals_ms: Sequence[int]
) -> AssignmentComparison | None:
    """The recorded history beside each choice. None: the group was never assigned anything as a consumer group."""
    made = [each.assignor for each in moments if each.counts and each.assignor]
    if not made:
        return None
    choices = [AssignmentChoice(name, interval_ms) for name in assignors for interval_ms in intervals_ms]
    tried = [(choice, _Replay(choice).over(moments)) for choice in choices]
    tried.sort(key=lambda each: (each[1].handed_over, each[1].unassigned_ms))
    spans = [each.at_ms for each in moments if each.members]
    again = _Again()
    again.over(moments)
    return AssignmentComparison(
        min(spans),
        max(spans),
        sorted(set(made), key=lambda name: (-made.count(name), name)),
        _Recorded().over(moments),
        tried,
        again.differs_ms,
    )


@attrs.define(eq=False)
class _Assignments(ABC):
    """One way through the history. What assigns, and when, is for the classes below to say."""

    outcome: AssignmentCosts = attrs.field(factory=AssignmentCosts, init=False)
    targets: dict[str, Partitions] = attrs.field(factory=dict, init=False)
    _before: GroupMoment | None = attrs.field(default=None, init=False)
    _since_ms: int = attrs.field(default=0, init=False)

    def over(self, moments: Iterable[GroupMoment]) -> AssignmentCosts:
        """The costs of the whole history."""
        for moment in moments:
            if self._before is not None:
                self._waits(self._before, moment.at_ms)
            self._arrive(moment)
            if not moment.counts or moment.assignor == "":
                self.targets = dict(moment.targets)
            else:
                self._now(moment)
        return self.outcome

    def _waits(self, before: GroupMoment, until_ms: int) -> None:
        """Nothing happens until then."""
        self._pass(before, until_ms)

    @abstractmethod
    def _now(self, moment: GroupMoment) -> None:
        """Assign, if an assignment is made at this moment."""

    def _pass(self, moment: GroupMoment, until_ms: int) -> None:
        """Count the time until then, in which the group is as at that moment."""
        if moment.counts and moment.members and until_ms > self._since_ms:
            free = moment.subscribed().difference(*(self.targets.get(each.member_id, ()) for each in moment.members))
            self.outcome.unassigned_ms += len(free) * (until_ms - self._since_ms)
        self._since_ms = max(self._since_ms, until_ms)

    def _arrive(self, moment: GroupMoment) -> None:
        """Take the targets of those that have gone; a static consumer's goes to the one that comes in its place."""
        there = {each.member_id for each in moment.members}
        gone = {} if self._before is None else {
            each.instance_id: each.member_id for each in self._before.members
            if each.instance_id is not None and each.member_id not in there
        }  # fmt: skip
        for each in moment.members:
            former = gone.get(each.instance_id or "", "")
            if former in self.targets and each.member_id not in self.targets:
                self.targets[each.member_id] = self.targets[former]
        self.targets = {each: target for each, target in self.targets.items() if each in there}
        self._before, self._since_ms = moment, max(self._since_ms, moment.at_ms)

    def _assigned(self, moment: GroupMoment, name: str) -> dict[str, Partitions]:
        """What the assignor makes of the present targets."""
        members = tuple(
            attrs.evolve(each, target=_by_topic(self.targets.get(each.member_id, ()))) for each in moment.members
        )
        found = CONSUMER_ASSIGNORS[name]().assign(SubscribedGroup(members, moment.sizes))
        return {
            each: frozenset((topic, at) for topic, some in found.get(each, {}).items() for at in some)
            for each in (member.member_id for member in members)
        }

    def _install(self, targets: Mapping[str, Partitions]) -> None:
        had = {partition: member_id for member_id, target in self.targets.items() for partition in target}
        for member_id, target in targets.items():
            for partition in target:
                giver = had.get(partition)
                self.outcome.handed_over += giver not in (None, member_id)
                self.outcome.taken_up += giver is None
        self.outcome.assignments += 1
        self.targets = dict(targets)


@attrs.define(eq=False)
class _Recorded(_Assignments):
    """The history as it was."""

    def _now(self, moment: GroupMoment) -> None:
        if moment.assignor is not None:
            self._install({each.member_id: moment.targets.get(each.member_id, frozenset()) for each in moment.members})


@attrs.define(eq=False)
class _Again(_Assignments):
    """The history, assigned again at the recorded times by the recorded assignors."""

    differs_ms: int | None = None

    def _now(self, moment: GroupMoment) -> None:
        if moment.assignor is None or self.differs_ms is not None:
            return
        is_known = moment.assignor in CONSUMER_ASSIGNORS
        targets = self._assigned(moment, moment.assignor) if is_known else {}
        recorded = {each.member_id: moment.targets.get(each.member_id, frozenset()) for each in moment.members}
        if targets != recorded:
            self.differs_ms = moment.at_ms
        self._install(recorded)


@attrs.define(eq=False)
class _Replay(_Assignments):
    """The history by one choice."""

    choice: AssignmentChoice
    _last_ms: int = attrs.field(default=_LONG_AGO_MS, init=False)
    _is_due: bool = attrs.field(default=False, init=False)

    def over(self, moments: Iterable[GroupMoment]) -> AssignmentCosts:
        """An assignment that waits when the log ends is made all the same: nothing more happened."""
        super().over(moments)
        if self._before is not None and self._is_due:
            self._waits(self._before, self._last_ms + self.choice.interval_ms + 1)
        return self.outcome

    def _waits(self, before: GroupMoment, until_ms: int) -> None:
        due_ms = self._last_ms + self.choice.interval_ms
        if self._is_due and before.members and due_ms < until_ms:
            self._pass(before, due_ms)
            self._assign(before, due_ms)
        self._pass(before, until_ms)

    def _now(self, moment: GroupMoment) -> None:
        self._is_due = moment.exists and (self._is_due or moment.wants_assignment)
        if not moment.exists:
            self._last_ms = _LONG_AGO_MS
        elif self._is_due and moment.members and self._last_ms + self.choice.interval_ms <= moment.at_ms:
            self._assign(moment, moment.at_ms)

    def _assign(self, moment: GroupMoment, at_ms: int) -> None:
        self._install(self._assigned(moment, self.choice.assignor))
        self._last_ms, self._is_due = at_ms, False


def _by_topic(partitions: Iterable[tuple[bytes, int]]) -> dict[bytes, set[int]]:
    found: dict[bytes, set[int]] = {}
    for topic, at in partitions:
        found.setdefault(topic, set()).add(at)
    return found
