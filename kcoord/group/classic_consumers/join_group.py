"""JoinGroup (11) of a classic consumer in a consumer group: it says what it goes on consuming, and is answered at once.

The order of checks is Kafka's: room, the protocol, the need of a member id, the member. A request that is refused
changes nothing.

| group.instance.id | member id | the sender |
| --- | --- | --- |
| none | none, from v4 on | is given an id, and asked to join with it |
| none | none before v4, or one that nobody has | a new member, if it consumes nothing |
| none | a classic member's | that member |
| nobody has it | none | a new member |
| somebody has it | none | takes that member's place, whether it has left or not |
| somebody has it | that member's | that member |

Somebody who was removed, and has not heard of it, comes with the id and the partitions of before. As a new member it
would commit them in its new generation before it gives them up, though others have them. So it is told that nobody
knows it: it drops what it has, and joins as nobody. (Apache Kafka takes it in.)
"""

from __future__ import annotations

from kcoord.group.classic.answers import join_error
from kcoord.group.classic.join_and_sync_calls import Join
from kcoord.group.classic.join_group import NEEDS_ID_VERSION
from kcoord.group.classic_consumers.answers import call_together
from kcoord.group.classic_consumers.individual_mode import may_begin
from kcoord.group.classic_consumers.member_checks import first_protocol
from kcoord.group.classic_consumers.member_metadata import metadata_of, protocols_of
from kcoord.group.classic_consumers.rejoin import expect_sync
from kcoord.group.consumer.answers import advance
from kcoord.group.consumer.membership import join, succeed, update
from kcoord.group.consumer.settle import bring_to_rest, settle
from kcoord.group.consumer.topic_facts import learn_seen
from kcoord.group.modern.newest_connection import take_in
from kcoord.group.modern.refusal import Refused
from kcoord.group.state.connection_opening import Order
from kcoord.group.state.groups.classic_member import Protocols
from kcoord.group.state.groups.consumer_group import PROTOCOL_TYPE, ConsumerGroup, ConsumerMember, Partitions
from kcoord.group.state.groups.modern_member import NO_CONNECTION
from kcoord.group.state.replaced_groups import replace_by_consumers
from kcoord.group.state.shard_state import ShardState
from kcoord.group.state.step import RequestContext
from kcoord.group.state.transition import Transition
from kcoord.protocol.consumer_embedded import Subscription, decode_subscription
from kcoord.protocol.embedded import EmbeddedError
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.messages import JoinGroupResponse


def group_to_join(
    state: ShardState, group_id: str, protocol_type: str, protocols: Protocols, context: RequestContext
) -> ConsumerGroup | None:
    """The consumer group that a JoinGroup is about; it may be new and not yet in the shard's state. None: it is about a
    group of another kind, and so is one that begins a group in front of a cluster that has not shown its topics.
    """
    group = state.consumer.get(group_id)
    if group is not None and group.members:
        return group
    knows_topics = state.topics is not None or context.seen is not None
    if knows_topics and may_begin(state, group_id, protocol_type, protocols):
        return group or ConsumerGroup(group_id)
    return None


def join_consumers(
    transition: Transition, group: ConsumerGroup, asked: Join, context: RequestContext, *, is_new: bool
) -> None:
    """Handle a JoinGroup. `is_new`: it brings no member id; `asked` has the one that it is to have."""
    try:
        _join(transition, group, asked, context, is_new=is_new)
    except Refused as refused:
        has_id = not is_new or refused.error is ErrorCode.MEMBER_ID_REQUIRED
        join_error(transition, asked.token, refused.error, asked.member_id if has_id else "")


