"""The moves of a worker: one small function for each cell of the table.

Each takes the state, the time, and what the row's event brings. What is to be done goes to `state.out`, in order.
Heartbeats themselves are sent by `heartbeat_schedule.py`, which looks at the state after each move.
"""

from __future__ import annotations

from typing import Any, NoReturn

from kcoord.assign import MemberAssignment, Resource
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.connect_group_heartbeat_response import ConnectGroupHeartbeatResponse
from kcoord.protocol.resources import unpack
from kcoord.worker import heartbeat_schedule
from kcoord.worker.actions import Abandon, Gone, Grant, Joined, Overrun, Revoke, Told
from kcoord.worker.computing import Step, install_request, prepare_request
from kcoord.worker.setup import FALLBACK_SESSION_MS
from kcoord.worker.state import JOINING, MEMBER, NOTHING, Call, Link, MembershipState, Phase, Sent, Session

_SHORTEST_INTERVAL_MS = 10
"""The shortest interval, whatever the coordinator says: no worker must be made to spin."""


def unreachable(state: MembershipState, *_: Any) -> NoReturn:
    """A cell that cannot be reached."""
    raise AssertionError(f"that cannot happen to a worker that is {state.phase.name}")


def ignore(state: MembershipState, *_: Any) -> None:
    """The event changes nothing any more."""


# Begin and end


def join(state: MembershipState, now_ms: int) -> None:
    """Become a member: with epoch 0, all fields, owning nothing (CG-6)."""
    state.phase = Phase.JOINING
    state.epoch = 0
    state.session = None
    state.told_epoch = -1
    state.saying.forget()
    state.computing.stop()
    state.urgent = state.unheld = state.has_let_go = False


def withdraw(state: MembershipState, now_ms: int, *_: Any) -> None:
    """Leave before the worker was a member, as far as it knows."""
    (part if state.numbers else go)(state, now_ms)


def let_go(state: MembershipState, now_ms: int) -> None:
    """Leave in order: first stop everything (CG-9), and stay a member until then."""
    state.phase = Phase.LEAVING
    state.computing.stop()
    _withdraw(state, state.assigned)
    depart_when_free(state, now_ms)


def depart_when_free(state: MembershipState, now_ms: int) -> None:
    """Report that the worker leaves, once everything has stopped."""
    if not state.owned:
        part(state, now_ms)


def part(state: MembershipState, now_ms: int) -> None:
    """Nothing runs any more: tell the coordinator, within `leave_timeout_ms`."""
    state.phase = Phase.PARTING
    state.under_way = {number: sent for number, sent in state.under_way.items() if sent.call is Call.LEAVE}
    state.leave_by_ms = now_ms + state.setup.leave_timeout_ms


def hasten(state: MembershipState, now_ms: int, why: str) -> None:
    """Leave without waiting for what is being revoked."""
    _abandon(state, now_ms, why, Phase.PARTING)


def part_then(state: MembershipState, now_ms: int, *_: Any) -> None:
    """Leave once everything has stopped."""
    if state.after is Phase.JOINING:
        state.after = Phase.PARTING


def go(state: MembershipState, now_ms: int, *_: Any) -> None:
    """End the membership."""
    state.phase = Phase.GONE
    state.under_way.clear()
    state.link = Link.DOWN
    state.out.append(Gone(*state.error))


# What an answer says


def reconcile(state: MembershipState, now_ms: int, sent: Sent, response: ConnectGroupHeartbeatResponse) -> None:
    """Move towards the assignment in the answer: withdraw or grant resources, and take the new epoch.

    If a later request has reported a release since, an answer to an earlier request could grant again what the later
    one gives back. Then only what the answer withdraws is taken, and the next answer is asked for at once.
    """
    news = _keep_session(state, now_ms, sent, response)
    if state.computing.step is Step.WAITING and response.error_code == ErrorCode.NONE:
        state.computing.stop()  # no longer chosen: nobody waits for what it computed
    outdated = bool(state.under_way) and any(
        each.number > sent.number and not sent.owned <= each.owned for each in state.heartbeats()
    )
    told = state.assigned if response.assignment is None else unpack(response.assignment.connectors_and_tasks)
    if outdated:
        state.urgent = state.unheld = not told <= state.assigned or response.member_epoch != state.epoch
        _withdraw(state, state.assigned - told)
    else:
        news |= told != state.assigned or response.member_epoch != state.epoch or bool(sent.said)
        _confirm(state, sent, response)
        if told is not state.assigned:
            _withdraw(state, state.assigned - told)
        _take(state, response, told)
    heartbeat_schedule.after_answer(state, now_ms, sent, news=news)


