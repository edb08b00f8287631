"""Answers to JoinGroups of classic workers: which wait, and what they are told.

A JoinGroup is answered at once: no worker waits for others to join. The exceptions, in which it stays parked:

| while | why |
| --- | --- |
| an empty group waits for more workers | else the first one takes everything (as `group.initial.rebalance.delay.ms`) |
| the worker led, and another one is to compute | there are never two leaders (CM-14) |
| the group speaks `default`, and others have not joined | see `default_barrier.py` (CM-16) |
| the leader joins by itself, and the last rebalances changed nothing | a storm must disturb nobody (`repetition`) |
| the worker joins without end | a fuse (CM-7) |

A worker that must stop everything before the group's first round under `default` is answered at once, in its own
protocol, and told to stop. The generation in the answer is the group epoch of that moment (CM-2).
"""

from __future__ import annotations

from kcoord.group.connect.reasons import Reason, bump
from kcoord.group.state.classic_workers.embedded_protocol import DEFAULT
from kcoord.group.state.classic_workers.phases import Phase
from kcoord.group.state.deadlines import NEVER_MS
from kcoord.group.state.groups.connect_group import ConnectGroup, ConnectMember
from kcoord.group.state.step import Token
from kcoord.group.state.transition import Transition
from kcoord.group.translation.answers import answer_join, see, session_of, take_join
from kcoord.group.translation.delivery.assignment_delta import disarms
from kcoord.group.translation.rounds.computing_round import leads, open_round
from kcoord.group.translation.rounds.existence_looks import open_look
from kcoord.group.translation.rounds.leader_view import best
from kcoord.group.translation.rounds.look_policy import asks_leader, is_shown_pictures

WINDOW_MS = 10_000
FREE_JOINS = 20
"""This many JoinGroups of one worker in a window are answered at once."""
FUSE_MS = 1_000


def park_join(transition: Transition, group: ConnectGroup, member: ConnectMember, token: Token) -> None:
    """Park a JoinGroup. `answer_joins` answers it, in this step if nothing prevents that."""
    session = session_of(member)
    session.parked_join, session.due_ms, session.past_barrier = token, NEVER_MS, False
    look = group.classic.look
    if look is not None and look.leader == member.member_id:
        look.picture = None  # it will be shown another one
    group.classic.joining[member.member_id] = None
    if transition.now_ms - session.window_ms >= WINDOW_MS:
        session.window_ms, session.joins_in_window = transition.now_ms, 0
    session.joins_in_window += 1
    session.parked_until_ms = NEVER_MS
    if session.joins_in_window > FREE_JOINS:
        session.parked_until_ms = transition.now_ms + FUSE_MS
        transition.wake(group, session.parked_until_ms)


def answer_joins(transition: Transition, group: ConnectGroup) -> bool:
    """Answer every parked JoinGroup that need not wait. True if there was one."""
    answered = False
    for member_id in list(group.classic.joining):
        member = group.members[member_id]
        if not _waits(transition, group, member):
            token = take_join(group, member)
            assert token is not None
            _answer(transition, group, member, token)
            answered = True
    return answered


def _waits(transition: Transition, group: ConnectGroup, member: ConnectMember) -> bool:
    session = session_of(member)
    if disarms(group, member):
        return False
    if group.classic.gathering_due_ms != NEVER_MS:
        return True
    if group.classic.barrier_due_ms != NEVER_MS and not session.past_barrier:
        return True
    if session.parked_until_ms != NEVER_MS and transition.now_ms < session.parked_until_ms:
        return True
    if member.member_id != group.computed_by or leads(group, member):
        return False
    if not (asks_leader(group) and is_shown_pictures(group, member)):
        return True
    return group.classic.look is None and group.repetition.is_awaited(group.epoch, transition.now_ms)


def _answer(transition: Transition, group: ConnectGroup, member: ConnectMember, token: Token) -> None:
    session = session_of(member)
    looks = asks_leader(group) and is_shown_pictures(group, member) and not disarms(group, member)
    if looks and session.generation >= group.epoch:  # its assignor tells looks apart by their generations (CM-2)
        bump(transition, group, Reason.LEADER_JOINED, [member.member_id])
    session.previous_generation, session.generation = session.generation, group.epoch
    session.generation_unsure = False
    session.protocol = _protocol_for(group, member)
    member.epoch = group.epoch
    session.move(Phase.COMPLETING)
    session.computes = False
    session.may_park = not member.current
    session.due_ms = transition.now_ms + member.metadata.rebalance_timeout_ms
    transition.wake(group, session.due_ms)
    group.forget(member)
    see(transition, group, member)
    if looks and session.protocol == group.classic.protocol:
        open_look(transition, group, member, token)
    elif leads(group, member) and session.protocol == group.classic.protocol:
        open_round(transition, group, member, token)
    else:
        group.classic.doubt_memory_of(member.member_id)
        answer_join(transition, group, member, token, [], _leader_for(group, member))


def _protocol_for(group: ConnectGroup, member: ConnectMember) -> str | None:
    """The group's protocol; the worker's own newest one if it has to stop everything first."""
    return best(group.classic.members[member.member_id]) if disarms(group, member) else group.classic.protocol


def _leader_for(group: ConnectGroup, follower: ConnectMember) -> str:
    """The leader that a follower is told: the worker that computes now, else the one that computed last. Never the
    follower itself, since it is not shown the group.
    """
    look = group.classic.look
    chosen = group.members.get(group.chosen() or (look.leader if look is not None else ""))
    leader = chosen.member_id if chosen is not None and chosen.classic is not None else group.computed_by
    return "" if leader is None or leader == follower.member_id else leader


def call_leader(transition: Transition, group: ConnectGroup, member: ConnectMember) -> None:
    """A JoinGroup that the leader sends by itself is a rebalance like any other (CM-3). It has an epoch of its own,
    since generations tell the leader's looks apart (CM-2). It waits if the group's rebalances repeat themselves.
    """
    if member.member_id != group.computed_by or group.epoch != group.assignment_epoch:
        return
    is_new = session_of(member).generation < group.epoch
    if group.classic.protocol == DEFAULT or (group.classic.look is None and not is_new):
        bump(transition, group, Reason.LEADER_JOINED, [member.member_id])
