"""All settings of kcoord, with their types, limits, defaults and meanings.

Every setting is a field here. Its name is the field's name with dots for underscores; it is Apache Kafka's name if
Kafka has the same setting. Type and limits are checked, and the meaning is written beside the field.
`docs/configuration.md` is generated from this file. `settings_sources` says where values come from, `settings_checks`
which settings contradict each other.
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
    """A setting does not exist or does not fit. The text is one line: what, where it came from, what to do."""


def _address(value: object) -> object:
    return parse_address(value.strip()) if isinstance(value, str) else value


def _addresses(value: object) -> object:
    parts = value.split(",") if isinstance(value, str) else value
    return [_address(part) for part in parts] if isinstance(parts, list | tuple) else parts


def _words(value: object) -> object:
    words = [word.strip() for word in value.split(",")] if isinstance(value, str) else value
    if isinstance(words, list | tuple):
        if not all(words):
            raise ValueError("write names separated by commas, none of them empty")
        if len(set(words)) < len(words):
            raise ValueError("a name is there twice")
    return words


def _expressions(value: object) -> object:
    expressions = (value,) if isinstance(value, str) else value  # one only: an expression may contain commas
    for expression in expressions if isinstance(expressions, list | tuple) else ():
        if isinstance(expression, str) and not expression.strip():
            raise ValueError("an empty expression matches no group (is a variable unset?); '.*' matches all groups")
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


def _topics(value: object) -> object:
    if not isinstance(value, str):
        return value
    pairs = [part.strip().rpartition(":") for part in value.split(",") if part.strip()]
    if not all(name and count.isdecimal() for name, _, count in pairs):
        raise ValueError(f"{value!r} is not of the form TOPIC:PARTITIONS,TOPIC:PARTITIONS")
    if len({name for name, _, _ in pairs}) < len(pairs):
        raise ValueError("a topic is there twice")
    return {name: int(count) for name, _, count in pairs}


def _yes_or_no(value: object) -> object:
    return str(value).lower() if isinstance(value, bool) else value


AddressValue = Annotated[Address, BeforeValidator(_address)]
Port = Annotated[int, Field(ge=1, le=65535)]


def _setting(default: object, about: str, *, unit: str = "", **limits: Any) -> Any:
    return Field(default=default, description=about, json_schema_extra={"unit": unit} if unit else None, **limits)


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


class Place(_Section):
    """Where kcoord is"""

    listen: AddressValue = _setting(
        ("localhost", 9092),
        "Where clients connect first. In front of a cluster, the ports for the brokers follow this port.",
    )
    advertise: AddressValue | None = _setting(
        None,
        "Host and port that clients are told to connect to. Set it if clients reach kcoord by another name or "
        "port, as behind a load balancer or in a container. Set it also if clients check the host in kcoord's TLS "
        "certificate. Without it, kcoord tells each client the IP address at which the client's connection "
        "arrived, but instances that share a log in a topic tell clients what `listen` says. In front of a "
        "cluster, and with a log in a topic, it is needed if kcoord listens on all addresses (`0.0.0.0`, `::`).",
    )
    data_dir: Path = _setting(
        Path("data"),
        "Directory of kcoord's own files: its log, and what it knows about the cluster. kcoord "
        "creates it if it is missing.",
    )
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = _setting(
        "INFO", "The lowest level of lines that are logged (on stderr)."
    )


class Connections(_Section):
    """Connections"""

    max_connections: int = _setting(MAX_INT32, "The most connections in total; newer ones are closed at once.", ge=1)
    max_connections_per_ip: int = _setting(
        MAX_INT32, "The most connections from one address; newer ones are closed at once.", ge=1
    )
    connections_max_idle_ms: int = _setting(
        10 * _MINUTE_MS, "A connection on which nothing happens for this long is closed.", unit="ms", ge=1
    )
    connections_authentication_timeout_ms: int = _setting(
        30_000,
        "How long a new connection may take to authenticate: for the TLS handshake, and for the SASL exchange in "
        "front of a cluster that uses SASL. A connection that takes longer is closed.",
        unit="ms",
        ge=1,
    )
    request_progress_timeout_ms: int = _setting(
        30_000,
        "How long a request may take to arrive. A request that takes longer must arrive at an average of at "
        "least 1 KiB a second; otherwise its connection is closed.",
        unit="ms",
        ge=1,
    )
    queued_max_request_bytes: int = _setting(
        512 << 20,
        "The most bytes that kcoord holds, over all connections, of unfinished requests and of responses that "
        "clients do not read. Above this limit connections are closed, the oldest of the large ones first.",
        unit="bytes",
        ge=1024,
    )
    request_max_groups: int = _setting(
        100_000,
        "The most groups, or other resources, that one request may name. A request that names many is handled in "
        "slices, so that other clients get their turn in between. If a request names more, its connection is "
        "closed.",
        ge=1,
    )
    request_max_elements: int = _setting(
        20_000,
        "The most elements that all other arrays of one request may have together (topics, partitions, members, "
        "…). A request with more is refused before it is decoded.",
        ge=100,
    )
    response_max_bytes: int = _setting(
        64 << 20,
        "The largest response to a request that names many groups. Groups that do not fit into it get INVALID_REQUEST.",
        unit="bytes",
        ge=1024,
    )
    socket_request_max_bytes: int = _setting(
        100 << 20, "The largest request. A connection that announces a larger one is closed.", unit="bytes", ge=1024
    )
    sasl_server_max_receive_size: int = _setting(
        1 << 20,
        "The largest request of a client that has not authenticated yet, in front of a cluster that uses SASL. A "
        "connection that announces a larger one is closed.",
        unit="bytes",
        ge=1024,
    )


class Tls(_Section):
    """TLS on kcoord's own ports"""

    ssl_certificate_location: Path | None = _setting(
        None,
        "PEM file with kcoord's certificate and its chain. If it is set, all ports speak TLS; otherwise none does.",
    )
    ssl_key_location: Path | None = _setting(
        None, "PEM file with the certificate's key. Not needed if both are in one file."
    )
    ssl_key_password: str | None = _setting(None, "Password of the key.", repr=False)
    ssl_client_auth: Literal["none", "required"] = _setting(
        "none",
        "Whether clients must show a certificate. Not possible in front of a cluster, because kcoord cannot pass "
        "certificates on.",
    )
    ssl_ca_location: Path | None = _setting(
        None, "PEM file with the authorities that sign clients' certificates, if certificates are required."
    )


