"""What does the worker that leads answer the others? Connect's own assignor over the list of JoinGroup's answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import attrs

from kcoord.assign.incremental import Memory, Seen, Snapshot, Worker, answer, written
from kcoord.assign.incremental import eager as eager_assignor
from kcoord.protocol.embedded import (
    EAGER,
    NOTHING,
    SESSIONED,
    WorkerAssignment,
    decode_state,
    encode_assignment,
)
from kcoord.protocol.generated.join_group_response import JoinGroupResponseMember
from kcoord.protocol.resources import Resource


@attrs.frozen
class Round:
    """What came of one round."""

    told: Mapping[str, bytes]
    """Each member's assignment."""
    memory: Memory
    snapshot: Snapshot
    owners: Mapping[str, frozenset[Resource]] | None
    """Who shall run what, for REST requests that are forwarded; None: the leader lacked configurations."""


def lead(
    version: int,
    leader_id: str,
    members: Sequence[JoinGroupResponseMember],
    seen: Seen,
    memory: Memory,
    max_delay_ms: int,
) -> Round:
    """Compute. `seen` has all but the workers. Raises ValueError if the leader is not among the members, as Java fails
    then, and EmbeddedError for metadata that cannot be read.
    """
    if not members:
        raise ValueError(f"the leader {leader_id} is shown no members")
    seen = attrs.evolve(seen, leader_id=leader_id, workers=tuple([_worker(member) for member in members]))
    made = eager_assignor.answer(seen, memory) if version == EAGER else answer(seen, memory, max_delay_ms)
    common = WorkerAssignment(version, made.error, leader_id, made.leader_url, made.config_offset)
    told = {
        name: encode_assignment(
            attrs.evolve(
                common,
                assigned=frozenset(share.assigned),
                revoked=share.revoked if version > EAGER else NOTHING,
                delay_ms=made.delay_ms if version > EAGER else 0,
            )
        )
        for name, share in made.shares.items()
    }
    owners = None if made.error else {name: frozenset(share.owned) for name, share in made.shares.items()}
    return Round(told, made.memory, made.snapshot, owners)


def _worker(member: JoinGroupResponseMember) -> Worker:
    state = decode_state(member.metadata)
    if state.version > SESSIONED:
        raise ValueError(f"{member.member_id} speaks version {state.version}, Connect 4.3 knows none above {SESSIONED}")
    held = () if state.allocation is None else written(tuple(sorted(state.allocation.assigned)))
    return Worker(member.member_id, state.url, state.config_offset, held)
