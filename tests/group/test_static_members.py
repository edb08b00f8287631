"""Static members (KIP-345, KIP-814): they come back under a new member id, and nobody is disturbed. GW-23."""

from __future__ import annotations

from kcoord.protocol.messages import JoinGroupResponse
from tests.group.clients import Client
from tests.group.situations import JOINED, NO_DELAY, STATIC
from tests.group.story import tell


def test_a_follower_comes_back_and_nobody_is_disturbed() -> None:
    story = tell(
        STATIC
        + """
    7000  B join new             -> gen 1 range follows A
    7001  B sync                 -> got b
    7002  A beat                 -> ok*
    7003  group                  -> Stable gen 1 A B
    7004  why                    -> member joined: A; member joined: B
    """
    )
    synced, swapped = story.world.group_records()[-2:]
    assert [member.member_id for member in swapped.members] == ["a1-1", "b1-3"]
    assert swapped.current_state_timestamp == synced.current_state_timestamp


def test_a_leader_comes_back_and_leaves_the_assignment_as_it_is() -> None:
    """From v9 on it is told so by SkipAssignment, and learns the members, whom it will have to watch."""
    tell(
        STATIC
        + """
    7000  A join new             -> gen 1 range leads B A, skip
    7001  A sync                 -> got a
    7002  B beat                 -> ok*
    7003  A beat                 -> ok*
    """
    )


def test_an_old_leader_that_comes_back_is_told_its_elders_id() -> None:
    """It must not think that it leads: what it assigned would not be heard (JoinGroup before v9)."""
    story = tell(STATIC)
    ticket, _ = story.world.call(Client("A", instance_id="a1").join_request(), 8, "A")
    assert isinstance(ticket.response, JoinGroupResponse)
    assert (ticket.response.member_id, ticket.response.leader, ticket.response.members) == ("a1-3", "a1-1", [])
    assert story.world.state.groups["g"].leader_id == "a1-3"


def test_one_that_comes_back_before_it_has_synced_is_still_waited_for() -> None:
    tell(
        """
        0      A join static=a1       -> parked
        0      B join static=b1       -> parked
        6000   time                   -> nothing else
               A                      -> gen 1 range leads A B
               B                      -> gen 1 range follows A
        6010   A sync A=a B=b         -> got a
        6020   B join new             -> gen 1 range follows A
        15000  A beat                 -> ok*
        15000  B beat                 -> ok*
        24000  A beat                 -> ok*
        24000  B beat                 -> ok*
        33000  A beat                 -> ok*
        33000  B beat                 -> ok*
        35999  group                  -> Stable gen 1 A B
        36000  time                   -> nothing
        36000  group                  -> PreparingRebalance gen 1 A
        """
    )


def test_a_leader_that_is_away_at_the_end_of_a_rebalance_leads_no_more() -> None:
    story = tell(
        """
        0      A join static=a1 rebalance=20000 session=60000 -> gen 1 range leads A
        0      A sync A=a                       -> got a
        10     B join v3 rebalance=20000        -> parked
        20010  time                             -> nothing else
               B                                -> gen 2 range leads A B
        """,
        NO_DELAY,
    )
    assert story.world.group_records()[-1].joined_members == ["B-2"]


def test_the_elder_is_fenced() -> None:
    tell(
        STATIC
        + """
    7000  B2 join static=b1      -> gen 1 range follows A
    7000  B dies                 -> nothing
    7001  B beat                 -> FENCED_INSTANCE_ID
    7002  B sync                 -> FENCED_INSTANCE_ID
    7003  B join                 -> FENCED_INSTANCE_ID
    7003  B dies                 -> nothing
    7004  B leave                -> B FENCED_INSTANCE_ID
    7005  B may-commit           -> FENCED_INSTANCE_ID
    7006  B2 sync                -> got b
    7007  B2 beat                -> ok*
    """
    )


def test_the_elder_that_waits_is_fenced_too() -> None:
    tell(
        STATIC
        + """
    7000  A join                 -> parked
    7001  B join                 -> gen 2 range follows A
          A                      -> gen 2 range leads A B
    7002  B sync                 -> parked
    7003  B2 join static=b1      -> parked
          B                      -> FENCED_INSTANCE_ID
    7003  B dies                 -> nothing
    7004  A sync A=a B=b         -> REBALANCE_IN_PROGRESS
    7005  A join                 -> gen 3 range leads A B2
          B2                     -> gen 3 range follows A
    7006  why                    -> static member replaced: B by B2
    """
    )


def test_a_static_member_comes_back_while_others_join() -> None:
    tell(
        STATIC
        + """
    7000  A join                 -> parked
    7001  B join new             -> gen 2 range follows A
          A                      -> gen 2 range leads A B
    7002  why                    -> leader asked: A; static member replaced: B by B
    """
    )


