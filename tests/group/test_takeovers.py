"""Crashes: another shard loads the log and goes on. (Every other story is also crashed after each of its steps, see
`story.py`.)
"""

from __future__ import annotations

import attrs
import pytest

from kcoord.group.state.settings import GroupSettings
from kcoord.protocol.records import (
    GroupMetadataKey,
    GroupMetadataValue,
    LegacyOffsetCommitKey,
    LegacyOffsetCommitValue,
    MemberMetadata,
    Record,
)
from tests.group.situations import GATHERING, JOINED, NO_DELAY, STABLE, STATIC
from tests.group.story import Story, tell
from tests.group.world import World


def test_a_stable_group_goes_on_as_if_nothing_had_happened() -> None:
    tell(
        STABLE
        + """
    7000  crash                  -> nothing
    7001  group                  -> Stable gen 1 A B
    7002  A beat                 -> ok*
    7003  B beat                 -> ok*
    7004  A sync                 -> got a
    """
    )


def test_every_member_has_a_fresh_session_after_a_load() -> None:
    tell(
        STABLE
        + """
    16000  crash                 -> nothing
    25999  time                  -> nothing
    25999  group                 -> Stable gen 1 A B
    26000  time                  -> nothing
    26000  group                 -> Empty gen 2
    26000  why                   -> session expired: A, B
    """,
        takeovers=False,
    )


def test_between_join_and_sync_the_generation_is_not_lost() -> None:
    """GW-24: CompletingRebalance again, with a fresh timer."""
    tell(
        JOINED
        + """
    6010   B sync                -> parked
    6020   crash                 -> nothing else
           B                     -> lost
    6021   group                 -> CompletingRebalance gen 1 A B
    6022   A beat                -> ok
    6023   B sync                -> parked
    6024   A sync A=a B=b        -> got a
           B                     -> got b
    """
    )


def test_between_join_and_sync_the_answer_to_the_join_is_told_again() -> None:
    tell(
        JOINED
        + """
    6020   crash                 -> nothing
    6021   A join                -> gen 1 range leads A B
    6022   B join                -> gen 1 range follows A
    6023   B sync                -> parked
    6024   A sync A=a B=b        -> got a
           B                     -> got b
    """
    )


def test_after_a_load_those_who_speak_several_protocols_are_known_again() -> None:
    """The record has their metadata for the chosen one only: that must be the same."""
    tell(
        """
        0      A join v3 protocols=sessioned:a,default:b type=connect -> gen 1 sessioned leads A
        10     crash                                                  -> nothing
        11     A join                                                 -> gen 1 sessioned leads A
        12     crash                                                  -> nothing
        13     A join protocols=default:b,sessioned:a                 -> gen 1 sessioned leads A
        14     A sync A=a name=sessioned                              -> got a
        15     crash                                                  -> nothing
        16     A join protocols=sessioned:new,default:b               -> gen 2 sessioned leads A
        """,
        NO_DELAY,
    )


def test_after_a_load_all_that_a_member_speaks_counts_again_once_it_has_joined() -> None:
    tell(
        """
        0      A join v3 protocols=range:m,rr:m -> gen 1 range leads A
        10     crash                            -> nothing
        11     N join v3 protocols=rr:m         -> INCONSISTENT_GROUP_PROTOCOL
        12     A join                           -> gen 1 range leads A
        13     N join v3 protocols=rr:m         -> parked
        14     A join                           -> gen 2 rr leads A N
               N                                -> gen 2 rr follows A
        """,
        NO_DELAY,
        takeovers=False,
    )


def test_between_join_and_sync_the_timer_starts_again() -> None:
    tell(
        JOINED
        + """
    15000  A beat                -> ok
    15000  B beat                -> ok
    20000  crash                 -> nothing
    29000  A beat                -> ok
    29000  B beat                -> ok
    38000  A beat                -> ok
    38000  B beat                -> ok
    47000  A beat                -> ok
    47000  B beat                -> ok
    49999  group                 -> CompletingRebalance gen 1 A B
    50000  time                  -> nothing
    50000  group                 -> Empty gen 2
    50000  why                   -> never synced: A, B
    """,
        takeovers=False,
    )


def test_a_rebalance_on_its_way_is_forgotten_and_begins_again() -> None:
    """PreparingRebalance is not in the log: the group is what its last generation was, and its members ask again."""
    tell(
        STABLE
        + """
    7000   C join v3             -> parked
    7001   A join                -> parked
    7002   crash                 -> nothing else
           A                     -> lost
           C                     -> lost
    7003   group                 -> Stable gen 1 A B
    7004   C join new            -> MEMBER_ID_REQUIRED
    7005   C join                -> parked
    7006   A join                -> parked
    7007   B join                -> gen 2 range follows A
           A                     -> gen 2 range leads A B C
           C                     -> gen 2 range follows A
    """
    )


def test_a_new_group_whose_members_were_gathering() -> None:
    tell(
        GATHERING
        + """
    10     crash                 -> nothing else
           A                     -> lost
           B                     -> lost
    11     group                 -> Empty gen 0
    """
    )


def test_who_has_synced_is_known_after_a_load() -> None:
    """B had its assignment before the crash and heartbeats; C never fetched it."""
    tell(
        """
        0      A join v3             -> parked
        0      B join v3             -> parked
        0      C join v3             -> parked
        6000   time                  -> nothing else
               A                     -> gen 1 range leads A B C
               B                     -> gen 1 range follows A
               C                     -> gen 1 range follows A
        9010   A sync A=a B=b C=c    -> got a
        9020   B sync                -> got b
        9030   crash                 -> nothing
        9040   A beat                -> ok*
        9040   B beat                -> ok*
        9040   C dies                -> nothing
        10000  group                 -> Stable gen 1 A B C
        """,
    )


