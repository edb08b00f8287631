"""What a consumer reads: positions, pauses, and records that were fetched and not yet given to the application.

aiokafka fetches, from partitions that it is assigned by hand. A position here is the offset of the next record that the
application is given. It is *processed* when the application has come back for more.

When other partitions come or go, aiokafka forgets all of its positions. So it is told all of them again, and what was
fetched and not given away is fetched again.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections import deque
from collections.abc import Iterable, Mapping
from typing import Any

from aiokafka import AIOKafkaConsumer, ConsumerRecord, TopicPartition
from aiokafka.errors import IllegalStateError, KafkaError

from kcoord.consumer.fetch_client import FetchClient

_log = logging.getLogger(__name__)

_FETCHED = 500
"""How many records are taken from aiokafka at once."""


class Reading:
    """The partitions that are read. `client` are arguments of aiokafka's client, `options` further ones of its
    consumer.
    """

    def __init__(self, client: Mapping[str, Any], options: Mapping[str, Any]) -> None:
        self._client, self._options = dict(client), dict(options)
        self._kafka: Any = None
        self._records: deque[ConsumerRecord] = deque()
        self._positions: dict[TopicPartition, int | None] = {}
        """Of all partitions that the application has; None: not known yet, because nothing was committed."""
        self._processed: dict[TopicPartition, int] = {}
        self._saved: dict[TopicPartition, int] = {}
        """The offset of each partition that was committed last."""
        self._own: dict[TopicPartition, int | None] = {}
        """Where the application has committed an offset of its own choice, which stands: the position behind all that
        it was given by then; None: not known yet.
        """
        self._given: list[tuple[TopicPartition, int]] = []
        """The positions behind the records that the application has in hand."""
        self._given_from: set[TopicPartition] = set()
        """The partitions from which the application was given records."""
        self._lost: set[TopicPartition] = set()
        self._reads: set[TopicPartition] = set()
        self._paused: set[TopicPartition] = set()
        self._resets: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        """Reach the cluster. Raises KafkaError."""
        kafka = AIOKafkaConsumer(group_id=None, enable_auto_commit=False, **self._client, **self._options)
        kafka._client = FetchClient(**self._client)
        try:
            await kafka.start()
        except BaseException:
            await kafka.stop()
            raise
        self._kafka = kafka

    async def stop(self) -> None:
        """Read nothing more."""
        for task in self._resets:
            task.cancel()
        if self._kafka is not None:
            try:
                await self._kafka.stop()
            except KafkaError as error:  # why fetching has ended, which aiokafka tells once more
                _log.warning("the fetching had ended before: %s", error)
                await self._kafka._client.close()

    # Partitions come and go

    def take(self, starts: Mapping[TopicPartition, int | None]) -> None:
        """These are the application's from now on; `begin` reads them. Positions may be sought before."""
        self._positions.update(starts)
        known = {each: offset for each, offset in starts.items() if offset is not None}
        self._processed.update(known)
        self._saved.update(known)
        self._lost.clear()

    def begin(self, partitions: Iterable[TopicPartition]) -> None:
        """Read from these as well."""
        self._reads |= self._positions.keys() & set(partitions)
        self._assign()

    def end(self, partitions: Iterable[TopicPartition]) -> None:
        """Read nothing more from these. Their positions stay known."""
        if self._reads & set(partitions):
            self._reads -= set(partitions)
            self._assign()

    def drop(self, partitions: Iterable[TopicPartition]) -> None:
        """These are not the application's any more."""
        self.end(partitions)
        for each in partitions:
            self._positions.pop(each, None)
            self._processed.pop(each, None)
            self._saved.pop(each, None)
            self._own.pop(each, None)
            self._given_from.discard(each)
            self._paused.discard(each)
        self._given = [(each, offset) for each, offset in self._given if each in self._positions]

    def lose(self, partitions: Iterable[TopicPartition]) -> None:
        """Others may have these by now. Records of them that were given and not committed are noted as lost."""
        self._lost |= self._given_from & self.to_commit(in_hand=True).keys() & set(partitions)
        self.drop(partitions)

    @property
    def lost(self) -> frozenset[TopicPartition]:
        """The partitions that were lost since the application polled last, with records that it was given and that
        nobody has committed.
        """
        return frozenset(self._lost)

    # Positions

    async def position(self, partition: TopicPartition) -> int:
        """The offset of the next record for the application. Waits until it is known. Raises IllegalStateError if the
        partition is not read (any more), KafkaError.
        """
        offset = self._positions.get(partition)
        return int(await self._kafka.position(partition)) if offset is None else offset

    def to_commit(self, *, in_hand: bool) -> dict[TopicPartition, int]:
        """The positions behind all records that were processed, where these were not committed.

        Where the application has committed an offset of its own choice, that stands until it has processed more than it
        was given by then. `in_hand`: the positions behind all records that it was given, whatever it has committed.
        """
        positions = self._positions if in_hand else self._processed
        return {
            each: offset
            for each, offset in positions.items()
            if offset is not None and offset != self._saved.get(each) and (in_hand or each not in self._own)
        }

    def note_committed(self, offsets: Mapping[TopicPartition, int]) -> None:
        """These offsets were committed."""
        self._saved.update((each, offset) for each, offset in offsets.items() if each in self._positions)

    def note_own(self, partitions: Iterable[TopicPartition]) -> None:
        """The application commits offsets of its own choice in these partitions."""
        self._own.update((each, self._positions[each]) for each in partitions if each in self._positions)

    def note_processed(self) -> None:
        """The application comes back: what it had in hand is processed, and it need not be told what was lost."""
        self._processed.update(self._given)
        for each, offset in self._given:
            own = self._own.get(each)
            if own is not None and offset > own:
                del self._own[each]
        self._given.clear()
        self._lost.clear()

    def seek(self, partition: TopicPartition, offset: int) -> None:
        """Go on at this offset."""
        self._own.pop(partition, None)
        self._positions[partition] = self._processed[partition] = offset
        self._given = [(each, behind) for each, behind in self._given if each != partition]
        self._forget_records(partition)
        if partition in self._reads:
            self._kafka.seek(partition, offset)

    def pause(self, partition: TopicPartition) -> None:
        """Give no records of this partition until `resume`."""
        self._paused.add(partition)
        self._rewind(partition)
        if partition in self._reads:
            self._kafka.pause(partition)

    def resume(self, partition: TopicPartition) -> None:
        """Give records of this partition again."""
        self._paused.discard(partition)
        if partition in self._reads:
            self._kafka.resume(partition)

    # Records

    @property
    def has_records(self) -> bool:
        """Whether there is a record for the application."""
        return bool(self._records)

    def next(self) -> ConsumerRecord:
        """The next record, which the application has in hand from now on."""
        record = self._records.popleft()
        partition = TopicPartition(record.topic, record.partition)
        self._positions[partition] = record.offset + 1
        self._given.append((partition, record.offset + 1))
        self._given_from.add(partition)
        return record

    async def fill(self, timeout_ms: int) -> None:
        """Wait until there are records, or until the time is over. Raises KafkaError. It may be cancelled at any time,
        and loses nothing.
        """
        if not self._reads:
            await asyncio.sleep(timeout_ms / 1000)  # aiokafka would wait for an assignment
            return
        if self._kafka._fetcher.error_future.done():
            self._kafka._fetcher.error_future.result()  # aiokafka would wait for ever
        fetched = await self._kafka.getmany(timeout_ms=timeout_ms, max_records=_FETCHED)
        # nothing is awaited between aiokafka's own step and this one, so its positions and the records fit together
        for partition, records in fetched.items():
            self._learn(partition, records[0].offset)
            self._records.extend(records)

    # Inside

    def _assign(self) -> None:
        self._records.clear()
        if not self._reads:
            self._kafka._subscription.unsubscribe()  # `unsubscribe` and an empty `assign` ask for all topics there are
            return
        self._kafka.assign(list(self._reads))
        for each in self._reads:
            offset = self._positions[each]
            if offset is not None:
                self._kafka.seek(each, offset)
            else:
                self._watch_reset(each)
            if each in self._paused:
                self._kafka.pause(each)

    def _rewind(self, partition: TopicPartition) -> None:
        """Give back what was fetched."""
        if self._forget_records(partition):
            self._kafka.seek(partition, self._positions[partition])

    def _forget_records(self, partition: TopicPartition) -> bool:
        kept = [each for each in self._records if (each.topic, each.partition) != partition]
        dropped = len(kept) < len(self._records)
        self._records = deque(kept)
        return dropped

    def _watch_reset(self, partition: TopicPartition) -> None:
        task = asyncio.create_task(self._learn_position(partition))
        self._resets.add(task)
        task.add_done_callback(self._resets.discard)

    async def _learn_position(self, partition: TopicPartition) -> None:
        """Note where aiokafka begins with a partition in which nothing was committed."""
        with contextlib.suppress(IllegalStateError, KafkaError):
            self._learn(partition, await self._kafka.position(partition))

    def _learn(self, partition: TopicPartition, offset: int) -> None:
        """Reading begins here, if the position was not known yet."""
        if self._positions.get(partition, offset) is None:
            self._positions[partition] = self._processed[partition] = offset
            if partition in self._own:
                self._own[partition] = offset
