"""Where do settings come from, and what is said of those that cannot be?"""

from pathlib import Path
from typing import Any

import pytest

from kcoord.settings_sources import (
    SECRET_FIELDS,
    Settings,
    SettingsError,
    _from_command_line,
    _from_environment,
    _from_file,
    exposed_secrets,
    former_names,
    load_settings,
    setting_name,
)
from tests.cli.run_cli import kcoord
from tests.repository import ROOT

FRONT: dict[str, Any] = {"upstream": "kafka-1:9092,kafka-2:9092", "groups": ("connect-.*",)}


def load(*options: str, env: dict[str, str] | None = None, file: Path | None = None, **flags: Any) -> Settings:
    return load_settings(options, flags, file, env or {})


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "kcoord.toml"


def test_defaults_are_those_of_kafka() -> None:
    settings = load()
    assert settings.group_initial_rebalance_delay_ms == 3000
    assert settings.group_min_session_timeout_ms == 6000
    assert settings.group_max_session_timeout_ms == 1_800_000
    assert settings.group_max_size == 2**31 - 1
    assert settings.offsets_topic_num_partitions == 50
    assert settings.offset_metadata_max_bytes == 4096
    assert settings.offsets_retention_minutes == 10_080
    assert settings.offsets_retention_check_interval_ms == 600_000
    assert settings.connections_max_idle_ms == 600_000
    assert settings.max_connections == settings.max_connections_per_ip == 2**31 - 1
    assert settings.socket_request_max_bytes == 104_857_600
    assert settings.sasl_server_max_receive_size == 1 << 20
    assert settings.listen == ("localhost", 9092)


def test_the_command_line_beats_the_environment_beats_the_file_beats_the_default(file: Path) -> None:
    file.write_text('"group.max.size" = 1\n"max.connections" = 1\n"log.level" = "ERROR"\n')
    settings = load(
        "group.max.size=3", env={"KCOORD_GROUP_MAX_SIZE": "2", "KCOORD_MAX_CONNECTIONS": "2", "PATH": "/bin"}, file=file
    )
    assert (settings.group_max_size, settings.max_connections, settings.log_level) == (3, 2, "ERROR")
    assert settings.max_connections_per_ip == 2**31 - 1


@pytest.mark.parametrize(
    "text",
    [
        pytest.param('"max.connections" = 7\n"max.connections.per.ip" = 3', id="names in quotes"),
        pytest.param('[max]\n"connections" = 7\n"connections.per.ip" = 3', id="tables"),
    ],
)
def test_a_file_may_write_names_in_its_ways(file: Path, text: str) -> None:
    file.write_text(text)
    settings = load(file=file)
    assert (settings.max_connections, settings.max_connections_per_ip) == (7, 3)


def test_lists_and_addresses(file: Path) -> None:
    file.write_text(
        'listen = "[::1]:9000"\nupstream = ["a:1", "[fe80::1]:2"]\ngroups = ["x{1,3}", "y"]\n'
        '"gateway.broker.ports" = { 100001 = 9301 }\n'
    )
    settings = load(file=file)
    assert settings.listen == ("::1", 9000)
    assert settings.upstream == (("a", 1), ("fe80::1", 2))
    assert settings.groups == ("x{1,3}", "y")
    assert settings.gateway_broker_ports == {100001: 9301}
    assert load("gateway.broker.ports=100001=9301, 7=9302").gateway_broker_ports == {100001: 9301, 7: 9302}
    assert load("upstream=a:1, b:2", "groups=x{1,3}").groups == ("x{1,3}",)


def test_an_empty_expression_for_groups_is_refused_wherever_it_stands(file: Path) -> None:
    """An unset variable would be a kcoord that takes no group."""
    told = "groups does not fit: an empty expression matches no group"
    file.write_text('groups = ["x", ""]\nupstream = "a:1"\n')
    with pytest.raises(SettingsError, match=f"{file}: {told}"):
        load(file=file)
    with pytest.raises(SettingsError, match=f"the environment's KCOORD_GROUPS: {told}"):
        load("upstream=a:1", env={"KCOORD_GROUPS": ""})
    with pytest.raises(SettingsError, match=f"--groups: {told}"):
        load("upstream=a:1", groups=("",))


def test_flags_are_settings_of_the_command_line() -> None:
    settings = load(env={"KCOORD_LISTEN": "x:1"}, listen="0.0.0.0:9000", advertise="kcoord.example:9000", **FRONT)
    assert settings.listen == ("0.0.0.0", 9000)
    assert settings.upstream == (("kafka-1", 9092), ("kafka-2", 9092))


