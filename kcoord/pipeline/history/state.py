"""The state of a group after each step of its log, followed record by record. Nothing is judged here.

A group may be a connect group, a consumer group, a classic one, or two of these for the moment of a conversion: the
sides are kept apart and seen together. Resources are connectors and tasks, or the partitions of topics
(`consumer_partitions.py`). Of classic groups, only those of Connect workers and of consumers can be read closely
(`classic_assignments.py`).

All records of a step apply at once (`steps.py`), so nothing is seen between two of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs

from kcoord.group.consumer.reasons import Reason as ConsumerReason
from kcoord.group.state.connect_settings import PLACEMENT
from kcoord.group.state.groups.modern_member import AWAY_EPOCH, JOINING_EPOCH
from kcoord.pipeline.history.assignment_lists import listed
from kcoord.pipeline.history.classic_assignments import (
    CONNECT_PROTOCOL_TYPE,
    CONSUMER_PROTOCOL_TYPE,
    NOTHING,
    ClassicShare,
    share_of,
)
from kcoord.pipeline.history.consumer_partitions import ConsumerPartitions
from kcoord.pipeline.history.entry import CLASSIC, CONSUMER_SAID, HISTORY, SAID, Entry, group_of
from kcoord.protocol.records import GroupMetadataValue
from kcoord.protocol.resources import unpack
from kcoord.resource import Resource

__all__ = ["CONNECT_PROTOCOL_TYPE", "CONSUMER_PROTOCOL_TYPE", "NOTHING"]

Resources = frozenset[Resource]
CONNECT, CONSUMER, CLASSIC_MEMBER, CLASSIC_GROUP = "connect", "consumer", "legacy", "generic"
NEW_PROTOCOL = frozenset({CONNECT, CONSUMER})
"""The kinds of groups of the new protocol."""
PROTOCOL_TYPES = {CONNECT: CONNECT_PROTOCOL_TYPE, CONSUMER: CONSUMER_PROTOCOL_TYPE}
"""What the members of these are."""
_FIRST_EPOCHS = 2
"""A consumer group begins at epoch 1, or at 2 if its first member subscribes to anything."""
_LAST_MS = 253_402_300_799_999
"""The end of the year 9999."""


@attrs.define(slots=True)
class LoggedMember:
    """A member as the log has it: what it said about itself."""

    side: str
    """The kind of group that its record is of."""
    speaks: str
    instance_id: str | None
    client_id: str
    client_host: str
    url: str | None
    session_timeout_ms: int | None


@attrs.define(slots=True)
class Epoch:
    """An epoch or a generation that began."""

    kind: str
    number: int
    reason: str | None
    began_ms: int | None
    offset: int
    at_ms: int


@attrs.define(slots=True)
class EpochOutcome:
    """What the log says about the outcome of an epoch of the new protocol (records 10 and 27)."""

    installed_ms: int | None
    converged_ms: int | None
    moved: int


@attrs.define(slots=True)
class Assigned:
    """What computed the latest epoch's assignment, and how long that assignment lets lost work wait."""

    kind: str
    epoch: int
    assignor: str | None
    computed_by: str | None
    delay_ms: int | None


@attrs.define(slots=True, eq=False)
class Step:
    """The changes of one step."""

    offset: int
    """The position of the step's last record."""
    at_ms: int
    before: dict[str, Resources] = attrs.Factory(dict)
    """What each member that the step touched had before."""
    epochs: list[Epoch] = attrs.Factory(list)
    outcomes: dict[tuple[str, int], EpochOutcome] = attrs.Factory(dict)
    """By kind and epoch."""
    assigned: Assigned | None = None
    stable_ms: int | None = None
    """When a classic group's assignment was installed."""
    all_given: bool = False
    """Whether a classic group was assigned everything that exists."""
    target_changed: bool = False
    configured_changed: bool = False
    came: set[str] = attrs.Factory(set)
    went: dict[str, LoggedMember] = attrs.Factory(dict)
    dropped: set[str] = attrs.Factory(set)
    """The kinds that the group has stopped being."""
    deleted: bool = False


