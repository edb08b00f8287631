"""A consumer group, all of whose members speak the classic protocol, becomes a classic group again, unless they are
led one by one (`individual_mode.py`).

The generation is the group epoch, or the number after the fence epoch if that is higher: the next generation must be
one for which the sentinel does not stand yet (KG-19). Each member's assignment is all that it may be consuming. Then
all join again, so that one of them leads. Each member knows the generation at which it joined last: until they have
joined again, any that one of them may know is valid (`ClassicGroup.may_know`). None from before the upgrade is: a
member that has stood still since then may read what others were given in the classic group. Offsets stay.
"""

from __future__ import annotations

from collections import Counter

from kcoord.group.classic.sessions import open_sessions
from kcoord.group.classic_consumers.answers import encoded
from kcoord.group.classic_consumers.individual_mode import is_individual, needs_leader
from kcoord.group.classic_consumers.member_metadata import classic_part, protocols_of
from kcoord.group.modern.held_replies import refuse_all
from kcoord.group.state.groups.classic_states import ClassicState
from kcoord.group.state.groups.consumer_group import PROTOCOL_TYPE, ConsumerGroup, ConsumerMember
from kcoord.group.state.groups.modern_member import JOINING_EPOCH
from kcoord.group.state.records import consumer_records as records
from kcoord.group.state.transition import Transition
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.group_metadata_value import MemberMetadata
from kcoord.protocol.records import GroupMetadataKey, GroupMetadataValue, Record

WHY = "all its consumers speak the classic protocol"
NEEDS_LEADER = "a consumer has an assignor of its own, so that one of them must lead"


def convert(transition: Transition, group: ConsumerGroup) -> bool:
    """Convert the group if its last member of the new protocol has gone, its policy says so, and its members are not
    led one by one. Whether it is a classic group now.
    """
    if group.dead or not group.members or not all(each.is_classic for each in group.members.values()):
        return group.dead
    state = transition.state
    may_go_back = state.consumer_settings(group.group_id).migration_policy.downgrades
    if not may_go_back or len(group.members) > state.settings.max_size:
        return False
    members = list(group.members.values())
    is_mode = is_individual(state, group.group_id)
    if is_mode and not any(needs_leader(protocols_of(member)) for member in members):
        return False
    _convert(transition, group, members, NEEDS_LEADER if is_mode else WHY)
    return True


def _convert(transition: Transition, group: ConsumerGroup, members: list[ConsumerMember], why: str) -> None:
    transition.state.counters.conversions["to classic"] += 1
    group_id = group.group_id
    record = _record(group, members, why, transition.wall_ms)
    for member in members:
        refuse_all(transition, group, member, ErrorCode.REBALANCE_IN_PROGRESS)
    for member in members:
        if member.recorded:
            transition.write(records.no_current(group_id, member.member_id))
        transition.write(records.member_metadata(group_id, member.member_id, None))
    for each in records.deletion(group):
        transition.write(each)
    transition.write(Record(GroupMetadataKey(group_id), record))
    classic = transition.state.groups[group_id]
    open_sessions(transition, classic)
    for member in members:
        now = classic.members[member.member_id]
        classic.offer(now, protocols_of(member))
        now.last_seen_ms = member.last_seen_ms
        now.connection, now.opened = member.connection, member.opened
    transition.wake(classic, transition.now_ms + 1)  # some session may end before the group's next look


def _record(group: ConsumerGroup, members: list[ConsumerMember], why: str, wall_ms: int) -> GroupMetadataValue:
    protocol = _common_protocol(members)
    return GroupMetadataValue(
        protocol_type=PROTOCOL_TYPE,
        generation=max(group.epoch, group.fence_epoch + 1),
        protocol=protocol,
        leader=members[0].member_id,
        current_state_timestamp=wall_ms,
        members=[
            MemberMetadata(
                member_id=each.member_id,
                group_instance_id=each.metadata.instance_id,
                client_id=each.metadata.client_id,
                client_host=each.metadata.client_host,
                rebalance_timeout=each.metadata.rebalance_timeout_ms,
                session_timeout=classic_part(each).session_timeout_ms,
                subscription=dict(protocols_of(each))[protocol],
                assignment=encoded(group, each, each.current),
            )
            for each in members
        ],
        state=ClassicState.PREPARING.label,
        reason=why,
        reason_timestamp=wall_ms,
        lowest_generation=min(map(_lowest, members)),
    )


def _lowest(member: ConsumerMember) -> int:
    """The lowest generation that the member may know: if it has not synced since its last JoinGroup, the one before."""
    before, now = member.recorded_previous, member.recorded_epoch
    return min(before, now) if before > JOINING_EPOCH else now


def _common_protocol(members: list[ConsumerMember]) -> str:
    """The assignor that all members have, and that the first likes best. A join made sure that there is one."""
    named = Counter(name for member in members for name, _ in protocols_of(member))
    return next(name for name, _ in protocols_of(members[0]) if named[name] == len(members))
