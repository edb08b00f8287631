"""Do Python consumers read topics of Apache Kafka, with its own coordinator? All of it, and in order nothing twice."""

from __future__ import annotations

import asyncio
import signal
from collections import Counter
from collections.abc import Callable
from itertools import chain
from pathlib import Path

import pytest
from aiokafka import TopicPartition

from kcoord.assign.consumer import ClientSideAssignor, ConsumerAssignment, PreparedGroup, UniformConsumerAssignor
from kcoord.consumer import Consumer, ConsumerError
from kcoord.consumer.reading import Reading
from tests.consumer.conftest import QUICK, Child
from tests.consumer.reader import (
    Reader,
    check_that_a_stale_commit_is_sent_again,
    partitions_of,
    readers,
    until,
    until_shared,
)
from tests.kafka.cluster import KafkaCluster
from tests.kafka.kcoord_process import Kcoord
from tests.kafka.topics import write_topic
from tests.kafka.wait import DEADLINE_S

PARTITIONS = 6


@pytest.fixture(scope="module")
def cluster(start_kafka: Callable[..., KafkaCluster]) -> KafkaCluster:
    """A Kafka with short sessions."""
    return start_kafka(overrides=QUICK)


@pytest.fixture
def topic(cluster: KafkaCluster, group: str) -> str:
    """A topic of the test's own, with the name of its group."""
    return cluster.create_topic(group.replace("_", "-"), PARTITIONS)


def everything(values: list[str], *all_readers: Reader) -> Callable[[], bool]:
    """Whether the readers have read all of this."""

    def is_read() -> bool:
        failed = [each.error for each in all_readers if each.error is not None]
        assert not failed, f"a consumer has failed: {failed}"
        return set(values) <= {value for each in all_readers for value in each.values}

    return is_read


async def write(cluster: KafkaCluster, topic: str, values: list[str]) -> list[str]:
    await asyncio.to_thread(write_topic, cluster, topic, values)
    return values


def numbered(first: int, count: int) -> list[str]:
    return [f"value {number}" for number in range(first, first + count)]


async def test_each_record_is_read_once_while_consumers_come_and_go(
    cluster: KafkaCluster, topic: str, group: str
) -> None:
    """All leave and let go in order, so each commits what it has read before others go on."""
    written: list[str] = []
    gone: list[Reader] = []

    async def write_more() -> None:
        written.extend(await write(cluster, topic, numbered(len(written), 600)))

    everybody = partitions_of(topic, PARTITIONS)
    async with Reader(cluster.bootstrap, group, topics=[topic]) as first:
        await write_more()
        async with Reader(cluster.bootstrap, group, topics=[topic]) as second:
            gone.append(second)
            await write_more()
            await until_shared([3, 3], everybody, first, second)
            async with Reader(cluster.bootstrap, group, topics=[topic]) as third:
                gone.append(third)
                await write_more()
                await until_shared([2, 2, 2], everybody, first, second, third)
                await write_more()
            await write_more()
            await until_shared([3, 3], everybody, first, second)
        await write_more()
        await until_shared([6], everybody, first)
        await until(everything(written, first, *gone), "all is read")
    counts = Counter(value for each in (first, *gone) for value in each.values)
    assert counts == Counter(written)
    assert all(each.records for each in gone), "all have read something"
    ends = {(topic, number): 0 for number in range(PARTITIONS)}
    for each in (first, *gone):
        for record in each.records:
            ends[topic, record.partition] = max(ends[topic, record.partition], record.offset + 1)
    assert cluster.committed(group) == ends


async def test_a_group_goes_on_where_it_has_left_off(cluster: KafkaCluster, topic: str, group: str) -> None:
    """Record by record, with commits of the program's own; what was in hand and not committed comes again."""
    written = await write(cluster, topic, numbered(0, 60))
    seen: list[str] = []
    with pytest.raises(ZeroDivisionError):
        async with Consumer(cluster.bootstrap, group, topics=[topic], auto_offset_reset="earliest") as consumer:
            async for record in consumer:
                if len(seen) == 20:
                    raise ZeroDivisionError
                seen.append((record.value or b"").decode())
    async with Consumer(
        cluster.bootstrap, group, topics=[topic], auto_offset_reset="earliest", enable_auto_commit=False
    ) as consumer:
        async for record in consumer:
            seen.append((record.value or b"").decode())
            await consumer.commit({TopicPartition(topic, record.partition): (record.offset + 1, "noted")})
            if len(seen) == 40:
                break
    async with Reader(cluster.bootstrap, group, topics=[topic]) as last:
        await until(lambda: len(last.values) == 20, "the rest is read")
    assert sorted(seen + last.values) == sorted(written)


