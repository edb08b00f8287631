"""Can a connect group be configured as Kafka's own groups are, and does it matter to its workers?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import attrs
import pytest

from kcoord.group.group_configs import GROUP, Operation, Source
from kcoord.group.group_setting_definitions import DEFINITIONS, Kind
from kcoord.group.state.connect_settings import ClassicMode, ConnectSettings, MigrationPolicy, overridden
from kcoord.group.state.records import connect_records as records
from kcoord.group.state.replay import replay
from kcoord.group.state.settings import GroupSettings
from kcoord.group.state.shard_state import ShardState
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.connect_worker_group_configuration_value import Configuration
from kcoord.protocol.generated.incremental_alter_configs_request import AlterableConfig, AlterConfigsResource
from kcoord.protocol.messages import (
    DeleteGroupsRequest,
    DescribeConfigsRequest,
    IncrementalAlterConfigsRequest,
    ListGroupsRequest,
)
from kcoord.protocol.records import (
    ConnectWorkerGroupConfigurationKey,
    ConnectWorkerGroupConfigurationValue,
    Record,
)
from kcoord.server.startup.components import connect_settings
from kcoord.settings_sources import Settings, load_settings
from tests.connectgroups.configs import asked, change
from tests.connectgroups.conftest import CONNECT
from tests.connectgroups.worker import Worker, resources
from tests.gateway.scripted import ask, connect
from tests.server.harness import Client, Running, standalone

SESSION, INTERVAL = "connect.session.timeout.ms", "connect.heartbeat.interval.ms"
DELAY, SIZE, ASSIGNORS = "connect.rebalance.delay.ms", "connect.max.size", "connect.assignors"
POLICY, MODE, WAIT = "connect.migration.policy", "connect.classic.mode", "connect.classic.heartbeat.wait.ms"
LEADER_WAIT, PLACEMENT, OWNER = "connect.classic.leader.wait.ms", "connect.placement", "gateway.owner"
INVALID_CONFIG, INVALID_REQUEST = ErrorCode.INVALID_CONFIG, ErrorCode.INVALID_REQUEST


async def alter(client: Client, *resources: AlterConfigsResource, **fields: Any) -> list[tuple[ErrorCode, str]]:
    answer = await ask(client, IncrementalAlterConfigsRequest([*resources], **fields))
    return [(ErrorCode(each.error_code), each.error_message or "") for each in answer.responses]


async def shown(client: Client, group: str, *names: str) -> dict[str, tuple[str, Source]]:
    answer = await ask(client, DescribeConfigsRequest([asked(group, *names)]))
    [result] = answer.results
    assert result.error_code == ErrorCode.NONE
    return {each.name: (each.value, Source(each.config_source)) for each in result.configs}


def test_the_defaults_that_are_told_are_those_of_the_settings() -> None:
    assert connect_settings(Settings()) == attrs_like(ConnectSettings())
    for definition in DEFINITIONS.values():
        is_of_server = definition.server_name.replace(".", "_") in Settings.model_fields
        assert is_of_server == (definition.name not in (PLACEMENT, OWNER))


def attrs_like(settings: ConnectSettings) -> Any:
    """Assignors are compared by what they are, not which."""

    class Same:
        def __eq__(self, other: object) -> bool:
            names = [name for name in ConnectSettings.__slots__ if not name.startswith("__")]
            return all(_plain(getattr(settings, name)) == _plain(getattr(other, name)) for name in names)

    return Same()


def _plain(value: Any) -> Any:
    return [type(each) for each in value] if isinstance(value, tuple) else value


async def test_all_settings_are_described_with_where_they_come_from(client: Client, name: str) -> None:
    answer = await ask(client, DescribeConfigsRequest([asked(name)], include_synonyms=True, include_documentation=True))
    [result] = answer.results
    assert (result.error_code, result.resource_type, result.resource_name) == (0, GROUP, name)
    assert {each.name: each.value for each in result.configs} == {
        SESSION: "45000",
        INTERVAL: "5000",
        DELAY: "0",
        SIZE: "4",
        ASSIGNORS: "uniform,cooperative",
        POLICY: "bidirectional",
        MODE: "barrier",
        WAIT: "-1",
        LEADER_WAIT: "15000",
        PLACEMENT: "",
        OWNER: "auto",
    }
    kinds = {ASSIGNORS: Kind.LIST, POLICY: Kind.STRING, MODE: Kind.STRING, PLACEMENT: Kind.STRING, OWNER: Kind.STRING}
    for each in result.configs:
        started_with = each.name in (DELAY, SIZE)
        source = Source.STATIC if started_with else Source.DEFAULT
        assert (each.read_only, each.is_sensitive, each.config_source) == (False, False, source)
        assert each.config_type == kinds.get(each.name, Kind.INT)
        assert each.documentation
        server_name = each.name if each.name in (PLACEMENT, OWNER) else f"group.{each.name}"
        assert [synonym.name for synonym in each.synonyms] == [server_name] * (1 + started_with)


async def test_what_is_not_asked_for_is_not_told(client: Client, name: str) -> None:
    answer = await ask(client, DescribeConfigsRequest([asked(name, SESSION, "consumer.session.timeout.ms")]))
    [entry] = answer.results[0].configs
    assert (entry.name, entry.synonyms, entry.documentation) == (SESSION, [], None)
    for version in range(1, 5):
        assert (await ask(client, DescribeConfigsRequest([asked(name)]), version)).results[0].error_code == 0


async def test_synonyms_name_every_place_that_a_value_could_come_from(tmp_path: Path, name: str) -> None:
    settings = load_settings(["group.connect.session.timeout.ms=50000", f"data.dir={tmp_path}"])
    async with standalone(tmp_path, settings=GroupSettings(connect=connect_settings(settings))) as server:
        for host in server.coordinator._hosts:
            host._configs._given = frozenset({"group.connect.session.timeout.ms"})
        client = await connect(server.port)
        assert (await shown(client, name, SESSION))[SESSION] == ("50000", Source.STATIC)
        await alter(client, change(name, {SESSION: "55000"}))
        answer = await ask(client, DescribeConfigsRequest([asked(name, SESSION)], include_synonyms=True))
        [entry] = answer.results[0].configs
        assert [(each.name, each.value, each.source) for each in entry.synonyms] == [
            (SESSION, "55000", Source.GROUP),
            ("group.connect.session.timeout.ms", "50000", Source.STATIC),
            ("group.connect.session.timeout.ms", "45000", Source.DEFAULT),
        ]
        assert (entry.value, entry.config_source) == ("55000", Source.GROUP)


async def test_a_change_holds_from_the_next_heartbeat_and_over_a_restart(tmp_path: Path, name: str) -> None:
    settings = GroupSettings(initial_rebalance_delay_ms=0, connect=CONNECT)
    async with standalone(tmp_path, settings=settings) as server:
        client = await connect(server.port)
        worker = Worker(client, name)
        await worker.join(resources("a"))
        for _ in range(3):
            assert await worker.heartbeat() == ErrorCode.NONE
        assert (worker.last.heartbeat_interval_ms, worker.last.session_timeout_ms) == (5_000, 45_000)
        admin = await connect(server.port)
        assert await alter(admin, change(name, {SESSION: "60000", INTERVAL: "15000"})) == [(ErrorCode.NONE, "")]
        assert await worker.heartbeat() == ErrorCode.NONE
        assert (worker.last.heartbeat_interval_ms, worker.last.session_timeout_ms) == (15_000, 60_000)
    async with standalone(tmp_path, settings=settings) as server:
        client = await connect(server.port)
        worker.client = client
        assert await worker.heartbeat() == ErrorCode.NONE
        assert (worker.last.heartbeat_interval_ms, worker.last.session_timeout_ms) == (15_000, 60_000)
        assert await shown(client, name, SESSION) == {SESSION: ("60000", Source.GROUP)}


async def test_what_does_not_fit_the_server_any_more_is_adjusted_shown_and_logged(
    tmp_path: Path, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    """A session of 45 s was set; the server now tells workers to send a heartbeat each 50 s, and takes three."""
    before = GroupSettings(initial_rebalance_delay_ms=0, connect=CONNECT)
    async with standalone(tmp_path, settings=before) as server:
        client = await connect(server.port)
        assert await alter(client, change(name, {SESSION: "45000", SIZE: "4"})) == [(ErrorCode.NONE, "")]
    caplog.clear()
    now = attrs.evolve(CONNECT, heartbeat_interval_ms=50_000, max_heartbeat_interval_ms=60_000, max_size=3)
    async with standalone(tmp_path, settings=attrs.evolve(before, connect=now)) as server:
        [line] = [record.getMessage() for record in caplog.records if "do not fit" in record.getMessage()]
        assert f"other values are in force: {name} ({INTERVAL}=15000, {SIZE}=3); see" in line
        worker = Worker(await connect(server.port), name)
        await worker.join(resources("a"))
        assert (worker.last.heartbeat_interval_ms, worker.last.session_timeout_ms) == (15_000, 45_000)
        assert await shown(worker.client, name, SESSION, INTERVAL, SIZE) == {
            SESSION: ("45000", Source.GROUP),
            INTERVAL: ("15000", Source.GROUP),
            SIZE: ("3", Source.GROUP),
        }
        answer = await ask(worker.client, DescribeConfigsRequest([asked(name, SIZE)], include_synonyms=True))
        assert [each.value for each in answer.results[0].configs[0].synonyms] == ["3", "4", "3", str(2**31 - 1)]
        [(error, message)] = await alter(worker.client, change(name, {SESSION: "46000"}))
        assert (error, message) == (
            ErrorCode.INVALID_CONFIG,
            "connect.session.timeout.ms (46000) must be more than connect.heartbeat.interval.ms (50000)",
        )


async def test_rule_29_settings_do_not_need_their_group_and_outlive_it(client: Client, name: str) -> None:
    assert await alter(client, change(name, {SIZE: "1"})) == [(ErrorCode.NONE, "")]
    assert (await ask(client, ListGroupsRequest())).groups == []
    first, second = Worker(client, name, "w1"), Worker(client, name, "w2")
    assert await first.join(resources("a")) == ErrorCode.NONE
    assert await second.join() == ErrorCode.GROUP_MAX_SIZE_REACHED
    assert await first.leave() == ErrorCode.NONE
    assert (await ask(client, DeleteGroupsRequest([name]))).results[0].error_code == ErrorCode.NONE
    assert (await ask(client, ListGroupsRequest())).groups == []
    assert await shown(client, name, SIZE) == {SIZE: ("1", Source.GROUP)}


async def test_lists_are_added_to_and_taken_from(client: Client, name: str) -> None:
    steps: list[tuple[Operation, str | None, str]] = [
        (Operation.SUBTRACT, "uniform", "cooperative"),
        (Operation.SUBTRACT, "uniform", "cooperative"),
        (Operation.APPEND, "uniform", "cooperative,uniform"),
        (Operation.APPEND, "uniform,cooperative", "cooperative,uniform"),
        (Operation.SET, " uniform , cooperative", "uniform,cooperative"),
        (Operation.SET, "cooperative", "cooperative"),
        (Operation.DELETE, None, "uniform,cooperative"),
    ]
    for operation, value, expected in steps:
        assert await alter(client, change(name, {ASSIGNORS: value}, operation)) == [(ErrorCode.NONE, "")]
        assert (await shown(client, name, ASSIGNORS))[ASSIGNORS][0] == expected, operation
    worker = Worker(client, name)
    await alter(client, change(name, {ASSIGNORS: "cooperative"}))
    assert await worker.join(resources("a"), server_assignor="uniform") == ErrorCode.UNSUPPORTED_ASSIGNOR
    assert await worker.join(resources("a"), server_assignor="cooperative") == ErrorCode.NONE


REFUSED: list[tuple[str, dict[str, str | None], Operation, ErrorCode, str]] = [
    ("an unknown name", {"connect.colour": "red"}, Operation.SET, INVALID_CONFIG, "Unknown group config name"),
    ("Kafka's own name", {"consumer.session.timeout.ms": "50000"}, Operation.SET, INVALID_CONFIG, "Unknown"),
    ("no number", {SESSION: "soon"}, Operation.SET, INVALID_CONFIG, "no whole number"),
    ("no decimal number", {SESSION: "4_5000"}, Operation.SET, INVALID_CONFIG, "no whole number"),
    ("an empty number", {SESSION: ""}, Operation.SET, INVALID_CONFIG, "no whole number"),
    ("less than the least", {SESSION: "5999"}, Operation.SET, INVALID_CONFIG, "between 6000 and 60000"),
    ("more than the most", {SESSION: "60001"}, Operation.SET, INVALID_CONFIG, "between 6000 and 60000"),
    ("too short an interval", {INTERVAL: "1"}, Operation.SET, INVALID_CONFIG, "between 5000 and 15000"),
    ("a delay below 0", {DELAY: "-1"}, Operation.SET, INVALID_CONFIG, "between 0"),
    ("a group for nobody", {SIZE: "0"}, Operation.SET, INVALID_CONFIG, "between 1"),
    ("an assignor that is not there", {ASSIGNORS: "best"}, Operation.SET, INVALID_CONFIG, "there is no assignor best"),
    ("an assignor twice", {ASSIGNORS: "uniform,uniform"}, Operation.SET, INVALID_CONFIG, "twice"),
    ("no assignor", {ASSIGNORS: ""}, Operation.SET, INVALID_CONFIG, "needs one"),
    ("the last assignor", {ASSIGNORS: "uniform,cooperative"}, Operation.SUBTRACT, INVALID_CONFIG, "needs one"),
    ("a number to add to", {SESSION: "1"}, Operation.APPEND, INVALID_CONFIG, "not LIST"),
    ("a number to take from", {SESSION: "1"}, Operation.SUBTRACT, INVALID_CONFIG, "not LIST"),
    ("a policy that there is not", {POLICY: "both"}, Operation.SET, INVALID_CONFIG, "upgrade, downgrade, disabled"),
    ("a mode that there is not", {MODE: ""}, Operation.SET, INVALID_CONFIG, "'' is not one of: barrier, individual"),
    ("a word to add to", {MODE: "individual"}, Operation.APPEND, INVALID_CONFIG, "not LIST"),
    ("too long a wait", {WAIT: "30001"}, Operation.SET, INVALID_CONFIG, "between -1 and 30000"),
    ("no value", {SESSION: None}, Operation.SET, INVALID_REQUEST, "Null value"),
]


@pytest.mark.parametrize("validate_only", [False, True])
@pytest.mark.parametrize(
    ("why", "values", "operation", "error", "says"), REFUSED, ids=lambda value: value if isinstance(value, str) else ""
)
async def test_what_does_not_fit_is_refused_with_the_reason_and_changes_nothing(
    client: Client,
    name: str,
    why: str,
    values: dict[str, str | None],
    operation: Operation,
    error: ErrorCode,
    says: str,
    validate_only: bool,
) -> None:
    assert await alter(client, change(name, {DELAY: "1234"})) == [(ErrorCode.NONE, "")]
    before = await shown(client, name)
    both = change(name, values, operation)
    if DELAY not in values:  # all changes of a resource are made, or none
        both.configs.append(AlterableConfig(DELAY, Operation.SET, "99"))
    [(found, text)] = await alter(client, both, validate_only=validate_only)
    assert (found, says in text) == (error, True), text
    assert await shown(client, name) == before


async def test_words_are_kept_as_they_are_written_here(client: Client, name: str) -> None:
    assert await alter(client, change(name, {MODE: " INDIVIDUAL ", POLICY: "Upgrade"})) == [(ErrorCode.NONE, "")]
    assert await shown(client, name, MODE, POLICY) == {
        POLICY: ("upgrade", Source.GROUP),
        MODE: ("individual", Source.GROUP),
    }


@pytest.mark.parametrize(
    ("server", "own", "expected"),
    [
        ({}, {}, ("bidirectional", "barrier", 0)),
        ({"classic_mode": ClassicMode.INDIVIDUAL}, {}, ("bidirectional", "individual", 10_000)),
        ({}, {MODE: "individual"}, ("bidirectional", "individual", 10_000)),
        ({"classic_mode": ClassicMode.INDIVIDUAL}, {MODE: "barrier"}, ("bidirectional", "barrier", 0)),
        ({}, {WAIT: "700"}, ("bidirectional", "barrier", 700)),
        ({"classic_wait_ms": 700}, {MODE: "individual"}, ("bidirectional", "individual", 700)),
        ({"classic_wait_ms": 700}, {MODE: "individual", WAIT: "-1"}, ("bidirectional", "individual", 10_000)),
        ({"classic_wait_ms": 700}, {MODE: "individual", WAIT: "0"}, ("bidirectional", "individual", 0)),
        ({"migration_policy": MigrationPolicy.DISABLED}, {POLICY: "downgrade"}, ("downgrade", "barrier", 0)),
        ({}, {POLICY: "of a later kcoord", MODE: "likewise"}, ("bidirectional", "barrier", 0)),
    ],
)
def test_what_holds_of_the_servers_settings_and_the_groups(
    server: dict[str, Any], own: dict[str, str], expected: tuple[str, str, int]
) -> None:
    found = overridden(ConnectSettings(**server), own)
    assert (found.migration_policy, found.classic_mode, found.classic_wait_ms) == expected


async def test_session_and_interval_must_fit_each_other(tmp_path: Path, name: str) -> None:
    short = ConnectSettings(min_session_timeout_ms=1_000, min_heartbeat_interval_ms=500)
    async with standalone(tmp_path, settings=GroupSettings(connect=short)) as server:
        client = await connect(server.port)
        [(error, text)] = await alter(client, change(name, {SESSION: "4000"}))
        assert (error, text) == (INVALID_CONFIG, f"{SESSION} (4000) must be more than {INTERVAL} (5000)")
        assert await alter(client, change(name, {SESSION: "4000", INTERVAL: "1000"})) == [(ErrorCode.NONE, "")]
        assert (await alter(client, change(name, {INTERVAL: None}, Operation.DELETE)))[0][0] == INVALID_CONFIG
        assert await alter(client, change(name, {SESSION: None, INTERVAL: None}, Operation.DELETE)) == [(0, "")]


async def test_what_cannot_be_meant_is_refused(client: Client, name: str) -> None:
    twice = change(name, {})
    twice.configs = [AlterableConfig(DELAY, Operation.SET, "1"), AlterableConfig(DELAY, Operation.SET, "2")]
    assert (await alter(client, twice))[0][0] == INVALID_REQUEST
    assert (await alter(client, change("", {DELAY: "1"})))[0][0] == INVALID_REQUEST
    same = [change(name, {DELAY: "1"}), change(f"{name}-2", {DELAY: "1"}), change(name, {DELAY: "1"})]
    assert [error for error, _ in await alter(client, *same)] == [INVALID_REQUEST, 0, INVALID_REQUEST]
    assert (await alter(client, change(name, {DELAY: "1"}, operation=9)))[0][0] == INVALID_REQUEST
    assert (await shown(client, name, DELAY))[DELAY] == ("0", Source.STATIC)
    assert await alter(client) == []
    empty = await ask(client, DescribeConfigsRequest([asked("")]))
    assert empty.results[0].error_code == INVALID_REQUEST


async def test_a_kcoord_alone_has_settings_of_groups_only(client: Client, name: str) -> None:
    answer = await ask(client, DescribeConfigsRequest([asked(name, kind=2), asked("0", kind=4), asked(name, SIZE)]))
    assert [each.error_code for each in answer.results] == [
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        INVALID_REQUEST,
        ErrorCode.NONE,
    ]
    errors = await alter(client, change(name, {"x": "1"}, kind=2), change("0", {"x": "1"}, kind=4))
    assert [error for error, _ in errors] == [ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, INVALID_REQUEST]


async def test_validate_only_changes_nothing(server: Running, client: Client, name: str) -> None:
    assert await alter(client, change(name, {DELAY: "7"}), validate_only=True) == [(ErrorCode.NONE, "")]
    assert (await shown(client, name, DELAY))[DELAY] == ("0", Source.STATIC)


FORMER_MODE = "connect.legacy.mode"


async def test_a_former_name_is_accepted_and_answered(
    tmp_path: Path, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    """A tool of 0.1.0 sets, reads and unsets the setting by the name that it knows; a log line gives the name of today.
    The log keeps the former name, which an instance of 0.1.0 beside this one understands.
    """
    async with standalone(tmp_path, settings=GroupSettings(connect=CONNECT)) as server:
        client = await connect(server.port)
        assert await alter(client, change(name, {FORMER_MODE: "individual"})) == [(ErrorCode.NONE, "")]
        assert f"{name}: a client calls a setting of this group {FORMER_MODE}; it is {MODE} now" in caplog.messages
        by_both = {FORMER_MODE: ("individual", Source.GROUP), MODE: ("individual", Source.GROUP)}
        assert await shown(client, name, FORMER_MODE, MODE) == by_both
        assert FORMER_MODE not in await shown(client, name), "who asks for all settings gets each once"
    async with standalone(tmp_path, settings=GroupSettings(connect=CONNECT)) as server:
        client = await connect(server.port)
        assert await shown(client, name, MODE) == {MODE: ("individual", Source.GROUP)}
        unset = change(name, {FORMER_MODE: None}, Operation.DELETE)
        assert await alter(client, unset) == [(ErrorCode.NONE, "")]
        assert await shown(client, name, MODE) == {MODE: ("barrier", Source.DEFAULT)}


async def test_one_setting_under_both_names_is_refused(client: Client, name: str) -> None:
    both = change(name, {FORMER_MODE: "individual", MODE: "barrier"})
    assert await alter(client, both) == [(INVALID_REQUEST, "Error due to duplicate config keys")]


@pytest.mark.parametrize("stored", [FORMER_MODE, MODE])
def test_either_name_is_read_from_a_log(stored: str) -> None:
    record = Record(
        ConnectWorkerGroupConfigurationKey("g"),
        ConnectWorkerGroupConfigurationValue([Configuration(stored, "individual")]),
    )
    state = ShardState(GroupSettings(), lambda: "id")
    replay(state, record)
    assert state.configurations == {"g": {MODE: "individual"}}
    assert state.effective("g").classic_mode is ClassicMode.INDIVIDUAL


def test_a_log_keeps_the_names_that_release_0_1_0_reads() -> None:
    record = records.configuration("g", {MODE: "individual", SESSION: "50000", WAIT: "0", LEADER_WAIT: "0"})
    assert isinstance(record.value, ConnectWorkerGroupConfigurationValue)
    assert [each.name for each in record.value.configurations] == [
        "connect.legacy.heartbeat.wait.ms",
        "connect.legacy.leader.wait.ms",
        FORMER_MODE,
        SESSION,
    ]
