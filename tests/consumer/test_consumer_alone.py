"""Do Python consumers share work in a kcoord without a cluster? (KG-1 to KG-5, KG-8, KG-10 to KG-14, KG-16)

Its topics have no data: what counts is who has which partition, and what is committed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.errors import KafkaError
from confluent_kafka.admin import AdminClient, NewPartitions, NewTopic

from kcoord.consumer import CommitFailed, Consumer, ConsumerError, ConsumerStopped
from tests.consumer.conftest import Child
from tests.consumer.reader import (
    Reader,
    check_that_a_stale_commit_is_sent_again,
    partitions_of,
    readers,
    until,
    until_shared,
)
from tests.consumer.test_reading import Record
from tests.kafka.kcoord_process import Kcoord
from tests.kafka.wait import DEADLINE_S

ALL = partitions_of("work", 6)
WORK: dict[str, Any] = {"topics": ["work"]}


async def test_consumers_come_and_go(shared_kcoord: Kcoord, group: str) -> None:
    """KG-8: who goes on with a partition keeps it without a call; what is revoked is let go of first."""
    async with Reader(shared_kcoord.bootstrap, group, **WORK) as first:
        await until_shared([6], ALL, first)
        async with Reader(shared_kcoord.bootstrap, group, **WORK) as second:
            await until_shared([3, 3], ALL, first, second)
            async with Reader(shared_kcoord.bootstrap, group, **WORK) as third:
                await until_shared([2, 2, 2], ALL, first, second, third)
            await until_shared([3, 3], ALL, first, second)
        await until_shared([6], ALL, first)
        assert first.called("on_lost") == second.called("on_lost") == third.called("on_lost") == []
    for each in (first, second, third):
        has: frozenset[TopicPartition] = frozenset()
        for name, partitions in each.notes:
            if name == "on_assigned":
                assert not has & partitions, "nothing is assigned twice"
                has |= partitions
            else:
                assert partitions <= has
                has -= partitions
        assert not has, "all was revoked at the end"


async def test_who_is_killed_loses_its_share_when_its_session_ends(
    shared_kcoord: Kcoord, group: str, start_child: Callable[..., Child]
) -> None:
    """KG-5"""
    child = start_child(shared_kcoord.bootstrap, group, "work")
    async with Reader(shared_kcoord.bootstrap, group, **WORK) as other:
        await until(lambda: len(other.assigned) == 3 and child.said("assigned") != [], "shared")
        had, notes = other.assigned, len(other.notes)
        child.process.kill()
        await until_shared([6], ALL, other)
        assert other.notes[notes:] == [("on_assigned", ALL - had)]


def test_who_gets_sigterm_leaves_before_it_ends(
    shared_kcoord: Kcoord, group: str, start_child: Callable[..., Child]
) -> None:
    child = start_child(shared_kcoord.bootstrap, group, "work")
    child.wait_for(lambda: child.said("assigned") != [], "it has its share")
    assert child.process.stop() == 0
    assert child.said("left") == [""]
    assert child.said("revoked") == ["0 1 2 3 4 5"]
    assert "Traceback" not in child.process.tail()


async def test_a_restart_of_kcoord_is_not_noticed(own_kcoord: Kcoord, group: str) -> None:
    """KG-3"""
    async with readers(2, own_kcoord.bootstrap, group, enable_auto_commit=False, **WORK) as (first, second):
        await until_shared([3, 3], ALL, first, second)
        notes = len(first.notes), len(second.notes)
        await asyncio.to_thread(own_kcoord.kill_and_restart)
        await first.consumer.commit(dict.fromkeys(first.assigned, 7))
        async with Reader(own_kcoord.bootstrap, group, **WORK) as third:
            await until_shared([2, 2, 2], ALL, first, second, third)
            assert (await third.consumer.committed(*ALL)).items() >= dict.fromkeys(first.assigned, 7).items()
        assert (len(first.notes), len(second.notes)) >= (notes[0] + 1, notes[1] + 1), "some was revoked, nothing else"
        assert first.called("on_lost") == second.called("on_lost") == []


async def test_a_static_member_gets_its_share_back(shared_kcoord: Kcoord, group: str) -> None:
    """KG-4"""
    async with Reader(shared_kcoord.bootstrap, group, instance_id="one", **WORK) as one:
        async with Reader(shared_kcoord.bootstrap, group, instance_id="two", **WORK) as two:
            await until_shared([3, 3], ALL, one, two)
            had, notes = two.assigned, len(one.notes)
        async with Reader(shared_kcoord.bootstrap, group, instance_id="two", **WORK) as again:
            await until_shared([3, 3], ALL, one, again)
            assert (again.assigned, len(one.notes)) == (had, notes)
            await again.pause()
            await again.consumer.close(permanent=True)
            await until_shared([6], ALL, one)


async def test_an_instance_id_that_is_in_use_is_an_error(shared_kcoord: Kcoord, group: str) -> None:
    """KG-4"""
    async with Reader(shared_kcoord.bootstrap, group, instance_id="one", **WORK) as one:
        await until_shared([6], ALL, one)
        async with Consumer(shared_kcoord.bootstrap, group, topics=["work"], instance_id="one") as other:
            with pytest.raises(
                ConsumerError, match=r"UNRELEASED_INSTANCE_ID: .*\. Another consumer .* has the instance id one"
            ):
                await anext(other)
        assert one.assigned == ALL


async def test_a_pattern_is_resolved_by_the_coordinator(own_kcoord: Kcoord, group: str) -> None:
    """KG-16"""
    admin = AdminClient({"bootstrap.servers": own_kcoord.bootstrap})
    async with Reader(own_kcoord.bootstrap, group, pattern="w[ao]rk") as reader:
        await until_shared([6], ALL, reader)
        admin.create_topics([NewTopic("wark", 2)])["wark"].result(60)
        await until_shared([8], ALL | partitions_of("wark", 2), reader)


async def test_a_pattern_that_cannot_be_used_is_an_error(shared_kcoord: Kcoord, group: str) -> None:
    """KG-16"""
    async with Consumer(shared_kcoord.bootstrap, group, pattern="(?=work)") as consumer:
        with pytest.raises(ConsumerError, match=r"INVALID_REGULAR_EXPRESSION: .*pattern \(\?=work\): write it in RE2"):
            await anext(consumer)


async def test_topics_grow_go_and_come_again(own_kcoord: Kcoord, group: str) -> None:
    """KG-14: a topic that is made anew is another one."""
    admin = AdminClient({"bootstrap.servers": own_kcoord.bootstrap})
    async with readers(2, own_kcoord.bootstrap, group, **WORK) as both:
        await until_shared([3, 3], ALL, *both)
        admin.create_partitions([NewPartitions("work", 8)])["work"].result(60)
        await until_shared([4, 4], partitions_of("work", 8), *both)
        admin.delete_topics(["work"])["work"].result(60)
        await until_shared([0, 0], frozenset(), *both)
        admin.create_topics([NewTopic("work", 2)])["work"].result(60)
        await until_shared([1, 1], partitions_of("work", 2), *both)


async def test_an_assignor_that_is_not_there_is_an_error(shared_kcoord: Kcoord, group: str) -> None:
    """KG-1"""
    async with Consumer(shared_kcoord.bootstrap, group, topics=["work"], server_assignor="best") as consumer:
        with pytest.raises(
            ConsumerError, match=r"UNSUPPORTED_ASSIGNOR: .*\. The coordinator does not have the assignor best"
        ):
            await anext(consumer)


async def test_a_coordinator_without_the_protocol_is_an_error(group: str, tmp_path: Path) -> None:
    kcoord = Kcoord(tmp_path, settings={"group.consumer.enable": "false"})
    try:
        kcoord.start()
        async with Consumer(kcoord.bootstrap, group, topics=["work"]) as consumer:
            with pytest.raises(ConsumerError, match=r"UNSUPPORTED_VERSION: .*Use Apache Kafka 4\.0 or later"):
                await consumer.getmany(DEADLINE_S)
    finally:
        kcoord.remove()


async def test_a_group_that_has_to_stay_classic_is_an_error_that_says_so(group: str, tmp_path: Path) -> None:
    kcoord = Kcoord(tmp_path, settings={"topics": "work:6", "group.consumer.migration.policy": "disabled"})
    classic = None
    try:
        kcoord.start()
        classic = AIOKafkaConsumer("work", bootstrap_servers=kcoord.bootstrap, group_id=group)
        await classic.start()
        async with Consumer(kcoord.bootstrap, group, topics=["work"]) as consumer:
            with pytest.raises(
                ConsumerError,
                match=r"GROUP_ID_NOT_FOUND: the group speaks the classic protocol: its migration policy is disabled\. "
                r"Set consumer\.migration\.policy of the group to bidirectional or upgrade, or stop ",
            ):
                await consumer.getmany(DEADLINE_S)
    finally:
        if classic is not None:
            await classic.stop()
        kcoord.remove()


async def test_no_broker_is_an_error() -> None:
    with pytest.raises(ConsumerError, match=r"no broker at 127\.0\.0\.1:1 can be reached.*Check bootstrap_servers"):
        async with Consumer("127.0.0.1:1", "g", topics=["work"]):
            pass


# The application's turn


async def test_nothing_is_revoked_while_the_application_works(shared_kcoord: Kcoord, group: str) -> None:
    """A revocation waits for the next poll, as with Java's consumer. What was assigned meanwhile waits as well."""
    async with Reader(shared_kcoord.bootstrap, group, **WORK) as busy:
        await until_shared([6], ALL, busy)
        await busy.pause()
        async with Reader(shared_kcoord.bootstrap, group, **WORK) as newcomer:
            await until(lambda: newcomer.consumer.epoch > 0, "the newcomer is a member")
            driver = busy.consumer._running[0]
            await until(lambda: len(driver.member.assigned) == 3, "the coordinator withdraws three partitions")
            await until(lambda: driver.turns.has_callbacks, "the revocation waits")
            assert (busy.assigned, newcomer.assigned) == (ALL, frozenset())
            assert busy.called("on_revoked") == []
            busy.go_on()
            await until_shared([3, 3], ALL, busy, newcomer)


