"""The classic dialect: what holds for classic members of a consumer group (`state/transition.py`)."""

from __future__ import annotations

from kcoord.group.classic_consumers.heartbeat import flush
from kcoord.group.classic_consumers.individual_mode import ASSIGNORS
from kcoord.group.classic_consumers.member_checks import first_protocol
from kcoord.group.classic_consumers.rejoin import has_to_rejoin
from kcoord.group.classic_consumers.to_classic_group import convert
from kcoord.group.modern.held_replies import take_held
from kcoord.group.state.deadlines import NEVER_MS
from kcoord.group.state.groups.consumer_group import ConsumerGroup, ConsumerMember, Stage
from kcoord.group.state.groups.modern_member import NO_EPOCH
from kcoord.group.state.groups.modern_states import ModernState
from kcoord.group.state.transition import Transition
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.messages import HeartbeatResponse


def open_session(transition: Transition, group: ConsumerGroup, member: ConsumerMember) -> None:
    """Its generation may be newer than the recorded epoch. What it must let go of, it has time for from now on."""
    member.epoch_unsure, member.generation, member.call_due_ms = True, NO_EPOCH, NEVER_MS
    if member.stage is Stage.UNREVOKED:
        member.releasing = member.pending
        member.release_due_ms = transition.now_ms + member.metadata.rebalance_timeout_ms
        transition.wake(group, member.release_due_ms)


class _Classic:
    """See `ClassicConsumers` in `state/transition.py`."""

    open_session = staticmethod(open_session)
    flush_held_reply = staticmethod(flush)
    convert = staticmethod(convert)

    def is_waiting(self, _member: ConsumerMember) -> bool:
        """A held heartbeat does not keep its session."""
        return False

    def refuse_all(
        self, transition: Transition, _group: ConsumerGroup, member: ConsumerMember, error: ErrorCode
    ) -> None:
        """Refuse its held heartbeat. Nobody reads the answer if it has come by another connection."""
        token = take_held(transition.state, member)
        if token is not None:
            is_elsewhere = error is ErrorCode.FENCED_MEMBER_EPOCH
            told = ErrorCode.REBALANCE_IN_PROGRESS if is_elsewhere else error
            transition.answer(token, HeartbeatResponse(error_code=told))

    def notify(self, transition: Transition, group: ConsumerGroup, member: ConsumerMember) -> None:
        """If its heartbeat waits, call it now if it has to be; else its next heartbeat tells it."""
        if member.held is not None and has_to_rejoin(group, member):
            flush(transition, group, member)

    def needs_no_record(self, _transition: Transition, group: ConsumerGroup, _member: ConsumerMember) -> bool:
        """Nothing moves in a stable group."""
        return group.state is ModernState.STABLE

    def wish(self, member: ConsumerMember) -> str | None:
        """By the assignor that it likes best."""
        return ASSIGNORS.get(first_protocol(member))


CLASSIC = _Classic()
"""The one that all shards use: it has no state."""
