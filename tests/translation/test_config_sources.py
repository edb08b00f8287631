"""Workers that take connectors from a file and workers of Kafka Connect are not in one group; none stops the other."""

from __future__ import annotations

from typing import Any

import pytest

from kcoord.group.state.groups.connect_group import Configured
from kcoord.group.state.records import connect_records as records
from kcoord.group.state.replay import replay
from kcoord.protocol.config_source import ConfigSource
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.records import decode_record, encode_record
from tests.group.connect.world import Told, World, packed, res, text
from tests.translation.translated_world import OFFSET, OK, TranslatedWorld

FILE_NS = 1_790_000_000_000_000_000
"""When a file was changed."""
SAYS_NOTHING, FILE, TOPIC = ConfigSource.UNSAID, ConfigSource.FILE, ConfigSource.TOPIC
NEW = 50


def brings(world: World, name: str, resources: str, offset: int, source: int, connection: int = NEW) -> Told:
    """A worker of the new protocol joins and says what is configured."""
    said: dict[str, Any] = {"config_offset": offset, "config_source": source}
    return world.join(name, connection, configured_connectors_and_tasks=packed(resources), **said)


def known(world: World) -> tuple[int, int, str] | None:
    configured = world.group.configured
    return None if configured is None else (configured.offset, configured.source, text(configured.resources))


@pytest.mark.parametrize("source", [FILE, SAYS_NOTHING], ids=["says so", "0.1.0"])
def test_a_file_is_refused_where_workers_of_kafka_connect_are(source: int) -> None:
    """It was taken for what is configured, and the whole fleet stopped."""
    world = TranslatedWorld.fleet({"W1": "AC0 AT0", "W2": "AT1"})
    with world.nothing_changes():
        told = brings(world, "N1", "XC0 XT0", FILE_NS, source)
        assert told.error is ErrorCode.INVALID_REQUEST
    assert "start it with --config-topic TOPIC, or use another group" in str(told.response.error_message)
    assert [world.beats("W1"), world.beats("W2")] == [OK, OK]


def test_what_a_member_says_later_is_refused_too() -> None:
    world = TranslatedWorld.fleet({"W1": "AC0 AT0", "W2": "AT1"})
    assert brings(world, "N1", "AC0 AT0 AT1", OFFSET, TOPIC).error in (OK, ErrorCode.COMPUTE_ASSIGNMENT)
    before = known(world)
    told = world.beat(
        "N1",
        world.member("N1").epoch,
        connection=NEW,
        config_offset=FILE_NS,
        config_source=FILE,
        configured_connectors_and_tasks=packed("XC0"),
    )
    assert told.error is ErrorCode.INVALID_REQUEST
    assert known(world) == before


def test_who_is_there_first_stays_and_is_not_disturbed() -> None:
    """A Java worker that is given the name of a group of files by mistake."""
    world = TranslatedWorld()
    brings(world, "N1", "XC0 XT0", FILE_NS, FILE)
    assert world.come("W1").error is ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    assert list(world.group.members) == ["N1"]
    assert known(world) == (FILE_NS, FILE, "XC0 XT0")
    world.send_join("W2", offset=FILE_NS)  # one of files too, that speaks the classic protocol
    assert len(world.group.members) == 2


@pytest.mark.parametrize("source", [FILE, SAYS_NOTHING])
def test_the_topic_goes_before_a_file_whatever_the_numbers_say(source: int) -> None:
    world = World()
    brings(world, "N1", "XC0", FILE_NS, source)
    assert known(world) == (FILE_NS, source, "XC0")
    brings(world, "N2", "AC0", 7, TOPIC, connection=NEW + 1)
    assert known(world) == (7, TOPIC, "AC0")
    brings(world, "N3", "YC0", FILE_NS + 1, source, connection=NEW + 2)
    assert known(world) == (7, TOPIC, "AC0")
    world.restart()
    assert known(world) == (7, TOPIC, "AC0")


def test_a_group_in_which_both_are_since_0_1_0_gets_out_of_it() -> None:
    """Java's workers are told no offset that their topic never reaches, and what their leader says counts."""
    world = TranslatedWorld.fleet({"W1": "AC0 AT0", "W2": "AT1"})
    group = world.group
    record4 = records.configured_set(group, Configured(res("XC0"), FILE_NS))
    record6 = records.target_assignment(group, group.computed_by, "", -1, computed_by_url="http://W1")
    record6.value.config_offset = FILE_NS  # type: ignore[union-attr]
    for record in (record4, record6):
        key, value = encode_record(record)
        world.log.append((key, value))
        replay(world._shadow, decode_record(key, value))
    world.restart()
    assert known(world) == (FILE_NS, SAYS_NOTHING, "XC0")
    world.keep_alive(12_000, "W1", "W2")
    world.send_join("W3")
    assert world.beats("W1") is ErrorCode.REBALANCE_IN_PROGRESS
    assert world.led("W1", "AC0 AT0 AT1", "AC0 AT0").offset == OFFSET
    assert known(world) == (OFFSET, SAYS_NOTHING, "AC0 AT0 AT1")


def test_what_is_configured_can_be_forgotten_and_nothing_stops() -> None:
    world = World.settled({"W1": "AC0"})
    world.beat("W1", 1, config_offset=99, config_source=TOPIC, configured_connectors_and_tasks=packed("AC0"))
    epoch = world.group.epoch
    world._keep(world.shard.alter_config(world.group_id, {}, world.now_ms, world.wall_ms, forgets_configured=True))
    assert known(world) == (-1, SAYS_NOTHING, "AC0")
    assert world.group.epoch == epoch + 1
    assert text(world.member("W1").current) == "AC0"
    world.beat("W1", 1, "AC0", config_offset=3, config_source=FILE, configured_connectors_and_tasks=packed("AC0"))
    assert known(world) == (3, FILE, "AC0")
