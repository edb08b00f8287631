"""The log in a topic: its settings, and opening it with retries.

If the cluster cannot be reached, it may be there a moment later, for example when everything is started together. So
kcoord tries again, with a log line that says why, until the cluster is there or kcoord is stopped. What cannot mend by
itself (a topic of the wrong kind, a missing certificate) ends the start.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import TypeVar

from aiokafka.errors import KafkaError

from kcoord.log.interface import LogUnusable
from kcoord.log.kafka.kafka_client import admin_client
from kcoord.log.kafka.log import KafkaLog
from kcoord.log.kafka.security import KafkaSecurity
from kcoord.log.kafka.settings import KafkaLogSettings
from kcoord.settings_sources import Settings

log = logging.getLogger("kcoord.server")

AGAIN_S = (0.5, 1.0, 2.0, 5.0)
"""Pauses between attempts; the last one repeats."""

T = TypeVar("T")


def kafka_log_settings(settings: Settings) -> KafkaLogSettings:
    """The settings of the log in a topic. Raises LogUnusable for files and modules that do not exist."""
    security = KafkaSecurity(
        protocol=settings.log_protocol,
        mechanism=settings.log_sasl_mechanism or "PLAIN",
        username=settings.log_sasl_username,
        password=settings.log_sasl_password,
        kerberos_service_name=settings.log_sasl_kerberos_service_name,
        kerberos_domain_name=settings.log_sasl_kerberos_domain_name,
        oauth_token_provider=settings.log_sasl_oauth_token_provider,
        ca_file=settings.log_authorities,
        certificate_file=settings.log_ssl_certificate_location,
        key_file=settings.log_ssl_key_location,
        key_password=settings.log_ssl_key_password,
        check_hostname=settings.log_checks_hostname,
    )
    security.aiokafka()
    return KafkaLogSettings(
        bootstrap=",".join(
            f"[{host}]:{port}" if ":" in host else f"{host}:{port}" for host, port in settings.log_brokers
        ),
        topic=settings.log_topic,
        partitions=settings.offsets_topic_num_partitions,
        replication_factor=settings.offsets_topic_replication_factor,
        history_retention_ms=settings.history_retention_ms,
        lease_ms=settings.coordinator_lease_ms,
        security=security,
        client_id=f"kcoord-{settings.instance_id}",
    )


async def open_patiently(store: KafkaLog) -> None:
    """Open the log as soon as its cluster can be reached. Raises LogIncompatible."""
    await patiently(store.open)


async def cluster_id_of(store: KafkaLogSettings) -> str:
    """The id of the cluster that holds the log."""

    async def ask() -> str:
        admin = admin_client(
            bootstrap_servers=store.bootstrap,
            client_id=store.client_id,
            request_timeout_ms=store.request_timeout_ms,
            **store.security.aiokafka(),
        )
        try:
            await admin.start()
            described = await admin.describe_cluster()
        except (KafkaError, OSError, TimeoutError) as error:
            raise LogUnusable(f"cannot get the id of the log's cluster: {error!r}") from None
        finally:
            await admin.close()
        return str(described["cluster_id"])

    return await patiently(ask)


async def patiently(attempt: Callable[[], Awaitable[T]]) -> T:
    """Call `attempt` until it raises no LogUnusable, and return its result."""
    tried = 0
    while True:
        try:
            return await attempt()
        except LogUnusable as error:
            pause_s = AGAIN_S[min(tried, len(AGAIN_S) - 1)]
            log.warning("waiting for the log, trying again in %g s: %s", pause_s, error)
            tried += 1
            await asyncio.sleep(pause_s)
