"""Do consumers get the answers here that they get from Kafka 4.3's own coordinator?

Each scenario is played twice: against a broker, in raw frames, and against a shard (`scripts_beside_kafka.py`). The
numbers in names are those of KG rules: KG-1 to KG-9 (docs/rules/consumer-groups.md).
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest

from tests.gateway.scripted import close_all
from tests.group.consumer.scripts_beside_kafka import broker_with_topics, play
from tests.group.consumer.sides import V0, Group
from tests.kafka.cluster import KafkaCluster

NOTHING: frozenset[tuple[bytes, int]] = frozenset()
LONG_MS = 15_000


@pytest.fixture(scope="module")
def broker(start_kafka: Callable[..., KafkaCluster]) -> KafkaCluster:
    return broker_with_topics(start_kafka)


@pytest.fixture(scope="module")
def patient_broker(start_kafka: Callable[..., KafkaCluster]) -> KafkaCluster:
    """A broker that makes one assignment of a group, and the next one when the test is over."""
    return broker_with_topics(start_kafka, LONG_MS)


@pytest.fixture(autouse=True)
async def _closed() -> AsyncIterator[None]:
    yield
    await close_all()


# -- scenarios ---------------------------------------------------------------------------------------------------------


async def rule_1_what_is_refused_by_its_fields(g: Group) -> None:
    well: dict[str, Any] = {"owned": NOTHING, "rebalance_timeout_ms": 60_000, "subscribed_topic_names": ["A"]}
    wrong: list[dict[str, Any]] = [
        {"rebalance_timeout_ms": -1},
        {"rebalance_timeout_ms": 0},
        {"rebalance_timeout_ms": -5},
        {"owned": None},
        {"subscribed_topic_names": None},
        {"instance_id": ""},
        {"rack_id": ""},
        {"server_assignor": "best"},
    ]
    for said in wrong:
        await g.beat("a", 0, **{**well, **said})
    await g.beat("", 0, **well)
    await g.beat("", 3)
    await g.beat("", 3, version=V0)
    await g.beat("", -1, version=V0)
    await g.beat("a", -2)
    await g.beat("a", -3)
    await g.beat("a", 0, **{**well, "subscribed_topic_names": []})


async def rule_2_groups_that_are_not_there(g: Group) -> None:
    for epoch in (1, -1):
        await g.beat("a", epoch)
    await g.beat("a", -2, instance_id="i")
    await g.fetch("a", 1)
    await g.fetch(None, -1)
    await g.commit("a", 1, g.some("A", 1))
    await g.commit("", -1, g.some("A", 1))
    await g.describe()


async def rule_3_epochs(g: Group) -> None:
    await g.join("a")
    await g.beat("b", 1)
    await g.beat("b", -1)
    for epoch in (1, 3, 7):
        await g.beat("a", epoch)
    await g.join("a")
    await g.confirm("a")
    await g.join("b")
    await g.go_on("a")
    lost = g.has["a"]
    await g.confirm("a")
    for owned in (lost, None, lost | g.has["b"] | g.some("A", 4)):
        await g.beat("a", 2, owned)
    await g.confirm("a")
    await g.beat("a", 3, g.some("B", 2))
    await g.describe()


async def rule_4_static_members(g: Group) -> None:
    await g.join("a", instance_id="one")
    await g.join("b", instance_id="two")
    await g.go_on("a", instance_id="one")
    await g.confirm("a")
    await g.go_on("b")
    await g.confirm("b")
    await g.join("a", instance_id="one")
    await g.join("c", instance_id="one")
    await g.beat("a", -2, instance_id="one")
    await g.beat("a", -2, instance_id="one")
    for epoch in (3, 2, 0):
        await g.beat("a", epoch, instance_id="one")
    await g.beat("a", 3, g.has["a"], instance_id="one")
    await g.describe()
    await g.go_on("b")
    await g.join("c", instance_id="one")
    await g.describe()
    await g.beat("a", 3, instance_id="one")
    await g.beat("a", 3)
    await g.beat("a", -1, instance_id="one")
    await g.beat("c", 3, instance_id="nobody")
    await g.confirm("c")
    await g.beat("c", -2, instance_id="one")
    await g.join("c", "AB", instance_id="one")
    await g.go_on("b")
    await g.confirm("b")
    await g.beat("c", -1, instance_id="one")
    await g.go_on("b")
    await g.describe()


async def rule_5_an_admin_removes_members(g: Group) -> None:
    await g.join("a")
    await g.join("b", instance_id="one")
    await g.go_on("a")
    await g.confirm("a")
    await g.go_on("b")
    await g.confirm("b")
    await g.leave(("nobody", None), ("", "nobody"), ("a", "one"))
    await g.describe()
    await g.leave(("", "one"))
    await g.go_on("a")
    await g.confirm("a")
    await g.describe()
    await g.go_on("b")
    await g.commit("b", 3, g.some("A", 1))
    await g.leave(("a", None))
    await g.go_on("a")
    await g.join("a")
    await g.join("c", instance_id="one")
    await g.beat("c", -2, instance_id="one")
    await g.leave(("c", "one"), ("a", None), ("a", None))
    await g.describe()
    await g.leave()


async def rule_6_what_moves_the_epoch(g: Group) -> None:
    await g.join("a", "")
    await g.describe()
    await g.go_on("a", rack_id="r1")
    await g.go_on("a", server_assignor="range")
    await g.go_on("a", rebalance_timeout_ms=50_000)
    await g.go_on("a", subscribed_topic_names=["A", "B"])
    await g.go_on("a", subscribed_topic_names=["B", "A"])
    await g.go_on("a", subscribed_topic_names=["nowhere"])
    await g.confirm("a")
    await g.go_on("a", subscribed_topic_names=[])
    await g.describe()


async def rule_7_while_the_next_assignment_waits(g: Group) -> None:
    await g.join("a", "AB")
    await g.confirm("a")
    await g.join("b", "AB")
    await g.join("s", instance_id="one")
    await g.describe()
    await g.confirm("b")
    await g.go_on("a", subscribed_topic_names=["A"])
    await g.describe()
    await g.confirm("a")
    await g.go_on("a", subscribed_topic_names=["A", "B"])
    await g.go_on("a")
    await g.describe()
    await g.beat("b", -1)
    await g.beat("s", -2, instance_id="one")
    await g.join("t", instance_id="one")
    await g.describe()
    await g.commit("a", 2, g.has["a"])
    await g.join("a")
    await g.beat("a", -1)
    await g.beat("t", -1, instance_id="one")
    await g.describe()
    await g.join("a")
    await g.describe()


async def rule_8_somebody_joins_and_leaves(g: Group) -> None:
    await g.join("a", "AB")
    await g.join("b", "AB")
    await g.describe()
    await g.go_on("b")
    await g.go_on("a")
    await g.go_on("a")
    await g.describe()
    await g.go_on("b")
    await g.confirm("a")
    await g.describe()
    await g.go_on("b")
    await g.confirm("b")
    await g.join("c", "A")
    await g.go_on("a")
    await g.go_on("b")
    await g.beat("c", -1)
    await g.confirm("a")
    await g.go_on("a")
    await g.confirm("b")
    await g.go_on("b")
    await g.describe()
    await g.beat("a", -1)
    await g.go_on("b")
    await g.describe()


async def rule_8_more_is_taken_while_it_lets_go(g: Group) -> None:
    await g.join("a")
    await g.join("b")
    await g.go_on("a")
    await g.join("c")
    await g.join("d")
    await g.confirm("a")
    await g.describe()
    await g.confirm("a")
    await g.describe()
    for member in "bcd":
        await g.go_on(member)
    await g.describe()


async def rule_8_topics_that_it_drops(g: Group) -> None:
    await g.join("a", "AB")
    await g.join("b", "B")
    await g.go_on("a", subscribed_topic_names=["B"])
    await g.describe()
    await g.confirm("a")
    await g.go_on("b")
    await g.describe()


async def rule_9_who_is_told_the_assignment(g: Group) -> None:
    await g.join("a")
    full: dict[str, Any] = {"rebalance_timeout_ms": 60_000, "subscribed_topic_names": ["A"]}
    await g.beat("a", 2, g.has["a"], **full)
    await g.beat("a", 2, None, **full)
    await g.beat("a", 2, g.has["a"], rebalance_timeout_ms=60_000)
    await g.beat("a", 2, g.has["a"], subscribed_topic_names=["A"])
    await g.beat("a", 2)
    await g.beat("a", -1)


async def commits_and_fetches(g: Group) -> None:
    await g.commit("", -1, g.some("A", 1))
    await g.join("a")
    mine = g.has["a"]
    await g.commit("a", 2, mine)
    await g.commit("a", 2, g.some("B", 1))
    await g.commit("a", 3, mine)
    await g.commit("a", 1, mine)
    await g.commit("a", -1, mine)
    await g.commit("", -1, mine)
    await g.commit("b", 2, mine)
    await g.fetch("a", 2)
    await g.fetch("a", 1)
    await g.fetch("b", 2)
    await g.fetch(None, -1)
    await g.join("b")
    await g.go_on("a")
    await g.confirm("a")
    await g.commit("a", 3, g.has["a"])
    await g.commit("a", 2, g.has["a"])
    await g.commit("a", 2, mine)
    await g.commit("a", 1, g.has["a"])
    await g.beat("a", -1)
    await g.commit("a", 3, g.has["a"])
    await g.beat("b", -1)
    await g.commit("", -1, mine)
    await g.commit("a", 3, mine)
    await g.delete()


async def what_is_described(g: Group) -> None:
    await g.join("a")
    await g.go_on("a")
    await g.confirm("a")
    await g.describe()
    await g.delete()
    await g.beat("a", -1)
    await g.describe()
    await g.beat("a", 2)
    await g.delete()
    await g.beat("a", 2)
    await g.describe()


SCENARIOS: list[Callable[[Group], Awaitable[None]]] = [
    rule_1_what_is_refused_by_its_fields,
    rule_2_groups_that_are_not_there,
    rule_3_epochs,
    rule_4_static_members,
    rule_5_an_admin_removes_members,
    rule_6_what_moves_the_epoch,
    rule_8_somebody_joins_and_leaves,
    rule_8_more_is_taken_while_it_lets_go,
    rule_8_topics_that_it_drops,
    rule_9_who_is_told_the_assignment,
    commits_and_fetches,
    what_is_described,
]


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda each: each.__name__)
async def test_answers_are_kafkas(scenario: Callable[[Group], Awaitable[None]], broker: KafkaCluster) -> None:
    await play(scenario, Group, broker)


async def test_answers_are_kafkas_while_the_next_assignment_waits(patient_broker: KafkaCluster) -> None:
    await play(rule_7_while_the_next_assignment_waits, Group, patient_broker, LONG_MS)
