"""The gateway's settings, checked. A setting that Kafka has too has Kafka's name."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import attrs

from kcoord.group.request_limits import RequestLimits

__all__ = ["Address", "GatewaySettings", "UpstreamTls"]

Address = tuple[str, int]
"""Host and port."""

HIGHEST_PORT = 65535


@attrs.frozen
class UpstreamTls:
    """How kcoord speaks TLS with upstream. Paths name PEM files. Without a CA file the system's authorities count."""

    ca_file: Path | None = None
    check_hostname: bool = True
    """Kafka's `ssl.endpoint.identification.algorithm=https`."""
    certificate_file: Path | None = None
    """kcoord's own certificate. Upstream then takes *every* client for kcoord: see `all_clients_are_kcoord`."""
    key_file: Path | None = None
    key_password: str | None = None
    all_clients_are_kcoord: bool = False
    """Whether this is meant (GW-8). If not, kcoord refuses a certificate of its own."""


@attrs.frozen(kw_only=True)
class GatewaySettings:
    """All settings of the gateway. Times are in ms, sizes in bytes."""

    bootstrap: tuple[Address, ...] = attrs.field(validator=attrs.validators.min_len(1))
    """Upstream's bootstrap addresses."""
    groups: tuple[str, ...] = attrs.field(validator=attrs.validators.min_len(1))
    """Regular expressions. kcoord may take a group if one of them matches the whole group id."""
    listen_port: int
    """The bootstrap port P that kcoord listens on."""
    advertised: Address | None = None
    """Host and port by which clients reach the bootstrap port. The brokers' ports are at the same distances from it.

    None: each client is told the host that it came by, and the ports that kcoord listens on.
    """
    data_dir: Path
    """The directory in which kcoord keeps the broker map."""
    security_protocol: str = attrs.field(
        default="PLAINTEXT", validator=attrs.validators.in_(("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"))
    )
    """The protocol of upstream's listener."""
    tls: UpstreamTls = UpstreamTls()
    clients_show_certificates: bool = False
    """Whether kcoord's own ports ask clients for certificates (`ssl.client.auth`). kcoord refuses that (GW-8)."""
    port_offset: int = attrs.field(default=1, validator=attrs.validators.ge(1))
    """Broker b has port P + port_offset + b (GW-1)."""
    broker_ports: Mapping[int, int] = attrs.Factory(dict)
    """Ports of single brokers for which that rule does not fit, for example because the node id is too high."""
    request_limits: RequestLimits = attrs.Factory(RequestLimits)
    """How much one request may ask for."""
    connection_setup_timeout_ms: int = attrs.field(default=10_000, validator=attrs.validators.ge(1))
    request_timeout_ms: int = attrs.field(default=30_000, validator=attrs.validators.ge(1))
    """How long upstream may take to answer a question of kcoord. After that its connection counts as dead."""
    question_interval_ms: int = attrs.field(default=240_000, validator=attrs.validators.ge(1_000))
    """The longest time between two questions about rights on a member's connection, so that upstream does not cut it as
    idle (GW-6, GW-16).
    """
    rights_ttl_ms: int = attrs.field(default=300_000, validator=attrs.validators.ge(1))
    """How long a known right holds, if this is less than `question_interval_ms`."""
    sentinel_session_timeout_ms: int = attrs.field(default=1_800_000, validator=attrs.validators.ge(1_000))
    """The session that the sentinel asks for first. It asks for less if upstream allows less (GW-11)."""
    sentinel_grace_ms: int = attrs.field(default=5_000, validator=attrs.validators.ge(0))
    """How long a group stays taken after its last member has left (GW-13)."""
    outage_ms: int = attrs.field(default=120_000, validator=attrs.validators.ge(0))
    """How long kcoord keeps members while it cannot reach upstream (GW-10)."""
    adopts: bool | None = True
    """Whether kcoord adopts a group as soon as all its members come through kcoord (`gateway.adopt`). None: if the
    installation began with a kcoord that adopts, which the map of the instances says.
    """
    keeps_to_0_1_0: bool = False
    """Whether release 0.1.0 must be able to take the groups over (`compatible.with`)."""
    connect_groups: bool = True
    """Whether kcoord serves connect groups (`group.connect.enable`)."""
    consumer_groups: bool = False
    """Whether kcoord serves consumer groups of the new protocol (`group.consumer.enable`)."""
    topics_interval_ms: int = attrs.field(default=5_000, validator=attrs.validators.ge(100))
    """How often kcoord looks at the topics to which their consumers subscribe (KG-17)."""
    patience_ms: int = attrs.field(default=2_000, validator=attrs.validators.ge(0))
    """How long a request that needs upstream waits for upstream to come back. After that it gets a retriable error, or
    its connection ends.
    """

    def __attrs_post_init__(self) -> None:
        for pattern in self.groups:
            try:
                re.compile(pattern)
            except re.error as error:
                raise ValueError(f"groups: {pattern!r} is no regular expression: {error}") from None
        if self.tls.certificate_file is not None and not self.tls.all_clients_are_kcoord:
            raise ValueError(
                "a client certificate for upstream makes every client act as kcoord there: their own rights are lost. "
                "Leave it out, or say that this is meant (upstream.ssl.all.clients.are.kcoord=true)"
            )

        if self.clients_show_certificates:
            raise ValueError(
                "clients' certificates cannot be passed on to upstream, where their rights are: "
                "set ssl.client.auth=none beside upstream, and let clients use SASL"
            )

    @property
    def rights_hold_ms(self) -> int:
        """How long, in ms, a right holds from the moment when kcoord asked for it.

        So kcoord notices within the question's interval that a right was withdrawn, whatever else it remembers.
        """
        return min(self.rights_ttl_ms, self.question_interval_ms)

    @property
    def uses_sasl(self) -> bool:
        return self.security_protocol.startswith("SASL_")

    @property
    def uses_tls(self) -> bool:
        return self.security_protocol.endswith("SSL")

    def port_of(self, broker_id: int) -> int | None:
        """The port that kcoord listens on for a broker; None if there is no such port."""
        port = self.broker_ports.get(broker_id, self.listen_port + self.port_offset + broker_id)
        return port if 0 < port <= HIGHEST_PORT else None

    def advertised_of(self, broker_id: int, reached: str) -> Address | None:
        """Host and port by which a client that came by host `reached` gets to a broker through kcoord.

        None: there is no port for that broker.
        """
        port = self.port_of(broker_id)
        if port is None:
            return None
        if self.advertised is None:
            return reached, port
        host, first = self.advertised
        return host, first + port - self.listen_port
