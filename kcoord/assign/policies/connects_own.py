"""Who would run what if a Java worker led? Connect's own assignor (KIP-415), asked as all others here.

`kcoord.assign.incremental` computes round by round, with a memory. Here the group's input stands for the memory: what
ran is what the targets name; who is gone, and how long its work waits yet, is said; who has nothing is one who came
while something waited. Two rounds are one: what the first takes away the second gives. So revocations never follow each
other, and KAFKA-12495's back-off has nothing to hold back; all else is Connect's: while something waits nothing is
moved, and a worker that is new gets nothing of it; when the wait is over those who have nothing get it all, then
balance takes back what is too much (KAFKA-10413); who gets what goes by the order of Java's hash tables.

A worker that comes back in time has its own again before this is asked (CG-22), which Java's leaders
cannot know; under the generic protocol the worker's own leader does it (`kcoord/worker/generic/round.py`).
"""

from __future__ import annotations

from operator import itemgetter

import attrs

from kcoord.assign.balance import settle
from kcoord.assign.incremental.follower import written
from kcoord.assign.incremental.hashing import hashed
from kcoord.assign.incremental.leader import compute
from kcoord.assign.incremental.model import Memory, Row, Seen, Share, Snapshot, Worker
from kcoord.assign.interface import ConnectAssignor
from kcoord.assign.model import NO_DELAY, Assignment, Group, MemberAssignment
from kcoord.assign.resource import CONNECTOR, Resource
from kcoord.assign.universe import existing

_NOW_MS = 1
"""Any time but 0, which stands for none in a leader's memory."""


class Kip415Assignor(ConnectAssignor):
    """For either side."""

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
    """In the order in which a worker reports it."""
    row = tuple(sorted(target))
    named = CONNECTOR in map(itemgetter(1), row)
    return written(row) if named else row  # tasks alone are in order already


def _memory(group: Group, rows: dict[str, Row], resources: frozenset[Resource]) -> Memory:
    """What a leader would know that had led all the time."""
    gone = [each for each in group.departed if each.target]
    # with a delay of 0 nothing waits (KAFKA-15693), so that nothing holds balance back either
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
