"""The join phase of a classic group: one transition for each cell of `state_table.py`.

A rebalance has a cause (`restart`, or `begin` out of an empty group), gathers JoinGroup requests, and ends
(`close_join`) when all members have joined or its time is over. Then there is a new generation, or an empty group.
"""

from __future__ import annotations

from kcoord.group.classic.answers import join_answer, join_error, park_join, refresh, release_join, release_sync
from kcoord.group.classic.join_and_sync_calls import Join
from kcoord.group.classic.rebalance_input import rebalance_input
from kcoord.group.classic.voting import elect_protocol
from kcoord.group.state.deadlines import NEVER_MS
from kcoord.group.state.groups.classic_group import ClassicGroup, Rebalance
from kcoord.group.state.groups.classic_member import ClassicMember
from kcoord.group.state.groups.classic_reasons import Reason, tell
from kcoord.group.state.groups.classic_states import ClassicState
from kcoord.group.state.metrics import CLASSIC
from kcoord.group.state.records.classic_records import creation, emptied, next_generation, replaced
from kcoord.group.state.repeated_rebalances import FREE
from kcoord.group.state.step import Slowed
from kcoord.group.state.transition import Transition
from kcoord.protocol.errors import ErrorCode

SKIP_ASSIGNMENT_VERSION = 9
"""From this version of JoinGroup on, a returning static leader can be told to leave the assignment as it is
(KIP-814).
"""
SHORTEST_RETRY_MS = 1_000
"""The shortest time after which a rebalance that nobody joined is looked at again, whatever timeout the absent members
asked for.
"""

MOST_PENDING = 16_384
"""Newcomers of one group that are waited for. Beyond that number the oldest is forgotten, and must ask for another
id.
"""


# -- newcomers --------------------------------------------------------------------------------------------------------


def hand_out_id(transition: Transition, group: ClassicGroup, join: Join) -> None:
    """KIP-394: tell a newcomer its member id. It must join with that id within its session timeout."""
    while len(group.pending) >= MOST_PENDING:
        del group.pending[next(iter(group.pending))]
    group.pending[join.member_id] = transition.now_ms + join.session_timeout_ms
    transition.wake(group, group.pending[join.member_id])
    join_error(transition, join.token, ErrorCode.MEMBER_ID_REQUIRED, join.member_id)


def found_with_id(transition: Transition, group: ClassicGroup, join: Join) -> None:
    """The same, for a group that does not exist yet."""
    hand_out_id(transition, _create(transition, group), join)


def begin(transition: Transition, group: ClassicGroup, join: Join) -> None:
    """The first member of an empty group: wait a little for others (KIP-134)."""
    _admit(transition, group, join)
    delay_ms = transition.state.settings.initial_rebalance_delay_ms
    group.rebalance = Rebalance(
        reasons=[_joined(join)],
        since_wall_ms=transition.wall_ms,
        initial=True,
        due_ms=transition.now_ms + delay_ms,
        delay_ms=delay_ms,
        remaining_ms=max(group.rebalance_timeout_ms() - delay_ms, 0),
    )
    group.move(ClassicState.PREPARING)
    if delay_ms > 0:
        transition.wake(group, group.rebalance.due_ms)
    else:
        close_join(transition, group)


def found(transition: Transition, group: ClassicGroup, join: Join) -> None:
    """The same, for a group that does not exist yet."""
    begin(transition, _create(transition, group), join)


def gather(transition: Transition, group: ClassicGroup, join: Join) -> None:
    """A newcomer joins while members are joining anyway."""
    _admit(transition, group, join)
    _going(group).grew = True
    _going(group).note(_joined(join))
    _close_if_complete(transition, group)


def disturb(transition: Transition, group: ClassicGroup, join: Join) -> None:
    """A newcomer joins a group that must rebalance for it."""
    _admit(transition, group, join)
    restart(transition, group, _joined(join))


def _create(transition: Transition, group: ClassicGroup) -> ClassicGroup:
    transition.write(creation(group.group_id, transition.wall_ms))
    return transition.state.groups[group.group_id]


