"""What can be set, and what is it by default?

Every setting of kcoord is a field here: its name is the field's with dots for underscores (Apache Kafka's name where
Kafka has the same thing), its type and limits are checked, its meaning stands beside it. `docs/configuration.md` is
made from this file. Where values come from is in `config`, what does not fit together in `settings_checks`.
"""

import re
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from kcoord.address import Address, parse_address

WILDCARD_HOSTS = ("0.0.0.0", "::")
MAX_INT16 = 2**15 - 1
MAX_INT32 = 2**31 - 1
_MINUTE_MS, _DAY_MS = 60_000, 86_400_000


class SettingsError(Exception):
    """A setting that does not exist or does not fit; the text is one line: what, where it came from, what to do."""


def _address(value: object) -> object:
    return parse_address(value.strip()) if isinstance(value, str) else value


def _addresses(value: object) -> object:
    parts = value.split(",") if isinstance(value, str) else value
    return [_address(part) for part in parts] if isinstance(parts, list | tuple) else parts


def _words(value: object) -> object:
    words = [word.strip() for word in value.split(",")] if isinstance(value, str) else value
    if isinstance(words, list | tuple):
        if not all(words):
            raise ValueError("names stand between commas, and none of them is empty")
        if len(set(words)) < len(words):
            raise ValueError("a name stands there twice")
    return words


def _expressions(value: object) -> object:
    expressions = (value,) if isinstance(value, str) else value  # one: an expression may have commas in it
    for expression in expressions if isinstance(expressions, list | tuple) else ():
        try:
            re.compile(expression)
        except (re.error, TypeError) as error:
            raise ValueError(f"{expression!r} is no regular expression: {error}") from None
    return expressions


def _broker_ports(value: object) -> object:
    if not isinstance(value, str):
        return value
    pairs = [part.partition("=") for part in value.split(",") if part.strip()]
    if not all(broker.strip().isdecimal() and port.strip().isdecimal() for broker, _, port in pairs):
        raise ValueError(f"{value!r} is not of the form BROKER=PORT,BROKER=PORT")
    return {int(broker): int(port) for broker, _, port in pairs}


AddressValue = Annotated[Address, BeforeValidator(_address)]
Port = Annotated[int, Field(ge=1, le=65535)]


def _setting(default: object, about: str, *, unit: str = "", **limits: Any) -> Any:
    return Field(default=default, description=about, json_schema_extra={"unit": unit} if unit else None, **limits)


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


class Place(_Section):
    """Where kcoord is"""

    listen: AddressValue = _setting(
        ("localhost", 9092), "Where clients connect first. In front of a cluster, the brokers' ports follow behind it."
    )
    advertise: AddressValue | None = _setting(
        None,
        "Host and port that clients are told to connect to, where that is not what kcoord listens on: behind a load "
        "balancer, in a container. Without it clients of a kcoord alone are told the address that they came by, and "
        "those of one in front of a cluster what `listen` says.",
    )
    data_dir: Path = _setting(
        Path("data"), "Directory of kcoord's own files: its log, and what it knows of the cluster. Made if missing."
    )
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = _setting("INFO", "Which lines are logged (on stderr).")