async def test_who_does_not_poll_leaves_until_it_polls_again(shared_kcoord: Kcoord, group: str) -> None:
    async with Reader(shared_kcoord.bootstrap, group, max_poll_interval=2, **WORK) as busy:
        await until_shared([6], ALL, busy)
        await busy.pause()
        async with Reader(shared_kcoord.bootstrap, group, **WORK) as other:
            await until_shared([6], ALL, other)
            assert (busy.called("on_lost"), busy.called("on_revoked")) == ([ALL], [])
            with pytest.raises(CommitFailed, match="does not have these partitions any more"):
                await busy.consumer.commit({TopicPartition("work", 0): 1})
            busy.go_on()
            await until_shared([3, 3], ALL, busy, other)


async def test_what_a_callback_raises_the_next_poll_raises(shared_kcoord: Kcoord, group: str) -> None:
    async def fails(partitions: frozenset[TopicPartition]) -> None:
        raise LookupError("no such place")

    async with Consumer(shared_kcoord.bootstrap, group, topics=["work"], on_assigned=fails) as consumer:
        with pytest.raises(
            ConsumerError, match=r"on_assigned failed for work-0, .*LookupError: no such place"
        ) as raised:
            await anext(consumer)
        assert isinstance(raised.value.__cause__, LookupError)
        assert consumer.assignment() == ALL, "it is a member all the same"
        assert await consumer.getmany(0) == {}, "it is told once"