async def test_a_commit_at_a_stale_epoch_is_sent_again(cluster: KafkaCluster, topic: str, group: str) -> None:
    async with Reader(cluster.bootstrap, group, topics=[topic], enable_auto_commit=False) as reader:
        await until_shared([6], partitions_of(topic, PARTITIONS), reader)
        await check_that_a_stale_commit_is_sent_again(reader, TopicPartition(topic, 0))


async def test_who_is_killed_lets_others_read_what_it_has_not_committed(
    cluster: KafkaCluster, topic: str, group: str, start_child: Callable[..., Child]
) -> None:
    child = start_child(cluster.bootstrap, group, topic)
    async with Reader(cluster.bootstrap, group, topics=[topic]) as other:
        await until(lambda: len(other.assigned) == 3 and child.said("assigned") != [], "shared")
        written = await write(cluster, topic, numbered(0, 300))
        await until(lambda: len(child.said("committed")) >= 5, "the child commits")
        child.process.kill()
        await until_shared([6], partitions_of(topic, PARTITIONS), other)
        committed = Counter(child.said("committed"))
        await until(lambda: set(written) <= {*other.values, *child.said("read")}, "all is read")
        again = set(child.said("read")) & set(other.values)
        assert len(again) <= len(child.said("read")) - len(committed), "what was committed is not read again"


@pytest.mark.parametrize("how", ["frozen", "blocked"])
async def test_who_was_away_for_longer_than_its_session_takes_nothing_back(
    cluster: KafkaCluster, topic: str, group: str, start_child: Callable[..., Child], how: str
) -> None:
    """Frozen as a process, or with a blocked event loop. The first thing that it does afterwards is to commit: that is
    refused, and nothing of what the other one has done since is lost.
    """
    child = start_child(cluster.bootstrap, group, topic)
    child.wait_for(lambda: child.said("assigned") != [], "it has its share")
    await write(cluster, topic, numbered(0, 1_000))
    child.wait_for(lambda: len(child.said("committed")) >= 5, "it commits")
    child.block.touch()
    child.wait_for(lambda: child.said("blocked") != [], "it has a record in hand")
    if how == "frozen":
        child.freeze()
    async with Reader(cluster.bootstrap, group, topics=[topic], auto_commit_interval=0.1) as other:
        await until_shared([6], partitions_of(topic, PARTITIONS), other)
        await until(lambda: sum(cluster.committed(group).values()) == 1_000, "the other one has read and committed all")
        child.block.unlink()
        if how == "frozen":
            child.thaw()
        child.wait_for(lambda: child.said("lost") != [], "it learns that it has lost everything")
        assert child.said("lost") == ["0 1 2 3 4 5"]
        [refused] = child.said("refused")
        assert "this consumer does not have these partitions any more (UNKNOWN_MEMBER_ID)" in refused
        await until(lambda: len(other.assigned) == 3, "it has joined again")
        assert sum(cluster.committed(group).values()) == 1_000, "nothing was taken back"
        written = await write(cluster, topic, numbered(1_000, 100))
        await until(lambda: set(written) <= {*other.values, *child.said("read")}, "both go on")
        assert child.said("revoked") == []
    assert child.process.stop() == 0
    assert sum(cluster.committed(group).values()) == 1_100


async def test_a_static_member_that_restarts_keeps_its_share(cluster: KafkaCluster, topic: str, group: str) -> None:
    everybody = partitions_of(topic, PARTITIONS)
    async with Reader(cluster.bootstrap, group, topics=[topic], instance_id="one") as one:
        async with Reader(cluster.bootstrap, group, topics=[topic], instance_id="two") as two:
            await until_shared([3, 3], everybody, one, two)
            had, notes = two.assigned, len(one.notes)
            written = await write(cluster, topic, numbered(0, 60))
            await until(everything(written, one, two), "all is read")
        written += await write(cluster, topic, numbered(60, 60))
        async with Reader(cluster.bootstrap, group, topics=[topic], instance_id="two") as again:
            await until_shared([3, 3], everybody, one, again)
            assert (again.assigned, len(one.notes)) == (had, notes)
            await until(everything(written, one, two, again), "all is read")
            assert Counter(one.values + two.values + again.values) == Counter(written)
            async with Consumer(cluster.bootstrap, group, topics=[topic], instance_id="two") as other:
                with pytest.raises(ConsumerError, match=r"UNRELEASED_INSTANCE_ID: .*\. Another consumer"):
                    await anext(other)