def _admit(transition: Transition, group: ClassicGroup, join: Join) -> None:
    """Add a newcomer. Its session cannot end while it waits, since it cannot send heartbeats before it knows its
    generation. But a client that has vanished must not wait for ever.
    """
    if not group.members:
        group.protocol_type = join.protocol_type
    member = _member_of(join)
    member.last_seen_ms = transition.now_ms
    member.is_new = True
    group.add(member)
    park_join(transition, group, member, join.token, join.api_version)
    transition.wake(group, transition.now_ms + transition.state.settings.new_member_join_timeout_ms)


def _member_of(join: Join) -> ClassicMember:
    return ClassicMember(
        join.member_id,
        join.instance_id,
        join.client_id,
        join.client_host,
        join.rebalance_timeout_ms,
        join.session_timeout_ms,
        join.protocols,
    )


# -- members that join again ------------------------------------------------------------------------------------------


def regather(transition: Transition, group: ClassicGroup, member: ClassicMember, join: Join) -> None:
    """A member joins while members are joining."""
    _rejoin(transition, group, member, join)
    _close_if_complete(transition, group)


def repeat(transition: Transition, group: ClassicGroup, member: ClassicMember, join: Join) -> None:
    """A member that has lost its answer, or does not know that the others have gone on: tell it the present
    generation.
    """
    if member.from_record:
        group.offer(member, join.protocols)
    if member.parked_join is not None:  # it waits, and has lost its connection
        park_join(transition, group, member, join.token, join.api_version)
    else:
        member.rejoined, member.last_seen_ms = True, transition.now_ms
        transition.answer(join.token, join_answer(group, member))


def change(transition: Transition, group: ClassicGroup, member: ClassicMember, join: Join) -> None:
    """A member offers other metadata."""
    _rejoin(transition, group, member, join)
    _restart_or_hold(transition, group, member, tell(Reason.METADATA_CHANGED, [member.member_id], join.reason))


def obey(transition: Transition, group: ClassicGroup, member: ClassicMember, join: Join) -> None:
    """The leader joins a stable group again: something outside has changed, for example the topics that it assigns."""
    _rejoin(transition, group, member, join)
    _restart_or_hold(transition, group, member, tell(Reason.LEADER_ASKED, [member.member_id], join.reason))


