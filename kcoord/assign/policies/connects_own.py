"""The assignor `kip-415`: what a Java leader computes (KIP-415), behind the interface of the other assignors.

`kcoord.assign.incremental` computes round by round, with a memory. Here the group's input replaces the memory:

- What ran is what the targets name.
- The group says who is gone, and how long its work still waits.
- A member that has nothing counts as one that came while something waited.

Two rounds become one: the second gives what the first takes away. So revocations never follow each other, and
KAFKA-12495's back-off has nothing to delay. All else is Connect's. While something waits nothing moves, and a new
worker gets nothing of it. When the wait is over, the members that have nothing get all of it; then balance takes back
what is too much (KAFKA-10413). Who gets what depends on the order of Java's hash tables.

A worker that comes back in time has its own work again before this is called (CG-22), which Java's leaders cannot know.
In a classic group the worker that leads does that (`kcoord/worker/classic/round.py`).
"""

from __future__ import annotations

from operator import attrgetter

import attrs

from kcoord.assign.balance import settle
from kcoord.assign.existing_resources import existing
from kcoord.assign.incremental.follower import written
from kcoord.assign.incremental.hashing import hashed
from kcoord.assign.incremental.leader import compute
from kcoord.assign.incremental.model import Memory, Row, Seen, Share, Snapshot, Worker
from kcoord.assign.interface import ConnectAssignor
from kcoord.assign.model import NO_DELAY, Assignment, Group, MemberAssignment
from kcoord.resource import CONNECTOR, Resource

_NOW_MS = 1
"""Any time except 0, which means no time in a leader's memory."""


class Kip415Assignor(ConnectAssignor):
    """The assignor `kip-415`, for either side."""

    name = "kip-415"

    def assign(self, group: Group) -> Assignment:
        """All of it but what waits."""
        members = sorted(group.members, key=lambda member: member.member_id)
        if not members:
            return Assignment(())
        resources = existing(group)
        targets, _ = settle([member.target for member in members], resources)
        before = {member.member_id: _row(target) for member, target in zip(members, targets, strict=True)}
        rows = before
        memory = _memory(group, rows, resources)
        shares, memory = compute(_seen(rows, 0), resources, memory, group.rebalance_delay_ms)
        delay_ms = memory.delay_ms
        if any(share.revoked for share in shares.values()):
            rows = {member_id: _after(row, shares[member_id]) for member_id, row in rows.items()}
            memory = attrs.evolve(memory, revoked_for_balance=False)
            shares, _ = compute(_seen(rows, 1), resources, memory, group.rebalance_delay_ms)
        rows = {member_id: _after(row, shares[member_id]) for member_id, row in rows.items()}
        given = [
            target if rows[member_id] is row else frozenset(rows[member_id])
            for target, (member_id, row) in zip(targets, before.items(), strict=True)
        ]
        return Assignment(
            tuple(
                [
                    MemberAssignment(member.member_id, target if target == gets else gets)
                    for member, target, gets in zip(members, targets, given, strict=True)
                ]
            ),
            delay_ms if sum(map(len, given)) < len(resources) else 0,
        )


def _row(target: frozenset[Resource]) -> Row:
    """The target in the order in which a worker reports it."""
    row = tuple(sorted(target))
    named = CONNECTOR in map(attrgetter("task_id"), row)
    return written(row) if named else row  # tasks alone are in order already


def _memory(group: Group, rows: dict[str, Row], resources: frozenset[Resource]) -> Memory:
    """What a leader would remember if it had led all the time."""
    gone = [each for each in group.departed if each.target]
    # with a delay of 0 nothing waits (KAFKA-15693), so nothing prevents balancing either
    running_ms = group.remaining_delay_ms if group.rebalance_delay_ms else NO_DELAY
    return Memory(
        assigned=frozenset().union(*rows.values(), *(each.target for each in gone)) & resources,
        candidates=tuple(hashed(member_id for member_id, row in rows.items() if not row)) if running_ms >= 0 else (),
        scheduled_rebalance_ms=_NOW_MS + running_ms if running_ms >= 0 else 0,
        delay_ms=max(running_ms, 0),
        generation=0,
        members=frozenset(rows).union(each.member_id for each in gone),
    )


def _seen(rows: dict[str, Row], generation: int) -> Seen:
    workers = tuple([Worker(member_id, held=row) for member_id, row in rows.items()])
    return Seen(
        "", workers, Snapshot(), generation=generation + 1, last_completed_generation=generation, now_ms=_NOW_MS
    )


def _after(row: Row, share: Share) -> Row:
    if not share.assigned and not share.revoked:
        return row
    return (*share.assigned, *[resource for resource in row if resource not in share.revoked])
