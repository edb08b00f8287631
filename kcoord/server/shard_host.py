"""How does one pure shard meet the log, the clock and the clients that wait?

Rules:
1. Answers leave by the outbox: when all that they could have seen is committed, while the lease runs (`outbox`).
2. If an append fails, the shard is dropped: every waiting client gets a retriable error, none a success. Where the
   partition is this instance's still, it is loaded again. Hot answers stop with the drop, because it moves every
   group's version.
3. A part of a step that breaks off by a fault of kcoord's own is undone by the shard, and costs its request, or its
   group at most (`kcoord/group/isolation.py`). Only a shard that breaks off itself is dropped like that, and its own
   request gets an error that is not retriable.
4. While the log cannot write (a full disk), what would write is refused with COORDINATOR_NOT_AVAILABLE before it
   touches the state, and time stands still for the shard: heartbeats and questions go on, and no session ends.
5. While the lease is over time stands still too: a shard that cannot prove that it is the coordinator puts nobody out.
   When a commit succeeds again, all sessions begin afresh.
6. Neither does the time count in which the process stood still, or the machine slept: what waits in its sockets is read
   before any session ends, and who slept too has a session's time to come.
7. A partition that is given away is served no more from that moment; who waits for its commits is answered by them.
8. Only records that every living instance can read are written (`record_level`).
9. While the partition is loaded, or its owner has died and the next one is not known, requests wait (`waiting_room`).
   What is refused meanwhile, and carries no risk, is answered at once: a heartbeat where nobody else can have the log.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from functools import partial

import attrs

from kcoord.group.creation_rate import CreationRate
from kcoord.group.facts import UNKNOWN, GroupFacts
from kcoord.group.group_configs import ConfigRefused, GroupConfigs, alter_answer, forgets_configured
from kcoord.group.settings import GroupSettings
from kcoord.group.shard import Shard
from kcoord.group.step import Reply, RequestContext, Step
from kcoord.log.interface import Log, LogCorrupt, LogError, LogOfNewerKcoord, PartitionLost
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.messages import (
    ConnectGroupInstallAssignmentRequest,
    DeleteGroupsRequest,
    DescribeConfigsRequest,
    HeartbeatRequest,
    IncrementalAlterConfigsRequest,
    JoinGroupRequest,
    LeaveGroupRequest,
    ListGroupsRequest,
    OffsetCommitRequest,
    OffsetDeleteRequest,
    Request,
    SyncGroupRequest,
)
from kcoord.protocol.record_levels import RECORD_LEVEL
from kcoord.server.adjusted_settings import tell_of_adjusted_settings
from kcoord.server.clock import monotonic_ms, wall_ms
from kcoord.server.lease_keeper import LeaseKeeper
from kcoord.server.loading import read_shard
from kcoord.server.outbox import Outbox, Waiting
from kcoord.server.refusal_log import RefusalLog
from kcoord.server.shard_log import sender, tell_of_fault, tell_of_rebalance, tell_of_slowed
from kcoord.server.shard_state import MOVES, REFUSALS, Event, ShardState
from kcoord.server.waiting_room import Guest, WaitingRoom

log = logging.getLogger("kcoord.coordinator")

Confirm = Callable[[int], Awaitable[bool]]
"""Whether a partition is this instance's still."""