KAFKA = ("log=kafka", "log.bootstrap=k:9092")
SASL = (*KAFKA, "log.security.protocol=SASL_SSL")
INTERNAL = (*KAFKA, "internal.listen=h:9200")


def test_a_log_in_a_topic_is_where_the_cluster_is_if_nothing_else_is_said() -> None:
    same = load("log=kafka", "upstream.security.protocol=SSL", "upstream.ssl.ca.location=ca.pem", **FRONT)
    assert same.log_brokers == (("kafka-1", 9092), ("kafka-2", 9092))
    assert (same.log_protocol, same.log_authorities) == ("SSL", Path("ca.pem"))
    other = load("upstream.security.protocol=SSL", "upstream.ssl.ca.location=ca.pem", *KAFKA, **FRONT)
    assert other.log_brokers == (("k", 9092),)
    assert (other.log_protocol, other.log_authorities) == ("PLAINTEXT", None)
    load(*SASL, "log.sasl.mechanism=PLAIN", "log.sasl.username=k", "log.sasl.password=p", "log.ssl.ca.location=c")
    load(*SASL, "log.sasl.mechanism=GSSAPI", "log.sasl.kerberos.domain.name=d")
    load(*INTERNAL, "internal.secret=0123456789abcdef")
    load(*INTERNAL, "internal.ssl.certificate.location=c", "internal.ssl.ca.location=a")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["log.topic=x"], "-o log.topic=x: log.topic is for a log in a topic: add --log kafka, or leave it out"),
        (["instance.id=1"], "instance.id is for a log in a topic"),
        (["coordinator.lease.ms=3000"], "coordinator.lease.ms is for a log in a topic"),
        (["internal.secret=0123456789abcdef"], "-o internal.secret=…: internal.secret is for a log in a topic"),
        (["log=kafka"], "-o log=kafka: which cluster has the log's topic? Give --log-bootstrap HOST:PORT"),
        (["log=sqlite"], "input should be 'embedded' or 'kafka'"),
        ([*KAFKA, "log.topic=a topic"], "-o log.topic=a topic does not fit"),
        ([*KAFKA, "log.retention.check.interval.ms=5"], "brokers decide when they compact a topic"),
        ([*KAFKA, "listen=0.0.0.0:9092"], "say with --advertise HOST:PORT how they reach kcoord"),
        ([*KAFKA, "instances.heartbeat.interval.ms=20000"], "is more than instances.session.timeout.ms=6000"),
        ([*KAFKA, "coordinator.lease.ms=10"], "input should be greater than or equal to 1000"),
        ([*KAFKA, "log.ssl.key.location=k"], "a key without its certificate: set log.ssl.certificate.location too"),
        (
            [*KAFKA, "log.ssl.ca.location=c"],
            "kcoord connects to the log's brokers without TLS; set log.security.protocol",
        ),
        ([*KAFKA, "log.sasl.mechanism=PLAIN"], "log.security.protocol=PLAINTEXT has no SASL; set it to SASL_SSL"),
        ([*SASL], "log.security.protocol=SASL_SSL needs log.sasl.mechanism"),
        ([*SASL, "log.sasl.mechanism=PLAIN", "log.sasl.username=k"], "PLAIN needs log.sasl.password"),
        ([*SASL, "log.sasl.mechanism=OAUTHBEARER"], "OAUTHBEARER needs log.sasl.oauth.token.provider"),
        ([*SASL, "log.sasl.mechanism=GSSAPI", "log.sasl.password=p"], "GSSAPI does not use log.sasl.password"),
        ([*SASL, "log.sasl.oauth.token.provider=nothing"], "-o log.sasl.oauth.token.provider=nothing does not fit"),
        ([*KAFKA, "internal.secret=0123456789abcdef"], "there is no internal listener: set internal.listen=HOST:PORT"),
        ([*INTERNAL], "-o internal.listen=h:9200: whoever reaches the internal listener could act for any client"),
        (
            [*INTERNAL, "internal.secret=short"],
            "does not fit: string should have at least 16 characters (internal.secret",
        ),
        ([*INTERNAL, "internal.ssl.certificate.location=c"], "internal.ssl.ca.location both, or neither"),
        (
            [*KAFKA, "internal.listen=0.0.0.0:9200", "internal.secret=0123456789abcdef"],
            "other instances cannot be sent to 0.0.0.0; set internal.advertise=HOST:PORT",
        ),
    ],
)
def test_a_log_in_a_topic_and_several_instances_are_set_up_in_earnest(options: list[str], says: str) -> None:
    with pytest.raises(SettingsError) as caught:
        load(*options)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["group.max.siz=3"], "-o group.max.siz: there is no setting group.max.siz; the nearest is group.max.size"),
        (["listeners=x"], "the nearest is listen "),
        (["bootstrap.servers=x:1"], "the nearest is upstream "),
        (["log.dirs=/x"], "the nearest is data.dir "),
        (["connections.max.idle=5"], "the nearest is connections.max.idle.ms "),
        (["group.max.size"], "-o group.max.size: write it as -o name=value"),
        (["group.max.size=many"], "-o group.max.size=many does not fit: input should be a valid integer"),
        (["group.max.size=0"], "-o group.max.size=0 does not fit: input should be greater than or equal to 1"),
        (["group.max.size=1", "group.max.size=2"], "-o group.max.size=2: group.max.size is set twice; keep one"),
        (["listen=9092"], "-o listen=9092 does not fit: '9092' is no HOST:PORT"),
        (["listen=host:70000"], "'host:70000' is no HOST:PORT"),
        (["log.level=LOUD"], "input should be 'DEBUG', 'INFO', 'WARNING' or 'ERROR'"),
        (["upstream=a:1,b", "groups=x"], "'b' is no HOST:PORT"),
        (["upstream=a:1", "groups=("], "'(' is no regular expression: missing ), unterminated subpattern"),
        (["upstream=a:1"], "--upstream needs --groups: "),
        (["groups=x"], "-o groups=x: --groups needs --upstream"),
        (["gateway.broker.ports=1:2"], "'1:2' is not of the form BROKER=PORT"),
        (["gateway.broker.ports=1=70000"], "less than or equal to 65535"),
        (["ssl.key.location=k.pem"], "a key without its certificate: set ssl.certificate.location too"),
        (["upstream=a:1", "groups=x", "listen=0.0.0.0:9092"], "say with --advertise HOST:PORT how they reach kcoord"),
        (
            ["upstream=a:1", "groups=x", "upstream.ssl.certificate.location=c.pem"],
            "makes every client act as kcoord there; leave it out, or set upstream.ssl.all.clients.are.kcoord=true",
        ),
        (["ssl.client.auth=required"], "set ssl.certificate.location and ssl.ca.location too"),
        (  # GW-8
            [
                *("upstream=h:1", "groups=.*"),
                *("ssl.client.auth=required", "ssl.ca.location=a", "ssl.certificate.location=c"),
            ],
            "kcoord cannot pass clients' certificates on to the cluster, so clients would lose their own rights there",
        ),
        (
            ["group.min.session.timeout.ms=5000", "group.max.session.timeout.ms=4000"],
            "group.min.session.timeout.ms=5000 is more than group.max.session.timeout.ms=4000",
        ),
    ],
)
def test_what_cannot_be_is_refused_with_what_to_do(options: list[str], says: str) -> None:
    with pytest.raises(SettingsError) as caught:
        load(*options)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


