"""The log in a topic (`log=kafka`): its cluster, the topic's configuration, and the rights of kcoord's own login there.

kcoord has a login of its own there (`log.sasl.*`, or a certificate). To find out its rights, the check sends requests
that change nothing: each names something that does not exist, or carries no data. The cluster checks the rights first.
"""

from __future__ import annotations

import logging
import ssl
from collections.abc import AsyncIterator, Iterable, Sequence
from typing import Any

import attrs
from aiokafka.admin import AIOKafkaAdminClient, NewTopic
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType
from aiokafka.conn import create_conn
from aiokafka.errors import KafkaError
from aiokafka.protocol.fetch import FetchRequest
from aiokafka.protocol.group import HeartbeatRequest
from aiokafka.protocol.produce import ProduceRequest
from aiokafka.protocol.transaction import EndTxnRequest

from kcoord.address import Address
from kcoord.cli.checks.access_rules import ANONYMOUS, BY_CERTIFICATE, command
from kcoord.cli.checks.client_rights import NOBODY
from kcoord.cli.checks.finding import Finding, fine, problem
from kcoord.client.broker_probe import Expectation, probe
from kcoord.log.interface import LogError
from kcoord.log.kafka.connections import reason
from kcoord.log.kafka.settings import KafkaLogSettings
from kcoord.log.kafka.topic import check, configs_of
from kcoord.protocol.errors import ErrorCode
from kcoord.server.startup.log_opening import kafka_log_settings
from kcoord.settings import Settings

ABOUT = "log"
NOT_ALLOWED = frozenset(
    {
        ErrorCode.TOPIC_AUTHORIZATION_FAILED,
        ErrorCode.GROUP_AUTHORIZATION_FAILED,
        ErrorCode.CLUSTER_AUTHORIZATION_FAILED,
        ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
    }
)
ALL_REPLICAS = -1
PARTITION_BYTES = 1
FAILED = (KafkaError, OSError, TimeoutError)


@attrs.define
class Login:
    """kcoord's own login at the log's cluster."""

    settings: Settings
    where: KafkaLogSettings
    connection: Any
    """A connection of aiokafka's to one of its brokers."""

    @property
    def principal(self) -> str:
        """The principal that the cluster sees for this login."""
        if self.where.security.uses_sasl:
            return f"User:{self.where.security.username or '…'}"
        return ANONYMOUS if self.where.security.certificate_file is None else BY_CERTIFICATE

    def lacks(self, operations: Sequence[str], what: str, *resource: str) -> Finding:
        """The finding that the login lacks a right, and the command that grants it."""
        told = command(self.settings.log_brokers, self.principal, operations, *resource)
        return problem(ABOUT, f"{self.principal} may not {what}: it needs {' and '.join(operations)}", told)


async def check_log(settings: Settings) -> AsyncIterator[Finding]:
    """Findings about the log's cluster, the topic, and kcoord's rights there."""
    try:
        where = kafka_log_settings(settings)
        security = where.security.aiokafka()
    except LogError as error:
        yield problem(ABOUT, str(error))
        return
    connection = None
    logging.getLogger("aiokafka").setLevel(logging.CRITICAL)  # the findings say what it would say
    for address in settings.log_brokers:
        connection, found = await _reached(address, settings, where, security)
        if found is not None:
            yield found
        if connection is not None:
            break
    if connection is None:
        return
    login = Login(settings, where, connection)
    try:
        async for finding in _look(login, security):
            yield finding
    except FAILED as error:
        yield problem(ABOUT, f"{where.bootstrap} did not respond to everything: {reason(error)}")
    finally:
        connection.close()


async def _reached(
    address: Address, settings: Settings, where: KafkaLogSettings, security: dict[str, Any]
) -> tuple[Any, Finding | None]:
    """A connection that is logged in, or what is wrong."""
    tls: ssl.SSLContext | None = security.get("ssl_context")
    probed = await probe(address, tls, Expectation("log.security.protocol", settings.log_protocol))
    if probed.problem:
        return None, problem(ABOUT, probed.problem)
    try:
        host, port = address
        timeout_ms = where.request_timeout_ms
        return await create_conn(host, port, client_id=where.client_id, request_timeout_ms=timeout_ms, **security), None
    except FAILED as error:
        return None, problem(ABOUT, f"{address[0]}:{address[1]}: {reason(error)}")


