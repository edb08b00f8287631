"""Do instances in one group of a real Kafka share the partitions, whoever comes, goes, and falls out?

The ledger of `standing.py` fails when a partition has two owners at once.
"""

from __future__ import annotations

import asyncio
import logging
from functools import partial

import pytest
from aiokafka.protocol.group import LeaveGroupRequest

from kcoord.instances import membership as membership_module
from kcoord.instances.offsets_topic_leaders import Surroundings
from tests.instances.standing import Authorization, until
from tests.kafka.cluster import KafkaCluster


async def test_instances_come_and_go_and_everything_is_always_somebodys(kafka: KafkaCluster) -> None:
    async with Authorization(kafka, "come-and-go") as standing:
        first, one = standing.come(1)
        await until(lambda: standing.is_served(one), "the first serves everything")
        _, two = standing.come(2)
        await until(lambda: standing.is_served(one, two), "two share")
        stayed = one.serves()
        _, three = standing.come(3)
        await until(lambda: standing.is_served(one, two, three), "three share")
        assert one.serves() < stayed, "what stays was never let go of"
        assert one.gains == standing.partitions
        kept = two.serves(), three.serves()
        await first.stop()
        await until(lambda: standing.is_served(two, three), "the others take over")
        assert two.serves() >= kept[0]
        assert three.serves() >= kept[1]


async def test_all_have_the_same_map(kafka: KafkaCluster) -> None:
    async with Authorization(kafka, "map") as standing:
        standings = [standing.come(number) for number in (1, 2, 3)]
        memberships = [each for each, _ in standings]
        await until(lambda: standing.is_served(*(shards for _, shards in standings)), "three share")
        await until(lambda: len({each.map.epoch for each in memberships}) == 1, "one map")
        assert memberships[0].map == memberships[1].map == memberships[2].map
        assert sorted(memberships[0].map.instances) == [1, 2, 3]
        owner = memberships[0].owner("a group")
        assert owner is not None
        assert [each.is_self(owner) for each in memberships].count(True) == 1


async def test_kafkas_own_tools_show_who_has_what(kafka: KafkaCluster) -> None:
    async with Authorization(kafka, "tools") as standing:
        standings = [standing.come(number) for number in (1, 2)]
        await until(lambda: standing.is_served(*(shards for _, shards in standings)), "two share")
        admin = kafka.admin()
        asked = admin.describe_consumer_groups([standing.group], request_timeout=120)[standing.group]
        described = await asyncio.wrap_future(asked)
        shown = {
            member.member_id: {each.partition for each in member.assignment.topic_partitions}
            for member in described.members
        }
        assert shown == {membership.member.place: shards.serves() for membership, shards in standings}
        assert described.partition_assignor == "kcoord"


async def test_the_newer_of_two_with_one_number_gets_nothing_while_the_elder_is_there(
    kafka: KafkaCluster, caplog: pytest.LogCaptureFixture
) -> None:
    async with Authorization(kafka, "same-number") as standing:
        predecessor, one = standing.come(1, name="predecessor")
        await until(lambda: standing.is_served(one), "the predecessor serves everything")
        newer, two = standing.come(1, name="newer")
        with caplog.at_level(logging.ERROR, "kcoord.instances"):
            await until(lambda: newer.is_refused, "the newer is refused")
        assert "instance.id" in caplog.text
        assert standing.is_served(one)
        assert (one.loses, two.gains) == (0, 0)
        await predecessor.stop()
        await until(lambda: standing.is_served(two), "the newer takes its place")
        assert not newer.is_refused


async def test_who_is_put_out_of_the_group_lets_go_and_comes_back(kafka: KafkaCluster) -> None:
    async with Authorization(kafka, "put-out") as standing:
        first, one = standing.come(1)
        second, two = standing.come(2)
        await until(lambda: standing.is_served(one, two), "two share")
        mine = min(one.serves())
        assert await first.confirm(mine)
        assert not await second.confirm(mine), "it is not the second's"
        place = first.member.place
        gains = one.gains
        coordinator = second.member._coordinator
        assert coordinator is not None
        await coordinator._send_req(LeaveGroupRequest(standing.group, place))
        assert not await first.confirm(mine), "the group says so before the next heartbeat does"
        await until(lambda: first.member.place not in ("", place), "it has another place")
        await until(lambda: standing.is_served(one, two), "two share again")
        assert one.gains > gains, "what it has again was loaded again"


async def test_what_one_cannot_read_moves_once_to_one_that_can(kafka: KafkaCluster) -> None:
    async with Authorization(kafka, "unreadable") as standing:
        first, one = standing.come(1)
        await until(lambda: standing.is_served(one), "the first serves everything")
        second, two = standing.come(2)
        two.of_newer_kcoord = set(range(standing.partitions))

        def first_has_everything() -> bool:
            return len(one.serves()) == standing.partitions

        def is_round_over(before: int) -> bool:
            return first.map.epoch > before and second.map.epoch == first.map.epoch

        await until(lambda: two.loses and first_has_everything(), "the first has everything again")
        for _ in range(3):
            before = first.map.epoch
            first.member.rejoin()
            await until(partial(is_round_over, before), "another round")
        await until(first_has_everything, "the first has everything")
        assert (two.gains, two.loses) == (len(two.unreadable()), len(two.unreadable())), "each came and went once"


async def test_partitions_follow_the_leaders_of_the_offsets(
    kafka: KafkaCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """GW-20."""
    monkeypatch.setattr(membership_module, "MOVED_FOR_MS", 300)
    brokers = frozenset({10, 11})
    sees = Surroundings(brokers, (10, 11) * 6)
    async with Authorization(kafka, "leaders") as standing:
        first, one = standing.come(1, surroundings=lambda: sees)
        _, two = standing.come(2, surroundings=lambda: sees)
        await until(lambda: standing.is_served(one, two), "two share")
        front = first.map.brokers
        assert sorted(front.values()) == [1, 2]
        by_number = {1: one, 2: two}
        assert by_number[front[10]].serves() == set(range(0, 12, 2))
        sees = Surroundings(brokers, (10,) * 8 + (11,) * 4)
        await until(lambda: by_number[front[10]].serves() == set(range(8)), "they have moved")
        await until(lambda: by_number[front[11]].serves() == set(range(8, 12)), "so have the others")
        assert first.map.brokers == front


async def test_kafka_is_not_there_at_first(kafka: KafkaCluster) -> None:
    async with Authorization(kafka, "later") as standing:
        silent = await asyncio.start_server(lambda _, writer: writer.close(), "127.0.0.1", 0)
        port = silent.sockets[0].getsockname()[1]
        membership, shards = standing.come(1, bootstrap=f"127.0.0.1:{port}")
        await asyncio.sleep(1.5)
        assert not shards.serves()
        silent.close()
        await asyncio.wait_for(membership.stop(), 30)