class Connections(_Section):
    """Connections"""

    max_connections: int = _setting(MAX_INT32, "Connections in total; newer ones are closed at once.", ge=1)
    max_connections_per_ip: int = _setting(
        MAX_INT32, "Connections from one address; newer ones are closed at once.", ge=1
    )
    connections_max_idle_ms: int = _setting(
        10 * _MINUTE_MS, "A connection on which nothing happened for so long is closed.", unit="ms", ge=1
    )
    connections_authentication_timeout_ms: int = _setting(
        30_000,
        "How long a new connection may take to say who it is: the TLS handshake, and in front of a cluster that uses "
        "SASL the exchange. Then it is closed.",
        unit="ms",
        ge=1,
    )
    request_progress_timeout_ms: int = _setting(
        30_000,
        "A request that has begun must go on: if it takes longer than this, it must come at 1 KiB a second at least, "
        "on average, or its connection is closed.",
        unit="ms",
        ge=1,
    )
    queued_max_request_bytes: int = _setting(
        512 << 20,
        "What all connections together may make kcoord hold of requests that are not finished and of answers that "
        "clients do not read. Above it connections are closed, the oldest of the large ones first.",
        unit="bytes",
        ge=1024,
    )
    request_max_groups: int = _setting(
        100_000,
        "Groups, or other resources, that one request may name. Requests that name many are carried out in slices, "
        "with other clients' turns in between. A connection that names more is closed.",
        ge=1,
    )
    request_max_elements: int = _setting(
        20_000,
        "Elements that all other arrays of one request may have together (topics, partitions, members, …). A request "
        "that has more is refused before it is decoded.",
        ge=100,
    )
    response_max_bytes: int = _setting(
        64 << 20,
        "The largest answer to a request that names many groups; those that do not fit are answered INVALID_REQUEST.",
        unit="bytes",
        ge=1024,
    )
    socket_request_max_bytes: int = _setting(
        100 << 20, "The largest request; a connection that announces a larger one is closed.", unit="bytes", ge=1024
    )
    sasl_server_max_receive_size: int = _setting(
        1 << 20,
        "The largest request of a client that has not said yet who it is, in front of a cluster that uses SASL; a "
        "connection that announces a larger one is closed.",
        unit="bytes",
        ge=1024,
    )


class Tls(_Section):
    """TLS on kcoord's own ports"""

    ssl_certificate_location: Path | None = _setting(
        None, "PEM file with kcoord's certificate and its chain. With it, all ports speak TLS; without, none."
    )
    ssl_key_location: Path | None = _setting(
        None, "PEM file with the certificate's key; not needed if both are in one."
    )
    ssl_key_password: str | None = _setting(None, "Password of the key.", repr=False)
    ssl_client_auth: Literal["none", "required"] = _setting(
        "none",
        "Whether clients must show a certificate. Not in front of a cluster, to which they cannot be passed on.",
    )
    ssl_ca_location: Path | None = _setting(
        None, "PEM file with the authorities that clients' certificates are checked against, where they are required."
    )


class Groups(_Section):
    """Groups"""

    group_initial_rebalance_delay_ms: int = _setting(
        3000,
        "How long the first rebalance of an empty group waits for more members, so that a fleet that starts together "
        "is assigned once and not once for each member.",
        unit="ms",
        ge=0,
    )
    group_min_session_timeout_ms: int = _setting(
        6000, "The shortest session that a member may ask for.", unit="ms", ge=1
    )
    group_max_session_timeout_ms: int = _setting(
        30 * _MINUTE_MS, "The longest session that a member may ask for.", unit="ms", ge=1
    )
    group_max_size: int = _setting(MAX_INT32, "Members in one group; more are refused.", ge=1)
    group_max_bytes: int = _setting(
        30 << 20,
        "Ids, metadata and assignments of all members of one group together; what would make it more is refused. A "
        "record of the log must hold them: in a topic `max.message.bytes` belongs above this.",
        unit="bytes",
        ge=1024,
    )
    group_max_member_metadata_bytes: int = _setting(
        4 << 20,
        "The metadata that one member brings, for all its protocols or assignors together; more is refused.",
        unit="bytes",
        ge=1024,
    )
    group_max_id_length: int = _setting(
        1024,
        "Characters of a group's or member's id, a protocol's, assignor's or connector's name, and a url; longer ones "
        "are refused. A longer client id is cut.",
        ge=292,
        le=MAX_INT16,
    )
    max_group_creation_rate: int = _setting(
        100,
        "Groups that one connection may create in a second, beyond `max.group.creation.burst`; more are put off with a "
        "retriable error.",
        ge=1,
    )
    max_group_creation_burst: int = _setting(10_000, "Groups that one connection may create at once.", ge=1)


