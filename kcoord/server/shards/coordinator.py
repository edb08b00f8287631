"""The coordinator of all groups of this process: it routes requests to shards and merges the answers of several.

It has one `ShardHost` for each partition of the log. A request for one group goes to that group's shard; ListGroups
asks all shards that this instance has.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Mapping, Sequence

import attrs

from kcoord.group.consumer.offset_checks import Named
from kcoord.group.creation_rate import CreationRate
from kcoord.group.group_configs import GroupConfigs
from kcoord.group.group_facts import GroupFacts
from kcoord.group.multi_group_requests import Gathering, empty_answer, group_of, split
from kcoord.group.partition_of_group import partition_of
from kcoord.group.request_slices import fetch_of, fetches_all, is_refused, merge_slices, slices_of
from kcoord.group.state.bounded_text import bounded_name
from kcoord.group.state.settings import GroupSettings
from kcoord.group.state.step import CachedReply, RequestContext
from kcoord.group.state.topic import Topic
from kcoord.log.interface import Log
from kcoord.loop.turn_queue import TurnQueue
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.messages import ListGroupsRequest, OffsetFetchRequest, Request, Response
from kcoord.server.clock import monotonic_ms
from kcoord.server.connections.group_list import GroupList
from kcoord.server.connections.outbox import Waiting
from kcoord.server.connections.refusal_log import RefusalLog
from kcoord.server.shards.shard_host import Confirm, ShardHost
from kcoord.server.shards.shard_phase import ShardPhase

log = logging.getLogger("kcoord.coordinator")

Deliver = Callable[[Response, CachedReply | None], None]
NAMED = 5
"""How many groups a line of the log names at most."""


async def always(_partition: int) -> bool:
    """The `Confirm` for a log that only this process can have: every partition stays with this instance."""
    return True


class Coordinator:
    """All shards of this process over one log with `partitions` partitions. `ids` makes the unique parts of member ids;
    `given` holds the names of the settings that were set explicitly.
    """

    def __init__(
        self,
        store: Log,
        settings: GroupSettings,
        partitions: int,
        ids: Callable[[], str],
        given: frozenset[str] = frozenset(),
        has_older_connections: bool = False,
        consumer_groups: bool = False,
    ) -> None:
        """`has_older_connections`: whether connections may exist that were made before this process started.
        `consumer_groups`: whether clients can have consumer groups here, with settings of their own.
        """
        self.turns = TurnQueue()
        self.confirm: Confirm = always
        """Called before a partition is loaded again after a failure: does the partition still belong to this
        instance?
        """
        self.is_awaited: Callable[[int], bool] = lambda _partition: False
        """Called for a partition that is elsewhere: is it about to get another owner, so that requests should wait?"""
        self._serves_consumers = consumer_groups
        configs = GroupConfigs(settings.connect, given, settings.consumer if consumer_groups else None)
        limits = settings.limits
        self._creations = CreationRate(limits.creations_per_s, limits.creations_at_once)
        refusals = RefusalLog(log)
        self._hosts = [
            ShardHost(partition, store, settings, ids, configs, self._confirm, self._creations, refusals, self._awaited)
            for partition in range(partitions)
        ]
        for host in self._hosts:
            host.has_older_connections = has_older_connections

    async def _confirm(self, partition: int) -> bool:
        return await self.confirm(partition)

    def _awaited(self, partition: int) -> bool:
        return self.is_awaited(partition)

    # -- life ---------------------------------------------------------------------------------------------------------

    async def load(self) -> None:
        """Load all partitions, one after the other. Each is served as soon as it is loaded."""
        began = time.monotonic()
        for host in self._hosts:
            host.expect()
        for host in self._hosts:
            await host.gain()
        broken = sum(host.state is ShardPhase.BROKEN for host in self._hosts)
        groups = sum(len(host.shard.group_ids()) for host in self._hosts)
        log.info("loaded %d groups in %.2f s", groups, time.monotonic() - began)
        self._warn_of_consumers(self._hosts)
        if broken:
            log.error("%d of %d partitions are not served: see the lines above", broken, len(self._hosts))

    def expect(self, partition: int) -> None:
        """Note that this instance will gain a partition: from now on its requests wait, or clients are told to
        retry.
        """
        self._hosts[partition].expect()

    async def gain(self, partition: int) -> None:
        """Load one partition and serve it. Returns when the partition is served or cannot be. Does nothing if it is
        served already.
        """
        await self._hosts[partition].gain()
        self._warn_of_consumers([self._hosts[partition]])

    def _warn_of_consumers(self, hosts: Sequence[ShardHost]) -> None:
        """Log which groups have consumers that an earlier start of kcoord served, and this one does not."""
        if self._serves_consumers:
            return
        left = sorted(group.group_id for host in hosts for group in host.shard.state.consumer.values() if group.members)
        if left:
            log.warning(
                "consumers with group.protocol=consumer (KIP-848) in %d groups (%s%s) are refused from now on: kcoord "
                "had these groups when group.consumer.enable was true. Set it to true again, or give the consumers "
                "other group ids",
                len(left),
                ", ".join(map(bounded_name, left[:NAMED])),
                ", …" if len(left) > NAMED else "",
            )

    async def lose(self, partition: int) -> None:
        """Stop serving one partition at once. Returns when another instance may have it."""
        await self._hosts[partition].lose()

    def unreadable(self) -> frozenset[int]:
        """The partitions whose last load failed because a newer kcoord wrote to them."""
        return frozenset(host.partition for host in self._hosts if host.is_of_newer_kcoord)

    def write_at_level(self, record_level: int) -> None:
        """From now on write only records that instances of this level can read."""
        for host in self._hosts:
            host.record_level = record_level

    def owned(self) -> set[int]:
        """The partitions that this instance serves now."""
        return {host.partition for host in self._hosts if host.state is ShardPhase.ACTIVE}

    def groups_of(self, partition: int) -> list[str]:
        """All groups of a partition that this instance serves."""
        host = self._hosts[partition]
        return host.shard.group_ids() if host.state is ShardPhase.ACTIVE else []

    def serves(self, group_id: str) -> bool:
        """Whether this instance answers for the group: now, or after its load, or until its next owner is known."""
        host = self._host(group_id)
        if host.state is ShardPhase.ELSEWHERE:
            return self.is_awaited(host.partition)
        return host.refusal() in (ErrorCode.NONE, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)

    def follow_owners(self) -> None:
        """Called when it is known which instance has which partition: answer the requests that waited for that."""
        for host in self._hosts:
            host.settle_room()

    def partition_of(self, group_id: str) -> int:
        """The partition that holds the group's records."""
        return partition_of(group_id, len(self._hosts))

    async def stop(self) -> None:
        """Wait until everything that was appended is committed and answered, then answer nothing more."""
        await asyncio.gather(*(host.settle() for host in self._hosts))
        for host in self._hosts:
            host.stop()

    # -- requests -----------------------------------------------------------------------------------------------------

    def submit(self, request: Request, context: RequestContext, deliver: Deliver) -> None:
        """Answer `request` by calling `deliver(response, remember)`, at once or later, on the event loop's thread."""
        if isinstance(request, ListGroupsRequest):
            self._ask_all(request, deliver)
            return
        parts = split(request)
        if parts is None:
            self._submit_one(group_of(request), request, context, deliver)
            return
        if not parts:
            deliver(empty_answer(request), None)
            return
        gathering = Gathering(len(parts), lambda response: deliver(response, None))
        for at, (group_id, part) in enumerate(parts):
            self._submit_one(group_id, part, context, gathering.taker(at))

    def _submit_one(self, group_id: str, request: Request, context: RequestContext, deliver: Deliver) -> None:
        """Carry out one group's request; a large one slice by slice."""
        host = self._host(group_id)
        asked = request
        if isinstance(request, OffsetFetchRequest) and fetches_all(request, context.api_version):
            asked = fetch_of(request, host.shard.offset_partitions(group_id))
        slices = slices_of(asked)
        if slices is None:
            host.submit(request, context, Waiting(request, deliver))
            return
        answers: list[Response] = []

        def submit_next() -> bool:
            part = slices[len(answers)]
            self._host(group_id).submit(part, context, Waiting(part, take))
            return False

        def take(response: Response, _remember: CachedReply | None) -> None:
            answers.append(response)
            if len(answers) == len(slices) or is_refused(response):
                deliver(merge_slices(answers), None)
            else:
                self.turns.add(submit_next)

        submit_next()

    def flush_held_reply(self, group_id: str, connection: int) -> None:
        """Answer the heartbeats of the group that are held back on this connection, if there are any."""
        self._host(group_id).flush_held_reply(connection)

    def patterns(self) -> set[str]:
        """The regular expressions by which consumers subscribe in groups of this instance."""
        return set[str]().union(*(host.shard.patterns() for host in self._hosts))

    def learn_topics(self, topics: Mapping[str, Topic], resolutions: Mapping[str, frozenset[str]]) -> None:
        """From now on these topics exist, by name, and these names match regular expressions."""
        for host in self._hosts:
            host.learn_topics(topics, resolutions)

    def closed(self, connection: int) -> None:
        """A client's connection has closed: tell the shards of the groups that it spoke to."""
        self._creations.forget(connection)
        for host in self._hosts:
            host.closed(connection)

    async def call(
        self, request: Request, context: RequestContext, submitted: Callable[[], None] | None = None
    ) -> tuple[Response, CachedReply | None]:
        """Like `submit`, for callers that can wait. Returns the response, and what the hot path may remember of it.
        `submitted` is called when the request has been submitted.
        """
        answered: asyncio.Future[tuple[Response, CachedReply | None]] = asyncio.get_running_loop().create_future()

        def deliver(response: Response, cached: CachedReply | None) -> None:
            if not answered.done():
                answered.set_result((response, cached))

        self.submit(request, context, deliver)
        if submitted is not None:
            submitted()
        return await answered

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
        """Check whether this member may commit offsets now (GW-12, GW-22), and refresh its session.

        `api_version` is the version of OffsetCommit or TxnOffsetCommit; `partitions` are what it commits, each by the
        topic's name or id. Returns NONE if the member may commit.
        """
        host = self._host(group_id)
        refusal = host.refusal()
        if refusal:
            return refusal
        error = host.shard.check_commit(
            group_id, member_id, instance_id, generation, transactional, monotonic_ms(), api_version, partitions
        )
        return await host.outbox.may_answer() or error

    # -- facts --------------------------------------------------------------------------------------------------------

    def now_ms(self) -> int:
        """The monotonic clock that sessions run on, in ms."""
        return monotonic_ms()

    async def check_delete(self, group_id: str) -> ErrorCode:
        """Whether the group may be deleted (GW-13): NONE, NON_EMPTY_GROUP or GROUP_ID_NOT_FOUND; or the error that says
        why this instance cannot know.
        """
        host = self._host(group_id)
        return await host.may_answer() or host.shard.check_delete(group_id)

    async def check_offset_delete(self, group_id: str) -> ErrorCode:
        """Whether offsets of the group may be deleted at all (GW-13), or why this instance cannot know."""
        host = self._host(group_id)
        return await host.may_answer() or host.shard.check_offset_delete(group_id)

    async def subscribed_among(self, group_id: str, topics: Sequence[str]) -> frozenset[str]:
        """Those of `topics` that the group is subscribed to, so that their offsets must stay (GW-13). All of `topics`
        if this instance cannot know.
        """
        host = self._host(group_id)
        if await host.may_answer():
            return frozenset(topics)
        return host.shard.subscribed_among(group_id, list(topics))

    async def facts(self, group_ids: Sequence[str]) -> dict[str, GroupFacts]:
        """What this instance knows of these groups."""
        return {group_id: await self._facts(group_id) for group_id in group_ids}

    async def _facts(self, group_id: str) -> GroupFacts:
        host = self._host(group_id)
        if await host.may_answer():
            return attrs.evolve(host.facts(group_id), loaded=False)
        return host.facts(group_id)

    def known_facts(self, group_id: str) -> GroupFacts:
        """The same from memory, without a proof that this instance still has the group."""
        return self._host(group_id).facts(group_id)

    def pause_session(self, group_id: str, member_id: str, until_ms: int) -> None:
        """Pause the member's session until `until_ms` at most (GW-10)."""
        self._host(group_id).shard.pause_session(group_id, member_id, until_ms)

    def resume_session(self, group_id: str, member_id: str) -> None:
        """Start the member's session afresh (GW-10)."""
        self._host(group_id).shard.resume_session(group_id, member_id, monotonic_ms())

    def _host(self, group_id: str) -> ShardHost:
        return self._hosts[self.partition_of(group_id)]

    def _ask_all(self, request: ListGroupsRequest, deliver: Deliver) -> None:
        hosts = [host for host in self._hosts if host.state is not ShardPhase.ELSEWHERE]
        GroupList(self.turns, hosts, request, deliver).start()
