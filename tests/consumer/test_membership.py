"""One consumer by hand: what it says when, and what an answer means. (KG-1 to KG-4, KG-8, KG-9, KG-11)"""

from __future__ import annotations

import attrs
import pytest

from kcoord.consumer.actions import Gone, Grant, Joined, Lose, Revoke, Seek, Send
from kcoord.consumer.state import Phase
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.messages import ConsumerGroupHeartbeatRequest
from tests.consumer.hand import INTERVAL, SETUP, STATIC, Hand, member, owned_in, partitions, says_everything

# What it says


def test_a_join_says_everything_and_owns_nothing() -> None:
    """KG-1"""
    setup = attrs.evolve(STATIC, rack_id="r1", server_assignor="range", pattern=None)
    _, request = Hand(setup).start().heartbeat()
    assert (request.group_id, request.member_id, request.member_epoch) == ("g", "c1", 0)
    assert (request.instance_id, request.rack_id, request.server_assignor) == ("i1", "r1", "range")
    assert (request.subscribed_topic_names, request.subscribed_topic_regex) == (["work"], None)
    assert (request.rebalance_timeout_ms, request.topic_partitions) == (300_000, [])


def test_a_pattern_is_said_beside_an_empty_list_of_names() -> None:
    _, request = Hand(attrs.evolve(SETUP, topics=(), pattern="w.*")).start().heartbeat()
    assert (request.subscribed_topic_names, request.subscribed_topic_regex) == ([], "w.*")


def test_a_heartbeat_says_nothing_that_is_known() -> None:
    hand = member("a0").later(INTERVAL)
    _, request = hand.heartbeat()
    assert (request.member_epoch, request.rebalance_timeout_ms, owned_in(request)) == (1, -1, None)
    assert (request.subscribed_topic_names, request.server_assignor, request.rack_id) == (None, None, None)


def test_heartbeats_keep_to_the_interval_of_the_last_answer() -> None:
    hand = member()
    hand.later(INTERVAL - 1).nothing()
    hand.later(1).answer(1, interval=1_000)
    hand.later(999).nothing()
    hand.later(1).take(Send)


def test_one_heartbeat_is_under_way_at_a_time() -> None:
    """However long the coordinator holds its answer, and whatever there is to say."""
    hand = member("a0 a1").later(INTERVAL)
    first, _ = hand.heartbeat()
    hand.put(hand.consumer.hurry(hand.now))
    hand.later(INTERVAL).nothing()
    hand.answer(1, number=first)
    hand.take(Send)


def test_an_answer_that_was_held_for_long_is_followed_by_the_next_heartbeat_at_once() -> None:
    hand = member().later(INTERVAL)
    number, _ = hand.heartbeat()
    hand.later(INTERVAL + 1_000).answer(1, number=number)
    hand.take(Send)


def test_what_was_granted_is_said_at_once_and_once() -> None:
    """KG-8, KG-11: a list without it could be taken for letting go of it."""
    hand = member().later(INTERVAL)
    hand.answer(2, "a0 b1")
    assert hand.take(Grant).partitions == partitions("a0 b1")
    number, request = hand.heartbeat()
    assert (request.member_epoch, owned_in(request), request.rebalance_timeout_ms) == (2, "a0 b1", -1)
    hand.answer(2, number=number)
    hand.nothing()
    assert owned_in(hand.later(INTERVAL).heartbeat()[1]) is None


def test_letting_go_is_said_when_on_revoked_has_returned() -> None:
    """KG-8"""
    hand = member("a0 a1").later(INTERVAL)
    hand.answer(1, "a0")
    revoke = hand.take(Revoke)
    assert (revoke.partitions, hand.consumer.assigned, hand.consumer.owned) == (
        partitions("a1"),
        partitions("a0"),
        partitions("a0 a1"),
    )
    hand.later(INTERVAL)
    number, request = hand.heartbeat()
    assert owned_in(request) is None, "it still has both, and says so"
    hand.answer(1, number=number)
    hand.released(revoke.number)
    number, request = hand.heartbeat()
    assert (request.member_epoch, owned_in(request)) == (1, "a0")
    hand.answer(2, number=number)
    hand.nothing()


