"""The state of a group after each step of its log, followed record by record. Nothing is judged here.

A group may be a connect group, a classic one, or both for the moment of a conversion: the two sides are kept apart and
seen together. Of classic groups, only those of Connect workers can be read closely. A worker runs what it reported,
less what was revoked, and what was assigned (version 0: only what was assigned).

All records of a step apply at once (`steps.py`), so nothing is seen between two of them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import Any

import attrs

from kcoord.group.state.connect_settings import PLACEMENT
from kcoord.group.state.groups.modern_member import AWAY_EPOCH, JOINING_EPOCH
from kcoord.pipeline.history.entry import Entry, group_of
from kcoord.protocol.embedded import EAGER, EmbeddedError, decode_assignment, decode_state
from kcoord.protocol.records import GroupMetadataValue, MemberMetadata
from kcoord.protocol.resources import unpack
from kcoord.resource import Resource

Resources = frozenset[Resource]
NOTHING: Resources = frozenset()
CONNECT, CLASSIC_MEMBER, CLASSIC_GROUP = "connect", "legacy", "generic"
CONNECT_PROTOCOL_TYPE = "connect"
_LAST_MS = 253_402_300_799_999
"""The end of the year 9999."""


@attrs.define(slots=True)
class LoggedMember:
    """A member as the log has it: what it said about itself."""

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
    """What the log says about the outcome of a connect group's epoch (record 10)."""

    installed_ms: int | None
    converged_ms: int | None
    moved: int


@attrs.define(slots=True)
class Assigned:
    """What computed the latest epoch's assignment, and how long that assignment lets lost work wait."""

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
    outcomes: dict[int, EpochOutcome] = attrs.Factory(dict)
    assigned: Assigned | None = None
    stable_ms: int | None = None
    """When a classic group's assignment was installed."""
    all_given: bool = False
    """Whether a classic group of Connect workers was assigned everything that exists."""
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
    epoch: int = 0
    reason: str | None = None
    assignment_epoch: int = 0
    delay_deadline_ms: int = -1
    error: int = 0
    configured: Resources | None = None
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
    _sides: set[str] = attrs.Factory(set)
    _generation: int | None = None

    def take(self, entries: list[Entry]) -> Step:
        """Apply the records of one step."""
        step = Step(entries[-1].offset, entries[-1].at_ms)
        there = dict(self.members)
        for entry in entries:
            number = entry.record.key.API_KEY
            if number in _APPLY:
                _APPLY[number](self, entry, step)
        self._settle(step)
        if self.alive and not self._sides:
            self._bury(step)
        step.went |= {each: member for each, member in there.items() if each not in self.members}
        step.came |= {each for each in self.members if each not in there}
        return step

    def owners(self, resource: Resource) -> list[str]:
        """The members that could be running the resource. Slow, so only for findings."""
        return sorted(member_id for member_id, owned in self.owned.items() if resource in owned)

    def set_owned(self, step: Step, member_id: str, owned: Resources) -> None:
        """From now on the member could be running `owned`."""
        step.before.setdefault(member_id, self.owned.get(member_id, NOTHING))
        if owned:
            self.owned[member_id] = owned
        else:
            self.owned.pop(member_id, None)

    # Inside: one function for each type of record

    def _begin(self, kind: str) -> None:
        if not self.alive:
            self.alive = True
            self.incarnation += 1
            self.from_start = False
        self._sides.add(kind)
        self.kind = kind

    def _bury(self, step: Step) -> None:
        for member_id in list(self.owned):
            self.set_owned(step, member_id, NOTHING)
        step.deleted = True
        self.alive = self.converged = False
        self.members, self.targets, self.absent, self.away = {}, {}, set(), set()
        self.epoch = self.assignment_epoch = self.error = 0
        self.configured, self._generation, self.delay_deadline_ms = None, None, -1

    def _drop_side(self, kind: str, step: Step) -> None:
        """The group is no longer of this kind."""
        self._sides.discard(kind)
        step.dropped.add(kind)
        if kind == CONNECT:
            self.targets, self.configured, self.converged = {}, None, False
        else:
            self._generation = None

    def _settle(self, step: Step) -> None:
        """Remove members of a kind that the group no longer is. If the log has not yet said the kind, all members may
        stay: compaction can leave what members said before the group's last metadata.
        """
        over = step.dropped - self._sides
        for member_id in [each for each, member in self.members.items() if _side(member) in over]:
            del self.members[member_id]
            self.set_owned(step, member_id, NOTHING)

    def _connect(self, entry: Entry, step: Step) -> None:
        value: Any = entry.record.value
        if value is None:
            self._drop_side(CONNECT, step)
            self.kind = CLASSIC_GROUP if self._sides else CONNECT
            return
        self._begin(CONNECT)
        if value.epoch == 1:
            self.from_start = True
        self.epoch, self.reason, self.converged = value.epoch, value.reason or None, False
        began = _time(value.reason_timestamp)
        step.epochs.append(Epoch(CONNECT, value.epoch, self.reason, began, entry.offset, entry.at_ms))

    def _configured(self, entry: Entry, step: Step) -> None:
        value: Any = entry.record.value
        self.configured = None if value is None else unpack(value.connectors_tasks)
        step.configured_changed = True

    def _said(self, entry: Entry, step: Step) -> None:
        key: Any = entry.record.key
        value: Any = entry.record.value
        if value is None:
            if not self._is_classic(key.member_id):
                self.members.pop(key.member_id, None)
                self.set_owned(step, key.member_id, NOTHING)
            return
        speaks = CONNECT if value.classic is None else CLASSIC_MEMBER
        session_ms = value.session_timeout_ms if value.session_timeout_ms > 0 else None
        self.members[key.member_id] = LoggedMember(
            speaks, value.instance_id, value.client_id, value.client_host, value.url, session_ms
        )

    def _target(self, entry: Entry, step: Step) -> None:
        value: Any = entry.record.value
        step.target_changed = value is not None and not value.error
        if value is not None:
            self.assignment_epoch, self.error = value.assignment_epoch, value.error
            self.delay_deadline_ms = value.delay_deadline_ms
            waits_ms = (_time(value.delay_deadline_ms) or 0) - entry.at_ms
            step.assigned = Assigned(
                value.assignment_epoch,
                value.assignor_name or None,
                value.computed_by,
                waits_ms if waits_ms > 0 else None,
            )

    def _current(self, entry: Entry, step: Step) -> None:
        key: Any = entry.record.key
        value: Any = entry.record.value
        if value is None or (value.member_epoch > JOINING_EPOCH and not value.evicted):
            self.absent.discard(key.member_id)
        else:
            self.absent.add(key.member_id)
        self.away.discard(key.member_id)
        if value is not None:
            if value.member_epoch == AWAY_EPOCH:
                self.away.add(key.member_id)
            self.set_owned(step, key.member_id, unpack(value.connectors_tasks))
        elif not self._is_classic(key.member_id):
            self.set_owned(step, key.member_id, NOTHING)

    def _is_classic(self, member_id: str) -> bool:
        """Whether the classic side has taken the member over in this step. Then only its old record goes."""
        member = self.members.get(member_id)
        return member is not None and member.speaks == CLASSIC_GROUP

    def _member_target(self, entry: Entry, step: Step) -> None:
        key: Any = entry.record.key
        value: Any = entry.record.value
        if value is None:
            self.targets.pop(key.member_id, None)
        else:
            self.targets[key.member_id] = unpack(value.connectors_tasks)

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
        step.outcomes[key.epoch] = EpochOutcome(installed, converged, value.moved_count)
        if key.epoch == self.epoch:
            self.converged = converged is not None

    def _classic(self, entry: Entry, step: Step) -> None:
        value: Any = entry.record.value
        if value is None:
            self._drop_side(CLASSIC_GROUP, step)
            return
        self._begin(CLASSIC_GROUP)
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
        seated, workers = {}, list[_Worker]()
        for each in value.members:
            worker = _worker(each, assigned) if value.protocol_type == CONNECT_PROTOCOL_TYPE else _NO_WORKER
            workers.append(worker)
            seated[each.member_id] = LoggedMember(
                CLASSIC_GROUP,
                each.group_instance_id,
                each.client_id,
                each.client_host,
                worker.url,
                each.session_timeout,
            )
            if worker.owned != self.owned.get(each.member_id, NOTHING):
                self.set_owned(step, each.member_id, worker.owned)
        if assigned:
            delay_ms = max(each.delay_ms for each in workers)
            step.assigned = Assigned(value.generation, value.protocol, value.leader, delay_ms or None)
            step.all_given = all(each.has_all for each in workers)
        for member_id in self.members.keys() - seated.keys():
            self.set_owned(step, member_id, NOTHING)
        self.members = seated


