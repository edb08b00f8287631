"""Consumer groups of the new protocol (KIP-848), in front of a cluster that lacks them (`group.consumer.enable`).

GW-11, GW-13 and GW-16 hold as for classic groups. Rules (KG-17 to KG-20):

1. The first consumer that joins takes the group upstream, with the sentinel of a classic consumer group. If upstream
   refuses the sentinel, the group is the cluster's.
2. A heartbeat of a group that is not kcoord's passes on, in a version that the cluster has. Where the cluster has none,
   the answer is UNSUPPORTED_VERSION: Java says "set group.protocol=classic", and franz-go falls back by itself.
3. A heartbeat that says what its sender subscribes to waits for a look at these topics on its own connection. Any other
   carries what has been seen since. No answer that gives partitions leaves before the sentinel stands for the group's
   fence epoch. For both see `consumer_topics.py`.
4. A description needs the right to describe the group, and each topic in it. So does the input of an assignor that
   runs in a consumer.
5. A cluster that knows the protocol may have groups of its own whose names match. What kcoord does not know, a member
   or a whole group, the cluster is asked about. If upstream has refused the sentinel, the group is the cluster's: who
   is a member here still is fenced.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Protocol

import attrs

from kcoord.gateway.handlers.consumer_topics import find_out, seen_by_consumer, stand, with_news
from kcoord.gateway.handlers.group_calls import GroupCallContext, admit, answer, keep
from kcoord.gateway.handlers.other_protocols import OTHERS, SWITCHED_OFF, UpgradeContext, newer_heartbeat
from kcoord.gateway.ownership.access.group_ownership import facts_of, is_here, is_the_clusters, may_be_here
from kcoord.gateway.ownership.access.rights import DESCRIBE, READ
from kcoord.gateway.ownership.maintenance.group_appearances import topics_in
from kcoord.gateway.ownership.sentinel.appearance import CONSUMER
from kcoord.gateway.ownership.sentinel.upstream_errors import is_refusal
from kcoord.gateway.session.authorization import Authorization
from kcoord.gateway.session.upstream import UpstreamLost, error_of
from kcoord.gateway.topology.topic_watch import News, TopicsRefused
from kcoord.group.error_responses import needs_new_connection, refuse
from kcoord.group.state.bounded_text import bounded_text
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.consumer_group_describe_response import DescribedGroup
from kcoord.protocol.messages import (
    ConsumerGroupDescribeRequest,
    ConsumerGroupDescribeResponse,
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    ConsumerGroupInstallAssignmentRequest,
    ConsumerGroupInstallAssignmentResponse,
    ConsumerGroupPrepareAssignmentRequest,
    ConsumerGroupPrepareAssignmentResponse,
)
from kcoord.protocol.undecoded_call import Call
from kcoord.topic_patterns import PatternError

if TYPE_CHECKING:
    from kcoord.gateway.session.client_session import ClientSession

__all__ = ["ConsumerGroupContext", "describe", "describe_slice", "heartbeat", "member_call"]

MemberCall = ConsumerGroupPrepareAssignmentRequest | ConsumerGroupInstallAssignmentRequest
JOINING_EPOCH = 0
LEAVING_EPOCHS = frozenset({-1, -2})
KNOWS_NO_GROUP = frozenset({ErrorCode.GROUP_ID_NOT_FOUND, ErrorCode.UNSUPPORTED_VERSION})
"""The answers of a cluster that has no such group, or none of that protocol."""
NOT_SERVED = (
    "kcoord does not coordinate this group, and the cluster behind it has no consumer groups of the new protocol: set "
    "group.protocol=classic"
)
HELD_BY_CLUSTER = (
    "the cluster behind kcoord has this group, with members of the classic protocol: set group.protocol=classic, or "
    "stop them first"
)
CANNOT_SEE_ALL = 1
"""The error that is installed for a consumer that may not see what it is to assign."""
HAS_OTHER_TOPICS = "the group has topics that the client may not describe"
NO_SUCH_GROUP = "neither kcoord nor the cluster behind it has a consumer group of that name"


class ConsumerGroupContext(GroupCallContext, UpgradeContext, Protocol):
    """What the handlers of consumer groups need from the gateway."""


async def heartbeat(
    gateway: ConsumerGroupContext, session: ClientSession, call: Call, request: ConsumerGroupHeartbeatRequest
) -> None:
    """Answer a ConsumerGroupHeartbeat, or pass it on. Raises UpstreamLost."""
    group_id = request.group_id
    if not gateway.settings.consumer_groups:
        had = gateway.groups.known_facts(group_id).consumer_epoch is not None
        await newer_heartbeat(gateway, session, call, request, SWITCHED_OFF if had else OTHERS)
        return
    if not gateway.owns(group_id):
        await _pass_on(session, call, request, NOT_SERVED)
        return
    error = await gateway.rights.check(session, group_id, READ)
    if error:
        session.answer(call, refuse(request, error))
        return
    is_told = False
    try:
        is_told = await _serve(gateway, session, call, request)
    finally:
        if not is_told:
            gateway.topics.forget(session, group_id)


async def _serve(
    gateway: ConsumerGroupContext, session: ClientSession, call: Call, request: ConsumerGroupHeartbeatRequest
) -> bool:
    """Answer a heartbeat of a client that may read the group. Returns whether the group has taken it in, and the sender
    is a member. Raises UpstreamLost.
    """
    try:
        news = await seen_by_consumer(gateway, session, request)
    except TopicsRefused as refused:
        session.answer(call, _refused(ErrorCode.TOPIC_AUTHORIZATION_FAILED, str(refused)))
        return False
    except PatternError as wrong:
        message = f"the regular expression of the subscription cannot be used: {wrong}"
        session.answer(call, _refused(ErrorCode.INVALID_REGULAR_EXPRESSION, message))
        return False
    error = await _take(gateway, session, request)
    if is_refusal(error) and error != ErrorCode.GROUP_AUTHORIZATION_FAILED:
        await _pass_on(session, call, request, HELD_BY_CLUSTER)
        return False
    if error:
        session.answer(call, refuse(request, error))
        return False
    return await _carry_out(gateway, session, call, request, news)


async def _take(
    gateway: ConsumerGroupContext, session: ClientSession, request: ConsumerGroupHeartbeatRequest
) -> ErrorCode:
    """Take the group for a consumer that joins; for any other heartbeat keep it, if it is here. If upstream has refused
    the sentinel of a group with members here, `_carry_out` finds out what that means for the sender.

    INCONSISTENT_GROUP_PROTOCOL: the cluster shall have the group. Raises UpstreamLost.
    """
    group_id = request.group_id
    sentinel = gateway.sentinels.of(group_id)
    if not sentinel.is_joined and await is_the_clusters(gateway, group_id):
        return ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    if request.member_epoch == JOINING_EPOCH and (sentinel.IS_SHARED or not sentinel.is_joined):
        await session.ready()
        session.add_member(group_id, request.member_id)
        return await admit(gateway, session, sentinel, CONSUMER)
    error = await keep(gateway, session, group_id) if await is_here(gateway, group_id) else ErrorCode.NONE
    is_about_group = is_refusal(error) and error != ErrorCode.GROUP_AUTHORIZATION_FAILED
    return ErrorCode.NONE if is_about_group else error


async def _carry_out(
    gateway: ConsumerGroupContext,
    session: ClientSession,
    call: Call,
    request: ConsumerGroupHeartbeatRequest,
    news: News | None,
) -> bool:
    """Let the group answer. Returns as `_serve`. Raises UpstreamLost."""
    group_id, epoch = request.group_id, request.member_epoch
    context = with_news(session.context(call), news)
    held = partial(gateway.groups.flush_held_reply, group_id, session.client.serial)
    when_more = partial(session.client.when_more, call, held)
    response, cached = await gateway.guarded.call(session, call, request, when_more, context)
    assert isinstance(response, ConsumerGroupHeartbeatResponse)
    if epoch != JOINING_EPOCH and not await is_here(gateway, group_id):
        response = await _of_elsewhere(session, call, request, response)
    if response.error_code:
        await _cannot(gateway, session, call, request, response)
        return False
    sentinel = gateway.sentinels.of(group_id)
    if epoch in LEAVING_EPOCHS:
        session.drop_members(group_id, {request.member_id})
    else:
        session.add_member(group_id, response.member_id or request.member_id)
        gateway.cluster_groups.taken(group_id)
        if response.assignment is not None and response.assignment.topic_partitions:
            error = await stand(gateway, session, sentinel, request.member_id)
            if error:
                session.answer(call, refuse(request, error))
                return False
        find_out(gateway, session, group_id, request.member_id)
    answer(gateway, session, call, response, cached, group_id)
    return epoch not in LEAVING_EPOCHS


async def _cannot(
    gateway: ConsumerGroupContext,
    session: ClientSession,
    call: Call,
    request: ConsumerGroupHeartbeatRequest,
    response: ConsumerGroupHeartbeatResponse,
) -> None:
    """Answer with the group's error. If the group has members of another kind here, the client is told that, and the
    log, too. A group that was taken for this client only is given back.
    """
    group_id, error = request.group_id, ErrorCode(response.error_code)
    joins = request.member_epoch == JOINING_EPOCH
    if joins and error == ErrorCode.GROUP_ID_NOT_FOUND and (await facts_of(gateway, group_id)).has_members:
        await newer_heartbeat(gateway, session, call, request, response.error_message or OTHERS)
        return
    if joins and not error.retriable:
        gateway.spawn(gateway.sentinels.give_back(gateway.sentinels.of(group_id)))
    session.answer(call, response)
    if needs_new_connection(response):
        session.client.end()


async def member_call(gateway: ConsumerGroupContext, session: ClientSession, call: Call, request: MemberCall) -> None:
    """Answer a ConsumerGroupPrepareAssignment or ConsumerGroupInstallAssignment. Raises UpstreamLost."""
    if not (gateway.settings.consumer_groups and gateway.owns(request.group_id)):
        response = refuse(request, ErrorCode.GROUP_ID_NOT_FOUND)
        assert isinstance(response, ConsumerGroupPrepareAssignmentResponse | ConsumerGroupInstallAssignmentResponse)
        response.error_message = NO_SUCH_GROUP
    else:
        response, _ = await gateway.guarded.call(session, call, request)
        if isinstance(response, ConsumerGroupPrepareAssignmentResponse) and not response.error_code:
            response = await _as_it_may_see(gateway, session, call, request, response)
    session.answer(call, response)


async def _as_it_may_see(
    gateway: ConsumerGroupContext,
    session: ClientSession,
    call: Call,
    request: MemberCall,
    response: ConsumerGroupPrepareAssignmentResponse,
) -> ConsumerGroupPrepareAssignmentResponse:
    """What a consumer that computes is shown, if it may describe all topics of the group. Else it cannot compute, and
    the next one is chosen at once. Raises UpstreamLost.
    """
    try:
        await gateway.topics.check(session, [topic.topic_name for topic in response.topics])
    except TopicsRefused:  # its text would name the topic
        ids = request.group_id, request.member_id, request.member_epoch
        gives_up = ConsumerGroupInstallAssignmentRequest(*ids, response.group_epoch, CANNOT_SEE_ALL)
        await gateway.guarded.call(session, call, gives_up)
        return ConsumerGroupPrepareAssignmentResponse(
            error_code=ErrorCode.TOPIC_AUTHORIZATION_FAILED, error_message=HAS_OTHER_TOPICS
        )
    return response


async def _of_elsewhere(
    session: ClientSession,
    call: Call,
    request: ConsumerGroupHeartbeatRequest,
    response: ConsumerGroupHeartbeatResponse,
) -> ConsumerGroupHeartbeatResponse:
    """The answer to a heartbeat whose group is not here, after the group's answer (rule 5 above). Raises UpstreamLost.

    The group's error stands where the cluster knows no more than kcoord.
    """
    if not response.error_code:
        fences = request.member_epoch not in LEAVING_EPOCHS
        return _refused(ErrorCode.FENCED_MEMBER_EPOCH, HELD_BY_CLUSTER) if fences else response
    await session.ready()
    theirs = await _asked(session, call, request)
    return response if theirs is None or error_of(theirs.error_code) in KNOWS_NO_GROUP else theirs


async def _asked(
    session: ClientSession, call: Call, request: ConsumerGroupHeartbeatRequest
) -> ConsumerGroupHeartbeatResponse | None:
    """The cluster's answer, in a version that it has; None if it has none. Raises UpstreamLost."""
    version = await session.version(ConsumerGroupHeartbeatRequest, call.header.api_version)
    is_of_v0 = request.subscribed_topic_regex is None and bool(request.member_id)
    if version is None or (version < call.header.api_version and not is_of_v0):
        return None
    response = await session.ask(request, version, call.header.client_id)
    assert isinstance(response, ConsumerGroupHeartbeatResponse)
    return response


