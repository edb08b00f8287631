"""Members come: how a group gathers, who leads, what the others learn of it."""

from __future__ import annotations

import pytest

from kcoord.group.state.settings import GroupSettings
from tests.group.clients import Client, Phase, settle
from tests.group.situations import NO_DELAY, STABLE
from tests.group.story import tell
from tests.group.world import WALL_MS, World


def test_a_newcomer_is_given_its_member_id_first() -> None:
    """KIP-394: from JoinGroup v4 on nobody gets in who has not shown that it received its member id."""
    tell("""
        0     A join                 -> MEMBER_ID_REQUIRED
        0     group                  -> Empty gen 0
        100   A join                 -> parked
        100   group                  -> PreparingRebalance gen 0 A
        3100  time                   -> nothing else
              A                      -> gen 1 range leads A
        3100  why                    -> member joined: A
        3110  A sync A=all           -> got all
        3110  A beat                 -> ok*
    """)


def test_the_initial_delay_grows_with_each_arrival_up_to_the_rebalance_timeout() -> None:
    tell("""
        0     A join v3 rebalance=8000   -> parked
        2000  B join v3 rebalance=8000   -> parked
        3000  time                       -> nothing
        5000  C join v3 rebalance=8000   -> parked
        6000  time                       -> nothing
        7999  D join v3 rebalance=8000   -> parked
        8000  time                       -> nothing else
              A                          -> gen 1 range leads A B C D
              B                          -> gen 1 range follows A
              C                          -> gen 1 range follows A
              D                          -> gen 1 range follows A
        8000  why                        -> member joined: A; member joined: B; member joined: C; member joined: D
    """)


def test_the_initial_delay_ends_when_nobody_new_has_come() -> None:
    tell("""
        0     A join v3              -> parked
        100   B join v3              -> parked
        3000  time                   -> nothing
        5999  time                   -> nothing
        6000  time                   -> nothing else
              A                      -> gen 1 range leads A B
              B                      -> gen 1 range follows A
    """)


def test_without_a_delay_the_first_member_starts_alone() -> None:
    tell(
        """
        0     A join v3              -> gen 1 range leads A
        10    A sync A=all           -> got all
        20    B join                 -> MEMBER_ID_REQUIRED
        30    B join                 -> parked
        40    A beat                 -> REBALANCE_IN_PROGRESS
        50    A join                 -> gen 2 range leads A B
              B                      -> gen 2 range follows A
        """,
        NO_DELAY,
    )


def test_old_clients_join_at_once_and_v0_has_its_session_as_rebalance_timeout() -> None:
    story = tell("""
        0     A join v0 session=7000 -> parked
        3000  time                   -> nothing else
              A                      -> gen 1 range leads A
        3000  A sync v0 A=all        -> got all
        3000  A beat v0              -> ok*
    """)
    assert story.world.state.groups["g"].record.members[0].rebalance_timeout == 7000


def test_a_newcomer_makes_a_stable_group_rebalance() -> None:
    tell(
        STABLE
        + """
    7000  C join v3              -> parked
    7000  group                  -> PreparingRebalance gen 1 A B C
    7001  A beat                 -> REBALANCE_IN_PROGRESS
    7002  A sync                 -> REBALANCE_IN_PROGRESS
    7003  A join                 -> parked
    7004  B beat                 -> REBALANCE_IN_PROGRESS
    7005  B join                 -> gen 2 range follows A
          A                      -> gen 2 range leads A B C
          C                      -> gen 2 range follows A
    7005  why                    -> member joined: C
    7006  group                  -> CompletingRebalance gen 2 A B C
    7007  A sync A=x B=y C=z     -> got x
    7008  C sync                 -> got z
    7009  B sync                 -> got y
    7009  group                  -> Stable gen 2 A B C
    """
    )