class ConnectGroups(_Section):
    """Connect groups: workers of the new protocol"""

    group_connect_enable: bool = _setting(
        True,
        "Whether connect groups are served. Off, clients are not offered their APIs, and workers that were members "
        "before are gone when their sessions end.",
    )
    group_connect_session_timeout_ms: int = _setting(
        45_000, "A worker from which no heartbeat comes for so long is gone.", unit="ms", ge=1
    )
    group_connect_min_session_timeout_ms: int = _setting(
        6_000, "The shortest session that may be set for one group.", unit="ms", ge=1
    )
    group_connect_max_session_timeout_ms: int = _setting(
        60_000, "The longest session that may be set for one group.", unit="ms", ge=1
    )
    group_connect_heartbeat_interval_ms: int = _setting(
        5_000, "How often workers are told to send a heartbeat; a third of the session at most.", unit="ms", ge=1
    )
    group_connect_min_heartbeat_interval_ms: int = _setting(
        5_000, "The shortest interval that may be set for one group.", unit="ms", ge=1
    )
    group_connect_max_heartbeat_interval_ms: int = _setting(
        15_000, "The longest interval that may be set for one group.", unit="ms", ge=1
    )
    group_connect_max_size: int = _setting(MAX_INT32, "Workers in one group; more are refused.", ge=1)
    group_connect_max_resources: int = _setting(
        20_000,
        "Connectors and tasks in one list: what exists, what one worker runs, what is assigned in one step. Longer "
        "lists are refused.",
        ge=1,
    )
    group_connect_assignors: Annotated[tuple[str, ...], BeforeValidator(_words)] = _setting(
        ("uniform", "cooperative"),
        "Assignors that run in kcoord, the default first: uniform, cooperative, the policies eager, design-1, "
        "design-2, design-3 and kip-415, and what installed packages bring along under the entry point group "
        "`kcoord.assignors`.",
        min_length=1,
    )
    group_connect_rebalance_delay_ms: int = _setting(
        5 * _MINUTE_MS,
        "How long the connectors and tasks of a worker that has gone wait for its return before others get them.",
        unit="ms",
        ge=0,
    )
    group_connect_max_rebalance_delay_ms: int = _setting(
        60 * _MINUTE_MS,
        "The longest such delay that may be set for one group, or that an assignor may ask for.",
        unit="ms",
        ge=0,
    )
    group_connect_migration_policy: Literal["bidirectional", "upgrade", "downgrade", "disabled"] = _setting(
        "bidirectional",
        "Which way a group of Connect workers may change its protocol: to a connect group with the first worker of "
        "the new protocol (upgrade), back to a generic group when the last one leaves (downgrade), both, or neither.",
    )
    group_connect_legacy_mode: Literal["barrier", "individual"] = _setting(
        "barrier",
        "How a group is managed that has none but workers of the generic protocol: with the barrier of that protocol, "
        "for which all workers rejoin whenever something changes, or each worker by itself.",
    )
    group_connect_legacy_heartbeat_wait_ms: int = _setting(
        -1,
        "How long the answer to a heartbeat of a worker of the generic protocol may be kept back in a connect group, "
        "to be given at once when there is something to say; a third of the worker's session timeout at most. The next "
        "heartbeat lets it go in any case, so with more than the workers' `heartbeat.interval.ms` a worker can be told "
        "at any time. 0: not at all; -1: 10000 where `group.connect.legacy.mode` is `individual`, else 0.",
        unit="ms",
        ge=-1,
        le=30_000,
    )
    group_connect_legacy_leader_wait_ms: int = _setting(
        15_000,
        "How long the lead among workers of the generic protocol that are managed one by one waits for its worker when "
        "that has stopped in order, as in a restart. Meanwhile requests that only a leader can serve fail, and source "
        "tasks that are exactly once do not start anew. 0: another worker leads at once.",
        unit="ms",
        ge=0,
        le=300_000,
    )


class Offsets(_Section):
    """Offsets that kcoord keeps itself (without a cluster behind it)"""

    offset_metadata_max_bytes: int = _setting(
        4096, "How long the text may be that a client stores beside an offset.", unit="bytes", ge=0
    )
    group_max_offsets: int = _setting(
        200_000, "Partitions of which one group may keep offsets; more are refused.", ge=1
    )
    offsets_retention_minutes: int = _setting(
        7 * 24 * 60, "How long offsets are kept after their group became empty.", unit="minutes", ge=1
    )
    offsets_retention_check_interval_ms: int = _setting(
        10 * _MINUTE_MS, "How often expired offsets are looked for.", unit="ms", ge=1
    )