class Groups(_Section):
    """Groups"""

    group_initial_rebalance_delay_ms: int = _setting(
        3000,
        "How long the first rebalance of an empty group waits for more members. So a fleet that starts together "
        "is assigned once, and not once for each member.",
        unit="ms",
        ge=0,
    )
    group_min_session_timeout_ms: int = _setting(
        6000, "The shortest session timeout that a member may ask for.", unit="ms", ge=1
    )
    group_max_session_timeout_ms: int = _setting(
        30 * _MINUTE_MS, "The longest session timeout that a member may ask for.", unit="ms", ge=1
    )
    group_max_size: int = _setting(MAX_INT32, "The most members in one group; more are refused.", ge=1)
    group_max_bytes: int = _setting(
        30 << 20,
        "The most bytes of ids, metadata and assignments of all members of one group together. A request that "
        "would exceed it is refused. One record of the log must hold them, so set the topic's "
        "`max.message.bytes` above this.",
        unit="bytes",
        ge=1024,
    )
    group_max_member_metadata_bytes: int = _setting(
        4 << 20,
        "The most metadata that one member may bring, for all its protocols or assignors together; more is refused.",
        unit="bytes",
        ge=1024,
    )
    group_max_id_length: int = _setting(
        1024,
        "The most characters in the id of a group or member, in the name of a protocol, assignor or connector, "
        "and in a url. Longer ones are refused. A longer client id is cut.",
        ge=292,
        le=MAX_INT16,
    )
    max_group_creation_rate: int = _setting(
        100,
        "How many groups one connection may create in a second, beyond `max.group.creation.burst`. Further ones "
        "get a retriable error.",
        ge=1,
    )
    max_group_creation_burst: int = _setting(10_000, "How many groups one connection may create at once.", ge=1)