WRITES = (
    JoinGroupRequest,
    SyncGroupRequest,
    LeaveGroupRequest,
    DeleteGroupsRequest,
    OffsetCommitRequest,
    OffsetDeleteRequest,
    ConnectGroupInstallAssignmentRequest,
    IncrementalAlterConfigsRequest,
)
FROZEN_MS = 1000
"""A timer so much too late says that this process stood still, and that members' heartbeats wait in its sockets."""
CATCH_UP_MS = 250
"""How long what waits in the sockets is read before time goes on."""
STANDSTILL_PAUSE_MS = 500
"""How often a shard whose time stands still looks whether it may go on."""
AGAIN_S = 1.0
"""How long a log that cannot be reached is left alone."""


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
        """`is_awaited`: whether a partition that is elsewhere is about to have another owner."""
        self.partition = partition
        self.state = ShardState.ELSEWHERE
        self.is_of_newer_kcoord = False
        """Whether the last load found a record that only a newer kcoord can read."""
        self.has_older_connections = False
        """Whether there may be connections that were made before this process began: nobody knows then by which a
        member came last, as after another instance (CG-4).
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
        self._room = WaitingRoom(self._refuse_guest)
        self._timer: asyncio.TimerHandle | None = None
        self._timer_at_ms: int | None = None
        self._loading: asyncio.Task[None] | None = None
        self._losing = asyncio.Lock()

    @property
    def record_level(self) -> int:
        """The level of the records that may be written (`kcoord.protocol.record_levels`)."""
        return self._record_level

    @record_level.setter
    def record_level(self, level: int) -> None:
        self._record_level = self.shard.record_level = level

    def _move(self, event: Event) -> None:
        self.state = MOVES[self.state, event]

    # -- gaining ------------------------------------------------------------------------------------------------------

    def expect(self) -> None:
        """The partition will be loaded here: ask again, say the answers from now on."""
        if (self.state, Event.GAINED) in MOVES:
            self._move(Event.GAINED)

    async def gain(self) -> None:
        """Load the partition and serve it; comes back when that is done, or cannot be done."""
        async with self._losing:
            self.expect()
            if self._loading is None and self.state is ShardState.LOADING:
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
        """Load until the partition is served, or cannot be read, or is not this instance's any more."""
        if settling:
            await asyncio.wait(settling)
        while True:
            if self.state is ShardState.IN_DOUBT:
                try:
                    is_ours = await self._confirm(self.partition)
                except Exception:  # who ended here would be in doubt for ever
                    log.exception("partition %d: a fault while it was asked whose it is", self.partition)
                    await asyncio.sleep(AGAIN_S)
                    continue
                if not is_ours:
                    log.warning("partition %d is another instance's now", self.partition)
                    self._move(Event.LOST)
                    await self._release()
                    return
                self._move(Event.CONFIRMED)
            try:
                self.is_of_newer_kcoord = False
                shard = Shard(self._settings, self._ids, elder=self.shard, fits=self._log.fits)
                await read_shard(self._log, self.partition, shard)
                shard.record_level = self.record_level
                elder_ms = self._log.lease_ms or int(self.has_older_connections)
                step = shard.loaded(monotonic_ms(), wall_ms(), elder_ms)
            except LogCorrupt as error:
                self.is_of_newer_kcoord = isinstance(error, LogOfNewerKcoord)
                self._move(Event.UNREADABLE)
                log.error("partition %d is not served: %s", self.partition, error)
                self._empty_room()
            except LogError as error:
                self._move(Event.FAILED)
                log.warning("partition %d cannot be loaded now, it is tried again: %s", self.partition, error)
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
                self._empty_room()
            return

    # -- losing -------------------------------------------------------------------------------------------------------

    async def lose(self) -> None:
        """Serve the partition no more from now on; comes back when it is free for somebody else."""
        if self.state is not ShardState.ELSEWHERE:
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
            log.warning("partition %d was not let go in good order: %s", self.partition, error)

    async def settle(self) -> None:
        """Come back when what was appended until now is committed or has failed; for a log under a lease, when nobody
        may be answered any more at the latest.
        """
        futures = self.outbox.on_their_way()
        if futures:
            await asyncio.wait(futures, timeout=self._log.lease_ms / 1000 or None)

    def _fail(self, settling: Sequence[asyncio.Future[None]] = (), *, again: bool = True) -> None:
        """Forget all that is not committed; nobody who waited is told of a success."""
        self._move(Event.FAILED)
        if not self._log.lease_ms:  # nobody else can have it
            self._move(Event.CONFIRMED)
        self._forget()
        self.outbox.drop()
        if again:
            self._start(self._bring_up(settling))

    def _forget(self) -> None:
        self._stop_timer()
        self._keeper.stop()
        for token in self.shard.drop():
            if isinstance(token, Waiting):
                token.refuse(ErrorCode.NOT_COORDINATOR)
        self.settle_room()

    def stop(self) -> None:
        """Stop all timers; nothing is answered any more."""
        self._stop_timer()
        self._keeper.stop()
        if self.state is not ShardState.ELSEWHERE:
            self._move(Event.LOST)
        if self._loading is not None:
            self._loading.cancel()
        self.shard.drop()
        self._empty_room()

    def committed(self) -> None:
        """See Owner: time goes on if it stood still."""
        stood_ms = self._keeper.take_standstill()
        if stood_ms and self.state is ShardState.ACTIVE:
            self.shard.go_on(stood_ms, monotonic_ms())

    def failed(self, error: BaseException | None) -> None:
        """See Owner: what is in memory may rest on what is not in the log."""
        if self.state is not ShardState.ACTIVE:
            self.outbox.drop()
            return
        if isinstance(error, PartitionLost):
            log.warning("partition %d was taken over by another instance: %s", self.partition, error)
        else:
            log.error("partition %d: an append failed, its groups are loaded again: %s", self.partition, error)
        self._fail(again=isinstance(error, LogError))

    def _fault(self, fault: Exception, during: str) -> None:
        """A step that broke off may have left the state half changed: only what is in the log can be trusted."""
        log.error(
            "partition %d: a fault of kcoord's own in %s, its groups are loaded again",
            self.partition,
            during,
            exc_info=fault,
        )
        self._fail(self.outbox.on_their_way())

    # -- requests -----------------------------------------------------------------------------------------------------

    def refusal(self) -> ErrorCode:
        """What everything is answered while the shard cannot be asked; NONE while it can."""
        if self.state is not ShardState.ACTIVE:
            return REFUSALS[self.state]
        return ErrorCode.NOT_COORDINATOR if self.outbox.is_stalled() else ErrorCode.NONE

    async def may_answer(self) -> ErrorCode:
        """NONE once what is known now of a group may be told, else why not."""
        return self.refusal() or await self.outbox.may_answer() or self.refusal()

    def submit(self, request: Request, context: RequestContext, waiting: Waiting) -> None:
        """Let the shard take one step; `waiting.deliver` is called when its reply may leave, perhaps at once."""
        refusal = self.refusal()
        if refusal and self._may_wait(request):
            self._room.enter(request, context, waiting)
        elif refusal:
            self._refuse(request, waiting, refusal)
        elif not self._log.writable and (isinstance(request, WRITES) or self.shard.may_write(request)):
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

    def _refuse(self, request: Request, waiting: Waiting, refusal: ErrorCode) -> None:
        loading = refusal == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
        waiting.refuse(self._while_loading(request) if loading else refusal)

    def _may_wait(self, request: Request) -> bool:
        """Rule 9 above."""
        if self.state is ShardState.LOADING:
            return not isinstance(request, HeartbeatRequest) or bool(self._log.lease_ms)
        return self.state is ShardState.ELSEWHERE and self._is_awaited(self.partition)

    def _refuse_guest(self, guest: Guest) -> None:
        self._refuse(guest.request, guest.waiting, self.refusal() or ErrorCode.NOT_COORDINATOR)

    def settle_room(self) -> None:
        """Let go of who waits, where the partition is not about to be served here."""
        if self.state is not ShardState.LOADING and not (
            self.state is ShardState.ELSEWHERE and self._is_awaited(self.partition)
        ):
            self._empty_room()

    def _empty_room(self) -> None:
        """Carry out, or refuse, what has waited."""
        for guest in self._room.empty():
            self.submit(guest.request, guest.context, guest.waiting)

    def list_groups(self, request: ListGroupsRequest, group_ids: Sequence[str], waiting: Waiting) -> None:
        """Answer a ListGroups for those of `group_ids` that are here."""
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
        """COORDINATOR_LOAD_IN_PROGRESS, but where that would be fatal to Java's client: who syncs is told to join anew,
        and a heartbeat is answered with NONE, as Apache Kafka does, or where another instance may have the partition
        with NOT_COORDINATOR: NONE would claim too much.
        """
        if isinstance(request, HeartbeatRequest):
            return ErrorCode.NOT_COORDINATOR if self._log.lease_ms else ErrorCode.NONE
        if isinstance(request, SyncGroupRequest):
            return ErrorCode.REBALANCE_IN_PROGRESS
        return ErrorCode.COORDINATOR_LOAD_IN_PROGRESS

    def _alter_config(self, request: IncrementalAlterConfigsRequest, context: RequestContext, waiting: Waiting) -> None:
        """Change the settings of the one group that `request` names, or only see whether they could be."""
        resource = request.resources[0]
        group_id = resource.resource_name
        own = self.shard.config(group_id)
        refused = None
        try:
            altered = self._configs.altered(resource, own)
        except ConfigRefused as refusal:
            refused, altered = refusal, dict(own)
        forgets = refused is None and forgets_configured(resource)
        if (altered != own or forgets) and not request.validate_only:
            alter = partial(self.shard.alter_config, group_id, altered, monotonic_ms(), context.wall_ms, forgets)
            step = self._step(alter, type(request).__name__)
            if step is None or step.failed:
                waiting.refuse(ErrorCode.UNKNOWN_SERVER_ERROR)
                return
        self._send(partial(waiting.deliver, alter_answer(resource, refused), None), waiting)

    def let_go(self, connection: int) -> None:
        """Answer the heartbeats that are held back for a connection: something waits behind them, or the client has
        gone (CG-26).
        """
        if self.state is ShardState.ACTIVE:
            self._step(partial(self.shard.let_go, connection, monotonic_ms(), wall_ms()), "let_go")

    def closed(self, connection: int) -> None:
        """A client's connection is there no more."""
        for guest in self._room.leave(connection):
            self._refuse_guest(guest)
        if self.state is ShardState.ACTIVE and self.shard.knows_connection(connection):
            self._step(partial(self.shard.closed, connection, monotonic_ms(), wall_ms()), "closed")

    def facts(self, group_id: str) -> GroupFacts:
        """What is known of the group here."""
        if self.state is ShardState.ELSEWHERE:
            return UNKNOWN
        return GroupFacts(
            known=True,
            has_members=self.shard.has_members(group_id),
            generation=self.shard.generation(group_id),
            loaded=self.state is ShardState.ACTIVE,
            owner=self.shard.owner(group_id),
        )

    def _step(self, take: Callable[[], Step], during: str) -> Step | None:
        """Let the shard take one step: append what it writes, release what may leave. None when the shard itself broke
        off; a fault within the step has cost its own request or group only.
        """
        try:
            step = take()
        except Exception as fault:
            self._fault(fault, during)
            return None
        self._take(step)
        return step

    def _take(self, step: Step) -> None:
        if step.encoded:
            self.outbox.append(step.encoded)
            for record in step.records:
                tell_of_rebalance(record)
        for fault in step.faults:
            tell_of_fault(self.partition, fault)
        for token in step.refused:
            if isinstance(token, Waiting):
                token.refuse(ErrorCode.NOT_COORDINATOR)
        for slowed in step.slowed:
            tell_of_slowed(slowed)
        for reply in step.replies:
            self._reply(reply)
        self._set_timer()
        self._keeper.watch()

    def _send(self, release: Callable[[], None], waiting: Waiting) -> None:
        """Let an answer leave to which no step has led; it does not wait in vain for a commit that never comes."""
        self.outbox.send(release, waiting)
        self._keeper.watch()

    def _reply(self, reply: Reply) -> None:
        waiting = reply.token
        if isinstance(waiting, Waiting):
            remember = reply.remember
            if remember is not None and self._log.lease_ms:
                remember = attrs.evolve(remember, lease=self.outbox.lease)
            self.outbox.send(partial(waiting.deliver, reply.response, remember), waiting)

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
        if self.state is not ShardState.ACTIVE:
            return
        if late_ms > FROZEN_MS:
            self.shard.go_on(late_ms, monotonic_ms())
            self._look_again_in(CATCH_UP_MS)
        elif self._log.writable and self.outbox.lease_runs():
            self._step(partial(self.shard.advance, monotonic_ms(), wall_ms()), "a timer")
        else:
            if not self.outbox.lease_runs():
                self._keeper.note_lapse()
                self.outbox.prove()
            self._step(partial(self.shard.give_held, monotonic_ms(), wall_ms()), "a timer")
            self._look_again_in(STANDSTILL_PAUSE_MS)

    def _look_again_in(self, pause_ms: int) -> None:
        self._stop_timer()  # a step has set one perhaps, for what is overdue and must wait
        self._timer_at_ms = monotonic_ms() + pause_ms
        self._timer = asyncio.get_running_loop().call_later(pause_ms / 1000, self._on_time)
