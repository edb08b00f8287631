"""The shell around one pure shard: its log, its clock, and the clients that wait for answers.

Rules:

1. Answers leave through the outbox: when everything that they could have seen is committed, and while the lease runs
   (`outbox`).
2. If an append fails, the host drops the shard: every waiting client gets a retriable error, none gets a success. If
   the partition still belongs to this instance, the host loads it again. The hot path stops answering with the drop,
   because the drop changes every group's version. Sessions that were paused are paused after the load, too (GW-10).
3. If a part of a step fails by a fault in kcoord, the shard undoes that part. The fault costs one request, or one group
   at most (`kcoord/group/isolation.py`). Only if the shard itself fails, it is dropped as in rule 2, and the request
   that failed gets an error that is not retriable.
4. While the log cannot write (a full disk), requests that would write are refused with COORDINATOR_NOT_AVAILABLE before
   they touch the state. Time stands still for the shard: it answers heartbeats and reads, and no session ends.
5. Time also stands still while the lease is over: a shard that cannot prove that it is the coordinator removes no
   member. When a commit succeeds again, all sessions start afresh.
6. The time in which the process was frozen or the machine slept does not count either. The host reads what waits in the
   sockets before any session ends, and a member that slept too has a full session to come back.
7. A partition that is given away is not served any more from that moment on. Requests that wait for its commits are
   answered when these commits end.
8. The shard writes only records that every living instance can read (`record_level`).
9. The shell tells the shard how long assignments of consumer groups took: the shard itself has no clock (KG-7).
10. While the partition is loaded, or its owner has died and the next one is not known, requests wait
    (`early_requests`). One request does not wait: a heartbeat during a load, if no other instance can have the log. It
    is answered at once.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from functools import partial

import attrs

from kcoord.group.api_handlers_and_rights import LEVELS_NEEDED
from kcoord.group.creation_rate import CreationRate
from kcoord.group.group_configs import ConfigRefused, GroupConfigs, alter_answer, forgets_configured
from kcoord.group.group_facts import UNKNOWN, GroupFacts
from kcoord.group.shard import Shard
from kcoord.group.state.settings import GroupSettings
from kcoord.group.state.step import Reply, RequestContext, Step
from kcoord.group.state.topic import Topic
from kcoord.log.interface import Log, LogCorrupt, LogError, LogOfNewerKcoord, PartitionLost
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.messages import (
    DescribeConfigsRequest,
    HeartbeatRequest,
    IncrementalAlterConfigsRequest,
    ListGroupsRequest,
    Request,
    SyncGroupRequest,
)
from kcoord.protocol.record_levels import RECORD_LEVEL, RELEASE_0_1_0
from kcoord.server.clock import cpu_ms, monotonic_ms, wall_ms
from kcoord.server.connections.early_requests import Guest, WaitingRoom
from kcoord.server.connections.outbox import Outbox, Waiting
from kcoord.server.connections.refusal_log import RefusalLog
from kcoord.server.shards.lease_keeper import LeaseKeeper
from kcoord.server.shards.shard_loading import read_shard
from kcoord.server.shards.shard_log_lines import sender, tell_of_step
from kcoord.server.shards.shard_phase import MOVES, REFUSALS, Event, ShardPhase
from kcoord.server.startup.settings_log_lines import tell_of_adjusted_settings, tell_of_former_names

log = logging.getLogger("kcoord.coordinator")

Confirm = Callable[[int], Awaitable[bool]]
"""Answers whether a partition still belongs to this instance."""

FROZEN_MS = 1000
"""A timer that is later than this, in ms, means that the process was frozen and heartbeats wait in its sockets."""
CATCH_UP_MS = 250
"""How long the host reads from the sockets, in ms, before the shard's time goes on."""
STANDSTILL_PAUSE_MS = 500
"""The interval, in ms, at which a shard whose time stands still checks whether its time may go on."""
AGAIN_S = 1.0
"""The pause before the next attempt at a log that cannot be reached."""


