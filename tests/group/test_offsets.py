"""Offsets in kcoord's own log: stored, read, deleted, expired."""

from __future__ import annotations

import pytest

from kcoord.group.state.settings import DAY_MS, MINUTE_MS, GroupSettings
from kcoord.protocol.generated.offset_commit_request import OffsetCommitRequestPartition, OffsetCommitRequestTopic
from kcoord.protocol.generated.offset_fetch_request import OffsetFetchRequestGroup, OffsetFetchRequestTopics
from kcoord.protocol.messages import (
    OffsetCommitRequest,
    OffsetCommitResponse,
    OffsetFetchRequest,
    OffsetFetchResponse,
)
from tests.group.situations import NO_DELAY, STABLE
from tests.group.story import tell
from tests.group.world import World

WEEK_MS = 7 * DAY_MS


@pytest.mark.parametrize("version", [2, 5, 6, 8, 9])
def test_offsets_are_stored_and_read(version: int) -> None:
    tell(
        STABLE
        + f"""
    7000  A commit t-0=5:note t-1=7 u-0=9 v{version} -> ok
    7001  A commit t-1=8                        -> ok
    7002  A fetch t-0 t-1 t-2 u-0               -> t-0=5:note t-1=8 t-2=-1 u-0=9
    7003  A fetch                               -> t-0=5:note t-1=8 u-0=9
    7004  crash                                 -> nothing
    7005  A fetch                               -> t-0=5:note t-1=8 u-0=9
    """,
        takeovers=False,
    )


@pytest.mark.parametrize("version", [1, 2, 5, 6, 7, 8, 9])
def test_offsets_are_read_in_every_version(version: int) -> None:
    story = tell("0 admin commit t-0=5:note -> ok")
    story.tell(f"1 A fetch t-0 t-1 v{version} -> t-0=5:note t-1=-1")
    if version >= 2:
        story.tell(f"2 A fetch v{version} -> t-0=5:note")


def test_a_group_that_is_not_there_has_no_offsets() -> None:
    tell("""
        0     A fetch t-0            -> t-0=-1
        0     A fetch t-0 v7         -> t-0=-1
        0     A fetch                -> nothing
    """)


def test_a_group_of_offsets_only() -> None:
    """Somebody commits who uses no group membership: Kafka calls it a simple group. A consumer group can grow out
    of it.
    """
    tell("""
        0     admin commit t-0=1     -> ok
        1     admin list             -> g:Empty::classic
        2     crash                  -> nothing
        3     admin list             -> g:Empty::classic
        4     A join                 -> MEMBER_ID_REQUIRED
        5     A join                 -> parked
        3005  time                   -> nothing else
              A                      -> gen 1 range leads A
        3006  A fetch                -> t-0=1
        3007  admin commit t-0=2     -> UNKNOWN_MEMBER_ID
    """)


def test_each_partition_has_an_error_of_its_own() -> None:
    settings = GroupSettings(offset_metadata_max_bytes=4)
    tell(
        """
        0     A commit t-0=1:four t-1=2:fives        -> t-0 ok, t-1 OFFSET_METADATA_TOO_LARGE
        0     A commit t-0=1:four t--1=3             -> t-0 ok, t--1 UNKNOWN_TOPIC_OR_PARTITION
        1     A commit t-2=1:𝄞𝄞 t-3=1:𝄞𝄞!         -> t-2 ok, t-3 OFFSET_METADATA_TOO_LARGE
        2     A fetch                                -> t-0=1:four t-2=1:𝄞𝄞
        """,
        settings,
    )


def test_a_commit_of_nothing_and_a_topic_without_name() -> None:
    tell(
        """
        0     A commit               -> ok
        1     A commit -0=1          -> UNKNOWN_TOPIC_OR_PARTITION
        2     admin list             -> none
    """,
        takeovers=False,
    )


def test_nobody_knows_a_topic_by_its_id() -> None:
    """v10 names topics by id, and a kcoord without a cluster has no topics: UNKNOWN_TOPIC_ID, as Kafka says of an
    id that it does not know.
    """
    topic_id = bytes(range(16))
    story = tell(STABLE + "7000 A commit t-0=5 -> ok", takeovers=False)
    commit = OffsetCommitRequest(
        "g",
        1,
        "A-1",
        topics=[OffsetCommitRequestTopic(topic_id=topic_id, partitions=[OffsetCommitRequestPartition(0, 9)])],
    )
    ticket, _ = story.world.call(commit, 10)
    assert isinstance(ticket.response, OffsetCommitResponse)
    assert [(topic.topic_id, topic.partitions[0].error_code) for topic in ticket.response.topics] == [(topic_id, 100)]
    some = [OffsetFetchRequestTopics(topic_id=topic_id, partition_indexes=[0])]
    groups = [OffsetFetchRequestGroup("g", topics=some), OffsetFetchRequestGroup("g", topics=None)]
    ticket, _ = story.world.call(OffsetFetchRequest(groups=groups), 10)
    assert isinstance(ticket.response, OffsetFetchResponse)
    by_id, whole = ticket.response.groups
    assert [(t.topic_id, t.partitions[0].committed_offset, t.partitions[0].error_code) for t in by_id.topics] == [
        (topic_id, -1, 100)
    ]
    assert whole.topics == []


