"""A consumer that has client-side assignors: what it lists, and what it does when it is chosen to compute. (KG-27)"""

from __future__ import annotations

from collections.abc import Callable

import attrs
import pytest

from kcoord.assign.consumer import (
    ConsumerAssignment,
    ConsumerMemberAssignment,
    PreparedGroup,
    PreparedMember,
)
from kcoord.consumer.actions import (
    Assign,
    ComputationRefused,
    Gone,
    Grant,
    Joined,
    Lose,
    Revoke,
    Send,
    TellAssignor,
)
from kcoord.consumer.state import Phase
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated import consumer_group_install_assignment_request as install
from kcoord.protocol.generated import consumer_group_prepare_assignment_response as prepare
from kcoord.protocol.generated.consumer_group_heartbeat_request import Assignor
from kcoord.protocol.messages import ConsumerGroupPrepareAssignmentResponse
from kcoord.worker.computing import Step
from tests.consumer import hand as by_hand
from tests.consumer.hand import INTERVAL, OFFERS, SETUP, Hand, says_everything

LISTED = [Assignor("own", 0, 2, 0, 1, b"m")]
A, B = b"a" * 16, b"b" * 16
ASSIGNMENT = ConsumerAssignment((ConsumerMemberAssignment("c1", {A: {1, 0}, B: set()}, 1, b"yours"),))


def prepared(epoch: int = 4, error: ErrorCode = ErrorCode.NONE) -> ConsumerGroupPrepareAssignmentResponse:
    return ConsumerGroupPrepareAssignmentResponse(error_code=error, group_epoch=epoch, assignor_name="own")


def member(owned: str = "", epoch: int = 1) -> Hand:
    return by_hand.member(owned, epoch=epoch, offers=OFFERS)


def chosen(hand: Hand, epoch: int = 1) -> int:
    """The coordinator asks it to compute; the number of its request for the group."""
    is_new = epoch != hand.consumer.epoch
    hand.later(INTERVAL).answer(epoch, computes=True)
    if is_new:
        hand.take(TellAssignor)
    number, request = hand.prepare()
    assert (request.group_id, request.member_id, request.member_epoch) == ("g", "c1", epoch)
    return number


def preparing(hand: Hand) -> int:
    return chosen(hand)


def installing(hand: Hand) -> int:
    """The assignor has returned its assignment; the number of the install."""
    hand.prepared(chosen(hand), prepared())
    hand.computed(hand.take(Assign).number, ASSIGNMENT)
    return hand.install()[0]


def repeat(hand: Hand) -> None:
    """The choice is repeated in the next answer, and nothing happens."""
    hand.later(INTERVAL).answer(1, computes=True)
    hand.nothing()


# What it lists


def test_a_join_lists_the_assignors_and_a_heartbeat_does_not() -> None:
    hand = Hand().offer(OFFERS).start()
    number, request = hand.heartbeat()
    assert (request.client_assignors, request.server_assignor) == (LISTED, None)
    hand.answer(1, "", number=number)
    hand.take(Joined)
    hand.take(TellAssignor)
    assert hand.later(INTERVAL).heartbeat()[1].client_assignors is None


def test_without_assignors_there_is_no_list() -> None:
    assert Hand().start().heartbeat()[1].client_assignors is None


def test_what_was_lost_with_a_connection_is_listed_again() -> None:
    hand = member()
    hand.reconnect()
    _, request = hand.heartbeat()
    assert (request.client_assignors, says_everything(request)) == (LISTED, True)


def test_other_metadata_are_said_at_once_and_once() -> None:
    hand = member()
    hand.offer(OFFERS).nothing()
    hand.offer((attrs.evolve(OFFERS[0], reason=3, metadata=b"n"),))
    number, request = hand.heartbeat()
    assert request.client_assignors == [Assignor("own", 0, 2, 3, 1, b"n")]
    assert not says_everything(request)
    hand.answer(1, number=number)
    hand.nothing()
    assert hand.later(INTERVAL).heartbeat()[1].client_assignors is None


