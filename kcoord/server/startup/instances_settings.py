"""The settings of an instance that shares its log with others, made from kcoord's settings."""

from __future__ import annotations

from kcoord.instances.instance_parts import InstancesSettings, InternalSettings, InternalTls
from kcoord.log.kafka.settings import KafkaLogSettings
from kcoord.server.shards.record_level_to_write import record_level
from kcoord.settings_sources import Settings


def instances_settings(settings: Settings, store: KafkaLogSettings, is_new: bool) -> InstancesSettings:
    """The settings of this instance. `is_new`: what its data directory says of the beginning of the installation.

    Raises LogUnusable for files and modules that do not exist."""
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
        },  # as clients see them: same distances from the advertised port
        lease_ms=store.lease_ms,
        session_timeout_ms=settings.instances_session_timeout_ms,
        heartbeat_interval_ms=settings.instances_heartbeat_interval_ms,
        record_level=record_level(settings),
        began_new=is_new,
        watch_leaders=stands_before_the_log(settings),
        internal=internal_settings(settings),
    )


def stands_before_the_log(settings: Settings) -> bool:
    """Whether the upstream cluster also holds the log, as far as the addresses tell."""
    return bool(set(settings.log_brokers) & set(settings.upstream))


def internal_settings(settings: Settings) -> InternalSettings | None:
    """The settings of the internal listener; None if there is none."""
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
