"""The moves of a consumer: one small function for each cell of the table.

Each takes the state, the time, and what the row's event brings. What is to be done goes to `state.out`, in order.
Heartbeats are sent by `heartbeats.py`, which looks at the state after each move.
"""

from __future__ import annotations

from typing import Any, NoReturn

from kcoord.assign.consumer import ConsumerMemberAssignment
from kcoord.consumer import heartbeats
from kcoord.consumer.actions import Gone, Grant, Joined, Lose, Partition, Revoke, TellAssignor
from kcoord.consumer.computing import by_topic, install_request, prepare_request
from kcoord.consumer.state import NOTHING, Call, Link, MembershipState, Phase, Sent
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.consumer_group_heartbeat_response import Assignment
from kcoord.protocol.messages import ConsumerGroupHeartbeatResponse
from kcoord.worker.computing import Step

_SHORTEST_INTERVAL_MS = 10
"""The shortest interval, whatever the coordinator says: no consumer must be made to spin."""


def never(state: MembershipState, *_: Any) -> NoReturn:
    """A cell that cannot be reached."""
    raise AssertionError(f"that cannot happen to a consumer that is {state.phase.name}")


def ignore(state: MembershipState, *_: Any) -> None:
    """The event changes nothing."""


# Begin and end


def join(state: MembershipState, *_: Any) -> None:
    """Become a member: with epoch 0, saying everything, owning nothing."""
    state.phase = Phase.JOINING
    state.epoch = 0
    state.said = None
    state.hurried = False
    state.told_epoch, state.message = 0, (0, b"")
    state.computing.stop()


def withdraw(state: MembershipState, now_ms: int, *_: Any) -> None:
    """Leave before the consumer was a member, as far as it knows."""
    (part if state.numbers else go)(state, now_ms)


def let_go(state: MembershipState, now_ms: int) -> None:
    """Leave in order: first let go of everything, and stay a member until then."""
    state.phase = Phase.LEAVING
    state.computing.stop()
    _withdraw(state, state.assigned)
    _part_when_free(state, now_ms)


def part(state: MembershipState, now_ms: int) -> None:
    """Nothing is owned any more: tell the coordinator, within `leave_timeout_ms`."""
    state.phase = Phase.PARTING
    state.under_way.clear()
    state.leave_by_ms = now_ms + state.setup.leave_timeout_ms


def hasten(state: MembershipState, now_ms: int, why: str) -> None:
    """Leave without waiting for what is being revoked."""
    _lose(state, now_ms, why, Phase.PARTING)


def part_then(state: MembershipState, now_ms: int, *_: Any) -> None:
    """Leave once everything has stopped. A consumer that has stepped aside has said so already."""
    state.after = {Phase.JOINING: Phase.PARTING, Phase.AWAY: Phase.GONE}.get(state.after, state.after)


def go(state: MembershipState, *_: Any) -> None:
    """End the membership."""
    state.phase = Phase.GONE
    state.under_way.clear()
    state.link = Link.DOWN
    state.out.append(Gone(*state.error))


# What an answer says


def reconcile(state: MembershipState, now_ms: int, sent: Sent, response: ConsumerGroupHeartbeatResponse) -> None:
    """Move towards the assignment in the answer: first let go of what was withdrawn, then take what was granted."""
    if state.phase is Phase.JOINING:
        state.phase = Phase.MEMBER
        state.unanswered = False
        state.out.append(Joined(response.member_epoch))
    keep(state, now_ms, sent, response)
    if state.computing.step is Step.WAITING and not response.should_compute_assignment:
        state.computing.stop()  # not chosen any more: nobody waits for what it computed
    granted = NOTHING if response.assignment is None else _take(state, response.assignment)
    _tell_assignor(state)
    if granted:
        state.out.append(Grant(granted))


