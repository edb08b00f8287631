"""The groups of all instances: a request is answered here, or relayed to the instance that owns its group.

A gateway, and a kcoord without a cluster, call `SharedGroups` instead of their own coordinator. Rules:

1. The map says which instance owns a group. Requests for groups of this instance are answered here; others are relayed
   (GW-20).
2. If no instance owns the group, or its owner has died, the request waits for the next map, for `WAIT_S` at most. If
   there is no owner then, or the owner cannot be reached or does not answer, the answer is NOT_COORDINATOR. The client
   looks for the coordinator again, and has not been told of a success. If the link is lost, requests that may be
   carried out twice without harm are sent again, for `LOST_WAIT_S` after the loss. So a heartbeat outlasts an owner
   that is gone without a word, and its client does not look for a coordinator while half of the addresses that it knows
   do not answer.
3. A call may wait at the owner as long as its group lets it: a join waits for other members, a heartbeat for news
   (CG-26, `connect.classic.heartbeat.wait.ms`). When the client sends its next request or goes, the owner is told, and
   answers a heartbeat that it holds.
4. With each answer an owner sends facts about its group. They are remembered for callers that need no exact facts.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections import Counter, OrderedDict
from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import partial
from typing import Protocol, TypeVar

from kcoord.bounded_cache import BoundedCache
from kcoord.group.api_handlers_and_rights import ALL_APIS
from kcoord.group.consumer.offset_checks import Named
from kcoord.group.error_responses import refuse
from kcoord.group.group_facts import UNKNOWN, GroupFacts
from kcoord.group.multi_group_requests import empty_answer, merge, split
from kcoord.group.state.connect_settings import MAX_CLASSIC_WAIT_MS
from kcoord.group.state.consumer_settings import MAX_WAIT_MS
from kcoord.group.state.step import CachedReply, RequestContext
from kcoord.instances.instance_map import Instance, InstanceMap
from kcoord.instances.link import Link, LinkLost
from kcoord.instances.listener import ASK_DELETE, ASK_OFFSET_DELETE, ASK_SUBSCRIBED, NO_GENERATION, NO_LISTENER, RESUME
from kcoord.instances.peer_clock import PeerClock
from kcoord.instances.relayed_calls import LocalGroups, group_in
from kcoord.instances.topics_in_frames import write_committed, write_seen
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.instance_ask_request import InstanceAskRequest
from kcoord.protocol.generated.instance_ask_response import InstanceAskResponse
from kcoord.protocol.generated.instance_check_commit_request import InstanceCheckCommitRequest
from kcoord.protocol.generated.instance_check_commit_response import InstanceCheckCommitResponse
from kcoord.protocol.generated.instance_group_facts_request import InstanceGroupFactsRequest
from kcoord.protocol.generated.instance_group_facts_response import GroupFacts as _AskedFacts
from kcoord.protocol.generated.instance_group_facts_response import InstanceGroupFactsResponse
from kcoord.protocol.generated.instance_let_go_request import InstanceLetGoRequest
from kcoord.protocol.generated.instance_relay_request import InstanceRelayRequest
from kcoord.protocol.generated.instance_relay_response import GroupFacts as _RelayedFacts
from kcoord.protocol.generated.instance_relay_response import InstanceRelayResponse
from kcoord.protocol.generated.instance_session_request import InstanceSessionRequest
from kcoord.protocol.generated.list_groups_response import ListedGroup
from kcoord.protocol.messages import (
    RESPONSES,
    ConnectGroupHeartbeatRequest,
    ConsumerGroupHeartbeatRequest,
    HeartbeatRequest,
    JoinGroupRequest,
    ListGroupsRequest,
    ListGroupsResponse,
    Request,
    Response,
    SyncGroupRequest,
    api_name,
)
from kcoord.protocol.primitives import DecodeError

__all__ = ["Places", "SharedGroups"]

log = logging.getLogger("kcoord.instances")

Answer = TypeVar("Answer")

SYNC_LIMIT_S = 300.0
"""How long a SyncGroup may wait at the owner for the leader. The owner limits it by the group's rebalance timeout."""
JOIN_ROUNDS = 2
"""How many waits a join may need: for the initial delay or for other members, each up to the rebalance timeout."""
WAIT_S = 2.0
"""How long a call waits for a living owner: less than the heartbeat interval of a Connect worker (3 s)."""
LOST_WAIT_S = 3.0
"""How long a call that may be repeated waits for another owner after the link to its owner was lost. A link is lost
when the owner has been silent for 5 s, and after 6 s (`instances.session.timeout.ms`) others take its groups over. All
of it is less than the session of a Connect worker (10 s).
"""
PAUSE_S = 0.05
REPEATABLE = tuple(row.request for row in ALL_APIS if row.repeatable)
"""Requests that may be carried out twice."""
HEARD_BYTES = 16 << 20
"""Bytes of the cache of facts that owners sent about their groups."""
CONNECTIONS = 1 << 18


