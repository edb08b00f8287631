"""`Consumer`, the async context manager by which a program reads its share of topics."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import secrets
import signal
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any, Literal, Self

from aiokafka import ConsumerRecord, TopicPartition
from aiokafka.errors import IllegalStateError, KafkaError

from kcoord.assign.consumer import ClientSideAssignor
from kcoord.client.security import Security
from kcoord.consumer.assignor_calls import AssignorCalls
from kcoord.consumer.callbacks import Callback, Callbacks
from kcoord.consumer.errors import CommitFailed, ConsumerError, ConsumerStopped, name_some, refusal, unreadable
from kcoord.consumer.membership import Membership
from kcoord.consumer.membership_driver import Driver
from kcoord.consumer.offsets import Offset, check_commit, check_offset
from kcoord.consumer.option_checks import (
    addresses_of,
    check_assignors,
    check_fetch_options,
    check_reading,
    check_subscription,
    check_times,
    security_of,
)
from kcoord.consumer.reading import Reading
from kcoord.consumer.setup import Setup
from kcoord.worker.coordinator_lookup import Finder
from kcoord.worker.stop_signals import STOP_SIGNALS, Watch

_log = logging.getLogger(__name__)

_BREATH_S = 0.05
"""After so long without a pause, a record that is there already is given only after the event loop has had a turn."""
_FETCH_S = 60.0
"""A fetch that brings nothing ends after this time, and is begun again."""


class Consumer:
    """One member of a consumer group of the new protocol (KIP-848, `group.protocol=consumer`), and what it reads.

    `async with Consumer(...) as consumer:` joins the group, and leaves in order at the end. `async for record in
    consumer:` gives the records of the partitions that the group's coordinator assigns. The guide is
    docs/python-consumer.md. Times are in seconds. Partitions are `aiokafka.TopicPartition`, records
    `aiokafka.ConsumerRecord`.

    - `bootstrap_servers`: brokers, or kcoord, as `"host:port,…"` or a sequence.
    - `topics`: what to read; or `pattern`, a regular expression in RE2's syntax that the coordinator resolves.
    - `instance_id`: makes it a static member, which keeps its share over a restart.
    - `rack`: where this consumer is. It reads from replicas there if the brokers allow it (KIP-392).
    - `server_assignor`: the name of an assignor that the coordinator has; or
    - `assignors`: assignors that run in this consumer if the coordinator chooses it, the preferred one first. The
      coordinator must be a kcoord with `group.consumer.client.assignors.enable=true`.
    - `on_assigned`, `on_revoked`, `on_lost`: functions or coroutine functions that get a frozenset of partitions. The
      first one may `seek`. When `on_revoked` returns, others get the partitions. `on_lost` is called when others may
      have them by now; without it, `on_revoked` is. What they raise, the next poll raises as ConsumerError, or the end
      of the block if there is no poll any more and no other exception.
    - `enable_auto_commit`, `auto_commit_interval`: whether and how often the consumer commits what was processed. It
      also does so before partitions are revoked, and at the end.
    - `auto_offset_reset`: where to begin where nothing was committed, or the offset does not exist any more. `"none"`:
      the next poll raises ConsumerError.
    - `isolation_level`: `"read_committed"` leaves out records of transactions that are open or were aborted.
    - `max_poll_interval`: how long the program may take from one poll to the next. After that the consumer leaves, and
      joins again when the program polls. A revocation waits as long.
    - `request_timeout`: after so long without an answer a connection is given up.
    - `commit_timeout`: how long `commit` and `committed` try.
    - `close_timeout`: how long commits and `on_revoked` may take at the end, before `on_lost` is called instead.
    - `security`: Kafka's client properties, as a dict.
    - `fetch_options`: further arguments of `aiokafka.AIOKafkaConsumer` that are about fetching, such as
      `fetch_max_wait_ms` or `max_partition_fetch_bytes`.
    - `handle_signals`: SIGTERM and SIGINT end the loop over the records at the next poll. Only in the main thread, and
      only if the program has installed no handler of its own; a second signal ends the process at once.
    """

    def __init__(
        self,
        bootstrap_servers: str | Sequence[str],
        group: str,
        *,
        topics: Sequence[str] | None = None,
        pattern: str | None = None,
        instance_id: str | None = None,
        rack: str | None = None,
        server_assignor: str | None = None,
        assignors: Sequence[ClientSideAssignor] = (),
        on_assigned: Callback | None = None,
        on_revoked: Callback | None = None,
        on_lost: Callback | None = None,
        enable_auto_commit: bool = True,
        auto_commit_interval: float = 5.0,
        auto_offset_reset: Literal["earliest", "latest", "none"] = "latest",
        isolation_level: Literal["read_uncommitted", "read_committed"] = "read_uncommitted",
        max_poll_interval: float = 300.0,
        request_timeout: float = 30.0,
        commit_timeout: float = 60.0,
        close_timeout: float = 30.0,
        security: Security | Mapping[str, str] | None = None,
        client_id: str = "kcoord-consumer",
        fetch_options: Mapping[str, Any] | None = None,
        handle_signals: bool = True,
    ) -> None:
        """Raises ConsumerError for options that contradict each other or cannot be used."""
        check_subscription(group, topics, pattern)
        check_reading(auto_offset_reset, isolation_level)
        check_assignors(assignors, server_assignor)
        check_times(
            auto_commit_interval=auto_commit_interval,
            max_poll_interval=max_poll_interval,
            request_timeout=request_timeout,
            commit_timeout=commit_timeout,
            close_timeout=close_timeout,
        )
        addresses, trust = addresses_of(bootstrap_servers), security_of(security)
        self._servers = [f"{host}:{port}" for host, port in addresses]
        self._finder = Finder(addresses, group, trust, client_id, timeout=5.0)
        self._setup = Setup(
            group_id=group,
            member_id=f"{client_id}-{uuid.uuid4().hex}",
            topics=tuple(topics or ()),
            pattern=pattern,
            instance_id=instance_id,
            rack_id=rack,
            server_assignor=server_assignor,
            client_assignors=tuple(each.name for each in assignors),
            max_poll_ms=_ms(max_poll_interval),
            request_timeout_ms=_ms(request_timeout),
        )
        self._client = {
            "bootstrap_servers": self._servers,
            "client_id": client_id,
            "request_timeout_ms": _ms(request_timeout),
            **trust.aiokafka(),
        }
        check_fetch_options(fetch_options or {}, self._client)
        self._options = {
            "auto_offset_reset": auto_offset_reset,
            "isolation_level": isolation_level,
            "client_rack": rack,
            **(fetch_options or {}),
        }
        self._assignors = tuple(assignors)
        self._callbacks = Callbacks(on_assigned, on_revoked, on_lost)
        self._commits_itself = enable_auto_commit
        self._commit_interval = auto_commit_interval
        self._commit_timeout = commit_timeout
        self._close_timeout = close_timeout
        self._handle_signals = handle_signals
        self._parts: tuple[Driver, Reading] | None = None
        self._is_polled = False
        self._commits_at = 0.0
        self._committing: asyncio.Task[None] | None = None
        self._paused_at = 0.0
        """When the event loop had its last turn, as far as this consumer knows."""
        self._signals: Watch | None = None
        self._stopped_by: signal.Signals | None = None
        self._has_told_signal = False
        self._was_closed = False

    # Life

    async def __aenter__(self) -> Self:
        """Reach the brokers, and begin to join. Raises ConsumerError if there are none."""
        assignors = AssignorCalls(self._assignors, self._setup)
        reading = Reading(self._client, self._options)
        try:
            await reading.start()
        except (KafkaError, OSError) as error:
            raise ConsumerError(
                f"no broker at {', '.join(self._servers)} can be reached: {error}. Check bootstrap_servers and security"
            ) from error
        member = Membership(self._setup, secrets.SystemRandom().random)
        driver = Driver(member, self._finder, reading, self._callbacks, self._commit_before_revocation, assignors)
        self._parts = driver, reading
        self._callbacks.failure = None
        self._stopped_by, self._has_told_signal, self._was_closed = None, False, False
        self._commits_at = asyncio.get_running_loop().time() + self._commit_interval
        driver.start()
        if self._handle_signals:
            self._signals = STOP_SIGNALS.watch(self._signalled)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._parts is not None and error is None:
            self._parts[1].note_processed()  # else what the program has in hand was not processed
        await self._close(permanent=False)
        if error is None:
            self._callbacks.raise_failure()

    async def close(self, *, permanent: bool = False) -> None:
        """Commit what was processed (if the consumer commits by itself), call `on_revoked`, and leave. The records that
        the program has in hand count as processed. A static member keeps its place until it returns, unless
        `permanent`. When the consumer has left, raises ConsumerError for what a callback has raised, if no poll has.
        """
        if self._parts is not None:
            self._parts[1].note_processed()
        await self._close(permanent=permanent)
        self._callbacks.raise_failure()

    async def _close(self, *, permanent: bool) -> None:
        if self._parts is None:
            return
        driver, reading = self._parts
        leaving = asyncio.create_task(self._leave(driver, permanent=permanent))
        try:
            await asyncio.shield(leaving)
        finally:
            leaving.cancel()
            self._parts, self._was_closed = None, True
            if self._committing is not None:
                self._committing.cancel()
            try:
                await driver.close()
                await reading.stop()
            finally:
                if self._signals is not None:
                    self._signals.close(was_awaited=self._has_told_signal)

    async def _leave(self, driver: Driver, *, permanent: bool) -> None:
        driver.leave(permanent=permanent)
        for timeout_s in (self._close_timeout, self._setup.leave_timeout_ms / 1000 + 1):
            done, _ = await asyncio.wait([driver.gone], timeout=timeout_s)
            if done:
                return
            driver.give_up("the consumer is closed and takes too long")

    # Records

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> ConsumerRecord:
        """The next record. The record before it counts as processed.

        Ends when a stop signal has come, or the consumer is closed. Raises ConsumerError if the consumer may not be a
        member, if it may not read a partition, if there is nowhere to begin (`auto_offset_reset="none"`), and for what
        a callback has raised.
        """
        try:
            driver, reading = self._running
            now = asyncio.get_running_loop().time()
            if not reading.has_records or driver.turns.news.is_set() or now - self._paused_at > _BREATH_S:
                await self._wait_for_records(None)
            else:
                reading.note_processed()
                driver.polled(waits=False)
                self._commit_if_due()
        except ConsumerStopped:
            raise StopAsyncIteration from None
        return reading.next()

    async def getmany(
        self, timeout: float = 0.0, *, max_records: int = 500
    ) -> dict[TopicPartition, list[ConsumerRecord]]:
        """Records by partition, `max_records` in all at most. All records before them count as processed.

        Waits for `timeout` seconds at most until there is a record. A callback that is due is waited for in any case.
        Raises ConsumerStopped when a stop signal has come or the consumer is closed, and ConsumerError as the loop over
        the records does.
        """
        _, reading = self._running
        found: dict[TopicPartition, list[ConsumerRecord]] = {}
        if await self._wait_for_records(timeout):
            for _ in range(max_records):
                if not reading.has_records:
                    break
                record = reading.next()
                found.setdefault(TopicPartition(record.topic, record.partition), []).append(record)
        return found

    async def _wait_for_records(self, timeout: float | None) -> bool:
        """Poll until there is a record. Returns whether there is one, or the time is over."""
        if self._is_polled:
            raise ConsumerError("another task waits for records of this consumer: read in one task, and share them out")
        driver, reading = self._running
        loop = asyncio.get_running_loop()
        until = None if timeout is None else loop.time() + timeout
        self._is_polled = True
        reading.note_processed()
        driver.turns.begin_poll()
        driver.polled(waits=True)
        try:
            await asyncio.sleep(0)
            while True:
                driver.turns.news.clear()
                await driver.turns.quiet()
                self._check(driver)
                self._commit_if_due()
                with self._explained():
                    await self._fetch(driver, reading, until)
                if reading.has_records and not driver.turns.has_callbacks:
                    return True
                if until is not None and loop.time() >= until and not driver.turns.has_callbacks:
                    return False
        finally:
            self._is_polled = False
            driver.turns.end_poll()
            driver.polled(waits=False)
            self._paused_at = loop.time()

    async def _fetch(self, driver: Driver, reading: Reading, until: float | None) -> None:
        """Wait for records until the time is over, or something happens that is more important."""
        if not reading.has_records:
            await reading.fill(0)
        loop = asyncio.get_running_loop()
        left_s = _FETCH_S if until is None else until - loop.time()
        if reading.has_records or left_s <= 0:
            return
        fetch = loop.create_task(reading.fill(_ms(_FETCH_S)))
        news = loop.create_task(driver.turns.news.wait())
        try:
            timeout = max(min(left_s, self._commits_at - loop.time()), 0)
            await asyncio.wait([fetch, news], timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
        finally:
            news.cancel()
            fetch.cancel()
            await asyncio.wait([fetch, news])
        if not fetch.cancelled():
            fetch.result()

    @contextlib.contextmanager
    def _explained(self) -> Iterator[None]:
        """Raise what aiokafka raises as a ConsumerError."""
        try:
            yield
        except KafkaError as error:
            raise unreadable(self._setup.group_id, error) from error

    def _check(self, driver: Driver) -> None:
        """Raise what the program has to know before it gets more records."""
        if self._stopped_by is not None:
            self._has_told_signal = True
            raise ConsumerStopped(f"{self._stopped_by.name}: leave the `async with` block of the consumer")
        if driver.gone.done():
            gone = driver.gone.result()
            if gone.error_code:
                raise refusal(self._setup, gone.error_code, gone.message)
            raise ConsumerStopped(f"group {self._setup.group_id}: the consumer is closed")
        if driver.failure is not None:
            raise driver.failure
        self._callbacks.raise_failure()

    # What there is to know

    @property
    def member_id(self) -> str:
        """The member id by which the coordinator knows this consumer."""
        return self._setup.member_id

    @property
    def epoch(self) -> int:
        """The member epoch that the coordinator sent last; 0 before that."""
        return self._running[0].member.epoch

    def assignment(self) -> frozenset[TopicPartition]:
        """The partitions that this program has: from the call of `on_assigned` until `on_revoked` has returned."""
        return self._running[0].held

    async def position(self, partition: TopicPartition) -> int:
        """The offset of the next record that this program is given. Where nothing was committed, it is known when the
        brokers have said where to begin. Raises ConsumerError if the partition is not assigned.
        """
        self._require([partition])
        try:
            return await self._running[1].position(partition)
        except (IllegalStateError, KafkaError) as error:
            raise ConsumerError(f"the position in {name_some([partition])} is not known: {error}") from error

    # Positions

    def seek(self, partition: TopicPartition, offset: int) -> None:
        """Go on at `offset`. Raises ConsumerError if the partition is not assigned, or the offset is negative."""
        self._require([partition])
        self._running[1].seek(partition, check_offset(partition, offset))

    def pause(self, *partitions: TopicPartition) -> None:
        """Give no records of these until `resume`. A partition that is revoked and comes back is not paused. Raises
        ConsumerError if one is not assigned.
        """
        self._require(partitions)
        for each in partitions:
            self._running[1].pause(each)

    def resume(self, *partitions: TopicPartition) -> None:
        """Give records of these again. Raises ConsumerError if one is not assigned."""
        self._require(partitions)
        for each in partitions:
            self._running[1].resume(each)

    def _require(self, partitions: Iterable[TopicPartition]) -> None:
        foreign = [each for each in partitions if not self._running[0].is_held(each)]
        if foreign:
            raise ConsumerError(f"group {self._setup.group_id}: {name_some(foreign)} is not assigned to this consumer")

    # Offsets

    async def commit(self, offsets: Mapping[TopicPartition, int | Offset] | None = None) -> None:
        """Commit these offsets, or the positions behind all records that this program was given.

        An offset is that of the next record to read; with a text to be kept with it, it is a tuple. Temporary errors
        are tried again, also if the member epoch has moved. Raises CommitFailed if the partitions are not this
        consumer's any more, if the coordinator refuses, or after `commit_timeout`. Without offsets this includes
        partitions that were lost since the last poll, with records that the program was given and has not committed.
        Raises ConsumerError for what is no offset.
        """
        driver, reading = self._running
        if offsets is None:
            if reading.lost:
                raise driver.requests.not_held(reading.lost)
            positions = reading.to_commit(in_hand=True)
            await self._commit_positions(driver, reading, positions, self._commit_timeout, skip_unknown=False)
            return
        asked = check_commit(offsets)
        if asked:
            reading.note_own(asked)
            await driver.requests.commit(asked, self._commit_timeout, driver.is_held)
            reading.note_committed({each: offset for each, (offset, _) in asked.items()})

    async def committed(self, *partitions: TopicPartition) -> dict[TopicPartition, int | None]:
        """The offsets that the group has committed; None where there is none. Raises ConsumerError if this user may not
        ask, or after `commit_timeout`.
        """
        driver, _ = self._running
        try:
            async with asyncio.timeout(self._commit_timeout):
                return await driver.requests.committed(partitions)
        except TimeoutError:
            raise ConsumerError(
                f"group {self._setup.group_id}: the committed offsets of {name_some(partitions)} were not told within "
                f"{self._commit_timeout:g} s. Ask again"
            ) from None

    async def _commit_positions(
        self,
        driver: Driver,
        reading: Reading,
        positions: Mapping[TopicPartition, int],
        timeout_s: float,
        *,
        skip_unknown: bool,
    ) -> None:
        if positions:
            offsets = {each: (offset, "") for each, offset in positions.items()}
            await driver.requests.commit(offsets, timeout_s, driver.is_held, skip_unknown=skip_unknown)
            reading.note_committed(positions)

    def _commit_if_due(self) -> None:
        """Commit from time to time what was processed. The program goes on meanwhile."""
        now = asyncio.get_running_loop().time()
        if now < self._commits_at:
            return
        self._commits_at = now + self._commit_interval
        if self._commits_itself and (self._committing is None or self._committing.done()):
            self._committing = asyncio.create_task(self._commit_processed())

    async def _commit_processed(self) -> None:
        if self._parts is not None:
            # what to commit is decided here: a commit of the program that was asked for before this one has noted it
            await self._commit_quietly(self._parts[1].to_commit(in_hand=False), self._commit_timeout)

    async def _commit_before_revocation(self, partitions: frozenset[TopicPartition]) -> None:
        if self._commits_itself and self._parts is not None:
            processed = self._parts[1].to_commit(in_hand=False)
            gone = {each: offset for each, offset in processed.items() if each in partitions}
            await self._commit_quietly(gone, self._setup.max_poll_ms / 1000)

    async def _commit_quietly(self, positions: Mapping[TopicPartition, int], timeout_s: float) -> None:
        """Log a failure. A topic that was deleted holds nothing up."""
        if self._parts is None:
            return
        try:
            await self._commit_positions(*self._parts, positions, timeout_s, skip_unknown=True)
        except CommitFailed as error:
            _log.warning("%s", error)

    # Inside

    @property
    def _running(self) -> tuple[Driver, Reading]:
        if self._parts is not None:
            return self._parts
        if self._was_closed:
            raise ConsumerStopped(f"group {self._setup.group_id}: the consumer is closed")
        raise ConsumerError("the consumer does not run: use `async with Consumer(…) as consumer:`")

    def _signalled(self, number: signal.Signals) -> None:
        if self._parts is not None:
            _log.info(
                "%s: leaving group %s when the program polls; a second signal ends the process at once",
                number.name,
                self._setup.group_id,
            )
            self._stopped_by = number
            self._parts[0].turns.news.set()


def _ms(seconds: float) -> int:
    return round(seconds * 1000)
