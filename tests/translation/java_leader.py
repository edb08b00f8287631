"""Connect's own assignor in one worker, with what it remembers: kcoord's port, which `tests/assign` holds to Java's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import attrs

from kcoord.assign.incremental import Memory, Seen, Snapshot, Worker, answer, written
from kcoord.assign.incremental.model import NO_GENERATION
from kcoord.protocol.embedded import WorkerAssignment, decode_state
from kcoord.protocol.generated.join_group_response import JoinGroupResponseMember
from kcoord.resource import CONNECTOR, Resource

SESSIONED = 2


@attrs.define
class JavaLeader:
    """One worker that leads."""

    max_delay_ms: int = 300_000
    memory: Memory = attrs.Factory(Memory)
    completed: int = NO_GENERATION
    """The last generation of which this worker got its assignment."""
    now_ms: int = 0

    def answer(
        self,
        workers: Sequence[Worker],
        leader_id: str,
        configured: Mapping[str, int],
        offset: int,
        generation: int,
    ) -> dict[str, WorkerAssignment]:
        """What it tells each of these members. `configured`: how many tasks each connector has."""
        seen = Seen(
            leader_id,
            tuple(workers),
            Snapshot(offset, configured),
            generation=generation,
            last_completed_generation=self.completed,
            now_ms=self.now_ms,
        )
        made = answer(seen, self.memory, self.max_delay_ms)
        self.memory = made.memory
        url = next(each.url for each in workers if each.member_id == leader_id)
        return {
            name: WorkerAssignment(
                SESSIONED,
                0,
                leader_id,
                url,
                made.config_offset,
                frozenset(share.assigned),
                share.revoked,
                made.delay_ms,
            )
            for name, share in made.shares.items()
        }


def worker_of(member: JoinGroupResponseMember) -> Worker:
    """A member, as the leader reads it."""
    state = decode_state(member.metadata)
    held = () if state.allocation is None else written(tuple(sorted(state.allocation.assigned)))
    return Worker(member.member_id, state.url, state.config_offset, held)


def task_counts(resources: frozenset[Resource]) -> dict[str, int]:
    """How many tasks each connector has."""
    names = [name for name, task in resources if task == CONNECTOR]
    return {name: sum(each == name and task != CONNECTOR for each, task in resources) for name in names}
