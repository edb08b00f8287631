"""What caused an epoch, and whom is it about? The texts that coordinators write, taken apart again.

`session expired: w1, w2, w3 and 2 more`; of a generation several, `; ` between, each perhaps with its client's own
words behind: `member joined: w1 ("restarted")`. Those words may say anything, and are not looked at.
"""

from __future__ import annotations

import re

_CLIENTS_WORDS = re.compile(r' \(".*?"\)(?=; |$)', re.DOTALL)
_AND_MORE = re.compile(r" and \d+ more$")


def causes(text: str | None) -> list[tuple[str, list[str]]]:
    """Each cause, such as `session expired`, and the ids of the members that it names."""
    found = []
    for each in _CLIENTS_WORDS.sub("", text or "").split("; "):
        cause, colon, who = each.partition(": ")
        members = _AND_MORE.sub("", who).split(", ") if colon else []
        if cause.strip():
            found.append((cause.strip(), members))
    return found


def cause_of(text: str | None, member_id: str) -> str | None:
    """The cause that names this member."""
    return next((cause for cause, members in causes(text) if member_id in members), None)
