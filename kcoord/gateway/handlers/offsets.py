"""OffsetCommit, TxnOffsetCommit and OffsetDelete of groups that kcoord may take.

Offsets stay upstream, and kcoord commits them there in the sentinel's name. Rules (GW-12, GW-13, GW-22):

1. The group's coordinator here checks a commit by member and generation, under its lease (GW-21). Then kcoord passes
   the commit on in the sentinel's name and upstream generation, at the client's own version. kcoord gets the name
   before the check. So if a newer generation begins after the check, upstream itself refuses the commit, and there is
   no gap (`shared_sentinel.py`).
2. An upstream error about the *sentinel* does not concern the member. If the member may still commit, the sentinel
   joins again, and kcoord tries the commit again.
3. A transactional commit that names no member (older than KIP-447) passes unchanged.
4. kcoord checks an OffsetDelete by the topics that members subscribe to. Upstream would refuse it while the sentinel is
   there. So the sentinel leaves, and comes back if there are members.
5. A consumer group of the new protocol checks a commit by the member's epoch and by what is committed (KG-19). The name
   is older than the check, and stands for the last fence epoch or one before. So if somebody loses partitions after the
   check, upstream refuses the commit once anybody else may have them.
6. A commit may have to wait, for example while upstream is away. Meanwhile its client may end the connection, come by
   another one, and commit more. So a commit whose client has gone while it waited is not passed on, nor are those that
   the client sent after it: the position would go back. Nobody has heard that they succeeded. The same holds for one
   that waited for the group's answer, if its member has committed by another connection meanwhile.
"""

from __future__ import annotations

import asyncio
import contextlib
from functools import partial
from typing import TYPE_CHECKING

import attrs

from kcoord.gateway.handlers.group_calls import GroupCallContext, is_elsewhere
from kcoord.gateway.handlers.late_commits import join_instead, pass_commit
from kcoord.gateway.ownership.access.group_ownership import facts_of, is_here
from kcoord.gateway.ownership.access.rights import DELETE, READ
from kcoord.gateway.ownership.sentinel.described_groups import INSTANCE_ID
from kcoord.gateway.ownership.sentinel.sentinel import Sentinel
from kcoord.gateway.ownership.sentinel.state import Identity
from kcoord.gateway.ownership.sentinel.upstream_errors import LOST, STRANGER, is_refusal
from kcoord.gateway.session.upstream import UpstreamLost, error_of
from kcoord.group.consumer.offset_checks import Named
from kcoord.group.error_responses import refuse
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.offset_delete_response import OffsetDeleteResponsePartition, OffsetDeleteResponseTopic
from kcoord.protocol.messages import (
    OffsetCommitRequest,
    OffsetCommitResponse,
    OffsetDeleteRequest,
    OffsetDeleteResponse,
    Response,
    TxnOffsetCommitRequest,
    TxnOffsetCommitResponse,
)
from kcoord.protocol.undecoded_call import Call

if TYPE_CHECKING:
    from kcoord.gateway.session.client_session import ClientSession

__all__ = ["offset_commit", "offset_delete", "txn_offset_commit"]

TRY_AGAIN_S = 0.05
NO_GENERATION = -1
ATTEMPTS = 8
"""Most attempts of one commit: the sentinel may be taken over by another instance, or members may join upstream."""
COMMIT_WITH_INSTANCE, TXN_WITH_MEMBER = 7, 3
"""The first version of OffsetCommit with a group instance id (KIP-345), of TxnOffsetCommit with a member (KIP-447)."""

Commit = OffsetCommitRequest | TxnOffsetCommitRequest


async def offset_commit(
    gateway: GroupCallContext, session: ClientSession, call: Call, request: OffsetCommitRequest
) -> None:
    """Answer an OffsetCommit. Raises UpstreamLost."""
    with gateway.commits.one(request.group_id, request.member_id, session):
        if not await is_here(gateway, request.group_id):
            await _pass_on(gateway, session, call, request)
            return
        generation = request.generation_id_or_member_epoch
        await _commit(gateway, session, call, request, generation, transactional=False)