async def _look(login: Login, security: dict[str, Any]) -> AsyncIterator[Finding]:
    rights = [each async for each in _check_rights(login)]
    topic = [each async for each in _check_topic(login, security)]
    for found in (*rights, *topic):
        yield found
    if not rights:
        yield fine(ABOUT, f"{login.principal} has all rights that the log and the instances' group need")


async def _check_rights(login: Login) -> AsyncIterator[Finding]:
    topic, group = login.where.topic, login.settings.instances_group
    on_topic = [name for name, code in await _on_topic(login) if code in NOT_ALLOWED]
    if on_topic:
        doing = " and ".join(each.lower() for each in on_topic)
        yield login.lacks(on_topic, f"{doing} topic {topic}", "--topic", topic)
    if await _on_transactional_id(login) in NOT_ALLOWED:
        prefix = ("--transactional-id", f"{topic}-", "--resource-pattern-type", "prefixed")
        yield login.lacks(["Write"], f"use the transactional ids that begin with {topic}-", *prefix)
    if await _on_group(login) in NOT_ALLOWED:
        yield login.lacks(["Read"], f"be a member of the instances' group {group}", "--group", group)


async def _on_topic(login: Login) -> list[tuple[str, int]]:
    topic, send = login.where.topic, login.connection.send
    fetched = await send(FetchRequest(0, 0, PARTITION_BYTES, 0, [(topic, [(0, 0, PARTITION_BYTES)])]))
    produced = await send(ProduceRequest(None, ALL_REPLICAS, login.where.request_timeout_ms, [(topic, [(0, b"")])]))
    return [
        ("Read", _first(partition[1] for _, partitions in fetched.topics for partition in partitions)),
        ("Write", _first(partition[1] for _, partitions in produced.topics for partition in partitions)),
    ]


async def _on_transactional_id(login: Login) -> int:
    """End a transaction of a transactional id that nobody uses."""
    ended = await login.connection.send(EndTxnRequest(f"{login.where.topic}-{NOBODY}", 0, 0, False))
    return int(ended.error_code)


async def _on_group(login: Login) -> int:
    """Send a heartbeat for a member that does not exist."""
    beaten = await login.connection.send(HeartbeatRequest(login.settings.instances_group, -1, NOBODY))
    return int(beaten.error_code)


def _first(codes: Iterable[int]) -> int:
    return int(next(iter(codes), 0))


async def _check_topic(login: Login, security: dict[str, Any]) -> AsyncIterator[Finding]:
    where = login.where
    admin = AIOKafkaAdminClient(
        bootstrap_servers=where.bootstrap,
        client_id=where.client_id,
        request_timeout_ms=where.request_timeout_ms,
        **security,
    )
    try:
        await admin.start()
        if where.topic in await admin.list_topics():
            yield await _judge(admin, login)
        else:
            yield await _judge_creation(admin, login)
    finally:
        await admin.close()


async def _judge(admin: Any, login: Login) -> Finding:
    topic = login.where.topic
    (described,) = await admin.describe_topics([topic])
    (answer,) = await admin.describe_configs([ConfigResource(ConfigResourceType.TOPIC, topic)])
    code, _, _, _, entries = answer.resources[0]
    if code in NOT_ALLOWED:
        return login.lacks(["DescribeConfigs"], f"read the configuration of topic {topic}", "--topic", topic)
    try:
        check(login.where, len(described["partitions"]), {entry[0]: entry[1] for entry in entries})
    except LogError as error:
        return problem(ABOUT, str(error))
    return fine(ABOUT, f"topic {topic} exists, is compacted, and has {len(described['partitions'])} partitions")


async def _judge_creation(admin: Any, login: Login) -> Finding:
    """Whether kcoord could create the topic. The cluster only validates the request."""
    topic, where = login.where.topic, login.where
    brokers = len((await admin.describe_cluster())["brokers"])
    copies, configs = configs_of(where, brokers)
    new = NewTopic(topic, where.partitions, copies, topic_configs=configs)
    answer = await admin.create_topics([new], validate_only=True)
    for _, code, *message in answer.topic_errors:
        if code in NOT_ALLOWED:
            operations = ["Create", "DescribeConfigs"]
            return login.lacks(operations, f"create topic {topic} or read its configuration", "--topic", topic)
        if code:
            return problem(ABOUT, f"topic {topic} cannot be created: {message[0] if message else ErrorCode(code).name}")
    replicas = "1 replica" if copies == 1 else f"{copies} replicas"
    return fine(
        ABOUT, f"topic {topic} does not exist; kcoord will create it: {where.partitions} partitions, {replicas}"
    )