class ConnectGroups(_Section):
    """Connect groups: workers of the new protocol"""

    group_connect_enable: bool = _setting(
        True,
        "Whether kcoord serves connect groups. If not, kcoord does not offer their APIs, and workers that were "
        "members before are removed when their sessions end.",
    )
    group_connect_session_timeout_ms: int = _setting(
        45_000, "A worker that sends no heartbeat for this long is removed.", unit="ms", ge=1
    )
    group_connect_min_session_timeout_ms: int = _setting(
        6_000, "The shortest session timeout that may be set for one group.", unit="ms", ge=1
    )
    group_connect_max_session_timeout_ms: int = _setting(
        60_000, "The longest session timeout that may be set for one group.", unit="ms", ge=1
    )
    group_connect_heartbeat_interval_ms: int = _setting(
        5_000,
        "How often workers are told to send a heartbeat; at most a third of the session timeout.",
        unit="ms",
        ge=1,
    )
    group_connect_min_heartbeat_interval_ms: int = _setting(
        5_000, "The shortest heartbeat interval that may be set for one group.", unit="ms", ge=1
    )
    group_connect_max_heartbeat_interval_ms: int = _setting(
        15_000, "The longest heartbeat interval that may be set for one group.", unit="ms", ge=1
    )
    group_connect_max_size: int = _setting(MAX_INT32, "The most workers in one group; more are refused.", ge=1)
    group_connect_max_resources: int = _setting(
        20_000,
        "The most connectors and tasks in one list: what exists, what one worker runs, what is assigned in one "
        "step. Longer lists are refused.",
        ge=1,
    )
    group_connect_assignors: Annotated[tuple[str, ...], BeforeValidator(_words)] = _setting(
        ("uniform", "cooperative"),
        "Assignors that run in kcoord, the default first. You can name uniform, cooperative, the policies eager, "
        "design-1, design-2, design-3 and kip-415, and assignors of packages that are installed beside kcoord "
        "(entry point group `kcoord.assignors`).",
        min_length=1,
    )
    group_connect_rebalance_delay_ms: int = _setting(
        5 * _MINUTE_MS,
        "How long the connectors and tasks of a worker that is gone wait for its return before others get them.",
        unit="ms",
        ge=0,
    )
    group_connect_max_rebalance_delay_ms: int = _setting(
        60 * _MINUTE_MS,
        "The longest rebalance delay that may be set for one group, or that an assignor may ask for.",
        unit="ms",
        ge=0,
    )
    group_connect_migration_policy: Literal["bidirectional", "upgrade", "downgrade", "disabled"] = _setting(
        "bidirectional",
        "Which way a group of Connect workers may change its protocol. `upgrade`: it becomes a connect group "
        "when the first worker of the new protocol joins. `downgrade`: it becomes a classic group again when the "
        "last such worker leaves. `bidirectional`: both; `disabled`: neither.",
    )
    group_connect_classic_mode: Literal["barrier", "individual"] = _setting(
        "barrier",
        "How kcoord manages a group that has only classic workers, which speak the classic protocol. `barrier`: with "
        "the barrier of that protocol, so that all workers rejoin whenever something changes. `individual`: each "
        "worker by itself.",
    )
    group_connect_classic_heartbeat_wait_ms: int = _setting(
        -1,
        "How long kcoord may hold the response to a heartbeat of a classic worker in a connect group, at most a "
        "third of the worker's session timeout. kcoord sends the response at once when it has something to tell "
        "the worker, and in any case when the next heartbeat comes. So if this is longer than the workers' "
        "`heartbeat.interval.ms`, kcoord can tell a worker something at any time. 0: not at all; -1: 10000 if "
        "`group.connect.classic.mode` is `individual`, otherwise 0.",
        unit="ms",
        ge=-1,
        le=30_000,
    )
    group_connect_classic_leader_wait_ms: int = _setting(
        15_000,
        "Classic workers that are managed one by one have a leader. If it shuts down cleanly, it may only be "
        "restarting. So no other worker becomes leader for this time. Meanwhile requests that only a leader can "
        "serve fail, and exactly-once source tasks do not start. 0: another worker becomes leader at once.",
        unit="ms",
        ge=0,
        le=300_000,
    )