async def _pass_on(session: ClientSession, call: Call, request: ConsumerGroupHeartbeatRequest, why_not: str) -> None:
    """Pass on a heartbeat of a group that is not kcoord's, in a version that the cluster has. `why_not` is what the
    client is told if it has none. Raises UpstreamLost.
    """
    await session.ready()
    version = await session.version(ConsumerGroupHeartbeatRequest)
    if version is not None and version >= call.header.api_version:
        session.pass_on(call)
        return
    theirs = await _asked(session, call, request)
    session.answer(call, _refused(ErrorCode.UNSUPPORTED_VERSION, why_not) if theirs is None else theirs)


def _refused(error: ErrorCode, message: str) -> ConsumerGroupHeartbeatResponse:
    return ConsumerGroupHeartbeatResponse(error_code=error, error_message=bounded_text(message))


# -- description ------------------------------------------------------------------------------------------------------


async def describe(
    gateway: ConsumerGroupContext, session: ClientSession, call: Call, request: ConsumerGroupDescribeRequest
) -> None:
    """Answer a ConsumerGroupDescribe, group by group. Raises UpstreamLost."""
    session.answer(call, await describe_slice(gateway, session, call, request))


async def describe_slice(
    gateway: ConsumerGroupContext, session: ClientSession, call: Call, request: ConsumerGroupDescribeRequest
) -> ConsumerGroupDescribeResponse:
    """The answer for the groups in `request`, which are all or some of those in `call`. Raises UpstreamLost."""
    theirs = [group_id for group_id in request.group_ids if not may_be_here(gateway, group_id)]
    found = await _described_there(session, call, request, theirs) if theirs else {}
    for group_id in request.group_ids:
        if group_id not in found:
            found[group_id] = await _described_here(gateway, session, call, request, group_id)
    missing = [
        group_id
        for group_id, each in found.items()
        if each.error_code == ErrorCode.GROUP_ID_NOT_FOUND and group_id not in theirs
    ]
    if missing and session.upstream is not None:
        there = await _described_there(session, call, request, missing)
        found |= {group_id: each for group_id, each in there.items() if not each.error_code}
    return ConsumerGroupDescribeResponse(groups=[found[group_id] for group_id in request.group_ids])


