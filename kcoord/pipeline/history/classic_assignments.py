"""What the members of a classic group could be running, read from the protocols that are embedded in the classic one:
Connect's and the consumers'.

- **A Connect worker** runs what it reported, less what was revoked, and what was assigned (version 0: only what was
  assigned).
- **A consumer** consumes what was assigned. Until the leader has assigned anything, a cooperative consumer goes on
  with what it reported; one that is eager has nothing.

Of other clients nothing is known.
"""

from __future__ import annotations

from collections.abc import Callable

import attrs

from kcoord.protocol import consumer_embedded
from kcoord.protocol.embedded import EAGER, EmbeddedError, decode_assignment, decode_state
from kcoord.protocol.records import MemberMetadata
from kcoord.resource import Resource, resources_of

CONNECT_PROTOCOL_TYPE, CONSUMER_PROTOCOL_TYPE = "connect", "consumer"
NOTHING: frozenset[Resource] = frozenset()


@attrs.frozen
class ClassicShare:
    """A member of a classic group, as far as the log says."""

    url: str | None = None
    owned: frozenset[Resource] = NOTHING
    """What the member could be running."""
    delay_ms: int = 0
    """How long it was told to wait for the next round."""
    has_all: bool = False
    """Whether it was given everything that its leader means for it: nothing is kept back for another round."""


UNKNOWN = ClassicShare()


def share_of(protocol_type: str | None, member: MemberMetadata, assigned: bool) -> ClassicShare:
    """What a member could be running. `assigned`: whether the leader has assigned anything in this generation."""
    read = _READERS.get(protocol_type)
    try:
        return UNKNOWN if read is None else read(member, assigned)
    except EmbeddedError:
        return UNKNOWN


def _worker(member: MemberMetadata, assigned: bool) -> ClassicShare:
    state = decode_state(member.subscription)
    reported = NOTHING if state.allocation is None else state.allocation.assigned
    if not assigned or not member.assignment:
        return ClassicShare(state.url, NOTHING if assigned else reported)
    told = decode_assignment(member.assignment)
    owned = told.assigned if told.version == EAGER else (reported - told.revoked) | told.assigned
    return ClassicShare(state.url, owned, told.delay_ms, not (told.revoked or told.delay_ms or told.error))


def _consumer(member: MemberMetadata, assigned: bool) -> ClassicShare:
    reported = resources_of(consumer_embedded.decode_subscription(member.subscription).owned)
    if not assigned or not member.assignment:
        return ClassicShare(None, NOTHING if assigned else reported)
    owned = resources_of(consumer_embedded.decode_assignment(member.assignment).partitions)
    return ClassicShare(None, owned, has_all=reported <= owned)


_READERS: dict[str | None, Callable[[MemberMetadata, bool], ClassicShare]] = {
    CONNECT_PROTOCOL_TYPE: _worker,
    CONSUMER_PROTOCOL_TYPE: _consumer,
}
"""By protocol type."""
