"""The judge of what the leader of a classic group of consumers is shown.

| invariant | rules |
| --- | --- |
| shown: until somebody has assigned in a group that was a consumer group, all have one generation | KG-24 |

Some leaders take what a member of an older generation has for nobody's. Static members are not judged: one that has
stood still since before the upgrade has a generation of then.
"""

from __future__ import annotations

from kcoord.group.state.groups.classic_states import ClassicState
from kcoord.group.state.shard_state import ShardState
from kcoord.group.state.step import Step
from kcoord.protocol.consumer_embedded import decode_subscription
from kcoord.protocol.messages import JoinGroupRequest, JoinGroupResponse
from kcoord.protocol.records import GroupMetadataKey, GroupMetadataValue, Record
from kcoord.sim.basis.violation import Violation
from kcoord.sim.consumer.classic.leading import generation_in
from kcoord.sim.network import Frame


class LeadersJudge:
    """The judge of one run."""

    def __init__(self) -> None:
        self._unassigned = set[str]()
        """The classic groups that were consumer groups, and nobody has assigned in them since."""

    def loaded(self, state: ShardState) -> None:
        """The log has been replayed."""
        self._unassigned = {
            group_id
            for group_id, group in state.groups.items()
            if group.was_converted or (group_id in self._unassigned and group.state is ClassicState.COMPLETING)
        }

    def after(self, step: Step) -> None:
        """A step was taken."""
        for record in step.records:
            self._follow(record)
        for reply in step.replies:
            if isinstance(reply.response, JoinGroupResponse) and isinstance(reply.token, Frame):
                request = reply.token.request
                assert isinstance(request, JoinGroupRequest)
                if request.group_id in self._unassigned:
                    _shown(reply.response)

    def _follow(self, record: Record) -> None:
        key, value = record.key, record.value
        if not isinstance(key, GroupMetadataKey):
            return
        if isinstance(value, GroupMetadataValue) and value.state == ClassicState.PREPARING.label:
            self._unassigned.add(key.group)
        elif not isinstance(value, GroupMetadataValue) or value.state != ClassicState.COMPLETING.label:
            self._unassigned.discard(key.group)


def _shown(response: JoinGroupResponse) -> None:
    shown = {
        each.member_id: generation_in(each.metadata)
        for each in response.members
        if each.group_instance_id is None and decode_subscription(each.metadata).owned
    }
    if len(set(shown.values())) > 1:
        raise Violation("shown", f"members that have something are shown with several generations: {shown}")
