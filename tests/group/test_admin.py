"""What admins ask: DescribeGroups, ListGroups, DeleteGroups."""

from __future__ import annotations

import pytest

from kcoord.protocol.messages import DescribeGroupsRequest, DescribeGroupsResponse
from tests.group.situations import JOINED, NO_DELAY, STABLE, STATIC
from tests.group.story import tell


def test_a_group_is_described_in_each_of_its_states() -> None:
    """Protocol and metadata are told of a stable group only."""
    tell(
        """
        0     admin describe         -> GROUP_ID_NOT_FOUND Dead
        0     admin describe v5      -> Dead
        0     A join                 -> MEMBER_ID_REQUIRED
        1     admin describe         -> Empty
        2     A join                 -> parked
        3     admin describe         -> PreparingRebalance consumer A::
        3002  time                   -> nothing else
              A                      -> gen 1 range leads A
        3003  admin describe         -> CompletingRebalance consumer A::
        3004  A sync A=a             -> got a
        3005  admin describe         -> Stable consumer range A:m:a
        3006  B join v3              -> parked
        3007  admin describe         -> PreparingRebalance consumer A::a B::
        3008  admin leave B-2        -> B ok
              B                      -> UNKNOWN_MEMBER_ID
        3009  A leave                -> A ok
        3010  admin describe         -> Empty consumer
        """
    )


def test_members_are_described_as_they_came() -> None:
    story = tell(STATIC, takeovers=False)
    ticket, _ = story.world.call(DescribeGroupsRequest(["g"]), 6, "admin")
    response = ticket.response
    assert isinstance(response, DescribeGroupsResponse)
    assert [
        (each.member_id, each.group_instance_id, each.client_id, each.client_host)
        for each in response.groups[0].members
    ] == [("a1-1", "a1", "A", "/10.0.0.1"), ("b1-2", "b1", "B", "/10.0.0.1")]


def test_a_group_that_is_not_there_is_named_in_the_error() -> None:
    story = tell("", takeovers=False)
    ticket, _ = story.world.call(DescribeGroupsRequest(["ghosts"]), 6, "admin")
    response = ticket.response
    assert isinstance(response, DescribeGroupsResponse)
    assert response.groups[0].error_message == "Group ghosts not found."


SEVERAL = (
    STABLE
    + """
    7000  C join group=sink type=connect protocols=default:w v3 -> parked
    7001  admin commit t-0=1 group=plain                        -> ok
"""
)


@pytest.mark.parametrize(
    ("filters", "listed"),
    [
        ("", "g:Stable:consumer:classic plain:Empty::classic sink:PreparingRebalance:connect:classic"),
        ("states=Stable", "g:Stable:consumer:classic"),
        ("states=sTABLE,empty", "g:Stable:consumer:classic plain:Empty::classic"),
        ("states=PreparingRebalance", "sink:PreparingRebalance:connect:classic"),
        ("states=Balancing", "none"),
        ("types=classic states=Empty", "plain:Empty::classic"),
        ("types=Classic,consumer states=Empty", "plain:Empty::classic"),
        ("types=consumer", "none"),
        ("types=unheard", "none"),
        ("v4 states=Empty", "plain:Empty::"),
        ("v3", "g::consumer: plain::: sink::connect:"),
    ],
)
def test_groups_are_listed_by_state_and_type(filters: str, listed: str) -> None:
    """Filters ignore case; a state or type that there is not matches nothing."""
    story = tell(SEVERAL, takeovers=False)
    story.tell(f"7002 admin list {filters} -> {listed}")


def test_an_empty_group_can_be_deleted_with_its_offsets() -> None:
    tell(
        STABLE
        + """
    7000  A commit t-0=1 t-1=2 u-0=3 -> ok
    7001  admin delete               -> NON_EMPTY_GROUP
    7002  admin leave A B            -> A ok, B ok
    7003  admin delete g ghosts g    -> g ok, ghosts GROUP_ID_NOT_FOUND
    7004  group                      -> gone
    7005  A fetch                    -> nothing
    7006  admin list                 -> none
    7007  crash                      -> nothing
    7008  admin list                 -> none
    """,
        takeovers=False,
    )


def test_a_group_that_was_deleted_begins_anew() -> None:
    tell(
        """
        0     A join v3              -> gen 1 range leads A
        1     A leave                -> A ok
        2     group                  -> Empty gen 2
        3     admin delete           -> ok
        4     A join v3              -> gen 1 range leads A
        """.replace("4     A join v3 ", "4     A join new v3 "),
        NO_DELAY,
    )


def test_a_group_between_join_and_sync_is_not_deleted() -> None:
    tell(JOINED + "6001 admin delete -> NON_EMPTY_GROUP", takeovers=False)
