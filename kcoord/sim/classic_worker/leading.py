"""The leading worker's answer to the others: Connect's own assignor over the members that the JoinGroup response lists.

For comparison the leader can also assign by another policy (`kcoord.assign`), as if Connect had it. That works in
rounds as kcoord's leaders do (`kcoord.worker.classic.round`). Under `default` the assignor is Connect's own in any
case.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import attrs

from kcoord.assign import ServerAssignor
from kcoord.assign.incremental import Memory, Seen, Snapshot, Worker, answer, written
from kcoord.assign.incremental import eager as eager_assignor
from kcoord.assign.incremental.config import agreed, leader_url
from kcoord.assign.incremental.model import NO_GENERATION
from kcoord.assign.policies import IncrementalAssignor
from kcoord.protocol.embedded import (
    EAGER,
    NOTHING,
    SESSIONED,
    WorkerAssignment,
    WorkerState,
    encode_assignment,
)
from kcoord.protocol.generated.join_group_response import JoinGroupResponseMember
from kcoord.resource import Resource
from kcoord.sim.classic_worker.cached_decoding import decode_state
from kcoord.worker.classic import round as rounds


@attrs.frozen
class Round:
    """The result of one round."""

    told: Mapping[str, bytes]
    """Each member's assignment."""
    snapshot: Snapshot
    owners: Mapping[str, frozenset[Resource]] | None
    """Who is to run what, for forwarded REST requests. None: the leader lacked configurations."""


@attrs.define
class Leader:
    """What a worker keeps from round to round, in case it leads."""

    assignor: ServerAssignor | None = None
    """None: Connect's own."""
    _memory: Memory = attrs.Factory(Memory)
    _rounds: rounds.Memory = attrs.Factory(rounds.Memory)
    _generation: int = NO_GENERATION
    """The generation of the last round that it led with `assignor`."""
    _wait: rounds.Wait = rounds.NO_WAIT

    def told(self, assignment: WorkerAssignment, now_ms: int) -> None:
        """This worker has got an assignment, from itself or from another leader."""
        self._wait = rounds.Wait.of(assignment, now_ms)

    def lead(self, version: int, members: Sequence[JoinGroupResponseMember], seen: Seen, max_delay_ms: int) -> Round:
        """Compute the assignments. `seen` has everything but the workers. Raises ValueError if the leader is not among
        the members, as Java fails then, and EmbeddedError for metadata that cannot be read.
        """
        if not members:
            raise ValueError(f"the leader {seen.leader_id} is shown no members")
        states = {member.member_id: decode_state(member.metadata) for member in members}
        seen = attrs.evolve(seen, workers=tuple([_worker(name, state) for name, state in states.items()]))
        base = agreed(seen)
        if self.assignor is None or version == EAGER or base is None:
            return self._by_connect(version, seen, max_delay_ms)
        return self._by_policy(self.assignor, WorkerAssignment(version), states, seen, base, max_delay_ms)

    def _by_connect(self, version: int, seen: Seen, max_delay_ms: int) -> Round:
        memory = self._memory
        made = eager_assignor.answer(seen, memory) if version == EAGER else answer(seen, memory, max_delay_ms)
        self._memory = made.memory
        told = {
            name: encode_assignment(
                WorkerAssignment(
                    version,
                    made.error,
                    seen.leader_id,
                    made.leader_url,
                    made.config_offset,
                    assigned=frozenset(share.assigned),
                    revoked=share.revoked if version > EAGER else NOTHING,
                    delay_ms=made.delay_ms if version > EAGER else 0,
                )
            )
            for name, share in made.shares.items()
        }
        owners = None if made.error else {name: frozenset(share.owned) for name, share in made.shares.items()}
        return Round(told, made.snapshot, owners)

    def _by_policy(
        self,
        assignor: ServerAssignor,
        common: WorkerAssignment,
        states: Mapping[str, WorkerState],
        seen: Seen,
        base: tuple[Snapshot, int],
        max_delay_ms: int,
    ) -> Round:
        snapshot, offset = base
        configured = snapshot.resources()
        if self._generation != seen.last_completed_generation:  # others have led since, or its answer did not arrive
            self._rounds = rounds.Memory()
        if isinstance(assignor, IncrementalAssignor) and assignor.policy.defers:
            self._rounds.guess(states, configured, self._wait, seen.now_ms)
        group = self._rounds.show(states, configured, offset, seen.generation, max_delay_ms, seen.now_ms)
        assignment = assignor.assign(group)
        self._rounds.keep(group, assignment, seen.now_ms)
        self._generation = seen.generation
        common = attrs.evolve(common, leader=seen.leader_id, leader_url=leader_url(seen), config_offset=offset)
        found = rounds.differences(states, assignment, common, frozenset(states))
        told = {name: encode_assignment(each) for name, each in found.items()}
        owners = {name: rounds.held_by(states[name]) - each.revoked | each.assigned for name, each in found.items()}
        return Round(told, snapshot, owners)


def _worker(member_id: str, state: WorkerState) -> Worker:
    if state.version > SESSIONED:
        raise ValueError(f"{member_id} speaks version {state.version}, Connect 4.3 knows none above {SESSIONED}")
    held = () if state.allocation is None else written(tuple(sorted(state.allocation.assigned)))
    return Worker(member_id, state.url, state.config_offset, held)
