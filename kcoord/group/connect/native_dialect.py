"""The native dialect: what holds for members of a connect group that speak the new protocol (`state/transition.py`)."""

from __future__ import annotations

from kcoord.assign.model import Member as AssignorMember
from kcoord.group.connect import answers
from kcoord.group.connect.held_replies import take_held
from kcoord.group.connect.noop_heartbeat import is_owed_a_session
from kcoord.group.state.groups.connect_group import ConnectGroup, ConnectMember
from kcoord.group.state.groups.modern_member import AWAY_EPOCH
from kcoord.group.state.groups.modern_states import ModernState
from kcoord.group.state.transition import Transition
from kcoord.protocol.errors import ErrorCode
from kcoord.resource import Resource


def open_session(transition: Transition, group: ConnectGroup, member: ConnectMember) -> None:
    """Its epoch may be newer than the recorded one. What it must release, it has time for from now on."""
    member.epoch_unsure = member.recorded_epoch != AWAY_EPOCH
    to_release = member.current - (group.target_of(member) or frozenset[Resource]())
    if to_release and not member.evicted:
        member.releasing = to_release
        member.release_due_ms = transition.now_ms + member.metadata.rebalance_timeout_ms


def is_waiting(_member: ConnectMember) -> bool:
    """A held heartbeat does not keep its session."""
    return False


def refuse_all(transition: Transition, _group: ConnectGroup, member: ConnectMember, error: ErrorCode) -> None:
    """Refuse its held heartbeat."""
    token = take_held(transition.state, member)
    if token is not None:
        answers.refuse_heartbeat(transition, token, error)


def notify(transition: Transition, group: ConnectGroup, member: ConnectMember) -> None:
    """Answer its held heartbeat if there is news for it."""
    if member.held is not None and answers.has_news(group, member):
        answers.flush_held_heartbeat(transition, group, member)


def needs_no_record(transition: Transition, group: ConnectGroup, member: ConnectMember) -> bool:
    """Nothing moves in a stable group, and the answer does not begin a session."""
    return group.state is ModernState.STABLE and not is_owed_a_session(transition.state, group, member)


def assignor_input(
    _group: ConnectGroup, member: ConnectMember, assignor: str, target: frozenset[Resource]
) -> AssignorMember:
    """With what it has sent for that assignor."""
    metadata = member.metadata
    for each in metadata.assignors:
        if each.name == assignor:
            return AssignorMember(
                member.member_id,
                metadata.instance_id,
                metadata.url,
                target,
                each.version,
                each.reason,
                each.metadata,
                member.epoch,
            )
    return AssignorMember(member.member_id, metadata.instance_id, metadata.url, target, epoch=member.epoch)


class _Native:
    """See `Dialect` in `state/transition.py`."""

    evicted_error = ErrorCode.FENCED_MEMBER_EPOCH
    inherits_by_url = True
    flush_held_reply = staticmethod(answers.flush_held_heartbeat)
    open_session = staticmethod(open_session)
    is_waiting = staticmethod(is_waiting)
    refuse_all = staticmethod(refuse_all)
    notify = staticmethod(notify)
    needs_no_record = staticmethod(needs_no_record)
    assignor_input = staticmethod(assignor_input)


NATIVE = _Native()
"""The one that all shards use: it has no state."""
