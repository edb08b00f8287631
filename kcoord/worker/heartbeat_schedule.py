"""The pace of heartbeats: when a worker sends the next one, and how many may be under way.

A heartbeat is due at the interval; at once when the worker has released something or has something new to report; and,
if answers are held, as soon as an answer has come (CG-26). None is sent during a back-off.

- A heartbeat that is sent while another is under way always lists what is owned, so it is valid even if the other's
  answer moves the epoch (CG-12).
- Never more than two are under way. The coordinator takes a list for a release if it reads the list after the answer
  that withdrew the resource (CG-3). That answer comes after the answer with the grant. So of three heartbeats the last
  one could have been written before the grant came. Nor could the first one's epoch still be the previous one (CG-12).
- At epoch 0 only one is under way: epoch 0 is never a previous epoch.
- While the worker revokes or computes, it keeps to the interval and lets no answer be held. What it has to report then
  must not come behind a request whose answer it cannot know (CG-3), and this costs no heartbeats.
- If an answer that may be held comes early and brings nothing new, the worker waits for the interval: otherwise it
  would spin.
"""

from __future__ import annotations

from kcoord.worker.computing import IDLE
from kcoord.worker.heartbeat_fields import OWNED, REBALANCE_TIMEOUT, farewell, fields_of, heartbeat
from kcoord.worker.state import HEARTBEAT, JOINING, LEAVING, MEMBER, NOTHING, PARTING, UP, Call, MembershipState, Sent

NEVER_MS = 1 << 62
_MOST_UNDER_WAY = 2


def after_answer(state: MembershipState, now_ms: int, sent: Sent, *, news: bool) -> None:
    """Set when the next heartbeat is due."""
    state.next_ms = sent.at_ms + state.interval_ms
    if state.setup.max_wait_ms <= 0 or state.phase is not MEMBER:
        return
    held = 2 * (now_ms - sent.at_ms) >= sent.hold_ms > 0
    if _is_busy(state):
        state.next_ms = now_ms + min(state.interval_ms, _session_ms(state) // 3)
    elif news or held or _is_let_go(state, sent):
        state.next_ms = now_ms


def _is_let_go(state: MembershipState, sent: Sent) -> bool:
    """Whether a later request has ended the hold of this one's answer."""
    return bool(state.under_way) and any(each.number > sent.number for each in state.under_way.values())


def after_computing(state: MembershipState, now_ms: int) -> None:
    """After computing, fetch what was installed at once, if answers are held."""
    if state.setup.max_wait_ms > 0:
        state.next_ms = now_ms


def speak(state: MembershipState, now_ms: int) -> None:
    """Send what is due, as `due_ms` says."""
    if state.phase is PARTING:
        state.send(Call.LEAVE, now_ms, farewell(state.setup, state.leave_epoch))
    else:
        _beat(state, now_ms)


def due_ms(state: MembershipState) -> int:
    """When `speak` has something to send, if nothing else happens; NEVER_MS: not before something else does."""
    if state.link is not UP:
        return NEVER_MS
    phase = state.phase
    if phase is MEMBER or phase is LEAVING:
        beats = state.count_heartbeats() if state.under_way else 0
        if state.urgent and beats < (1 if state.epoch == 0 else _MOST_UNDER_WAY):
            return state.not_before_ms
        if beats:
            return NEVER_MS
        return state.next_ms if state.next_ms > state.not_before_ms else state.not_before_ms
    if (phase is JOINING or phase is PARTING) and not state.under_way:
        return state.not_before_ms
    return NEVER_MS


def _beat(state: MembershipState, now_ms: int) -> None:
    said = state.saying.news(state.setup, state.owned)
    behind = bool(state.under_way)
    if behind:
        said[OWNED] = state.owned
    if state.epoch == 0 and REBALANCE_TIMEOUT in said and said.get(OWNED) == NOTHING:
        said = fields_of(state.setup, state.owned)  # it will be taken for a join, which has all fields (CG-6)
    releases_behind = behind and state.has_let_go
    hold_ms = 0 if state.unheld or releases_behind else _hold_ms(state)
    state.urgent = state.unheld = state.has_let_go = False
    state.saying.doubt(said)
    request = heartbeat(state.setup, state.epoch, said, hold_ms)
    state.send(HEARTBEAT, now_ms, request, hold_ms=hold_ms, said=said, releases_behind=releases_behind)


def _is_busy(state: MembershipState) -> bool:
    return bool(state.revoking) or state.computing.step is not IDLE


def _hold_ms(state: MembershipState) -> int:
    """How long the next answer may be held."""
    longest_ms = state.setup.max_wait_ms
    if longest_ms <= 0 or state.phase is not MEMBER or _is_busy(state):
        return 0
    return min(longest_ms, state.interval_ms, _session_ms(state) // 3)


def _session_ms(state: MembershipState) -> int:
    return 0 if state.session is None else state.session.timeout_ms