def _restart_or_hold(transition: Transition, group: ClassicGroup, member: ClassicMember, reason: str) -> None:
    """Rebalance, or let the member that asks for it wait, if the last rebalances were the same and changed nothing
    (`repeated_rebalances`). No other member is disturbed meanwhile. It waits half its rebalance timeout at most, as its
    client waits longer than that for JoinGroup.
    """
    repetition, now_ms = group.repetition, transition.now_ms
    due_ms = now_ms
    if group.state is ClassicState.STABLE and repetition.times >= FREE:
        due_ms = repetition.due(rebalance_input(group), now_ms, member.rebalance_timeout_ms // 2)
    if due_ms <= now_ms:
        restart(transition, group, reason)
        return
    if repetition.due_ms == NEVER_MS:
        transition.state.counters.slowed[CLASSIC] += 1
        transition.step.slowed.append(Slowed(group.group_id, repetition.times, repetition.times == FREE))
    group.held_reason = reason + repetition.tell()
    repetition.due_ms = due_ms
    transition.wake(group, due_ms)


def wait_is_over(transition: Transition, group: ClassicGroup) -> None:
    """The member that asked for a rebalance that repeats itself has waited long enough."""
    group.repetition.due_ms = NEVER_MS
    reason, group.held_reason = group.held_reason, None
    if group.state is ClassicState.STABLE and reason is not None and group.parked_joins:
        restart(transition, group, reason)


def _rejoin(transition: Transition, group: ClassicGroup, member: ClassicMember, join: Join) -> None:
    group.offer(member, join.protocols)
    member.rebalance_timeout_ms = join.rebalance_timeout_ms
    member.session_timeout_ms = join.session_timeout_ms
    park_join(transition, group, member, join.token, join.api_version)


# -- static members that come back under a new member id --------------------------------------------------------------


def succeed(transition: Transition, group: ClassicGroup, predecessor: ClassicMember, join: Join) -> None:
    """A static member comes back while members are joining."""
    successor = _take_over(transition, group, predecessor, join)
    _park_successor(transition, group, successor, join)
    _going(group).note(_returned(predecessor, join))
    _close_if_complete(transition, group)


def succeed_and_restart(transition: Transition, group: ClassicGroup, predecessor: ClassicMember, join: Join) -> None:
    """A static member comes back between JoinGroup and SyncGroup. The leader may be assigning to its previous member
    id, so all members have to join again.
    """
    successor = _take_over(transition, group, predecessor, join)
    _park_successor(transition, group, successor, join)
    restart(transition, group, _returned(predecessor, join))


def succeed_quietly(transition: Transition, group: ClassicGroup, predecessor: ClassicMember, join: Join) -> None:
    """A static member comes back to a stable group. No other member is disturbed, unless the group would now choose
    another protocol (KIP-345, KIP-814).
    """
    leader_before = group.leader_id
    successor = _take_over(transition, group, predecessor, join)
    if elect_protocol(group) != group.protocol_name:
        _park_successor(transition, group, successor, join)
        restart(transition, group, _returned(predecessor, join))
        return
    transition.write(replaced(group))
    answer = join_answer(group, successor)
    if join.api_version >= SKIP_ASSIGNMENT_VERSION:
        answer.skip_assignment = group.leader_id == successor.member_id
    else:
        # An old client that learns that it leads would assign, but a stable group takes no assignment. So it is told
        # the leader's previous id.
        answer.leader = leader_before or ""
        answer.members = []
    transition.answer(join.token, answer)


def _take_over(transition: Transition, group: ClassicGroup, predecessor: ClassicMember, join: Join) -> ClassicMember:
    """The successor takes the place of `elder`, which is fenced at once, also where it waits."""
    release_join(transition, group, predecessor, ErrorCode.FENCED_INSTANCE_ID, predecessor.member_id)
    release_sync(transition, predecessor, ErrorCode.FENCED_INSTANCE_ID)
    successor = _member_of(join)
    successor.assignment = predecessor.assignment
    group.replace(predecessor, successor)
    refresh(transition, group, successor)
    return successor


def _park_successor(transition: Transition, group: ClassicGroup, successor: ClassicMember, join: Join) -> None:
    park_join(transition, group, successor, join.token, join.api_version)


# -- members that go --------------------------------------------------------------------------------------------------


def evict(transition: Transition, group: ClassicGroup, member: ClassicMember) -> None:
    """Remove a member. If it is alive after all, the answers to its parked requests tell it that it must join as a new
    member.
    """
    release_join(transition, group, member, ErrorCode.UNKNOWN_MEMBER_ID, "")
    release_sync(transition, member, ErrorCode.UNKNOWN_MEMBER_ID)
    group.remove(member)


def go_on_without(transition: Transition, group: ClassicGroup, reason: str) -> None:
    """Members have gone while members are joining: the join phase may be complete now."""
    _going(group).note(reason)
    _close_if_complete(transition, group)


def wait_no_longer(transition: Transition, group: ClassicGroup) -> None:
    """A newcomer that had been given an id will not come: the join phase may be complete now."""
    _close_if_complete(transition, group)


def never_mind(transition: Transition, group: ClassicGroup) -> None:
    """A newcomer that had been given an id will not come, and nobody waited for it."""


# -- a rebalance, from its cause to its end ---------------------------------------------------------------------------


def restart(transition: Transition, group: ClassicGroup, reason: str) -> None:
    """All members have to join again. Those that wait for their assignment learn it at once, the others by their next
    heartbeat.
    """
    for member in group.members.values():
        if member.parked_sync is not None:
            release_sync(transition, member, ErrorCode.REBALANCE_IN_PROGRESS)
            refresh(transition, group, member)
    _expect_no_syncs(group)
    group.rebalance = Rebalance(reasons=[reason], since_wall_ms=transition.wall_ms, initial=False)
    if group.held_reason is not None:
        group.rebalance.note(group.held_reason)
        group.held_reason, group.repetition.due_ms = None, NEVER_MS
    group.move(ClassicState.PREPARING)
    if group.all_joined():
        close_join(transition, group)
    else:
        _wait(transition, group, group.rebalance_timeout_ms())


def time_is_up(transition: Transition, group: ClassicGroup) -> None:
    """The rebalance's time, or the initial delay, is over. The initial delay is extended while members arrive, up to
    the rebalance timeout.
    """
    rebalance = _going(group)
    if rebalance.initial and rebalance.grew and rebalance.remaining_ms:
        rebalance.grew = False
        before_ms = rebalance.delay_ms
        rebalance.delay_ms = min(transition.state.settings.initial_rebalance_delay_ms, rebalance.remaining_ms)
        rebalance.remaining_ms = max(rebalance.remaining_ms - before_ms, 0)
        _wait(transition, group, rebalance.delay_ms)
    else:
        close_join(transition, group)


def close_join(transition: Transition, group: ClassicGroup) -> None:
    """The join phase ends. Dynamic members that have not joined are removed; static ones may be away until their
    session ends.
    """
    absent = [member for member in group.members.values() if member.parked_join is None and member.instance_id is None]
    for member in absent:
        evict(transition, group, member)
    if absent:
        _going(group).note(tell(Reason.REBALANCE_TIMEOUT, [member.member_id for member in absent]))
    if not group.members:
        _leave_empty(transition, group)
    elif group.parked_joins:
        _start_generation(transition, group)
    else:
        _wait(transition, group, max(group.rebalance_timeout_ms(), SHORTEST_RETRY_MS))  # only static members, all away


def _close_if_complete(transition: Transition, group: ClassicGroup) -> None:
    if not _going(group).initial and group.all_joined():
        close_join(transition, group)


def _leave_empty(transition: Transition, group: ClassicGroup) -> None:
    rebalance, group.rebalance = _going(group), None
    transition.write(emptied(group, rebalance, transition.wall_ms))


def _start_generation(transition: Transition, group: ClassicGroup) -> None:
    rebalance, group.rebalance = _going(group), None
    leader = group.members.get(group.leader_id or "")
    if leader is None or leader.parked_join is None:
        group.leader_id = next(each.member_id for each in group.members.values() if each.parked_join is not None)
    group.repetition.begin(rebalance_input(group), transition.now_ms)
    transition.write(next_generation(group, rebalance, elect_protocol(group), transition.wall_ms))
    for member in group.members.values():
        member.is_new = member.rejoined = False
        refresh(transition, group, member)
        parked, member.parked_join = member.parked_join, None
        if parked is not None:
            transition.answer(parked.token, join_answer(group, member))
    group.parked_joins = 0
    group.unsynced.update(group.members)
    group.sync_due_ms = transition.now_ms + group.rebalance_timeout_ms()
    transition.wake(group, group.sync_due_ms)


def _wait(transition: Transition, group: ClassicGroup, timeout_ms: int) -> None:
    rebalance = _going(group)
    rebalance.due_ms = transition.now_ms + timeout_ms
    transition.wake(group, rebalance.due_ms)


def _expect_no_syncs(group: ClassicGroup) -> None:
    group.unsynced.clear()
    group.heartbeat_is_sync = False
    group.sync_due_ms = NEVER_MS


def _going(group: ClassicGroup) -> Rebalance:
    assert group.rebalance is not None
    return group.rebalance


def _joined(join: Join) -> str:
    return tell(Reason.JOINED, [join.member_id], join.reason)


def _returned(predecessor: ClassicMember, join: Join) -> str:
    return tell(Reason.STATIC_REPLACED, [f"{predecessor.member_id} by {join.member_id}"], join.reason)
