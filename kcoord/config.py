"""What can be set, what is it by default, and where does a value come from?

Every setting of kcoord is a field here: its name is the field's with dots for underscores (Apache Kafka's name where
Kafka has the same thing), its type and limits are checked, its meaning stands beside it. `docs/configuration.md` is
made from this file. Rules:

- A value given on the command line (`-o name=value`, or a flag) beats the environment (`KCOORD_NAME`, dots as
  underscores), that beats the file (`--config`, TOML), and that beats the default.
- A name that does not exist and a value that does not fit are refused, with where they came from and the nearest name
  that does exist. A mistyped setting must not be a silent default.
"""

import difflib
import os
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import attrs
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

Address = tuple[str, int]
"""Host and port."""

ENVIRONMENT_PREFIX = "KCOORD_"
CONFIG_VARIABLE = "KCOORD_CONFIG"
WILDCARD_HOSTS = ("0.0.0.0", "::")
MAX_INT32 = 2**31 - 1
_MINUTE_MS, _DAY_MS = 60_000, 86_400_000


class SettingsError(Exception):
    """A setting that does not exist or does not fit; the text is one line: what, where it came from, what to do."""


# Values that are more than a number or a word


def parse_address(text: str) -> Address:
    """Host and port of `text`: HOST:PORT, or [HOST]:PORT for an IPv6 address. Raises ValueError."""
    host, colon, port = text.rpartition(":")
    host = host[1:-1] if host.startswith("[") and host.endswith("]") else host
    if not colon or not host or not port.isdecimal() or int(port) > 65535:
        raise ValueError(f"{text!r} is no HOST:PORT")
    return host, int(port)


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


