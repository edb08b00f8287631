"""When may a shard's answer leave?

1. When everything that it could have seen is committed: all that the shard had appended when the answer was made, also
   when the request wrote nothing itself (CG-24).
2. And only while the partition's lease runs (CG-27). With nothing to commit and the lease over, a tick is committed
   first: its success proves that nobody has taken the partition over.
3. Who has waited for that longer than the log's patience is told to look for the coordinator anew. The commit goes on,
   and its outcome counts.
4. When a commit fails, nobody who waits for it, or for a later one, is told of a success.
5. What goes wrong where one answer leaves (the client's next request is begun there) keeps no other one back.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from typing import Protocol

import attrs

from kcoord.group.refuse import refuse
from kcoord.group.step import Remember
from kcoord.log.interface import NEVER_MS, Log, RawRecord
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.messages import Request, Response
from kcoord.server.clock import monotonic_ms

log = logging.getLogger("kcoord.coordinator")

SLACK = 0.4
"""The part of a lease that is left when an idle shard begins to prolong it."""


@attrs.define(slots=True, eq=False)
class Waiting:
    """A request that somebody waits for: the token that the shard hands back with its reply."""

    request: Request
    deliver: Callable[[Response, Remember | None], None]

    def refuse(self, error: ErrorCode) -> None:
        """Answer with nothing but `error`."""
        self.deliver(refuse(self.request, error), None)


class Refusable(Protocol):
    """Somebody who waits for an answer."""

    def refuse(self, error: ErrorCode) -> None: ...


@attrs.define(slots=True, eq=False)
class Asking:
    """Somebody who waits to be told whether an answer may be given."""

    told: asyncio.Future[ErrorCode]

    def refuse(self, error: ErrorCode) -> None:
        """Tell `error`; NONE: it may."""
        if not self.told.done():
            self.told.set_result(error)


Leaving = tuple[Callable[[], None], Refusable]


@attrs.define(slots=True, eq=False)
class Pending:
    """One commit on its way, and what waits for it."""

    future: asyncio.Future[None]
    began_ms: int
    """0 where the lease never ends, and nobody asks."""
    done: bool = False
    leaving: list[Leaving] = attrs.Factory(list)


class Owner(Protocol):
    """Whose outbox it is."""

    def committed(self) -> None:
        """A commit has succeeded."""

    def failed(self, error: BaseException | None) -> None:
        """A commit has failed, and all behind it will. `error` is None where it was given up (the process ends)."""


class Outbox:
    """The commits of one partition that are on their way, and the answers that wait for them."""

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
        """Whether no commit is on its way."""
        return not self._pending

    def lease_runs(self) -> bool:
        """Whether answers may be given now."""
        until_ms = self.lease.until_ms
        return until_ms == NEVER_MS or monotonic_ms() <= until_ms

    def is_stalled(self) -> bool:
        """Whether the lease is over and a commit does not come back that would prolong it: who asks now would wait in
        vain.
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
        """See to it that a commit is on its way."""
        if not self._pending:
            self._await(self._log.tick(self._partition))

    def _await(self, future: asyncio.Future[None]) -> None:
        pending = Pending(future, 0 if self.lease.until_ms == NEVER_MS else monotonic_ms())
        self._pending.append(pending)
        future.add_done_callback(partial(self._done, pending))

    def _done(self, pending: Pending, future: asyncio.Future[None]) -> None:
        error = None if future.cancelled() else future.exception()
        if pending not in self._pending:
            return  # dropped before
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
        """Call `release` as soon as the answer that it gives may leave; `waiting` is refused if it never may."""
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
        """Refuse everybody who waits, if they wait in vain."""
        if self.is_stalled():
            self._refuse([each for pending in self._pending for each in pending.leaving])
            for pending in self._pending:
                pending.leaving.clear()

    def drop(self) -> None:
        """Forget what is on its way: nobody who waits for it is told of a success."""
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
        """NONE once an answer made now may leave; NOT_COORDINATOR if it never may."""
        asking = Asking(asyncio.get_running_loop().create_future())
        self.send(partial(asking.refuse, ErrorCode.NONE), asking)
        return await asking.told

    def on_their_way(self) -> list[asyncio.Future[None]]:
        """The commits that are on their way now."""
        return [pending.future for pending in self._pending]