def test_letting_go_waits_for_the_answer_to_the_heartbeat_under_way() -> None:
    hand = member("a0 a1").later(INTERVAL)
    hand.answer(1, "a0")
    revoke = hand.take(Revoke)
    number, _ = hand.later(INTERVAL).heartbeat()
    hand.released(revoke.number)
    hand.nothing()
    hand.answer(1, number=number)
    assert owned_in(hand.heartbeat()[1]) == "a0"


def test_what_is_revoked_comes_before_what_is_granted() -> None:
    hand = member("a0").later(INTERVAL)
    hand.answer(2, "b0")
    assert hand.take(Revoke).partitions == partitions("a0")
    assert hand.take(Grant).partitions == partitions("b0")
    assert owned_in(hand.heartbeat()[1]) == "a0 b0"


def test_a_partition_that_comes_back_while_it_is_revoked_is_granted_anew() -> None:
    hand = member("a0 a1").later(INTERVAL)
    hand.answer(1, "a0")
    revoke = hand.take(Revoke)
    hand.later(INTERVAL).answer(2, "a0 a1")
    assert hand.take(Grant).partitions == partitions("a1")
    hand.released(revoke.number)
    hand.nothing()
    assert hand.consumer.owned == partitions("a0 a1")


# After errors


@pytest.mark.parametrize("how", ["error", "connection", "silence"])
def test_after_a_lost_answer_everything_is_said_at_the_same_epoch(how: str) -> None:
    """KG-3"""
    hand = member("a0", epoch=3).later(INTERVAL)
    number, _ = hand.heartbeat()
    if how == "error":
        hand.answer(error=ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, number=number)
        hand.nothing()
        hand.later(200)
    elif how == "connection":
        hand.reconnect()
    else:
        hand.later(INTERVAL + SETUP.request_timeout_ms - 1).nothing()
        hand.later(1 + 200).connect()
    _, request = hand.heartbeat()
    assert (request.member_epoch, owned_in(request), says_everything(request)) == (3, "a0", True)


def test_while_it_revokes_a_full_heartbeat_has_what_it_revokes() -> None:
    """It has not let go of it: nobody else may be given it."""
    hand = member("a0 a1").later(INTERVAL)
    hand.answer(1, "a0")
    hand.take(Revoke)
    hand.reconnect()
    assert owned_in(hand.heartbeat()[1]) == "a0 a1"


def test_failures_in_a_row_wait_longer_and_longer() -> None:
    hand = Hand()
    hand.put(hand.consumer.start(0))
    waits = []
    for _ in range(6):
        hand.take(Seek)
        hand.put(hand.consumer.unreachable(hand.now))
        hand.nothing()
        waits.append((hand.consumer.wake_at() or 0) - hand.now)
        hand.later(waits[-1])
    assert waits == [100, 200, 400, 800, 1_000, 1_000]


def test_a_throttled_consumer_waits() -> None:
    hand = member().later(INTERVAL)
    hand.answer(1, "a0", throttle=700)
    hand.take(Grant)
    hand.later(699).nothing()
    assert owned_in(hand.later(1).heartbeat()[1]) == "a0"


@pytest.mark.parametrize(
    "error", [ErrorCode.FENCED_MEMBER_EPOCH, ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.GROUP_ID_NOT_FOUND]
)
def test_who_is_fenced_loses_everything_at_once_and_joins_again(error: ErrorCode) -> None:
    """KG-2, KG-3: under the same member id."""
    hand = member("a0 a1", epoch=4).later(INTERVAL)
    hand.answer(error=error)
    lose = hand.take(Lose)
    assert (lose.partitions, lose.why, hand.consumer.assigned) == (partitions("a0 a1"), error.name, frozenset())
    hand.later(10 * INTERVAL).nothing()
    hand.lost(lose.number)
    _, request = hand.heartbeat()
    assert (request.member_id, request.member_epoch, owned_in(request)) == ("c1", 0, "")
    assert says_everything(request)


