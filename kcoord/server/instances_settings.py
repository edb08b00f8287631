"""Which settings do the instances get, under which names?"""

from __future__ import annotations

from kcoord.config import Settings
from kcoord.instances.instances import InstancesSettings, InternalSettings, InternalTls
from kcoord.log.kafka.settings import KafkaLogSettings
from kcoord.server.record_level import record_level


def instances_settings(settings: Settings, store: KafkaLogSettings) -> InstancesSettings:
    """What this instance is told of itself and the others. Raises LogUnusable for files and modules that are not
    there.
    """
    host, port = settings.advertise or settings.listen
    return InstancesSettings(
        instance_id=settings.instance_id,
        group=settings.instances_group,
        topic=store.topic,
        partitions=store.partitions,
        kafka={"bootstrap_servers": store.bootstrap, **store.security.aiokafka()},
        host=host,
        port=port,
        port_offset=settings.gateway_port_offset,
        broker_ports={
            broker: port + at - settings.listen[1] for broker, at in settings.gateway_broker_ports.items()
        },  # as clients reach them: at the same distances from what is advertised
        lease_ms=store.lease_ms,
        session_timeout_ms=settings.instances_session_timeout_ms,
        heartbeat_interval_ms=settings.instances_heartbeat_interval_ms,
        record_level=record_level(settings),
        watch_leaders=stands_before_the_log(settings),
        internal=internal_settings(settings),
    )


def stands_before_the_log(settings: Settings) -> bool:
    """Whether the cluster that kcoord stands before is the one that has the log, as far as addresses tell."""
    return bool(set(settings.log_brokers) & set(settings.upstream))


def internal_settings(settings: Settings) -> InternalSettings | None:
    """What the internal listener is told; None where there is none."""
    if settings.internal_listen is None:
        return None
    certificate, authorities = settings.internal_ssl_certificate_location, settings.internal_ssl_ca_location
    tls = None
    if certificate is not None and authorities is not None:
        key = settings.internal_ssl_key_location or certificate
        tls = InternalTls(
            certificate=certificate, key=key, key_password=settings.internal_ssl_key_password, ca=authorities
        )
    return InternalSettings(
        listen=settings.internal_listen,
        advertise=settings.internal_advertise,
        secret=settings.internal_secret,
        tls=tls,
        frame_bytes=settings.socket_request_max_bytes,
    )