def test_where_a_bad_value_came_from_is_said(file: Path) -> None:
    file.write_text('"group.max.size" = "many"')
    with pytest.raises(SettingsError, match=f"^{file}: group.max.size does not fit"):
        load(file=file)
    with pytest.raises(SettingsError, match=r"^the environment's KCOORD_GROUP_MAX_SIZE: group.max.size does not fit"):
        load(env={"KCOORD_GROUP_MAX_SIZE": "many"}, file=file)
    with pytest.raises(SettingsError, match="KCOORD_GROUPMAXSIZE; the nearest is KCOORD_GROUP_MAX_SIZE "):
        load(env={"KCOORD_GROUPMAXSIZE": "3"})
    with pytest.raises(SettingsError, match=r"^-o listen=x:1: --listen sets listen too; keep one"):
        load("listen=x:1", listen="y:1")


def test_a_file_that_cannot_be_read_is_named(file: Path) -> None:
    with pytest.raises(SettingsError, match=f"--config {file}: cannot be read: No such file"):
        load(file=file)
    file.write_text("max.connections = 1\nmax.connections.per.ip = 1")
    with pytest.raises(SettingsError, match=f'--config {file}: is not valid TOML: .* setting as "name" = value'):
        load(file=file)


def test_a_password_is_not_printed() -> None:
    with pytest.raises(SettingsError) as caught:
        load("ssl.key.pasword=hunter2")
    assert "hunter2" not in str(caught.value)
    assert "hunter2" not in repr(load("ssl.key.password=hunter2"))
    for name in ("log.sasl.password", "log.ssl.key.password", "internal.ssl.key.password", "internal.secret"):
        with pytest.raises(SettingsError) as caught:
            load(f"{name}=hunter2")
        assert "hunter2" not in str(caught.value)


