"""Rebalances that repeat themselves without a change are noticed, counted, and slowed down.

A rebalance computes an answer from an input: the members and their metadata, what they hold, and what is configured. If
the same input gets the same answer again, the rebalance has changed nothing, and the next one will not either. For
instance a leader takes away again what it is shown again, or a client joins again and again. A group asks here before
it begins a rebalance.

| the rebalance | begins |
| --- | --- |
| from a new input | at once |
| after members came or went, or other resources or rules were configured (another scope) | at once |
| after two quiet minutes | at once |
| from a known input, if fewer than `FREE` rebalances in a row have repeated earlier ones | at once |
| from a known input, otherwise | 1, 2, 4, … 60 s after the last one ended |

The repeated input need not be the last one: the last `KEPT` rebalances of a scope are remembered, so that a longer
circle is noticed as well. This is session state: it ends with the process.
"""

from __future__ import annotations

from collections.abc import Hashable

import attrs

from kcoord.group.state.deadlines import NEVER_MS
from kcoord.protocol.frozen_class import frozen

FREE = 3
"""Repeats in a row that are not slowed down: some are intended, for instance a new leader's second computation."""
KEPT = 32
BACK_OFF_MS = 1_000
LONGEST_MS = 60_000
QUIET_MS = 2 * LONGEST_MS


@frozen(slots=True)
class Given:
    """The input of a rebalance, as two fingerprints."""

    scope: int
    """The fingerprint of what rebalances do not change: the members, what is configured, placement rules."""
    state: int
    """The fingerprint of the rest of the input, which earlier answers may have changed."""


def fingerprint(*parts: Hashable) -> int:
    """A number that is equal for equal parts, within this process."""
    return hash(parts)


@attrs.define(slots=True, eq=False)
class Repetition:
    """The memory of one group about its last rebalances."""

    times: int = 0
    """How many rebalances in a row have repeated an earlier one."""
    due_ms: int = NEVER_MS
    """When the rebalance that must wait may begin; NEVER_MS: none waits."""
    waits_for: int = -1
    """The group epoch for which the wait was found, so that it need not be computed again."""
    _given: Given | None = None
    """The input of the rebalance that is under way."""
    _scope: int | None = None
    _seen: dict[tuple[int, int], None] = attrs.Factory(dict)
    """The state and the answer of each of the last rebalances in this scope, oldest first."""
    _ended_ms: int = 0

    def due(self, given: Given, now_ms: int, longest_ms: int = LONGEST_MS) -> int:
        """When a rebalance from this input may begin: at `now_ms`, or later by `longest_ms` at most."""
        if now_ms - self._ended_ms >= QUIET_MS or given.scope != self._scope or not self._knows(given):
            return now_ms
        return max(now_ms, min(self._ended_ms + self.back_off_ms(), now_ms + longest_ms))

    def is_awaited(self, epoch: int, now_ms: int) -> bool:
        """Whether it is known that the rebalance of this epoch must still wait."""
        return now_ms < self.due_ms != NEVER_MS and self.waits_for == epoch

    def back_off_ms(self) -> int:
        """The time from the end of the last rebalance to the next one, in ms, if that has a known input too."""
        return min(BACK_OFF_MS << min(self.times - FREE, 10), LONGEST_MS) if self.times >= FREE else 0

    def _knows(self, given: Given) -> bool:
        return self.times >= FREE and any(state == given.state for state, _ in self._seen)

    def begin(self, given: Given, now_ms: int) -> None:
        """Note that a rebalance begins from this input."""
        if given.scope != self._scope or now_ms - self._ended_ms >= QUIET_MS:
            self.times = 0
            self._seen.clear()
        self._scope, self._given, self.due_ms = given.scope, given, NEVER_MS

    def end(self, answer: int, now_ms: int) -> bool:
        """Note the fingerprint of the rebalance's answer. True if it repeated an earlier rebalance."""
        given, self._given = self._given, None
        if given is None:
            return False
        self._ended_ms = now_ms
        seen = (given.state, answer)
        if seen in self._seen:
            self.times += 1
            return True
        self.times = 0
        self._seen[seen] = None
        if len(self._seen) > KEPT:
            del self._seen[next(iter(self._seen))]
        return False

    def remaining_ms(self, now_ms: int) -> int:
        """How much longer the rebalance that must wait will wait, in ms; -1: none waits."""
        return -1 if self.due_ms == NEVER_MS else max(0, self.due_ms - now_ms)

    def tell(self) -> str:
        """The text to add to the reason of a rebalance that must wait; empty if it need not wait."""
        if self.times < FREE:
            return ""
        return (
            f" (the last {self.times} rebalances changed nothing: the next one waits {self.back_off_ms() // 1_000} s)"
        )