async def test_a_callback_that_awaits_a_cancelled_task_has_failed(shared_kcoord: Kcoord, group: str) -> None:
    """It is not taken for a callback that was interrupted, which nobody would hear of."""

    async def fails(partitions: frozenset[TopicPartition]) -> None:
        task = asyncio.create_task(asyncio.sleep(3600))
        task.cancel()
        await task

    first = Reader(shared_kcoord.bootstrap, group, on_revoked=fails, **WORK)
    await first.__aenter__()
    await until_shared([6], ALL, first)
    async with Reader(shared_kcoord.bootstrap, group, **WORK) as second:
        await until(lambda: len(second.assigned) == 3, "it is released all the same")
        await until(lambda: first.error is not None, "the program is told")
        assert "on_revoked failed for work-" in str(first.error)
        assert "It awaited a task that was cancelled" in str(first.error)
    with pytest.raises(ConsumerError, match="on_revoked failed for work-"):
        await first.__aexit__(None, None, None)


async def test_what_on_revoked_raises_at_the_end_the_block_raises(shared_kcoord: Kcoord, group: str) -> None:
    def fails(partitions: frozenset[TopicPartition]) -> None:
        raise LookupError("no such place")

    consumer = Consumer(shared_kcoord.bootstrap, group, on_revoked=fails, **WORK)
    with pytest.raises(ConsumerError, match=r"on_revoked failed for work-0, .*LookupError: no such place") as raised:
        async with consumer:
            await until_assigned(consumer)
    assert isinstance(raised.value.__cause__, LookupError)
    with pytest.raises(KeyError):
        async with consumer:
            await until_assigned(consumer)
            raise KeyError("of the block itself")
    async with consumer:
        await until_assigned(consumer)  # what was not told in the block before is not told here
        with pytest.raises(ConsumerError, match="on_revoked failed"):
            await consumer.close()


