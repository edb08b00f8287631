"""The moves of a classic worker: what it does with an answer, one small function for each cell of the table.

Each takes the state, the time, the request and its answer. What is to be done goes to `state.out`, in order.
"""

from __future__ import annotations

from typing import Any, NoReturn

import attrs

from kcoord.assign import Assignment, MemberAssignment
from kcoord.protocol.config_source import FILE_OFFSETS_FROM
from kcoord.protocol.embedded import (
    CONFIG_MISMATCH,
    EAGER,
    NAMES,
    NOTHING,
    EmbeddedError,
    WorkerAssignment,
    WorkerState,
    decode_assignment,
    decode_state,
)
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.messages import JoinGroupResponse, Response, SyncGroupResponse
from kcoord.worker.actions import Assign, Grant, Joined, Told
from kcoord.worker.classic import owning, requests
from kcoord.worker.classic.phases import Phase
from kcoord.worker.classic.round import Memory, Wait, differences
from kcoord.worker.classic.state import NOT_ASKED, ClassicMembershipState, Sent
from kcoord.worker.state import Link

_READING_MS = 5_000
"""How long a leader waits until it has read the configurations that others have read."""


def unreachable(state: ClassicMembershipState, *_: Any) -> NoReturn:
    """A cell that cannot be reached: no such request is under way in this phase."""
    raise AssertionError(f"that cannot happen to a worker that is {state.phase.name}")


def part(state: ClassicMembershipState, *_: Any) -> None:
    """The worker has sent that it leaves: whatever the answer is, it is gone."""
    owning.go(state)


# Good answers


def live(state: ClassicMembershipState, now_ms: int, sent: Sent, response: Response) -> None:
    """The answer to a heartbeat."""
    state.attempts = 0
    state.alive(sent)
    state.next_ms = sent.at_ms + state.timing.interval_ms


def joined(state: ClassicMembershipState, now_ms: int, sent: Sent, response: Response) -> None:
    """JoinGroup is answered: the leader computes, the others send SyncGroup. A leader that is not in the list that it
    is shown computes nothing: then the coordinator knows what exists.
    """
    assert isinstance(response, JoinGroupResponse), "only a JoinGroup is under way"
    state.attempts = 0
    state.alive(sent)
    state.member_id = response.member_id
    state.generation = response.generation_id
    state.leader = response.leader
    state.version = NAMES.index(response.protocol_name) if response.protocol_name in NAMES else EAGER
    state.states = {each.member_id: _state(each.metadata) for each in response.members}
    if state.setup.of_file and any(each.config_offset < FILE_OFFSETS_FROM for each in state.states.values()):
        _leave_topic_workers(state, now_ms)
        return
    if not state.leads or state.member_id not in state.states:
        state.memory = Memory()
        sync(state, now_ms, {})
        return
    state.phase = Phase.COMPUTING
    state.next_ms = now_ms + state.timing.interval_ms
    state.asked_for = NOT_ASKED
    state.wait_until_ms = now_ms + _READING_MS
    compute(state, now_ms)


def _state(metadata: bytes) -> WorkerState:
    """What a member reports. If its bytes cannot be read, it counts as running nothing."""
    try:
        return decode_state(metadata)
    except EmbeddedError:
        return WorkerState(EAGER, "", -1)


def synced(state: ClassicMembershipState, now_ms: int, sent: Sent, response: Response) -> None:
    """SyncGroup is answered: what the worker is to stop and to start. If something has changed that JoinGroup did not
    report, another round follows, and what was reconfigured waits for that.
    """
    assert isinstance(response, SyncGroupResponse), "only a SyncGroup is under way"
    state.attempts = 0
    state.alive(sent)
    state.phase = Phase.STABLE
    state.next_ms = now_ms + state.timing.interval_ms
    try:
        told = decode_assignment(response.assignment)
    except EmbeddedError:
        told = WorkerAssignment(state.version, CONFIG_MISMATCH)
    if told.error and state.setup.of_file and not state.leads:
        _leave_topic_workers(state, now_ms)
        return
    if told.error:
        state.again_at_ms = now_ms + state.setup.backoff_max_ms
        return
    state.wait = Wait.of(told, now_ms)
    state.again_at_ms = state.wait.ends_ms
    if not state.ran:
        state.out.append(Joined(state.generation))
    state.ran = True
    news = state.said != state.configuration
    _take(state, told, news)
    if told.revoked or news:
        owning.want_round(state)