async def _described_there(
    session: ClientSession, call: Call, request: ConsumerGroupDescribeRequest, group_ids: list[str]
) -> dict[str, DescribedGroup]:
    """The cluster's descriptions; GROUP_ID_NOT_FOUND, on which clients ask DescribeGroups, if it has no such API."""
    await session.ready()
    version = await session.version(ConsumerGroupDescribeRequest, call.header.api_version)
    found = {group_id: _missing(group_id) for group_id in group_ids}
    if version is not None:
        there = await session.ask(attrs.evolve(request, group_ids=group_ids), version, call.header.client_id)
        assert isinstance(there, ConsumerGroupDescribeResponse)
        found |= {each.group_id: each for each in there.groups}
    return found


async def _described_here(
    gateway: ConsumerGroupContext,
    session: ClientSession,
    call: Call,
    request: ConsumerGroupDescribeRequest,
    group_id: str,
) -> DescribedGroup:
    try:
        rights = await gateway.rights.authorization(session, group_id)
        if isinstance(rights, Authorization) and not rights.allows(DESCRIBE):
            rights = ErrorCode.GROUP_AUTHORIZATION_FAILED
        if not isinstance(rights, Authorization):
            return DescribedGroup(error_code=rights, group_id=group_id)
        response, _ = await gateway.guarded.call(session, call, attrs.evolve(request, group_ids=[group_id]))
        assert isinstance(response, ConsumerGroupDescribeResponse)
        described = response.groups[0]
        if described.error_code:
            return described
        await gateway.topics.check(session, topics_in(described))
    except TopicsRefused:  # its text would name the topic
        return DescribedGroup(ErrorCode.TOPIC_AUTHORIZATION_FAILED, HAS_OTHER_TOPICS, group_id)
    except UpstreamLost:
        return DescribedGroup(ErrorCode.COORDINATOR_NOT_AVAILABLE, group_id=group_id)
    if request.include_authorized_operations:
        described.authorized_operations = rights.operations
    return described


def _missing(group_id: str) -> DescribedGroup:
    return DescribedGroup(ErrorCode.GROUP_ID_NOT_FOUND, NO_SUCH_GROUP, group_id)
