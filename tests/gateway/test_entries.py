"""Do several entries keep one sentinel, whatever happens between them? GW-11 to GW-13, GW-19, GW-20."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path
from typing import Any

import attrs
import pytest

from kcoord.gateway.ownership.sentinel import requests
from kcoord.gateway.ownership.sentinel.appearance import Appearance
from kcoord.gateway.ownership.sentinel.described_groups import Seen
from kcoord.gateway.ownership.sentinel.shared_sentinel import SharedSentinel
from kcoord.gateway.ownership.sentinel.state import SentinelState
from kcoord.gateway.session.upstream import Asker
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.messages import (
    DescribeClusterRequest,
    FindCoordinatorRequest,
    MetadataRequest,
)
from tests.gateway.entries import Entry, Map, entries
from tests.gateway.scripted import (
    ScriptedMember,
    ask,
    connect,
    coordinator_port,
    describe,
    forgetting,
    subscription,
    until,
)
from tests.kafka.cluster import KafkaCluster
from tests.server.harness import Client

BROKER = 1
REJOIN = {ErrorCode.REBALANCE_IN_PROGRESS, ErrorCode.ILLEGAL_GENERATION}


@pytest.fixture
async def both(kafka: KafkaCluster, tmp_path: Path) -> AsyncIterator[list[Entry]]:
    """Two entries; the map sends everybody to the first one."""
    async with entries(kafka, tmp_path, at={BROKER: 0}) as started:

        async def open_everywhere() -> bool:
            return all(entry.gateway.brokers.has_port(BROKER) for entry in started)

        await until(open_everywhere, "the port of the broker is open at both")
        await coordinator_port(started[0].bootstrap, "any")  # the place where groups are kept is made when it is asked
        yield started


async def sentinel_upstream(direct: Client, group: str) -> str:
    """The member id that the sentinel has upstream; "" without one."""
    seen = await describe(direct, group)
    return seen.members[0].member_id if seen.members and seen.members[0].group_instance_id == "kcoord" else ""


async def is_dressed(both: list[Entry], group: str, generation: int) -> bool:
    """Whether no entry has to change the sentinel's appearance in this generation any more."""
    return all(entry.sentinel(group).appearance_for == generation for entry in both)


async def beat_until_27(*members: ScriptedMember) -> None:
    for member in members:

        async def told(member: ScriptedMember = member) -> bool:
            return await member.heartbeat() == ErrorCode.REBALANCE_IN_PROGRESS

        await until(told, "a member is told of the rebalance")


async def two_members(both: list[Entry], group: str) -> tuple[ScriptedMember, ScriptedMember]:
    """A group with a member by each entry, stable."""
    first, second = [await entry.member(group) for entry in both]
    await first.join_and_sync()
    joining = asyncio.create_task(second.join())
    await beat_until_27(first)
    await asyncio.gather(joining, first.join())
    leader, follower = (first, second) if first.leads else (second, first)
    syncing = asyncio.create_task(follower.sync({}))
    await leader.sync({first.member_id: b"one", second.member_id: b"two"})
    await syncing
    return first, second


async def test_rule_19_every_entry_names_the_same_addresses(both: list[Entry], name: str) -> None:
    told = []
    for entry in both:
        for port in (entry.port, entry.port + 1 + BROKER):
            client = await connect(port)
            metadata = await ask(client, MetadataRequest(topics=[]))
            cluster = await ask(client, DescribeClusterRequest())
            found = (await ask(client, FindCoordinatorRequest(key_type=0, coordinator_keys=[name]))).coordinators[0]
            told.append((
                {(each.node_id, each.host, each.port) for each in metadata.brokers},
                {(each.broker_id, each.host, each.port) for each in cluster.brokers},
                (found.node_id, found.host, found.port) if found.error_code == ErrorCode.NONE else None,
            ))  # fmt: skip
    named = {(BROKER, "127.0.0.1", both[0].port + 1 + BROKER)}
    assert all(metadata == cluster == named for metadata, cluster, _ in told)
    assert {found for _, _, found in told} <= {None, *named}