def test_a_newcomer_between_join_and_sync_makes_everybody_join_again() -> None:
    tell("""
        0     A join v3              -> parked
        10    B join v3              -> parked
        6000  time                   -> nothing else
              A                      -> gen 1 range leads A B
              B                      -> gen 1 range follows A
        6010  B sync                 -> parked
        6020  C join v3              -> parked
              B                      -> REBALANCE_IN_PROGRESS
        6030  A sync A=a B=b         -> REBALANCE_IN_PROGRESS
        6040  A join                 -> parked
        6050  B join                 -> gen 2 range follows A
              A                      -> gen 2 range leads A B C
              C                      -> gen 2 range follows A
    """)


def test_a_follower_that_joins_again_with_the_same_metadata_disturbs_nobody() -> None:
    tell(
        STABLE
        + """
    7000  B join                 -> gen 1 range follows A
    7010  B sync                 -> got b
    7020  A beat                 -> ok*
    """
    )


def test_a_member_with_other_metadata_makes_the_group_rebalance() -> None:
    tell(
        STABLE
        + """
    7000  B join protocols=range:other reason=topics_changed -> parked
    7001  A beat                 -> REBALANCE_IN_PROGRESS
    7002  A join                 -> gen 2 range leads A B
          B                      -> gen 2 range follows A
    7003  why                    -> metadata changed: B ("topics changed")
    """
    )


def test_other_metadata_between_join_and_sync() -> None:
    tell("""
        0     A join v3              -> parked
        10    B join v3              -> parked
        6000  time                   -> nothing else
              A                      -> gen 1 range leads A B
              B                      -> gen 1 range follows A
        6010  B join protocols=range:other -> parked
        6020  A join                 -> gen 2 range leads A B
              B                      -> gen 2 range follows A
        6030  why                    -> metadata changed: B
    """)


def test_the_leader_makes_the_group_rebalance_by_joining_again() -> None:
    """Nothing of its own has changed: perhaps a topic has more partitions."""
    tell(
        STABLE
        + """
    7000  A join reason=rebalance_enforced_by_user -> parked
    7001  B beat                 -> REBALANCE_IN_PROGRESS
    7002  B join                 -> gen 2 range follows A
          A                      -> gen 2 range leads A B
    7003  why                    -> leader asked: A ("rebalance enforced by user")
    """
    )


def test_a_leader_that_lost_the_answer_gets_it_again_with_the_members() -> None:
    tell("""
        0     A join v3              -> parked
        10    B join v3              -> parked
        6000  time                   -> nothing else
              A                      -> gen 1 range leads A B
              B                      -> gen 1 range follows A
        6010  A join                 -> gen 1 range leads A B
        6020  B join                 -> gen 1 range follows A
        6030  A sync A=a B=b         -> got a
        6040  B sync                 -> got b
    """)


def test_those_who_do_not_join_in_time_are_out_and_another_one_leads() -> None:
    tell(
        STABLE
        + """
    7000   C join v3 rebalance=20000       -> parked
    7001   B join                          -> parked
    16000  A beat                          -> REBALANCE_IN_PROGRESS
    25000  A beat                          -> REBALANCE_IN_PROGRESS
    34000  A beat                          -> REBALANCE_IN_PROGRESS
    36999  time                            -> nothing
    37000  time                            -> nothing else
           B                               -> gen 2 range leads B C
           C                               -> gen 2 range follows B
    37000  why                             -> member joined: C; rebalance timeout: A
    37001  A beat                          -> UNKNOWN_MEMBER_ID
    37002  A join                          -> UNKNOWN_MEMBER_ID
    """
    )


def test_the_longest_rebalance_timeout_of_all_members_holds() -> None:
    tell(
        """
        0      A join v3 rebalance=10000 session=100000 -> gen 1 range leads A
        0      A sync A=a             -> got a
        0      B join v3 rebalance=40000 -> parked
        39999  time                   -> nothing
        40000  time                   -> nothing else
               B                      -> gen 2 range leads B
        40000  why                    -> member joined: B; rebalance timeout: A
        """,
        NO_DELAY,
    )