def _time(unix_ms: int) -> int | None:
    """A time in a record. None if nobody wrote it down, or if the number is not a time."""
    return unix_ms if 0 <= unix_ms <= _LAST_MS else None


def _side(member: LoggedMember) -> str:
    return CLASSIC_GROUP if member.speaks == CLASSIC_GROUP else CONNECT


@attrs.frozen
class _Worker:
    """A Connect worker in a classic group, as far as the log says."""

    url: str | None = None
    owned: Resources = NOTHING
    """What the worker could be running."""
    delay_ms: int = 0
    """How long it was told to wait for the next round."""
    has_all: bool = False
    """Whether it was given everything that its leader means for it: nothing is kept back for another round."""


_NO_WORKER = _Worker()


def _worker(member: MemberMetadata, assigned: bool) -> _Worker:
    try:
        state = decode_state(member.subscription)
        reported = NOTHING if state.allocation is None else state.allocation.assigned
        if not assigned or not member.assignment:
            return _Worker(state.url, NOTHING if assigned else reported)
        told = decode_assignment(member.assignment)
    except EmbeddedError:
        return _NO_WORKER
    owned = told.assigned if told.version == EAGER else (reported - told.revoked) | told.assigned
    return _Worker(state.url, owned, told.delay_ms, not (told.revoked or told.delay_ms or told.error))


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
}
"""By record type. Offsets (0, 1) do not change this state."""
OF_GROUPS = frozenset(_APPLY)


def by_group(entries: list[Entry]) -> dict[str, list[Entry]]:
    """The records of a step that belong to groups, by group, in the order of the log."""
    found: defaultdict[str, list[Entry]] = defaultdict(list)
    for entry in entries:
        if entry.record.key.API_KEY in OF_GROUPS:
            found[group_of(entry.record)].append(entry)
    return found