async def test_rule_20_members_by_two_entries_commit_without_fencing_each_other(
    both: list[Entry], kafka: KafkaCluster, joins: Counter[str], name: str, topic: str
) -> None:
    """Each entry learns once how the sentinel is called now; after that no commit costs a join upstream."""
    first, second = await two_members(both, name)
    for member in (first, second):
        assert await member.commit(topic, 0) == ErrorCode.NONE
    await until(partial(is_dressed, both, name, first.generation), "the sentinel has put on the members' topics (AD-2)")
    before = joins[name]
    for offset in range(1, 51):
        assert await first.commit(topic, 2 * offset - 1) == ErrorCode.NONE
        assert await second.commit(topic, 2 * offset) == ErrorCode.NONE
    assert joins[name] == before
    assert kafka.committed(name) == {(topic, 0): 100}
    assert both[0].sentinel(name).identity == both[1].sentinel(name).identity


async def test_rule_12_who_takes_the_sentinel_over_fences_the_elder_generation(
    both: list[Entry], direct: Client, name: str, topic: str
) -> None:
    """The next generation is opened by way of the other entry; the name of before is worth nothing then."""
    first, second = await two_members(both, name)
    assert await first.commit(topic, 1) == ErrorCode.NONE
    predecessor = both[0].sentinel(name).identity
    await second.leave()
    await beat_until_27(first)
    moved = await both[1].member(name, member_id=first.member_id)
    await moved.join_and_sync()
    request = attrs.evolve(
        first.commit_request(topic, 99),
        member_id=predecessor.member_id,
        generation_id_or_member_epoch=predecessor.generation,
        group_instance_id="kcoord",
    )
    answer = await ask(direct, request, 9)
    assert ErrorCode(answer.topics[0].partitions[0].error_code) in (
        ErrorCode.FENCED_INSTANCE_ID, ErrorCode.ILLEGAL_GENERATION, ErrorCode.UNKNOWN_MEMBER_ID,
    )  # fmt: skip
    assert await first.commit(topic, 98) == ErrorCode.ILLEGAL_GENERATION
    assert await moved.commit(topic, 2) == ErrorCode.NONE