def test_whose_commit_is_refused_loses_everything_at_once() -> None:
    """Also while a heartbeat is under way, whose answer does not count any more."""
    hand = member("a0", epoch=4).later(INTERVAL)
    number, _ = hand.heartbeat()
    hand.put(hand.consumer.disowned(hand.now, ErrorCode.UNKNOWN_MEMBER_ID))
    lose = hand.take(Lose)
    hand.answer(4, "a0", number=number)
    hand.nothing()
    hand.later(SETUP.backoff_ms).lost(lose.number)
    assert hand.heartbeat()[1].member_epoch == 0


def test_what_is_being_revoked_is_lost_as_well() -> None:
    hand = member("a0 a1").later(INTERVAL)
    hand.answer(1, "a0")
    revoke = hand.take(Revoke)
    hand.later(INTERVAL).answer(error=ErrorCode.UNKNOWN_MEMBER_ID)
    lose = hand.take(Lose)
    assert lose.partitions == partitions("a0 a1")
    hand.released(revoke.number)
    hand.nothing()
    hand.lost(lose.number)
    assert owned_in(hand.later(SETUP.backoff_ms).heartbeat()[1]) == ""


@pytest.mark.parametrize(
    "error",
    [
        ErrorCode.GROUP_AUTHORIZATION_FAILED,
        ErrorCode.UNSUPPORTED_ASSIGNOR,
        ErrorCode.INVALID_REGULAR_EXPRESSION,
        ErrorCode.GROUP_MAX_SIZE_REACHED,
        ErrorCode.UNRELEASED_INSTANCE_ID,
        ErrorCode.UNSUPPORTED_VERSION,
        ErrorCode.GROUP_ID_NOT_FOUND,
    ],
)
def test_who_may_not_join_is_gone_and_asks_no_more(error: ErrorCode) -> None:
    hand = Hand(STATIC).start()
    hand.answer(error=error)
    assert hand.take(Gone).error_code == error
    assert hand.consumer.wake_at() is None


def test_who_may_not_be_a_member_any_more_loses_everything_first() -> None:
    """KG-4: another one has its instance id."""
    hand = member("a0", STATIC).later(INTERVAL)
    hand.answer(error=ErrorCode.FENCED_INSTANCE_ID)
    lose = hand.take(Lose)
    hand.lost(lose.number)
    assert hand.take(Gone).error_code == ErrorCode.FENCED_INSTANCE_ID


# Static members


def test_a_static_join_whose_answer_was_lost_takes_its_own_place_again() -> None:
    """KG-4: the coordinator has that join's member; it goes away, and comes back."""
    hand = Hand(STATIC).start()
    hand.take(Send)
    hand.reconnect()
    hand.answer(error=ErrorCode.UNRELEASED_INSTANCE_ID)
    away, request = hand.heartbeat()
    assert (request.member_epoch, request.instance_id) == (-2, "i1")
    join, request = hand.heartbeat()
    assert (request.member_epoch, says_everything(request)) == (0, True)
    hand.answer(-2, number=away)
    hand.answer(3, "a0", number=join)
    hand.take(Joined)


def test_an_instance_id_of_somebody_else_is_tried_once_only() -> None:
    hand = Hand(STATIC).start()
    hand.take(Send)
    hand.reconnect()
    hand.answer(error=ErrorCode.UNRELEASED_INSTANCE_ID)
    away, _ = hand.heartbeat()
    join, _ = hand.heartbeat()
    hand.answer(error=ErrorCode.FENCED_INSTANCE_ID, number=away)
    hand.answer(error=ErrorCode.UNRELEASED_INSTANCE_ID, number=join)
    assert hand.take(Gone).error_code == ErrorCode.UNRELEASED_INSTANCE_ID


