"""The gateway's settings, made from kcoord's settings."""

from __future__ import annotations

from kcoord.gateway.settings import GatewaySettings, UpstreamTls
from kcoord.server.startup.configured_request_limits import request_limits
from kcoord.server.startup.served_groups import serves_consumer_groups
from kcoord.settings_sources import Settings


def gateway_settings(settings: Settings) -> GatewaySettings:
    """The gateway's settings. Raises ValueError if settings contradict each other."""
    return GatewaySettings(
        bootstrap=settings.upstream,
        groups=settings.groups,
        listen_port=settings.listen[1],
        advertised=settings.advertise,
        data_dir=settings.data_dir,
        security_protocol=settings.upstream_security_protocol,
        tls=UpstreamTls(
            ca_file=settings.upstream_ssl_ca_location,
            check_hostname=settings.upstream_ssl_endpoint_identification_algorithm == "https",
            certificate_file=settings.upstream_ssl_certificate_location,
            key_file=settings.upstream_ssl_key_location,
            key_password=settings.upstream_ssl_key_password,
            all_clients_are_kcoord=settings.upstream_ssl_all_clients_are_kcoord,
        ),
        port_offset=settings.gateway_port_offset,
        broker_ports=settings.gateway_broker_ports,
        connection_setup_timeout_ms=settings.upstream_socket_connection_setup_timeout_ms,
        request_timeout_ms=settings.upstream_request_timeout_ms,
        question_interval_ms=settings.gateway_question_interval_ms,
        rights_ttl_ms=settings.gateway_rights_ttl_ms,
        sentinel_session_timeout_ms=settings.gateway_sentinel_session_timeout_ms,
        sentinel_grace_ms=settings.gateway_sentinel_grace_ms,
        adopts=None if settings.gateway_adopt is None else settings.gateway_adopt == "auto",
        outage_ms=settings.gateway_outage_ms,
        patience_ms=settings.gateway_patience_ms,
        keeps_to_0_1_0=settings.compatible_with == "0.1.0",
        connect_groups=settings.group_connect_enable,
        consumer_groups=serves_consumer_groups(settings),
        topics_interval_ms=settings.gateway_topics_interval_ms,
        request_limits=request_limits(settings),
    )
