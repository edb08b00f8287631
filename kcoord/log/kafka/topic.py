"""The topic of the log: the checks of an existing topic, and how a missing one is made.

The topic's cleanup policy must be `compact` alone: a topic whose old records are deleted by time or size would lose
groups. It must have as many partitions as are set, because a group's partition depends on their number. Brokers that
create topics by themselves would create it wrongly, so kcoord asks for it by name only after it exists.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Mapping
from typing import Any

from aiokafka.admin import NewTopic
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType
from aiokafka.codec import has_lz4, has_snappy, has_zstd
from aiokafka.errors import KafkaError

from kcoord.log.interface import LogIncompatible, LogUnusable
from kcoord.log.kafka.broker_errors import said
from kcoord.log.kafka.connections import Connections, reason
from kcoord.log.kafka.kafka_client import admin_client
from kcoord.log.kafka.settings import KafkaLogSettings
from kcoord.protocol.errors import ErrorCode

_log = logging.getLogger(__name__)

MAX_MESSAGE_BYTES = 32 << 20
"""`max.message.bytes` of a new topic. The limit is high because one record of a group holds all of its members."""
_SMALL_MESSAGE_BYTES = 8 << 20
_SEGMENT_BYTES = 100 << 20
_SEGMENT_MS = 6 * 3_600_000
"""`segment.ms` of a new topic. The newest segment is never compacted, and ticks leave their markers in it."""
_COPIES = 3
_SAFE_COPIES = 2
_STEPS = 4
_PAUSE_S = 0.2
_CODECS = {"lz4": has_lz4, "snappy": has_snappy, "zstd": has_zstd}


async def prepare_topic(connections: Connections) -> tuple[bool, int]:
    """Make the topic if it does not exist, then check it. Returns whether it was made, and the largest batch in bytes
    that it takes.

    Raises LogUnusable, LogIncompatible.
    """
    settings = connections.settings
    async with _admin(connections, f"making topic {settings.topic}, or reading what it is like,") as admin:
        is_new = settings.topic not in await admin.list_topics()
        if is_new:
            await _create(admin, settings, len(connections.broker_ids))
        return is_new, check(settings, await _partitions(admin, settings.topic), await _configs(admin, settings.topic))


async def count_partitions(connections: Connections) -> int:
    """The number of the topic's partitions. Raises LogUnusable if the topic does not exist."""
    topic = connections.settings.topic
    async with _admin(connections, f"describing topic {topic}") as admin:
        if topic not in await admin.list_topics():
            raise LogUnusable(
                f"there is no topic {topic} at {connections.settings.bootstrap}, or kcoord may not see it"
            )
        return await _partitions(admin, topic)


@contextlib.asynccontextmanager
async def _admin(connections: Connections, doing: str) -> AsyncIterator[Any]:
    """aiokafka's admin client, for a bounded time."""
    settings = connections.settings
    admin = admin_client(**connections.arguments)
    try:
        async with asyncio.timeout(settings.request_timeout_ms / 1000 * _STEPS):
            await admin.start()
            yield admin
    except (KafkaError, OSError, TimeoutError) as error:
        raise LogUnusable(f"{doing} at {settings.bootstrap} failed: {reason(error)}") from None
    finally:
        await admin.close()


def check(settings: KafkaLogSettings, partitions: int, configs: Mapping[str, str | None]) -> int:
    """Check that a topic with these configurations can be the log. Returns its `max.message.bytes`.

    Raises LogIncompatible.
    """
    topic = settings.topic
    policy = configs.get("cleanup.policy") or ""
    if {each.strip() for each in policy.split(",")} != {"compact"}:
        raise LogIncompatible(
            f"topic {topic} has cleanup.policy={policy}: its old records are deleted, and groups with them. Name "
            "another by log.topic, and kcoord makes it; or, if this one is meant, set its cleanup.policy to compact: "
            f"kafka-configs.sh --alter --topic {topic} --add-config cleanup.policy=compact"
        )
    if partitions != settings.partitions:
        raise LogIncompatible(
            f"topic {topic} has {partitions} partitions, and offsets.topic.num.partitions={settings.partitions} is "
            "set; kcoord would look for groups in the wrong partition: set it back, or name another topic by log.topic"
        )
    codec = configs.get("compression.type") or "producer"
    if codec in _CODECS and not _CODECS[codec]():
        raise LogIncompatible(
            f"topic {topic} has compression.type={codec}, which needs the Python package cramjam to be read: pip "
            "install cramjam, or set the topic's compression.type to producer"
        )
    limit = int(configs.get("max.message.bytes") or MAX_MESSAGE_BYTES)
    if limit < _SMALL_MESSAGE_BYTES:
        _log.warning(
            "topic %s takes messages of %d bytes only (max.message.bytes): a group of some thousand members has one "
            "record that may be larger, and could not change any more; %d are advised",
            topic,
            limit,
            MAX_MESSAGE_BYTES,
        )
    return limit


def configs_of(settings: KafkaLogSettings, brokers: int) -> tuple[int, dict[str, str]]:
    """The number of replicas and the configurations of a new topic in a cluster of this many brokers."""
    copies = settings.replication_factor or min(_COPIES, max(1, brokers))
    configs = {
        "cleanup.policy": "compact",
        "compression.type": "producer",
        "max.message.bytes": str(MAX_MESSAGE_BYTES),
        "min.compaction.lag.ms": str(settings.history_retention_ms),
        "segment.bytes": str(_SEGMENT_BYTES),
        "segment.ms": str(_SEGMENT_MS),
    }
    if copies > _SAFE_COPIES:
        configs["min.insync.replicas"] = str(_SAFE_COPIES)
    return copies, configs


async def _create(admin: Any, settings: KafkaLogSettings, brokers: int) -> None:
    copies, configs = configs_of(settings, brokers)
    answer = await admin.create_topics([NewTopic(settings.topic, settings.partitions, copies, topic_configs=configs)])
    for _, code, *message in answer.topic_errors:
        if code == ErrorCode.TOPIC_ALREADY_EXISTS:  # another instance was faster
            return
        if code:
            raise LogUnusable(
                f"topic {settings.topic} cannot be made: {said(code)} ({message[0] if message else ''}). Make it "
                f"yourself, or correct the cause: {settings.partitions} partitions, {copies} replicas, "
                + ", ".join(f"{name}={value}" for name, value in configs.items())
            )
    _log.info("topic %s was made: %d partitions, %d replicas", settings.topic, settings.partitions, copies)


async def _partitions(admin: Any, topic: str) -> int:
    while True:  # a broker may not have heard of a new topic yet
        (described,) = await admin.describe_topics([topic])
        if described["error_code"] == ErrorCode.NONE and described["partitions"]:
            return len(described["partitions"])
        if described["error_code"] not in (
            ErrorCode.NONE,
            ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
            ErrorCode.LEADER_NOT_AVAILABLE,
        ):
            raise LogUnusable(f"topic {topic} cannot be described: {said(described['error_code'])}")
        await asyncio.sleep(_PAUSE_S)


async def _configs(admin: Any, topic: str) -> dict[str, str | None]:
    while True:
        (answer,) = await admin.describe_configs([ConfigResource(ConfigResourceType.TOPIC, topic)])
        code, message, _, _, entries = answer.resources[0]
        if code == ErrorCode.NONE:
            return {entry[0]: entry[1] for entry in entries}
        if code != ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
            raise LogUnusable(f"the configuration of topic {topic} cannot be read: {said(code)} ({message})")
        await asyncio.sleep(_PAUSE_S)