class Places(Protocol):
    """The map and the living instances, as this instance's membership gives them."""

    @property
    def map(self) -> InstanceMap: ...
    def is_self(self, instance: Instance | None) -> bool: ...
    def has_died(self, instance: Instance) -> bool: ...
    async def changed(self) -> None:
        """Wait for the next map."""
        ...


class SharedGroups:
    """The groups of all instances. `way_to` returns the link to another instance, or None if it takes no calls.
    `timeout_s` is how long a call may take that does not wait for others.
    """

    def __init__(
        self, local: LocalGroups, places: Places, way_to: Callable[[Instance], Link | None], timeout_s: float
    ) -> None:
        self._local = local
        self._places = places
        self._way_to = way_to
        self._timeout_s = timeout_s
        self.relayed: Counter[str] = Counter()
        """The number of calls to other instances, by API."""
        self._in_work: dict[int, Link] = {}
        self._seen: OrderedDict[int, set[Link]] = OrderedDict()
        self._heard: BoundedCache[str, GroupFacts] = BoundedCache(HEARD_BYTES)

    # -- requests -----------------------------------------------------------------------------------------------------

    async def call(
        self, request: Request, context: RequestContext, submitted: Callable[[], None] | None = None
    ) -> tuple[Response, CachedReply | None]:
        """The response to a request about groups, and what the hot path may remember of it (nothing if another instance
        owns the group). `submitted` is called when the request has been sent.
        """
        if isinstance(request, ListGroupsRequest):
            return await self._list(request, context, submitted), None
        parts = split(request)
        if parts is None:
            group_id = group_in(request)
            assert group_id is not None
            return await self._one(group_id, request, context, submitted)
        if not parts:
            return empty_answer(request), None
        if len(parts) == 1:
            response, _ = await self._one(*parts[0], context, submitted)
            return response, None
        answers = [asyncio.ensure_future(self._one(group_id, part, context)) for group_id, part in parts]
        if submitted is not None:
            submitted()
        try:
            return merge([response for response, _ in await asyncio.gather(*answers)]), None
        finally:
            for answer in answers:
                answer.cancel()

    async def _one(
        self,
        group_id: str,
        request: Request,
        context: RequestContext,
        submitted: Callable[[], None] | None = None,
    ) -> tuple[Response, CachedReply | None]:
        if self._places.is_self(self._owner(group_id)):
            return await self._local.call(request, context, submitted)

        async def here() -> tuple[Response, CachedReply | None]:
            return await self._local.call(request, context, submitted)

        async def there(link: Link) -> tuple[Response, CachedReply | None]:
            return await self._relay(link, request, context, submitted), None

        try:
            return await self._at_owner(group_id, here, there, may_repeat=isinstance(request, REPEATABLE))
        except LinkLost as lost:
            log.debug("%s of group %s is not answered: %s", request.NAME, group_id, lost)
            return refuse(request, ErrorCode.NOT_COORDINATOR), None

    async def _at_owner(
        self,
        group_id: str,
        here: Callable[[], Awaitable[Answer]],
        there: Callable[[Link], Awaitable[Answer]],
        *,
        may_repeat: bool,
    ) -> Answer:
        """What `here` returns if this instance owns the group, or `there` for the link to the owner (rule 2 above).
        Raises LinkLost.
        """
        loop = asyncio.get_running_loop()
        until_s = loop.time() + WAIT_S
        was_lost = False
        while True:
            owner = await self._next_owner(group_id, until_s)
            if self._places.is_self(owner):
                return await here()
            link: Link | None = None
            try:
                link = self._link(owner, group_id)
                async with asyncio.timeout_at(until_s if was_lost else None):
                    return await there(link)
            except TimeoutError:
                raise LinkLost(f"{link}: no answer, and no other instance owns group {group_id}") from None
            except LinkLost:
                if link is not None and not was_lost:
                    was_lost, until_s = True, loop.time() + LOST_WAIT_S
                if not may_repeat or loop.time() >= until_s:
                    raise
            await asyncio.sleep(PAUSE_S)

    async def _list(
        self, request: ListGroupsRequest, context: RequestContext, submitted: Callable[[], None] | None
    ) -> ListGroupsResponse:
        """The groups of all instances. If one cannot be reached, or some partitions have no owner at the moment, the
        answer has an error beside the groups that were found.
        """

        async def of(instance: Instance) -> Response:
            try:
                return await self._relay(self._link(instance, None), request, context, None)
            except LinkLost as lost:
                log.warning("ListGroups: %s", lost)
                return ListGroupsResponse(error_code=ErrorCode.COORDINATOR_NOT_AVAILABLE)

        others = [each for each in self._places.map.instances.values() if not self._places.is_self(each)]
        asked = [asyncio.ensure_future(of(each)) for each in others]
        try:
            here, _ = await self._local.call(request, context, submitted)
            listed = [here, *await asyncio.gather(*asked)]
        finally:
            for each in asked:
                each.cancel()
        places = self._places.map
        if places.in_transit or not places.partitions:
            listed.append(ListGroupsResponse(error_code=ErrorCode.COORDINATOR_NOT_AVAILABLE))
        return _merged(each for each in listed if isinstance(each, ListGroupsResponse))

    async def _relay(
        self, link: Link, request: Request, context: RequestContext, submitted: Callable[[], None] | None
    ) -> Response:
        """The owner's answer. Raises LinkLost."""
        connection = context.connection
        self.relayed[api_name(request.API_KEY)] += 1
        call = partial(_relayed, request, context)
        self._notice(connection, link)
        self._in_work[connection] = link
        try:
            relayed = await link.call(call, InstanceRelayResponse, self._limit_s(request, context), submitted)
        finally:
            if self._in_work.get(connection) is link:
                del self._in_work[connection]
            if connection not in self._seen:  # it closed meanwhile, perhaps before this was sent
                link.tell(InstanceLetGoRequest(connection=connection, group_id=None))
        for each in relayed.facts:
            self._hear(each.group_id, _read(each))
        if relayed.error_code:
            return refuse(request, ErrorCode(relayed.error_code))
        try:
            return RESPONSES[request.API_KEY].decode(relayed.body, context.api_version)
        except DecodeError as error:
            raise LinkLost(f"{link}: {error}") from error

    def _limit_s(self, request: Request, context: RequestContext) -> float:
        """How long the owner may take: its own time, and how long the group may let the call wait (rule 3 above)."""
        if isinstance(request, JoinGroupRequest):
            # version 0 has no rebalance timeout: the session timeout counts instead
            waits_ms = JOIN_ROUNDS * max(request.rebalance_timeout_ms, request.session_timeout_ms)
        elif isinstance(request, ConnectGroupHeartbeatRequest):
            waits_ms = max(0, request.max_wait_ms)
        elif isinstance(request, HeartbeatRequest):
            waits_ms = MAX_CLASSIC_WAIT_MS
        elif isinstance(request, ConsumerGroupHeartbeatRequest):
            waits_ms = MAX_WAIT_MS
        elif isinstance(request, SyncGroupRequest):
            return self._timeout_s + SYNC_LIMIT_S
        else:
            waits_ms = 0
        return self._timeout_s + waits_ms / 1000

    # -- connections --------------------------------------------------------------------------------------------------

    def flush_held_reply(self, group_id: str, connection: int) -> None:
        """Answer the heartbeat that is held back on this connection, if there is one, on whichever instance it
        waits.
        """
        link = self._in_work.get(connection)
        if link is None:
            self._local.flush_held_reply(group_id, connection)
        else:
            link.tell(InstanceLetGoRequest(connection=connection, group_id=group_id))

    def closed(self, connection: int) -> None:
        """A client's connection has closed: tell the instances that were called for it, so that they can forget it."""
        self._local.closed(connection)
        for link in self._seen.pop(connection, ()):
            link.tell(InstanceLetGoRequest(connection=connection, group_id=None))

    def _notice(self, connection: int, link: Link) -> None:
        self._seen.setdefault(connection, set()).add(link)
        if len(self._seen) > CONNECTIONS:
            self._seen.popitem(last=False)

    # -- questions ----------------------------------------------------------------------------------------------------

    async def check_commit(
        self,
        group_id: str,
        member_id: str,
        instance_id: str | None,
        generation: int,
        transactional: bool,
        api_version: int = 0,
        partitions: Sequence[Named] = (),
    ) -> ErrorCode:
        """Check whether this member may commit offsets now (GW-12, GW-22), and refresh its session."""
        asked = InstanceCheckCommitRequest(
            group_id=group_id,
            member_id=member_id,
            group_instance_id=instance_id,
            generation=generation,
            transactional=transactional,
            api_version=api_version,
            topics=write_committed(partitions),
        )

        async def here() -> ErrorCode:
            return await self._local.check_commit(
                group_id, member_id, instance_id, generation, transactional, api_version, partitions
            )

        async def there(link: Link) -> ErrorCode:
            return ErrorCode((await link.call(asked, InstanceCheckCommitResponse, self._timeout_s)).error_code)

        try:
            return await self._at_owner(group_id, here, there, may_repeat=True)
        except LinkLost:
            return ErrorCode.NOT_COORDINATOR

    async def check_delete(self, group_id: str) -> ErrorCode:
        """Whether the group may be deleted (GW-13)."""
        if self._places.is_self(self._owner(group_id)):
            return await self._local.check_delete(group_id)
        return await self._check(group_id, ASK_DELETE)

    async def check_offset_delete(self, group_id: str) -> ErrorCode:
        """Whether offsets of the group may be deleted at all (GW-13)."""
        if self._places.is_self(self._owner(group_id)):
            return await self._local.check_offset_delete(group_id)
        return await self._check(group_id, ASK_OFFSET_DELETE)

    async def subscribed_among(self, group_id: str, topics: Sequence[str]) -> frozenset[str]:
        """Those of `topics` that the group is subscribed to (GW-13). All of them if the owner cannot be reached, so
        that no offsets in use are deleted.
        """
        owner = self._owner(group_id)
        if self._places.is_self(owner):
            return await self._local.subscribed_among(group_id, topics)
        asked = InstanceAskRequest(group_id=group_id, what=ASK_SUBSCRIBED, topics=list(topics))
        try:
            answer = await self._link(owner, group_id).call(asked, InstanceAskResponse, self._timeout_s)
        except LinkLost:
            return frozenset(topics)
        return frozenset(topics) if answer.error_code else frozenset(answer.topics)

    async def _check(self, group_id: str, what: int) -> ErrorCode:
        try:
            link = self._link(self._owner(group_id), group_id)
            answer = await link.call(
                InstanceAskRequest(group_id=group_id, what=what), InstanceAskResponse, self._timeout_s
            )
        except LinkLost:
            return ErrorCode.NOT_COORDINATOR
        return ErrorCode(answer.error_code)

    async def facts(self, group_ids: Sequence[str]) -> dict[str, GroupFacts]:
        """The facts that the owners of these groups report now; `UNKNOWN` for groups whose owner cannot be reached."""
        found = dict.fromkeys(group_ids, UNKNOWN)
        here: list[str] = []
        elsewhere: dict[Link, list[str]] = {}
        for group_id in found:
            owner = self._owner(group_id)
            if self._places.is_self(owner):
                here.append(group_id)
                continue
            try:
                elsewhere.setdefault(self._link(owner, group_id), []).append(group_id)
            except LinkLost:
                continue
        answers = await asyncio.gather(
            self._local.facts(here), *(self._facts_of(link, groups) for link, groups in elsewhere.items())
        )
        for answer in answers:
            found.update(answer)
        return found

    async def _facts_of(self, link: Link, group_ids: list[str]) -> dict[str, GroupFacts]:
        try:
            answer = await link.call(
                InstanceGroupFactsRequest(group_ids=group_ids), InstanceGroupFactsResponse, self._timeout_s
            )
        except LinkLost:
            return {}
        found = {each.group_id: _read(each) for each in answer.facts}
        for group_id, facts in found.items():
            self._hear(group_id, facts)
        return found

    def known_facts(self, group_id: str) -> GroupFacts:
        """The same without asking: exact for a group of this instance, else the facts that were last received."""
        if self._places.is_self(self._owner(group_id)):
            return self._local.known_facts(group_id)
        return self._heard.get(group_id) or UNKNOWN

    def _hear(self, group_id: str, facts: GroupFacts) -> None:
        self._heard[group_id] = facts

    def owned(self) -> set[int]:
        """The partitions whose groups this instance serves now."""
        return self._local.owned()

    def groups_of(self, partition: int) -> list[str]:
        """All groups of a partition that this instance serves."""
        return self._local.groups_of(partition)

    # -- sessions -----------------------------------------------------------------------------------------------------

    def pause_session(self, group_id: str, member_id: str, until_ms: int) -> None:
        """Pause the member's session until `until_ms` at most (GW-10)."""
        if not self._tell_session(group_id, member_id, max(0, until_ms - self.now_ms())):
            self._local.pause_session(group_id, member_id, until_ms)

    def resume_session(self, group_id: str, member_id: str) -> None:
        """Start the member's session afresh (GW-10)."""
        if not self._tell_session(group_id, member_id, RESUME):
            self._local.resume_session(group_id, member_id)

    def now_ms(self) -> int:
        """The present time on the clock of sessions, in ms."""
        return self._local.now_ms()

    def _tell_session(self, group_id: str, member_id: str, pause_ms: int) -> bool:
        """Tell the owner if it is another instance. Returns False if it is this one."""
        owner = self._owner(group_id)
        if self._places.is_self(owner):
            return False
        try:
            link = self._link(owner, group_id)
        except LinkLost:
            return True
        link.tell(InstanceSessionRequest(group_id=group_id, member_id=member_id, pause_ms=pause_ms))
        return True

    # -- owners -------------------------------------------------------------------------------------------------------

    def _owner(self, group_id: str) -> Instance | None:
        return self._places.map.owner_of_group(group_id)

    async def _next_owner(self, group_id: str, until_s: float) -> Instance | None:
        """The owner of a group. If there is none, or it has died, wait for another map, until `until_s` at most."""
        places = self._places
        loop = asyncio.get_running_loop()
        while True:
            owner = self._owner(group_id)
            is_there = owner is not None and not places.has_died(owner)
            if is_there or not places.map.partitions or loop.time() >= until_s:
                return owner
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout_at(until_s):
                    await places.changed()

    def _link(self, owner: Instance | None, group_id: str | None) -> Link:
        """The link to an owner. Raises LinkLost if there is none."""
        if owner is None:
            raise LinkLost(f"nobody owns group {group_id} at the moment")
        link = self._way_to(owner)
        if link is None:
            raise LinkLost(f"{owner} takes no calls from other instances: set internal.listen there and here")
        return link