class Log(_Section):
    """The log of records"""

    log: Literal["embedded", "kafka"] = _setting(
        "embedded",
        "Where records live: in a file of kcoord's own in `data.dir`, or in a topic of a Kafka cluster, where several "
        "instances share them.",
    )
    compatible_with: Literal["0.1.0"] | None = _setting(
        None,
        "An earlier release that must be able to take over from this one at any time. Set it on all instances before "
        "you go back to that release, and while an upgrade may still be undone. Until it is removed, nothing is "
        "written, or left in the cluster behind, that the earlier release does not know.",
    )
    offsets_topic_num_partitions: int = _setting(
        50,
        "Partitions of the log, over which groups are spread. Fixed by the first start on a data directory, or by the "
        "topic.",
        ge=1,
    )
    history_retention_ms: int = _setting(
        _DAY_MS,
        "How long records that newer ones have replaced are kept, so that history can be read. For a topic it is said "
        "when it is made (`min.compaction.lag.ms`).",
        unit="ms",
        ge=0,
    )
    history_retention_bytes: int = _setting(
        1 << 30,
        "How many bytes such records may take in the file at most, and never more than half of what the disk has room "
        "for; beyond it those of the groups with most of them go first. -1: no limit but the disk's. Not for a topic.",
        unit="bytes",
        ge=-1,
    )
    log_retention_check_interval_ms: int = _setting(
        5 * _MINUTE_MS,
        "How often the file is looked through for records that may go, also when an eighth of "
        "`history.retention.bytes` was written. A topic's brokers have settings of their own.",
        unit="ms",
        ge=1,
    )


class KafkaLog(_Section):
    """The log in a topic (`log=kafka`)"""

    log_bootstrap: Annotated[tuple[Address, ...], BeforeValidator(_addresses)] = _setting(
        (),
        "Brokers of the cluster that has the topic, to begin with, HOST:PORT,…; else those of `upstream`.",
    )
    log_topic: str = _setting(
        "__worker_offsets",
        "Name of the topic. It is made if missing; one that is not compacted is refused.",
        pattern=r"^[a-zA-Z0-9._\-]{1,249}$",
    )
    offsets_topic_replication_factor: int | None = _setting(
        None, "Replicas of the topic when it is made; else 3, or as many as there are brokers.", ge=1, le=MAX_INT16
    )
    log_security_protocol: Literal["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"] | None = _setting(
        None,
        "What those brokers' listener speaks; else `upstream.security.protocol` where `log.bootstrap` is not given, "
        "and PLAINTEXT where it is.",
    )
    log_sasl_mechanism: Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "GSSAPI", "OAUTHBEARER"] | None = _setting(
        None, "How kcoord says there who it is."
    )
    log_sasl_username: str | None = _setting(None, "Its name, for PLAIN and SCRAM.")
    log_sasl_password: str | None = _setting(None, "Its password, for PLAIN and SCRAM.", repr=False)
    log_sasl_kerberos_service_name: str = _setting("kafka", "The brokers' Kerberos service name, for GSSAPI.")
    log_sasl_kerberos_domain_name: str | None = _setting(
        None, "The brokers' Kerberos domain name, for GSSAPI; else each broker's host."
    )
    log_sasl_oauth_token_provider: str | None = _setting(
        None,
        "What gives tokens for OAUTHBEARER, as MODULE:ATTRIBUTE: a class, or a function without arguments, that makes "
        "an `aiokafka.abc.AbstractTokenProvider`.",
        pattern=r"^[\w.]+:[\w.]+$",
    )
    log_ssl_ca_location: Path | None = _setting(
        None,
        "PEM file with the authorities that the brokers' certificates are checked against; else those of "
        "`upstream.ssl.ca.location` where `log.bootstrap` is not given, or the system's.",
    )
    log_ssl_certificate_location: Path | None = _setting(
        None, "PEM file with a certificate that kcoord shows to the brokers, and its chain."
    )
    log_ssl_key_location: Path | None = _setting(
        None, "PEM file with that certificate's key; not needed if both are in one."
    )
    log_ssl_key_password: str | None = _setting(None, "Password of that key.", repr=False)
    log_ssl_endpoint_identification_algorithm: Literal["https", "none", ""] = _setting(
        "https",
        "Whether a broker's certificate must name its host: `https`; `none` or empty for no check. Not given, it is as "
        "upstream's where `log.bootstrap` is not given either.",
    )
    coordinator_lease_ms: int = _setting(
        5000,
        "How long after the beginning of its last successful commit to a partition an instance answers for the groups "
        "in it. While nothing else is written it commits a tick in time.",
        unit="ms",
        ge=1000,
    )