class ConsumerGroups(_Section):
    """Consumer groups: consumers of the new protocol (`group.protocol=consumer`)"""

    group_consumer_enable: Annotated[Literal["auto", "true", "false"], BeforeValidator(_yes_or_no)] = _setting(
        "auto",
        "Whether kcoord serves consumer groups. `auto`: if it runs without a cluster. `true`: also in front of a "
        "cluster, those that `groups` names. `false`: kcoord offers neither their APIs nor topics.",
    )
    topics: Annotated[dict[str, Annotated[int, Field(ge=1)]], BeforeValidator(_topics)] = _setting(
        {},
        "Topics of a kcoord without a cluster, and how many partitions each has, as TOPIC:PARTITIONS, separated by "
        "commas. kcoord creates those that do not exist, and adds partitions where there are fewer. It removes none "
        "(`kcoord topics`). These topics never have any data.",
    )
    group_consumer_session_timeout_ms: int = _setting(
        45_000, "A consumer that sends no heartbeat for this long is removed.", unit="ms", ge=1
    )
    group_consumer_min_session_timeout_ms: int = _setting(
        45_000, "The shortest session timeout that may be set for one group.", unit="ms", ge=1
    )
    group_consumer_max_session_timeout_ms: int = _setting(
        60_000, "The longest session timeout that may be set for one group.", unit="ms", ge=1
    )
    group_consumer_heartbeat_interval_ms: int = _setting(
        5_000,
        "How often consumers are told to send a heartbeat; less than the session timeout.",
        unit="ms",
        ge=1,
    )
    group_consumer_min_heartbeat_interval_ms: int = _setting(
        5_000, "The shortest heartbeat interval that may be set for one group.", unit="ms", ge=1
    )
    group_consumer_max_heartbeat_interval_ms: int = _setting(
        15_000, "The longest heartbeat interval that may be set for one group.", unit="ms", ge=1
    )
    group_consumer_heartbeat_wait_ms: int = _setting(
        -1,
        "How long kcoord may hold the response to a heartbeat, at most a third of the session timeout. kcoord sends it "
        "at once when it has something to tell the consumer. -1: as long as the heartbeat interval allows; 0: not at "
        "all, as in Kafka.",
        unit="ms",
        ge=-1,
    )
    group_consumer_assignment_interval_ms: int = _setting(
        0,
        "The shortest time between two assignments of a group. Whatever changes within that time comes into one "
        "assignment. 0: each change at once.",
        unit="ms",
        ge=0,
    )
    group_consumer_min_assignment_interval_ms: int = _setting(
        0, "The shortest time between two assignments that may be set for one group.", unit="ms", ge=0
    )
    group_consumer_max_assignment_interval_ms: int = _setting(
        15_000, "The longest time between two assignments that may be set for one group.", unit="ms", ge=0
    )
    group_consumer_max_size: int = _setting(MAX_INT32, "The most consumers in one group; more are refused.", ge=1)
    group_consumer_migration_policy: Literal["bidirectional", "upgrade", "downgrade", "disabled"] = _setting(
        "bidirectional",
        "Which way a group of consumers may change its protocol, where kcoord serves consumer groups. `upgrade`: it "
        "becomes a consumer group when the first consumer of the new protocol joins. `downgrade`: it becomes a classic "
        "group again when the last such consumer leaves. `bidirectional`: both; `disabled`: neither.",
    )
    group_consumer_classic_mode: Literal["barrier", "individual"] = _setting(
        "barrier",
        "How kcoord manages a group that has only consumers of the classic protocol. `barrier`: with the barrier of "
        "that protocol, so that all consumers rejoin whenever something changes. `individual`: each consumer by "
        "itself; kcoord assigns, in place of a leader.",
    )
    group_consumer_assignors: Annotated[tuple[str, ...], BeforeValidator(_words)] = _setting(
        ("uniform", "range"),
        "Assignors that consumers may ask for (`group.remote.assignor`). The first serves groups whose consumers ask "
        "for none. You can name uniform, range, and assignors of packages that are installed beside kcoord (entry "
        "point group `kcoord.consumer_assignors`).",
        min_length=1,
    )
    group_consumer_client_assignors_enable: bool = _setting(
        False,
        "Whether consumers may compute the assignments of their groups (client-side assignors). Only kcoord's own "
        "consumer for Python can do that. If all members of a group list one assignor, one of them computes.",
    )


