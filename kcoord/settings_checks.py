"""The checks of settings that contradict each other.

Each check yields what is wrong and what to do, or nothing. The first such text is the error that refuses the settings.
A setting that would have no effect with the others is wrong too.
"""

from collections.abc import Callable, Iterator, Mapping

from kcoord.settings import WILDCARD_HOSTS, Instances, KafkaLog, Settings, SettingsError, setting_name

Origins = Mapping[str, str]
"""Field → where the value came from. A field at its default is not in it."""
Check = Callable[[Settings, Origins], Iterator[str]]

ORDERED = (
    ("group_min_session_timeout_ms", "group_max_session_timeout_ms"),
    ("group_connect_min_session_timeout_ms", "group_connect_session_timeout_ms"),
    ("group_connect_session_timeout_ms", "group_connect_max_session_timeout_ms"),
    ("group_connect_min_heartbeat_interval_ms", "group_connect_heartbeat_interval_ms"),
    ("group_connect_heartbeat_interval_ms", "group_connect_max_heartbeat_interval_ms"),
    ("group_connect_heartbeat_interval_ms", "group_connect_session_timeout_ms"),
    ("group_consumer_min_session_timeout_ms", "group_consumer_session_timeout_ms"),
    ("group_consumer_session_timeout_ms", "group_consumer_max_session_timeout_ms"),
    ("group_consumer_min_heartbeat_interval_ms", "group_consumer_heartbeat_interval_ms"),
    ("group_consumer_heartbeat_interval_ms", "group_consumer_max_heartbeat_interval_ms"),
    ("group_consumer_heartbeat_interval_ms", "group_consumer_session_timeout_ms"),
    ("group_consumer_min_assignment_interval_ms", "group_consumer_assignment_interval_ms"),
    ("group_consumer_assignment_interval_ms", "group_consumer_max_assignment_interval_ms"),
    ("group_connect_rebalance_delay_ms", "group_connect_max_rebalance_delay_ms"),
    ("group_max_member_metadata_bytes", "group_max_bytes"),
    ("instances_heartbeat_interval_ms", "instances_session_timeout_ms"),
)
"""Pairs of settings of which the first must not be larger than the second."""


def check_together(settings: Settings, origins: Origins) -> None:
    """Raise SettingsError if settings contradict each other."""
    for check in CHECKS:
        for complaint in check(settings, origins):
            raise SettingsError(complaint)


def groups_and_cluster(settings: Settings, origins: Origins) -> Iterator[str]:
    """`groups` is needed in front of a cluster, and allowed only there."""
    if settings.upstream and not settings.groups:
        yield (
            "--upstream needs --groups: say which groups kcoord is to coordinate, as regular expressions "
            "(--groups 'connect-.*', or --groups '.*' for all); the others stay with the cluster"
        )
    if settings.groups and not settings.upstream:
        yield f"{origins['groups']}: --groups needs --upstream; a kcoord that runs alone coordinates all groups"


def topics(settings: Settings, origins: Origins) -> Iterator[str]:
    """Topics are declared only where there is no cluster, and where they serve anything."""
    if settings.topics and settings.upstream:
        yield f"{origins['topics']}: in front of a cluster, topics are the cluster's: leave topics out"
    if settings.topics and settings.group_consumer_enable == "false":
        yield (
            f"{origins['topics']}: declared topics are for consumer groups, which group.consumer.enable=false switches "
            "off: leave out one of the two"
        )


def order(settings: Settings, _origins: Origins) -> Iterator[str]:
    """A minimum must not be larger than its maximum."""
    for less, more in ORDERED:
        if getattr(settings, less) > getattr(settings, more):
            yield (
                f"{setting_name(less)}={getattr(settings, less)} is more than "
                f"{setting_name(more)}={getattr(settings, more)}"
            )


def addresses(settings: Settings, origins: Origins) -> Iterator[str]:
    """Clients and instances cannot connect to a wildcard address."""
    if settings.listen[0] in WILDCARD_HOSTS and not settings.advertise and (settings.upstream or on_kafka(settings)):
        yield (
            f"{origins['listen']}: clients cannot be sent to {settings.listen[0]}; say with --advertise HOST:PORT "
            "how they reach kcoord"
        )
    internal = settings.internal_listen
    if internal and internal[0] in WILDCARD_HOSTS and not settings.internal_advertise:
        yield (
            f"{origins['internal_listen']}: other instances cannot be sent to {internal[0]}; set "
            "internal.advertise=HOST:PORT to the address at which they reach this one"
        )


def certificates(settings: Settings, origins: Origins) -> Iterator[str]:
    """A key needs a certificate, and clients' certificates must not be lost on their way to the cluster."""
    if settings.ssl_client_auth == "required":
        yield from _client_certificates(settings, origins["ssl_client_auth"])
    for prefix in ("", "upstream_", "log_", "internal_"):
        certificate, key = f"{prefix}ssl_certificate_location", f"{prefix}ssl_key_location"
        if getattr(settings, key) is not None and getattr(settings, certificate) is None:
            yield f"{origins[key]}: a key without its certificate: set {setting_name(certificate)} too"
    if settings.upstream_ssl_certificate_location is not None and not settings.upstream_ssl_all_clients_are_kcoord:
        yield (
            f"{origins['upstream_ssl_certificate_location']}: a certificate shown to the cluster makes every "
            "client act as kcoord there; leave it out, or set upstream.ssl.all.clients.are.kcoord=true if that is meant"
        )