async def test_an_end_of_the_fetching_is_told(shared_kcoord: Kcoord, group: str) -> None:
    async with Consumer(shared_kcoord.bootstrap, group, topics=["work"]) as consumer:
        await until_assigned(consumer)
        fetcher = consumer._running[1]._kafka._fetcher
        fetcher._fetch_task.cancel()
        await asyncio.wait([fetcher._fetch_task])
        fetcher._fetch_task = asyncio.get_running_loop().create_future()
        fetcher._fetch_task.set_exception(KafkaError("Unexpected error during data retrieval"))
        with pytest.raises(ConsumerError, match="records cannot be fetched: KafkaError: Unexpected error"):
            await consumer.getmany(DEADLINE_S)


async def until_assigned(consumer: Consumer) -> None:
    async with asyncio.timeout(DEADLINE_S):
        while consumer.assignment() != ALL:
            await consumer.getmany(0.05)


async def test_without_on_lost_on_revoked_is_called(shared_kcoord: Kcoord, group: str) -> None:
    async with Reader(shared_kcoord.bootstrap, group, on_lost=None, max_poll_interval=2, **WORK) as busy:
        await until_shared([6], ALL, busy)
        await busy.pause()
        await until(lambda: busy.called("on_revoked") == [ALL], "it is told that it has lost everything")


async def test_two_tasks_cannot_read_at_the_same_time(shared_kcoord: Kcoord, group: str) -> None:
    async with Consumer(shared_kcoord.bootstrap, group, topics=["work"]) as consumer:
        first = asyncio.create_task(consumer.getmany(DEADLINE_S))
        await until(lambda: consumer._is_polled, "the first task polls")
        with pytest.raises(ConsumerError, match="another task"):
            await consumer.getmany()
        first.cancel()
        await asyncio.wait([first])
        await consumer.getmany()


async def test_a_poll_that_is_cancelled_leaves_the_consumer_as_it_was(shared_kcoord: Kcoord, group: str) -> None:
    async with Reader(shared_kcoord.bootstrap, group, **WORK) as reader:
        await until_shared([6], ALL, reader)
        await reader.pause()
        for _ in range(3):
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.05):
                    await anext(reader.consumer)
        reader.go_on()
        async with Reader(shared_kcoord.bootstrap, group, **WORK) as other:
            await until_shared([3, 3], ALL, reader, other)