def test_what_kubernetes_sets_for_a_service_named_kcoord_is_no_setting() -> None:
    links = {
        "KCOORD_SERVICE_HOST": "10.0.0.1",
        "KCOORD_SERVICE_PORT": "9092",
        "KCOORD_SERVICE_PORT_KAFKA": "9092",
        "KCOORD_PORT": "tcp://10.0.0.1:9092",
        "KCOORD_PORT_9092_TCP": "tcp://10.0.0.1:9092",
        "KCOORD_PORT_9092_TCP_ADDR": "10.0.0.1",
    }
    assert load(env=links) == load()


def test_the_reference_is_what_the_settings_say() -> None:
    """docs/configuration.md is written by `make docs`; when this fails, run it."""
    assert (ROOT / "docs/configuration.md").read_text() == kcoord("settings", "--markdown").out


def test_the_list_names_every_setting() -> None:
    listed = kcoord("settings").out
    for field in Settings.model_fields:
        assert f"  {field.replace('_', '.')} = " in listed


@pytest.mark.parametrize("field", SECRET_FIELDS)
def test_a_secret_can_stand_in_a_file(field: str, tmp_path: Path, file: Path) -> None:
    """Wherever settings are given: on the command line, in the environment, in the settings' file."""
    path, name = tmp_path / "a secret", setting_name(field)
    path.write_text("correct horse battery\n")
    file.write_text(f'"{name}.file" = "{path}"')
    values = [
        value.value
        for value in (
            _from_command_line([f"{name}.file={path}"], {})[field],
            _from_environment({f"KCOORD_{field.upper()}_FILE": str(path)})[field],
            _from_file(file)[field],
        )
    ]
    assert values == ["correct horse battery"] * 3


def test_what_is_wrong_with_a_secrets_file_is_said_without_the_secret(tmp_path: Path) -> None:
    path = tmp_path / "secret"
    option = f"internal.secret.file={path}"
    with pytest.raises(SettingsError, match=f"^-o internal.secret.file=…: {path} cannot be read: No such file"):
        load(option)
    path.write_text("\n")
    with pytest.raises(SettingsError, match="is empty; write the secret into it"):
        load(option)
    path.write_text("too short")
    with pytest.raises(SettingsError, match="at least 16 characters") as refused:
        load(*INTERNAL, option)
    assert "too short" not in str(refused.value)
    with pytest.raises(SettingsError, match=r"internal.secret is set twice; keep one"):
        load("internal.secret=0123456789abcdef", f"internal.secret.file={path}")
    with pytest.raises(SettingsError, match=r"there is no setting max.connections.file"):
        load(f"max.connections.file={path}")


def test_a_secret_on_the_command_line_is_warned_of_and_not_repeated() -> None:
    [warning] = exposed_secrets(["max.connections=3", "log.sasl.password=hush", "internal.secret.file=here"])
    assert warning.startswith("-o log.sasl.password=…: every user of this machine can read a command line")
    assert "give -o log.sasl.password.file=PATH (or KCOORD_LOG_SASL_PASSWORD in the environment)" in warning
    assert "hush" not in warning


FORMER, TODAY = "group.connect.legacy.mode", "group.connect.classic.mode"
VARIABLE = "KCOORD_GROUP_CONNECT_LEGACY_MODE"


def test_a_former_name_works_with_a_warning_that_gives_the_name_of_today(file: Path) -> None:
    file.write_text(f'"{FORMER}" = "individual"')
    cases: list[tuple[str, list[str], Path | None, dict[str, str]]] = [
        (f"-o {FORMER}: {FORMER} is a former name; write {TODAY}", [f"{FORMER}=individual"], None, {}),
        (f"{file}: {FORMER} is a former name; write {TODAY}", [], file, {}),
        (
            f"the environment's {VARIABLE}: {VARIABLE} is a former name; write KCOORD_GROUP_CONNECT_CLASSIC_MODE",
            [],
            None,
            {VARIABLE: "individual"},
        ),
    ]
    for warning, options, config, environment in cases:
        assert load_settings(options, {}, config, environment).group_connect_classic_mode == "individual"
        assert former_names(options, config, environment) == [warning]
    assert former_names([f"{TODAY}=individual"], None, {}) == []


def test_both_names_of_one_setting_are_refused() -> None:
    with pytest.raises(SettingsError, match=f"{TODAY} is set twice; keep one"):
        load(f"{FORMER}=individual", f"{TODAY}=individual")


def test_a_command_that_starts_shows_the_warning(tmp_path: Path) -> None:
    shown = kcoord("log", "verify", "--data-dir", tmp_path / "none", "-o", f"{FORMER}=individual")
    assert f"{FORMER} is a former name; write {TODAY}" in shown.err