class Instances(_Section):
    """Several instances (`log=kafka`)"""

    instance_id: int = _setting(
        0, "This instance's number, which no other instance over the same topic may have.", ge=0, le=MAX_INT32
    )
    instances_group: str = _setting(
        "kcoord-instances", "The consumer group by which instances share the topic's partitions.", min_length=1
    )
    instances_session_timeout_ms: int = _setting(
        6_000,
        "An instance of which that group hears nothing for so long is gone, and others take its groups over.",
        unit="ms",
        ge=1,
    )
    instances_heartbeat_interval_ms: int = _setting(
        300, "How often instances say there that they are alive, and hear of changes.", unit="ms", ge=1
    )
    internal_listen: AddressValue | None = _setting(
        None,
        "Where other instances ask for what this one's groups are to answer. Needs `internal.secret`, or a "
        "certificate and authorities to check the others' by. Without it nothing is relayed.",
    )
    internal_advertise: AddressValue | None = _setting(
        None, "Host and port by which other instances reach that, where it is not what `internal.listen` says."
    )
    internal_secret: str | None = _setting(
        None,
        "What all instances know and nobody else: who cannot prove that is not listened to.",
        repr=False,
        min_length=16,
    )
    internal_ssl_certificate_location: Path | None = _setting(
        None, "PEM file with the certificate, and its chain, that this instance shows to others, both ways."
    )
    internal_ssl_key_location: Path | None = _setting(
        None, "PEM file with that certificate's key; not needed if both are in one."
    )
    internal_ssl_key_password: str | None = _setting(None, "Password of that key.", repr=False)
    internal_ssl_ca_location: Path | None = _setting(
        None, "PEM file with the authorities that other instances' certificates are checked against."
    )