async def txn_offset_commit(
    gateway: GroupCallContext, session: ClientSession, call: Call, request: TxnOffsetCommitRequest
) -> None:
    """Answer a TxnOffsetCommit. Raises UpstreamLost."""
    names_nobody = request.generation_id < 0 and not request.member_id and request.group_instance_id is None
    is_old = names_nobody or call.header.api_version < TXN_WITH_MEMBER
    if is_old:
        session.pass_on(call)
        return
    if not await is_here(gateway, request.group_id):
        await _pass_on(gateway, session, call, request)
        return
    await _commit(gateway, session, call, request, request.generation_id, transactional=True)


async def _pass_on(gateway: GroupCallContext, session: ClientSession, call: Call, request: Commit) -> None:
    """Pass on a commit of a group that the cluster has, or shall have.

    While the group has members here, the commit may be from one of them. Such a member hears that it must join, and not
    that it is unknown.
    """
    group_id = request.group_id
    if gateway.releases.concerns(group_id) or gateway.groups.known_facts(group_id).has_members:
        await pass_commit(gateway, session, call, request)
    else:
        session.pass_on(call)


async def _commit(
    gateway: GroupCallContext, session: ClientSession, call: Call, request: Commit, generation: int, transactional: bool
) -> None:
    group_id = request.group_id
    await session.ready()
    error = await gateway.rights.check(session, group_id, READ)
    sentinel, named = gateway.sentinels.of(group_id), _named(request)
    for attempt in range(ATTEMPTS):
        if session.is_late or (attempt and session.client.has_hung_up):
            break
        name, before = sentinel.identity, (await facts_of(gateway, group_id)).generation
        error = error or await gateway.guarded.check_commit(
            session,
            group_id,
            request.member_id,
            request.group_instance_id,
            generation,
            transactional,
            named,
        )
        if not error and request.member_id and not transactional:  # a producer comes by a connection of its own
            session.add_member(group_id, request.member_id)
        placed_for = await _placed_for(gateway, group_id, generation, before)
        is_placed = name.stands_for(placed_for)
        if gateway.releases.concerns(group_id):
            if error in STRANGER:
                await pass_commit(gateway, session, call, request)
                return
            if not error and not gateway.releases.may_commit(group_id, is_placed):
                error = join_instead(request)
            elif not error and not sentinel.is_joined and not gateway.releases.is_open(group_id):
                await asyncio.sleep(TRY_AGAIN_S)  # after a restart the release decides whether it comes back
                continue
        elif await is_elsewhere(gateway, session, group_id, error):
            await _pass_on(gateway, session, call, request)
            return
        if not error and not is_placed:
            # the member's heartbeats wait behind this commit
            with gateway.paused_sessions.waiting(group_id, request.member_id, gateway.now_ms()):
                error = await _in_place(gateway, session, sentinel, placed_for)
        if is_refusal(error) and not await is_here(gateway, group_id):
            await _pass_on(gateway, session, call, request)
            return
        if error:
            session.answer(call, refuse(request, error))
            return
        if not is_placed or sentinel.identity != name:
            continue  # kcoord got the name after the check
        if request.member_id and gateway.commits.is_overtaken(group_id, request.member_id, session):
            session.is_late = True
            break
        version = call.header.api_version
        response = await session.ask(_in_its_name(request, name, version), version, call.header.client_id)
        errors = _errors(response)
        if ErrorCode.GROUP_AUTHORIZATION_FAILED in errors:
            gateway.rights.refused(session, group_id)
        if gateway.releases.concerns(group_id) and ErrorCode.REBALANCE_IN_PROGRESS in errors:
            await asyncio.sleep(TRY_AGAIN_S)  # members are joining upstream, and the sentinel is still there
            continue
        if errors.isdisjoint(LOST):
            session.answer(call, response)
            return
        sentinel.doubt(name)
    session.answer(call, refuse(request, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS))


async def _placed_for(gateway: GroupCallContext, group_id: str, generation: int, before: int | None) -> int:
    """The generation here for which the sentinel must stand, so that upstream takes a commit of that generation in its
    name, now that the group allows it; negative: any. Raises Unanswered.

    `before`: the group's own generation before it was asked. If that was a later one, the group allows an earlier one
    (a classic group that was a consumer group, where each member knows one of its own), and its own counts. If it has
    moved on since it was asked, the commit's counts, and is refused.
    """
    if generation < 0 or (await facts_of(gateway, group_id)).consumer_epoch is not None:
        return NO_GENERATION  # a consumer group's epochs are not those of the sentinel
    return generation if before is None else max(generation, before)