def test_it_comes_back_twice_while_others_join() -> None:
    tell(
        STATIC
        + """
    7000  C join static=c1       -> parked
    7001  B join new             -> parked
    7002  B2 join static=b1      -> parked
          B                      -> FENCED_INSTANCE_ID
    7002  B dies                 -> nothing
    7003  A join                 -> gen 2 range leads A C B2
          B2                     -> gen 2 range follows A
          C                      -> gen 2 range follows A
    """
    )


def test_it_comes_back_with_another_protocol() -> None:
    """Only if the group would now choose another protocol it rebalances."""
    tell(
        """
        0     A join static=a1 protocols=range:m,rr:m -> gen 1 range leads A
        1     A sync A=a                              -> got a
        2     A join new protocols=range:n,rr:n       -> gen 1 range leads A, skip
        3     A join new protocols=rr:n,range:n       -> gen 2 rr leads A
        4     why                                     -> static member replaced: A by A
        """,
        NO_DELAY,
    )


def test_static_members_may_be_away_at_the_end_of_a_rebalance() -> None:
    """They stay in the group, and keep their place, until their session ends or they have not synced in time."""
    tell(
        """
        0      A join static=a1 rebalance=20000 -> gen 1 range leads A
        0      A sync A=a                       -> got a
        0      B join static=b1 rebalance=20000 session=60000 -> parked
        1      A join                           -> gen 2 range leads A B
               B                                -> gen 2 range follows A
        2      B sync                           -> parked
        3      A sync A=a B=b                   -> got a
               B                                -> got b
        4      B dies                           -> nothing
        5      A join                           -> parked
        20004  time                             -> nothing
        20005  time                             -> nothing else
               A                                -> gen 3 range leads A B
        20006  A sync A=a B=b                   -> got a
        20007  why                              -> leader asked: A
        29000  A beat                           -> ok*
        38000  A beat                           -> ok*
        40005  time                             -> nothing
        40005  group                            -> PreparingRebalance gen 3 A
        40006  A join                           -> gen 4 range leads A
        40007  why                              -> never synced: B
        """,
        NO_DELAY,
    )


def test_a_rebalance_that_nobody_joins_waits_for_the_static_members_sessions() -> None:
    tell(
        STATIC
        + """
    7000   admin leave static=b1 -> b1 ok
    7001   A beat                -> REBALANCE_IN_PROGRESS
    7001   A dies                -> nothing
    17000  group                 -> PreparingRebalance gen 1 A
    17001  time                  -> nothing
    17001  group                 -> Empty gen 2
    17001  why                   -> member left: B; session expired: A
    """
    )


def test_a_rebalance_whose_static_members_are_all_away_starts_its_time_again() -> None:
    story = tell(
        """
        0      A join static=a1 rebalance=5000 session=60000 -> gen 1 range leads A
        0      A sync A=a                       -> got a
        10     B join v3 rebalance=5000         -> parked
        20     admin leave B-2                  -> B ok
               B                                -> UNKNOWN_MEMBER_ID
        5010   time                             -> nothing
        5010   group                            -> PreparingRebalance gen 1 A
        9000   A join                           -> gen 2 range leads A
        """,
        NO_DELAY,
    )
    assert story.world.state.groups["g"].generation == 2


def test_no_timeout_that_a_client_asks_for_keeps_the_coordinator_busy() -> None:
    """A rebalance timeout of next to nothing, and a static member that is away: looked at once a second, not for
    ever.
    """
    story = tell(
        """
        0      A join static=a1 rebalance=1 session=60000 -> gen 1 range leads A
        0      A sync A=a                       -> got a
        0      A dies                           -> nothing
        10     B join v3 rebalance=1            -> parked
        10     admin leave B-2                  -> B ok
               B                                -> UNKNOWN_MEMBER_ID
        10     group                            -> PreparingRebalance gen 1 A
        """,
        NO_DELAY,
        takeovers=False,
    )
    looks = 0
    while (deadline := story.world.shard.next_deadline()) is not None and deadline < 50_000:
        story.world.advance_to(deadline)
        looks += 1
    assert looks < 60


def test_a_static_newcomer_needs_no_second_join() -> None:
    tell(
        JOINED
        + """
    6010  C join static=c1       -> parked
    6020  A join                 -> parked
    6030  B join                 -> gen 2 range follows A
          A                      -> gen 2 range leads A B C
          C                      -> gen 2 range follows A
    """
    )


def test_a_handed_out_id_is_no_static_members() -> None:
    """Kafka's coordinator fails at it, and says so."""
    tell(
        """
        0     A join                 -> MEMBER_ID_REQUIRED
        1     A join static=a1       -> UNKNOWN_SERVER_ERROR
    """,
        takeovers=False,
    )


def test_its_new_host_is_the_one_that_is_described() -> None:
    story = tell(
        STATIC
        + """
    7000  B dies                 -> nothing
    7001  Bb join static=b1      -> gen 1 range follows A
    """
    )
    members = story.world.state.groups["g"].record.members
    assert [(member.client_id, member.client_host) for member in members] == [("A", "/10.0.0.1"), ("Bb", "/10.0.0.2")]