def _client_certificates(settings: Settings, origin: str) -> Iterator[str]:
    if settings.ssl_certificate_location is None or settings.ssl_ca_location is None:
        yield (
            f"{origin}: clients show certificates over TLS, and kcoord must be able to check them: set "
            "ssl.certificate.location and ssl.ca.location too"
        )
    if settings.upstream and not settings.upstream_ssl_all_clients_are_kcoord:
        yield (
            f"{origin}: kcoord cannot pass clients' certificates on to the cluster, so clients would lose their "
            "own rights there: let clients use SASL, or say that this is meant "
            "(upstream.ssl.all.clients.are.kcoord=true)"
        )


def on_kafka(settings: Settings) -> bool:
    """Whether the log is in a topic."""
    return settings.log == "kafka"


def which_log(settings: Settings, origins: Origins) -> Iterator[str]:
    """Settings for one kind of log are refused with the other kind."""
    if not on_kafka(settings):
        for field in (*KafkaLog.model_fields, *Instances.model_fields):
            if field in origins:
                yield (
                    f"{origins[field]}: {setting_name(field)} is for a log in a topic: add --log kafka, or leave it out"
                )
        return
    if not settings.log_brokers:
        yield (
            f"{origins['log']}: which cluster has the log's topic? Give --log-bootstrap HOST:PORT,… (in front of "
            "a cluster, --upstream, that cluster is the default)"
        )
    if "log_retention_check_interval_ms" in origins:
        yield (
            f"{origins['log_retention_check_interval_ms']}: brokers decide when they compact a topic (their "
            "log.cleaner.backoff.ms); leave it out with --log kafka"
        )
    if "history_retention_bytes" in origins:
        yield (
            f"{origins['history_retention_bytes']}: a compacted topic has no limit of bytes; leave it out with "
            "--log kafka"
        )


SASL_NEEDS = {
    "PLAIN": ("log_sasl_username", "log_sasl_password"),
    "SCRAM-SHA-256": ("log_sasl_username", "log_sasl_password"),
    "SCRAM-SHA-512": ("log_sasl_username", "log_sasl_password"),
    "OAUTHBEARER": ("log_sasl_oauth_token_provider",),
    "GSSAPI": (),
}
"""The settings that each SASL mechanism needs."""
SASL_HEEDS = {**SASL_NEEDS, "GSSAPI": ("log_sasl_kerberos_service_name", "log_sasl_kerberos_domain_name")}
"""The settings that each SASL mechanism uses."""


def log_security(settings: Settings, origins: Origins) -> Iterator[str]:
    """The settings for authentication at the log's brokers fit the protocol of their listener."""
    if not on_kafka(settings):
        return
    protocol, mechanism = settings.log_protocol, settings.log_sasl_mechanism
    if protocol.startswith("SASL_"):
        if mechanism is None:
            yield f"log.security.protocol={protocol} needs log.sasl.mechanism: how kcoord authenticates"
        for field in SASL_NEEDS.get(mechanism or "", ()):
            if getattr(settings, field) is None:
                yield f"log.sasl.mechanism={mechanism} needs {setting_name(field)}"
    heeded = SASL_HEEDS.get(mechanism or "", ()) if protocol.startswith("SASL_") else ()
    for field in KafkaLog.model_fields:
        if field not in origins:
            continue
        if field.startswith("log_ssl_") and not protocol.endswith("SSL"):
            yield (
                f"{origins[field]}: kcoord connects to the log's brokers without TLS; set "
                "log.security.protocol=SSL (or SASL_SSL), or leave it out"
            )
        if field == "log_sasl_mechanism" and not protocol.startswith("SASL_"):
            yield (
                f"{origins[field]}: log.security.protocol={protocol} has no SASL; set it to SASL_SSL "
                "(or SASL_PLAINTEXT), or leave the mechanism out"
            )
        elif field.startswith("log_sasl_") and field != "log_sasl_mechanism" and field not in heeded:
            yield (
                f"{origins[field]}: log.sasl.mechanism={mechanism or 'none'} does not use {setting_name(field)}; "
                "leave it out"
            )


def internal_listener(settings: Settings, origins: Origins) -> Iterator[str]:
    """The internal listener always requires a proof: a secret, certificates, or both."""
    others = [field for field in Instances.model_fields if field.startswith("internal_") and field != "internal_listen"]
    if settings.internal_listen is None:
        for field in others:
            if field in origins:
                yield f"{origins[field]}: there is no internal listener: set internal.listen=HOST:PORT, or leave it out"
        return
    certificate, authorities = settings.internal_ssl_certificate_location, settings.internal_ssl_ca_location
    if (certificate is None) != (authorities is None):
        yield (
            f"{origins['internal_listen']}: instances show each other their certificates, and check them: set "
            "internal.ssl.certificate.location and internal.ssl.ca.location both, or neither"
        )
    if settings.internal_secret is None and certificate is None:
        yield (
            f"{origins['internal_listen']}: whoever reaches the internal listener could act for any client: set "
            "internal.secret (the same for all instances), or internal.ssl.certificate.location, "
            "internal.ssl.key.location and internal.ssl.ca.location"
        )


CHECKS: tuple[Check, ...] = (
    groups_and_cluster,
    topics,
    which_log,
    addresses,
    order,
    certificates,
    log_security,
    internal_listener,
)