@attrs.define(slots=True, eq=False)
class GroupState:
    """The state of one group."""

    partition: int
    group_id: str
    incarnation: int = 0
    alive: bool = False
    kind: str = CONNECT
    protocol_type: str | None = None
    """What its members are, in Kafka's words: `connect`, `consumer`, or another name. None: nobody has said."""
    epoch: int = 0
    reason: str | None = None
    assignment_epoch: int = 0
    delay_deadline_ms: int = -1
    error: int = 0
    configured: Resources | None = None
    """What there is to run. In a consumer group without members: what the last ones subscribed to."""
    from_start: bool = False
    """Whether its first epoch is in the log."""
    members: dict[str, LoggedMember] = attrs.Factory(dict)
    owned: dict[str, Resources] = attrs.Factory(dict)
    targets: dict[str, Resources] = attrs.Factory(dict)
    converged: bool = False
    absent: set[str] = attrs.Factory(set)
    """Members that are joining, away for a while (CG-28) or evicted: their targets wait for them."""
    away: set[str] = attrs.Factory(set)
    """The absent members that have left for a while."""
    has_rules: bool = False
    """Whether its settings have placement rules: resources for which the rules leave no place run nowhere."""
    partitions: ConsumerPartitions = attrs.Factory(ConsumerPartitions)
    """Of a consumer group: the same by ids of topics, and who subscribes to what."""
    _sides: set[str] = attrs.Factory(set)
    _generation: int | None = None

    def take(self, entries: list[Entry]) -> Step:
        """Apply the records of one step."""
        step = Step(entries[-1].offset, entries[-1].at_ms)
        there = dict(self.members) if any(map(_changes_members, entries)) else None
        for entry in entries:
            number = entry.record.key.API_KEY
            if number in _APPLY:
                _APPLY[number](self, entry, step)
        if step.dropped:
            self._settle(step)
        if self.partitions.touched:
            self._name_partitions(step)
        if self.alive and not self._sides:
            self._bury(step)
        if there is not None:
            step.went |= {each: member for each, member in there.items() if each not in self.members}
            step.came |= {each for each in self.members if each not in there}
        return step

    def owners(self, resource: Resource) -> list[str]:
        """The members that could be running the resource. Slow, so only for findings."""
        return sorted(member_id for member_id, owned in self.owned.items() if resource in owned)

    def set_owned(self, step: Step, member_id: str, owned: Resources) -> None:
        """From now on the member could be running `owned`."""
        before = self.owned.get(member_id, NOTHING)
        if owned is before:  # the usual case where lists are read once (`assignment_lists.py`)
            return
        step.before.setdefault(member_id, before)
        if owned:
            self.owned[member_id] = owned
        else:
            self.owned.pop(member_id, None)

    # Inside: one function for each type of record

    def _begin(self, kind: str, protocol_type: str | None) -> None:
        if not self.alive:
            self.alive = True
            self.incarnation += 1
            self.from_start = False
            self.protocol_type = None
        self._sides.add(kind)
        self.kind = kind
        self.protocol_type = protocol_type or self.protocol_type

    def _bury(self, step: Step) -> None:
        for member_id in list(self.owned):
            self.set_owned(step, member_id, NOTHING)
        step.deleted = True
        self.alive = self.converged = False
        self.members, self.targets, self.absent, self.away = {}, {}, set(), set()
        self.epoch = self.assignment_epoch = self.error = 0
        self.configured, self._generation, self.delay_deadline_ms = None, None, -1
        self.partitions = ConsumerPartitions()

    def _drop_side(self, kind: str, step: Step) -> None:
        """The group is no longer of this kind."""
        self._sides.discard(kind)
        step.dropped.add(kind)
        self.kind = next(iter(self._sides), self.kind)
        if kind == CLASSIC_GROUP:
            self._generation = None
            return
        self.targets, self.configured, self.converged = {}, None, False
        if kind == CONSUMER:
            self.partitions = ConsumerPartitions()

    def _settle(self, step: Step) -> None:
        """Remove members of a kind that the group no longer is. If the log has not yet said the kind, all members may
        stay: compaction can leave what members said before the group's last metadata.
        """
        over = step.dropped - self._sides
        for member_id in [each for each, member in self.members.items() if member.side in over]:
            del self.members[member_id]
            self.set_owned(step, member_id, NOTHING)

    def _name_partitions(self, step: Step) -> None:
        """Look up the names of partitions, after all records of the step. A consumer that is away consumes nothing,
        although its partitions are kept for it.
        """
        partitions = self.partitions
        for member_id in partitions.touched:
            if member_id in partitions.targets:
                self.targets[member_id] = partitions.named(partitions.targets[member_id])
            if member_id in partitions.held:
                is_away = member_id in self.away
                owned = NOTHING if is_away else partitions.named(partitions.held[member_id])
                if owned != self.owned.get(member_id, NOTHING):
                    self.set_owned(step, member_id, owned)
        partitions.touched.clear()

    def _connect(self, entry: Entry, step: Step) -> None:
        self._metadata(CONNECT, entry, step)
        value: Any = entry.record.value
        if value is not None and value.epoch == 1:
            self.from_start = True

    def _consumers(self, entry: Entry, step: Step) -> None:
        self._metadata(CONSUMER, entry, step)
        value: Any = entry.record.value
        if value is not None and value.epoch <= _FIRST_EPOCHS and len(self.members) == 1:
            self.from_start |= (self.reason or "").startswith(ConsumerReason.JOINED)

    def _metadata(self, kind: str, entry: Entry, step: Step) -> None:
        """The group epoch of a group of the new protocol. A consumer group may write the same one again."""
        value: Any = entry.record.value
        if value is None:
            self._drop_side(kind, step)
            return
        is_new = kind not in self._sides or value.epoch != self.epoch
        self._begin(kind, PROTOCOL_TYPES[kind])
        if is_new:
            self.epoch, self.reason, self.converged = value.epoch, value.reason or None, False
            began = _time(value.reason_timestamp)
            step.epochs.append(Epoch(kind, value.epoch, self.reason, began, entry.offset, entry.at_ms))

    def _topics(self, entry: Entry, step: Step) -> None:
        value: Any = entry.record.value
        self.partitions.learn([] if value is None else value.topics)
        self._subscribed(step)

    def _matches(self, entry: Entry, step: Step) -> None:
        key: Any = entry.record.key
        value: Any = entry.record.value
        self.partitions.match(key.regular_expression, None if value is None else value.topics)
        self._subscribed(step)

    def _subscribed(self, step: Step) -> None:
        """Note what there is to consume now."""
        configured = self.partitions.configured()
        if configured is not None and configured != self.configured:
            self.configured, step.configured_changed = configured, True

    def _configured(self, entry: Entry, step: Step) -> None:
        value: Any = entry.record.value
        self.configured = None if value is None else unpack(value.connectors_tasks)
        step.configured_changed = True

    def _said(self, entry: Entry, step: Step) -> None:
        key: Any = entry.record.key
        value: Any = entry.record.value
        if value is None:
            self._forget(key.member_id, step)
            return
        speaks = CONNECT if value.classic is None else CLASSIC_MEMBER
        session_ms = value.session_timeout_ms if value.session_timeout_ms > 0 else None
        self.members[key.member_id] = LoggedMember(
            CONNECT, speaks, value.instance_id, value.client_id, value.client_host, value.url, session_ms
        )

    def _consumer_said(self, entry: Entry, step: Step) -> None:
        key: Any = entry.record.key
        value: Any = entry.record.value
        if value is None:
            self.partitions.subscribe(key.member_id, None)
            self._forget(key.member_id, step)
        else:
            classic = value.classic_member_metadata
            speaks = CONSUMER if classic is None else CLASSIC_MEMBER
            session_ms = None if classic is None else classic.session_timeout_ms
            self.members[key.member_id] = LoggedMember(
                CONSUMER, speaks, value.instance_id, value.client_id, value.client_host, None, session_ms
            )
            self.partitions.subscribe(key.member_id, value.subscribed_topic_names, value.subscribed_topic_regex)
        self._subscribed(step)

    def _forget(self, member_id: str, step: Step) -> None:
        """A member of the new protocol is gone."""
        if not self._is_classic(member_id):
            self.members.pop(member_id, None)
            self.set_owned(step, member_id, NOTHING)

    def _target(self, entry: Entry, step: Step) -> None:
        value: Any = entry.record.value
        step.target_changed = value is not None and not value.error
        if value is not None:
            self.assignment_epoch, self.error = value.assignment_epoch, value.error
            self.delay_deadline_ms = value.delay_deadline_ms
            waits_ms = (_time(value.delay_deadline_ms) or 0) - entry.at_ms
            step.assigned = Assigned(
                CONNECT,
                value.assignment_epoch,
                value.assignor_name or None,
                value.computed_by,
                waits_ms if waits_ms > 0 else None,
            )

    def _consumers_target(self, entry: Entry, step: Step) -> None:
        value: Any = entry.record.value
        step.target_changed = value is not None
        if value is not None:
            self.assignment_epoch = value.assignment_epoch
            step.assigned = Assigned(CONSUMER, value.assignment_epoch, value.assignor or None, None, None)

    def _current(self, entry: Entry, step: Step) -> None:
        key: Any = entry.record.key
        value: Any = entry.record.value
        self._attend(key.member_id, None if value is None or value.evicted else value.member_epoch, value is not None)
        if value is not None:
            self.set_owned(step, key.member_id, listed(entry))
        elif not self._is_classic(key.member_id):
            self.set_owned(step, key.member_id, NOTHING)

    def _consumers_current(self, entry: Entry, step: Step) -> None:
        key: Any = entry.record.key
        value: Any = entry.record.value
        self._attend(key.member_id, None if value is None else value.member_epoch, value is not None)
        if value is None:
            self.partitions.hold(key.member_id, None)
            if not self._is_classic(key.member_id):
                self.set_owned(step, key.member_id, NOTHING)
            return
        self.partitions.hold(key.member_id, listed(entry))

    def _attend(self, member_id: str, epoch: int | None, is_there: bool) -> None:
        """Note whether a member takes part, by its epoch. None: it is evicted, or gone."""
        takes_part = epoch is not None and epoch > JOINING_EPOCH
        if takes_part and not self.absent and not self.away:
            return
        (self.absent.discard if takes_part or not is_there else self.absent.add)(member_id)
        (self.away.add if epoch == AWAY_EPOCH else self.away.discard)(member_id)

    def _is_classic(self, member_id: str) -> bool:
        """Whether the classic side has taken the member over in this step. Then only its old record goes."""
        member = self.members.get(member_id)
        return member is not None and member.side == CLASSIC_GROUP

    def _member_target(self, entry: Entry, step: Step) -> None:
        key: Any = entry.record.key
        value: Any = entry.record.value
        if value is None:
            self.targets.pop(key.member_id, None)
        else:
            self.targets[key.member_id] = listed(entry)

    def _consumers_member_target(self, entry: Entry, step: Step) -> None:
        key: Any = entry.record.key
        value: Any = entry.record.value
        if value is None:
            self.partitions.aim(key.member_id, None)
            self.targets.pop(key.member_id, None)
            return
        self.partitions.aim(key.member_id, listed(entry))

    def _settings(self, entry: Entry, step: Step) -> None:
        value: Any = entry.record.value
        settings = {} if value is None else {each.name: each.value for each in value.configurations}
        self.has_rules = bool(settings.get(PLACEMENT))

    def _history(self, entry: Entry, step: Step) -> None:
        key: Any = entry.record.key
        value: Any = entry.record.value
        if value is None:
            return
        installed, converged = _time(value.installed_timestamp), _time(value.converged_timestamp)
        kind = CONNECT if key.API_KEY == HISTORY else CONSUMER
        step.outcomes[kind, key.epoch] = EpochOutcome(installed, converged, value.moved_count)
        if key.epoch == self.epoch:
            self.converged = converged is not None

    def _classic(self, entry: Entry, step: Step) -> None:
        value: Any = entry.record.value
        if value is None:
            self._drop_side(CLASSIC_GROUP, step)
            return
        self._begin(CLASSIC_GROUP, value.protocol_type)
        if value.generation <= 1:
            self.from_start = True
        if value.generation != self._generation and (value.generation or value.members):
            began = _time(value.reason_timestamp)
            self.reason = value.reason or None
            step.epochs.append(Epoch(CLASSIC_GROUP, value.generation, self.reason, began, entry.offset, entry.at_ms))
        self._generation = self.epoch = value.generation
        self._seat(value, step)

    def _seat(self, value: GroupMetadataValue, step: Step) -> None:
        """The members in the record are members, and no others are."""
        assigned = any(each.assignment for each in value.members)
        if assigned:
            stable = _time(value.current_state_timestamp)
            step.stable_ms = step.at_ms if stable is None else stable
        seated, shares = {}, list[ClassicShare]()
        for each in value.members:
            share = share_of(value.protocol_type, each, assigned)
            shares.append(share)
            seated[each.member_id] = LoggedMember(
                CLASSIC_GROUP,
                CLASSIC_GROUP,
                each.group_instance_id,
                each.client_id,
                each.client_host,
                share.url,
                each.session_timeout,
            )
            if share.owned != self.owned.get(each.member_id, NOTHING):
                self.set_owned(step, each.member_id, share.owned)
        if assigned:
            delay_ms = max(each.delay_ms for each in shares)
            step.assigned = Assigned(CLASSIC_GROUP, value.generation, value.protocol, value.leader, delay_ms or None)
            step.all_given = not step.dropped and all(each.has_all for each in shares)  # a conversion assigns nothing
        for member_id in self.members.keys() - seated.keys():
            self.set_owned(step, member_id, NOTHING)
        self.members = seated


