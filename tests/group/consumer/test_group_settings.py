"""What may a consumer group set for itself, and when does that count? (docs/consumer-groups.md)"""

from __future__ import annotations

import pytest

from kcoord.group.group_configs import GROUP, ConfigRefused, GroupConfigs, Operation
from kcoord.group.group_setting_definitions import CONSUMER_DEFINITIONS, DEFINITIONS
from kcoord.group.state.connect_settings import ConnectSettings
from kcoord.group.state.consumer_settings import ConsumerSettings
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.describe_configs_request import DescribeConfigsResource
from kcoord.protocol.generated.incremental_alter_configs_request import AlterableConfig, AlterConfigsResource
from kcoord.protocol.messages import DescribeConfigsRequest
from kcoord.server.startup.components import consumer_settings
from kcoord.settings import Settings
from tests.group.consumer.world import SESSION_MS, World

SESSION, INTERVAL = "consumer.session.timeout.ms", "consumer.heartbeat.interval.ms"
WAIT, MAX_SIZE = "consumer.heartbeat.wait.ms", "consumer.max.size"
ASSIGNMENT, POLICY = "consumer.assignment.interval.ms", "consumer.migration.policy"
MODE = "consumer.classic.mode"


def altered(settings: ConsumerSettings, **changes: str) -> dict[str, str]:
    """A group's settings after changes of some, `_` for `.` in their names."""
    named = [AlterableConfig(name.replace("_", "."), Operation.SET, value) for name, value in changes.items()]
    configs = GroupConfigs(ConnectSettings(), consumer=settings)
    return configs.altered(AlterConfigsResource(GROUP, "g", named), {})


def described(configs: GroupConfigs, own: dict[str, str]) -> dict[str, str | None]:
    request = DescribeConfigsRequest([DescribeConfigsResource(GROUP, "g", None)])
    return {each.name: each.value for each in configs.described(request, own).results[0].configs}


def test_the_defaults_are_those_of_the_settings() -> None:
    assert consumer_settings(Settings()) == ConsumerSettings()
    for definition in CONSUMER_DEFINITIONS.values():
        assert definition.server_name.replace(".", "_") in Settings.model_fields


def test_they_are_described_only_where_kcoord_serves_consumer_groups() -> None:
    elsewhere = described(GroupConfigs(ConnectSettings()), {})
    here = described(GroupConfigs(ConnectSettings(), consumer=ConsumerSettings()), {SESSION: "50000"})
    assert set(elsewhere) == set(DEFINITIONS)
    assert {name: here[name] for name in here.keys() - elsewhere.keys()} == {
        SESSION: "50000",
        INTERVAL: "5000",
        WAIT: "-1",
        ASSIGNMENT: "0",
        MAX_SIZE: str(2**31 - 1),
        POLICY: "bidirectional",
        MODE: "barrier",
    }
    with pytest.raises(ConfigRefused, match=f"Unknown group config name: {SESSION}"):
        GroupConfigs(ConnectSettings()).altered(
            AlterConfigsResource(GROUP, "g", [AlterableConfig(SESSION, Operation.SET, "50000")]), {}
        )


@pytest.mark.parametrize(
    ("name", "value", "why"),
    [
        (SESSION, "44999", "44999 is not between 45000 and 60000"),
        (SESSION, "60001", "60001 is not between 45000 and 60000"),
        (SESSION, "long", "'long' is no whole number"),
        (INTERVAL, "4999", "4999 is not between 5000 and 15000"),
        (WAIT, "-2", "-2 is not between -1 and 30000"),
        (WAIT, "30001", "30001 is not between -1 and 30000"),
        (ASSIGNMENT, "-1", "-1 is not between 0 and 15000"),
        (ASSIGNMENT, "15001", "15001 is not between 0 and 15000"),
        (MAX_SIZE, "0", "0 is not between 1 and"),
        (POLICY, "sideways", "sideways"),
        ("consumer.other", "1", "Unknown group config name: consumer.other"),
    ],
)
def test_what_does_not_fit_is_refused_with_the_reason(name: str, value: str, why: str) -> None:
    with pytest.raises(ConfigRefused, match=why) as refused:
        altered(ConsumerSettings(), **{name.replace(".", "_"): value})
    assert refused.value.error == ErrorCode.INVALID_CONFIG


def test_a_session_is_longer_than_the_interval() -> None:
    short = ConsumerSettings(session_timeout_ms=6_000, min_session_timeout_ms=6_000)
    with pytest.raises(ConfigRefused, match=rf"{SESSION} \(6000\) must be more than {INTERVAL} \(7000\)"):
        altered(short, consumer_heartbeat_interval_ms="7000")
    assert altered(short, consumer_heartbeat_interval_ms="5500") == {INTERVAL: "5500"}


def test_a_change_counts_from_each_members_next_heartbeat_on() -> None:
    world = World()
    world.join("a")
    world.configure({SESSION: "60000", INTERVAL: "15000", MAX_SIZE: "1"})
    told = world.beat("a", 2, "A0 A1 A2 A3")
    assert told.response.heartbeat_interval_ms == 15_000
    assert world.join("b").brief == "GROUP_MAX_SIZE_REACHED"
    world.pass_ms(SESSION_MS + 1)
    assert list(world.group.members) == ["a"], "its session is longer now"
    world.pass_ms(15_000)
    assert list(world.group.members) == []


def test_a_load_goes_by_the_groups_own_settings() -> None:
    world = World()
    world.join("a")
    world.configure({SESSION: "60000"})
    world.restart()
    world.pass_ms(59_000)
    assert list(world.group.members) == ["a"]
    world.pass_ms(1_001)
    assert list(world.group.members) == []


def test_the_wait_of_an_answer_is_the_groups_own() -> None:
    world = World(ConsumerSettings())
    world.join("a")
    world.send_beat("a", 2, "A0 A1 A2 A3")
    world.configure({WAIT: "0"})
    assert world.beat("a", 2).brief == (2, None), "answered at once"


def test_settings_that_no_longer_fit_are_moved_to_the_nearest_bound() -> None:
    stricter = ConsumerSettings(max_session_timeout_ms=50_000)
    world = World(stricter)
    world.configure({SESSION: "60000"})
    assert dict(world.shard.adjusted_settings()) == {"g": {SESSION: "50000"}}
    assert described(GroupConfigs(ConnectSettings(), consumer=stricter), {SESSION: "60000"})[SESSION] == "50000"