class Offsets(_Section):
    """Offsets that kcoord keeps itself (without a cluster behind it)"""

    offset_metadata_max_bytes: int = _setting(
        4096, "The longest text that a client may store with an offset.", unit="bytes", ge=0
    )
    group_max_offsets: int = _setting(
        200_000, "The most partitions for which one group may keep offsets; more are refused.", ge=1
    )
    offsets_retention_minutes: int = _setting(
        7 * 24 * 60, "How long offsets are kept after their group has become empty.", unit="minutes", ge=1
    )
    offsets_retention_check_interval_ms: int = _setting(
        10 * _MINUTE_MS, "How often kcoord looks for expired offsets.", unit="ms", ge=1
    )


class Log(_Section):
    """The log of records"""

    log: Literal["embedded", "kafka"] = _setting(
        "embedded",
        "Where kcoord keeps its records. `embedded`: in a file of its own in `data.dir`. `kafka`: in a topic of "
        "a Kafka cluster, where several instances share them.",
    )
    compatible_with: Literal["0.1.0"] | None = _setting(
        None,
        "An earlier release that must be able to take over from this one at any time. Set it on all instances "
        "before you go back to that release, and while you may still undo an upgrade. While it is set, kcoord "
        "writes nothing, and leaves nothing in the cluster, that the earlier release does not know.",
    )
    offsets_topic_num_partitions: int = _setting(
        50,
        "Partitions of the log. Groups are spread over them. You cannot change the number later: it is fixed when "
        "kcoord creates the file or the topic.",
        ge=1,
    )
    history_retention_ms: int = _setting(
        _DAY_MS,
        "How long kcoord keeps records that newer ones have replaced, so that history can be read. For a topic, "
        "kcoord uses it only when it creates the topic (`min.compaction.lag.ms`).",
        unit="ms",
        ge=0,
    )
    history_retention_bytes: int = _setting(
        1 << 30,
        "The most bytes of the file that replaced records may take. They never take more than half of what the "
        "disk has room for. Beyond that, kcoord removes records of the groups that have most of them first. -1: "
        "only the disk limits them. Not for a topic.",
        unit="bytes",
        ge=-1,
    )
    log_retention_check_interval_ms: int = _setting(
        5 * _MINUTE_MS,
        "How often kcoord looks through the file for records that it may remove. It also does so when an eighth "
        "of `history.retention.bytes` has been written. For a topic, the brokers have settings of their own.",
        unit="ms",
        ge=1,
    )


class KafkaLog(_Section):
    """The log in a topic (`log=kafka`)"""

    log_bootstrap: Annotated[tuple[Address, ...], BeforeValidator(_addresses)] = _setting(
        (),
        "Some brokers of the cluster that has the topic, as HOST:PORT,…. kcoord connects to them first. If not "
        "set: those of `upstream`.",
    )
    log_topic: str = _setting(
        "__worker_offsets",
        "Name of the topic. kcoord creates it if it is missing, and refuses a topic that is not compacted.",
        pattern=r"^[a-zA-Z0-9._\-]{1,249}$",
    )
    offsets_topic_replication_factor: int | None = _setting(
        None,
        "Replicas of the topic when kcoord creates it; if not set, 3, or as many as there are brokers.",
        ge=1,
        le=MAX_INT16,
    )
    log_security_protocol: Literal["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"] | None = _setting(
        None,
        "The protocol of those brokers' listener. If not set: `upstream.security.protocol` if `log.bootstrap` is "
        "not set either, otherwise PLAINTEXT.",
    )
    log_sasl_mechanism: Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "GSSAPI", "OAUTHBEARER"] | None = _setting(
        None, "How kcoord logs in to those brokers."
    )
    log_sasl_username: str | None = _setting(None, "kcoord's user name at those brokers, for PLAIN and SCRAM.")
    log_sasl_password: str | None = _setting(
        None, "kcoord's password at those brokers, for PLAIN and SCRAM.", repr=False
    )
    log_sasl_kerberos_service_name: str = _setting("kafka", "The brokers' Kerberos service name, for GSSAPI.")
    log_sasl_kerberos_domain_name: str | None = _setting(
        None, "The brokers' Kerberos domain name, for GSSAPI; if not set, each broker's host."
    )
    log_sasl_oauth_token_provider: str | None = _setting(
        None,
        "Where tokens for OAUTHBEARER come from, as MODULE:ATTRIBUTE: a class, or a function without arguments, "
        "that makes an `aiokafka.abc.AbstractTokenProvider`.",
        pattern=r"^[\w.]+:[\w.]+$",
    )
    log_ssl_ca_location: Path | None = _setting(
        None,
        "PEM file with the authorities that sign the brokers' certificates. If not set: those of "
        "`upstream.ssl.ca.location` if `log.bootstrap` is not set either, otherwise the system's.",
    )
    log_ssl_certificate_location: Path | None = _setting(
        None, "PEM file with a certificate that kcoord shows to the brokers, and its chain."
    )
    log_ssl_key_location: Path | None = _setting(
        None, "PEM file with that certificate's key. Not needed if both are in one file."
    )
    log_ssl_key_password: str | None = _setting(None, "Password of that key.", repr=False)
    log_ssl_endpoint_identification_algorithm: Literal["https", "none", ""] = _setting(
        "https",
        "Whether a broker's certificate must name its host: `https` for yes; `none` or empty for no check. If "
        "neither this nor `log.bootstrap` is set, the upstream setting counts.",
    )
    coordinator_lease_ms: int = _setting(
        5000,
        "How long an instance may respond for the groups of a partition, counted from the start of its last "
        "successful commit there. If it has nothing to write, it commits a tick in time.",
        unit="ms",
        ge=1000,
    )


