"""A program around a consumer: it reads until it is told to stop, and notes all that happens."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from types import TracebackType
from typing import Any
from unittest.mock import patch

from aiokafka import ConsumerRecord, TopicPartition

from kcoord.consumer import Consumer
from kcoord.consumer.membership import Membership
from kcoord.protocol.errors import ErrorCode
from tests.kafka.wait import DEADLINE_S, NotYet

QUICK_POLL_S = 0.1


class Reader:
    """Reads in a task. `notes` has the calls of the callbacks, `records` all that was read."""

    def __init__(self, bootstrap: str, group: str, **options: Any) -> None:
        self.notes: list[tuple[str, frozenset[TopicPartition]]] = []
        self.records: list[ConsumerRecord] = []
        self.error: BaseException | None = None
        callbacks = {name: self._noting(name) for name in ("on_assigned", "on_revoked", "on_lost")}
        self.consumer = Consumer(bootstrap, group, **{"auto_offset_reset": "earliest", **callbacks, **options})
        self._stop = asyncio.Event()
        self._reading: asyncio.Task[None] | None = None

    def _noting(self, name: str) -> Callable[[frozenset[TopicPartition]], None]:
        return lambda partitions: self.notes.append((name, partitions))

    async def __aenter__(self) -> Reader:
        await self.consumer.__aenter__()
        self.go_on()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.pause()
        await self.consumer.__aexit__(kind, error, trace)

    def go_on(self) -> None:
        """Read."""
        self._stop.clear()
        self._reading = asyncio.create_task(self._read())

    async def pause(self) -> None:
        """Poll no more, with nothing in hand."""
        self._stop.set()
        if self._reading is not None:
            with contextlib.suppress(Exception):
                await self._reading

    async def _read(self) -> None:
        try:
            while not self._stop.is_set():
                for records in (await self.consumer.getmany(QUICK_POLL_S)).values():
                    self.records += records
        except Exception as error:
            self.error = error
            raise

    @property
    def assigned(self) -> frozenset[TopicPartition]:
        """What it has."""
        return self.consumer.assignment()

    @property
    def values(self) -> list[str]:
        """What it has read."""
        return [(each.value or b"").decode() for each in self.records]

    def called(self, name: str) -> list[frozenset[TopicPartition]]:
        """What that callback was called with."""
        return [partitions for each, partitions in self.notes if each == name]


async def until(probe: Callable[[], bool], what: str, saw: Callable[[], object] = lambda: "") -> None:
    """Wait for what must come. Raises AssertionError if it does not."""
    try:
        async with asyncio.timeout(DEADLINE_S):
            while True:
                with contextlib.suppress(NotYet):
                    if probe():
                        return
                await asyncio.sleep(0.03)
    except TimeoutError:
        raise AssertionError(f"{what}: not so after {DEADLINE_S:.0f} s; last seen: {saw()!r}") from None


async def until_shared(counts: list[int], what: frozenset[TopicPartition], *readers: Reader) -> None:
    """Wait until they have so many partitions each, all in all `what`, and nobody has one twice."""

    def shared() -> bool:
        failed = [each.error for each in readers if each.error is not None]
        assert not failed, f"a consumer has failed: {failed}"
        has = [each.assigned for each in readers]
        return [len(each) for each in has] == counts and frozenset[TopicPartition]().union(*has) == what

    await until(shared, f"shared as {counts}", lambda: [sorted(each.assigned) for each in readers])


class Behind:
    """A membership whose epoch is old the first time that it is asked for."""

    def __init__(self, member: Membership) -> None:
        self._member = member
        self.epochs = [member.epoch - 1]

    @property
    def epoch(self) -> int:
        return self.epochs.pop() if self.epochs else self._member.epoch

    @property
    def is_member(self) -> bool:
        return self._member.is_member


async def check_that_a_stale_commit_is_sent_again(reader: Reader, partition: TopicPartition) -> None:
    """The coordinator refuses the first try, as when the epoch moves while a commit is under way."""
    driver = reader.consumer._running[0]
    behind = Behind(driver.member)
    verdicts: list[int] = []
    judge = driver.requests._judge

    def noting(*arguments: Any) -> Any:
        verdicts.extend(arguments[1].values())
        return judge(*arguments)

    with patch.object(driver.requests, "_member", behind), patch.object(driver.requests, "_judge", noting):
        await reader.consumer.commit({partition: 5})
    assert verdicts == [ErrorCode.STALE_MEMBER_EPOCH, ErrorCode.NONE]
    assert await reader.consumer.committed(partition) == {partition: 5}
    assert reader.called("on_lost") == []


def partitions_of(topic: str, count: int) -> frozenset[TopicPartition]:
    """All partitions of a topic."""
    return frozenset(TopicPartition(topic, number) for number in range(count))


@contextlib.asynccontextmanager
async def readers(count: int, bootstrap: str, group: str, **options: Any) -> AsyncIterator[list[Reader]]:
    """Several of them."""
    async with contextlib.AsyncExitStack() as stack:
        yield [await stack.enter_async_context(Reader(bootstrap, group, **options)) for _ in range(count)]