@pytest.mark.parametrize(("setup", "permanent", "epoch"), [(SETUP, False, -1), (STATIC, False, -2), (STATIC, True, -1)])
def test_who_leaves_lets_go_first(setup: object, permanent: bool, epoch: int) -> None:
    assert isinstance(setup, type(SETUP))
    hand = member("a0", setup)
    hand.leave(permanent=permanent)
    revoke = hand.take(Revoke)
    hand.later(INTERVAL).answer(1)
    hand.released(revoke.number)
    number, request = hand.heartbeat()
    assert (request.member_epoch, request.topic_partitions) == (epoch, None)
    hand.answer(epoch, number=number)
    assert hand.take(Gone) == Gone()


def test_a_farewell_does_not_wait_for_an_answer_that_is_held() -> None:
    hand = member().later(INTERVAL)
    hand.take(Send)
    hand.leave()
    assert hand.heartbeat()[1].member_epoch == -1


def test_a_farewell_that_is_not_answered_is_given_up() -> None:
    hand = member()
    hand.leave()
    hand.take(Send)
    hand.later(SETUP.leave_timeout_ms - 1).nothing()
    assert hand.later(1).take(Gone) == Gone()


def test_who_takes_too_long_to_leave_loses_everything() -> None:
    hand = member("a0")
    hand.leave()
    hand.take(Revoke)
    hand.put(hand.consumer.give_up(hand.now, "too long"))
    lose = hand.take(Lose)
    hand.lost(lose.number)
    assert hand.heartbeat()[1].member_epoch == -1


# The application


def test_who_does_not_poll_leaves_and_comes_back_when_it_polls() -> None:
    """As Java's consumer does after max.poll.interval.ms."""
    hand = member("a0")
    hand.polls(waits=False)
    while hand.now + INTERVAL < SETUP.max_poll_ms:
        hand.later(INTERVAL).answer(1)
        hand.nothing()
    hand.later(SETUP.max_poll_ms - hand.now)
    lose = hand.actions[-2]
    assert isinstance(lose, Lose)
    assert lose.partitions == partitions("a0")
    farewell = hand.actions[-1]
    assert isinstance(farewell, Send)
    assert isinstance(farewell.request, ConsumerGroupHeartbeatRequest)
    assert farewell.request.member_epoch == -1
    hand.actions.clear()
    hand.answer(-1, number=farewell.number)
    hand.lost(lose.number)
    assert hand.consumer.phase is Phase.AWAY
    hand.later(10 * INTERVAL).nothing()
    hand.polls(waits=True)
    assert hand.heartbeat()[1].member_epoch == 0


def test_who_polls_while_it_loses_everything_joins_when_that_is_done() -> None:
    hand = member("a0")
    hand.polls(waits=False)
    hand.now += SETUP.max_poll_ms  # the event loop was blocked: nothing was sent meanwhile
    hand.polls(waits=True)
    lose = hand.take(Lose)
    assert hand.heartbeat()[1].member_epoch == -1
    hand.nothing()
    hand.lost(lose.number)
    assert hand.heartbeat()[1].member_epoch == 0


def test_who_waits_in_a_poll_is_never_overdue() -> None:
    hand = member("a0")
    for _ in range(2 * SETUP.max_poll_ms // INTERVAL):
        hand.later(INTERVAL).answer(1)
        hand.nothing()


def test_each_poll_begins_a_new_time() -> None:
    hand = member("a0")
    for _ in range(3 * SETUP.max_poll_ms // INTERVAL):
        hand.polls(waits=False)
        hand.later(INTERVAL).answer(1)
        hand.nothing()


def test_a_static_member_that_does_not_poll_keeps_its_place() -> None:
    hand = member("a0", STATIC)
    hand.polls(waits=False)
    hand.now += SETUP.max_poll_ms
    hand.put(hand.consumer.poll(hand.now))
    hand.take(Lose)
    assert hand.heartbeat()[1].member_epoch == -2


def test_who_leaves_while_it_is_away_says_nothing_more() -> None:
    hand = member("a0")
    hand.polls(waits=False)
    hand.now += SETUP.max_poll_ms
    hand.put(hand.consumer.poll(hand.now))
    lose = hand.take(Lose)
    hand.take(Send)
    hand.leave()
    hand.lost(lose.number)
    assert hand.take(Gone) == Gone()