def _relayed(request: Request, context: RequestContext, owners: PeerClock) -> InstanceRelayRequest:
    """The request that is sent to the owner, whose clock is `owners`. It says when the client's connection was made.
    Without that, the connection would look new, because it is new to the owner (CG-4).
    """
    opened = context.opened
    made = None if opened is None else owners.theirs(opened.since_ms, opened.by_ms)
    since_ms, by_ms = made or (0, 0)
    return InstanceRelayRequest(
        connection=context.connection,
        pipelined=context.pipelined,
        client_id=context.client_id,
        client_host=context.client_host,
        api_key=request.API_KEY,
        api_version=context.api_version,
        body=request.encode(context.api_version),
        listener=NO_LISTENER if opened is None or made is None else opened.listener,
        made_since_ms=since_ms,
        made_by_ms=by_ms,
        seen_topics=None if context.seen is None else write_seen(context.seen),
        resolved=None if context.resolved is None else sorted(context.resolved),
        agreed_ms=0 if context.seen is None else context.seen.agreed_ms,
        patient=context.is_patient,
    )


def _read(said: _RelayedFacts | _AskedFacts) -> GroupFacts:
    return GroupFacts(
        known=said.known,
        has_members=said.has_members,
        generation=None if said.generation == NO_GENERATION else said.generation,
        loaded=said.loaded,
        owner=said.owner,
        consumer_epoch=None if said.consumer_epoch == NO_GENERATION else said.consumer_epoch,
        is_led_alone=said.led_alone,
    )


def _merged(listed: Iterable[ListGroupsResponse]) -> ListGroupsResponse:
    """One merged list. If two instances list a group, because it is moving, the first entry counts."""
    groups: dict[str, ListedGroup] = {}
    error = 0
    for each in listed:
        error = error or each.error_code
        for group in each.groups:
            groups.setdefault(group.group_id, group)
    return ListGroupsResponse(error_code=error, groups=list(groups.values()))