async def test_a_pattern_is_resolved_by_the_broker(cluster: KafkaCluster, group: str) -> None:
    prefix = group.replace("_", "-")
    first, second = cluster.create_topic(f"{prefix}-a", 2), cluster.create_topic(f"{prefix}-b", 1)
    cluster.create_topic(f"not-{prefix}", 1)
    async with Reader(cluster.bootstrap, group, pattern=f"{prefix}-.") as reader:
        await until_shared([3], partitions_of(first, 2) | partitions_of(second, 1), reader)
        written = await write(cluster, first, numbered(0, 10)) + await write(cluster, second, numbered(10, 10))
        await until(everything(written, reader), "all is read")
    async with Consumer(cluster.bootstrap, f"{group}-2", pattern="(?=a)") as consumer:
        with pytest.raises(ConsumerError, match="INVALID_REGULAR_EXPRESSION"):
            await anext(consumer)


class Own(ClientSideAssignor):
    name = "own"

    def assign(self, group: PreparedGroup) -> ConsumerAssignment:
        return ConsumerAssignment.of(UniformConsumerAssignor().assign(group))


async def test_a_broker_that_knows_no_client_side_assignors_is_an_error(
    cluster: KafkaCluster, topic: str, group: str
) -> None:
    """It would take the consumer, and assign by itself."""
    async with Consumer(cluster.bootstrap, group, topics=[topic], assignors=[Own()]) as consumer:
        with pytest.raises(
            ConsumerError,
            match=r"has no ConsumerGroupPrepareAssignment\. The coordinator does not know client-side assignors of "
            r"consumers \(here own\)\. Use kcoord: .*leave out `assignors`",
        ):
            await consumer.getmany(DEADLINE_S)


async def test_who_was_a_member_goes_on_where_client_side_assignors_are_not_known(
    cluster: KafkaCluster, topic: str, group: str
) -> None:
    """As when an instance of an older kcoord takes over: it does not read the list, and assigns by itself."""
    reader = Reader(cluster.bootstrap, group, topics=[topic], assignors=[Own()])
    async with reader:
        reader.consumer._running[0]._was_member = True
        await until_shared([6], partitions_of(topic, PARTITIONS), reader)


async def test_a_topic_that_is_deleted_is_let_go_of(cluster: KafkaCluster, topic: str, group: str) -> None:
    """Its offsets cannot be committed any more, which must not hold the revocation up. Others are read on."""
    other = cluster.create_topic(f"{topic}-2", 1)
    async with Reader(cluster.bootstrap, group, topics=[topic, other]) as reader:
        await until_shared([7], partitions_of(topic, PARTITIONS) | partitions_of(other, 1), reader)
        written = await write(cluster, topic, numbered(0, 60))
        await until(everything(written, reader), "all is read")
        admin = cluster.admin()  # its futures end with it
        admin.delete_topics([topic])[topic].result(120)
        await until_shared([1], partitions_of(other, 1), reader)
        written += await write(cluster, other, numbered(60, 10))
        await until(everything(written, reader), "all is read")
        assert (reader.called("on_revoked"), reader.called("on_lost")) == ([partitions_of(topic, PARTITIONS)], [])
        client = reader.consumer._running[1]._kafka._client
        for _ in range(3):  # as if it had not been told yet that the partitions are gone
            client.set_topics([topic, other])
            await client.force_metadata_update()
        assert topic not in admin.list_topics(timeout=60).topics, "the consumer has created it anew"
        cluster.create_topic(topic, 2)
        await until_shared([3], partitions_of(topic, 2) | partitions_of(other, 1), reader)
        written += await write(cluster, topic, numbered(70, 10))
        await until(everything(written, reader), "all is read")


