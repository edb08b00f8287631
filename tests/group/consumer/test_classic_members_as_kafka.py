"""Do classic consumers in a consumer group get the answers here that they get from Kafka 4.3's own coordinator?

Each scenario is played twice, as in `test_as_kafka.py`. The numbers are those of KG rules
(docs/rules/consumer-groups.md).
KG-22 is kcoord's own where a member's share stays: no scenario asks there. Which member gives a partition to another
differs, so in each scenario one alone can.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable

import pytest

from tests.gateway.scripted import close_all
from tests.group.consumer.classic_sides import MixedGroup
from tests.group.consumer.scripts_beside_kafka import broker_with_topics, play
from tests.kafka.cluster import KafkaCluster


@pytest.fixture(scope="module")
def broker(start_kafka: Callable[..., KafkaCluster]) -> KafkaCluster:
    return broker_with_topics(start_kafka)


@pytest.fixture(autouse=True)
async def _closed() -> AsyncIterator[None]:
    yield
    await close_all()


async def rule_21_a_classic_member_joins_and_leaves(g: MixedGroup) -> None:
    await g.join("n")
    await g.confirm("n")
    await g.enter("c")
    await g.sync("c")
    await g.live("c")
    await g.go_on("n")
    await g.confirm("n")
    await g.live("c")
    await g.sync("c")
    await g.enter_and_sync("c")
    await g.live("c")
    await g.describe()
    await g.commit_as("c", g.epoch["c"], g.has["c"])
    await g.go("c")
    await g.live("c")
    await g.go_on("n")
    await g.describe()


async def rule_21_what_is_refused(g: MixedGroup) -> None:
    await g.join("n")
    await g.enter("c", protocol_type="connect")
    await g.enter("c", assignors=("range", "roundrobin"))
    await g.sync("c")
    await g.enter("d", assignors=("sticky",))
    await g.enter("d", assignors=("sticky", "roundrobin"), version=3)
    await g.live("x", 2)
    await g.sync("x")
    await g.live("n", 2)
    await g.sync("n", generation_id=2)
    await g.live("c", 1)
    await g.live("c", 7)
    await g.sync("c", generation_id=7)
    await g.sync("c", protocol_type="connect")
    await g.sync("c", protocol_name="sticky")
    await g.go("x")
    await g.commit_as("c", 7, g.has["c"])
    await g.commit_as("c", 1, g.some("A", 4))
    await g.commit_as("c", -1, g.has["c"])
    await g.beat("n", -1)


async def rule_21_a_member_lets_go_when_another_comes(g: MixedGroup) -> None:
    await g.join("n", "B")
    await g.enter_and_sync("c")
    await g.join("m")
    await g.describe()
    await g.live("c")
    await g.enter("c")
    await g.live("c")
    await g.sync("c")
    await g.live("c")
    await g.describe()
    await g.go_on("m")
    await g.enter_and_sync("c")
    await g.live("c")
    await g.go_on("m")
    await g.confirm("m")
    await g.go_on("n")
    await g.confirm("n")
    await g.describe()


async def rule_21_an_old_consumer_lets_go_of_everything(g: MixedGroup) -> None:
    await g.join("n", "AB")
    await g.confirm("n")
    await g.enter("c", "AB", subscription_version=0)
    await g.sync("c")
    await g.go_on("n")
    await g.confirm("n")
    await g.live("c")
    await g.enter("c", "AB", subscription_version=0)
    await g.sync("c")
    await g.describe()


async def rule_21_static_members_take_each_others_place(g: MixedGroup) -> None:
    await g.join("n")
    await g.join("s", instance_id="one")
    await g.go_on("n")
    await g.confirm("n")
    await g.go_on("s", instance_id="one")
    await g.enter("t", instance_id="one")
    await g.go_on("s", instance_id="one")
    await g.live("t", instance_id="one")
    await g.sync("t", instance_id="one")
    await g.live("t", instance_id="two")
    await g.live("t", 1, instance_id="one")
    await g.enter("u", instance_id="one")
    await g.sync("u", instance_id="one")
    await g.live("t", instance_id="one")
    await g.join("v", instance_id="one")
    await g.live("u", instance_id="one")
    await g.describe()


async def rule_23_a_classic_group_is_upgraded(g: MixedGroup) -> None:
    await g.enter("c")
    await g.sync("c", {"c": g.some("A", 4)})
    await g.live("c")
    await g.beat("n", 3)
    await g.join("n")
    await g.describe()
    await g.live("c")
    await g.commit_as("c", g.epoch["c"], g.has["c"])
    await g.enter_and_sync("c")
    await g.live("c")
    await g.go_on("n")
    await g.enter_and_sync("c")
    await g.go_on("n")
    await g.confirm("n")
    await g.describe()


async def rule_23_a_classic_group_is_upgraded_while_it_rebalances(g: MixedGroup) -> None:
    await g.enter("c")
    await g.join("n")
    await g.describe()
    await g.sync("c")
    await g.enter_and_sync("c")
    await g.go_on("n")
    await g.confirm("n")
    await g.describe()


async def rule_24_the_last_of_the_new_protocol_goes(g: MixedGroup) -> None:
    await g.join("n")
    await g.enter("c")
    await g.sync("c")
    await g.go_on("n")
    await g.confirm("n")
    await g.live("c")
    await g.enter_and_sync("c")
    await g.beat("n", -1)
    await g.live("c")
    await g.enter("c")
    _, _generation, *told = g.seen[-1]
    g.seen[-1] = told  # one higher than Kafka's: the leaving has a group epoch of its own
    await g.sync("c", {"c": g.some("A", 4)})
    await g.live("c")
    await g.commit_as("c", g.epoch["c"], g.has["c"])


SCENARIOS: list[Callable[[MixedGroup], Awaitable[None]]] = [
    rule_21_a_classic_member_joins_and_leaves,
    rule_21_what_is_refused,
    rule_21_a_member_lets_go_when_another_comes,
    rule_21_an_old_consumer_lets_go_of_everything,
    rule_21_static_members_take_each_others_place,
    rule_23_a_classic_group_is_upgraded,
    rule_23_a_classic_group_is_upgraded_while_it_rebalances,
    rule_24_the_last_of_the_new_protocol_goes,
]


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda each: each.__name__)
async def test_answers_are_kafkas(scenario: Callable[[MixedGroup], Awaitable[None]], broker: KafkaCluster) -> None:
    await play(scenario, MixedGroup, broker)
