"""What does the coordinator know of one member? Session state: all of it ends with the process.

What must survive stands in the group's record; `generic/sessions.py` makes members from it after a load. A member
costs a few hundred bytes: slots, no timer of its own, texts that many members share are interned.
"""

from __future__ import annotations

import attrs

from kcoord.group.modern.member import NO_CONNECTION
from kcoord.group.opening import Opening, Order, order
from kcoord.group.step import RequestContext, Token

Protocols = tuple[tuple[str, bytes], ...]
"""What a member can speak, best first: (name, metadata for it)."""


@attrs.define(slots=True, eq=False)
class ParkedJoin:
    """A JoinGroup that waits for the join phase to end."""

    token: Token
    api_version: int


@attrs.define(slots=True, eq=False, weakref_slot=False)
class Member:
    """A member of a generic group, from its JoinGroup to its end."""

    # who it is
    member_id: str
    instance_id: str | None
    """`group.instance.id` of a static member (KIP-345)."""
    client_id: str
    client_host: str
    # what it offered in its last JoinGroup; counts from the next generation on
    rebalance_timeout_ms: int
    session_timeout_ms: int
    protocols: Protocols
    # what it holds in this generation, a view of the group's record
    assignment: bytes = b""
    # its session
    last_seen_ms: int = 0
    """When its session was last refreshed. In the future while the session is paused (GW-10)."""
    parked_join: ParkedJoin | None = None
    parked_sync: Token | None = None
    is_new: bool = False
    """Its first JoinGroup is still parked: no heartbeat can be expected yet, and a lost one must not park forever."""
    rejoined: bool = False
    """It has joined this generation a second time, and not fetched its assignment since: it may have no assignment."""
    connection: int = NO_CONNECTION
    """The newest by which it has joined; not known after a load."""
    opened: Opening | None = None
    """When that was made."""
    from_record: bool = False
    """Made from a record, which keeps metadata of the chosen protocol only: `protocols` has just that one."""

    def metadata(self, protocol: str) -> bytes:
        """Its metadata for `protocol`; empty when it does not speak it."""
        for name, metadata in self.protocols:
            if name == protocol:
                return metadata
        return b""

    def offers_the_same(self, protocols: Protocols) -> bool:
        """Whether `protocols`, offered in a new JoinGroup, is what is known of it."""
        if self.from_record:
            return self.protocols[0] in protocols
        return protocols == self.protocols

    def comes_by_older(self, context: RequestContext) -> bool:
        """Whether the member has joined by a newer connection, so that this request was delayed on its way."""
        return order(context.connection, context.opened, self.connection, self.opened) is Order.OLDER