class Upstream(_Section):
    """In front of a cluster"""

    upstream: Annotated[tuple[Address, ...], BeforeValidator(_addresses)] = _setting(
        (), "Brokers of the cluster behind kcoord to begin with, HOST:PORT,…; the others are learned from them."
    )
    groups: Annotated[tuple[str, ...], BeforeValidator(_expressions)] = _setting(
        (),
        "Regular expressions; a group whose whole name matches one of them is coordinated by kcoord, all others by "
        "the cluster. Needed beside `upstream`; `.*` for all. A file may list several, `-o` and the environment "
        "hold one.",
    )
    upstream_security_protocol: Literal["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"] = _setting(
        "PLAINTEXT", "What the cluster's listener speaks. Clients' SASL exchanges pass through kcoord as they are."
    )
    upstream_ssl_ca_location: Path | None = _setting(
        None, "PEM file with the authorities that the brokers' certificates are checked against; else the system's."
    )
    upstream_ssl_endpoint_identification_algorithm: Literal["https", "none", ""] = _setting(
        "https", "Whether a broker's certificate must name its host: `https`; `none` or empty for no check."
    )
    upstream_ssl_certificate_location: Path | None = _setting(
        None, "PEM file with a certificate that kcoord shows to the brokers; then every client acts as kcoord there."
    )
    upstream_ssl_key_location: Path | None = _setting(None, "PEM file with that certificate's key.")
    upstream_ssl_key_password: str | None = _setting(None, "Password of that key.", repr=False)
    upstream_ssl_all_clients_are_kcoord: bool = _setting(
        False, "Says that it is meant that all clients act with the rights of `upstream.ssl.certificate.location`."
    )
    upstream_socket_connection_setup_timeout_ms: int = _setting(
        10_000, "How long a connection to a broker may take to come about.", unit="ms", ge=1
    )
    upstream_request_timeout_ms: int = _setting(
        30_000, "How long a broker may take to answer a question of kcoord's own.", unit="ms", ge=1
    )
    gateway_port_offset: int = _setting(
        1,
        "Broker b is reached at kcoord's port + this + b. The same after every restart, as clients remember ports.",
        ge=1,
    )
    gateway_broker_ports: Annotated[dict[int, Port], BeforeValidator(_broker_ports)] = _setting(
        {}, "Ports of single brokers where that rule does not fit, BROKER=PORT,…"
    )
    gateway_question_interval_ms: int = _setting(
        4 * _MINUTE_MS,
        "How often at least a member's connection asks its broker for the member's rights: brokers cut connections "
        "that are silent, and a member's heartbeats end at kcoord.",
        unit="ms",
        ge=1000,
    )
    gateway_rights_ttl_ms: int = _setting(
        5 * _MINUTE_MS,
        "How long a right that the cluster has confirmed holds, if that is less than `gateway.question.interval.ms`.",
        unit="ms",
        ge=1,
    )
    gateway_sentinel_session_timeout_ms: int = _setting(
        30 * _MINUTE_MS,
        "The session by which kcoord holds a group in the cluster; less where the cluster allows less.",
        unit="ms",
        ge=1000,
    )
    gateway_sentinel_grace_ms: int = _setting(
        5000, "How long kcoord holds a group in the cluster after its last member left.", unit="ms", ge=0
    )
    gateway_adopt: Literal["auto", "manual"] | None = _setting(
        None,
        "When a group that has members at the cluster becomes kcoord's: `auto`, as soon as all of them come through "
        "kcoord; `manual`, when `kcoord groups adopt` says so. Its members notice nothing. If it is not set: `auto`, "
        "but `manual` where kcoord finds a log from before it could adopt groups.",
    )
    gateway_outage_ms: int = _setting(
        2 * _MINUTE_MS, "How long members are kept while their broker cannot be reached.", unit="ms", ge=0
    )
    gateway_patience_ms: int = _setting(
        2000, "How long a request waits for a broker to come back before it gets a retriable error.", unit="ms", ge=0
    )


SECTIONS: tuple[type[_Section], ...] = (
    Place,
    Connections,
    Tls,
    Groups,
    ConnectGroups,
    Offsets,
    Log,
    KafkaLog,
    Instances,
    Upstream,
)


class Settings(Upstream, Instances, KafkaLog, Log, Offsets, ConnectGroups, Groups, Tls, Connections, Place):
    """All settings, checked; made by `config.load_settings`."""

    @property
    def log_brokers(self) -> tuple[Address, ...]:
        """Where the cluster that has the log's topic is reached."""
        return self.log_bootstrap or self.upstream

    @property
    def log_protocol(self) -> str:
        """What the listener of `log_brokers` speaks."""
        inherited = "PLAINTEXT" if self.log_bootstrap else self.upstream_security_protocol
        return self.log_security_protocol or inherited

    @property
    def log_authorities(self) -> Path | None:
        """PEM file with the authorities that `log_brokers`' certificates are checked against; None: the system's."""
        return self.log_ssl_ca_location or (None if self.log_bootstrap else self.upstream_ssl_ca_location)

    @property
    def log_checks_hostname(self) -> bool:
        """Whether a certificate of `log_brokers` must name its host."""
        given = "log_ssl_endpoint_identification_algorithm" in self.model_fields_set
        own, theirs = (
            self.log_ssl_endpoint_identification_algorithm,
            self.upstream_ssl_endpoint_identification_algorithm,
        )
        return (own if given or self.log_bootstrap else theirs) == "https"


def setting_name(field: str) -> str:
    """The name that people write for a field of Settings."""
    return field.replace("_", ".")