# The settings


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
        45_000, "The shortest session that may be set for one group.", unit="ms", ge=1
    )
    group_connect_max_session_timeout_ms: int = _setting(
        60_000, "The longest session that may be set for one group.", unit="ms", ge=1
    )
    group_connect_heartbeat_interval_ms: int = _setting(
        5_000, "How often workers are told to send a heartbeat.", unit="ms", ge=1
    )
    group_connect_min_heartbeat_interval_ms: int = _setting(
        5_000, "The shortest interval that may be set for one group.", unit="ms", ge=1
    )
    group_connect_max_heartbeat_interval_ms: int = _setting(
        15_000, "The longest interval that may be set for one group.", unit="ms", ge=1
    )
    group_connect_max_size: int = _setting(MAX_INT32, "Workers in one group; more are refused.", ge=1)
    group_connect_assignors: Annotated[tuple[str, ...], BeforeValidator(_words)] = _setting(
        ("uniform", "cooperative"),
        "Assignors that run in kcoord, the default first: uniform, cooperative, and what installed packages bring "
        "along under the entry point group `kcoord.assignors`.",
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


class Offsets(_Section):
    """Offsets that kcoord keeps itself (without a cluster behind it)"""

    offset_metadata_max_bytes: int = _setting(
        4096, "How long the text may be that a client stores beside an offset.", unit="bytes", ge=0
    )
    offsets_retention_minutes: int = _setting(
        7 * 24 * 60, "How long offsets are kept after their group became empty.", unit="minutes", ge=1
    )
    offsets_retention_check_interval_ms: int = _setting(
        10 * _MINUTE_MS, "How often expired offsets are looked for.", unit="ms", ge=1
    )


class Log(_Section):
    """The log of records"""

    offsets_topic_num_partitions: int = _setting(
        50, "Partitions of the log, over which groups are spread. Fixed by the first start on a data directory.", ge=1
    )
    history_retention_ms: int = _setting(
        _DAY_MS,
        "How long records that newer ones have replaced are kept, so that history can be read.",
        unit="ms",
        ge=0,
    )
    log_retention_check_interval_ms: int = _setting(
        5 * _MINUTE_MS, "How often the log is looked through for records that may go.", unit="ms", ge=1
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
        5 * _MINUTE_MS, "How long a right that the cluster has confirmed holds.", unit="ms", ge=1
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
    gateway_outage_ms: int = _setting(
        2 * _MINUTE_MS, "How long members are kept while their broker cannot be reached.", unit="ms", ge=0
    )
    gateway_patience_ms: int = _setting(
        2000, "How long a request waits for a broker to come back before it gets a retriable error.", unit="ms", ge=0
    )


SECTIONS: tuple[type[_Section], ...] = (Place, Connections, Tls, Groups, ConnectGroups, Offsets, Log, Upstream)


class Settings(Upstream, Log, Offsets, ConnectGroups, Groups, Tls, Connections, Place):
    """All settings, checked; made by `load_settings`."""


def setting_name(field: str) -> str:
    """The name that people write for a field of Settings."""
    return field.replace("_", ".")


_NAMES = {setting_name(field): field for field in Settings.model_fields}
_KAFKA_NAMES = {
    "advertised.listeners": "advertise",
    "bootstrap.servers": "upstream",
    "listeners": "listen",
    "log.dir": "data.dir",
    "log.dirs": "data.dir",
    "num.partitions": "offsets.topic.num.partitions",
}
"""Names that people bring along from Kafka, and what stands in their place here."""


# Where values come from


@attrs.frozen
class _Given:
    value: object
    origin: str


def load_settings(
    options: Sequence[str] = (),
    flags: Mapping[str, object] | None = None,
    config: Path | None = None,
    environment: Mapping[str, str] = os.environ,
) -> Settings:
    """Settings from the command line (`options` as NAME=VALUE, `flags` by field), `environment` and the file `config`.

    Raises SettingsError.
    """
    given: dict[str, _Given] = {}
    if config is not None:
        given.update(_from_file(config))
    given.update(_from_environment(environment))
    given.update(_from_command_line(options, flags or {}))
    try:
        settings = Settings(**{field: each.value for field, each in given.items()})  # type: ignore[arg-type]
    except ValidationError as error:
        raise _refused(error, given) from None
    _check_together(settings, given)
    return settings


def _from_command_line(options: Sequence[str], flags: Mapping[str, object]) -> dict[str, _Given]:
    given: dict[str, _Given] = {}
    for option in options:
        name, equals, value = option.partition("=")
        name = name.strip()
        origin = f"-o {name}=…" if "password" in name else f"-o {option}"
        if not equals:
            raise SettingsError(f"{origin}: write it as -o name=value")
        field = _field(name, f"-o {name}")
        if field in given:
            raise SettingsError(f"{origin}: {name} is set twice; keep one")
        given[field] = _Given(value.strip(), origin)
    for field, flag_value in flags.items():
        if field in given:
            raise SettingsError(
                f"{given[field].origin}: --{field.replace('_', '-')} sets {setting_name(field)} too; keep one"
            )
        given[field] = _Given(flag_value, f"--{field.replace('_', '-')}")
    return given


def _from_environment(environment: Mapping[str, str]) -> dict[str, _Given]:
    given: dict[str, _Given] = {}
    for variable, value in environment.items():
        if not variable.startswith(ENVIRONMENT_PREFIX) or variable == CONFIG_VARIABLE or _is_service_link(variable):
            continue
        name = variable.removeprefix(ENVIRONMENT_PREFIX).lower().replace("_", ".")
        given[_field(name, f"the environment's {variable}", _variable)] = _Given(value, f"the environment's {variable}")
    return given


def _variable(name: str) -> str:
    return ENVIRONMENT_PREFIX + name.upper().replace(".", "_")


def _is_service_link(variable: str) -> bool:
    """Does Kubernetes set `variable` because there is a service named kcoord?"""
    return re.fullmatch(r"KCOORD_(SERVICE_(HOST|PORT(_.*)?)|PORT(_\d+_(TCP|UDP|SCTP)(_\w+)?)?)", variable) is not None


def _from_file(path: Path) -> dict[str, _Given]:
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SettingsError(f"--config {path}: cannot be read: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(f'--config {path}: is no TOML: {error}; write each setting as "name" = value') from None
    return {_field(name, str(path)): _Given(value, str(path)) for name, value in _flat(document)}


def _flat(table: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, object]]:
    """Names and values of a TOML table: `a.b = 1`, `"a.b" = 1` and `[a]` with `b = 1` are one setting."""
    for key, value in table.items():
        if isinstance(value, dict) and before + key != "gateway.broker.ports":
            yield from _flat(value, f"{before}{key}.")
        else:
            yield before + key, value


# What is wrong with them


def _field(name: str, origin: str, show: Any = str) -> str:
    """The field of the setting `name`. Raises SettingsError with the nearest name, written as `show` writes it."""
    field = _NAMES.get(name)
    if field is None:
        nearest = _KAFKA_NAMES.get(name) or difflib.get_close_matches(name, _NAMES, n=1, cutoff=0)[0]
        raise SettingsError(
            f"{origin}: there is no setting {show(name)}; the nearest is {show(nearest)} (all: kcoord settings)"
        )
    return field


def _refused(error: ValidationError, given: Mapping[str, _Given]) -> SettingsError:
    """The first of pydantic's complaints as one line."""
    complaint = error.errors(include_url=False)[0]
    field = str(complaint["loc"][0])
    said = complaint["msg"].removeprefix("Value error, ")
    origin = given[field].origin
    name = setting_name(field)
    about = Settings.model_fields[field].description
    where = origin if origin.startswith(f"-o {name}=") else f"{origin}: {name}"
    return SettingsError(f"{where} does not fit: {said[:1].lower()}{said[1:]} ({name}: {about})")


_ORDERED = (
    ("group_min_session_timeout_ms", "group_max_session_timeout_ms"),
    ("group_connect_min_session_timeout_ms", "group_connect_session_timeout_ms"),
    ("group_connect_session_timeout_ms", "group_connect_max_session_timeout_ms"),
    ("group_connect_min_heartbeat_interval_ms", "group_connect_heartbeat_interval_ms"),
    ("group_connect_heartbeat_interval_ms", "group_connect_max_heartbeat_interval_ms"),
    ("group_connect_heartbeat_interval_ms", "group_connect_session_timeout_ms"),
    ("group_connect_rebalance_delay_ms", "group_connect_max_rebalance_delay_ms"),
)
"""Settings of which the first must not be more than the second."""


def _check_together(settings: Settings, given: Mapping[str, _Given]) -> None:
    """Raise SettingsError where settings do not fit each other."""
    if settings.upstream and not settings.groups:
        raise SettingsError(
            "--upstream needs --groups: say which groups kcoord is to coordinate, as regular expressions "
            "(--groups 'connect-.*', or --groups '.*' for all); the others stay with the cluster"
        )
    if settings.groups and not settings.upstream:
        raise SettingsError(f"{given['groups'].origin}: groups are chosen beside --upstream; alone kcoord has them all")
    if settings.upstream and not settings.advertise and settings.listen[0] in WILDCARD_HOSTS:
        raise SettingsError(
            f"{given['listen'].origin}: {settings.listen[0]} is no address that clients can be sent to; "
            "say with --advertise HOST:PORT how they reach kcoord"
        )
    for less, more in _ORDERED:
        if getattr(settings, less) > getattr(settings, more):
            raise SettingsError(
                f"{setting_name(less)}={getattr(settings, less)} is more than "
                f"{setting_name(more)}={getattr(settings, more)}"
            )
    if settings.ssl_client_auth == "required":
        _check_client_certificates(settings, given["ssl_client_auth"].origin)
    for prefix in ("", "upstream_"):
        certificate, key = f"{prefix}ssl_certificate_location", f"{prefix}ssl_key_location"
        if getattr(settings, key) is not None and getattr(settings, certificate) is None:
            raise SettingsError(
                f"{given[key].origin}: a key without its certificate: set {setting_name(certificate)} too"
            )
    if settings.upstream_ssl_certificate_location is not None and not settings.upstream_ssl_all_clients_are_kcoord:
        raise SettingsError(
            f"{given['upstream_ssl_certificate_location'].origin}: a certificate shown to the cluster makes every "
            "client act as kcoord there; leave it out, or set upstream.ssl.all.clients.are.kcoord=true if that is meant"
        )


def _check_client_certificates(settings: Settings, origin: str) -> None:
    """Raise SettingsError where clients' certificates could not be asked for, checked, or would be lost."""
    if settings.ssl_certificate_location is None or settings.ssl_ca_location is None:
        raise SettingsError(
            f"{origin}: certificates are shown over TLS, to somebody who can check them: set ssl.certificate.location "
            "and ssl.ca.location too"
        )
    if settings.upstream and not settings.upstream_ssl_all_clients_are_kcoord:
        raise SettingsError(
            f"{origin}: clients' certificates cannot be passed to the cluster, their own rights would be lost there: "
            "let clients use SASL, or say that this is meant (upstream.ssl.all.clients.are.kcoord=true)"
        )
