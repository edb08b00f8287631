"""What each worker of a classic group runs, and what it was told, read from the group's state.

Under `compatible` and `sessioned` an assignment is an increment: a worker adds what is assigned to what it has
reported, and stops what is revoked. So that nothing that it may be running is given away:

| the worker | may be running | is to run |
| --- | --- | --- |
| has an assignment of this generation, or may have fetched it | reported and assigned | reported less revoked, and assigned |
| the same under `default`, for which it had stopped everything | assigned | assigned |
| has joined again since, and waits | reported | the same |
| has joined this generation, which has no assignments yet | reported | the same |

A worker that has joined this generation a second time, and not fetched its assignment since, may have lost the answer
with its assignment. It has to join once more, and then says what it runs.

If two workers are to run the same resource, the one in the higher row of this table has it; in the same row, the one
that has been a member for longer. Who has no assignment, or has joined again since, and reports what others may be
running stops that first (CM-12).
"""  # noqa: E501

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import attrs

from kcoord.group.state.groups.classic_group import ClassicGroup
from kcoord.group.state.groups.classic_member import ClassicMember
from kcoord.group.state.groups.classic_states import ClassicState
from kcoord.group.state.groups.connect_group import PROTOCOL_TYPE, Resources
from kcoord.group.translation.embedded_join import Spoken, Unreadable, read
from kcoord.protocol.embedded import EAGER, EmbeddedError, WorkerAssignment, decode_assignment
from kcoord.resource import Resource

NOTHING: Resources = frozenset()


class NotConvertible(Exception):
    """The group cannot be converted; the text says why."""


@attrs.define(slots=True)
class Worker:
    """One member of the classic group."""

    member: ClassicMember
    spoken: Spoken
    current: Resources
    """All that it may be running."""
    target: Resources
    """What it is to run."""
    told: WorkerAssignment | None
    """Its last assignment, if it may have fetched it."""
    knows_generation: bool
    """It knows the number of the group's generation."""
    knows_some_generation: bool
    """It knows a generation, which may be an earlier one (`ClassicGroup.was_converted`)."""
    is_settled: bool
    """It has its assignment, and nobody waits for it: it need not be told anything."""
    doubtful: Resources = NOTHING
    """What it has to stop because others may be running it too: it has not followed an assignment since they were given
    that, or does not run what it reports yet (CM-12).
    """


def read_workers(group: ClassicGroup) -> list[Worker]:
    """Read all members. Raises NotConvertible unless all of them are Connect workers that can be read."""
    if group.protocol_type != PROTOCOL_TYPE:
        kind = f"of protocol type {group.protocol_type}" if group.protocol_type else "without protocol type"
        raise NotConvertible(f"group {group.group_id} is {kind}, and only groups of type {PROTOCOL_TYPE} can change")
    assignments = {each.member_id: each.assignment for each in group.record.members}
    workers = [_worker(group, member, assignments) for member in group.members.values()]
    _share_out(workers)
    _doubt_reports(workers)
    return workers


def _worker(group: ClassicGroup, member: ClassicMember, assignments: dict[str, bytes]) -> Worker:
    if member.instance_id is not None:
        raise NotConvertible(
            f"member {member.member_id} of group {group.group_id} is static (group.instance.id {member.instance_id}), "
            "which a Connect worker never is"
        )
    known = member.member_id in assignments
    try:
        spoken = read(member.protocols)
        told = None
        if known and member.parked_join is None and assignments[member.member_id]:
            told = decode_assignment(assignments[member.member_id])
    except (Unreadable, EmbeddedError) as fault:
        raise NotConvertible(f"member {member.member_id} of group {group.group_id}: {fault}") from None
    current, target = _runs(spoken.reported, told)
    fetched = member.member_id not in group.unsynced and not member.rejoined
    settled = group.state is ClassicState.STABLE and known and fetched
    converted = group.was_converted
    return Worker(
        member,
        spoken,
        current,
        target,
        told,
        knows_generation=known and not converted,
        knows_some_generation=known and converted,
        is_settled=settled,
    )


def _runs(reported: Resources, told: WorkerAssignment | None) -> tuple[Resources, Resources]:
    """What a worker may be running, and what it is to run."""
    if told is None:
        return reported, reported
    if told.version == EAGER:
        return told.assigned, told.assigned
    return reported | told.assigned, (reported - told.revoked) | told.assigned


def _share_out(workers: Iterable[Worker]) -> None:
    """Remove from each target what an earlier worker has, so that nothing is in two targets."""
    taken: set[Resource] = set()
    for worker in sorted(workers, key=lambda each: each.told is None):
        worker.target -= taken
        taken |= worker.target


def _doubt_reports(workers: Sequence[Worker]) -> None:
    run_by = Counter(each for worker in workers for each in worker.current)
    for worker in workers:
        worker.doubtful = frozenset([each for each in worker.current if worker.told is None and run_by[each] > 1])


def last_leader(group: ClassicGroup, workers: Iterable[Worker]) -> tuple[str | None, int]:
    """The member that made the last known assignments, or that leads the generation which has none yet; and the config
    offset up to which they were made.
    """
    told = [each.told for each in workers if each.told is not None and not each.told.error]
    leader = next((each.leader for each in told if each.leader in group.members), group.leader_id)
    return leader, max((each.config_offset for each in told), default=-1)