# -- deletion ---------------------------------------------------------------------------------------------------------


def test_offsets_of_topics_that_a_consumer_group_reads_are_kept() -> None:
    tell(
        """
        0     A join v3 protocols=range:@t -> gen 1 range leads A
        1     A sync A=a             -> got a
        2     A commit t-0=1 u-0=2   -> ok
        3     admin forget t-0 u-0 u-1 -> t-0 GROUP_SUBSCRIBED_TO_TOPIC, u-0 ok, u-1 ok
        4     A fetch                -> t-0=1
        5     A leave                -> A ok
        6     admin forget t-0       -> ok
        7     A fetch                -> nothing
        """,
        NO_DELAY,
    )


def test_a_consumer_group_that_cannot_be_read_keeps_all_its_offsets() -> None:
    tell(
        STABLE
        + """
    7000  A commit t-0=1         -> ok
    7001  admin forget t-0       -> GROUP_SUBSCRIBED_TO_TOPIC
    """,
        takeovers=False,
    )


def test_another_groups_offsets_are_kept_while_it_has_members() -> None:
    tell(
        """
        0     A join v3 type=connect -> gen 1 range leads A
        1     A sync A=a             -> got a
        2     A commit t-0=1         -> ok
        3     admin forget t-0       -> NON_EMPTY_GROUP
        4     A leave                -> A ok
        5     admin forget t-0       -> ok
        6     A fetch                -> nothing
        """,
        NO_DELAY,
    )


def test_to_forget_what_is_not_there() -> None:
    tell(
        """
        0     admin forget t-0       -> GROUP_ID_NOT_FOUND
        0     admin forget group= t-0 -> INVALID_GROUP_ID
        1     admin commit t-0=1     -> ok
        2     admin forget t-1 u-0   -> ok
    """,
        takeovers=False,
    )


def test_the_gateway_asks_the_same_before_it_lets_the_cluster_delete() -> None:
    """GW-13."""
    story = tell("0 A join v3 protocols=range:@t+u -> gen 1 range leads A", NO_DELAY, takeovers=False)
    shard = story.world.shard
    assert shard.check_offset_delete("g").name == "NONE"
    assert shard.subscribed_among("g", ["t", "v", "u"]) == {"t", "u"}
    assert shard.check_delete("g").name == "NON_EMPTY_GROUP"
    assert shard.check_offset_delete("ghosts").name == shard.check_delete("ghosts").name == "GROUP_ID_NOT_FOUND"
    assert shard.subscribed_among("ghosts", ["t"]) == frozenset()
    assert (shard.facts("g").has_members, shard.facts("ghosts").has_members) == (True, False)
    assert (shard.facts("g").generation, shard.facts("ghosts").generation) == (1, None)
    story.tell("2 A leave -> A ok")
    assert not shard.facts("g").has_members
    story.tell("3 B join -> MEMBER_ID_REQUIRED")
    assert shard.facts("g").has_members


# -- expiry -----------------------------------------------------------------------------------------------------------


def test_offsets_of_an_empty_group_expire_when_it_has_been_empty_for_so_long() -> None:
    tell(
        f"""
        0                       A join v3 session={2 * DAY_MS} -> gen 1 range leads A
        1                       A sync A=a -> got a
        2                       A commit t-0=1 -> ok
        {DAY_MS}                A leave    -> A ok
        {WEEK_MS + MINUTE_MS}   A fetch    -> t-0=1
        {WEEK_MS + DAY_MS - 1}  A fetch    -> t-0=1
        {WEEK_MS + DAY_MS}      A fetch    -> nothing
        {WEEK_MS + DAY_MS}      group      -> gone
        """,
        GroupSettings(initial_rebalance_delay_ms=0, max_session_timeout_ms=2 * DAY_MS),
        takeovers=False,
    )


def test_offsets_without_a_group_expire_by_their_commit() -> None:
    tell(
        f"""
        0     admin commit t-0=1     -> ok
        {DAY_MS}  admin commit t-1=2 -> ok
        {WEEK_MS}  A fetch           -> t-1=2
        {WEEK_MS + DAY_MS - 1}  A fetch -> t-1=2
        {WEEK_MS + DAY_MS}  A fetch  -> nothing
        {WEEK_MS + DAY_MS}  group    -> gone
        """,
        takeovers=False,
    )