async def test_rule_12_a_name_that_was_got_after_the_check_is_not_used(
    both: list[Entry], kafka: KafkaCluster, name: str, topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A commit is checked, and its entry finds no sentinel upstream; before it has joined one, a younger generation
    begins by way of the other entry, and is told. The name that it gets then would be good upstream."""
    first = await both[0].member(name)
    await first.join_and_sync()
    asker = next(both[0].gateway.sentinels.speakers(both[0].sentinel(name)), None)
    assert asker is not None
    assert await both[0].sentinel(name).make_way(asker, always) == ErrorCode.NONE
    late = await both[1].member(name, member_id=first.member_id, generation=first.generation)
    join = SharedSentinel._join_until
    overtaken: list[int] = []

    async def overtake(self: SharedSentinel, asker: Asker, mark: int) -> ErrorCode:
        if self is both[1].sentinel(name) and not overtaken:
            first.metadata = subscription("another")
            await first.join_and_sync()
            overtaken.append(first.generation)
        return await join(self, asker, mark)

    monkeypatch.setattr(SharedSentinel, "_join_until", overtake)
    assert await late.commit(topic, 1) == ErrorCode.ILLEGAL_GENERATION
    assert overtaken == [late.generation + 1]
    assert await first.commit(topic, 2) == ErrorCode.NONE
    assert kafka.committed(name) == {(topic, 0): 2}


async def always() -> bool:
    return True


async def test_rule_20_offsets_are_deleted_while_another_entry_joins(
    both: list[Entry], kafka: KafkaCluster, direct: Client, name: str, topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first entry's sentinel puts on the member's new topics, and has not synced yet: the second entry waits."""
    first = await both[0].member(name)
    await first.join_and_sync()
    assert await first.commit(topic, 1) == ErrorCode.NONE
    await until(partial(is_dressed, both[:1], name, first.generation), "the sentinel rests")
    joined, has_looked = asyncio.Event(), asyncio.Event()
    sync, look = requests.sync, SharedSentinel._look

    async def sync_later(sentinel: SentinelState, *rest: Any) -> ErrorCode:
        if (await describe(direct, name)).group_state == "CompletingRebalance":
            joined.set()
            await has_looked.wait()
        return await sync(sentinel, *rest)

    async def look_and_tell(self: SharedSentinel, asker: Asker) -> tuple[ErrorCode, Seen | None]:
        error, seen = await look(self, asker)
        if self is both[1].sentinel(name) and seen is not None and not seen.is_stable:
            has_looked.set()
        return error, seen

    monkeypatch.setattr(requests, "sync", sync_later)
    monkeypatch.setattr(SharedSentinel, "_look", look_and_tell)
    first.metadata = subscription("another")
    await first.join_and_sync()
    await joined.wait()
    deleted = await ask((await both[1].member(name)).client, forgetting(name, topic))
    assert deleted.error_code == deleted.topics[0].partitions[0].error_code == ErrorCode.NONE
    assert has_looked.is_set()
    assert kafka.committed(name) == {}


async def test_rule_13_the_farewell_of_an_entry_does_not_put_out_who_has_come_since(
    both: list[Entry], direct: Client, name: str, topic: str
) -> None:
    """The first entry decides on its farewell while the group is empty; before it is said, a member joins by the
    second one."""
    first = await both[0].member(name)
    await first.join_and_sync()
    await first.leave()
    sentinel = both[0].sentinel(name)
    told = asyncio.Event()
    come = asyncio.Event()

    async def is_empty() -> bool:
        told.set()
        await come.wait()
        return True  # so it was when it was asked

    asker = next(both[0].gateway.sentinels.speakers(sentinel), None)
    assert asker is not None
    leaving = asyncio.create_task(sentinel.leave(asker, is_empty))
    await told.wait()
    second = await both[1].member(name)
    await second.join_and_sync()
    come.set()
    await leaving
    assert await sentinel_upstream(direct, name) == both[1].sentinel(name).member_id != ""
    assert await second.commit(topic, 5) == ErrorCode.NONE


async def test_rule_13_after_the_last_member_all_entries_forget_and_the_group_is_free(
    both: list[Entry], direct: Client, name: str
) -> None:
    first, second = await two_members(both, name)
    await first.leave()
    await second.leave()

    async def free() -> bool:
        is_there = await sentinel_upstream(direct, name)
        return not is_there and not any(entry.sentinel(name).is_joined for entry in both)

    await until(free, "the sentinel has left")
    past = ScriptedMember(direct, name)
    await past.join_and_sync()


async def test_rule_13_an_entry_that_has_died_leaves_its_farewell_to_the_owner(
    both: list[Entry], direct: Client, name: str
) -> None:
    first = await both[0].member(name)
    await first.join_and_sync()
    sentinels = both[0].gateway.sentinels
    sentinels._all.clear()  # it died, and all that it knew
    sentinels.inherit = lambda group_ids: None  # type: ignore[method-assign]
    await first.leave()
    assert await sentinel_upstream(direct, name)
    both[1].gateway.places.gone.add(0)  # type: ignore[union-attr]

    async def free() -> bool:
        return not await sentinel_upstream(direct, name)

    await until(free, "the owner has said the farewell")


async def test_rule_12_no_commit_of_a_generation_that_has_ended_is_accepted(
    both: list[Entry], name: str, topic: str
) -> None:
    """Members of one group by two entries commit all the time while generations follow each other. A commit that is
    sent when a younger generation has been told to anybody must fail."""
    dice = random.Random(5)
    told = 0
    accepted: Counter[int] = Counter()
    wrong: list[tuple[int, int]] = []
    members = [await both[number % 2].member(name, session_ms=30_000) for number in range(4)]
    until_generation = 25

    async def live(member: ScriptedMember) -> None:
        nonlocal told
        while told < until_generation:
            joined = await member.try_join()
            error = ErrorCode(joined.error_code)
            if error == ErrorCode.MEMBER_ID_REQUIRED:
                member.member_id = joined.member_id
                continue
            if error:
                assert error.retriable, error.name
                continue
            member.member_id, member.generation = joined.member_id, joined.generation_id
            told = max(told, member.generation)
            given = {each.member_id: b"some" for each in joined.members}
            member.leads = joined.leader == joined.member_id
            synced = ErrorCode((await member.sync(given if member.leads else {})).error_code)
            if synced:
                assert synced in REJOIN, synced.name
                continue
            await stay(member)

    async def stay(member: ScriptedMember) -> None:
        """Commit until the group moves on; now and then see to it that it does."""
        for number in range(1_000):
            before = told
            error = await member.commit(topic, member.generation * 1_000 + number)
            if error == ErrorCode.NONE:
                accepted[member.generation] += 1
                if member.generation < before:
                    wrong.append((member.generation, before))
            if error in REJOIN or await member.heartbeat() in REJOIN:
                return
            assert error in (ErrorCode.NONE, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS), error.name
            if dice.random() < 0.03:
                member.metadata = subscription(f"topic-{dice.random()}")
                return

    async with asyncio.timeout(240):
        living = [asyncio.create_task(live(member)) for member in members]
        done, _ = await asyncio.wait(living, return_when=asyncio.FIRST_COMPLETED)
        for task in living:
            task.cancel()
        await asyncio.gather(*living, return_exceptions=True)
    for task in done:
        task.result()
    assert wrong == []
    assert len(accepted) > until_generation / 2


async def test_rule_5_while_0_1_0_shares_the_groups_it_knows_the_sentinel(
    both: list[Entry], kafka: KafkaCluster, direct: Client, name: str, topic: str
) -> None:
    """AD-5: with the last instance of 0.1.0 the old protocol type goes, and with the first one it is back.
    Members go on in their generation."""
    places = both[0].gateway.places
    assert isinstance(places, Map)
    places.releases.add("0.1.0")
    first, second = await two_members(both, name)

    async def commit_as(protocol_type: str, offset: int) -> None:
        async def is_so() -> bool:
            return bool((await describe(direct, name)).protocol_type == protocol_type)

        await until(is_so, f"the sentinel is of type {protocol_type}")
        for at, member in enumerate((first, second)):
            assert await member.commit(topic, offset + at) == ErrorCode.NONE
            assert await member.heartbeat() == ErrorCode.NONE

    await commit_as("kcoord", 1)
    places.releases.clear()
    await commit_as("consumer", 3)
    places.releases.add("0.1.0")
    await commit_as("kcoord", 5)
    assert kafka.committed(name) == {(topic, 0): 6}


async def test_rule_4_entries_agree_on_the_topics(both: list[Entry], direct: Client, name: str, topic: str) -> None:
    """AD-4: the union of what members by both entries subscribe to, put on once."""
    first, second = [await entry.member(name, metadata=subscription(each))
                     for entry, each in zip(both, (topic, "another"), strict=True)]  # fmt: skip
    await first.join_and_sync()
    joining = asyncio.create_task(second.join())
    await beat_until_27(first)
    await asyncio.gather(joining, first.join())
    leader, follower = (first, second) if first.leads else (second, first)
    syncing = asyncio.create_task(follower.sync({}))
    await leader.sync({first.member_id: b"one", second.member_id: b"two"})
    await syncing

    async def is_so() -> bool:
        wanted = Appearance("consumer", {topic: 1, "another": 0})
        return all(entry.sentinel(name).appearance == wanted for entry in both)

    await until(is_so, "both know how the sentinel looks")

    async def agree() -> bool:
        for member in (first, second):
            assert await member.commit(topic, 1) == ErrorCode.NONE
        return both[0].sentinel(name).identity == both[1].sentinel(name).identity

    await until(agree, "both pass for the same sentinel")


async def test_rule_5_a_sentinel_of_0_1_0_is_good_until_it_has_another_type(
    both: list[Entry], direct: Client, name: str, topic: str
) -> None:
    """AD-5: the mark and the generation of either form are read."""
    places = both[0].gateway.places
    assert isinstance(places, Map)
    places.releases.add("0.1.0")
    member = await both[0].member(name)
    await member.join_and_sync()
    places.releases.clear()
    moved = await both[1].member(name, member_id=member.member_id, generation=member.generation)
    assert await moved.commit(topic, 1) == ErrorCode.NONE
    assert both[0].sentinel(name).mark == both[1].sentinel(name).mark == member.generation


async def test_groups_learn_that_a_members_connection_has_closed(both: list[Entry], name: str) -> None:
    """CM-19, CM-20 and CM-23 ask for that, and an entry's own connection to the broker tells nothing of it."""
    member = await both[0].member(name)
    await member.join_and_sync()
    connections = both[0].gateway.groups._host(name).shard.state.connections  # type: ignore[attr-defined]
    assert len(connections._used) == 1
    await member.client.close()

    async def told() -> bool:
        return len(connections._closed) == 1

    await until(told, "its end is known")
