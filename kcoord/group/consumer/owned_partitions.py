"""What a member may be consuming, by what it says and by what it was given since: what of that counts as let go.

1. A list of what a member owns may be older than what it was told: Java's consumer says the last assignment that it has
   followed in full, and goes on following one that it was told later. So what was granted to it counts as owned until
   it has said so, or until it says exactly what it was told: then it has given up following anything else.
2. On a new connection it may not have heard what it was told last, so the first list there does not count as that. But
   if it says no other list when it has heard it, then it has nothing else to say: a heartbeat without a list repeats
   this one. After any other list it only says that nothing has changed yet.
3. A member that joins has dropped everything.
"""

from __future__ import annotations

from kcoord.group.state.groups.consumer_group import NOTHING, ConsumerMember, Partitions
from kcoord.group.state.groups.modern_member import JOINING_EPOCH
from kcoord.protocol.messages import ConsumerGroupHeartbeatRequest


def may_own(
    member: ConsumerMember, request: ConsumerGroupHeartbeatRequest, owned: Partitions | None, *, is_first: bool
) -> Partitions | None:
    """What the sender of a heartbeat that says `owned` may be consuming; None: it does not say. `is_first`: nothing has
    been answered on its connection yet.
    """
    if request.member_epoch == JOINING_EPOCH:
        member.unconfirmed = NOTHING
        return NOTHING
    said = member.reported if owned is None and member.said_on_arrival else owned
    if owned is not None:
        member.said_on_arrival = is_first
    if not is_first and said is not None and said == member.assigned:
        member.unconfirmed = NOTHING
        return said
    if owned is None:
        return None
    member.unconfirmed -= owned
    return owned | member.unconfirmed


def may_have_missed(request: ConsumerGroupHeartbeatRequest, *, is_first: bool) -> bool:
    """Whether the sender, a member already, may not have heard what it was told last (KG-9). `is_first`: nothing has
    been answered on its connection yet. A list of what it owns is no proof: it may be about to follow something else.
    """
    return is_first and request.member_epoch != JOINING_EPOCH


def note_told(member: ConsumerMember, request: ConsumerGroupHeartbeatRequest) -> None:
    """Note that the member is told what it is assigned now: a join all of it, every other heartbeat what is new."""
    if request.member_epoch == JOINING_EPOCH:
        member.unconfirmed = member.assigned