def test_an_old_commit_may_set_its_own_retention() -> None:
    tell(
        f"""
        0     admin commit t-0=1 retention=60000 v2 -> ok
        1     admin commit t-1=1                    -> ok
        {10 * MINUTE_MS}  crash                     -> nothing
        {20 * MINUTE_MS}  A fetch                   -> t-0=1 t-1=1
        {70 * MINUTE_MS}  A fetch                   -> t-1=1
        """,
        takeovers=False,
    )


def committed_and_stepped(step_ms: int, reload: bool) -> list[tuple[str, int]]:
    """What is left of an offset one sweep after the wall clock was set, an hour and a half after its commit."""
    world = World(GroupSettings(initial_rebalance_delay_ms=0))
    commit = OffsetCommitRequest(
        group_id="g",
        generation_id_or_member_epoch=-1,
        topics=[OffsetCommitRequestTopic("t", partitions=[OffsetCommitRequestPartition(0, 1)])],
    )
    world.call(commit, 8)
    world.advance_to(90 * MINUTE_MS)
    world.wall_step_ms = step_ms
    if reload:
        world.crash()
    world.advance_to(world.now_ms + 20 * MINUTE_MS)
    kept = world.state.offsets.of_group("g")
    return [(topic, partition) for topic, partitions in kept.items() for partition in partitions]


@pytest.mark.parametrize("step_ms", [365 * DAY_MS, -365 * DAY_MS])
@pytest.mark.parametrize("reload", [False, True])
def test_a_wall_clock_that_jumps_deletes_no_offsets_at_once(step_ms: int, reload: bool) -> None:
    assert committed_and_stepped(step_ms, reload) == [("t", 0)]


def test_a_stable_consumer_group_forgets_topics_that_it_does_not_read_any_more() -> None:
    settings = GroupSettings(initial_rebalance_delay_ms=0, offsets_retention_ms=MINUTE_MS)
    tell(
        f"""
        0     A join v3 session=1800000 protocols=range:@t -> gen 1 range leads A
        1     A commit t-0=1 u-0=2       -> REBALANCE_IN_PROGRESS
        2     A sync A=a                 -> got a
        3     A commit t-0=1 u-0=2       -> ok
        {9 * MINUTE_MS + 1}  A commit u-1=3 -> ok
        {10 * MINUTE_MS}  A fetch        -> t-0=1 u-1=3
        {20 * MINUTE_MS}  A fetch        -> t-0=1
        """,
        settings,
        takeovers=False,
    )


@pytest.mark.parametrize("protocol_type", ["connect", "consumer"])
def test_offsets_of_other_groups_with_members_never_expire(protocol_type: str) -> None:
    """Nor those of a consumer group whose subscription cannot be read."""
    tell(
        f"""
        0     A join v3 session=1800000 type={protocol_type} -> gen 1 range leads A
        1     A sync A=a             -> got a
        2     A commit t-0=1         -> ok
        {20 * MINUTE_MS}  A fetch    -> t-0=1
        """,
        GroupSettings(initial_rebalance_delay_ms=0, offsets_retention_ms=MINUTE_MS),
        takeovers=False,
    )


def test_offsets_do_not_expire_while_members_join() -> None:
    tell(
        f"""
        0     admin commit t-0=1     -> ok
        {10 * MINUTE_MS - 1}  A join v3 -> parked
        {10 * MINUTE_MS}  A fetch    -> t-0=1
        """,
        GroupSettings(offsets_retention_ms=MINUTE_MS),
        takeovers=False,
    )


def test_empty_groups_without_offsets_are_removed() -> None:
    tell(
        f"""
        0     A join v3              -> gen 1 range leads A
        1     A leave                -> A ok
        {10 * MINUTE_MS - 1}  group  -> Empty gen 2
        {10 * MINUTE_MS}  group      -> gone
        {10 * MINUTE_MS}  crash      -> nothing
        {10 * MINUTE_MS}  admin list -> none
        """,
        NO_DELAY,
        takeovers=False,
    )


def test_a_group_that_somebody_is_about_to_join_is_not_removed() -> None:
    tell(
        f"""
        {10 * MINUTE_MS - 10}  A join -> MEMBER_ID_REQUIRED
        {10 * MINUTE_MS}  group       -> Empty gen 0
        {10 * MINUTE_MS + 1}  A join  -> gen 1 range leads A
        """,
        NO_DELAY,
        takeovers=False,
    )