class Instances(_Section):
    """Several instances (`log=kafka`)"""

    instance_id: int = _setting(
        0, "This instance's number. No other instance with the same topic may have it.", ge=0, le=MAX_INT32
    )
    instances_group: str = _setting(
        "kcoord-instances", "The consumer group in which the instances share the topic's partitions.", min_length=1
    )
    instances_session_timeout_ms: int = _setting(
        6_000,
        "If that consumer group hears nothing from an instance for this long, the instance is gone, and others "
        "take over its groups.",
        unit="ms",
        ge=1,
    )
    instances_heartbeat_interval_ms: int = _setting(
        300, "How often instances send a heartbeat to that consumer group, and learn of changes.", unit="ms", ge=1
    )
    internal_listen: AddressValue | None = _setting(
        None,
        "Where other instances send requests for this instance's groups. It needs `internal.secret`, or a "
        "certificate and the authorities that sign the others' certificates. Without `internal.listen`, other "
        "instances cannot pass requests on to this one.",
    )
    internal_advertise: AddressValue | None = _setting(
        None, "Host and port at which other instances reach that listener, if that is not what `internal.listen` says."
    )
    internal_secret: str | None = _setting(
        None,
        "A secret that all instances know, and nobody else. kcoord rejects an instance that cannot prove that it "
        "knows the secret.",
        repr=False,
        min_length=16,
    )
    internal_ssl_certificate_location: Path | None = _setting(
        None,
        "PEM file with the certificate, and its chain, that this instance shows to other instances, as "
        "client and as server.",
    )
    internal_ssl_key_location: Path | None = _setting(
        None, "PEM file with that certificate's key. Not needed if both are in one file."
    )
    internal_ssl_key_password: str | None = _setting(None, "Password of that key.", repr=False)
    internal_ssl_ca_location: Path | None = _setting(
        None, "PEM file with the authorities that sign other instances' certificates."
    )


