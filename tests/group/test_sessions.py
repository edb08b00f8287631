"""Who is alive: heartbeats, commits, the end of a session, and sessions that are paused."""

from __future__ import annotations

from tests.group.situations import NO_DELAY, STABLE
from tests.group.story import tell


def test_a_session_lasts_from_the_last_sign_of_life() -> None:
    tell(
        STABLE
        + """
    6020   B dies                -> nothing
    12000  A beat                -> ok*
    16019  time                  -> nothing
    16019  group                 -> Stable gen 1 A B
    16020  time                  -> nothing
    16020  group                 -> PreparingRebalance gen 1 A
    16021  B beat                -> UNKNOWN_MEMBER_ID
    16022  A beat                -> REBALANCE_IN_PROGRESS
    16023  A join                -> gen 2 range leads A
    16024  why                   -> session expired: B
    """
    )


def test_sessions_that_end_together_cause_one_rebalance() -> None:
    tell(
        """
        0      A join v3              -> parked
        0      B join v3              -> parked
        0      C join v3 session=60000 -> parked
        6000   time                   -> nothing else
               A                      -> gen 1 range leads A B C
               B                      -> gen 1 range follows A
               C                      -> gen 1 range follows A
        6000   A sync A=a B=b C=c     -> got a
        6000   B sync                 -> got b
        6000   C sync                 -> got c
        6000   A dies                 -> nothing
        6000   B dies                 -> nothing
        16000  time                   -> nothing
        16001  C join                 -> gen 2 range leads C
        16002  why                    -> session expired: A, B
        """
    )


def test_a_sync_and_a_repeated_join_refresh_the_session() -> None:
    """GW-23: who asks again, after a coordinator that went, has its whole session for the first heartbeat."""
    tell(
        STABLE
        + """
    15000  A beat                -> ok*
    15000  B sync                -> got b
    24999  A beat                -> ok*
    24999  group                 -> Stable gen 1 A B
    24999  B join                -> gen 1 range follows A
    34000  A beat                -> ok*
    34998  group                 -> Stable gen 1 A B
    34999  time                  -> nothing
    34999  group                 -> PreparingRebalance gen 1 A
    """
    )


def test_heartbeats_while_others_join_refresh_the_session() -> None:
    """GW-23: answered 27, and counted."""
    tell(
        STABLE
        + """
    7000   C join v3             -> parked
    15000  A beat                -> REBALANCE_IN_PROGRESS
    15000  B beat                -> REBALANCE_IN_PROGRESS
    24000  A join                -> parked
    24000  B beat                -> REBALANCE_IN_PROGRESS
    33000  B join                -> gen 2 range follows A
           A                     -> gen 2 range leads A B C
           C                     -> gen 2 range follows A
    """
    )


def test_a_member_that_falls_silent_is_not_waited_for() -> None:
    tell(
        STABLE
        + """
    7000   C join v3             -> parked
    7001   B dies                -> nothing
    7001   A join                -> parked
    16019  time                  -> nothing
    16020  time                  -> nothing else
           A                     -> gen 2 range leads A C
           C                     -> gen 2 range follows A
    16021  why                   -> member joined: C; session expired: B
    """
    )


def test_commits_refresh_the_session_in_stable_and_while_others_join() -> None:
    """GW-22."""
    tell(
        STABLE
        + """
    15000  A may-commit          -> ok
    15000  B beat                -> ok*
    24000  A commit t-0=1        -> ok
    24000  B beat                -> ok*
    25000  C join v3             -> parked
    33000  A may-commit          -> ok
    33000  B beat                -> REBALANCE_IN_PROGRESS
    42000  group                 -> PreparingRebalance gen 1 A B C
    """
    )


def test_a_new_session_timeout_counts_from_the_next_join() -> None:
    tell(
        """
        0      A join v3 session=10000   -> gen 1 range leads A
        0      A sync A=a                -> got a
        100    A join session=20000      -> gen 2 range leads A
        100    A sync A=a                -> got a
        20099  time                      -> nothing
        20099  group                     -> Stable gen 2 A
        20100  time                      -> nothing
        20100  group                     -> Empty gen 3
        """,
        NO_DELAY,
        takeovers=False,
    )