def compute(state: MembershipState, now_ms: int, sent: Sent, response: ConnectGroupHeartbeatResponse) -> None:
    """As an answer without error (CG-17); also, this worker is to compute the assignment."""
    computing = state.computing
    idle, waiting = computing.step is Step.IDLE, computing.step is Step.WAITING
    if idle:
        computing.step = Step.PREPARING
    reconcile(state, now_ms, sent, response)
    if idle:
        computing.number = state.send(Call.PREPARE, now_ms, prepare_request(state.setup, state.epoch))
    elif waiting:
        install(state, now_ms)


def install(state: MembershipState, now_ms: int) -> None:
    """Send the computed assignment, with the worker's present epoch."""
    computing = state.computing
    request = install_request(state.setup, state.epoch, computing.group_epoch, computing.assignment)
    computing.step = Step.INSTALLING
    computing.number = state.send(Call.INSTALL, now_ms, request)


def follow(state: MembershipState, now_ms: int, sent: Sent, response: ConnectGroupHeartbeatResponse) -> None:
    """An answer while leaving: keep the session and the epoch, and take nothing new."""
    _keep_session(state, now_ms, sent, response)
    _confirm(state, sent, response)
    state.epoch = response.member_epoch
    heartbeat_schedule.after_answer(state, now_ms, sent, news=False)


def try_later(state: MembershipState, now_ms: int, sent: Sent, response: ConnectGroupHeartbeatResponse) -> None:
    """The coordinator cannot answer yet: send again after a back-off, with all fields."""
    state.saying.forget()
    state.computing.stop()
    state.attempts = max(state.attempts, 1)
    state.not_before_ms = now_ms + state.back_off_ms()
    state.next_ms = min(state.next_ms, now_ms)
    state.urgent = True


def seek_anew(state: MembershipState, now_ms: int, *_: Any) -> None:
    """The broker is not the coordinator: seek it again."""
    state.hang_up()
    state.seek_at_ms = now_ms + state.seek_off_ms()


def join_anew(state: MembershipState, now_ms: int, sent: Sent, response: ConnectGroupHeartbeatResponse) -> None:
    """Connect and join again. A join is fenced only if the coordinator knows a newer connection (CG-4), so make the
    newest one.
    """
    seek_anew(state, now_ms)
    join(state, now_ms)


def abandon(state: MembershipState, now_ms: int, sent: Sent, response: ConnectGroupHeartbeatResponse) -> None:
    """The worker is fenced. It still runs what it owns (CG-5): stop everything, then join with epoch 0 and the same
    member id.
    """
    state.not_before_ms = max(state.not_before_ms, now_ms + state.back_off_ms())
    _abandon(state, now_ms, _why(response.error_code), Phase.JOINING)


def abandon_part(state: MembershipState, now_ms: int, sent: Sent, response: ConnectGroupHeartbeatResponse) -> None:
    """The same, of a worker that was leaving anyway."""
    _abandon(state, now_ms, _why(response.error_code), Phase.PARTING)


def fail(state: MembershipState, now_ms: int, sent: Sent, response: ConnectGroupHeartbeatResponse) -> None:
    """The worker may not be a member: stop everything for good."""
    refuse(state, now_ms, response.error_code, response.error_message)


def refuse(state: MembershipState, now_ms: int, error_code: int, message: str | None) -> None:
    """The same, whether an answer or the connection said so."""
    state.error = (error_code, message)
    _abandon(state, now_ms, _why(error_code), Phase.GONE)


def go_then(state: MembershipState, now_ms: int, error_code: int, message: str | None) -> None:
    """The same, while everything is stopping already."""
    state.error, state.after = (error_code, message), Phase.GONE


# What time brings


def stop_in_time(state: MembershipState, now_ms: int) -> None:
    """No answer has come for so long that the session is about to end: stop everything (CG-8), then join again."""
    _abandon(state, now_ms, "the session ends: the coordinator has not answered", Phase.JOINING)


def stop_part(state: MembershipState, now_ms: int) -> None:
    """The same, of a worker that was leaving anyway."""
    _abandon(state, now_ms, "the session ends: the coordinator has not answered", Phase.PARTING)


def report_overrun(state: MembershipState, now_ms: int) -> None:
    """Report an overrun: the session must have ended, and something has still not stopped."""
    if not state.overrun:
        state.overrun = True
        state.out.append(Overrun(state.owned))


# What the worker's own side reports