def _leave_topic_workers(state: ClassicMembershipState, now_ms: int) -> None:
    """Leave at once: the others would wait for this worker's offset in a topic where it never comes, and get no
    assignments.
    """
    state.error = (
        ErrorCode.INCONSISTENT_GROUP_PROTOCOL,
        "the group has workers whose connectors stand in Kafka Connect's configuration topic, and this worker's in a "
        "file: start it with --config-topic TOPIC, or use another group",
    )
    state.permanent = True
    owning.abandon(state, now_ms, "its connectors stand in a file, the others' in a topic", Phase.PARTING)


def _take(state: ClassicMembershipState, told: WorkerAssignment, news: bool) -> None:
    kept = NOTHING if told.version == EAGER else state.assigned - told.revoked
    owning.withdraw(state, state.assigned - kept)
    granted = told.assigned - state.assigned
    if not news:
        granted |= state.paused
        state.paused = NOTHING
    state.assigned |= granted
    state.out.append(Told(state.generation, None, MemberAssignment(state.member_id, state.assigned, told.version)))
    if granted:
        state.out.append(Grant(granted, state.generation))


# Other answers


def join_again(state: ClassicMembershipState, now_ms: int, sent: Sent, response: Response) -> None:
    """A round begins."""
    state.alive(sent)
    owning.want_round(state)


def join_later(state: ClassicMembershipState, now_ms: int, sent: Sent, response: Response) -> None:
    """A round was over before this JoinGroup had a place in it: join again, but after a pause, so as not to do so in a
    loop.
    """
    state.not_before_ms = now_ms + state.back_off_ms(soon=False)
    join_again(state, now_ms, sent, response)


def go_on(state: ClassicMembershipState, now_ms: int, sent: Sent, response: Response) -> None:
    """A round begins, but the worker has something to do before it joins, or instead of joining."""
    state.alive(sent)
    state.next_ms = sent.at_ms + state.timing.interval_ms


def take_name(state: ClassicMembershipState, now_ms: int, sent: Sent, response: Response) -> None:
    """Take the member id to join with (KIP-394)."""
    assert isinstance(response, JoinGroupResponse), "only JoinGroup gives names"
    state.member_id = response.member_id
    state.phase = Phase.WANTS_ROUND


def try_later(state: ClassicMembershipState, now_ms: int, sent: Sent, response: Response) -> None:
    """The coordinator cannot answer yet."""
    state.not_before_ms = now_ms + state.back_off_ms(soon=False)


def round_later(state: ClassicMembershipState, now_ms: int, sent: Sent, response: Response) -> None:
    """The same within a round: the round begins again."""
    try_later(state, now_ms, sent, response)
    state.phase = Phase.WANTS_ROUND


def seek(state: ClassicMembershipState, now_ms: int, *_: Any) -> None:
    """The connection is over, or the broker is not the coordinator. A running round begins again."""
    if state.waits and state.session is not None:
        state.begin_session(state.polled_ms)
    state.link = Link.DOWN
    state.under_way = None
    state.seek_at_ms = now_ms + state.back_off_ms(soon=True)
    if state.phase in (Phase.JOINING, Phase.COMPUTING, Phase.SYNCING):
        state.phase = Phase.WANTS_ROUND


def lose(state: ClassicMembershipState, now_ms: int, sent: Sent, response: Response) -> None:
    """The worker is not a member any more: others may run what it ran."""
    _lose(state, now_ms, response, Phase.WANTS_ROUND)


def lose_and_part(state: ClassicMembershipState, now_ms: int, sent: Sent, response: Response) -> None:
    """The same for a worker that was leaving anyway."""
    _lose(state, now_ms, response, Phase.PARTING)


def _lose(state: ClassicMembershipState, now_ms: int, response: Response, after: Phase) -> None:
    code = ErrorCode(getattr(response, "error_code", 0))
    if code == ErrorCode.UNKNOWN_MEMBER_ID:
        state.member_id = ""
    state.not_before_ms = now_ms + state.back_off_ms(soon=True)
    owning.abandon(state, now_ms, code.name, after)