def compute(state: MembershipState, now_ms: int, sent: Sent, response: ConsumerGroupHeartbeatResponse) -> None:
    """As any answer without error; also, this consumer is to compute the group's assignment."""
    reconcile(state, now_ms, sent, response)
    computing = state.computing
    if computing.step is Step.IDLE:
        computing.step = Step.PREPARING
        computing.number = state.send(Call.PREPARE, now_ms, prepare_request(state.setup, state.epoch))
    elif computing.step is Step.WAITING:
        install(state, now_ms)


def install(state: MembershipState, now_ms: int) -> None:
    """Send the computed assignment, with the consumer's present epoch."""
    computing = state.computing
    request = install_request(state.setup, state.epoch, computing.group_epoch, computing.assignment)
    computing.step = Step.INSTALLING
    computing.number = state.send(Call.INSTALL, now_ms, request)


def keep(state: MembershipState, now_ms: int, sent: Sent, response: ConsumerGroupHeartbeatResponse) -> None:
    """An answer without error: take the epoch and the interval. While leaving that is all."""
    state.attempts = 0
    state.epoch = response.member_epoch
    state.interval_ms = max(response.heartbeat_interval_ms, _SHORTEST_INTERVAL_MS)
    state.next_ms = max(sent.at_ms + state.interval_ms, now_ms)
    if response.throttle_time_ms > 0:
        state.not_before_ms = max(state.not_before_ms, now_ms + response.throttle_time_ms)
    if sent.owned is not None:
        state.said = sent.owned
    if sent.offers is not None:
        state.said_offers = sent.offers


def try_later(state: MembershipState, now_ms: int, *_: Any) -> None:
    """The coordinator cannot answer yet: send again after a back-off, and say everything."""
    state.said = None
    state.computing.stop()
    state.not_before_ms = now_ms + state.back_off_ms()


def seek_anew(state: MembershipState, now_ms: int, *_: Any) -> None:
    """The broker is not the coordinator, or is not there any more: seek it again."""
    state.hang_up()
    state.seek_at_ms = now_ms + state.back_off_ms()


def join_anew(state: MembershipState, now_ms: int, *_: Any) -> None:
    """A join was fenced: join again, after a back-off."""
    state.not_before_ms = now_ms + state.back_off_ms()
    join(state)


def lose(state: MembershipState, now_ms: int, sent: Sent, response: ConsumerGroupHeartbeatResponse) -> None:
    """The consumer is no member any more: stop everything, then join with epoch 0 and the same member id."""
    disown(state, now_ms, response.error_code)


def disown(state: MembershipState, now_ms: int, error_code: int) -> None:
    """The same, whether the answer to a heartbeat or to a commit said so."""
    state.not_before_ms = max(state.not_before_ms, now_ms + state.back_off_ms())
    _lose(state, now_ms, error_name(error_code), Phase.JOINING)


def lose_and_go(state: MembershipState, now_ms: int, sent: Sent, response: ConsumerGroupHeartbeatResponse) -> None:
    """The same, of a consumer that was leaving anyway."""
    disown_and_go(state, now_ms, response.error_code)


def disown_and_go(state: MembershipState, now_ms: int, error_code: int) -> None:
    """The same, whether the answer to a heartbeat or to a commit said so."""
    _lose(state, now_ms, error_name(error_code), Phase.GONE)


def reclaim(state: MembershipState, now_ms: int, sent: Sent, response: ConsumerGroupHeartbeatResponse) -> None:
    """The coordinator says that this instance is there. If the answer to a join or farewell was lost, that is this
    consumer itself: it says that it is away, and joins again. Otherwise another process has its instance id.
    """
    if not state.unanswered:
        fail(state, now_ms, sent, response)
        return
    state.unanswered = False
    heartbeats.say_farewell(state, now_ms)
    join(state)


def fail(state: MembershipState, now_ms: int, sent: Sent, response: ConsumerGroupHeartbeatResponse) -> None:
    """The consumer may not be a member: stop everything for good."""
    refuse(state, now_ms, response.error_code, response.error_message)


