"""What does a group in front of a cluster take in of what was seen of its topics? (KG-17)"""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from kcoord.group.state.consumer_settings import ConsumerSettings
from kcoord.group.state.seen_topics import SeenTopics
from kcoord.group.state.topic import Topic
from tests.group.consumer.world import GROUP, World, topics

OLD, NEW = topics(A=4)["A"], Topic("A", b"another--topic-A", 2)
LONG_MS = 60_000
NOTHING: Mapping[str, Topic] = {}


def in_front() -> World:
    """A shard that nobody tells which topics exist."""
    world = World(ConsumerSettings(heartbeat_wait_ms=0, session_timeout_ms=10 * LONG_MS))
    world.put_in_front(None)
    return world


def shown(*there: Topic) -> SeenTopics:
    """What one look has shown."""
    return SeenTopics({each.name: each for each in there}, {})


def agreed(topic: Topic | None, since_ms: int) -> SeenTopics:
    """What looks agree upon, of which the first was so long ago."""
    return SeenTopics(NOTHING, {"A": topic}, since_ms)


def known(world: World) -> Topic | None:
    return world.shard.state.consumer[GROUP].topics.get("A")


def test_a_join_has_what_was_seen() -> None:
    world = in_front()
    assert world.join("a", seen=shown(OLD)).brief == (2, "A0 A1 A2 A3")
    assert known(world) == OLD


FEWER, MORE = Topic("A", OLD.id, 2), Topic("A", OLD.id, 6)
CASES: list[tuple[str, SeenTopics, Topic | None]] = [
    ("a look that shows nothing takes nothing away", shown(), OLD),
    ("a look that shows fewer partitions takes none away", shown(FEWER), OLD),
    ("a look that shows more adds them", shown(MORE), MORE),
    ("a look that shows another topic by that name replaces it", shown(NEW), NEW),
    ("looks that agree take a topic away", agreed(None, LONG_MS // 2), None),
    ("looks that agree take partitions away", agreed(FEWER, LONG_MS // 2), FEWER),
    ("not if the first was before the group heard of it", agreed(None, 2 * LONG_MS), OLD),
    ("nor partitions", agreed(FEWER, 2 * LONG_MS), OLD),
    ("they may add what they like, whenever they were", agreed(MORE, 2 * LONG_MS), MORE),
    ("and replace it", agreed(NEW, 2 * LONG_MS), NEW),
]


@pytest.mark.parametrize(("seen", "left"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_what_looks_can_change(seen: SeenTopics, left: Topic | None) -> None:
    world = in_front()
    world.join("a", seen=shown(OLD))
    world.pass_ms(LONG_MS)
    world.beat("a", 2, "A0 A1 A2 A3", seen=seen)
    assert known(world) == left
    assert world.shard.state.consumer[GROUP].epoch == (2 if left is OLD else 3), "it moves with a change only"


def test_a_loss_that_the_other_process_saw_before_the_topic_was_made_is_none() -> None:
    """Seed 62226: one process had seen for long that there is less. Its last look came just after the topic had grown,
    at a broker that did not know; the other process had told the group already.
    """
    world = in_front()
    world.join("a", seen=shown(OLD))
    world.pass_ms(LONG_MS)
    world.beat("a", 2, "A0 A1 A2 A3", seen=shown(MORE))
    world.beat("a", 3, "A0 A1 A2 A3 A4 A5", seen=agreed(OLD, 10_000))
    assert known(world) == MORE
    world.pass_ms(10_001)
    world.beat("a", 3, seen=agreed(OLD, 10_000))
    assert known(world) == OLD, "looks that have all been made since count"


def test_the_topic_that_had_the_name_before_does_not_come_back() -> None:
    """A broker of the other process lags behind."""
    world = in_front()
    world.join("a", seen=shown(OLD))
    world.beat("a", 2, "A0 A1 A2 A3", seen=shown(NEW))
    world.beat("a", 2, "A0 A1 A2 A3", seen=shown(OLD))
    assert known(world) == NEW


def test_after_a_load_the_group_goes_by_what_it_wrote_down() -> None:
    world = in_front()
    world.join("a", seen=shown(OLD))
    world.restart()
    world.beat("a", 2, "A0 A1 A2 A3", seen=agreed(None, 1_000))
    assert known(world) == OLD, "these looks were made before the load"
    world.pass_ms(LONG_MS)
    world.beat("a", 2, seen=agreed(None, 10_000))
    assert known(world) is None
