"""The classic dialect: what holds for classic members of a consumer group (`state/transition.py`)."""

from __future__ import annotations

from kcoord.group.classic_consumers import answers
from kcoord.group.classic_consumers.individual_mode import ASSIGNORS
from kcoord.group.classic_consumers.member_checks import first_protocol
from kcoord.group.classic_consumers.to_classic_group import convert
from kcoord.group.state.deadlines import NEVER_MS
from kcoord.group.state.groups.consumer_group import ConsumerGroup, ConsumerMember, Stage
from kcoord.group.state.groups.modern_member import NO_EPOCH
from kcoord.group.state.groups.modern_states import ModernState
from kcoord.group.state.transition import Transition


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
    flush_held_reply = staticmethod(answers.flush)
    refuse_all = staticmethod(answers.refuse)
    notify = staticmethod(answers.notify)
    convert = staticmethod(convert)

    def is_waiting(self, _member: ConsumerMember) -> bool:
        """What is held does not keep its session."""
        return False

    def needs_no_record(self, _transition: Transition, group: ConsumerGroup, _member: ConsumerMember) -> bool:
        """Nothing moves in a stable group."""
        return group.state is ModernState.STABLE

    def wish(self, member: ConsumerMember) -> str | None:
        """By the assignor that it likes best."""
        return ASSIGNORS.get(first_protocol(member))


CLASSIC = _Classic()
"""The one that all shards use: it has no state."""
