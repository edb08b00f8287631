"""Who has a group, kcoord or the cluster? GW-9, GW-11, GW-12, GW-13, GW-15 with scripted members."""

import asyncio
from collections.abc import Callable
from typing import cast

import pytest

from kcoord.gateway.ownership.sentinel.appearance import Appearance, read_appearance
from kcoord.gateway.ownership.sentinel.sentinel import Sentinel
from kcoord.gateway.ownership.sentinel.state import AppearanceSource, SessionLimit
from kcoord.gateway.session.upstream import Asker
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.offset_commit_request import OffsetCommitRequestPartition, OffsetCommitRequestTopic
from kcoord.protocol.generated.txn_offset_commit_request import (
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from kcoord.protocol.messages import (
    ConsumerGroupDescribeRequest,
    ConsumerGroupHeartbeatRequest,
    OffsetCommitRequest,
    ShareGroupHeartbeatRequest,
    StreamsGroupHeartbeatRequest,
    TxnOffsetCommitRequest,
)
from tests.gateway.scripted import ScriptedMember, ask, connect, coordinator_port, describe, subscription, until
from tests.kafka.cluster import KafkaCluster
from tests.kafka.kcoord_process import Kcoord
from tests.server.harness import Client

SHORT_SESSION_MS = 5_000
"""Its end is waited for; still, a member of a loaded machine must get from its join to its sync within it."""


async def upstream_state(direct: Client, group: str) -> tuple[str, str, list[str | None]]:
    """State, protocol type and instance ids of a group, as Kafka itself has it."""
    seen = await describe(direct, group)
    return seen.group_state, seen.protocol_type, [member.group_instance_id for member in seen.members]


async def test_rule_11_a_group_is_taken_by_a_sentinel_before_its_first_join_is_answered(
    kcoord: Kcoord, direct: Client, name: str
) -> None:
    member = await ScriptedMember.at(kcoord.bootstrap, name)
    await member.join()
    assert await upstream_state(direct, name) == ("Stable", "consumer", ["kcoord"])
    await member.sync()
    seen = await describe(member.client, name)
    assert (seen.group_state, seen.protocol_type) == ("Stable", "consumer")
    assert [each.member_id for each in seen.members] == [member.member_id]
    assert seen.members[0].client_host == "/127.0.0.1"  # GW-8


async def test_rule_11_nobody_can_join_past_kcoord(
    kafka: KafkaCluster, kcoord: Kcoord, direct: Client, name: str
) -> None:
    member = await ScriptedMember.at(kcoord.bootstrap, name)
    await member.join_and_sync()
    past = ScriptedMember(direct, name)
    past.member_id = (await past.try_join()).member_id
    assert ErrorCode((await past.try_join()).error_code) == ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    heartbeat = ConsumerGroupHeartbeatRequest(
        group_id=name, member_id="A" * 22, member_epoch=0, rebalance_timeout_ms=1000, subscribed_topic_names=["t"],
        topic_partitions=[],
    )  # fmt: skip
    assert ErrorCode((await ask(direct, heartbeat)).error_code) == ErrorCode.GROUP_ID_NOT_FOUND
    assert await member.heartbeat() == ErrorCode.NONE


async def test_rule_11_a_group_with_members_upstream_is_not_taken(
    kafka: KafkaCluster, kcoord: Kcoord, direct: Client, name: str
) -> None:
    there = await ScriptedMember.at(kafka.bootstrap, name)
    await there.join_and_sync()
    here = await ScriptedMember.at(kcoord.bootstrap, name)
    joining = asyncio.create_task(here.join())
    await until(lambda: is_27(there), "the member upstream is told of the newcomer")
    await there.join()
    await joining
    assert {there.generation} == {here.generation}
    leader, follower = (there, here) if there.leads else (here, there)
    synced = asyncio.create_task(follower.sync())
    await leader.sync({there.member_id: b"theirs", here.member_id: b"ours"})
    assert (await synced).error_code == ErrorCode.NONE
    assert [await there.heartbeat(), await here.heartbeat()] == [ErrorCode.NONE, ErrorCode.NONE]
    state, protocol_type, instances = await upstream_state(direct, name)
    assert (state, protocol_type, instances) == ("Stable", "consumer", [None, None])
    assert len((await describe(here.client, name)).members) == 2


async def is_27(member: ScriptedMember) -> bool:
    return await member.heartbeat() == ErrorCode.REBALANCE_IN_PROGRESS


async def test_rule_12_each_generation_here_has_its_own_upstream(kcoord: Kcoord, direct: Client, name: str) -> None:
    """An elder's identity upstream is worth nothing once a younger generation's JoinGroup is answered."""
    member = await ScriptedMember.at(kcoord.bootstrap, name)
    await member.join_and_sync()
    first, first_upstream = member.generation, await sentinels_mark(direct, name)
    member.metadata = subscription("another-topic")
    await member.join_and_sync()
    assert member.generation == first + 1
    assert [first_upstream, await sentinels_mark(direct, name)] == [first, first + 1]


async def sentinels_mark(direct: Client, group: str) -> int | None:
    """The generation that the sentinel says it is there for."""
    seen = await describe(direct, group)
    [sentinel] = seen.members
    shown = read_appearance(seen.protocol_type, sentinel.member_metadata, sentinel.member_assignment)
    return None if shown is None else shown.mark


async def test_rule_12_and_22_commits_are_checked_here_and_kept_upstream(
    kafka: KafkaCluster, kcoord: Kcoord, name: str, topic: str
) -> None:
    member = await ScriptedMember.at(kcoord.bootstrap, name)
    await member.join()
    assert await member.commit(topic, 3) == ErrorCode.REBALANCE_IN_PROGRESS  # joined, not synced
    await member.sync()
    for version in range(2, 10):
        assert await member.commit(topic, 10 + version, version) == ErrorCode.NONE
        assert kafka.committed(name) == {(topic, 0): 10 + version}
    stranger = ScriptedMember(member.client, name, member_id="stranger", generation=member.generation)
    assert await stranger.commit(topic, 99) == ErrorCode.UNKNOWN_MEMBER_ID
    nobody = ScriptedMember(member.client, name)
    assert await nobody.commit(topic, 99) == ErrorCode.UNKNOWN_MEMBER_ID
    predecessor = ScriptedMember(member.client, name, member_id=member.member_id, generation=member.generation - 1)
    assert await predecessor.commit(topic, 99) == ErrorCode.ILLEGAL_GENERATION
    assert kafka.committed(name) == {(topic, 0): 19}


async def test_rule_12_a_commit_that_a_younger_generation_has_overtaken_is_refused() -> None:
    """Between the check of a member and the passing on of its commit the group may have begun another generation, and
    told upstream of it: in that one's name the commit would be accepted."""
    sentinel = Sentinel("group", SessionLimit(6_000), cast(AppearanceSource, None))
    sentinel.mark = younger = 2
    asker = cast(Asker, None)  # nobody is asked
    assert await sentinel.place(asker, younger - 1, current=younger) == ErrorCode.ILLEGAL_GENERATION
    assert not sentinel.identity.stands_for(younger - 1)
    assert await sentinel.place(asker, younger, current=younger) == ErrorCode.NONE
    assert sentinel.identity.stands_for(younger)


async def test_rule_13_a_kcoord_that_stops_leaves_the_groups_that_are_empty(
    kafka: KafkaCluster, start_kcoord: Callable[..., Kcoord], direct: Client, name: str
) -> None:
    """The fleet is stopped, kcoord is stopped, and the fleet is started at the brokers."""
    kcoord = start_kcoord(kafka, gateway_sentinel_grace_ms=600_000)
    member, goes_on = [await ScriptedMember.at(kcoord.bootstrap, f"{name}-{each}") for each in ("stopped", "live")]
    await asyncio.gather(member.join_and_sync(), goes_on.join_and_sync())
    await member.leave()
    assert [each.group_instance_id for each in (await describe(direct, member.group)).members] == ["kcoord"]
    await asyncio.to_thread(kcoord.stop)
    assert not (await describe(direct, member.group)).members
    assert [each.group_instance_id for each in (await describe(direct, goes_on.group)).members] == ["kcoord"]
    again = await ScriptedMember.at(kafka.bootstrap, member.group)
    await again.join_and_sync()
    assert await again.heartbeat() == ErrorCode.NONE


def test_rule_12_two_that_take_a_group_from_each_other_do_not_flood_the_log(caplog: pytest.LogCaptureFixture) -> None:
    """Two kcoords with the same groups and a log each: each takes it back with its next call."""
    sentinel = Sentinel("group", SessionLimit(6_000), cast(AppearanceSource, None))
    for _ in range(1_000):
        sentinel.note_fenced()
    assert [each.getMessage().split(" (")[0] for each in caplog.records] == [
        "group group was taken over upstream by another kcoord"
    ] * 10
    assert "512 times by now" in caplog.text


async def test_rule_12_a_successor_goes_on_with_the_sentinel_of_its_predecessor(
    kafka: KafkaCluster, start_kcoord: Callable[..., Kcoord], direct: Client, name: str, topic: str
) -> None:
    """kcoord is killed and started again: calls go on in the same name, and the next generation fences what may still
    be under way from before.
    """
    kcoord = start_kcoord(kafka)
    member = await ScriptedMember.at(kcoord.bootstrap, name)
    await member.join_and_sync()
    assert await member.commit(topic, 1) == ErrorCode.NONE
    before = await describe(direct, name)
    kcoord.kill_and_restart()
    again = ScriptedMember(
        (await ScriptedMember.at(kcoord.bootstrap, name)).client, name, member_id=member.member_id,
        generation=member.generation,
    )  # fmt: skip
    assert await again.heartbeat() == ErrorCode.NONE
    assert await again.commit(topic, 2) == ErrorCode.NONE
    assert (await describe(direct, name)).members == before.members
    await again.join_and_sync()
    assert await commit_of(direct, name, before.members[0].member_id, topic) == ErrorCode.ILLEGAL_GENERATION
    assert await again.commit(topic, 3) == ErrorCode.NONE
    assert kafka.committed(name) == {(topic, 0): 3}


async def test_rule_12_a_successor_whose_generation_has_no_mark_yet_makes_it(
    kafka: KafkaCluster, start_kcoord: Callable[..., Kcoord], direct: Client, name: str, topic: str
) -> None:
    """The predecessor died after it had written a generation down: nobody commits in the name of the earlier one."""
    kcoord = start_kcoord(kafka)
    member = await ScriptedMember.at(kcoord.bootstrap, name)
    await member.join_and_sync()
    [before] = (await describe(direct, name)).members
    earlier = ScriptedMember(direct, name, member_id=before.member_id, instance="kcoord", protocol="kcoord")
    earlier.metadata = Appearance("consumer").metadata(member.generation - 1)
    kcoord.kill()
    await earlier.join()
    assignment = Appearance("consumer").assignment(earlier.generation)
    assert (await earlier.sync({earlier.member_id: assignment})).error_code == ErrorCode.NONE
    kcoord.start()
    again = ScriptedMember(
        (await ScriptedMember.at(kcoord.bootstrap, name)).client, name, member_id=member.member_id,
        generation=member.generation,
    )  # fmt: skip
    assert await again.heartbeat() == ErrorCode.NONE
    assert await again.commit(topic, 2) == ErrorCode.NONE
    [after] = (await describe(direct, name)).members
    shown = read_appearance("consumer", after.member_metadata, after.member_assignment)
    assert shown is not None
    assert shown.mark == member.generation
    assert kafka.committed(name) == {(topic, 0): 2}


async def commit_of(direct: Client, group: str, sentinel: str, topic: str) -> ErrorCode:
    """What upstream answers to a commit that a predecessor sent in that sentinel's name, in the first generation."""
    commit = OffsetCommitRequest(
        group_id=group,
        generation_id_or_member_epoch=1,
        member_id=sentinel,
        group_instance_id="kcoord",
        topics=[OffsetCommitRequestTopic(name=topic, partitions=[OffsetCommitRequestPartition(0, 66)])],
    )
    refused = await ask(direct, commit, 9)
    return ErrorCode(refused.topics[0].partitions[0].error_code)


async def test_rule_12_the_sentinel_comes_back_when_upstream_has_lost_it(
    kafka: KafkaCluster, kcoord: Kcoord, direct: Client, name: str, topic: str
) -> None:
    """Somebody removes it upstream; the member's commit succeeds, and the member hears nothing of it."""
    member = await ScriptedMember.at(kcoord.bootstrap, name)
    await member.join_and_sync()
    seen = await describe(direct, name)
    intruder = ScriptedMember(direct, name, member_id=seen.members[0].member_id, instance="kcoord")
    await intruder.leave()
    assert (await describe(direct, name)).group_state == "Empty"
    assert await member.commit(topic, 7) == ErrorCode.NONE
    assert kafka.committed(name) == {(topic, 0): 7}
    assert await upstream_state(direct, name) == ("Stable", "consumer", ["kcoord"])
    assert await member.heartbeat() == ErrorCode.NONE


async def test_rule_13_the_sentinel_leaves_a_group_without_members(
    kafka: KafkaCluster, kcoord: Kcoord, direct: Client, name: str, topic: str
) -> None:
    member = await ScriptedMember.at(kcoord.bootstrap, name)
    await member.join_and_sync()
    assert await member.commit(topic, 5) == ErrorCode.NONE
    await member.leave()
    await until(lambda: is_empty(direct, name), "the group is given back")
    assert kafka.committed(name) == {(topic, 0): 5}
    nobody = ScriptedMember(member.client, name)
    assert await nobody.commit(topic, 6) == ErrorCode.NONE  # an admin resets offsets of an empty group
    assert kafka.committed(name) == {(topic, 0): 6}
    there = await ScriptedMember.at(kafka.bootstrap, name)
    await there.join_and_sync()  # and anybody may join it directly again
    await there.leave()


async def is_empty(direct: Client, group: str) -> bool:
    return bool((await describe(direct, group)).group_state == "Empty")


async def test_rule_13_a_member_that_vanishes_is_followed_by_the_sentinel(
    kcoord: Kcoord, direct: Client, name: str
) -> None:
    """No leave, no connection left: the session ends here, then the sentinel goes over a connection of kcoord's own."""
    member = await ScriptedMember.at(kcoord.bootstrap, name, session_ms=SHORT_SESSION_MS)
    await member.join_and_sync()
    await until(lambda: is_empty(direct, name), "the group is given back")


async def test_rule_13_what_a_predecessor_left_behind_is_given_back(
    kafka: KafkaCluster, start_kcoord: Callable[..., Kcoord], direct: Client, name: str
) -> None:
    """kcoord dies with a member in the group, and the member dies too: the sentinel does not stay for its long
    session."""
    kcoord = start_kcoord(kafka)
    member = await ScriptedMember.at(kcoord.bootstrap, name, session_ms=SHORT_SESSION_MS)
    await member.join_and_sync()
    kcoord.kill()
    await member.client.close()
    assert (await upstream_state(direct, name))[0] == "Stable"
    kcoord.start()
    await until(lambda: is_empty(direct, name), "the group is given back")


async def test_a_group_is_taken_over_from_a_kcoord_that_lost_its_data(
    kafka: KafkaCluster, start_kcoord: Callable[..., Kcoord], name: str
) -> None:
    """A member that nobody knows any more is told so, and joins anew; nothing fatal."""
    lost = start_kcoord(kafka)
    member = await ScriptedMember.at(lost.bootstrap, name)
    await member.join_and_sync()
    lost.kill()
    fresh = start_kcoord(kafka)
    again = ScriptedMember(await connect(await coordinator_port(fresh.bootstrap, name)), name)
    again.member_id, again.generation = member.member_id, member.generation
    assert await again.heartbeat() == ErrorCode.UNKNOWN_MEMBER_ID
    assert ErrorCode((await again.try_join()).error_code) == ErrorCode.UNKNOWN_MEMBER_ID
    again.member_id = ""
    await again.join_and_sync()
    assert await again.heartbeat() == ErrorCode.NONE


async def test_rule_15_streams_heartbeat_and_a_group_that_has_members_here(kcoord: Kcoord, name: str) -> None:
    member = await ScriptedMember.at(kcoord.bootstrap, name)
    await member.join_and_sync()
    answer = await ask(member.client, StreamsGroupHeartbeatRequest(group_id=name, member_id="m", member_epoch=0))
    assert ErrorCode(answer.error_code) == ErrorCode.UNSUPPORTED_VERSION
    assert "group.protocol=classic" in answer.error_message


@pytest.mark.parametrize("request_", [ConsumerGroupHeartbeatRequest, ShareGroupHeartbeatRequest])
async def test_rule_15_newer_protocols_and_a_group_that_has_members_here(
    kcoord: Kcoord,
    direct: Client,
    name: str,
    request_: type[ConsumerGroupHeartbeatRequest | ShareGroupHeartbeatRequest],
) -> None:
    member = await ScriptedMember.at(kcoord.bootstrap, name)
    heartbeat = request_(group_id=name, member_id="AAAAAAAAAAAAAAAAAAAAAA", member_epoch=0)
    if isinstance(heartbeat, ConsumerGroupHeartbeatRequest):
        heartbeat.rebalance_timeout_ms, heartbeat.topic_partitions = 30_000, []
    heartbeat.subscribed_topic_names = ["a-topic"]
    await member.join_and_sync()
    assert ErrorCode((await ask(member.client, heartbeat)).error_code) == ErrorCode.UNSUPPORTED_VERSION
    described = await ask(member.client, ConsumerGroupDescribeRequest(group_ids=[name]))
    assert ErrorCode(described.groups[0].error_code) == ErrorCode.GROUP_ID_NOT_FOUND
    await member.leave()
    await member.close()
    other = await ScriptedMember.at(kcoord.bootstrap, f"{name}-new")
    heartbeat.group_id = f"{name}-new"
    assert ErrorCode((await ask(other.client, heartbeat)).error_code) == ErrorCode.NONE  # upstream's
    joined = ErrorCode((await other.try_join()).error_code)  # not taken: upstream says who may share that group
    taken_upstream_by = await upstream_state(direct, f"{name}-new")
    assert joined in (ErrorCode.INCONSISTENT_GROUP_PROTOCOL, ErrorCode.MEMBER_ID_REQUIRED)
    assert taken_upstream_by[2] != ["kcoord"]


async def test_rule_22_transactional_commits(kafka: KafkaCluster, kcoord: Kcoord, name: str, topic: str) -> None:
    """A transactional commit of a wrong generation is refused here; one that names no member is upstream's to judge."""
    member = await ScriptedMember.at(kcoord.bootstrap, name)
    await member.join_and_sync()

    def commit(generation: int, member_id: str) -> TxnOffsetCommitRequest:
        partition = TxnOffsetCommitRequestPartition(partition_index=0, committed_offset=1)
        return TxnOffsetCommitRequest(
            transactional_id=f"{name}-t",
            group_id=name,
            producer_id=4_000_000,
            producer_epoch=0,
            generation_id=generation,
            member_id=member_id,
            topics=[TxnOffsetCommitRequestTopic(name=topic, partitions=[partition])],
        )

    answers = {}
    for what, request, version in (
        ("elder", commit(member.generation - 1, member.member_id), 3),
        ("stranger", commit(member.generation, "stranger"), 3),
        ("of now", commit(member.generation, member.member_id), 3),
        ("nobody", commit(-1, ""), 3),
        ("before KIP-447", commit(-1, ""), 2),
    ):
        answer = await ask(member.client, request, version)
        answers[what] = ErrorCode(answer.topics[0].partitions[0].error_code)
    unknown_producer = answers["nobody"]
    assert unknown_producer not in (ErrorCode.ILLEGAL_GENERATION, ErrorCode.UNKNOWN_MEMBER_ID)
    assert answers == {
        "elder": ErrorCode.ILLEGAL_GENERATION,
        "stranger": ErrorCode.UNKNOWN_MEMBER_ID,
        "of now": unknown_producer,
        "nobody": unknown_producer,
        "before KIP-447": unknown_producer,
    }


async def test_groups_that_are_not_kcoords_are_untouched(
    kafka: KafkaCluster, start_kcoord: Callable[..., Kcoord], direct: Client, name: str, topic: str
) -> None:
    """`--groups` names what may be taken; every other group is the cluster's, through kcoord as well."""
    kcoord = start_kcoord(kafka, "owned-.*")
    member = await ScriptedMember.at(kcoord.bootstrap, name)
    await member.join_and_sync()
    assert await member.commit(topic, 4) == ErrorCode.NONE
    assert await upstream_state(direct, name) == ("Stable", "consumer", [None])
    await member.leave()
    await member.close()
    client = await connect(kcoord.bootstrap)
    assert (await describe(client, name)).group_state == "Empty"
