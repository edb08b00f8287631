"""The rows of `ownership`, `gaps` and `sessions`: who could be running what from when to when, when nobody could, and
who was a member.

Ownership is compared from step to step: what a member has after a step and had before it goes on, whatever the records
between said.
"""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from kcoord.pipeline.history.causes import cause_of
from kcoord.pipeline.history.entry import Row
from kcoord.pipeline.history.state import CONNECT, CONSUMER, NOTHING, GroupState, LoggedMember, Step
from kcoord.pipeline.history.steps import Whole
from kcoord.resource import Resource

AWAY = {CONNECT: "worker away", CONSUMER: "consumer away"}
"""The reason of a gap where a static member has left for a while, by the kind of group."""


@attrs.define(slots=True)
class _Since:
    offset: int
    at_ms: int
    member: LoggedMember | None


@attrs.define(slots=True)
class _Gap:
    at_ms: int
    giver: str | None
    epoch: int
    reason: str | None
    unsure: bool = False
    """Nobody reported that it is configured, and it was taken from a member that stays: it may have been deleted."""


@attrs.define(eq=False)
class Change:
    """The change of ownership in one step."""

    closed: list[tuple[str, Resource]] = attrs.Factory(list)
    opened: list[tuple[str, Resource]] = attrs.Factory(list)

    @staticmethod
    def of(state: GroupState, step: Step) -> Change:
        """The change that `step` made. Sorted, so that the same log gives the same rows."""
        change = Change()
        for member_id in sorted(step.before):
            before, after = step.before[member_id], state.owned.get(member_id, NOTHING)
            if before is after:
                continue
            change.closed += [(member_id, each) for each in sorted(before - after)]
            change.opened += [(member_id, each) for each in sorted(after - before)]
        return change

    def __bool__(self) -> bool:
        return bool(self.closed or self.opened)


@attrs.define(eq=False)
class Ownership:
    """The rows of `ownership` and `gaps` of one group."""

    whole: Whole
    _since: dict[tuple[str, Resource], _Since] = attrs.Factory(dict)
    counts: dict[Resource, int] = attrs.Factory(dict)
    """How many members could be running each resource that any could."""
    owned: int = 0
    """How many resources have a member that could be running them."""
    _gaps: dict[Resource, _Gap] = attrs.Factory(dict)

    def step(self, state: GroupState, step: Step, change: Change) -> Iterator[tuple[str, Row]]:
        """The rows that end with this step."""
        if not (change or step.configured_changed or step.deleted or step.all_given):
            return
        for member_id, resource in change.closed:
            since = self._since.pop((member_id, resource))
            ended = "deleted" if step.deleted else "released" if member_id in state.members else "gone"
            yield "ownership", self._row(state, member_id, resource, since, step, ended)
            others = self.counts[resource] - 1
            if others:
                self.counts[resource] = others
            else:
                del self.counts[resource]
                self.owned -= 1
        for member_id, resource in change.opened:
            member = state.members.get(member_id) or step.went.get(member_id)
            self._since[member_id, resource] = _Since(step.offset, step.at_ms, member)
            self.counts[resource] = self.counts.get(resource, 0) + 1
            self.owned += self.counts[resource] == 1
        yield from self._gapped(state, step, change)

    def end(self, state: GroupState) -> Iterator[tuple[str, Row]]:
        """The log has ended: the rows that are still open."""
        for (member_id, resource), since in sorted(self._since.items()):
            yield "ownership", self._row(state, member_id, resource, since, None, None)
        for resource, gap in sorted(self._gaps.items()):
            yield "gaps", _gap_row(state, resource, gap, None, None)

    def unowned(self, state: GroupState) -> list[Resource]:
        """The configured resources that nobody could be running."""
        return sorted((state.configured or NOTHING).difference(self.counts))

    def _gapped(self, state: GroupState, step: Step, change: Change) -> Iterator[tuple[str, Row]]:
        if step.deleted:
            self._gaps.clear()
            self.counts.clear()
            return
        for member_id, resource in change.closed:
            if not self.counts.get(resource) and (state.configured is None or resource in state.configured):
                reason = _let_go(state, step, member_id)
                unsure = state.configured is None and member_id in state.members
                self._gaps.setdefault(resource, _Gap(step.at_ms, member_id, state.epoch, reason, unsure))
        for member_id, resource in change.opened:
            gap = self._gaps.pop(resource, None)
            if gap is not None and gap.at_ms != step.at_ms:
                yield "gaps", _gap_row(state, resource, gap, step.at_ms, member_id)
        if step.configured_changed:
            wanted = state.configured
            for resource in [] if wanted is None else sorted(self._gaps.keys() - wanted):
                yield "gaps", _gap_row(state, resource, self._gaps.pop(resource), step.at_ms, None)
            for resource in self.unowned(state):
                gap = self._gaps.setdefault(resource, _Gap(step.at_ms, None, state.epoch, short(state.reason)))
                gap.unsure = False
        if step.all_given:
            yield from self._not_given(state, step)

    def _not_given(self, state: GroupState, step: Step) -> Iterator[tuple[str, Row]]:
        """What a classic group's leader gave to nobody is no longer configured."""
        for resource in sorted(self._gaps):
            gap = self._gaps.pop(resource)
            if not gap.unsure and gap.at_ms != step.at_ms:
                yield "gaps", _gap_row(state, resource, gap, step.at_ms, None)

    def _row(
        self,
        state: GroupState,
        member_id: str,
        resource: Resource,
        since: _Since,
        step: Step | None,
        ended: str | None,
    ) -> Row:
        member = since.member
        return {
            **group_columns(state),
            "connector": resource.connector,
            "task": resource.task_id,
            "member_id": member_id,
            "url": None if member is None else member.url,
            "speaks": None if member is None else member.speaks,
            "from_offset": since.offset,
            "from_at": since.at_ms,
            "to_offset": None if step is None else step.offset,
            "to_at": None if step is None else step.at_ms,
            "duration_ms": None if step is None else max(0, step.at_ms - since.at_ms),
            "ended": ended,
            "whole": state.from_start or self.whole(since.offset),
        }


