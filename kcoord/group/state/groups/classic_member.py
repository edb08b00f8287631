"""A member of a classic group, as the coordinator knows it. All of it is session state, and ends with the process.

What must survive is in the group's record; after a load `classic/sessions.py` makes the members from it. A member costs
a few hundred bytes: it has slots and no timer of its own, and texts that many members share are interned.
"""

from __future__ import annotations

import attrs

from kcoord.group.state.connection_opening import Opening, Order, order
from kcoord.group.state.groups.modern_member import NO_CONNECTION
from kcoord.group.state.step import RequestContext, Token

Protocols = tuple[tuple[str, bytes], ...]
"""The protocols that a member can speak, the preferred one first: (name, metadata for it)."""


@attrs.define(slots=True, eq=False)
class ParkedJoin:
    """A JoinGroup that waits for the join phase to end."""

    token: Token
    api_version: int


@attrs.define(slots=True, eq=False, weakref_slot=False)
class ClassicMember:
    """A member of a classic group, from its JoinGroup to its end."""

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
    # its assignment in this generation, as in the group's record
    assignment: bytes = b""
    # its session
    last_seen_ms: int = 0
    """When its session was last refreshed. A time in the future while the session is paused (GW-10)."""
    parked_join: ParkedJoin | None = None
    parked_sync: Token | None = None
    is_new: bool = False
    """Its first JoinGroup is still parked. No heartbeat can be expected yet, and a lost member must not stay parked for
    ever.
    """
    rejoined: bool = False
    """It has joined this generation a second time, and not fetched its assignment since. So it may have no
    assignment.
    """
    connection: int = NO_CONNECTION
    """The newest connection by which it has joined; not known after a load."""
    opened: Opening | None = None
    """When that connection was made."""
    from_record: bool = False
    """Made from a record. A record keeps only the metadata for the chosen protocol, so `protocols` has just that
    one.
    """

    def metadata(self, protocol: str) -> bytes:
        """Its metadata for `protocol`; empty if the member does not speak it."""
        for name, metadata in self.protocols:
            if name == protocol:
                return metadata
        return b""

    def offers_the_same(self, protocols: Protocols) -> bool:
        """Whether `protocols`, offered in a new JoinGroup, is what is known of the member."""
        if self.from_record:
            return self.protocols[0] in protocols
        return protocols == self.protocols

    def comes_by_older(self, context: RequestContext) -> bool:
        """Whether the member has joined by a newer connection, so that this request was delayed on its way."""
        return order(context.connection, context.opened, self.connection, self.opened) is Order.OLDER
