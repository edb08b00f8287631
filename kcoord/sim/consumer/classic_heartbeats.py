"""The judge of what classic members of consumer groups are told by heartbeats, and of answers that wait (KG-22, KG-26).

What a member is to have is read off the group. Whether it is time to call the member is this judge's own reckoning.
"""

from __future__ import annotations

from kcoord.group.state.groups.consumer_group import NOTHING, ConsumerGroup, ConsumerMember, Partitions, Stage
from kcoord.group.state.shard_state import ShardState
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.messages import HeartbeatRequest, HeartbeatResponse
from kcoord.sim.basis.violation import Violation
from kcoord.sim.consumer.classic.process import ClassicConsumerProcess
from kcoord.sim.network import Frame

LONGEST_MS, PART_OF_SESSION = 10_000, 3
"""The longest wait of an answer, unless another one is set, and the part of a session that is never exceeded."""
TOGETHER_MS = 4_000
"""How long after an assignment those who have to let go of something may wait for each other."""


def beaten(state: ShardState, frame: Frame, response: HeartbeatResponse) -> None:
    """A member is called only if its own share is to change, and not refused the generation that it knows."""
    request = frame.request
    assert isinstance(request, HeartbeatRequest)
    group = state.consumer.get(request.group_id)
    member = None if group is None else group.members.get(request.member_id)
    if group is None or member is None or frame.link.serial < member.connection:
        return
    if response.error_code == ErrorCode.REBALANCE_IN_PROGRESS:
        if member.assigned == wanted(group, member) and not member.pending:
            raise Violation("disturbed", f"{member.member_id} keeps its share, and is called")
    elif response.error_code == ErrorCode.ILLEGAL_GENERATION:
        process, knows = frame.link.client, request.generation_id
        is_its = isinstance(process, ClassicConsumerProcess) and process.epoch == knows
        if is_its and member.recorded_epoch <= knows <= group.assignment_epoch:
            raise Violation("refused", f"{member.member_id} is in generation {knows}, and is refused")


def held(group: ConsumerGroup, member: ConsumerMember, token: Frame, wait_ms: int) -> None:
    """An answer waits for a member only, for a while only, and not if the member has to come, unless others are to come
    with it. `wait_ms`: as it is set; -1: it is not.
    """
    if group.members.get(member.member_id) is not member:
        raise Violation("held", f"an answer waits for {member.member_id}, which is gone")
    held_ms = member.wake_ms - token.began_ms
    longest_ms = min(LONGEST_MS if wait_ms < 0 else wait_ms, member.session_timeout_ms // PART_OF_SESSION)
    if held_ms > longest_ms:
        raise Violation("held", f"the answer to {member.member_id} waits for {held_ms} ms, not {longest_ms}")
    target = wanted(group, member)
    mine = {each for each in target - member.assigned if group.owners.get(each, member.member_id) == member.member_id}
    has_to_give = member.stage is Stage.UNREVOKED or not member.assigned <= target
    if has_to_give and _may_wait(group, member):
        return
    has_all = member.stage is Stage.STABLE and member.epoch == group.assignment_epoch  # more comes with the next one
    if has_to_give or (mine and mine == target - member.assigned and not has_all):
        raise Violation("held", f"{member.member_id} has to come, and its answer waits")


def _may_wait(group: ConsumerGroup, member: ConsumerMember) -> bool:
    """Whether somebody else whose share changes waits for no answer by which it could be called, or is on its way, and
    this one waits for that, but not for long.
    """
    others = (each for each in group.members.values() if each is not member and each.is_classic)
    cannot_be_called = any(each.held is None and wanted(group, each) != each.assigned for each in others)
    ends_soon = member.wake_ms <= group.gathering_ms + TOGETHER_MS
    return member.stage is not Stage.UNREVOKED and cannot_be_called and ends_soon


def wanted(group: ConsumerGroup, member: ConsumerMember) -> Partitions:
    """What a member is to have in the end."""
    subscribed = group.subscribed_ids(member)
    return frozenset(each for each in group.target_of(member) or NOTHING if each[0] in subscribed)