def note(state: MembershipState, now_ms: int, number: int) -> None:
    """`on_revoked` has returned: report that at once."""
    if state.revoking.pop(number, None) is not None:
        before = state.owned
        state.count_owned()
        state.has_let_go = state.has_let_go or state.owned != before
        state.urgent = state.urgent or state.has_let_go


def note_and_part(state: MembershipState, now_ms: int, number: int) -> None:
    """The same for a worker that leaves."""
    note(state, now_ms, number)
    depart_when_free(state, now_ms)


def go_on(state: MembershipState, now_ms: int, number: int) -> None:
    """Everything has stopped: do what follows."""
    if number != state.abandonment:
        return
    state.own_nothing()
    {Phase.JOINING: join, Phase.PARTING: part, Phase.GONE: go}[state.after](state, now_ms)


# Parts


def _keep_session(state: MembershipState, now_ms: int, sent: Sent, response: ConnectGroupHeartbeatResponse) -> bool:
    """Extend the session: it now runs from the sending of this request. Returns whether this is the answer to a join.

    A shorter session timeout in this answer does not end an earlier, longer session sooner: the coordinator lets the
    longer one run to its end (CG-8).
    """
    joined = state.phase is JOINING
    if joined:
        state.phase = MEMBER
        state.epoch = response.member_epoch
        state.out.append(Joined(response.member_epoch))
    state.attempts = 0
    interval_ms = response.heartbeat_interval_ms
    state.interval_ms = interval_ms if interval_ms > _SHORTEST_INTERVAL_MS else _SHORTEST_INTERVAL_MS
    if response.throttle_time_ms > 0:
        state.not_before_ms = max(state.not_before_ms, now_ms + response.throttle_time_ms)
    timeout_ms = response.session_timeout_ms if response.session_timeout_ms > 0 else FALLBACK_SESSION_MS
    session = Session(sent.at_ms, timeout_ms, state.setup.margin(timeout_ms))
    if state.session is None or session.stop_ms >= state.session.stop_ms:
        state.session = session
    return joined


def _confirm(state: MembershipState, sent: Sent, response: ConnectGroupHeartbeatResponse) -> None:
    """Note what the coordinator certainly knows now. Epoch 0 is never a previous epoch (CG-12)."""
    if sent.releases_behind:
        state.has_let_go = state.urgent = True  # report it once more, now that the earlier answers are known (CG-3)
    elif sent.said and sent.epoch in (0, response.member_epoch):
        state.saying.confirm(sent.said)


def _take(state: MembershipState, response: ConnectGroupHeartbeatResponse, told: frozenset[Resource]) -> None:
    """Take the epoch and what is granted. First the assignor is told, once for each epoch (CG-31), then the
    listener.
    """
    granted = NOTHING if told is state.assigned else told - state.assigned
    if state.under_way and any(each.epoch != response.member_epoch for each in state.heartbeats()):
        state.urgent = True  # the coordinator may take those for requests at the previous epoch (CG-12)
    state.epoch = response.member_epoch
    if response.assignment is not None and response.member_epoch != state.told_epoch:
        state.told_epoch = response.member_epoch
        said = response.assignment
        assignment = MemberAssignment(state.setup.member_id, told, said.version, said.metadata, said.error)
        state.out.append(Told(state.epoch, state.computing.assignor, assignment))
    if granted:
        state.assigned = told
        state.count_owned()
        state.out.append(Grant(granted, state.epoch))


def _withdraw(state: MembershipState, resources: frozenset[Resource]) -> None:
    """Revoke these: the worker is not to run them any more, but it owns them until `on_revoked` has returned (CG-3)."""
    if resources:
        number = state.next_number()
        state.revoking[number] = resources
        state.assigned -= resources
        state.out.append(Revoke(number, resources))


def _abandon(state: MembershipState, now_ms: int, why: str, after: Phase) -> None:
    """Stop everything at once. Nothing is sent to the coordinator before that is done."""
    state.under_way.clear()
    state.computing.stop()
    state.saying.forget()
    state.after = after
    state.overrun = False
    if not state.owned:
        state.own_nothing()
        {Phase.JOINING: join, Phase.PARTING: part, Phase.GONE: go}[after](state, now_ms)
        return
    state.phase = Phase.ABANDONING
    state.abandonment = state.next_number()
    state.assigned = NOTHING
    state.revoking = {state.abandonment: state.owned}
    assert state.session is not None, "who owns something was answered"
    state.out.append(Abandon(state.abandonment, state.owned, why, state.session.ends_ms))


def _why(error_code: int) -> str:
    try:
        return ErrorCode(error_code).name
    except ValueError:
        return f"error {error_code}"