def test_a_newcomer_with_an_id_is_waited_for_until_its_session_would_have_ended() -> None:
    tell(
        STABLE
        + """
    7000   C join session=8000    -> MEMBER_ID_REQUIRED
    7001   A beat                 -> ok*
    7002   B beat                 -> ok*
    7003   A join                 -> parked
    7004   B join                 -> parked
    14999  time                   -> nothing
    15000  time                   -> nothing else
           A                      -> gen 2 range leads A B
           B                      -> gen 2 range follows A
    15001  C join                 -> UNKNOWN_MEMBER_ID
    """
    )


def test_such_a_newcomer_is_not_forgotten_when_the_group_is_looked_at_meanwhile() -> None:
    tell(
        """
        0      A join v3 rebalance=100000  -> gen 1 range leads A
        0      A sync A=a                  -> got a
        1      C join session=30000        -> MEMBER_ID_REQUIRED
        2      A join                      -> parked
        30000  time                        -> nothing
        30001  time                        -> nothing else
               A                           -> gen 2 range leads A
        """,
        NO_DELAY,
        takeovers=False,
    )


def test_a_newcomer_that_vanished_is_not_waited_for_for_ever() -> None:
    """Its JoinGroup is parked and nobody reads the answer: it stays for 5 minutes, however long the rebalance takes."""
    tell(
        """
        0       A join v3 session=900000 rebalance=600000 -> gen 1 range leads A
        0       A sync A=a             -> got a
        0       A dies                 -> nothing
        10      N join v3              -> parked
        10      N dies                 -> nothing
        300009  time                   -> nothing
        300010  time                   -> nothing else
                N                      -> UNKNOWN_MEMBER_ID
        300010  group                  -> PreparingRebalance gen 1 A
        600010  time                   -> nothing
        600010  group                  -> Empty gen 2
        600010  why                    -> member joined: N; session expired: N; rebalance timeout: A
        """,
        NO_DELAY,
    )


@pytest.mark.parametrize("version", [3, 9])
def test_a_group_has_room_for_so_many_members(version: int) -> None:
    """group.max.size: whoever is one too many is turned away, and the others are not disturbed."""
    tell(
        STABLE
        + f"""
    7000  C join v{version}       -> GROUP_MAX_SIZE_REACHED
    7001  A beat                  -> ok*
    7002  B leave                 -> B ok
    7003  A join                  -> gen 2 range leads A
    7004  C join v3               -> parked
    """,
        GroupSettings(max_size=2),
    )


def test_while_members_join_those_count_that_have_joined() -> None:
    tell(
        STABLE
        + """
    7000  C join v3              -> GROUP_MAX_SIZE_REACHED
    7001  A join                 -> parked
    7002  C join v3              -> parked
    7003  B join                 -> GROUP_MAX_SIZE_REACHED
          A                      -> gen 2 range leads A C
          C                      -> gen 2 range follows A
    7004  why                    -> leader asked: A; member joined: C; over group.max.size: B
    7005  B beat                 -> UNKNOWN_MEMBER_ID
    """,
        GroupSettings(max_size=2),
    )


def test_one_that_has_joined_may_ask_again_although_the_group_is_full() -> None:
    tell(
        """
        0     A join v3              -> gen 1 range leads A
        1     A sync A=a             -> got a
        2     B join                 -> MEMBER_ID_REQUIRED
        3     B join                 -> parked
        4     N join                 -> MEMBER_ID_REQUIRED
        5     A join                 -> parked
        6     B join                 -> parked
              B                      -> REBALANCE_IN_PROGRESS
        7     N join                 -> GROUP_MAX_SIZE_REACHED
              A                      -> gen 2 range leads A B
              B                      -> gen 2 range follows A
        """,
        GroupSettings(initial_rebalance_delay_ms=0, max_size=2),
        takeovers=False,
    )