def _named(request: Commit) -> list[Named]:
    """What a commit names: partitions, each by its topic's name, or by its id where the request has no name."""
    return [
        (topic.name or getattr(topic, "topic_id", ""), each.partition_index)
        for topic in request.topics
        for each in topic.partitions
    ]


async def _in_place(
    gateway: GroupCallContext, session: ClientSession, sentinel: Sentinel, generation: int
) -> ErrorCode:
    """Make sure that the sentinel is in the group; for a member's commit, with that member's generation.

    Raises UpstreamLost.
    """
    current = (await facts_of(gateway, sentinel.group_id)).generation
    if generation < 0:
        return await sentinel.keep(session, current or 0)
    return await sentinel.place(session, generation, current)


def _in_its_name(request: Commit, name: Identity, version: int) -> Commit:
    """The same commit in the sentinel's name."""
    if isinstance(request, OffsetCommitRequest):
        return attrs.evolve(
            request,
            generation_id_or_member_epoch=name.generation,
            member_id=name.member_id,
            group_instance_id=INSTANCE_ID if version >= COMMIT_WITH_INSTANCE else None,
        )
    return attrs.evolve(
        request,
        generation_id=name.generation,
        member_id=name.member_id,
        group_instance_id=INSTANCE_ID,
    )


def _errors(response: Response) -> set[ErrorCode]:
    assert isinstance(response, OffsetCommitResponse | TxnOffsetCommitResponse)
    return {error_of(each.error_code) for topic in response.topics for each in topic.partitions}


async def offset_delete(
    gateway: GroupCallContext, session: ClientSession, call: Call, request: OffsetDeleteRequest
) -> None:
    """Answer an OffsetDelete. Raises UpstreamLost."""
    group_id = request.group_id
    if not await is_here(gateway, group_id):
        session.pass_on(call)
        return
    await session.ready()
    error = await gateway.rights.check(session, group_id, DELETE)
    if not error and (await facts_of(gateway, group_id)).has_members:
        error = await gateway.groups.check_offset_delete(group_id)
    if error:
        session.answer(call, refuse(request, error))
        return
    subscribed = await gateway.groups.subscribed_among(group_id, [topic.name for topic in request.topics])
    free = attrs.evolve(request, topics=[topic for topic in request.topics if topic.name not in subscribed])
    refused = [
        OffsetDeleteResponseTopic(
            name=topic.name,
            partitions=[
                OffsetDeleteResponsePartition(
                    partition_index=each.partition_index, error_code=ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC
                )
                for each in topic.partitions
            ],
        )
        for topic in request.topics
        if topic.name in subscribed
    ]
    response = OffsetDeleteResponse() if not free.topics else await _delete_upstream(gateway, session, call, free)
    session.answer(call, attrs.evolve(response, topics=[*response.topics, *refused]))


async def _delete_upstream(
    gateway: GroupCallContext, session: ClientSession, call: Call, request: OffsetDeleteRequest
) -> OffsetDeleteResponse:
    """Delete offsets upstream while the sentinel is away. A member's commit brings the sentinel back first."""
    sentinel = gateway.sentinels.of(request.group_id)
    error = await gateway.sentinels.speak(sentinel, lambda asker: sentinel.make_way(asker, _always), session)
    if error:
        return OffsetDeleteResponse(error_code=error)
    try:
        response = await session.ask(request, call.header.api_version, call.header.client_id)
        assert isinstance(response, OffsetDeleteResponse)
        return response
    finally:
        gateway.spawn(_come_back(gateway, session, sentinel))


async def _always() -> bool:
    return True


async def _come_back(gateway: GroupCallContext, session: ClientSession, sentinel: Sentinel) -> None:
    with contextlib.suppress(UpstreamLost):  # the next call of a member brings it back
        facts = await facts_of(gateway, sentinel.group_id)
        if facts.has_members:
            keep = partial(sentinel.keep, generation=facts.generation or 0)
            await gateway.sentinels.speak(sentinel, keep, session)