def fail(state: ClassicMembershipState, now_ms: int, sent: Sent, response: Response) -> None:
    """The worker may not be a member."""
    code = int(getattr(response, "error_code", 0))
    state.error = (code, getattr(response, "error_message", None))
    owning.abandon(state, now_ms, f"error {code}", Phase.GONE)


# The leader


def compute(state: ClassicMembershipState, now_ms: int) -> None:
    """Run the assignor once this leader has read as far as every member. If it does not get that far in time, it tells
    all members so, as Connect's leaders do.
    """
    if state.phase is not Phase.COMPUTING or state.asked_for != NOT_ASKED:
        return
    if state.setup.of_topic and state.setup.config_offset < _highest(state):
        if state.wait_until_ms is not None and now_ms >= state.wait_until_ms:
            told = WorkerAssignment(
                state.version, CONFIG_MISMATCH, state.member_id, state.setup.url or "", _highest(state)
            )
            sync(state, now_ms, dict.fromkeys(state.states, told))
        return
    state.wait_until_ms = None
    timing, setup = state.timing, state.setup
    if timing.defers:
        state.memory.guess(state.states, setup.configured, state.wait, now_ms)
    state.shown = state.memory.show(
        state.states, setup.configured, setup.config_offset, state.generation, timing.delay_ms, now_ms
    )
    state.asked_for = state.next_number()
    assignor = "eager" if state.version == EAGER else timing.assignor
    state.out.append(Assign(state.asked_for, assignor, state.shown))


def _highest(state: ClassicMembershipState) -> int:
    return max(each.config_offset for each in state.states.values())


def tell(state: ClassicMembershipState, now_ms: int, assignment: Assignment | None) -> None:
    """Send the assignments. `assignment` is None if the assignor failed: then all keep what they have. The offset is
    never below what any member has read: a Connect worker that is told less joins again at once, for ever (CM-7).
    """
    group = state.shown
    assert group is not None, "the assignor has been given it"
    if assignment is None or assignment.error:
        kept = tuple(MemberAssignment(each.member_id, each.target) for each in group.members)
        assignment = Assignment(kept, state.setup.backoff_max_ms)
    else:
        state.memory.keep(group, assignment, now_ms)
    offset = max(_highest(state), group.config_offset) if state.setup.of_topic else _highest(state)
    told = WorkerAssignment(state.version, 0, state.member_id, state.setup.url or "", offset)
    waits = frozenset(state.states) if state.timing.defers else frozenset((state.member_id,))
    sync(state, now_ms, differences(state.states, assignment, told, waits))


def sync(state: ClassicMembershipState, now_ms: int, told: dict[str, WorkerAssignment]) -> None:
    """Send SyncGroup; the leader's has the assignments of all."""
    state.phase = Phase.SYNCING
    state.wait_until_ms = None
    request = requests.sync_group(state.setup, state.member_id, state.generation, state.version, told)
    state.send(now_ms, request, waits=True)


def join(state: ClassicMembershipState, now_ms: int) -> None:
    """Send JoinGroup, with what the worker runs. It reports nothing if it has not received an assignment since it
    became a member.
    """
    state.phase = Phase.JOINING
    state.said = state.configuration
    runs = WorkerAssignment(
        state.version,
        leader=state.leader,
        config_offset=state.setup.config_offset,
        assigned=state.assigned,
        delay_ms=state.wait.told_ms,
    )
    request = requests.join_group(state.setup, state.timing, state.member_id, runs if state.ran else None)
    state.send(now_ms, request, waits=True)


def say_farewell(state: ClassicMembershipState, now_ms: int) -> None:
    """Everything has stopped: send LeaveGroup. A static member that will be back sends nothing: its session keeps its
    place.
    """
    if state.member_id == "" or (state.setup.instance_id is not None and not state.permanent):
        owning.go(state)
        return
    state.send(now_ms, requests.leave_group(state.setup, state.member_id))


def with_setup(state: ClassicMembershipState, now_ms: int, changes: dict[str, Any]) -> None:
    """The configuration has changed: join to report it. A leader may have waited for that."""
    predecessor = state.setup
    setup = attrs.evolve(predecessor, **changes)
    if setup == predecessor:
        return
    state.setup = setup
    owning.pause_configured_anew(state, predecessor)
    if state.phase is Phase.STABLE and state.said != state.configuration:
        owning.want_round(state)
    compute(state, now_ms)
