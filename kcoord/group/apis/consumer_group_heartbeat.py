"""ConsumerGroupHeartbeat (68): a consumer joins, says what it consumes, learns what it is to consume, and leaves.

v1: a regular expression, and the member makes its own id (KIP-848, KIP-1082).

The order of checks: the fields of the request, the assignor, the group, the member, its connection, its epoch. Only
then does the request change anything. A request that is refused changes nothing.

| MemberEpoch | sender | meaning |
| --- | --- | --- |
| 0 | a stranger | join |
| 0 | a dynamic member | it keeps its epoch and what it is assigned, and is told all again |
| 0 | a static member's next process, after -2 | it takes the place over |
| its epoch | a member | heartbeat |
| its previous epoch | a member that owns nothing but what is kept for it | it has missed the last answer |
| any epoch that it may have been told | a member after a load | heartbeat |
| -1 | a member | leaves for good |
| -2 | a static member | leaves for a while |
"""

from __future__ import annotations

import attrs

from kcoord.group.classic_consumers.to_consumer_group import preview, to_consumers
from kcoord.group.consumer.answer_delay import Delay, how_long_to_hold, wants_all
from kcoord.group.consumer.answers import advance, answer, has_other_note, is_asked, refuse_heartbeat
from kcoord.group.consumer.computing_choice import check_support
from kcoord.group.consumer.membership import go_away, join, merged, remove, succeed, update
from kcoord.group.consumer.native_dialect import is_noop_heartbeat
from kcoord.group.consumer.owned_partitions import may_have_missed, may_own, note_told
from kcoord.group.consumer.reasons import Reason
from kcoord.group.consumer.request_validation import owned_by, unknown_assignor, wrong_in_heartbeat
from kcoord.group.consumer.settle import settle
from kcoord.group.consumer.topic_facts import learn_seen
from kcoord.group.modern.epochs import bump_epoch
from kcoord.group.modern.held_replies import hold
from kcoord.group.modern.newest_connection import check_newer, check_newest, take_in
from kcoord.group.modern.refusal import Refused
from kcoord.group.state.connection_opening import Order
from kcoord.group.state.deadlines import NEVER_MS
from kcoord.group.state.groups.consumer_group import ConsumerGroup, ConsumerMember, Metadata, Partitions
from kcoord.group.state.groups.modern_member import AWAY_EPOCH, JOINING_EPOCH, LEAVING_EPOCH
from kcoord.group.state.replaced_groups import replace_by_consumers
from kcoord.group.state.step import RequestContext, Token
from kcoord.group.state.transition import Transition
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated import consumer_group_heartbeat_request as heard
from kcoord.protocol.generated import consumer_group_member_metadata_value as kept
from kcoord.protocol.messages import ConsumerGroupHeartbeatRequest, ConsumerGroupHeartbeatResponse

MAX_PATTERNS = 100
"""Different regular expressions by which the members of one group may subscribe."""
SILENT = Metadata(
    instance_id=None,
    rack_id=None,
    subscribed_topic_regex=None,
    server_assignor=None,
    classic_member_metadata=None,
)
"""The metadata of a member that has said nothing yet."""


def consumer_group_heartbeat(
    transition: Transition, request: ConsumerGroupHeartbeatRequest, context: RequestContext, token: Token
) -> None:
    """Handle a ConsumerGroupHeartbeat."""
    wrong = wrong_in_heartbeat(request, context.api_version)
    if wrong is not None:
        refuse_heartbeat(transition, token, ErrorCode.INVALID_REQUEST, wrong)
        return
    wrong = unknown_assignor(request, transition.state.settings.consumer)
    if wrong is not None:
        refuse_heartbeat(transition, token, ErrorCode.UNSUPPORTED_ASSIGNOR, wrong)
        return
    try:
        group = _group(transition, request, context)
        check_newer(transition, group, context)
        if request.member_epoch in (LEAVING_EPOCH, AWAY_EPOCH):
            _leave(transition, group, request, context, token)
        else:
            _live(transition, group, request, context, token)
    except Refused as refused:
        refuse_heartbeat(transition, token, refused.error, refused.message)


def _group(transition: Transition, request: ConsumerGroupHeartbeatRequest, context: RequestContext) -> ConsumerGroup:
    """The group, or for a join the one that it would make. Raises Refused."""
    group_id, state = request.group_id, transition.state
    group = state.consumer.get(group_id)
    if group is not None:
        return group
    classic, connect = state.groups.get(group_id), state.connect.get(group_id)
    if request.member_epoch == JOINING_EPOCH and classic is not None and classic.members:
        return preview(transition, classic, context)
    if request.member_epoch != JOINING_EPOCH or (connect is not None and connect.members):
        raise Refused(ErrorCode.GROUP_ID_NOT_FOUND, f"there is no consumer group {group_id}")
    return ConsumerGroup(group_id)


# -- living -----------------------------------------------------------------------------------------------------------