@attrs.define(eq=False)
class Sessions:
    """The rows of `sessions` of one group."""

    whole: Whole
    _since: dict[str, _Since] = attrs.Factory(dict)

    def step(self, state: GroupState, step: Step) -> Iterator[tuple[str, Row]]:
        """The rows of members that go with this step."""
        for member_id in sorted(step.went):
            since = self._since.pop(member_id, None)
            if since is not None:
                since.member = step.went[member_id]
                yield "sessions", self._row(state, member_id, since, step, _why(step, member_id))
        for member_id in sorted(step.came):
            self._since[member_id] = _Since(step.offset, step.at_ms, None)

    def end(self, state: GroupState) -> Iterator[tuple[str, Row]]:
        """The log has ended: the rows of members that are still there."""
        for member_id, since in sorted(self._since.items()):
            since.member = state.members.get(member_id)
            yield "sessions", self._row(state, member_id, since, None, None)

    def _row(self, state: GroupState, member_id: str, since: _Since, step: Step | None, ended: str | None) -> Row:
        member = since.member
        return {
            **group_columns(state),
            "member_id": member_id,
            "instance_id": None if member is None else member.instance_id,
            "client_id": None if member is None else member.client_id,
            "client_host": None if member is None else member.client_host,
            "url": None if member is None else member.url,
            "speaks": None if member is None else member.speaks,
            "session_timeout_ms": None if member is None else member.session_timeout_ms,
            "from_offset": since.offset,
            "from_at": since.at_ms,
            "to_offset": None if step is None else step.offset,
            "to_at": None if step is None else step.at_ms,
            "duration_ms": None if step is None else max(0, step.at_ms - since.at_ms),
            "ended": ended,
            "whole": state.from_start or self.whole(since.offset),
        }


def group_columns(state: GroupState) -> Row:
    """The columns that name the group."""
    return {
        "partition": state.partition,
        "group_id": state.group_id,
        "incarnation": state.incarnation,
        "protocol_type": state.protocol_type,
    }


def short(reason: str | None) -> str | None:
    """The part of a reason before the colon."""
    return None if reason is None else reason.partition(":")[0].strip()


def _why(step: Step, member_id: str) -> str:
    """The cause that names the member; if none does, the reason of the last epoch. Several epochs may have begun at
    once, each for several causes.
    """
    named = [cause_of(each.reason, member_id) for each in step.epochs]
    return (
        next((each for each in named if each), None) or short(step.epochs[-1].reason if step.epochs else None) or "gone"
    )


def _let_go(state: GroupState, step: Step, member_id: str) -> str | None:
    """Why nobody has the resource now that this member has given it up. A static member goes away without an epoch
    (CG-28, KG-4).
    """
    if step.epochs:
        return _why(step, member_id)
    is_away = member_id in state.away and state.kind in AWAY
    return AWAY[state.kind] if is_away else short(state.reason)


def _gap_row(state: GroupState, resource: Resource, gap: _Gap, to_ms: int | None, taker: str | None) -> Row:
    return {
        **group_columns(state),
        "connector": resource.connector,
        "task": resource.task_id,
        "from_at": gap.at_ms,
        "to_at": to_ms,
        "duration_ms": None if to_ms is None else max(0, to_ms - gap.at_ms),
        "from_member": gap.giver,
        "to_member": taker,
        "epoch": gap.epoch,
        "reason": gap.reason,
    }
