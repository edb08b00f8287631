"""`ConfigTopic`: Connect's configuration topic, read to its end first, then followed for as long as the worker lives.

- The topic must have one partition and must be compacted and nothing else: otherwise a new worker would miss
  connectors. Any other topic is refused. If its configuration may not be read, that is logged, and the topic is used as
  it is.
- Only committed records count: with `exactly.once.source.support` the leader writes in transactions.
- A record that cannot be read is left out, with a warning that has topic, partition, offset and key.
- If the cluster cannot be reached, what was read still counts, and reading is tried again; the offset tells everybody
  how old it is. If offsets go back, the topic was deleted and created again: then everything is read again.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable
from typing import Any

from aiokafka import AIOKafkaConsumer
from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType
from aiokafka.errors import KafkaError, TopicAuthorizationFailedError
from aiokafka.structs import TopicPartition

from kcoord.client.connection import error_name
from kcoord.client.security import Security
from kcoord.protocol.errors import ErrorCode
from kcoord.worker.config_topic.records import Restart, Unreadable
from kcoord.worker.config_topic.state import ConfigState, ConnectConfig
from kcoord.worker.configured import Configured

_log = logging.getLogger(__name__)

_OPEN_S = 60.0
_FETCH_MS = 500
_PAUSE_S = 1.0
_PARTITION = 0


class ConfigTopicError(Exception):
    """The topic cannot be used; the text is one line: which topic, why, and what to do."""


class ConfigTopic:
    """Follows the configuration topic of a Connect cluster. `async with ConfigTopic(…)` reads it to its end first."""

    def __init__(
        self,
        bootstrap_servers: str,
        topic: str,
        *,
        security: Security | None = None,
        client_id: str = "kcoord-worker",
        on_change: Callable[[], None] = lambda: None,
    ) -> None:
        """`on_change` is called whenever there is something new."""
        self._bootstrap = bootstrap_servers
        self._topic = topic
        self._arguments = {
            "bootstrap_servers": bootstrap_servers,
            "client_id": f"{client_id}-configs",
            **(security or Security()).aiokafka(),
        }
        self.on_change = on_change
        self._state = ConfigState()
        self._consumer: Any = None
        self._position = 0
        self._moved = asyncio.Event()
        self._following: asyncio.Task[None] | None = None
        self._trouble = ""
        """The last failure, so that it is logged once."""

    # Life

    async def __aenter__(self) -> ConfigTopic:
        await self.open()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def open(self) -> None:
        """Check that the topic can be used, and read it to its end. Raises ConfigTopicError."""
        try:
            async with asyncio.timeout(_OPEN_S):
                await self._check()
                await self._start()
                end = await self._end()
                while self._position < end:
                    await self._read()
        except TopicAuthorizationFailedError:
            await self.close()
            raise ConfigTopicError(f"{self._named}: may not be read: allow this user Read on the topic") from None
        except (KafkaError, OSError, TimeoutError) as error:
            await self.close()
            raise ConfigTopicError(f"{self._named}: cannot be read: {_reason(error)}") from None
        except ConfigTopicError:
            await self.close()
            raise
        self._state.restarts.clear()  # from the time before this worker
        _log.info(
            "%s: read up to offset %d, %d connectors", self._named, self._state.offset, len(self.config.connectors)
        )
        self._following = asyncio.create_task(self._follow())

    async def close(self) -> None:
        """Stop reading."""
        if self._following is not None:
            self._following.cancel()
            await asyncio.wait([self._following])
            self._following = None
        if self._consumer is not None:
            consumer, self._consumer = self._consumer, None
            with contextlib.suppress(KafkaError, OSError, TimeoutError):
                await asyncio.wait_for(consumer.stop(), 5)

    # What there is to know

    @property
    def name(self) -> str:
        """The topic's name."""
        return self._topic

    @property
    def config(self) -> ConnectConfig:
        """What is configured, as far as it has been read."""
        return self._state.snapshot()

    def configured(self) -> Configured | None:
        """The same for a `Worker`; None if nothing was ever written."""
        config = self.config
        if config.offset < 0:
            return None
        return Configured(config.offset, config.resources, config.revisions, of_topic=True)

    def take_restarts(self) -> list[Restart]:
        """The requests to restart connectors that have come since the last call."""
        taken, self._state.restarts = self._state.restarts, []
        return taken

    async def catch_up(self, timeout_s: float = 10.0) -> bool:
        """Read everything that the topic has now. False if that was not possible in time."""
        try:
            async with asyncio.timeout(timeout_s):
                end = await self._end()
                while self._position < end:
                    self._moved.clear()
                    await self._moved.wait()
        except (KafkaError, OSError, TimeoutError) as error:
            _log.warning("%s: could not be read to its end: %s", self._named, _reason(error))
            return False
        return True

    # Inside

    @property
    def _named(self) -> str:
        return f"configuration topic {self._topic} at {self._bootstrap}"

    async def _check(self) -> None:
        """Check that the topic exists and is of the right kind. It never asks for the topic by name before it is known
        to exist: brokers may create what they are asked for.
        """
        admin = AIOKafkaAdminClient(**self._arguments)
        try:
            await admin.start()
            if self._topic not in await admin.list_topics():
                raise ConfigTopicError(
                    f"{self._named}: there is none, or this user may not see it: it is the Connect workers' "
                    "config.storage.topic, and Describe and Read on it are needed"
                )
            (described,) = await admin.describe_topics([self._topic])
            partitions = len(described["partitions"])
            if partitions != 1:
                raise ConfigTopicError(f"{self._named}: has {partitions} partitions; Connect's has one: name that one")
            await self._check_policy(admin)
        finally:
            await admin.close()

    async def _check_policy(self, admin: Any) -> None:
        (answer,) = await admin.describe_configs([ConfigResource(ConfigResourceType.TOPIC, self._topic)])
        code, _, _, _, entries = answer.resources[0]
        if code != ErrorCode.NONE:
            _log.warning("%s: cannot tell whether it is compacted: %s", self._named, error_name(code))
            return
        policy = {entry[0]: entry[1] for entry in entries}.get("cleanup.policy") or ""
        if policy != "compact":
            raise ConfigTopicError(
                f"{self._named}: has cleanup.policy={policy}, so old connectors are deleted with their records: "
                f"kafka-configs.sh --alter --topic {self._topic} --add-config cleanup.policy=compact"
            )

    async def _start(self) -> None:
        self._consumer = AIOKafkaConsumer(
            **self._arguments,
            group_id=None,
            enable_auto_commit=False,
            auto_offset_reset="earliest",
            isolation_level="read_committed",
        )
        await self._consumer.start()
        self._consumer.assign([self._partition])
        await self._consumer.seek_to_beginning(self._partition)

    @property
    def _partition(self) -> TopicPartition:
        return TopicPartition(self._topic, _PARTITION)

    async def _end(self) -> int:
        ends = await self._consumer.end_offsets([self._partition])
        return int(ends[self._partition])

    async def _read(self) -> bool:
        """Read what there is, or wait a little. True if something new was read."""
        before = self._state.offset
        records = await self._consumer.getmany(self._partition, timeout_ms=_FETCH_MS)
        for record in records.get(self._partition, ()):
            self._take(record.offset, record.key, record.value)
        self._position = await self._consumer.position(self._partition)
        self._moved.set()
        return before != self._state.offset

    def _take(self, offset: int, key: bytes | None, value: bytes | None) -> None:
        if offset < self._state.offset:
            _log.warning("%s: was recreated (back at offset %d): reading it from the beginning", self._named, offset)
            self._state = ConfigState()
        try:
            self._state.take(offset, key, value)
        except Unreadable as fault:
            _log.warning(
                "configuration topic %s, partition %d, offset %d, key %r: ignored: %s",
                self._topic,
                _PARTITION,
                offset,
                "" if key is None else key.decode(errors="replace"),
                fault,
            )

    async def _follow(self) -> None:
        while True:
            try:
                if await self._read():
                    self.on_change()
                if self._trouble:
                    _log.info("%s: can be read again", self._named)
                    self._trouble = ""
            except (KafkaError, OSError, TimeoutError) as error:
                if self._trouble != _reason(error):
                    self._trouble = _reason(error)
                    _log.warning("%s: keeping what was read before: %s", self._named, self._trouble)
                await asyncio.sleep(_PAUSE_S)
            except Exception:
                _log.exception("%s: keeping what was read before", self._named)
                await asyncio.sleep(_PAUSE_S)


def _reason(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}".removesuffix(": ").splitlines()[0]
