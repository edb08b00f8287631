"""Lost work in a Java leader's round: what happens with work that nobody reports any more.

| who is here, what waits | what happens with the work |
| --- | --- |
| nothing is lost, nothing was taken for balance last time | no wait; a running one ends |
| no wait, and all members of last time are here | dealt out at once: an answer did not arrive (KAFKA-9848) |
| the delay is 0 | dealt out at once (KAFKA-15693) |
| no wait, a member is gone | a wait begins, of the whole delay |
| a wait that is not over | it goes on; members that have nothing become candidates |
| a wait that is over | the candidates get the work; if none is left, it is dealt out |

A wait also begins after revocations for balance if a member is gone and nothing is lost. The waits of KAFKA-12495
(`leader`) are waits like any other. Sources: KIP-415; KAFKA-10413 (candidates in turn), and those named here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import cycle

import attrs

from kcoord.assign.incremental.hashing import hashed
from kcoord.assign.incremental.loads import Loads, in_order
from kcoord.assign.incremental.model import Memory
from kcoord.resource import Resource, connectors_among, tasks_among


@attrs.frozen
class Handled:
    """What is done with lost work; the rest of it waits."""

    memory: Memory
    to_deal: Sequence[Resource] = ()
    to_candidates: Mapping[str, Sequence[Resource]] = attrs.Factory(dict)


def handle(memory: Memory, lost: frozenset[Resource], loads: Loads, now_ms: int, max_delay_ms: int) -> Handled:
    """Decide by the table. `loads` do not contain what is deleted or has two owners."""
    if not lost and not memory.revoked_for_balance:
        return Handled(_no_wait(memory))
    waits = memory.scheduled_rebalance_ms > 0
    if (not waits and memory.members <= loads.keys()) or max_delay_ms == 0:
        return Handled(memory, in_order(lost))
    if waits and now_ms >= memory.scheduled_rebalance_ms:
        return _over(memory, in_order(lost), loads)
    return Handled(_wait(memory, loads, now_ms, max_delay_ms))


def _no_wait(memory: Memory) -> Memory:
    return attrs.evolve(memory, candidates=(), scheduled_rebalance_ms=0, delay_ms=0)


def _wait(memory: Memory, loads: Loads, now_ms: int, max_delay_ms: int) -> Memory:
    """Begin a wait, or go on with one. If the clock went back, no wait would be longer than the whole delay."""
    idle = hashed(member for member, load in loads.items() if not load)
    left = memory.scheduled_rebalance_ms - now_ms
    delay = min(left, max_delay_ms) if left > 0 else max_delay_ms
    return attrs.evolve(
        memory,
        candidates=tuple(dict.fromkeys((*memory.candidates, *idle))),
        delay_ms=delay,
        scheduled_rebalance_ms=now_ms + delay,
    )


def _over(memory: Memory, lost: Sequence[Resource], loads: Loads) -> Handled:
    here = [member for member in memory.candidates if member in loads]
    memory = attrs.evolve(_no_wait(memory), revoked_for_balance=False)
    if not here:
        return Handled(memory, lost)
    gifts: dict[str, list[Resource]] = {member: [] for member in here}
    for of_kind in (connectors_among(lost), tasks_among(lost)):
        for member, resource in zip(cycle(here), of_kind, strict=False):
            gifts[member].append(resource)
    return Handled(memory, to_candidates=gifts)
