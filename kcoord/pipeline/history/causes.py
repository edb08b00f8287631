"""The causes of an epoch, and the members that they name, parsed from the reasons that coordinators write.

An example is `session expired: w1, w2, w3 and 2 more`. A generation can have several causes with `; ` between them, and
each may be followed by its client's own words: `member joined: w1 ("restarted")`. Those words may say anything, so they
are ignored. What names topics, `topics changed: orders`, names no members.
"""

from __future__ import annotations

import re

from kcoord.group.consumer.reasons import Reason as ConsumerReason

_CLIENTS_WORDS = re.compile(r' \(".*?"\)(?=; |$)', re.DOTALL)
_OF_TOPICS = ConsumerReason.TOPICS_CHANGED
_AND_MORE = re.compile(r" and \d+ more$")


def causes(text: str | None) -> list[tuple[str, list[str]]]:
    """Each cause, such as `session expired`, and the ids of the members that it names."""
    found = []
    for each in _CLIENTS_WORDS.sub("", text or "").split("; "):
        cause, colon, who = each.partition(": ")
        cause = cause.strip()
        members = _AND_MORE.sub("", who).split(", ") if colon and cause != _OF_TOPICS else []
        if cause:
            found.append((cause, members))
    return found


def cause_of(text: str | None, member_id: str) -> str | None:
    """The cause that names this member."""
    return next((cause for cause, members in causes(text) if member_id in members), None)