async def test_a_deleted_topic_is_asked_for_in_measure_until_it_is_there_again(
    cluster: KafkaCluster, topic: str, caplog: pytest.LogCaptureFixture
) -> None:
    """As long as the group does not take the partitions away."""
    reading = Reading({"bootstrap_servers": cluster.bootstrap}, {"auto_offset_reset": "earliest"})
    await reading.start()
    try:
        reading.take(dict.fromkeys(partitions_of(topic, PARTITIONS), 0))
        reading.begin(partitions_of(topic, PARTITIONS))
        await write(cluster, topic, numbered(0, 10))
        await until_filled(reading)
        while reading.has_records:
            reading.next()
        admin = cluster.admin()  # its futures end with it
        admin.delete_topics([topic])[topic].result(120)
        async with asyncio.timeout(DEADLINE_S):
            while not caplog.messages:
                await reading.fill(100)
        caplog.clear()
        await reading.fill(3_000)
        assert 1 <= len([each for each in caplog.messages if f"Topic {topic} not found" in each]) <= 7
        cluster.create_topic(topic, PARTITIONS)
        await write(cluster, topic, numbered(0, 10))
        await until_filled(reading)
    finally:
        await reading.stop()


async def until_filled(reading: Reading) -> None:
    """Wait until there are records."""
    async with asyncio.timeout(DEADLINE_S):
        while not reading.has_records:
            await reading.fill(100)


async def test_a_program_moves_its_position_and_pauses(cluster: KafkaCluster, topic: str, group: str) -> None:
    written = await write(cluster, topic, numbered(0, 120))
    async with Reader(cluster.bootstrap, group, topics=[topic]) as reader:
        await until(everything(written, reader), "all is read")
        await reader.pause()
        counts = Counter(each.partition for each in reader.records)
        everybody = partitions_of(topic, PARTITIONS)
        positions = {each: await reader.consumer.position(each) for each in everybody}
        assert positions == {each: counts[each.partition] for each in everybody}
        still, moved = sorted(everybody)[:3], sorted(everybody)[3:]
        reader.consumer.pause(*still)
        for each in everybody:
            reader.consumer.seek(each, 0)
        reader.records.clear()
        reader.go_on()
        expected = sum(counts[each.partition] for each in moved)
        await until(lambda: len(reader.records) == expected, "what is not paused is read again")
        assert {each.partition for each in reader.records} == {each.partition for each in moved}
        reader.consumer.resume(*still)
        await until(lambda: len(reader.records) == len(written), "what was paused is read again")
        assert Counter(reader.values) == Counter(written)


async def test_what_was_fetched_and_not_given_away_is_given_once(cluster: KafkaCluster, topic: str, group: str) -> None:
    """The consumer has hundreds of records at hand when its program pauses, and when another one joins."""
    written = await write(cluster, topic, numbered(0, 600))
    seen: list[str] = []
    async with Consumer(cluster.bootstrap, group, topics=[topic], auto_offset_reset="earliest") as consumer:

        async def read() -> None:
            async for record in consumer:
                seen.append((record.value or b"").decode())

        first = await anext(consumer)
        reading = consumer._running[1]
        await until(lambda: len(consumer.assignment()) == 6, "it has everything")
        assert reading.has_records
        consumer.pause(*consumer.assignment())
        assert await consumer.getmany(0) == {}
        consumer.resume(*consumer.assignment())
        seen += [(each.value or b"").decode() for each in chain(*(await consumer.getmany(60, max_records=1)).values())]
        assert reading.has_records
        async with Reader(cluster.bootstrap, group, topics=[topic]) as other:
            driver = consumer._running[0]
            await until(lambda: len(driver.member.assigned) == 3, "the broker withdraws three partitions")
            await until(lambda: driver.turns.has_callbacks, "the revocation waits")
            task = asyncio.create_task(read())
            await until(lambda: len(seen) + len(other.values) >= 599, "all is read")
            await until_shared([3], partitions_of(topic, PARTITIONS) - consumer.assignment(), other)
            task.cancel()
            await asyncio.wait([task])
            assert Counter([(first.value or b"").decode(), *seen, *other.values]) == Counter(written)
            assert other.values, "both have read something"


async def test_a_seek_gives_up_what_was_fetched(cluster: KafkaCluster, group: str) -> None:
    topic = cluster.create_topic(group.replace("_", "-"), 1)
    written = await write(cluster, topic, numbered(0, 50))
    async with Consumer(cluster.bootstrap, group, topics=[topic], auto_offset_reset="earliest") as consumer:
        for back in (1, 20):
            for _ in range(back):
                await anext(consumer)
            assert consumer._running[1].has_records
            consumer.seek(TopicPartition(topic, 0), 0)
        values = [((await anext(consumer)).value or b"").decode() for _ in written]
        assert values == written
        consumer.seek(TopicPartition(topic, 0), 49)
        assert (await anext(consumer)).offset == 49


