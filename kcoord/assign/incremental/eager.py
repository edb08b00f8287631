"""A Java leader's round under `default`: Connect's EagerAssignor, which assigns everything again and remembers nothing.

Connectors by name, then the tasks of each, are dealt one by one to the members by id; the first task goes to the member
after the last connector's.
"""

from __future__ import annotations

from itertools import cycle

from kcoord.assign.incremental.config import agreed, leader_url, mismatch
from kcoord.assign.incremental.hashing import sort_key
from kcoord.assign.incremental.loads import in_order
from kcoord.assign.incremental.model import Answer, Memory, Seen, Share
from kcoord.resource import Resource


def answer(seen: Seen, memory: Memory | None = None) -> Answer:
    """Compute one round. `memory` belongs to the same worker's incremental assignor; it is not used and stays as it
    is.
    """
    memory = memory or Memory()
    base = agreed(seen)
    if base is None:
        return mismatch(seen, memory)
    snapshot, offset = base
    rows: dict[str, list[Resource]] = {worker.member_id: [] for worker in seen.workers}
    resources = in_order(snapshot.resources())
    resources.sort(key=lambda resource: not resource.is_connector)
    for member, resource in zip(cycle(sorted(rows, key=sort_key)), resources, strict=False):
        rows[member].append(resource)
    shares = {member: Share(assigned=tuple(row), owned=tuple(row)) for member, row in rows.items()}
    return Answer(shares, leader_url(seen), offset, snapshot, memory)
