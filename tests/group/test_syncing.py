"""The leader assigns, everybody fetches their own."""

from __future__ import annotations

from tests.group.situations import JOINED, STABLE
from tests.group.story import tell


def test_followers_wait_for_the_leader() -> None:
    tell(
        JOINED
        + """
    6010  B sync                 -> parked
    6020  group                  -> CompletingRebalance gen 1 A B
    6030  A sync A=a B=b         -> got a
          B                      -> got b
    6030  group                  -> Stable gen 1 A B
    """
    )


def test_a_follower_that_comes_later_gets_its_own_at_once() -> None:
    tell(
        JOINED
        + """
    6010  A sync A=a B=b         -> got a
    7000  B sync                 -> got b
    7010  B sync                 -> got b
    """
    )


def test_a_member_that_the_leader_leaves_out_gets_nothing() -> None:
    tell(
        JOINED
        + """
    6010  B sync                 -> parked
    6020  A sync A=a             -> got a
          B                      -> got nothing
    """
    )


def test_only_the_leader_assigns() -> None:
    tell(
        JOINED
        + """
    6010  B sync A=stolen B=all  -> parked
    6020  A sync A=a B=b         -> got a
          B                      -> got b
    6030  A sync A=other B=other -> got a
    """
    )


def test_heartbeats_between_join_and_sync_are_answered_0() -> None:
    """GW-23."""
    tell(
        JOINED
        + """
    6010  A beat                 -> ok
    6020  B beat                 -> ok
    6030  A sync A=a B=b         -> got a
    6040  A beat                 -> ok*
    """
    )


def test_those_who_never_sync_are_out_after_the_rebalance_timeout() -> None:
    tell(
        JOINED
        + """
    6010   A sync A=a B=b        -> got a
    15000  A beat                -> ok*
    15000  B beat                -> ok*
    24000  A beat                -> ok*
    24000  B beat                -> ok*
    33000  A beat                -> ok*
    33000  B beat                -> ok*
    35999  time                  -> nothing
    36000  time                  -> nothing
    36000  group                 -> PreparingRebalance gen 1 A
    36001  B beat                -> UNKNOWN_MEMBER_ID
    36002  A beat                -> REBALANCE_IN_PROGRESS
    36003  A join                -> gen 2 range leads A
    36004  why                   -> never synced: B
    """
    )


def test_who_has_not_had_the_answer_to_its_join_is_given_time_to_sync() -> None:
    """AD-11: the gateway holds the answers to JoinGroup while the cluster waits. Nobody can sync meanwhile."""
    tell(
        JOINED
        + """
    6010   A pauses until=120000 -> nothing
    6010   B pauses until=120000 -> nothing
    36000  time                  -> nothing
    50000  A resumes             -> nothing
    50000  B resumes             -> nothing
    50010  A sync A=a B=b        -> got a
    59000  A beat                -> ok*
    59000  B beat                -> ok*
    68000  A beat                -> ok*
    68000  B beat                -> ok*
    77000  A beat                -> ok*
    77000  B beat                -> ok*
    79999  time                  -> nothing
    80000  time                  -> nothing
    80000  group                 -> PreparingRebalance gen 1 A
    80001  A join                -> gen 2 range leads A
    80002  why                   -> never synced: B
    """,
        takeovers=False,
    )


def test_a_leader_that_never_syncs_is_out_and_its_followers_learn_it() -> None:
    tell(
        JOINED
        + """
    6010   B sync                -> parked
    15000  A beat                -> ok
    24000  A beat                -> ok
    33000  A beat                -> ok
    35999  time                  -> nothing
    36000  time                  -> nothing else
           B                     -> REBALANCE_IN_PROGRESS
    36001  A beat                -> UNKNOWN_MEMBER_ID
    36002  B join                -> gen 2 range leads B
    """
    )


def test_when_all_have_synced_nobody_is_waited_for() -> None:
    tell(
        STABLE
        + """
    15000  A beat                -> ok*
    15000  B beat                -> ok*
    24000  A beat                -> ok*
    24000  B beat                -> ok*
    33000  A beat                -> ok*
    33000  B beat                -> ok*
    42000  A beat                -> ok*
    42000  B beat                -> ok*
    42000  group                 -> Stable gen 1 A B
    """
    )


def test_a_parked_sync_keeps_the_session_alive() -> None:
    """Who waits for us cannot heartbeat; the session starts afresh with the answer."""
    tell(
        JOINED
        + """
    6010   B sync                -> parked
    15000  A beat                -> ok
    17000  A sync A=a B=b        -> got a
           B                     -> got b
    26999  time                  -> nothing
    26999  group                 -> Stable gen 1 A B
    27000  time                  -> nothing
    27000  group                 -> Empty gen 2
    27000  why                   -> session expired: A, B
    """,
        takeovers=False,
    )