def test_a_paused_session_does_not_end() -> None:
    """GW-10: the way to the cluster behind is cut; the member cannot reach us through it, and is not to
    blame.
    """
    tell(
        STABLE
        + """
    7000   A pauses until=60000  -> nothing
    7000   B pauses until=60000  -> nothing
    60000  group                 -> Stable gen 1 A B
    60000  A resumes             -> nothing
    60000  B resumes             -> nothing
    69999  group                 -> Stable gen 1 A B
    69999  A beat                -> ok*
    70000  time                  -> nothing
    70000  group                 -> PreparingRebalance gen 1 A
    """,
        takeovers=False,
    )


def test_a_pause_is_bounded() -> None:
    tell(
        STABLE
        + """
    7000   A pauses until=60000  -> nothing
    7000   B pauses until=60000  -> nothing
    69999  time                  -> nothing
    69999  group                 -> Stable gen 1 A B
    70000  time                  -> nothing
    70000  group                 -> Empty gen 2
    """,
        takeovers=False,
    )


def test_a_heartbeat_ends_the_pause() -> None:
    """It starts the session afresh, also when the coordinator had looked in between and seen that there is time
    until much later.
    """
    tell(
        STABLE
        + """
    7000   A pauses until=600000 -> nothing
    7000   B pauses until=600000 -> nothing
    20000  A beat                -> ok*
    29999  group                 -> Stable gen 1 A B
    30000  time                  -> nothing
    30000  group                 -> PreparingRebalance gen 1 B
    """,
        takeovers=False,
    )


def test_a_pause_that_is_over_shortens_nothing() -> None:
    tell(
        STABLE
        + """
    15000  A beat                -> ok*
    15000  B beat                -> ok*
    15001  A pauses until=7000   -> nothing
    24999  group                 -> Stable gen 1 A B
    """,
        takeovers=False,
    )


def test_to_pause_whom_nobody_knows_changes_nothing() -> None:
    story = tell(STABLE, takeovers=False)
    shard = story.world.shard
    shard.pause_session("g", "ghost", 1_000_000)
    shard.pause_session("ghosts", "ghost", 1_000_000)
    shard.resume_session("g", "ghost", 7_000)
    shard.resume_session("ghosts", "ghost", 7_000)
    story.tell("""
        16020  time                  -> nothing
        16020  group                 -> Empty gen 2
    """)


def test_a_group_without_trouble_is_looked_at_once_a_session_not_once_a_heartbeat() -> None:
    story = tell(
        """
        0     A join v3 session=30000 -> gen 1 range leads A
        0     A sync A=a             -> got a
        """,
        NO_DELAY,
    )
    looks = []
    for beat_ms in range(3_000, 300_001, 3_000):
        before = story.world.shard.next_deadline()
        story.tell(f"{beat_ms} A beat -> ok*")
        if story.world.shard.next_deadline() != before:
            looks.append(beat_ms)
    assert len(looks) <= 300_000 / (30_000 - 3_000) + 1


def test_a_hot_answer_does_not_outlive_what_it_says() -> None:
    """The version moves with everything that could change the answer; World checks it after each step of every
    story as well.
    """
    story = tell(STABLE + "7000 A beat -> ok*", takeovers=False)
    group = story.world.state.groups["g"]
    for line, moves in [
        ("7001 B beat                       -> ok*", False),
        ("7002 admin describe               -> Stable consumer range A:m:a B:m:b", False),
        ("7003 B commit t-0=1               -> ok", False),
        ("7004 B sync                       -> got b", False),
        ("7005 C join                       -> MEMBER_ID_REQUIRED", False),
        ("7006 C join                       -> parked", True),
        ("7007 B leave                      -> B ok", True),
    ]:
        before = group.version
        story.tell(line)
        assert (group.version != before) == moves, line
    before = group.version
    story.world.crash()
    assert group.version != before
