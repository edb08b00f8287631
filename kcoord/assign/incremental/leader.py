"""A Java leader's round under `compatible` and `sessioned`: Connect's IncrementalCooperativeAssignor.

| what | is | and is |
| --- | --- | --- |
| deleted | remembered, not configured | revoked |
| duplicated | held by more than one | revoked from all, dealt out when none has it any more |
| lost | remembered, configured, held by nobody | see `lost` |
| created | configured, neither remembered nor held | dealt out at once |
| too many | more than an even share | revoked, unless a delay runs |

- The leader's memory does not count if the leader did not complete the last round that it computed. If some of what it
  revoked is still held, what is held counts as remembered.
- Revocations for balance in two successive rounds (KAFKA-12495): the second ones wait, 40 ms, then 40 times as long
  with each further try, the whole delay at most. With a delay of 0 they do not wait. A round without any, or the end of
  a wait, resets that.
- No jitter, no random number: the same memory and the same input give the same answer.

Sources: KIP-415; KAFKA-9184 (generations), KAFKA-9841 (duplicates), KAFKA-12495, and those of `lost`; Connect 4.3.
"""

from __future__ import annotations

import math
from collections.abc import Collection

import attrs

from kcoord.assign.incremental.config import agreed, leader_url, mismatch
from kcoord.assign.incremental.hashing import hashed
from kcoord.assign.incremental.loads import Load, Loads, deal, for_balance, in_order
from kcoord.assign.incremental.lost import handle
from kcoord.assign.incremental.model import MAX_DELAY_MS, NOTHING, Answer, Memory, Seen, Share
from kcoord.resource import Resource

BACKOFF_FACTOR = 40


def answer(seen: Seen, memory: Memory | None = None, max_delay_ms: int = MAX_DELAY_MS) -> Answer:
    """Compute one round. `max_delay_ms` is the leader's `scheduled.rebalance.max.delay.ms`."""
    memory = memory or Memory()
    base = agreed(seen)
    if base is None:
        return mismatch(seen, memory)
    snapshot, offset = base
    shares, memory = compute(seen, snapshot.resources(), memory, max_delay_ms)
    return Answer(shares, leader_url(seen), offset, snapshot, memory, memory.delay_ms)


def compute(
    seen: Seen, configured: frozenset[Resource], memory: Memory, max_delay_ms: int
) -> tuple[dict[str, Share], Memory]:
    """What each member is to start and to stop, and what the leader remembers of it."""
    held = {worker.member_id: worker.held for worker in seen.workers}
    active = NOTHING.union(*held.values())
    remembered = _remembered(seen, memory, active)
    deleted = remembered - configured
    lost = remembered - active - deleted
    created = configured - remembered - active
    wrong = deleted | _duplicated(held.values(), active)
    revoked = {member: wrong.intersection(row) if wrong else NOTHING for member, row in held.items()}

    loads: Loads = {}
    for member in hashed(hashed(held)):  # a map of a map
        gone = revoked[member]
        loads[member] = Load.of(tuple([each for each in held[member] if each not in gone]) if gone else held[member])
    handled = handle(memory, lost, loads, seen.now_ms, max_delay_ms)
    for member, gift in handled.to_candidates.items():
        loads[member].give(gift)
    taken, memory = _balance(handled.memory, loads, configured, seen.now_ms, max_delay_ms)
    for member, resources in taken.items():
        revoked[member] |= frozenset(resources)
        loads[member].take(resources)
    deal(loads, [*in_order(created), *handled.to_deal])

    shares = {member: Share(load.new(), revoked[member], load.all()) for member, load in loads.items()}
    all_revoked = NOTHING.union(*revoked.values())
    assigned = active.union(*(share.assigned for share in shares.values() if share.assigned)) - all_revoked | lost
    return shares, attrs.evolve(
        memory, assigned=assigned, revoked=all_revoked, generation=seen.generation, members=frozenset(held)
    )


def _remembered(seen: Seen, memory: Memory, active: frozenset[Resource]) -> frozenset[Resource]:
    """What ran, or waited for its worker, after the last round."""
    if memory.revoked & active:
        return active
    return memory.assigned if memory.generation == seen.last_completed_generation else NOTHING


def _duplicated(held: Collection[tuple[Resource, ...]], active: frozenset[Resource]) -> frozenset[Resource]:
    """The resources that more than one member reports."""
    if sum(map(len, held)) == len(active):
        return NOTHING
    rows = [frozenset(row) for row in held]
    if sum(map(len, rows)) == len(active):
        return NOTHING
    once: set[Resource] = set()
    more: set[Resource] = set()
    for row in rows:
        more |= once & row
        once |= row
    return frozenset(more)


def _balance(
    memory: Memory, loads: Loads, configured: frozenset[Resource], now_ms: int, max_delay_ms: int
) -> tuple[dict[str, list[Resource]], Memory]:
    """What is taken away for balance in this round."""
    if memory.delay_ms:
        return {}, attrs.evolve(memory, revoked_for_balance=False)
    wanted = for_balance(loads, configured)
    if not wanted:
        successive = 0 if memory.revoked_for_balance else memory.successive_revocations
        return {}, attrs.evolve(memory, revoked_for_balance=False, successive_revocations=successive)
    if not memory.revoked_for_balance:
        return wanted, attrs.evolve(memory, revoked_for_balance=True)
    tries = memory.successive_revocations + 1
    memory = attrs.evolve(memory, successive_revocations=tries, delay_ms=backoff_ms(tries, max_delay_ms))
    if memory.delay_ms:
        return {}, attrs.evolve(memory, scheduled_rebalance_ms=now_ms + memory.delay_ms)
    return wanted, memory


def backoff_ms(tries: int, max_delay_ms: int) -> int:
    """How long revocations wait at this try; the first try is 1.

    Not followed: the last bit of Java's `Math.pow`. For one in 10,000 values of `max_delay_ms` the last wait is 1 ms
    longer or shorter in Java; no value that people choose is among them.
    """
    if max_delay_ms <= 1:
        return max_delay_ms
    exponent = min(tries, math.log(max_delay_ms) / math.log(BACKOFF_FACTOR))
    return min(int(math.pow(BACKOFF_FACTOR, exponent)), max_delay_ms)