async def test_where_a_group_begins(cluster: KafkaCluster, topic: str, group: str) -> None:
    await write(cluster, topic, numbered(0, 30))
    async with Reader(cluster.bootstrap, group, topics=[topic], auto_offset_reset="latest") as latest:
        await until_shared([6], partitions_of(topic, PARTITIONS), latest)
        ends = {each: await latest.consumer.position(each) for each in latest.assigned}
        assert sum(ends.values()) == 30
        written = await write(cluster, topic, numbered(30, 30))
        await until(everything(written, latest), "what is new is read")
        assert Counter(latest.values) == Counter(written)
    other = f"{group}-2"
    async with Consumer(cluster.bootstrap, other, topics=[topic], auto_offset_reset="none") as consumer:
        with pytest.raises(ConsumerError, match=r"no offset was committed for .*auto_offset_reset is 'none'"):
            await anext(consumer)

    def to_the_fifth(partitions: frozenset[TopicPartition]) -> None:
        for each in partitions:
            sought.seek(each, 5)

    sought = Consumer(cluster.bootstrap, other, topics=[topic], auto_offset_reset="none", on_assigned=to_the_fifth)
    async with sought:
        record = await anext(sought)
        assert record.offset >= 5
        sought.seek(TopicPartition(topic, record.partition), 1_000)
        with pytest.raises(ConsumerError, match=r"no records any more .* at 1000"):
            while True:
                await anext(sought)


async def test_a_consumer_may_come_before_its_topic(cluster: KafkaCluster, group: str) -> None:
    topic = group.replace("_", "-")
    async with readers(2, cluster.bootstrap, group, topics=[topic]) as both:
        await until(lambda: all(each.consumer.epoch > 0 for each in both), "both are members")
        cluster.create_topic(topic, 2)
        await until_shared([1, 1], partitions_of(topic, 2), *both)
        written = await write(cluster, topic, numbered(0, 20))
        await until(everything(written, *both), "all is read")


async def test_a_broker_that_restarts_is_outlived(start_kafka: Callable[..., KafkaCluster], group: str) -> None:
    """The consumer is still a member afterwards, and goes on behind what it has read."""
    cluster = start_kafka(overrides={**QUICK, "group.consumer.session.timeout.ms": 60_000})
    topic = cluster.create_topic("outlives", PARTITIONS)
    async with Reader(cluster.bootstrap, group, topics=[topic]) as reader:
        await until_shared([6], partitions_of(topic, PARTITIONS), reader)
        written = await write(cluster, topic, numbered(0, 60))
        await until(everything(written, reader), "all is read")
        await asyncio.to_thread(cluster.restart_broker, 1, kill=True)
        written += await write(cluster, topic, numbered(60, 60))
        await until(everything(written, reader), "all is read")
        await reader.consumer.commit()
        assert Counter(reader.values) == Counter(written)
        assert (len(reader.notes), reader.called("on_lost")) == (1, [])
        committed = await reader.consumer.committed(*reader.assigned)
        assert sum(each for each in committed.values() if each is not None) == 120


async def test_a_kcoord_in_front_of_the_cluster_passes_everything_on(
    cluster: KafkaCluster, topic: str, group: str, tmp_path: Path
) -> None:
    kcoord = Kcoord(tmp_path, upstream=cluster.bootstrap, groups=["another"])
    try:
        kcoord.start()
        async with Reader(kcoord.bootstrap, group, topics=[topic]) as first:
            written = await write(cluster, topic, numbered(0, 60))
            async with Reader(cluster.bootstrap, group, topics=[topic]) as second:
                await until_shared([3, 3], partitions_of(topic, PARTITIONS), first, second)
                written += await write(cluster, topic, numbered(60, 60))
                await until(everything(written, first, second), "all is read")
        assert Counter(first.values + second.values) == Counter(written)
        assert sum(cluster.committed(group).values()) == 120
    finally:
        kcoord.remove()


def test_a_signal_ends_the_loop_over_the_records(
    cluster: KafkaCluster, topic: str, group: str, start_child: Callable[..., Child]
) -> None:
    child = start_child(cluster.bootstrap, group, topic)
    write_topic(cluster, topic, numbered(0, 10))
    child.wait_for(lambda: len(child.said("committed")) == 10, "it has read all")
    child.process.popen.send_signal(signal.SIGINT)
    assert child.process.popen.wait(DEADLINE_S) == 0
    assert child.said("left") == [""]
    assert child.said("revoked") == ["0 1 2 3 4 5"]