# Commits


async def test_a_commit_of_what_was_lost_fails_until_the_program_polls(shared_kcoord: Kcoord, group: str) -> None:
    """It was given records, and has not polled for too long."""
    partition = min(ALL)
    lost = asyncio.Event()
    options = {"enable_auto_commit": False, "max_poll_interval": 1.5, "on_lost": lambda _: lost.set(), **WORK}
    async with Consumer(shared_kcoord.bootstrap, group, **options) as consumer:
        for is_committed in (True, False):
            await until_assigned(consumer)
            await give(consumer, partition, 5 if is_committed else 6)
            if is_committed:
                await consumer.commit()
            lost.clear()
            async with asyncio.timeout(DEADLINE_S):
                await lost.wait()
            if is_committed:
                await consumer.commit()
                continue
            for _ in range(2):
                with pytest.raises(CommitFailed, match="work-0 cannot be committed: this consumer does not have these"):
                    await consumer.commit()
        assert await consumer.committed(partition) == {partition: 6}
        await until_assigned(consumer)
        await consumer.commit()


async def give(consumer: Consumer, partition: TopicPartition, *offsets: int) -> None:
    """Give it records as if they had been fetched: topics without a cluster have none."""
    reading = consumer._running[1]
    reading._records.extend([Record(partition, each) for each in offsets])
    assert await consumer.getmany(DEADLINE_S) != {}


async def test_on_revoked_can_commit_and_the_next_one_begins_there(shared_kcoord: Kcoord, group: str) -> None:
    async def save(partitions: frozenset[TopicPartition]) -> None:
        await leaving.consumer.commit({each: (10 + each.partition, "saved") for each in partitions})

    leaving = Reader(shared_kcoord.bootstrap, group, on_revoked=save, **WORK)
    async with leaving:
        await until_shared([6], ALL, leaving)
    async with Reader(shared_kcoord.bootstrap, group, **WORK) as reader:
        await until_shared([6], ALL, reader)
        wanted = {each: 10 + each.partition for each in ALL}
        assert await reader.consumer.committed(*ALL) == wanted
        assert {each: await reader.consumer.position(each) for each in ALL} == wanted


async def test_what_the_program_has_committed_stands(shared_kcoord: Kcoord, group: str) -> None:
    """The consumer's own commits do not take it back while nothing is read."""
    async with Reader(shared_kcoord.bootstrap, group, auto_commit_interval=0.05, **WORK) as reader:
        await until_shared([6], ALL, reader)
        await reader.consumer.commit(dict.fromkeys(ALL, 5))
        async with Reader(shared_kcoord.bootstrap, group, **WORK) as other:
            await until_shared([3, 3], ALL, reader, other)
            assert await other.consumer.committed(*ALL) == dict.fromkeys(ALL, 5)
            assert {await other.consumer.position(each) for each in other.assigned} == {5}


async def test_what_the_program_has_committed_stands_over_what_it_has_in_hand(
    shared_kcoord: Kcoord, group: str
) -> None:
    partition = min(ALL)
    async with Consumer(shared_kcoord.bootstrap, group, auto_commit_interval=0.05, **WORK) as consumer:
        await until_assigned(consumer)
        await give(consumer, partition, *range(50))
        await consumer.commit({partition: 1})
        await consumer.getmany(0.2)
        assert await consumer.committed(partition) == {partition: 1}
    async with Consumer(shared_kcoord.bootstrap, group, **WORK) as consumer:
        assert await consumer.committed(partition) == {partition: 1}


@pytest.mark.parametrize("offset", [-5, "abc"])
async def test_what_is_no_offset_is_an_error(shared_kcoord: Kcoord, group: str, offset: Any) -> None:
    async with Consumer(shared_kcoord.bootstrap, group, **WORK) as consumer:
        await until_assigned(consumer)
        with pytest.raises(ConsumerError, match=f"work-0: there is no offset '?{offset}"):
            await consumer.commit({min(ALL): offset})
        with pytest.raises(ConsumerError, match=f"work-0: there is no offset '?{offset}"):
            consumer.seek(min(ALL), offset)


