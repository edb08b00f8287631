"""What a classic worker may run, and how it stops it.

- What it is told to stop, and what was reconfigured, is *revoked*. It joins again only when that has stopped.
- What was reconfigured remains its own. It is reported in JoinGroup, and granted again with the assignment, when all
  workers have stopped theirs (`paused`).
- A worker that has lost its membership, or has no answer for so long that it may have lost it, *abandons* everything.
"""

from __future__ import annotations

from kcoord.assign import Resource
from kcoord.protocol.embedded import EAGER, NOTHING
from kcoord.worker.actions import Abandon, Gone, Revoke
from kcoord.worker.classic.phases import MEMBER, Phase
from kcoord.worker.classic.round import Memory
from kcoord.worker.classic.state import ClassicMembershipState
from kcoord.worker.setup import Setup


def stop(state: ClassicMembershipState, resources: frozenset[Resource]) -> None:
    """Have these stopped. Does nothing if none of them runs."""
    running = resources - state.paused
    if running:
        number = state.next_number()
        state.revoking[number] = running
        state.out.append(Revoke(number, running))


def withdraw(state: ClassicMembershipState, resources: frozenset[Resource]) -> None:
    """Stop these: they are not the worker's any more."""
    stop(state, resources)
    state.assigned -= resources
    state.paused -= resources


def pause_configured_anew(state: ClassicMembershipState, predecessor: Setup) -> None:
    """Stop the tasks whose configuration has changed since `elder`, the setup before, in every phase of a round."""
    before, now = predecessor.revisions, state.setup.revisions
    changed = {name for name in before.keys() & now.keys() if before[name] != now[name]}
    if not changed or state.phase not in MEMBER or state.phase is Phase.LEAVING:
        return
    tasks = frozenset(each for each in state.assigned if each.connector in changed and not each.is_connector)
    stop(state, tasks)
    state.paused |= tasks


def want_round(state: ClassicMembershipState) -> None:
    """Join as soon as everything that was told to stop has stopped; under `default` nothing may run then."""
    state.phase = Phase.WANTS_ROUND
    state.again_at_ms = None
    if state.version == EAGER:
        withdraw(state, state.assigned)


def abandon(state: ClassicMembershipState, now_ms: int, why: str, after: Phase) -> None:
    """Stop everything at once, for good; then go on with phase `after`."""
    state.under_way = None
    state.generation = -1
    state.ran = False
    state.memory = Memory()
    owned = state.owned
    state.assigned = state.paused = NOTHING
    if not owned:
        state.revoking.clear()
        follow(state, now_ms, after)
        return
    state.phase, state.after, state.overrun = Phase.ABANDONING, after, False
    state.asked_for = state.next_number()
    state.revoking = {state.asked_for: owned}
    ends_ms = state.session_ends_ms
    state.out.append(Abandon(state.asked_for, owned, why, now_ms if ends_ms is None else ends_ms))


def follow(state: ClassicMembershipState, now_ms: int, after: Phase) -> None:
    """Go on with phase `after`: nothing runs any more."""
    state.phase = after
    state.session = None
    if after is Phase.GONE:
        go(state)
    elif after is Phase.PARTING:
        state.leave_by_ms = now_ms + state.setup.leave_timeout_ms


def part_when_free(state: ClassicMembershipState, now_ms: int) -> None:
    """While it leaves: once the last resource has stopped, part."""
    if not state.owned:
        state.under_way = None
        follow(state, now_ms, Phase.PARTING)


def go(state: ClassicMembershipState) -> None:
    """End the membership."""
    state.phase = Phase.GONE
    state.under_way = None
    state.session = None
    state.out.append(Gone(*state.error))
