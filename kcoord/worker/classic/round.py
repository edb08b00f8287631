"""What the leader of a classic group computes: targets by an assignor, and from them what each worker starts and stops.

- The assignor says what each worker is to run; the protocol carries differences. A worker is told to stop what is not
  its own any more, and to start what nobody runs. What another worker must stop first comes with the next round: a
  worker that has stopped something joins again.
- If two workers report that they run the same, both stop it, as Connect's leaders have it. One of them may have lost it
  and not be running it. If that one kept it, it would start at once, while the other one has not stopped yet.
- The leader remembers its last round: which work nobody has now, and since when, for the delay in which a worker may
  come back. A worker with a known url that runs nothing has come back, and is shown with what it had.
- Under `default` each worker gets everything that it is to run, and has stopped everything before.
"""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from kcoord.assign import Assignment, Departed, Group, Member, Resource
from kcoord.assign.model import NO_DELAY
from kcoord.protocol.embedded import EAGER, NOTHING, WorkerAssignment, WorkerState
from kcoord.resource import resources_of

SOMEBODY = ""
"""The member id for lost work if the leader does not know which worker had it."""


@attrs.frozen
class Wait:
    """The delay in an assignment that the worker received."""

    told_ms: int = 0
    """How long it was; 0: none."""
    ends_ms: int | None = None

    @classmethod
    def of(cls, told: WorkerAssignment, now_ms: int) -> Wait:
        """What the worker remembers of an assignment that has just come."""
        return cls(told.delay_ms, now_ms + told.delay_ms) if told.delay_ms > 0 else NO_WAIT


NO_WAIT = Wait()


@attrs.define
class Memory:
    """What a leader remembers from round to round. A new leader remembers nothing, as in Connect."""

    targets: dict[str, tuple[str, frozenset[Resource]]] = attrs.Factory(dict)
    """Member id → its url, and what it was to run."""
    delay_ends_ms: int | None = None

    def guess(
        self, states: Mapping[str, WorkerState], configured: frozenset[Resource] | None, wait: Wait, now_ms: int
    ) -> None:
        """Guess what is lost (design II of docs/assignors.md), for a leader that remembers nothing. What nobody runs is
        lost if others run the rest of its connector; if nobody runs anything of the connector, it is new. If the leader
        was a member before, it knows when a wait ends. Otherwise it starts a wait. But if others were told of a delay,
        its wait is half as long, so that leaders that remember nothing cannot prolong it for ever.
        """
        if self.targets or configured is None:
            return
        held = NOTHING.union(*map(held_by, states.values()))
        known = {name for name, _ in held}
        lost = frozenset(resource for resource in configured - held if resource.connector in known)
        if not lost:
            return
        self.targets[SOMEBODY] = ("", lost)
        told = [state.allocation.delay_ms for state in states.values() if state.allocation is not None]
        if wait.ends_ms is not None:
            self.delay_ends_ms = wait.ends_ms
        elif max(told, default=0) > 0:
            self.delay_ends_ms = now_ms + max(told) // 2

    def show(
        self,
        states: Mapping[str, WorkerState],
        configured: frozenset[Resource] | None,
        config_offset: int,
        generation: int,
        delay_ms: int,
        now_ms: int,
    ) -> Group:
        """The group as the assignor sees it. If this leader remembers others, new members have epoch 0."""
        held = {member: held_by(state) for member, state in states.items()}
        for member, state in states.items():
            if not held[member]:
                held[member] = self._left_by(state.url, states) - NOTHING.union(*held.values())
        gone = [
            Departed(member, None, url, left)
            for member, (url, target) in sorted(self.targets.items())
            if member not in states and (left := target - NOTHING.union(*held.values()))
        ]
        led = not self.targets.keys() <= {SOMEBODY}
        return Group(
            members=tuple(
                Member(
                    member,
                    None,
                    state.url,
                    held[member],
                    state.version,
                    epoch=0 if led and member not in self.targets else max(generation, 1),
                )
                for member, state in sorted(states.items())
            ),
            configured=configured,
            config_offset=config_offset,
            departed=tuple(gone),
            remaining_delay_ms=self._remaining_ms(now_ms),
            rebalance_delay_ms=delay_ms,
        )

    def keep(self, group: Group, assignment: Assignment, now_ms: int) -> None:
        """Remember this round. Departed workers' targets stay until a round without delay."""
        urls = {member.member_id: member.url or "" for member in group.members}
        kept = {each.member_id: (each.url or "", each.target) for each in group.departed}
        self.targets = kept if assignment.scheduled_delay_ms > 0 else {}
        self.targets |= {
            each.member_id: (urls[each.member_id], resources_of(each.resources)) for each in assignment.members
        }
        if assignment.scheduled_delay_ms <= 0:
            self.delay_ends_ms = None
        else:
            self.delay_ends_ms = now_ms + assignment.scheduled_delay_ms

    def _left_by(self, url: str, states: Mapping[str, WorkerState]) -> frozenset[Resource]:
        if url == "":
            return NOTHING
        return NOTHING.union(
            *(target for member, (known, target) in self.targets.items() if known == url and member not in states)
        )

    def _remaining_ms(self, now_ms: int) -> int:
        return NO_DELAY if self.delay_ends_ms is None else max(0, self.delay_ends_ms - now_ms)


def held_by(state: WorkerState) -> frozenset[Resource]:
    """What a worker reports that it runs."""
    return NOTHING if state.allocation is None else state.allocation.assigned


def differences(
    states: Mapping[str, WorkerState],
    assignment: Assignment,
    told: WorkerAssignment,
    waits: frozenset[str],
) -> dict[str, WorkerAssignment]:
    """The assignment of each worker; `told` has what is the same for all. The workers in `waits` are told of the delay,
    and join again when it is over: the leader alone, or all, so that the next leader knows when it ends.
    """
    targets = {each.member_id: resources_of(each.resources) for each in assignment.members}
    holders: dict[Resource, set[str]] = {}
    for member, state in states.items():
        for resource in held_by(state):
            holders.setdefault(resource, set()).add(member)
    shared = frozenset(resource for resource, who in holders.items() if len(who) > 1)
    found = {}
    for member, state in states.items():
        target, held = targets.get(member, NOTHING), held_by(state)
        if told.version == EAGER:
            found[member] = attrs.evolve(told, assigned=target)
        else:
            free = frozenset(resource for resource in target - held if not holders.get(resource))
            delay_ms = assignment.scheduled_delay_ms if member in waits else 0
            found[member] = attrs.evolve(told, assigned=free, revoked=held - (target - shared), delay_ms=delay_ms)
    return found
