"""The right error for each wrong call, as Apache Kafka gives it."""

from __future__ import annotations

from typing import Any

import pytest

from kcoord.group.state.settings import GroupSettings
from tests.group.situations import GATHERING, JOINED, STABLE, STATIC
from tests.group.story import tell

WRONG_CALLS = [
    # JoinGroup
    ("no group id", "", "A join group=", "INVALID_GROUP_ID"),
    ("a session too short", "", "A join session=5999", "INVALID_SESSION_TIMEOUT"),
    ("a session too long", "", "A join session=1800001", "INVALID_SESSION_TIMEOUT"),
    ("a member id, and no such group", "", "A join id=A-9", "UNKNOWN_MEMBER_ID"),
    ("a member id that nobody was given", STABLE, "X join id=X-9", "UNKNOWN_MEMBER_ID"),
    (
        "a member id that nobody was given, of an empty group",
        "0 A join -> MEMBER_ID_REQUIRED",
        "X join id=X-9",
        "UNKNOWN_MEMBER_ID",
    ),
    ("no protocol type", "", "A join type=", "INCONSISTENT_GROUP_PROTOCOL"),
    ("no protocols", "", "A join protocols=", "INCONSISTENT_GROUP_PROTOCOL"),
    ("another protocol type", STABLE, "X join type=connect", "INCONSISTENT_GROUP_PROTOCOL"),
    ("no protocol that all others speak", STABLE, "X join protocols=rr:m", "INCONSISTENT_GROUP_PROTOCOL"),
    ("another protocol type while members join", GATHERING, "X join type=connect", "INCONSISTENT_GROUP_PROTOCOL"),
    ("a member that comes back with another protocol", STABLE, "B join protocols=rr:m", "INCONSISTENT_GROUP_PROTOCOL"),
    ("another's group.instance.id", STATIC, "B join static=a1", "FENCED_INSTANCE_ID"),
    ("a group.instance.id that is not there", STATIC, "B join static=c1", "UNKNOWN_MEMBER_ID"),
    # SyncGroup
    ("no group id", "", "A sync group=", "INVALID_GROUP_ID"),
    ("no such group", "", "A sync", "UNKNOWN_MEMBER_ID"),
    ("nobody in the group", "0 A join -> MEMBER_ID_REQUIRED", "A sync", "UNKNOWN_MEMBER_ID"),
    ("no member", STABLE, "X sync id=X-9 gen=1", "UNKNOWN_MEMBER_ID"),
    ("a generation of the past", STABLE, "A sync gen=0", "ILLEGAL_GENERATION"),
    ("a generation to come", STABLE, "A sync gen=2", "ILLEGAL_GENERATION"),
    ("a generation of the past, between join and sync", JOINED, "A sync gen=0", "ILLEGAL_GENERATION"),
    ("another protocol type", STABLE, "A sync type=connect", "INCONSISTENT_GROUP_PROTOCOL"),
    ("another protocol", STABLE, "A sync name=rr", "INCONSISTENT_GROUP_PROTOCOL"),
    ("v5 without a protocol type", STABLE, "A sync type=", "INCONSISTENT_GROUP_PROTOCOL"),
    ("v5 without a protocol", STABLE, "A sync name=", "INCONSISTENT_GROUP_PROTOCOL"),
    ("another's group.instance.id", STATIC, "B sync static=a1", "FENCED_INSTANCE_ID"),
    ("a group.instance.id that is not there", STATIC, "B sync static=c1", "UNKNOWN_MEMBER_ID"),
    # Heartbeat
    ("no group id", "", "A beat group=", "INVALID_GROUP_ID"),
    ("no such group", "", "A beat", "UNKNOWN_MEMBER_ID"),
    ("nobody in the group", "0 A join -> MEMBER_ID_REQUIRED", "A beat", "UNKNOWN_MEMBER_ID"),
    ("no member", STABLE, "X beat id=X-9", "UNKNOWN_MEMBER_ID"),
    ("a generation of the past", STABLE, "A beat gen=0", "ILLEGAL_GENERATION"),
    ("a generation to come", STABLE, "A beat gen=2", "ILLEGAL_GENERATION"),
    ("another's group.instance.id", STATIC, "B beat static=a1", "FENCED_INSTANCE_ID"),
    ("a group.instance.id that is not there", STATIC, "B beat static=c1", "UNKNOWN_MEMBER_ID"),
    # LeaveGroup
    ("no group id", "", "A leave group=", "INVALID_GROUP_ID"),
    ("no member", STABLE, "X leave id=X-9", "X UNKNOWN_MEMBER_ID"),
    ("no member id", STABLE, "X leave", "nobody UNKNOWN_MEMBER_ID"),
    # commits, GW-22
    ("a generation, and no such group, v8", "", "A commit t-0=1 gen=1 v8", "ILLEGAL_GENERATION"),
    ("a generation, and no such group, v9", "", "A commit t-0=1 gen=1 v9", "GROUP_ID_NOT_FOUND"),
    ("no member while there are members", STABLE, "admin commit t-0=1", "UNKNOWN_MEMBER_ID"),
    ("no generation", STABLE, "A commit t-0=1 gen=-1", "ILLEGAL_GENERATION"),
    ("a generation of the past", STABLE, "A commit t-0=1 gen=0", "ILLEGAL_GENERATION"),
    ("no such member", STABLE, "X commit t-0=1 id=X-9 gen=1", "UNKNOWN_MEMBER_ID"),
    (
        "no such member of an empty group",
        "0 A join -> MEMBER_ID_REQUIRED",
        "X commit t-0=1 id=X-9 gen=0",
        "UNKNOWN_MEMBER_ID",
    ),
    ("another's group.instance.id", STATIC, "B commit t-0=1 static=a1", "FENCED_INSTANCE_ID"),
    ("between join and sync", JOINED, "A commit t-0=1", "REBALANCE_IN_PROGRESS"),
    ("a transaction, and no such group", "", "A may-commit transactionally gen=1 v9", "ILLEGAL_GENERATION"),
    ("a transaction of the past", STABLE, "A may-commit transactionally gen=0", "ILLEGAL_GENERATION"),
    ("a transaction of no member", STABLE, "X may-commit transactionally id=X-9 gen=1", "UNKNOWN_MEMBER_ID"),
    ("a transaction of a fenced member", STATIC, "B may-commit transactionally static=a1", "FENCED_INSTANCE_ID"),
]

