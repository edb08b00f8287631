"""How often the leader is asked: the verdict on each look, until an answer can be relied upon.

| the answer | what follows |
| --- | --- |
| names an error | nothing is known: the leader reads on, and joins again |
| has a delay, and the look before took nothing away | void: lost work may be hidden in the delay. It is refused with 27, so that the leader forgets, and the leader is asked again as one that remembers nothing (CM-39) |
| has a delay right after a look that took something away | the delay comes from that; the leader is asked again (CM-52) |
| comes from a leader that remembers nothing and was shown something | the leader is asked again: it takes deleted work that it sees for configured, and notices the deletion in the next look (CM-32) |
| any other | it says what exists |

A leader remembers its last look if it has received the answer: since then a heartbeat of that generation has come, or
the leader has joined again at once (CM-40).
"""  # noqa: E501

from __future__ import annotations

from enum import Enum

import attrs

from kcoord.group.state.classic_workers.leader_picture import Look, Resources

__all__ = ["MOST_LOOKS", "Asking", "Verdict"]

MOST_LOOKS = 8
"""The longest series of looks. The most that was needed in 48,000 askings is four. What is known after the last look
counts.
"""


class Verdict(Enum):
    """What follows from a look."""

    KNOWN = "known"
    AGAIN = "again"
    VOID = "void"
    FAILED = "failed"


@attrs.define(slots=True, eq=False)
class Asking:
    """The looks of one leader, one after the other."""

    remembers: bool
    """Whether the leader remembers the last picture."""
    looks: int = 0
    has_taken: bool = False
    """The previous look took something away."""

    def judge(self, look: Look, was_shown: Resources) -> Verdict:
        """What follows from this look."""
        if look.error:
            return Verdict.FAILED
        self.looks += 1
        remembered, had_taken = self.remembers, self.has_taken
        self.remembers, self.has_taken = True, bool(look.taken)
        if self.looks >= MOST_LOOKS:
            return Verdict.KNOWN
        if look.delay_ms:
            if had_taken:
                return Verdict.AGAIN
            self.remembers = self.has_taken = False
            return Verdict.VOID
        return Verdict.KNOWN if remembered or not was_shown else Verdict.AGAIN