def test_after_a_load_a_heartbeat_counts_for_a_sync() -> None:
    """A client whose SyncGroup was cut off with the elder coordinator asks again; one that heartbeats has its
    assignment.
    """
    beats = "".join(
        f"""
        {ms}  A beat                -> ok*
        {ms}  B beat                -> ok*"""
        for ms in range(15_000, 60_000, 9_000)
    )
    tell(
        JOINED
        + """
    6010   A sync A=a B=b        -> got a
    6020   B sync                -> got b
    6030   crash                 -> nothing
    """
        + beats
        + """
        60000  group                 -> Stable gen 1 A B
    """,
    )


def test_after_a_load_those_who_never_synced_are_out_in_time() -> None:
    tell(
        JOINED
        + """
    6010   A sync A=a B=b        -> got a
    6020   crash                 -> nothing
    6021   B commit t-0=1        -> ok
    6022   A beat                -> ok*
    15000  A beat                -> ok*
    15000  B commit t-0=1        -> ok
    24000  A beat                -> ok*
    24000  B commit t-0=1        -> ok
    33000  A beat                -> ok*
    33000  B commit t-0=1        -> ok
    36019  group                 -> Stable gen 1 A B
    36020  time                  -> nothing
    36020  group                 -> PreparingRebalance gen 1 A
    """,
        takeovers=False,
    )


def test_a_static_members_replacement_survives() -> None:
    """GW-23: the swap is in the log; one whose append fails has never been, because its shard is dropped."""
    story = tell(
        STATIC
        + """
    7000   B2 join static=b1     -> gen 1 range follows A
    7000   B dies                -> nothing
    """
    )
    unlucky = World(story.world.settings, story.world.log[:-1], 7_001)
    assert "b1-4" not in unlucky.state.groups["g"].members
    story.tell("""
    7001   crash                 -> nothing
    7002   B beat                -> FENCED_INSTANCE_ID
    7003   B2 sync               -> got b
    """)


def test_a_loaded_group_above_the_maximum_rebalances() -> None:
    """GW-23."""
    story = tell(STABLE, takeovers=False)
    small = Story(GroupSettings(max_size=1), takeovers=False)
    small.world = World(GroupSettings(max_size=1), story.world.log, 7_000)
    small._actors, small._names = story._actors, story._names
    small.tell("""
    7001   group                 -> PreparingRebalance gen 1 A B
    7002   A beat                -> REBALANCE_IN_PROGRESS
    7003   B join                -> parked
    7004   A join                -> GROUP_MAX_SIZE_REACHED
           B                     -> gen 2 range leads B
    7005   why                   -> over group.max.size: 2 members; over group.max.size: A
    """)


def test_a_left_member_may_reappear_until_its_session_ends() -> None:
    """As in Kafka: who has left is written with the next generation. Lost with a crash in between, it ends with its
    session.
    """
    tell(
        STABLE
        + """
    7000   B leave               -> B ok
    7001   crash                 -> nothing
    7002   group                 -> Stable gen 1 A B
    16000  A beat                -> ok*
    17001  time                  -> nothing
    17001  group                 -> PreparingRebalance gen 1 A
    """
    )


def test_nobody_is_answered_by_a_lost_shard() -> None:
    story = tell(STABLE + "7000 A beat -> ok*", takeovers=False)
    shard = story.world.shard
    assert shard.drop() == []
    assert shard.next_deadline() is None
    assert shard.group_ids() == []


KAFKAS = GroupMetadataValue(
    protocol_type="consumer",
    generation=5,
    protocol="range",
    leader="A-1",
    current_state_timestamp=-1,
    members=[
        MemberMetadata("A-1", None, "A", "/10.0.0.1", 30_000, 10_000, b"m", b"a"),
        MemberMetadata("B-2", None, "B", "/10.0.0.1", -1, 10_000, b"m", b""),
    ],
)
"""A record as Kafka writes it: without our tagged fields, and of the oldest clients without a rebalance timeout."""


@pytest.mark.parametrize(
    ("record", "state"),
    [
        (KAFKAS, "Stable"),
        (attrs.evolve(KAFKAS, members=[], leader=None, protocol=None), "Empty"),
        (attrs.evolve(KAFKAS, state="Unheard"), "Stable"),
        (attrs.evolve(KAFKAS, leader=None), "Stable"),
    ],
)
def test_kafkas_own_records_are_understood(record: GroupMetadataValue, state: str) -> None:
    world = World(log=[Record(GroupMetadataKey("g"), record)])
    group = world.state.groups["g"]
    assert group.state.label == state
    assert group.generation == 5


def test_who_has_synced_is_not_asked_where_kafka_did_not_write_it() -> None:
    world = World(log=[Record(GroupMetadataKey("g"), KAFKAS)])
    group = world.state.groups["g"]
    assert not group.unsynced
    assert group.members["B-2"].rebalance_timeout_ms == 10_000


def test_offsets_of_old_are_read() -> None:
    old = Record(LegacyOffsetCommitKey("g", "t", 0), LegacyOffsetCommitValue(7, "note", 123))
    world = World(log=[old])
    assert world.state.offsets.of_topic("g", "t")[0].offset == 7