class Upstream(_Section):
    """In front of a cluster"""

    upstream: Annotated[tuple[Address, ...], BeforeValidator(_addresses)] = _setting(
        (),
        "Some brokers of the cluster behind kcoord, as HOST:PORT,…. kcoord connects to them first and learns the "
        "others from them.",
    )
    groups: Annotated[tuple[str, ...], BeforeValidator(_expressions)] = _setting(
        (),
        "Regular expressions. kcoord coordinates each group whose whole name matches one of them; the cluster "
        "coordinates all others. Needed with `upstream`; `.*` means all groups. A file may list several; `-o` "
        "and the environment hold one.",
    )
    upstream_security_protocol: Literal["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"] = _setting(
        "PLAINTEXT", "The protocol of the cluster's listener. Clients' SASL exchanges pass through kcoord unchanged."
    )
    upstream_ssl_ca_location: Path | None = _setting(
        None, "PEM file with the authorities that sign the brokers' certificates; if not set, the system's authorities."
    )
    upstream_ssl_endpoint_identification_algorithm: Literal["https", "none", ""] = _setting(
        "https", "Whether a broker's certificate must name its host: `https` for yes; `none` or empty for no check."
    )
    upstream_ssl_certificate_location: Path | None = _setting(
        None,
        "PEM file with a certificate that kcoord shows to the brokers. Every client then acts with "
        "kcoord's rights there.",
    )
    upstream_ssl_key_location: Path | None = _setting(None, "PEM file with that certificate's key.")
    upstream_ssl_key_password: str | None = _setting(None, "Password of that key.", repr=False)
    upstream_ssl_all_clients_are_kcoord: bool = _setting(
        False, "Confirms that all clients are meant to act with the rights of `upstream.ssl.certificate.location`."
    )
    upstream_socket_connection_setup_timeout_ms: int = _setting(
        10_000, "How long kcoord may take to connect to a broker.", unit="ms", ge=1
    )
    upstream_request_timeout_ms: int = _setting(
        30_000, "How long a broker may take to respond to kcoord's own requests.", unit="ms", ge=1
    )
    gateway_port_offset: int = _setting(
        1,
        "Clients reach broker b at kcoord's port + this number + b. Keep it the same over restarts, because "
        "clients remember ports.",
        ge=1,
    )
    gateway_broker_ports: Annotated[dict[int, Port], BeforeValidator(_broker_ports)] = _setting(
        {}, "Ports of single brokers for which that rule does not fit, as BROKER=PORT,…"
    )
    gateway_question_interval_ms: int = _setting(
        4 * _MINUTE_MS,
        "How often, at least, a member's connection asks its broker for the member's rights. Brokers cut silent "
        "connections, and a member's heartbeats do not reach the broker.",
        unit="ms",
        ge=1000,
    )
    gateway_rights_ttl_ms: int = _setting(
        5 * _MINUTE_MS,
        "How long kcoord relies on a right that the cluster has confirmed, if that is less than "
        "`gateway.question.interval.ms`.",
        unit="ms",
        ge=1,
    )
    gateway_sentinel_session_timeout_ms: int = _setting(
        30 * _MINUTE_MS,
        "The session timeout of the member with which kcoord holds a group in the cluster. It is less if the "
        "cluster allows less.",
        unit="ms",
        ge=1000,
    )
    gateway_sentinel_grace_ms: int = _setting(
        5000, "How long kcoord holds a group in the cluster after the group's last member has left.", unit="ms", ge=0
    )
    gateway_adopt: Literal["auto", "manual"] | None = _setting(
        None,
        "When kcoord takes over a group that has members at the cluster. `auto`: as soon as all of them come "
        "through kcoord. `manual`: when `kcoord groups adopt` says so. The members notice nothing. If not set: "
        "`auto`, but `manual` if kcoord finds a log from before it could adopt groups.",
    )
    gateway_outage_ms: int = _setting(
        2 * _MINUTE_MS, "How long kcoord keeps members while their broker cannot be reached.", unit="ms", ge=0
    )
    gateway_patience_ms: int = _setting(
        2000, "How long a request waits for a broker to come back before it gets a retriable error.", unit="ms", ge=0
    )
    gateway_topics_interval_ms: int = _setting(
        5000,
        "How often kcoord looks at the topics to which consumers of the new protocol subscribe, in front of a cluster.",
        unit="ms",
        ge=100,
    )


SECTIONS: tuple[type[_Section], ...] = (
    Place,
    Connections,
    Tls,
    Groups,
    ConnectGroups,
    ConsumerGroups,
    Offsets,
    Log,
    KafkaLog,
    Instances,
    Upstream,
)


class Settings(
    Upstream, Instances, KafkaLog, Log, Offsets, ConsumerGroups, ConnectGroups, Groups, Tls, Connections, Place
):
    """All settings, checked. `config.load_settings` makes them."""

    @property
    def log_brokers(self) -> tuple[Address, ...]:
        """The bootstrap addresses of the cluster that has the log's topic."""
        return self.log_bootstrap or self.upstream

    @property
    def log_protocol(self) -> str:
        """The security protocol of the listener at `log_brokers`."""
        inherited = "PLAINTEXT" if self.log_bootstrap else self.upstream_security_protocol
        return self.log_security_protocol or inherited

    @property
    def log_authorities(self) -> Path | None:
        """The PEM file with the authorities for the certificates of `log_brokers`; None: the system's authorities."""
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
    """The name of the setting for a field of Settings."""
    return field.replace("_", ".")