RIGHT_CALLS = [
    # the neighbours of the above that must pass
    ("the shortest session", "", "A join session=6000", "MEMBER_ID_REQUIRED"),
    ("the longest session", "", "A join session=1800000", "MEMBER_ID_REQUIRED"),
    ("one protocol in common is enough", STABLE, "X join v3 protocols=rr:m,range:m", "parked"),
    ("an old SyncGroup names no protocol", STABLE, "A sync v4 type= name=", "got a"),
    ("a transaction between join and sync: the state does not count", JOINED, "A may-commit transactionally", "ok"),
    ("a transaction without KIP-447's fields", STABLE, "X may-commit transactionally", "ok"),
    ("a transaction of a group that is not there", "", "X may-commit transactionally", "ok"),
    ("an admin's commit to an empty group", "0 A join -> MEMBER_ID_REQUIRED", "admin commit t-0=1", "ok"),
    ("an admin's commit to a group that is not there", "", "admin may-commit", "ok"),
    ("a commit while others join", STABLE + "7000 A join -> parked", "B may-commit", "ok"),
]


def calls(table: list[tuple[str, str, str, str]]) -> list[Any]:
    """Cases named after the API and what is special."""
    return [pytest.param(*case[1:], id=f"{case[2].split()[1]}: {case[0]}") for case in table]


@pytest.mark.parametrize(("before", "call", "answer"), calls(WRONG_CALLS))
def test_a_wrong_call_gets_its_error_and_leaves_no_trace(before: str, call: str, answer: str) -> None:
    story = tell(before, takeovers=False)
    told = len(story.world.log)
    story.tell(f"{story.world.now_ms + 10} {call} -> {answer}")
    assert len(story.world.log) == told


@pytest.mark.parametrize(("before", "call", "answer"), calls(RIGHT_CALLS))
def test_its_neighbour_that_is_right_passes(before: str, call: str, answer: str) -> None:
    story = tell(before, takeovers=False)
    story.tell(f"{story.world.now_ms + 10} {call} -> {answer}")


def test_a_wrong_join_creates_no_group() -> None:
    """Kafka creates it, and forgets it later."""
    tell(
        """
        0     A join protocols=      -> INCONSISTENT_GROUP_PROTOCOL
        0     A join session=1       -> INVALID_SESSION_TIMEOUT
        0     admin list             -> none
    """,
        takeovers=False,
    )


def test_limits_of_sessions_can_be_set() -> None:
    tell(
        """
        0     A join session=100     -> MEMBER_ID_REQUIRED
        0     A join session=99      -> INVALID_SESSION_TIMEOUT
        0     A join session=201     -> INVALID_SESSION_TIMEOUT
        """,
        GroupSettings(min_session_timeout_ms=100, max_session_timeout_ms=200),
        takeovers=False,
    )