def test_other_metadata_wait_for_the_answer_to_the_heartbeat_under_way() -> None:
    hand = member().later(INTERVAL)
    number, _ = hand.heartbeat()
    hand.offer(()).offer((attrs.evolve(OFFERS[0], metadata=b"n"),)).nothing()
    hand.answer(1, number=number)
    assert hand.heartbeat()[1].client_assignors == [Assignor("own", 0, 2, 0, 1, b"n")]


# A computation


def test_who_is_chosen_prepares_assigns_and_installs_and_ignores_repeats() -> None:
    hand = member()
    number = chosen(hand)
    repeat(hand)
    hand.prepared(number, prepared())
    assign = hand.take(Assign)
    assert assign.assignor == "own"
    repeat(hand)
    hand.computed(assign.number, ASSIGNMENT)
    number, request = hand.install()
    assert (request.group_id, request.member_id, request.member_epoch) == ("g", "c1", 1)
    assert (request.group_epoch, request.error) == (4, 0)
    assert request.members == [install.Member("c1", [install.TopicPartitions(A, [0, 1])], 1, b"yours")]
    repeat(hand)
    hand.installed(number)
    hand.heartbeat()
    assert hand.consumer.computing is Step.IDLE


def test_the_assignor_gets_all_that_was_prepared() -> None:
    hand = member()
    response = prepared()
    response.members = [
        prepare.Member("c1", 3, "i1", "r1", [A, B], prepare.Assignor(1, 2, b"m"), [prepare.TopicPartitions(A, [0, 1])]),
        prepare.Member("c2", subscribed_topic_ids=[B, A]),
    ]
    response.topics = [prepare.Topic(A, "orders", 4), prepare.Topic(B, "payments", 2)]
    hand.prepared(chosen(hand), response)
    group = hand.take(Assign).group
    both = frozenset({A, B})
    assert group == PreparedGroup(
        (
            PreparedMember("c1", "i1", "r1", both, {A: {0, 1}}, epoch=3, version=1, reason=2, metadata=b"m"),
            PreparedMember("c2", subscribed_topics=both),
        ),
        {A: 4, B: 2},
        {A: "orders", B: "payments"},
    )
    assert group.members[0].subscribed_topics is group.members[1].subscribed_topics


def test_beside_the_choice_an_answer_is_an_answer() -> None:
    hand = member().later(INTERVAL)
    hand.answer(2, "a0", computes=True)
    hand.take(TellAssignor)
    hand.take(Grant)
    assert hand.prepare()[1].member_epoch == 2


def test_what_was_installed_is_fetched_at_once() -> None:
    hand = member()
    hand.installed(installing(hand))
    number, request = hand.heartbeat()
    assert request.member_epoch == 1
    hand.answer(5, "a0", number=number)
    assert hand.take(TellAssignor).assignor == "own"
    assert hand.take(Grant).partitions == by_hand.partitions("a0")


def test_an_assignor_that_fails_is_told_so_that_another_member_computes() -> None:
    hand = member()
    hand.prepared(chosen(hand), prepared())
    hand.computed(hand.take(Assign).number, None)
    _, request = hand.install()
    assert (request.error, request.members) == (1, [])


def test_an_error_of_the_assignor_is_handed_on() -> None:
    hand = member()
    hand.prepared(chosen(hand), prepared())
    hand.computed(hand.take(Assign).number, ConsumerAssignment((), error=7))
    _, request = hand.install()
    assert (request.error, request.members) == (7, [])


# When the epoch has moved


def test_a_preparation_with_an_old_epoch_is_asked_for_again_after_the_next_answer() -> None:
    hand = member()
    hand.prepared(chosen(hand), prepared(error=ErrorCode.STALE_MEMBER_EPOCH))
    hand.nothing()
    chosen(hand, epoch=2)