def refuse(state: MembershipState, now_ms: int, error_code: int, message: str | None) -> None:
    """The same, whether an answer or the connection said so."""
    state.error = (error_code, message)
    _lose(state, now_ms, error_name(error_code), Phase.GONE)


def go_then(state: MembershipState, now_ms: int, error_code: int, message: str | None) -> None:
    """The same, while everything is stopping already."""
    state.error, state.after = (error_code, message), Phase.GONE


# The application


def step_aside(state: MembershipState, now_ms: int) -> None:
    """The application has not polled for too long: leave, so that others get the partitions, until it polls again."""
    state.overdue = True
    _lose(state, now_ms, "the application has not polled within max_poll_interval", Phase.AWAY)
    if state.link is Link.UP:
        heartbeats.say_farewell(state, now_ms)
    else:
        state.unanswered = True


def come_back(state: MembershipState, now_ms: int) -> None:
    """The application polls again: join."""
    join(state)


# What the consumer's own side reports


def note(state: MembershipState, now_ms: int, number: int) -> None:
    """`on_revoked` has returned. If that changes what is owned, the next heartbeat says so at once."""
    if state.revoking.pop(number, None) is not None:
        state.count_owned()


def note_and_part(state: MembershipState, now_ms: int, number: int) -> None:
    """The same for a consumer that leaves."""
    note(state, now_ms, number)
    _part_when_free(state, now_ms)


def go_on(state: MembershipState, now_ms: int, number: int) -> None:
    """Everything has stopped: do what follows."""
    if number == state.loss:
        state.own_nothing()
        _enter(state, now_ms, state.after)


# Parts


def error_name(error_code: int) -> str:
    """The name of an error code, by which people can look it up."""
    try:
        return ErrorCode(error_code).name
    except ValueError:
        return f"error {error_code}"


def _part_when_free(state: MembershipState, now_ms: int) -> None:
    if not state.owned:
        part(state, now_ms)


def _take(state: MembershipState, assignment: Assignment) -> frozenset[Partition]:
    """Withdraw what is not in the assignment. Returns what is new in it."""
    told = frozenset((topic.topic_id, each) for topic in assignment.topic_partitions for each in topic.partitions)
    granted = told - state.assigned
    _withdraw(state, state.assigned - told)
    state.assigned = told
    state.count_owned()
    state.message = assignment.version, assignment.metadata
    return granted


def _tell_assignor(state: MembershipState) -> None:
    """Tell the group's assignor what this member has come to, once for each epoch. The answer that brings the epoch may
    have no assignment: who had to let go of something was told it before, at the old epoch.
    """
    if not state.offers or state.epoch == state.told_epoch:
        return
    state.told_epoch = state.epoch
    assignment = ConsumerMemberAssignment(state.setup.member_id, by_topic(state.assigned), *state.message)
    state.out.append(TellAssignor(state.computing.assignor, assignment))


def _withdraw(state: MembershipState, partitions: frozenset[Partition]) -> None:
    """Revoke these. The consumer owns them until `on_revoked` has returned."""
    if partitions:
        number = state.next_number()
        state.revoking[number] = partitions
        state.assigned -= partitions
        state.out.append(Revoke(number, partitions))


def _lose(state: MembershipState, now_ms: int, why: str, after: Phase) -> None:
    """Stop everything at once, then enter another phase."""
    state.under_way = {number: each for number, each in state.under_way.items() if each.call is Call.FAREWELL}
    state.said = None
    state.computing.stop()
    if not state.owned:
        _enter(state, now_ms, after)
        return
    state.phase, state.after = Phase.LOSING, after
    state.loss = state.next_number()
    state.assigned = NOTHING
    state.revoking = {state.loss: state.owned}
    state.out.append(Lose(state.loss, state.owned, why))


def _enter(state: MembershipState, now_ms: int, phase: Phase) -> None:
    if phase is Phase.AWAY and state.overdue:
        state.phase = Phase.AWAY
    else:
        {Phase.JOINING: join, Phase.AWAY: join, Phase.PARTING: part, Phase.GONE: go}[phase](state, now_ms)
