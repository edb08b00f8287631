"""How is one transaction committed, and a partition taken over?

A producer of its own for each partition, with the transactional id TOPIC-PARTITION. Whoever gains a partition asks for
that id's producer id (InitProducerId): the coordinator of transactions then gives the id a new epoch, undoes what an
elder had left open, and refuses every later word of that elder. A transaction is three steps:

    AddPartitionsToTxn   the coordinator notes that this partition takes part
    Produce              a request a batch, to the partition's leader; none for a tick
    EndTxn               the coordinator has noted that all of it counts; it tells the leader afterwards (markers)

This is on aiokafka's client and not on its producer, for four reasons: a tick needs a transaction without a record; the
producer waits 20 ms when the last markers are still on their way, where one or two are enough; it has a client of its
own for each partition; and it logs a fence and goes on waiting where the partition must stop at once.

Each step may be sent again: the coordinator and the leader know a step that they have seen. So an answer that does not
come is asked for again, by another connection or another broker, until the caller's patience ends; what has become of
the transaction then, nobody knows but the next InitProducerId. An EndTxn that was not answered may still lie somewhere
and be heard when the next transaction is half done, of which it would be the end: so after one that had to be sent
again there is no next transaction before the partition was gained anew, with a new epoch.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import attrs
from aiokafka.protocol.produce import ProduceRequest
from aiokafka.protocol.transaction import AddPartitionsToTxnRequest, EndTxnRequest, InitProducerIdRequest

from kcoord.log.interface import RawRecord
from kcoord.log.kafka.answers import Refused, Then, said, then
from kcoord.log.kafka.batches import batches
from kcoord.log.kafka.connections import Connections, Unheard, Unreachable

TRANSACTION_TIMEOUT_MS = 60_000
"""After so long the coordinator undoes a transaction whose owner has vanished and which nobody has gained."""
_ALL_REPLICAS = -1
_COMMIT = 1
_SOON_S = 0.0005
_SOON_MOST_S = 0.01
_PAUSE_S = 0.02
_PAUSE_MOST_S = 0.25


class Fenced(Exception):
    """The partition is somebody else's."""


class Unsure(Exception):
    """The transaction was committed, and what was sent for it may be heard once more."""


@attrs.define(eq=False)
class Producer:
    """Writes transactions to one partition; one at a time."""

    connections: Connections
    topic: str
    partition: int
    limit: int
    """The largest batch that the topic takes, in bytes."""

    trouble: str = attrs.field(default="", init=False)
    """Why the step under way had to be asked for again, for whoever loses patience."""
    unheard: int = attrs.field(default=0, init=False)
    """How often a step was sent, perhaps, and no answer came."""
    waits: int = attrs.field(default=0, init=False)
    """How often a transaction had to wait for the last one's markers."""
    _producer_id: int = attrs.field(default=-1, init=False)
    _epoch: int = attrs.field(default=-1, init=False)
    _sequence: int = attrs.field(default=0, init=False)
    _coordinator: int | None = attrs.field(default=None, init=False)

    @property
    def transactional_id(self) -> str:
        return f"{self.topic}-{self.partition}"

    async def gain(self) -> None:
        """Take the partition over: every elder is fenced, and what it left open is undone. Raises Refused."""
        request = InitProducerIdRequest(self.transactional_id, TRANSACTION_TIMEOUT_MS)
        answer = await self._of_coordinator(request, lambda answer: answer.error_code)
        self._producer_id, self._epoch, self._sequence = answer.producer_id, answer.producer_epoch, 0

    async def commit(self, records: Sequence[RawRecord]) -> None:
        """Commit `records`, perhaps none, in one transaction. Raises Fenced, Unsure, Refused, TooLarge.

        After any exception, also a cancellation, the partition must be gained anew.
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
        """Ask until there is an answer that counts. Raises Fenced, Refused."""
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