def test_an_install_with_an_old_epoch_is_sent_again_after_the_next_answer() -> None:
    hand = member()
    hand.installed(installing(hand), ErrorCode.STALE_MEMBER_EPOCH)
    hand.nothing()
    hand.later(INTERVAL).answer(2, computes=True)
    hand.take(TellAssignor)
    _, request = hand.install()
    assert (request.member_epoch, request.group_epoch, len(request.members)) == (2, 4, 1)


@pytest.mark.parametrize("reach", [preparing, installing])
def test_an_epoch_that_came_meanwhile_is_asked_about_at_once(reach: Callable[[Hand], int]) -> None:
    """The answer to the heartbeat, which had been held, and the request met on their way."""
    hand = member()
    number = reach(hand)
    hand.later(INTERVAL).answer(2, computes=True)
    hand.take(TellAssignor)
    hand.nothing()
    if reach is preparing:
        hand.prepared(number, prepared(error=ErrorCode.STALE_MEMBER_EPOCH))
    else:
        hand.installed(number, ErrorCode.STALE_MEMBER_EPOCH)
    hand.answer(2, computes=True)
    assert (hand.prepare if reach is preparing else hand.install)()[1].member_epoch == 2


def test_an_install_that_waits_for_its_epoch_is_forgotten_when_others_compute() -> None:
    hand = member()
    hand.installed(installing(hand), ErrorCode.STALE_MEMBER_EPOCH)
    hand.later(INTERVAL).answer(2)
    hand.take(TellAssignor)
    hand.nothing()
    chosen(hand, epoch=2)


# Errors

GIVEN_UP: dict[ErrorCode, list[type]] = {
    ErrorCode.UNKNOWN_MEMBER_ID: [],
    ErrorCode.GROUP_ID_NOT_FOUND: [],
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS: [],
    ErrorCode.NOT_COORDINATOR: [],
    ErrorCode.COORDINATOR_NOT_AVAILABLE: [],
    ErrorCode.INVALID_ASSIGNMENT: [ComputationRefused],
    ErrorCode.FENCED_MEMBER_EPOCH: [ComputationRefused],
    ErrorCode.INVALID_REQUEST: [ComputationRefused],
    ErrorCode.GROUP_AUTHORIZATION_FAILED: [ComputationRefused],
    ErrorCode.UNKNOWN_SERVER_ERROR: [ComputationRefused],
}
"""By error: what is to be done besides giving the computation up."""


@pytest.mark.parametrize("error", GIVEN_UP, ids=[each.name for each in GIVEN_UP])
@pytest.mark.parametrize("reach", [preparing, installing])
def test_no_error_ends_the_membership(error: ErrorCode, reach: Callable[[Hand], int]) -> None:
    hand = member("a0")
    number = reach(hand)
    if reach is preparing:
        hand.prepared(number, prepared(error=error))
    else:
        hand.installed(number, error)
    assert [type(each) for each in hand.actions] == GIVEN_UP[error]
    assert (hand.consumer.phase, hand.consumer.computing) == (Phase.MEMBER, Step.IDLE)
    assert hand.consumer.owned == by_hand.partitions("a0")


@pytest.mark.parametrize("error", [ErrorCode.NOT_COORDINATOR, ErrorCode.COORDINATOR_NOT_AVAILABLE])
def test_a_broker_that_is_not_the_coordinator_is_left(error: ErrorCode) -> None:
    """As after such an answer to a heartbeat: the new coordinator is told everything at the same epoch."""
    hand = member("a0")
    hand.installed(installing(hand), error)
    hand.later(SETUP.backoff_ms + 20).connect()
    number, request = hand.heartbeat()
    assert (request.member_epoch, says_everything(request), request.client_assignors) == (1, True, LISTED)
    hand.answer(1, "a0", number=number, computes=True)
    hand.prepare()


def test_a_coordinator_that_is_loading_is_told_everything_after_a_back_off() -> None:
    hand = member("a0")
    hand.prepared(chosen(hand), prepared(error=ErrorCode.COORDINATOR_LOAD_IN_PROGRESS))
    hand.nothing()
    assert says_everything(hand.later(SETUP.backoff_ms + 20).heartbeat()[1])