def _live(
    transition: Transition,
    group: ConsumerGroup,
    request: ConsumerGroupHeartbeatRequest,
    context: RequestContext,
    token: Token,
) -> None:
    owned = owned_by(request)
    known = _whose_place(group, request)
    if known is None:
        _check_room(transition, group)
    else:
        check_newest(transition, group, known, context)
        _check_epoch(group, known, request, owned, is_first=known.order_of(context) is Order.NEWER)
    _check_patterns(group, known, request)
    if request.client_assignors:
        check_support(group, known, _metadata(_said_before(known), request, context))
    group, member, is_first = _take_in(transition, group, known, request, context)
    _note_owned(group, member, owned)
    settle(transition, group)
    has_news = advance(transition, group, member, may_own(member, request, owned, is_first=is_first))
    has_news = has_news or may_have_missed(request, is_first=is_first) or has_other_note(group, member)
    note_told(member, request)
    is_told = has_news or is_asked(group, member)
    delay = how_long_to_hold(transition, member, request, has_news=is_told, is_behind=context.pipelined)
    if delay.ms > 0:
        member.is_owed_all = wants_all(request)
        hold(transition, group, member, context.connection, token, delay.ms)
        _count(transition, delay)
    else:
        tells = has_news or wants_all(request)
        may_repeat = not tells and group.chosen() != member.member_id and _may_repeat(transition, request)
        answer(transition, group, member, token, with_assignment=tells, may_repeat=may_repeat)
    if transition.step.records:
        settle(transition, group)


def _count(transition: Transition, delay: Delay) -> None:
    """Count an answer that waits."""
    if delay.is_fuse:
        transition.state.consumer_counters.fused += 1
    else:
        transition.state.consumer_counters.held += 1


def _may_repeat(transition: Transition, request: ConsumerGroupHeartbeatRequest) -> bool:
    """Whether the hot path may answer the same heartbeat by itself (KG-15). Where answers wait for news, it may not."""
    is_held = transition.state.consumer_settings(request.group_id).wait_ms > 0
    return not is_held and is_noop_heartbeat(transition.state, request)


def _note_owned(group: ConsumerGroup, member: ConsumerMember, owned: Partitions | None) -> None:
    """Note what the member says that it owns, if that is something else than it last said on this connection."""
    if owned is not None and owned != member.reported:
        member.reported = owned
        group.forget(member)


def _whose_place(group: ConsumerGroup, request: ConsumerGroupHeartbeatRequest) -> ConsumerMember | None:
    """The member whose request it is, or whose place it takes; None for a new member. Raises Refused."""
    joins = request.member_epoch == JOINING_EPOCH
    if request.instance_id is None:
        known = group.members.get(request.member_id)
        if not joins and (known is None or known.is_classic):
            raise Refused(ErrorCode.UNKNOWN_MEMBER_ID, f"the group has no member {request.member_id}")
        return known
    holder = group.static_ids.get(request.instance_id)
    if holder is None:
        if not joins:
            raise Refused(ErrorCode.UNKNOWN_MEMBER_ID, f"nobody in the group is {request.instance_id}")
        return group.members.get(request.member_id)
    if joins and not group.members[holder].away and not group.members[holder].is_classic:
        raise Refused(ErrorCode.UNRELEASED_INSTANCE_ID, f"member {holder} is {request.instance_id} still")
    if not joins and holder != request.member_id:
        raise Refused(ErrorCode.FENCED_INSTANCE_ID, f"member {holder} is {request.instance_id} now")
    return group.members[holder]


def _check_room(transition: Transition, group: ConsumerGroup) -> None:
    if len(group.members) >= transition.state.consumer_settings(group.group_id).max_size:
        raise Refused(ErrorCode.GROUP_MAX_SIZE_REACHED, f"the group has {len(group.members)} members already")


def _check_patterns(group: ConsumerGroup, known: ConsumerMember | None, request: ConsumerGroupHeartbeatRequest) -> None:
    """Raise Refused for a regular expression that is one too many."""
    pattern = request.subscribed_topic_regex
    if not pattern or pattern in group.resolved:
        return
    others = (member.metadata for member in group.members.values() if member is not known)
    in_use = {metadata.subscribed_topic_regex for metadata in others} - {None, "", pattern}
    if len(in_use) >= MAX_PATTERNS:
        message = f"the members of a group may subscribe by {MAX_PATTERNS} regular expressions in all"
        raise Refused(ErrorCode.INVALID_REQUEST, message)


def _check_epoch(
    group: ConsumerGroup,
    member: ConsumerMember,
    request: ConsumerGroupHeartbeatRequest,
    owned: Partitions | None,
    *,
    is_first: bool,
) -> None:
    """Raise Refused for an epoch that the member cannot have. `is_first`: nothing has been answered on its connection
    yet.
    """
    epoch = request.member_epoch
    if epoch in (JOINING_EPOCH, member.epoch, member.told_epoch):
        return
    if member.epoch_unsure and member.recorded_epoch <= epoch <= group.assignment_epoch:
        return
    has_missed_one = is_first if owned is None else owned <= member.current
    if epoch == member.previous_epoch and has_missed_one:
        return
    raise Refused(ErrorCode.FENCED_MEMBER_EPOCH, f"the member's epoch is {member.epoch}, not {epoch}")


