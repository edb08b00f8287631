"""The native dialect: what holds for members of a connect group that speak the new protocol (`state/transition.py`).

Here is also which of their heartbeats are no-ops (`modern/noop_heartbeat.py`).
"""

from __future__ import annotations

from kcoord.assign.model import Member as AssignorMember
from kcoord.group.connect import answers
from kcoord.group.modern.held_replies import take_held
from kcoord.group.modern.noop_heartbeat import changes_nothing
from kcoord.group.modern.sessions import open_native_session
from kcoord.group.state.groups.connect_group import ConnectGroup, ConnectMember
from kcoord.group.state.groups.modern_states import ModernState
from kcoord.group.state.shard_state import ShardState
from kcoord.group.state.transition import Transition
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.messages import ConnectGroupHeartbeatRequest
from kcoord.protocol.resources import unpack
from kcoord.resource import Resource


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


def is_noop_heartbeat(state: ShardState, request: ConnectGroupHeartbeatRequest) -> bool:
    """Whether the heartbeat comes from a converged member of a stable group and says nothing new."""
    group = state.connect.get(request.group_id)
    member = None if group is None else group.members.get(request.member_id)
    if group is None or member is None or _says_more(request) or is_owed_a_session(state, group, member):
        return False
    owned = None if request.connectors_and_tasks is None else unpack(request.connectors_and_tasks)
    return changes_nothing(group, member, request.member_epoch, owned)


def _says_more(request: ConnectGroupHeartbeatRequest) -> bool:
    """Whether the heartbeat has more than ids, the epoch and what the member owns."""
    return (
        request.instance_id is not None
        or request.rebalance_timeout_ms != -1
        or request.server_assignor is not None
        or request.client_assignors is not None
        or request.url is not None
        or request.trouble is not None
        or request.config_offset != -1
        or request.configured_connectors_and_tasks is not None
    )


def is_owed_a_session(state: ShardState, group: ConnectGroup, member: ConnectMember) -> bool:
    """Whether the next answer has a longer session timeout than any before: that must be written first (CG-8)."""
    return state.effective(group.group_id).session_timeout_ms > member.metadata.session_timeout_ms


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
    """See `ConnectDialect` in `state/transition.py`."""

    evicted_error = ErrorCode.FENCED_MEMBER_EPOCH
    inherits_by_url = True
    flush_held_reply = staticmethod(answers.flush_held_heartbeat)
    open_session = staticmethod(open_native_session)
    is_waiting = staticmethod(is_waiting)
    refuse_all = staticmethod(refuse_all)
    notify = staticmethod(notify)
    needs_no_record = staticmethod(needs_no_record)
    assignor_input = staticmethod(assignor_input)


NATIVE = _Native()
"""The one that all shards use: it has no state."""
