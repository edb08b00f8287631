"""The functions of a program that are told which partitions come and go. They may be coroutine functions or not."""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Awaitable, Callable
from typing import TypeAlias

import attrs
from aiokafka import TopicPartition

from kcoord.consumer.errors import ConsumerError, name_some
from kcoord.worker.listener_calls import AWAITED_CANCELLED, failure_of

_log = logging.getLogger(__name__)

Partitions: TypeAlias = frozenset[TopicPartition]
Callback: TypeAlias = Callable[[Partitions], Awaitable[None] | None]


@attrs.define
class Callbacks:
    """The callbacks of one consumer. Without `on_lost`, `on_revoked` is called in its place, as in Java."""

    on_assigned: Callback | None = None
    on_revoked: Callback | None = None
    on_lost: Callback | None = None
    failure: ConsumerError | None = None
    """The first failure that the application has not been told yet."""

    async def call(self, name: str, partitions: Partitions) -> None:
        """Call one of them. What it raises is kept: the next poll raises it."""
        callback = getattr(self, name) or (self.on_revoked if name == "on_lost" else None)
        if callback is None:
            return

        async def call() -> None:
            returned = callback(partitions)
            if inspect.isawaitable(returned):
                await returned

        error = await failure_of(call)
        if error is not None:
            is_cancelled = isinstance(error, asyncio.CancelledError)
            why = f". {AWAITED_CANCELLED}" if is_cancelled else f": {type(error).__name__}: {error}"
            self._note(f"{name} failed for {name_some(partitions)}{why}", error)

    def _note(self, text: str, error: BaseException) -> None:
        _log.error("%s", text)
        if self.failure is None:
            self.failure = ConsumerError(text)
            self.failure.__cause__ = error

    def raise_failure(self) -> None:
        """Raise the failure of a callback, once."""
        failure, self.failure = self.failure, None
        if failure is not None:
            raise failure