def _take_in(
    transition: Transition,
    group: ConsumerGroup,
    known: ConsumerMember | None,
    request: ConsumerGroupHeartbeatRequest,
    context: RequestContext,
) -> tuple[ConsumerGroup, ConsumerMember, bool]:
    """Write down what the sender says about itself. A stranger becomes a member. Also returns whether nothing has been
    answered on its connection yet.
    """
    _take_in_resolution(transition, request, context)
    classic = transition.state.groups.get(group.group_id)
    is_upgraded = False
    if classic is not None and classic.members:
        group, is_upgraded = to_consumers(transition, classic, context), True
        known = None if known is None else group.members[known.member_id]
    metadata = _metadata(_said_before(known), request, context)
    member_id = request.member_id or transition.state.ids()
    if known is None:
        replace_by_consumers(transition, group.group_id)
        group = join(transition, group, member_id, metadata)
    elif known.away or known.member_id != member_id:
        succeed(transition, group, known, member_id, metadata)
    else:
        member_id = known.member_id
        update(transition, group, known, metadata)
    if is_upgraded and group.epoch == group.assignment_epoch:
        bump_epoch(transition, group, Reason.MIGRATED)  # what the leader assigned may not be all that there is
    member = group.members[member_id]
    epoch = request.member_epoch
    at_epoch = epoch if epoch > JOINING_EPOCH and member.epoch_unsure else None
    is_first = take_in(transition, group, member, context, at_epoch)
    if is_first:
        member.told_interval_ms, member.told_to_compute = 0, False  # the answer that told it may be lost
    member.call_due_ms = NEVER_MS  # it may have spoken the classic protocol
    member.is_patient, member.told_epoch = context.is_patient, request.member_epoch
    # the session begins with the heartbeat, not with its answer, which may wait
    member.session_timeout_ms = transition.state.consumer_settings(group.group_id).session_timeout_ms
    transition.wake(group, transition.now_ms + member.session_timeout_ms)
    learn_seen(transition, group, member, context)
    return group, member, is_first


def _take_in_resolution(
    transition: Transition, request: ConsumerGroupHeartbeatRequest, context: RequestContext
) -> None:
    """Note which topics match the regular expression that the request brings."""
    pattern, state = request.subscribed_topic_regex, transition.state
    if (
        context.seen is None
        and pattern
        and context.resolved is not None
        and state.resolutions.get(pattern) != context.resolved
    ):
        state.resolutions = {**state.resolutions, pattern: context.resolved}


def _said_before(known: ConsumerMember | None) -> Metadata:
    """What the member has said of itself until now. What it said in the classic protocol does not count."""
    return SILENT if known is None or known.is_classic else known.metadata


def _metadata(former: Metadata, request: ConsumerGroupHeartbeatRequest, context: RequestContext) -> Metadata:
    """What the member says of itself now. Assignors of one kind replace those of the other."""
    if request.client_assignors and former.server_assignor is not None:
        former = attrs.evolve(former, server_assignor=None)
    said_assignors = None if request.client_assignors is None else [_kept(each) for each in request.client_assignors]
    if request.server_assignor is not None:
        said_assignors = []
    return merged(
        former,
        {
            "instance_id": request.instance_id,
            "rack_id": request.rack_id,
            "client_id": context.client_id or "",
            "client_host": context.client_host,
            "subscribed_topic_names": request.subscribed_topic_names,
            "subscribed_topic_regex": request.subscribed_topic_regex,
            "rebalance_timeout_ms": None if request.rebalance_timeout_ms == -1 else request.rebalance_timeout_ms,
            "server_assignor": request.server_assignor,
            "client_assignors": said_assignors,
        },
    )


def _kept(each: heard.Assignor) -> kept.Assignor:
    return kept.Assignor(
        each.name, each.minimum_version, each.maximum_version, each.reason, each.version, each.metadata
    )


# -- leaving ----------------------------------------------------------------------------------------------------------


def _leave(
    transition: Transition,
    group: ConsumerGroup,
    request: ConsumerGroupHeartbeatRequest,
    context: RequestContext,
    token: Token,
) -> None:
    member = _whose_place(group, request)
    assert member is not None, "only a join has no member yet"
    check_newest(transition, group, member, context)
    if request.member_epoch == AWAY_EPOCH:
        go_away(transition, group, member)
    else:
        remove(transition, group, [member], Reason.LEFT)
    transition.answer(
        token, ConsumerGroupHeartbeatResponse(member_id=request.member_id, member_epoch=request.member_epoch)
    )
    settle(transition, group)
