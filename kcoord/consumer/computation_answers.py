"""The answers to the two requests of a computation, by their error. None of them ends the membership.

Only a member computes, and every answer to its heartbeats repeats that it is to compute, as long as it is. So whoever
gives a computation up does nothing more: if it is still chosen, it begins again with the next such answer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from kcoord.consumer.actions import Assign, ComputationRefused
from kcoord.consumer.computing import group_of
from kcoord.consumer.state import MembershipState, Sent
from kcoord.consumer.transitions import seek_anew, try_later
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.messages import ConsumerGroupInstallAssignmentResponse, ConsumerGroupPrepareAssignmentResponse
from kcoord.worker.computing import Step

Answer: TypeAlias = ConsumerGroupPrepareAssignmentResponse | ConsumerGroupInstallAssignmentResponse
OnAnswer: TypeAlias = Callable[[MembershipState, int, Sent, Answer], None]


def computation_answered(state: MembershipState, now_ms: int, sent: Sent, response: Answer) -> None:
    """Do what the answer to a preparation or to an install asks for, unless the computation was given up before."""
    if state.computing.number == sent.number:
        _move(response.error_code)(state, now_ms, sent, response)


def go_on(state: MembershipState, now_ms: int, sent: Sent, response: Answer) -> None:
    """No error: run the assignor on what was prepared. What was installed comes with the next heartbeat, at once."""
    computing = state.computing
    if not isinstance(response, ConsumerGroupPrepareAssignmentResponse):
        computing.stop()
        state.hurried = True
        return
    computing.step, computing.number = Step.ASSIGNING, state.next_number()
    computing.group_epoch, computing.assignor = response.group_epoch, response.assignor_name
    state.out.append(Assign(computing.number, response.assignor_name, group_of(response)))


def wait_for_epoch(state: MembershipState, now_ms: int, sent: Sent, response: Answer) -> None:
    """The epoch has moved: ask again with that of the next answer. It is fetched at once if an answer has brought
    another epoch since the request was sent. Else it is on its way.
    """
    state.hurried |= sent.epoch != state.epoch
    if state.computing.step is Step.INSTALLING:
        state.computing.step = Step.WAITING
    else:
        state.computing.stop()


def give_up(state: MembershipState, now_ms: int, sent: Sent, response: Answer) -> None:
    """This consumer is not chosen any more. Whether it is still a member, its heartbeats tell."""
    state.computing.stop()


def give_up_later(state: MembershipState, now_ms: int, sent: Sent, response: Answer) -> None:
    """The coordinator cannot answer yet: as after such an answer to a heartbeat."""
    try_later(state, now_ms)


def give_up_here(state: MembershipState, now_ms: int, sent: Sent, response: Answer) -> None:
    """The broker is not the coordinator: as after such an answer to a heartbeat."""
    seek_anew(state, now_ms)


def give_up_aloud(state: MembershipState, now_ms: int, sent: Sent, response: Answer) -> None:
    """The coordinator does not take the assignment, or refuses the request: that is for the log."""
    state.computing.stop()
    state.out.append(ComputationRefused(response.error_code, response.error_message))


_MOVES: Mapping[int, OnAnswer] = {
    ErrorCode.NONE: go_on,
    ErrorCode.STALE_MEMBER_EPOCH: wait_for_epoch,
    ErrorCode.UNKNOWN_MEMBER_ID: give_up,
    ErrorCode.GROUP_ID_NOT_FOUND: give_up,
    ErrorCode.NOT_COORDINATOR: give_up_here,
    ErrorCode.COORDINATOR_NOT_AVAILABLE: give_up_here,
}


def _move(error_code: int) -> OnAnswer:
    move = _MOVES.get(error_code)
    if move is not None:
        return move
    try:
        return give_up_later if ErrorCode(error_code).retriable else give_up_aloud
    except ValueError:
        return give_up_aloud
