"""Members go: by LeaveGroup, alone or several at once, or because their session ends."""

from __future__ import annotations

from tests.group.situations import GATHERING, JOINED, NO_DELAY, STABLE, STATIC
from tests.group.story import tell


def test_a_member_leaves_a_stable_group() -> None:
    tell(
        STABLE
        + """
    7000  B leave reason=the_consumer_is_being_closed -> B ok
    7000  group                  -> PreparingRebalance gen 1 A
    7001  B beat                 -> UNKNOWN_MEMBER_ID
    7002  A beat                 -> REBALANCE_IN_PROGRESS
    7003  A join                 -> gen 2 range leads A
    7004  why                    -> member left: B ("the consumer is being closed")
    """
    )


def test_the_leader_leaves() -> None:
    tell(
        STABLE
        + """
    7000  A leave                -> A ok
    7001  B join                 -> gen 2 range leads B
    """
    )


def test_the_last_member_leaves() -> None:
    story = tell(
        STABLE
        + """
    7000  B leave                -> B ok
    7001  A leave                -> A ok
    7001  group                  -> Empty gen 2
    7001  why                    -> member left: B; member left: A
    7002  C join v3              -> parked
    10002 time                   -> nothing else
          C                      -> gen 3 range leads C
    """
    )
    empty = [value for value in story.world.group_records() if value.state == "Empty"]
    assert [(value.generation, value.protocol_type, value.protocol, value.leader) for value in empty] == [
        (0, "", None, None),
        (2, "consumer", None, None),
    ]


def test_a_member_leaves_between_join_and_sync() -> None:
    tell(
        JOINED
        + """
    6010  B sync                 -> parked
    6020  A leave                -> A ok
          B                      -> REBALANCE_IN_PROGRESS
    6030  B join                 -> gen 2 range leads B
    """
    )


def test_who_waits_for_an_assignment_and_is_put_out_learns_it() -> None:
    """Kafka forgets the parked SyncGroup of a member that an admin removes."""
    tell(
        """
        0     A join static=a1       -> gen 1 range leads A
        1     B join static=b1       -> parked
        2     A join                 -> gen 2 range leads A B
              B                      -> gen 2 range follows A
        3     B sync                 -> parked
        4     admin leave static=b1  -> b1 ok
              B                      -> UNKNOWN_MEMBER_ID
        """,
        NO_DELAY,
    )


def test_the_last_one_that_others_waited_for_leaves() -> None:
    tell(
        STABLE
        + """
    7000  A join                 -> parked
    7001  B leave                -> B ok
          A                      -> gen 2 range leads A
    7002  why                    -> leader asked: A; member left: B
    """
    )


def test_a_newcomer_that_leaves_before_it_has_joined_disturbs_nobody() -> None:
    """Kafka lets the whole group rebalance for it."""
    tell(
        STABLE
        + """
    7000  C join                 -> MEMBER_ID_REQUIRED
    7001  C leave                -> C ok
    7002  A beat                 -> ok*
    7003  C join                 -> UNKNOWN_MEMBER_ID
    """
    )


def test_a_newcomer_that_leaves_is_not_waited_for() -> None:
    tell(
        STABLE
        + """
    7000  C join                 -> MEMBER_ID_REQUIRED
    7001  A join                 -> parked
    7002  B join                 -> parked
    7003  C leave                -> C ok
          A                      -> gen 2 range leads A B
          B                      -> gen 2 range follows A
    """
    )


def test_several_leave_at_once_and_the_group_rebalances_once() -> None:
    tell(
        """
        0     A join v3              -> parked
        0     B join v3              -> parked
        0     C join v3              -> parked
        6000  time                   -> nothing else
              A                      -> gen 1 range leads A B C
              B                      -> gen 1 range follows A
              C                      -> gen 1 range follows A
        9001  A sync A=a B=b C=c     -> got a
        9002  B sync                 -> got b
        9003  C sync                 -> got c
        9004  admin leave B ghost C  -> B ok, ghost UNKNOWN_MEMBER_ID, C ok
        9005  A join                 -> gen 2 range leads A
        9006  why                    -> member left: B, C
        """
    )


def test_an_admin_removes_static_members_by_their_instance_ids() -> None:
    tell(
        STATIC
        + """
    7000  admin leave static=b1,nobody -> b1 ok, nobody UNKNOWN_MEMBER_ID
    7001  B beat                 -> UNKNOWN_MEMBER_ID
    7002  A join                 -> gen 2 range leads A
    """
    )


def test_a_static_member_may_leave_only_under_its_present_member_id() -> None:
    tell(
        STATIC
        + """
    7000  B leave id=b1-0        -> b1 FENCED_INSTANCE_ID
    7001  B beat                 -> ok*
    7002  B leave                -> B ok
    """
    )


def test_old_clients_leave_one_by_one_and_the_error_stands_at_the_top() -> None:
    tell(
        STABLE
        + """
    7000  B leave v2             -> ok
    7001  B leave v0             -> UNKNOWN_MEMBER_ID
    7002  A join                 -> gen 2 range leads A
    """
    )


def test_leaving_a_group_that_is_not_there() -> None:
    tell("""
        0     A leave id=ghost       -> ghost UNKNOWN_MEMBER_ID
        0     A leave id=ghost v1    -> UNKNOWN_MEMBER_ID
        0     A leave group=         -> INVALID_GROUP_ID
        0     admin list             -> none
    """)


def test_to_leave_a_group_with_nobody_named_changes_nothing() -> None:
    tell(
        STABLE
        + """
    7000  admin leave static=    -> ok
    7001  A beat                 -> ok*
    """
    )


def test_the_one_who_waits_in_a_new_group_leaves() -> None:
    tell(
        GATHERING
        + """
    10    B leave id=B-2         -> B ok
          B                      -> UNKNOWN_MEMBER_ID
    6000  time                   -> nothing else
          A                      -> gen 1 range leads A
    """
    )