async def test_a_commit_at_a_stale_epoch_is_sent_again(shared_kcoord: Kcoord, group: str) -> None:
    async with Reader(shared_kcoord.bootstrap, group, enable_auto_commit=False, **WORK) as reader:
        await until_shared([6], ALL, reader)
        await check_that_a_stale_commit_is_sent_again(reader, TopicPartition("work", 0))


async def test_nobody_commits_what_it_does_not_have(shared_kcoord: Kcoord, group: str) -> None:
    async with readers(2, shared_kcoord.bootstrap, group, enable_auto_commit=False, **WORK) as (first, second):
        await until_shared([3, 3], ALL, first, second)
        foreign = min(second.assigned)
        with pytest.raises(CommitFailed, match=f"work-{foreign.partition} cannot be committed"):
            await first.consumer.commit({foreign: 1})
        for name, arguments in (("seek", (foreign, 1)), ("pause", (foreign,)), ("resume", (foreign,))):
            with pytest.raises(ConsumerError, match=f"work-{foreign.partition} is not assigned to this consumer"):
                getattr(first.consumer, name)(*arguments)
        with pytest.raises(ConsumerError, match="is not assigned"):
            await first.consumer.position(foreign)
        assert await first.consumer.committed(foreign) == {foreign: None}


# Options, and the end


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({}, "give topics or a pattern"),
        ({"topics": ["a"], "pattern": "a"}, "give topics or a pattern"),
        ({"topics": []}, "the list is empty"),
        ({"topics": "a"}, r"give a list, \['a'\]"),
        ({"topics": ["a"], "auto_offset_reset": "newest"}, "'newest' must be"),
        ({"topics": ["a"], "isolation_level": "none"}, "'none' is neither"),
        ({"topics": ["a"], "group": ""}, "names no group"),
        ({"topics": ["a"], "bootstrap_servers": "localhost"}, "bootstrap_servers: 'localhost'"),
        ({"topics": ["a"], "security": {"security.protocol": "ODD"}}, "security.protocol=ODD"),
        ({"topics": ["a"], "max_poll_interval": 0}, "^max_poll_interval 0 must be a number of seconds from 0.001 to 2"),
        ({"topics": ["a"], "auto_commit_interval": -1}, "^auto_commit_interval -1 must be a number of seconds"),
        ({"topics": ["a"], "request_timeout": "5"}, "^request_timeout '5' must be a number of seconds"),
        ({"topics": ["a"], "commit_timeout": float("inf")}, "^commit_timeout inf must be a number of seconds"),
        ({"topics": ["a"], "close_timeout": -1}, "^close_timeout -1 must be a number of seconds from 0 to"),
        ({"topics": ["a"], "fetch_options": {"nope": 1}}, "AIOKafkaConsumer has no argument 'nope'"),
        ({"topics": ["a"], "fetch_options": {"group_id": "g"}}, "'group_id' cannot be given here"),
        ({"topics": ["a"], "fetch_options": {"client_id": "c"}}, "'client_id' cannot be given here"),
    ],
)
def test_options_that_cannot_be_are_refused(options: dict[str, Any], text: str) -> None:
    with pytest.raises(ConsumerError, match=text):
        Consumer(**{"bootstrap_servers": "localhost:9092", "group": "g", **options})


async def test_a_consumer_that_does_not_run_says_so(shared_kcoord: Kcoord, group: str) -> None:
    consumer = Consumer(shared_kcoord.bootstrap, group, topics=["work"])
    with pytest.raises(ConsumerError, match="use `async with"):
        consumer.assignment()
    async with consumer:
        await consumer.close()
        with pytest.raises(ConsumerStopped):
            await consumer.getmany()
        assert [record async for record in consumer] == []
