"""The classic dialect: what holds for classic members of a consumer group (`state/transition.py`).

Their heartbeats are never held, so nothing of them waits.
"""

from __future__ import annotations

from kcoord.group.classic_consumers.individual_mode import ASSIGNORS
from kcoord.group.classic_consumers.member_checks import first_protocol
from kcoord.group.classic_consumers.to_classic_group import convert
from kcoord.group.state.deadlines import NEVER_MS
from kcoord.group.state.groups.consumer_group import ConsumerGroup, ConsumerMember, Stage
from kcoord.group.state.groups.modern_member import NO_EPOCH
from kcoord.group.state.transition import Transition
from kcoord.protocol.errors import ErrorCode


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
    convert = staticmethod(convert)

    def is_waiting(self, _member: ConsumerMember) -> bool:
        """Nothing of it waits."""
        return False

    def flush_held_reply(self, _transition: Transition, _group: ConsumerGroup, _member: ConsumerMember) -> None:
        """No answer of it is ever held."""

    def refuse_all(
        self, _transition: Transition, _group: ConsumerGroup, _member: ConsumerMember, _error: ErrorCode
    ) -> None:
        """There is nothing to refuse."""

    def notify(self, _transition: Transition, _group: ConsumerGroup, _member: ConsumerMember) -> None:
        """Its next heartbeat tells it."""

    def needs_no_record(self, _transition: Transition, _group: ConsumerGroup, _member: ConsumerMember) -> bool:
        """Nothing is sent."""
        return True

    def wish(self, member: ConsumerMember) -> str | None:
        """By the assignor that it likes best."""
        return ASSIGNORS.get(first_protocol(member))


CLASSIC = _Classic()
"""The one that all shards use: it has no state."""