def _changes_members(entry: Entry) -> bool:
    """Whether a record can make somebody a member, or end that. Groups may have many members, and most records are
    about what they have.
    """
    return entry.record.value is None or entry.record.key.API_KEY in _OF_MEMBERS


def _time(unix_ms: int) -> int | None:
    """A time in a record. None if nobody wrote it down, or if the number is not a time."""
    return unix_ms if 0 <= unix_ms <= _LAST_MS else None


_APPLY: dict[int, Callable[[GroupState, Entry, Step], None]] = {
    2: GroupState._classic,
    3: GroupState._connect,
    4: GroupState._configured,
    5: GroupState._said,
    6: GroupState._target,
    7: GroupState._current,
    8: GroupState._settings,
    9: GroupState._member_target,
    10: GroupState._history,
    20: GroupState._consumers,
    21: GroupState._topics,
    22: GroupState._consumer_said,
    23: GroupState._consumers_target,
    24: GroupState._consumers_member_target,
    25: GroupState._consumers_current,
    26: GroupState._matches,
    27: GroupState._history,
}
"""By record type. Offsets (0, 1) and topics that somebody declared (28) do not change this state."""
OF_GROUPS = frozenset(_APPLY)
_OF_MEMBERS = frozenset((CLASSIC, SAID, CONSUMER_SAID))


def by_group(entries: list[Entry]) -> dict[str, list[Entry]]:
    """The records of a step that belong to groups, by group, in the order of the log."""
    found: dict[str, list[Entry]] = {}
    for entry in entries:
        key: Any = entry.record.key
        if key.API_KEY not in OF_GROUPS:
            continue
        group_id = group_of(entry.record)
        if group_id in found:
            found[group_id].append(entry)
        else:
            found[group_id] = [entry]
    return found