class ShardHost:
    """One partition: its shard, the way to its log, and its timer."""

    def __init__(
        self,
        partition: int,
        store: Log,
        settings: GroupSettings,
        ids: Callable[[], str],
        configs: GroupConfigs,
        confirm: Confirm,
        creations: CreationRate,
        refusals: RefusalLog,
        is_awaited: Callable[[int], bool] = lambda _partition: False,
    ) -> None:
        """`is_awaited`: whether a partition that is elsewhere is about to get another owner."""
        self.partition = partition
        self.state = ShardPhase.ELSEWHERE
        self.is_of_newer_kcoord = False
        """Whether the last load found a record that only a newer kcoord can read."""
        self.has_older_connections = False
        """Whether connections may exist that were made before this process started. Then nobody knows which of them is
        a member's newest one, as after a load from another instance (CG-4).
        """
        self._record_level = RECORD_LEVEL
        self.shard = Shard(settings, ids, fits=store.fits)
        self.outbox = Outbox(partition, store, self)
        self._keeper = LeaseKeeper(self.outbox, store.lease_ms, lambda: self.shard.has_any_members())
        self._log = store
        self._settings = settings
        self._ids = ids
        self._configs = configs
        self._confirm = confirm
        self._creations = creations
        self._refusals = refusals
        self._is_awaited = is_awaited
        self._topics: Mapping[str, Topic] | None = None
        self._resolutions: Mapping[str, frozenset[str]] = {}
        self._told: Mapping[str, frozenset[str]] | None = None
        """The resolutions that the shard was told."""
        self._paused: Mapping[tuple[str, str], int] = {}
        """The sessions that were paused when the partition had to be loaded again."""
        self._room = WaitingRoom(self._refuse_guest)
        self._timer: asyncio.TimerHandle | None = None
        self._timer_at_ms: int | None = None
        self._loading: asyncio.Task[None] | None = None
        self._losing = asyncio.Lock()

    @property
    def record_level(self) -> int:
        """The highest level of records that the shard may write (`kcoord.protocol.record_levels`)."""
        return self._record_level

    @record_level.setter
    def record_level(self, level: int) -> None:
        self._record_level = self.shard.record_level = level

    def _move(self, event: Event) -> None:
        self.state = MOVES[self.state, event]

    # -- gaining ------------------------------------------------------------------------------------------------------

    def expect(self) -> None:
        """Note that the partition will be loaded here: from now on requests wait, or clients are told to retry."""
        if (self.state, Event.GAINED) in MOVES:
            self._move(Event.GAINED)

    async def gain(self) -> None:
        """Load the partition and serve it. Returns when it is served or cannot be."""
        async with self._losing:
            self.expect()
            if self._loading is None and self.state is ShardPhase.LOADING:
                self._start(self._bring_up())
        if self._loading is not None:
            await asyncio.wait({self._loading})

    def _start(self, bring_up: Coroutine[None, None, None]) -> None:
        self._loading = asyncio.create_task(bring_up)
        self._loading.add_done_callback(self._started)

    def _started(self, task: asyncio.Task[None]) -> None:
        if self._loading is task:
            self._loading = None
        if not task.cancelled() and task.exception() is not None:
            log.error("partition %d: a fault of kcoord's own in a load", self.partition, exc_info=task.exception())

    async def _bring_up(self, settling: Sequence[asyncio.Future[None]] = ()) -> None:
        """Try to load until the partition is served, cannot be read, or no longer belongs to this instance."""
        if settling:
            await asyncio.wait(settling)
        while True:
            if self.state is ShardPhase.IN_DOUBT:
                try:
                    is_ours = await self._confirm(self.partition)
                except Exception:  # without a retry the partition stays in doubt forever
                    log.exception("partition %d: a fault while asking which instance has it", self.partition)
                    await asyncio.sleep(AGAIN_S)
                    continue
                if not is_ours:
                    log.warning("partition %d belongs to another instance now", self.partition)
                    self._move(Event.LOST)
                    await self._release()
                    return
                self._move(Event.CONFIRMED)
            try:
                self.is_of_newer_kcoord = False
                shard = Shard(self._settings, self._ids, predecessor=self.shard, fits=self._log.fits)
                await read_shard(self._log, self.partition, shard)
                shard.record_level = self.record_level
                predecessor_ms = self._log.lease_ms or int(self.has_older_connections)
                step = shard.loaded(monotonic_ms(), wall_ms(), predecessor_ms)
            except LogCorrupt as error:
                self.is_of_newer_kcoord = isinstance(error, LogOfNewerKcoord)
                self._move(Event.UNREADABLE)
                log.error("partition %d is not served: %s", self.partition, error)
                self._empty_room()
            except LogError as error:
                self._move(Event.FAILED)
                log.warning("partition %d cannot be loaded now, trying again: %s", self.partition, error)
                await asyncio.sleep(AGAIN_S)
                continue
            except Exception:
                self._move(Event.UNREADABLE)
                log.exception("partition %d is not served: a fault of kcoord's own while it was loaded", self.partition)
                self._empty_room()
            else:
                self.shard = shard
                tell_of_adjusted_settings(self.partition, shard)
                self._move(Event.LOADED)
                self._take(step)
                self._pause_again()
                self._tell_topics()
                self._empty_room()
            return

    # -- losing -------------------------------------------------------------------------------------------------------

    async def lose(self) -> None:
        """Stop serving the partition at once. Returns when another instance may have it."""
        if self.state is not ShardPhase.ELSEWHERE:
            self._move(Event.LOST)
            self._forget()
        loading = self._loading
        if loading is not None:
            loading.cancel()
        async with self._losing:
            if loading is not None:
                await asyncio.wait({loading})
            await self.settle()
            self.outbox.drop()
            await self._release()

    async def _release(self) -> None:
        try:
            await self._log.release(self.partition)
        except LogError as error:
            log.warning("partition %d could not be released in good order: %s", self.partition, error)

    async def settle(self) -> None:
        """Wait until everything appended so far is committed or has failed. With a log that has a lease, wait at most
        one lease: after that no client may be answered.
        """
        futures = self.outbox.on_their_way()
        if futures:
            await asyncio.wait(futures, timeout=self._log.lease_ms / 1000 or None)

    def _fail(self, settling: Sequence[asyncio.Future[None]] = (), *, again: bool = True) -> None:
        """Drop everything that is not committed. No waiting client gets a success."""
        self._move(Event.FAILED)
        if not self._log.lease_ms:  # no other instance can have it
            self._move(Event.CONFIRMED)
        self._paused = self.shard.paused_sessions(monotonic_ms())
        self._forget()
        self.outbox.drop()
        if again:
            self._start(self._bring_up(settling))

    def _pause_again(self) -> None:
        for (group_id, member_id), until_ms in self._paused.items():
            self.shard.pause_session(group_id, member_id, until_ms)
        self._paused = {}

    def _forget(self) -> None:
        self._stop_timer()
        self._keeper.stop()
        for token in self.shard.drop():
            if isinstance(token, Waiting):
                token.refuse(ErrorCode.NOT_COORDINATOR)
        self.settle_room()

    def stop(self) -> None:
        """Stop all timers. Nothing is answered any more."""
        self._stop_timer()
        self._keeper.stop()
        if self.state is not ShardPhase.ELSEWHERE:
            self._move(Event.LOST)
        if self._loading is not None:
            self._loading.cancel()
        self.shard.drop()
        self._empty_room()

    def committed(self) -> None:
        """See Owner: time goes on if it stood still."""
        stood_ms = self._keeper.take_standstill()
        if stood_ms and self.state is ShardPhase.ACTIVE:
            self.shard.go_on(stood_ms, monotonic_ms())

    def failed(self, error: BaseException | None) -> None:
        """See Owner: the state in memory may depend on records that are not in the log."""
        if self.state is not ShardPhase.ACTIVE:
            self.outbox.drop()
            return
        if isinstance(error, PartitionLost):
            log.warning("partition %d was taken over by another instance: %s", self.partition, error)
        else:
            log.error("partition %d: an append failed, its groups are loaded again: %s", self.partition, error)
        self._fail(again=isinstance(error, LogError))

    def _fault(self, fault: Exception, during: str) -> None:
        """A step that failed may have left the state half changed. Only what is in the log can be trusted."""
        log.error(
            "partition %d: a fault of kcoord's own in %s, its groups are loaded again",
            self.partition,
            during,
            exc_info=fault,
        )
        self._fail(self.outbox.on_their_way())

    # -- requests -----------------------------------------------------------------------------------------------------

    def refusal(self) -> ErrorCode:
        """The error for every request while the shard cannot answer; NONE while it can."""
        if self.state is not ShardPhase.ACTIVE:
            return REFUSALS[self.state]
        return ErrorCode.NOT_COORDINATOR if self.outbox.is_stalled() else ErrorCode.NONE

    async def may_answer(self) -> ErrorCode:
        """Wait until the present state of a group may be told to a client. Returns NONE then, or why it may not."""
        return self.refusal() or await self.outbox.may_answer() or self.refusal()

    def submit(self, request: Request, context: RequestContext, waiting: Waiting) -> None:
        """Let the shard handle `request`. `waiting.deliver` is called when the reply may leave, perhaps at once."""
        refusal = self.refusal()
        if refusal and self._may_wait(request):
            self._room.enter(request, context, waiting)
        elif refusal:
            self._refuse(request, waiting, refusal)
        elif not self._may_write(request):
            waiting.refuse(ErrorCode.COORDINATOR_NOT_AVAILABLE)
        elif self.shard.creates_group(request) and not self._creations.take(context.connection, monotonic_ms()):
            self._refusals.note(f"{sender(context)} creates groups faster than max.group.creation.rate", monotonic_ms())
            waiting.refuse(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
        elif isinstance(request, DescribeConfigsRequest):
            described = self._configs.described(request, self.shard.config(request.resources[0].resource_name))
            self._send(partial(waiting.deliver, described, None), waiting)
        elif isinstance(request, IncrementalAlterConfigsRequest):
            self._alter_config(request, context, waiting)
        else:
            handle = partial(self._handle, request, context, waiting)
            if self._step(handle, type(request).__name__) is None:
                waiting.refuse(ErrorCode.UNKNOWN_SERVER_ERROR)

    def _may_write(self, request: Request) -> bool:
        """Whether the records that a request may need can be written: the log can write, and every living instance
        can read them.
        """
        if not self._log.writable and self.shard.may_write(request):
            return False
        return self._record_level >= LEVELS_NEEDED.get(type(request), RELEASE_0_1_0)

    def _refuse(self, request: Request, waiting: Waiting, refusal: ErrorCode) -> None:
        loading = refusal == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
        waiting.refuse(self._while_loading(request) if loading else refusal)

    def _may_wait(self, request: Request) -> bool:
        """Rule 10 above."""
        if self.state is ShardPhase.LOADING:
            return not isinstance(request, HeartbeatRequest) or bool(self._log.lease_ms)
        return self.state is ShardPhase.ELSEWHERE and self._is_awaited(self.partition)

    def _refuse_guest(self, guest: Guest) -> None:
        self._refuse(guest.request, guest.waiting, self.refusal() or ErrorCode.NOT_COORDINATOR)

    def settle_room(self) -> None:
        """Empty the waiting room, unless the partition may soon be served here."""
        if self.state is not ShardPhase.LOADING and not (
            self.state is ShardPhase.ELSEWHERE and self._is_awaited(self.partition)
        ):
            self._empty_room()

    def _empty_room(self) -> None:
        """Carry out or refuse the requests that have waited."""
        for guest in self._room.empty():
            self.submit(guest.request, guest.context, guest.waiting)

    def list_groups(self, request: ListGroupsRequest, group_ids: Sequence[str], waiting: Waiting) -> None:
        """Answer a ListGroups request for those of `group_ids` that are in this shard."""
        refusal = self.refusal()
        if refusal:
            waiting.refuse(refusal)
        else:
            listed = self.shard.list_groups(request, group_ids)
            self._send(partial(waiting.deliver, listed, None), waiting)

    def _handle(self, request: Request, context: RequestContext, waiting: Waiting) -> Step:
        step = self.shard.handle(request, context, waiting, monotonic_ms())
        if step.excess is not None:
            self._refusals.note(f"{type(request).NAME} of {sender(context)} is refused: {step.excess}", monotonic_ms())
        return step

    def _while_loading(self, request: Request) -> ErrorCode:
        """The answer during a load: COORDINATOR_LOAD_IN_PROGRESS, except where that is fatal to Java's client.
        SyncGroup gets REBALANCE_IN_PROGRESS, so that the member joins again. A heartbeat gets NONE, as in Apache Kafka;
        if another instance may have the partition, NOT_COORDINATOR, because NONE would claim too much.
        """
        if isinstance(request, HeartbeatRequest):
            return ErrorCode.NOT_COORDINATOR if self._log.lease_ms else ErrorCode.NONE
        if isinstance(request, SyncGroupRequest):
            return ErrorCode.REBALANCE_IN_PROGRESS
        return ErrorCode.COORDINATOR_LOAD_IN_PROGRESS

    def _alter_config(self, request: IncrementalAlterConfigsRequest, context: RequestContext, waiting: Waiting) -> None:
        """Change the settings of the one group that `request` names, or only validate the change."""
        resource = request.resources[0]
        group_id = resource.resource_name
        own = self.shard.config(group_id)
        refused = None
        try:
            altered = self._configs.altered(resource, own)
        except ConfigRefused as refusal:
            refused, altered = refusal, dict(own)
        tell_of_former_names(group_id, [each.name for each in resource.configs])
        forgets = refused is None and forgets_configured(resource)
        if (altered != own or forgets) and not request.validate_only:
            alter = partial(self.shard.alter_config, group_id, altered, monotonic_ms(), context.wall_ms, forgets)
            step = self._step(alter, type(request).__name__)
            if step is None or step.failed:
                waiting.refuse(ErrorCode.UNKNOWN_SERVER_ERROR)
                return
        self._send(partial(waiting.deliver, alter_answer(resource, refused), None), waiting)

    def flush_held_reply(self, connection: int) -> None:
        """Answer the heartbeats that are held back on a connection, because another request waits behind them or the
        client has gone (CG-26).
        """
        if self.state is ShardPhase.ACTIVE:
            self._step(partial(self.shard.flush_held_reply, connection, monotonic_ms(), wall_ms()), "let_go")

    def closed(self, connection: int) -> None:
        """A client's connection has closed."""
        for guest in self._room.leave(connection):
            self._refuse_guest(guest)
        if self.state is ShardPhase.ACTIVE and self.shard.knows_connection(connection):
            self._step(partial(self.shard.closed, connection, monotonic_ms(), wall_ms()), "closed")

    def learn_topics(self, topics: Mapping[str, Topic], resolutions: Mapping[str, frozenset[str]]) -> None:
        """From now on these topics exist, by name, and these names match regular expressions; so it is after the next
        load, too.
        """
        self._topics, self._resolutions = topics, resolutions
        if self.state is not ShardPhase.ACTIVE:
            return
        if self._log.writable and self.outbox.lease_runs():
            self._tell_topics()
        else:
            self._look_again_in(STANDSTILL_PAUSE_MS)

    def _tell_topics(self) -> None:
        """Tell the shard which topics exist, if it does not know."""
        topics = self._topics
        if topics is None or (self.shard.state.topics is topics and self._told is self._resolutions):
            return
        self._told = self._resolutions
        learn = partial(self.shard.learn_topics, topics, monotonic_ms(), wall_ms(), self._resolutions)
        self._step(learn, "a change of topics")

    def facts(self, group_id: str) -> GroupFacts:
        """What this shard knows of the group."""
        if self.state is ShardPhase.ELSEWHERE:
            return UNKNOWN
        return self.shard.facts(group_id, loaded=self.state is ShardPhase.ACTIVE)

    def _step(self, take: Callable[[], Step], during: str) -> Step | None:
        """Let the shard take one step: append its records and release its replies. Returns None if the shard itself
        failed. A fault within the step has cost only its own request or group.
        """
        begun_ms = cpu_ms()
        try:
            step = take()
        except Exception as fault:
            self._fault(fault, during)
            return None
        if step.computed:
            self.shard.took(step, cpu_ms() - begun_ms)
        self._take(step)
        return step

    def _take(self, step: Step) -> None:
        if step.encoded:
            self.outbox.append(step.encoded)
        tell_of_step(self.partition, step)
        for token in step.refused:
            if isinstance(token, Waiting):
                token.refuse(ErrorCode.NOT_COORDINATOR)
        for reply in step.replies:
            self._reply(reply)
        self._set_timer()
        self._keeper.watch()

    def _send(self, release: Callable[[], None], waiting: Waiting) -> None:
        """Send an answer that no step produced. The lease keeper watches, so that the answer does not wait in vain for
        a commit that never ends.
        """
        self.outbox.send(release, waiting)
        self._keeper.watch()

    def _reply(self, reply: Reply) -> None:
        waiting = reply.token
        if isinstance(waiting, Waiting):
            cached = reply.cached
            if cached is not None and self._log.lease_ms:
                cached = attrs.evolve(cached, lease=self.outbox.lease)
            self.outbox.send(partial(waiting.deliver, reply.response, cached), waiting)

    # -- time ---------------------------------------------------------------------------------------------------------

    def _set_timer(self) -> None:
        deadline = self.shard.next_deadline()
        if deadline is None or (self._timer_at_ms is not None and self._timer_at_ms <= deadline):
            return
        self._stop_timer()
        self._timer_at_ms = deadline
        delay_s = max(0, deadline - monotonic_ms()) / 1000
        self._timer = asyncio.get_running_loop().call_later(delay_s, self._on_time)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._timer_at_ms = None

    def _on_time(self) -> None:
        late_ms = monotonic_ms() - (self._timer_at_ms or 0)
        self._timer = self._timer_at_ms = None
        if self.state is not ShardPhase.ACTIVE:
            return
        if late_ms > FROZEN_MS:
            self.shard.go_on(late_ms, monotonic_ms())
            self._look_again_in(CATCH_UP_MS)
        elif self._log.writable and self.outbox.lease_runs():
            self._tell_topics()
            self._step(partial(self.shard.advance, monotonic_ms(), wall_ms()), "a timer")
        else:
            if not self.outbox.lease_runs():
                self._keeper.note_lapse()
                self.outbox.prove()
            self._step(partial(self.shard.give_held, monotonic_ms(), wall_ms()), "a timer")
            self._look_again_in(STANDSTILL_PAUSE_MS)

    def _look_again_in(self, pause_ms: int) -> None:
        self._stop_timer()  # a step may have set one for something overdue, which must wait
        self._timer_at_ms = monotonic_ms() + pause_ms
        self._timer = asyncio.get_running_loop().call_later(pause_ms / 1000, self._on_time)