def _join(transition: Transition, group: ConsumerGroup, asked: Join, context: RequestContext, *, is_new: bool) -> None:
    is_member = not is_new and asked.member_id in group.members
    if not is_member and len(group.members) >= transition.state.consumer_settings(group.group_id).max_size:
        raise Refused(ErrorCode.GROUP_MAX_SIZE_REACHED, f"the group has {len(group.members)} members already")
    said = _said(group, asked)
    if is_new and asked.instance_id is None and asked.api_version >= NEEDS_ID_VERSION:
        raise Refused(ErrorCode.MEMBER_ID_REQUIRED, "a newcomer joins with the id that it is given")
    known = _whose_place(group, asked, is_new=is_new)
    if known is None and not is_new and said.owned:
        raise Refused(ErrorCode.UNKNOWN_MEMBER_ID, "nobody has that member id, and its sender consumes something")
    may_be_late = (
        known is not None and known.member_id == asked.member_id and _may_be_late(transition, group, known, context)
    )
    may_know_another = may_be_late and known is not None and known.epoch_unsure
    member = _take_in(transition, group, known, asked, said, context)
    group = transition.state.consumer[group.group_id]
    learn_seen(transition, group, member, context)
    bring_to_rest(transition, group)
    owned = _owned(group, said)
    advance(transition, group, member, owned | member.current if may_be_late else owned)
    member.generation = member.epoch
    member.epoch_unsure = may_know_another  # then it hears of this generation on a connection that it has given up
    expect_sync(transition, group, member)
    transition.answer(
        asked.token,
        JoinGroupResponse(
            generation_id=member.generation,
            protocol_type=PROTOCOL_TYPE,
            protocol_name=first_protocol(member),
            leader="",
            member_id=member.member_id,
        ),
    )
    settle(transition, group)
    call_together(transition, group)


def _may_be_late(transition: Transition, group: ConsumerGroup, member: ConsumerMember, context: RequestContext) -> bool:
    """Whether the member may have come by a newer connection since: nobody knows after a load. Such a JoinGroup lets
    nothing go, and the member is called to say it once more. Raises Refused if it has come by a newer one.
    """
    order = member.order_of(context)
    if order is Order.OLDER:
        raise Refused(ErrorCode.REBALANCE_IN_PROGRESS, "the member has come by a newer connection since")
    is_unknown = member.connection == NO_CONNECTION and transition.state.is_of_before_load(group, context)
    return is_unknown or order is Order.UNSURE


def _said(group: ConsumerGroup, asked: Join) -> Subscription:
    """What the sender says of itself. Raises Refused if the group's classic members do not have an assignor in common
    with it, or if it cannot be read.
    """
    offered = {name for name, _ in asked.protocols}
    others = (each for each in group.members.values() if each.is_classic and each.member_id != asked.member_id)
    for other in others:
        offered &= {name for name, _ in protocols_of(other)}
    if asked.protocol_type != PROTOCOL_TYPE or not offered:
        raise Refused(ErrorCode.INCONSISTENT_GROUP_PROTOCOL, "no assignor is common to all classic members")
    try:
        return decode_subscription(asked.protocols[0][1])
    except EmbeddedError as wrong:
        raise Refused(ErrorCode.INCONSISTENT_GROUP_PROTOCOL, f"its subscription cannot be read: {wrong}") from wrong


def _whose_place(group: ConsumerGroup, asked: Join, *, is_new: bool) -> ConsumerMember | None:
    """The member that the sender is, or whose place it takes; None for a new member. Raises Refused."""
    if asked.instance_id is None:
        known = None if is_new else group.members.get(asked.member_id)
        if known is not None and not known.is_classic:
            raise Refused(ErrorCode.UNKNOWN_MEMBER_ID, f"member {asked.member_id} speaks the consumer protocol")
        return known
    holder = group.static_ids.get(asked.instance_id)
    if is_new:
        return None if holder is None else group.members[holder]
    if holder is None:
        raise Refused(ErrorCode.UNKNOWN_MEMBER_ID, f"nobody in the group is {asked.instance_id}")
    if holder != asked.member_id:
        raise Refused(ErrorCode.FENCED_INSTANCE_ID, f"member {holder} is {asked.instance_id} now")
    return group.members[holder]


def _take_in(
    transition: Transition,
    group: ConsumerGroup,
    known: ConsumerMember | None,
    asked: Join,
    said: Subscription,
    context: RequestContext,
) -> ConsumerMember:
    """Write down what the sender says of itself."""
    metadata = metadata_of(asked, said)
    if known is None:
        replace_by_consumers(transition, group.group_id)
        group = join(transition, group, asked.member_id, metadata)
    elif known.member_id != asked.member_id:
        succeed(transition, group, known, asked.member_id, metadata)
    else:
        update(transition, group, known, metadata)
    member = group.members[asked.member_id]
    take_in(transition, group, member, context, None)
    member.session_timeout_ms = asked.session_timeout_ms
    transition.wake(group, transition.now_ms + member.session_timeout_ms)
    return member


def _owned(group: ConsumerGroup, said: Subscription) -> Partitions:
    """What the sender goes on consuming. A topic that is not known any more has nothing that it could let go of."""
    return frozenset((group.topics[name].id, number) for name, number in said.owned if name in group.topics)