def test_what_the_coordinator_says_to_a_refused_assignment_is_for_the_log() -> None:
    hand = member()
    hand.installed(installing(hand), ErrorCode.INVALID_ASSIGNMENT, "orders-1 is assigned to nobody")
    assert hand.take(ComputationRefused) == ComputationRefused(
        ErrorCode.INVALID_ASSIGNMENT, "orders-1 is assigned to nobody"
    )
    hand.nothing()
    chosen(hand)


def test_a_request_that_nobody_answers_ends_the_connection() -> None:
    hand = member()
    preparing(hand)
    for _ in range(SETUP.request_timeout_ms // INTERVAL - 1):
        repeat(hand)
    hand.later(INTERVAL)
    assert hand.consumer.computing is Step.IDLE


# What ends a computation


def test_a_lost_connection_ends_it() -> None:
    hand = member()
    hand.prepared(chosen(hand), prepared())
    assign = hand.take(Assign)
    hand.reconnect()
    number, _ = hand.heartbeat()
    hand.computed(assign.number, ASSIGNMENT)
    hand.nothing()
    hand.answer(1, number=number, computes=True)
    hand.prepare()


def test_who_leaves_computes_no_more() -> None:
    hand = member("a0")
    number = chosen(hand)
    hand.leave()
    revoke = hand.take(Revoke)
    hand.prepared(number, prepared())
    hand.nothing()
    hand.later(INTERVAL).answer(1, computes=True)
    hand.nothing()
    hand.released(revoke.number)
    number, request = hand.heartbeat()
    assert request.member_epoch == -1
    hand.answer(-1, number=number)
    assert hand.take(Gone) == Gone()


def test_who_loses_its_membership_computes_no_more() -> None:
    hand = member("a0")
    hand.prepared(chosen(hand), prepared())
    assign = hand.take(Assign)
    hand.later(INTERVAL).answer(error=ErrorCode.UNKNOWN_MEMBER_ID)
    lose = hand.take(Lose)
    hand.computed(assign.number, ASSIGNMENT)
    hand.nothing()
    hand.later(SETUP.backoff_ms).lost(lose.number)
    assert hand.heartbeat()[1].client_assignors == LISTED


# What the assignor is told


def test_the_assignor_is_told_once_for_each_epoch_between_revocation_and_grant() -> None:
    hand = member("a0").later(INTERVAL)
    hand.answer(2, "b0", told=(2, b"yours"))
    hand.take(Revoke)
    assert hand.take(TellAssignor) == TellAssignor(None, ConsumerMemberAssignment("c1", {B: {0}}, 2, b"yours"))
    hand.take(Grant)
    hand.answer(2, "b0 b1", told=(2, b"yours"))
    hand.take(Grant)
    hand.take(Send)
    hand.nothing()


def test_who_had_to_let_go_is_told_with_the_epoch() -> None:
    """What the assignor says comes with the assignment, at the old epoch, and the new epoch comes without."""
    hand = member("a0 a1").later(INTERVAL)
    hand.answer(1, "a0", told=(2, b"yours"))
    revoke = hand.take(Revoke)
    hand.released(revoke.number)
    hand.answer(2)
    assert hand.take(TellAssignor).assignment == ConsumerMemberAssignment("c1", {A: {0}}, 2, b"yours")
    hand.nothing()


def test_a_new_epoch_alone_is_told() -> None:
    hand = member("a0").later(INTERVAL)
    hand.answer(2)
    assert hand.take(TellAssignor).assignment == ConsumerMemberAssignment("c1", {A: {0}})


def test_who_joins_again_is_told_again() -> None:
    hand = member().later(INTERVAL)
    hand.answer(error=ErrorCode.FENCED_MEMBER_EPOCH)
    hand.later(SETUP.backoff_ms + 20).answer(1, "")
    hand.take(Joined)
    hand.take(TellAssignor)


def test_without_assignors_nobody_is_told() -> None:
    hand = by_hand.member().later(INTERVAL)
    hand.answer(2, "", told=(1, b"yours"))
    hand.nothing()
