"""The outbox of a partition: answers wait in it until what they could have seen is committed.

1. An answer leaves when everything that it could have seen is committed. That is everything that the shard had appended
   when it made the answer, even if the request itself wrote nothing (CG-24).
2. It leaves only while the partition's lease runs (CG-27). If the lease is over and nothing is being committed, the
   outbox commits a tick first: its success proves that no other instance has taken the partition over.
3. If the lease is over and a commit has been under way for too long (`is_stalled`), waiting clients get
   NOT_COORDINATOR, so that they look for the coordinator again. The commit goes on, and its outcome counts.
4. If a commit fails, no client that waits for it or for a later one gets a success.
5. An error while one answer leaves does not stop the others. (The client's next request begins there, so errors can
   happen.)
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from typing import Protocol

import attrs

from kcoord.group.error_responses import refuse
from kcoord.group.state.step import CachedReply
from kcoord.log.interface import NEVER_MS, Log, RawRecord
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.messages import Request, Response
from kcoord.server.clock import monotonic_ms

log = logging.getLogger("kcoord.coordinator")

SLACK = 0.4
"""The fraction of a lease that is left when an idle shard begins to prolong it."""


@attrs.define(slots=True, eq=False)
class Waiting:
    """A request whose client waits: the token that the shard returns with its reply."""

    request: Request
    deliver: Callable[[Response, CachedReply | None], None]

    def refuse(self, error: ErrorCode) -> None:
        """Answer with `error` alone."""
        self.deliver(refuse(self.request, error), None)


class Refusable(Protocol):
    """A caller that waits for an answer."""

    def refuse(self, error: ErrorCode) -> None: ...


@attrs.define(slots=True, eq=False)
class Asking:
    """A caller that waits to hear whether an answer may be given."""

    told: asyncio.Future[ErrorCode]

    def refuse(self, error: ErrorCode) -> None:
        """Tell the caller `error`; NONE means that an answer may be given."""
        if not self.told.done():
            self.told.set_result(error)


Leaving = tuple[Callable[[], None], Refusable]


@attrs.define(slots=True, eq=False)
class Pending:
    """One commit under way, and the answers that wait for it."""

    future: asyncio.Future[None]
    began_ms: int
    """When the commit began, on the monotonic clock. 0 if the lease never ends; the time is not used then."""
    done: bool = False
    leaving: list[Leaving] = attrs.Factory(list)


class Owner(Protocol):
    """The owner of an outbox: it is told how commits end."""

    def committed(self) -> None:
        """A commit has succeeded."""

    def failed(self, error: BaseException | None) -> None:
        """A commit has failed, and all later ones will fail. `error` is None if it was cancelled (the process ends)."""


class Outbox:
    """The commits of one partition that are under way, and the answers that wait for them."""

    def __init__(self, partition: int, store: Log, owner: Owner) -> None:
        self.lease = store.lease(partition)
        self.slack_ms = int(store.lease_ms * SLACK)
        self._partition = partition
        self._log = store
        self._owner = owner
        self._pending: deque[Pending] = deque()

    # -- questions ----------------------------------------------------------------------------------------------------

    @property
    def is_idle(self) -> bool:
        """Whether no commit is under way."""
        return not self._pending

    def lease_runs(self) -> bool:
        """Whether answers may be given now."""
        until_ms = self.lease.until_ms
        return until_ms == NEVER_MS or monotonic_ms() <= until_ms

    def is_stalled(self) -> bool:
        """Whether the lease is over and the commit that would prolong it does not return: a request that waits now
        would wait in vain.
        """
        if not self._pending or self.lease.until_ms == NEVER_MS:
            return False
        now_ms = monotonic_ms()
        return now_ms > self.lease.until_ms and now_ms - self._pending[0].began_ms > self.slack_ms

    # -- commits ------------------------------------------------------------------------------------------------------

    def append(self, batch: Sequence[RawRecord]) -> None:
        """Commit `batch`."""
        self._await(self._log.append(self._partition, batch))

    def prove(self) -> None:
        """Commit a tick if no commit is under way."""
        if not self._pending:
            self._await(self._log.tick(self._partition))

    def _await(self, future: asyncio.Future[None]) -> None:
        pending = Pending(future, 0 if self.lease.until_ms == NEVER_MS else monotonic_ms())
        self._pending.append(pending)
        future.add_done_callback(partial(self._done, pending))

    def _done(self, pending: Pending, future: asyncio.Future[None]) -> None:
        error = None if future.cancelled() else future.exception()
        if pending not in self._pending:
            return  # dropped already
        if error is not None or future.cancelled():
            self._owner.failed(error)
            return
        pending.done = True
        left: list[Leaving] = []
        while self._pending and self._pending[0].done:
            left += self._pending.popleft().leaving
        self._owner.committed()
        for release, waiting in left:
            self._let_leave(release, waiting)

    # -- answers ------------------------------------------------------------------------------------------------------

    def send(self, release: Callable[[], None], waiting: Refusable) -> None:
        """Call `release` as soon as its answer may leave. If it never may, refuse `waiting`."""
        if not self._pending:
            if self.lease_runs():
                self._let_leave(release, waiting)
                return
            self.prove()
        if self.is_stalled():
            waiting.refuse(ErrorCode.NOT_COORDINATOR)
        else:
            self._pending[-1].leaving.append((release, waiting))

    def _let_leave(self, release: Callable[[], None], waiting: Refusable) -> None:
        if not self.lease_runs():
            self._refuse([(release, waiting)])
            return
        try:
            release()
        except Exception:
            log.exception("partition %d: a fault of kcoord's own where an answer left", self._partition)

    def refuse_stalled(self) -> None:
        """If the outbox is stalled, refuse everything that waits."""
        if self.is_stalled():
            self._refuse([each for pending in self._pending for each in pending.leaving])
            for pending in self._pending:
                pending.leaving.clear()

    def drop(self) -> None:
        """Forget the commits that are under way. No client that waits for them gets a success."""
        left = [each for pending in self._pending for each in pending.leaving]
        self._pending.clear()
        self._refuse(left)

    def _refuse(self, left: list[Leaving]) -> None:
        for _, waiting in left:
            try:
                waiting.refuse(ErrorCode.NOT_COORDINATOR)
            except Exception:
                log.exception("partition %d: a fault of kcoord's own where a refusal left", self._partition)

    async def may_answer(self) -> ErrorCode:
        """Wait until an answer made now may leave. Returns NONE then, or NOT_COORDINATOR if it never may."""
        asking = Asking(asyncio.get_running_loop().create_future())
        self.send(partial(asking.refuse, ErrorCode.NONE), asking)
        return await asking.told

    def on_their_way(self) -> list[asyncio.Future[None]]:
        """The commits that are under way now."""
        return [pending.future for pending in self._pending]