def test_a_newcomer_that_finds_no_room_any_more_is_not_waited_for() -> None:
    tell(
        """
        0     A join v3              -> gen 1 range leads A
        1     A sync A=a             -> got a
        2     B join                 -> MEMBER_ID_REQUIRED
        3     C join v3              -> parked
        4     A join                 -> parked
        5     B join                 -> GROUP_MAX_SIZE_REACHED
              A                      -> gen 2 range leads A C
              C                      -> gen 2 range follows A
        """,
        GroupSettings(initial_rebalance_delay_ms=0, max_size=2),
    )


def test_a_member_that_asks_twice_lets_its_first_request_go() -> None:
    """Kafka forgets the first one; here no request is forgotten, whatever becomes of its connection."""
    tell("""
        0     A join v3              -> parked
        10    B join v3              -> parked
        6000  time                   -> nothing else
              A                      -> gen 1 range leads A B
              B                      -> gen 1 range follows A
        6010  A join protocols=range:new -> parked
        6020  A join protocols=range:new -> parked
              A                      -> REBALANCE_IN_PROGRESS
        6030  B join                 -> gen 2 range follows A
              A                      -> gen 2 range leads A B
        6040  B sync                 -> parked
        6050  B sync                 -> parked
              B                      -> REBALANCE_IN_PROGRESS
    """)


def test_the_group_rebalances_for_a_member_although_everybody_leaves_meanwhile() -> None:
    tell("""
        0     A join v3              -> parked
        10    A leave id=A-1         -> A ok
              A                      -> UNKNOWN_MEMBER_ID
        10    group                  -> PreparingRebalance gen 0
        3000  time                   -> nothing
        3000  group                  -> Empty gen 1
        3000  why                    -> member joined: A; member left: A
    """)


def test_a_group_can_change_its_protocol_type_only_while_it_is_empty() -> None:
    tell(
        """
        0     A join v3 type=connect protocols=default:w -> gen 1 default leads A
        1     A sync name=default A=a     -> got a
        2     B join v3                   -> INCONSISTENT_GROUP_PROTOCOL
        3     A leave                     -> A ok
        4     group                       -> Empty gen 2
        5     B join v3                   -> gen 3 range leads B
        6     admin describe              -> CompletingRebalance consumer B::
        """,
        NO_DELAY,
    )


def test_a_protocol_that_is_offered_twice_counts_once() -> None:
    tell(
        """
        0     A join v3 protocols=range:first,range:second -> gen 1 range leads A
        1     A sync A=a             -> got a
        2     admin describe         -> Stable consumer range A:first:a
        3     A leave                -> A ok
        4     group                  -> Empty gen 2
        """,
        NO_DELAY,
    )


def test_a_record_tells_when_the_rebalance_began_and_when_it_ended() -> None:
    """And of the next generation it holds no assignment of the last one."""
    story = tell(
        STABLE
        + """
    7000  C join v3              -> parked
    8000  A join                 -> parked
    9500  B join                 -> gen 2 range follows A
          A                      -> gen 2 range leads A B C
          C                      -> gen 2 range follows A
    9600  admin describe         -> CompletingRebalance consumer A:: B:: C::
    9700  A sync A=x             -> got x
    """
    )
    joined, synced = story.world.group_records()[-2:]
    assert (joined.reason_timestamp - WALL_MS, joined.current_state_timestamp - WALL_MS) == (7_000, 9_500)
    assert (synced.reason_timestamp - WALL_MS, synced.current_state_timestamp - WALL_MS) == (7_000, 9_700)
    assert (joined.joined_members, joined.synced_members) == (["A-1", "B-2", "C-3"], [])
    assert (synced.joined_members, synced.synced_members) == ([], ["A-1"])
    assert synced.reason == joined.reason == "member joined: C-3"


@pytest.mark.parametrize("instance_id", [None, "i" * 249])
@pytest.mark.parametrize("version", [5, 9])
def test_a_very_long_client_id_makes_no_member_id_that_cannot_be_sent(instance_id: str | None, version: int) -> None:
    world = World(NO_DELAY)
    client = Client("c" * 30_000, instance_id=instance_id, join_version=version)
    settle(world, [client])
    assert len(client.member_id) < 300
    assert client.phase is Phase.BEAT
