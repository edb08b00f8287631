"""How often is the leader asked, until what it says can be relied upon?

| the answer | what follows |
| --- | --- |
| names an error | nothing is known: it reads on, and joins again |
| has a delay, though nothing was taken away in the look before | void: lost work may be hidden in it. Refused with 27, so that the leader forgets, and asked again as one that remembers nothing (CM-39) |
| has a delay right after a look that took something away | that is what the delay is for; asked again (CM-52) |
| of a leader that remembers nothing, and was shown something | asked again: what was deleted it takes for good when it sees it, and for deleted in the next look (CM-32) |
| any other | it exists |

A leader remembers its last look if it got the answer: a heartbeat of that generation has come since, or it has joined
again at once (CM-40).
"""  # noqa: E501

from __future__ import annotations

from enum import Enum

import attrs

from kcoord.group.translation.picture import Look, Resources

__all__ = ["MOST_LOOKS", "Asking", "Verdict"]

MOST_LOOKS = 8
"""Looks in a row. Four were the most in 48,000 askings; what is known after the last one counts."""


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
    """Whether it knows what the last picture was."""
    looks: int = 0
    has_taken: bool = False
    """The look before took something away."""

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
