"""Rebalances that repeat themselves without a change: noticed, counted, and slowed down.

A rebalance computes an answer from an input: who takes part and says what, who holds what, what is configured. Where
the same input gets the same answer again, nothing has come of it and nothing will, whoever goes on asking for it: a
leader that takes away what it is shown again, a client that joins again and again. A group asks here before it begins.

| the rebalance | begins |
| --- | --- |
| from an input that is new | at once |
| after members came or went, or other things or rules are configured (another scope) | at once |
| after a quiet time of two minutes | at once |
| from an input that was seen, when no more than `FREE` rebalances in a row repeated earlier ones | at once |
| from an input that was seen, later | 1, 2, 4, … 60 s after the last one ended |

An input need not follow itself directly: the last `KEPT` rebalances of a scope are remembered, so that going round in a
circle is noticed as well. Session state: it ends with the process.
"""

from __future__ import annotations

from collections.abc import Hashable

import attrs

from kcoord.group.deadlines import NEVER_MS
from kcoord.protocol.frozen import frozen

FREE = 3
"""So many repeats in a row are none of our business: some are meant, such as a new leader's second computation."""
KEPT = 32
BACK_OFF_MS = 1_000
LONGEST_MS = 60_000
QUIET_MS = 2 * LONGEST_MS


@frozen(slots=True)
class Given:
    """What a rebalance begins from, as two fingerprints."""

    scope: int
    """Of what only the world outside changes: the members, what is configured, placement rules."""
    state: int
    """Of all else that the answer is made from, some of which earlier answers have brought about."""


def fingerprint(*parts: Hashable) -> int:
    """Equal for equal parts, in this process."""
    return hash(parts)


@attrs.define(slots=True, eq=False)
class Repetition:
    """What one group remembers of its last rebalances."""

    times: int = 0
    """How many rebalances in a row have repeated an earlier one."""
    due_ms: int = NEVER_MS
    """When the rebalance that has to wait may begin; never where none waits."""
    waits_for: int = -1
    """The epoch of the group that waits, for whoever looks again before that."""
    _given: Given | None = None
    """What the rebalance that goes on has begun from."""
    _scope: int | None = None
    _seen: dict[tuple[int, int], None] = attrs.Factory(dict)
    """State and answer of each of the last rebalances in this scope, the oldest first."""
    _ended_ms: int = 0

    def due(self, given: Given, now_ms: int, longest_ms: int = LONGEST_MS) -> int:
        """When a rebalance may begin from this: `now_ms`, or later by `longest_ms` at most."""
        if now_ms - self._ended_ms >= QUIET_MS or given.scope != self._scope or not self._knows(given):
            return now_ms
        return max(now_ms, min(self._ended_ms + self.back_off_ms(), now_ms + longest_ms))

    def is_awaited(self, epoch: int, now_ms: int) -> bool:
        """Whether the rebalance of this epoch has been looked at, and has to wait yet."""
        return now_ms < self.due_ms != NEVER_MS and self.waits_for == epoch

    def back_off_ms(self) -> int:
        """How long after the last rebalance the next one begins, if that repeats an earlier one too."""
        return min(BACK_OFF_MS << min(self.times - FREE, 10), LONGEST_MS) if self.times >= FREE else 0

    def _knows(self, given: Given) -> bool:
        return self.times >= FREE and any(state == given.state for state, _ in self._seen)

    def begin(self, given: Given, now_ms: int) -> None:
        """A rebalance begins."""
        if given.scope != self._scope or now_ms - self._ended_ms >= QUIET_MS:
            self.times = 0
            self._seen.clear()
        self._scope, self._given, self.due_ms = given.scope, given, NEVER_MS

    def end(self, answer: int, now_ms: int) -> bool:
        """It has an answer, whose fingerprint this is. True if it repeated an earlier rebalance."""
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
        """How long the rebalance that has to wait waits on; -1 where none does."""
        return -1 if self.due_ms == NEVER_MS else max(0, self.due_ms - now_ms)

    def tell(self) -> str:
        """What to add to the reason of a rebalance that has to wait; empty where it need not."""
        if self.times < FREE:
            return ""
        return (
            f" (the last {self.times} rebalances changed nothing: the next one waits {self.back_off_ms() // 1_000} s)"
        )
