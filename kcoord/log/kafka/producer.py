"""The transactional producer of a partition: it commits one transaction at a time, and takes the partition over.

Each partition has a producer of its own, with the transactional id TOPIC-PARTITION. An instance that gains a partition
asks for the producer id of that transactional id (InitProducerId). The transaction coordinator then gives it a new
epoch, aborts what the previous owner left open, and refuses all later requests of that owner. A transaction has three
steps:

    AddPartitionsToTxn   the coordinator notes that this partition takes part
    Produce              one request for each batch, to the partition's leader; none for a tick
    EndTxn               the coordinator notes the commit; it writes the markers to the leader afterwards

This uses aiokafka's client and not its producer, for four reasons. A tick needs a transaction without records. The
producer waits 20 ms if the previous markers are not written yet, where one or two are enough. It has a client of its
own for each partition. And if it is fenced, it logs that and keeps waiting, where the partition must stop at once.

Each step may be sent again, because the coordinator and the leader recognize a step that they have seen. So if no
answer comes, the producer sends the step again, by another connection or to another broker, until the caller's timeout.
What has become of the transaction then shows only after the next InitProducerId. An EndTxn without an answer may still
be under way, and may arrive in the middle of the next transaction and end it. So after an EndTxn that had to be sent
again, there is no next transaction before the partition has been gained again, with a new epoch.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import attrs
from aiokafka.protocol.produce import ProduceRequest
from aiokafka.protocol.transaction import AddPartitionsToTxnRequest, EndTxnRequest, InitProducerIdRequest

from kcoord.log.interface import RawRecord
from kcoord.log.kafka.batches import batches
from kcoord.log.kafka.broker_errors import Refused, Then, said, then
from kcoord.log.kafka.connections import Connections, Unheard, Unreachable

TRANSACTION_TIMEOUT_MS = 60_000
"""The time after which the coordinator aborts a transaction if its owner has gone and no other has gained the
partition.
"""
_ALL_REPLICAS = -1
_COMMIT = 1
_SOON_S = 0.0005
_SOON_MOST_S = 0.01
_PAUSE_S = 0.02
_PAUSE_MOST_S = 0.25


class Fenced(Exception):
    """The partition belongs to another instance."""


class Unsure(Exception):
    """The transaction was committed, but its EndTxn was sent more than once and may arrive again."""


@attrs.define(eq=False)
class Producer:
    """Writes transactions to one partition, one at a time."""

    connections: Connections
    topic: str
    partition: int
    limit: int
    """The largest batch that the topic takes, in bytes."""

    trouble: str = attrs.field(default="", init=False)
    """Why the present step had to be sent again, for the caller's error text after a timeout."""
    unheard: int = attrs.field(default=0, init=False)
    """How often a step may have been sent without an answer."""
    waits: int = attrs.field(default=0, init=False)
    """How often a transaction had to wait for the markers of the previous one."""
    _producer_id: int = attrs.field(default=-1, init=False)
    _epoch: int = attrs.field(default=-1, init=False)
    _sequence: int = attrs.field(default=0, init=False)
    _coordinator: int | None = attrs.field(default=None, init=False)

    @property
    def transactional_id(self) -> str:
        return f"{self.topic}-{self.partition}"

    async def gain(self) -> None:
        """Take the partition over: every previous owner is fenced, and what it left open is aborted. Raises Refused."""
        request = InitProducerIdRequest(self.transactional_id, TRANSACTION_TIMEOUT_MS)
        answer = await self._of_coordinator(request, lambda answer: answer.error_code)
        self._producer_id, self._epoch, self._sequence = answer.producer_id, answer.producer_epoch, 0

    async def commit(self, records: Sequence[RawRecord]) -> None:
        """Commit `records`, which may be empty, in one transaction. Raises Fenced, Unsure, Refused, TooLarge.

        After any exception, also a cancellation, the partition must be gained again.
        """
        made = [each async for each in batches(records, self.limit, self._producer_id, self._epoch, self._sequence)]
        who = self.transactional_id, self._producer_id, self._epoch
        here = [(self.topic, [self.partition])]
        await self._of_coordinator(AddPartitionsToTxnRequest(*who, here), lambda answer: answer.errors[0][1][0][1])
        for batch, count in made:
            await self._produce(batch)
            self._sequence = (self._sequence + count) & 0x7FFFFFFF
        unheard = self.unheard
        await self._of_coordinator(EndTxnRequest(*who, _COMMIT), lambda answer: answer.error_code)
        if self.unheard != unheard:
            raise Unsure(f"{self.transactional_id}: the end of a transaction had to be said again")

    async def _produce(self, batch: bytes) -> None:
        timeout_ms = self.connections.settings.request_timeout_ms
        data = [(self.topic, [(self.partition, batch)])]
        request = ProduceRequest(self.transactional_id, _ALL_REPLICAS, timeout_ms, data)
        await self._ask(request, self._leader, self.connections.refresh, lambda answer: answer.topics[0][1][0][1])

    async def _of_coordinator(self, request: Any, error_of: Callable[[Any], int]) -> Any:
        return await self._ask(request, self._find_coordinator, self._forget_coordinator, error_of)

    async def _ask(
        self,
        request: Any,
        whom: Callable[[], Awaitable[int]],
        seek: Callable[[], Awaitable[None]],
        error_of: Callable[[Any], int],
    ) -> Any:
        """Send `request` until there is a final answer. Raises Fenced, Refused."""
        soon_s, pause_s = _SOON_S, _PAUSE_S
        self.trouble = ""
        while True:
            try:
                answer = await self.connections.send(await whom(), request, self.partition)
            except Unreachable as error:
                self.unheard += isinstance(error, Unheard)
                self.trouble, next_step = str(error), Then.SEEK
            else:
                code = error_of(answer)
                next_step = then(code)
                if next_step is Then.DONE:
                    return answer
                self.trouble = f"{type(request).__name__}: {said(code)}"
            if next_step is Then.FENCED:
                raise Fenced(self.trouble)
            if next_step is Then.FINAL:
                raise Refused(self.trouble)
            if next_step is Then.SOON:
                self.waits += 1
                await asyncio.sleep(soon_s)
                soon_s = min(soon_s * 1.5, _SOON_MOST_S)
                continue
            if next_step is Then.SEEK:
                await seek()
            await asyncio.sleep(pause_s)
            pause_s = min(pause_s * 2, _PAUSE_MOST_S)

    async def _leader(self) -> int:
        return await self.connections.leader(self.partition)

    async def _find_coordinator(self) -> int:
        if self._coordinator is None:
            self._coordinator = await self.connections.coordinator(self.transactional_id)
        return self._coordinator

    async def _forget_coordinator(self) -> None:
        self._coordinator = None
