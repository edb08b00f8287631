"""The appender of a partition in the topic: waiting changes become transactions, and a failure ends the partition.

A partition has one transaction under way at a time. Everything that is appended meanwhile goes into the next one, in
order and in whole batches. Rules:

1. The next transaction should begin when the markers of the previous one are written. If it begins too early, the
   coordinator refuses it for the moment, and the retry costs a round trip. The appender learns from that how long
   markers take: the gap grows when a transaction was too early, and shrinks slowly while none is. After a transaction
   of many steps the gap is longer, because a transaction costs the same for one step as for thirty, both here and at
   the broker.
2. A successful commit prolongs the lease, counted from the commit's beginning: it proves that nobody had taken the
   partition by then. A tick is a transaction without records; if changes wait, their transaction serves as the tick.
3. If a commit fails, or its outcome is not known, everything that waits fails too, the lease is over, and the partition
   takes nothing until it has been gained again.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from itertools import chain

import attrs

from kcoord.log.clock import lease_now_ms
from kcoord.log.interface import AppendFailed, Lease, LogUnusable, PartitionLost, RawRecord
from kcoord.log.kafka.batches import TooLarge
from kcoord.log.kafka.broker_errors import Refused
from kcoord.log.kafka.producer import Fenced, Producer, Unsure

_log = logging.getLogger(__name__)

_TRANSACTION_BYTES = 16 << 20
"""The most bytes in one transaction; but it always takes the records of at least one step."""
_CROWD_S, _CROWD_MOST_S = 0.001, 0.03
"""The gap after a transaction of several steps: this long for each step after the first, and this long at most."""
_GAP_MOST_S = 0.02
_GAP_GROWS_S = 0.0005
_GAP_SHRINKS_S = 0.00005


@attrs.frozen(eq=False)
class _Waiting:
    records: Sequence[RawRecord]
    size: int
    done: asyncio.Future[None]


@attrs.define(eq=False)
class Appender:
    """The appends to one partition."""

    producer: Producer
    lease_ms: int
    append_timeout_s: float
    gain_timeout_s: float

    lease: Lease = attrs.field(factory=lambda: Lease(0), init=False)
    commits: int = attrs.field(default=0, init=False)
    """The number of committed transactions."""
    _refusal: AppendFailed | None = attrs.field(default=None, init=False)
    """Why appends are refused; None if they are taken."""
    _waiting: list[_Waiting] = attrs.field(factory=list, init=False)
    _task: asyncio.Task[None] | None = attrs.field(default=None, init=False)
    _gap_s: float = attrs.field(default=0.001, init=False)
    _next_at: float = attrs.field(default=0.0, init=False)

    def __attrs_post_init__(self) -> None:
        self._refusal = AppendFailed(f"{self.name} is not loaded")

    @property
    def name(self) -> str:
        return f"partition {self.producer.partition} of topic {self.producer.topic}"

    def append(self, records: Sequence[RawRecord]) -> asyncio.Future[None]:
        """See Log.append; without records, Log.tick."""
        loop = asyncio.get_running_loop()
        done: asyncio.Future[None] = loop.create_future()
        if self._refusal is not None:
            done.set_exception(type(self._refusal)(*self._refusal.args))
            return done
        size = sum(len(key) + len(value or b"") for key, value in records)
        self._waiting.append(_Waiting(records, size, done))
        if self._task is None:
            self._task = loop.create_task(self._run(), name=f"append to {self.producer.transactional_id}")
        return done

    async def gain(self) -> int:
        """Take the partition over. Returns when that began, on the lease's clock. Raises LogUnusable."""
        await self.settled()
        self._end(AppendFailed(f"{self.name} is being loaded"))
        began_ms = lease_now_ms()
        try:
            async with asyncio.timeout(self.gain_timeout_s):
                await self.producer.gain()
        except (TimeoutError, Refused, Fenced) as error:
            why = str(error) or f"not within {self.gain_timeout_s:g} s: {self.producer.trouble or 'no answer'}"
            raise LogUnusable(f"{self.name} cannot be taken over: {why}") from None
        return began_ms

    async def begin(self, began_ms: int) -> None:
        """Start to take appends. The lease runs from `began_ms`; if half of it is over already, a tick prolongs it.
        Raises AppendFailed.
        """
        self._refusal = None
        self.lease.until_ms = began_ms + self.lease_ms
        if lease_now_ms() > began_ms + self.lease_ms // 2:
            await self.append(())

    async def settled(self) -> None:
        """Wait until everything that was appended is committed or has failed."""
        while self._task is not None:
            await asyncio.wait([self._task])

    async def release(self) -> None:
        """See Log.release."""
        self.lease.until_ms = 0
        if self._refusal is None:
            self._refusal = AppendFailed(f"{self.name} was let go")
        await self.settled()

    # Inside

    async def _run(self) -> None:
        try:
            while self._waiting:
                pause_s = self._next_at - asyncio.get_running_loop().time()
                if pause_s > 0:
                    await asyncio.sleep(pause_s)
                group = self._group()
                try:
                    failure = await self._commit([each.records for each in group])
                except BaseException:  # this task was cancelled: the loop is ending
                    self._fail(AppendFailed(f"writing to {self.name} was broken off"), group)
                    raise
                if failure is not None:
                    self._fail(failure, group)
                    return
                for each in group:
                    if not each.done.done():
                        each.done.set_result(None)
        finally:
            self._task = None

    def _group(self) -> list[_Waiting]:
        """Everything that waits, or as much of it as one transaction takes."""
        size = count = 0
        for each in self._waiting:
            size += each.size
            if count and size > _TRANSACTION_BYTES:
                break
            count += 1
        group, self._waiting = self._waiting[:count], self._waiting[count:]
        return group

    async def _commit(self, batches: Sequence[Sequence[RawRecord]]) -> AppendFailed | None:
        """Commit `batches` in one transaction. Returns what went wrong; None if nothing did."""
        began_ms = lease_now_ms()
        waits = self.producer.waits
        try:
            async with asyncio.timeout(self.append_timeout_s):
                await self.producer.commit(list(chain.from_iterable(batches)))
        except Fenced as error:
            return PartitionLost(f"{self.name} was taken over by another instance ({error})")
        except Unsure as error:
            return AppendFailed(f"{self.name} must be loaded again: {error}")
        except TimeoutError:
            why = self.producer.trouble or "no answer"
            return AppendFailed(f"{self.name} took nothing within {self.append_timeout_s:g} s: {why}")
        except Refused as error:
            return AppendFailed(f"{self.name} refuses: {error}")
        except TooLarge as error:
            return AppendFailed(f"{self.name}: {error}; raise the topic's max.message.bytes")
        except Exception as error:
            _log.exception("a fault of kcoord's own in writing to %s", self.name)
            return AppendFailed(f"writing to {self.name} failed: {error}")
        self.commits += 1
        self._learn(len(batches), too_early=self.producer.waits > waits)
        if self._refusal is None:
            self.lease.until_ms = began_ms + self.lease_ms
        return None

    def _learn(self, steps: int, *, too_early: bool) -> None:
        gap_s = self._gap_s + _GAP_GROWS_S if too_early else self._gap_s - _GAP_SHRINKS_S
        self._gap_s = min(max(gap_s, 0.0), _GAP_MOST_S)
        crowd_s = min((steps - 1) * _CROWD_S, _CROWD_MOST_S)
        self._next_at = asyncio.get_running_loop().time() + max(self._gap_s, crowd_s)

    def _fail(self, failure: AppendFailed, group: list[_Waiting]) -> None:
        """Fail `group` with `failure`, and everything that waits after it."""
        group = group + self._waiting
        self._waiting = []
        self._end(AppendFailed(f"an earlier append to {self.name} failed; it must be loaded again first"))
        for each in group:
            if not each.done.done():
                each.done.set_exception(type(failure)(*failure.args))

    def _end(self, refusal: AppendFailed) -> None:
        self._refusal = refusal
        self.lease.until_ms = 0
