"""How does one pure shard meet the log, the clock and the clients that wait?

Rules:
1. A reply leaves only when everything that it could have seen is committed: all that the shard had appended when the
   reply was made, also when the request wrote nothing itself (design section 1, connect-groups rule 24).
2. If an append fails, the shard is dropped: every waiting client gets a retriable error, none a success, and the shard
   is loaded again from the log. Hot answers stop with the drop, because it moves every group's version.
3. A step that breaks off by a fault of kcoord's own does the same, and only its own request gets an error that is not
   retriable.
4. While the log cannot write (a full disk), what would write is refused with COORDINATOR_NOT_AVAILABLE before it
   touches the state, and time stands still for the shard: heartbeats and questions go on, and no session ends.
5. After a standstill of the process, what waits in its sockets is read before any session ends.
6. A record that cannot be decoded stops the load with an error that names it; it is never skipped, and the partition
   is not served.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from collections.abc import Awaitable, Callable
from enum import Enum
from functools import partial

import attrs

from kcoord.group.generic.states import State
from kcoord.group.group_configs import ConfigRefused, GroupConfigs, alter_answer
from kcoord.group.refuse import refuse
from kcoord.group.settings import GroupSettings
from kcoord.group.shard import Shard
from kcoord.group.step import Remember, Reply, RequestContext, Step
from kcoord.log.interface import AppendFailed, Log, LogCorrupt
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.messages import (
    ConnectGroupInstallAssignmentRequest,
    DeleteGroupsRequest,
    DescribeConfigsRequest,
    HeartbeatRequest,
    IncrementalAlterConfigsRequest,
    JoinGroupRequest,
    LeaveGroupRequest,
    OffsetCommitRequest,
    OffsetDeleteRequest,
    Request,
    Response,
    SyncGroupRequest,
)
from kcoord.protocol.primitives import DecodeError
from kcoord.protocol.records import (
    ConnectWorkerGroupMetadataValue,
    GroupMetadataValue,
    Record,
    decode_record,
    encode_record,
)

log = logging.getLogger("kcoord.coordinator")

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
UNWRITABLE_PAUSE_MS = 500
"""How often a shard whose time stands still looks whether its log can write again."""


def monotonic_ms() -> int:
    """The clock that timers and sessions run on, in ms."""
    return time.monotonic_ns() // 1_000_000


def wall_ms() -> int:
    """The time of day for records, in ms since 1970."""
    return time.time_ns() // 1_000_000


class ShardState(Enum):
    """What a shard can answer: nothing yet, everything, or nothing until somebody mends its log."""

    LOADING = "loading"
    ACTIVE = "active"
    BROKEN = "broken"


REFUSALS = {
    ShardState.LOADING: ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    ShardState.BROKEN: ErrorCode.COORDINATOR_NOT_AVAILABLE,
}


@attrs.define(slots=True, eq=False)
class Waiting:
    """A request that somebody waits for: the token that the shard hands back with its reply."""

    request: Request
    deliver: Callable[[Response, Remember | None], None]

    def refuse(self, error: ErrorCode) -> None:
        """Answer with nothing but `error`."""
        self.deliver(refuse(self.request, error), None)


@attrs.define(slots=True, eq=False)
class Pending:
    """One append on its way to the disk, and what waits for it."""

    future: asyncio.Future[None]
    release: list[Callable[[], None]] = attrs.Factory(list)
    waiting: list[Waiting] = attrs.Factory(list)


def tell_of_rebalance(record: Record) -> None:
    """One line for each new generation or group epoch: why did this group rebalance?"""
    group = record.value
    if isinstance(group, ConnectWorkerGroupMetadataValue):
        group_id = getattr(record.key, "group_id", "")
        log.info("connect group %s: epoch %d: %s", group_id, group.epoch, group.reason)
    elif isinstance(group, GroupMetadataValue) and group.state == State.COMPLETING.label:
        log.info(
            "group %s: generation %d of %d members (%s, %s): %s",
            getattr(record.key, "group", ""),
            group.generation,
            len(group.members),
            group.protocol_type,
            group.protocol,
            group.reason,
        )


class ShardHost:
    """One partition: its shard, its appends on their way, and its timer."""

    def __init__(
        self, partition: int, store: Log, settings: GroupSettings, ids: Callable[[], str], configs: GroupConfigs
    ) -> None:
        self.partition = partition
        self.state = ShardState.LOADING
        self.shard = Shard(settings, ids)
        self._log = store
        self._settings = settings
        self._ids = ids
        self._configs = configs
        self._pending: deque[Pending] = deque()
        self._timer: asyncio.TimerHandle | None = None
        self._timer_at_ms: int | None = None
        self._loading: asyncio.Task[None] | None = None

    # -- loading ------------------------------------------------------------------------------------------------------

    async def load(self) -> None:
        """Replay the partition's log into a fresh shard, then serve. Errors are logged and leave the partition
        unserved.
        """
        shard = Shard(self._settings, self._ids, elder=self.shard)
        try:
            async for chunk in self._log.load(self.partition):
                for at, key, value in chunk:  # noqa: B007 (named when one cannot be read)
                    shard.replay(decode_record(key, value))
                await asyncio.sleep(0)
        except DecodeError as error:
            self.state = ShardState.BROKEN
            log.error(
                "partition %d is not served: its record %d (key %s) cannot be read: %s. Start the kcoord that "
                "wrote it, or restore the data directory from a backup.",
                self.partition,
                at,
                key.hex(),
                error,
            )
            return
        except LogCorrupt as error:
            self.state = ShardState.BROKEN
            log.error("partition %d is not served: %s", self.partition, error)
            return
        self.shard = shard
        self.state = ShardState.ACTIVE
        self._step(partial(shard.loaded, monotonic_ms(), wall_ms()), "a load")

    def _fault(self, fault: Exception, during: str) -> None:
        """A step that broke off may have left the state half changed: only what is in the log can be trusted."""
        log.error(
            "partition %d: a fault of kcoord's own in %s, its groups are loaded again",
            self.partition,
            during,
            exc_info=fault,
        )
        settled = self.settled()
        self._drop()
        self._loading = asyncio.ensure_future(self._load_after(settled))

    async def _load_after(self, settled: Awaitable[object]) -> None:
        await settled
        await self.load()

    def _drop(self) -> None:
        """Forget all that is not committed; nobody who waited is told of a success."""
        self.state = ShardState.LOADING
        self._stop_timer()
        waiting = [each for pending in self._pending for each in pending.waiting]
        self._pending.clear()
        waiting += [token for token in self.shard.drop() if isinstance(token, Waiting)]
        for each in waiting:
            each.refuse(ErrorCode.NOT_COORDINATOR)

    def stop(self) -> None:
        """Stop the timer; nothing is answered any more."""
        self._stop_timer()
        self.state = ShardState.LOADING
        self.shard.drop()

    def settled(self) -> Awaitable[object]:
        """Comes true when all that was appended until this call is committed or has failed."""
        return asyncio.gather(*(pending.future for pending in self._pending), return_exceptions=True)

    # -- requests -----------------------------------------------------------------------------------------------------

    def submit(self, request: Request, context: RequestContext, waiting: Waiting) -> None:
        """Let the shard take one step; `waiting.deliver` is called when its reply may leave, perhaps at once."""
        if self.state is not ShardState.ACTIVE:
            # Apache Kafka answers heartbeats of a group that is still loading with NONE: an error would be fatal to
            # Java's client.
            beat = isinstance(request, HeartbeatRequest) and self.state is ShardState.LOADING
            waiting.refuse(ErrorCode.NONE if beat else REFUSALS[self.state])
        elif not self._log.writable and (isinstance(request, WRITES) or self.shard.may_write(request)):
            waiting.refuse(ErrorCode.COORDINATOR_NOT_AVAILABLE)
        elif isinstance(request, DescribeConfigsRequest):
            described = self._configs.described(request, self.shard.config(request.resources[0].resource_name))
            self.when_committed(partial(waiting.deliver, described, None), waiting)
        elif isinstance(request, IncrementalAlterConfigsRequest):
            self._alter_config(request, context, waiting)
        else:
            handle = partial(self.shard.handle, request, context, waiting, monotonic_ms())
            if not self._step(handle, type(request).__name__):
                waiting.refuse(ErrorCode.UNKNOWN_SERVER_ERROR)

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
        if altered != own and not request.validate_only:
            alter = partial(self.shard.alter_config, group_id, altered, monotonic_ms(), context.wall_ms)
            if not self._step(alter, type(request).__name__):
                waiting.refuse(ErrorCode.UNKNOWN_SERVER_ERROR)
                return
        self.when_committed(partial(waiting.deliver, alter_answer(resource, refused), None), waiting)

    def let_go(self, connection: int) -> None:
        """Answer the heartbeats that are held back for a connection: something waits behind them, or the client has
        gone (connect-groups rule 26).
        """
        if self.state is ShardState.ACTIVE:
            self._step(partial(self.shard.let_go, connection, monotonic_ms(), wall_ms()), "let_go")

    def when_committed(self, release: Callable[[], None], waiting: Waiting) -> None:
        """Call `release` once all that the shard has appended until now is committed; `waiting` is refused if that
        fails.
        """
        if not self._pending:
            release()
            return
        self._pending[-1].release.append(release)
        self._pending[-1].waiting.append(waiting)

    def _step(self, take: Callable[[], Step], during: str) -> bool:
        """Let the shard take one step: append what it writes, release what may leave. False when it broke off."""
        try:
            step = take()
            batch = [encode_record(record) for record in step.records]
        except Exception as fault:
            self._fault(fault, during)
            return False
        if batch:
            pending = Pending(self._log.append(self.partition, batch))
            self._pending.append(pending)
            pending.future.add_done_callback(partial(self._appended, pending))
            for record in step.records:
                tell_of_rebalance(record)
        for reply in step.replies:
            self._reply(reply)
        self._set_timer()
        return True

    def _reply(self, reply: Reply) -> None:
        waiting = reply.token
        if isinstance(waiting, Waiting):
            self.when_committed(partial(waiting.deliver, reply.response, reply.remember), waiting)

    def _appended(self, pending: Pending, future: asyncio.Future[None]) -> None:
        if not self._pending or self._pending[0] is not pending:
            return  # dropped before
        error = None if future.cancelled() else future.exception()
        if error is not None or future.cancelled():
            log.error("partition %d: an append failed, its groups are loaded again: %s", self.partition, error)
            self._drop()
            if isinstance(error, AppendFailed):
                self._loading = asyncio.ensure_future(self.load())
            return
        self._pending.popleft()
        for release in pending.release:
            release()

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
            self._look_again_in(CATCH_UP_MS)
        elif self._log.writable:
            self._step(partial(self.shard.advance, monotonic_ms(), wall_ms()), "a timer")
        else:
            self._step(partial(self.shard.give_held, monotonic_ms(), wall_ms()), "a timer")
            self._look_again_in(UNWRITABLE_PAUSE_MS)

    def _look_again_in(self, pause_ms: int) -> None:
        self._stop_timer()  # a step has set one perhaps, for what is overdue and must wait
        self._timer_at_ms = monotonic_ms() + pause_ms
        self._timer = asyncio.get_running_loop().call_later(pause_ms / 1000, self._on_time)
