"""The native dialect: what holds for members of a consumer group that speak the new protocol (`transition.py`)."""

from __future__ import annotations

from kcoord.group.consumer import answers
from kcoord.group.consumer.answer_delay import says_more
from kcoord.group.consumer.request_validation import owned_by
from kcoord.group.modern.held_replies import take_held
from kcoord.group.modern.noop_heartbeat import changes_nothing
from kcoord.group.state.groups.consumer_group import ConsumerGroup, ConsumerMember, Stage
from kcoord.group.state.groups.modern_member import AWAY_EPOCH, JOINING_EPOCH
from kcoord.group.state.groups.modern_states import ModernState
from kcoord.group.state.shard_state import ShardState
from kcoord.group.state.transition import Transition
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.messages import ConsumerGroupHeartbeatRequest


def open_session(transition: Transition, group: ConsumerGroup, member: ConsumerMember) -> None:
    """Its epoch may be newer than the recorded one, and nobody knows what it has confirmed. What it must let go of, it
    has time for from now on.
    """
    member.unconfirmed = member.current
    member.told_epoch = max(member.recorded_epoch, JOINING_EPOCH)
    member.epoch_unsure = member.recorded_epoch != AWAY_EPOCH and member.stage is not Stage.UNREVOKED
    if member.stage is Stage.UNREVOKED and not member.away:
        member.releasing = member.pending
        member.release_due_ms = transition.now_ms + member.metadata.rebalance_timeout_ms
        transition.wake(group, member.release_due_ms)


def is_waiting(_member: ConsumerMember) -> bool:
    """A held heartbeat does not keep its session."""
    return False


def flush_held_reply(transition: Transition, group: ConsumerGroup, member: ConsumerMember) -> None:
    """Send its held answer as it is now."""
    token = take_held(transition.state, member)
    if token is not None:
        changed = answers.advance(transition, group, member, None)
        tells = changed or member.is_owed_all or answers.has_other_note(group, member)
        answers.answer(transition, group, member, token, with_assignment=tells)


def refuse_all(transition: Transition, group: ConsumerGroup, member: ConsumerMember, error: ErrorCode) -> None:
    """Refuse its held heartbeat. One that has come by another connection is answered: it is a member still."""
    token = take_held(transition.state, member)
    if token is None:
        return
    if error is ErrorCode.FENCED_MEMBER_EPOCH:
        answers.answer(transition, group, member, token, with_assignment=member.is_owed_all)
    else:
        answers.refuse_heartbeat(transition, token, error)


def notify(transition: Transition, group: ConsumerGroup, member: ConsumerMember) -> None:
    """Answer its held heartbeat if there is news for it."""
    if member.held is not None and answers.has_news(group, member):
        flush_held_reply(transition, group, member)


def needs_no_record(_transition: Transition, group: ConsumerGroup, _member: ConsumerMember) -> bool:
    """Nothing moves in a stable group."""
    return group.state is ModernState.STABLE


def is_noop_heartbeat(state: ShardState, request: ConsumerGroupHeartbeatRequest) -> bool:
    """Whether the heartbeat comes from a converged member of a stable group and says nothing new."""
    group = state.consumer.get(request.group_id)
    member = None if group is None else group.members.get(request.member_id)
    if group is None or member is None or says_more(request) or request.instance_id != member.metadata.instance_id:
        return False
    owned = owned_by(request)
    is_known = owned is None or owned == member.reported
    return is_known and changes_nothing(group, member, request.member_epoch, owned)


class _Native:
    """See `Dialect` in `state/transition.py`."""

    open_session = staticmethod(open_session)
    is_waiting = staticmethod(is_waiting)
    flush_held_reply = staticmethod(flush_held_reply)
    refuse_all = staticmethod(refuse_all)
    notify = staticmethod(notify)
    needs_no_record = staticmethod(needs_no_record)


NATIVE = _Native()
"""The one that all shards use: it has no state."""
