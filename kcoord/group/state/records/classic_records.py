"""The GroupMetadata record of a classic group: Kafka's record with a few tagged fields of kcoord.

A record is written in these cases:

1. A group is created.
2. The join phase ends, and the generation's number increases.
3. The leader's assignment arrives.
4. A static member is replaced in a stable group.
5. A connect group becomes a classic group (`conversion/to_generic.py`), or a consumer group does
   (`classic_consumers/to_classic_group.py`).
6. The group goes: then it is a tombstone.

Kafka writes no record at the end of the join phase. kcoord's record says CompletingRebalance there, so that a crash
between JoinGroup and SyncGroup loses neither the generation nor its members (GW-24).

Tagged fields: State; LowestGeneration, after 5 and until 3, if members have generations of their own (KG-24);
JoinedMembers, the members that have joined this generation (known at the end of the join phase:
static members may be absent); SyncedMembers, the members that have fetched the assignment (known at the leader's
SyncGroup); Reason and ReasonTimestamp, why this generation exists and when its rebalance began, in Unix time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kcoord.group.state.groups.classic_group import ClassicGroup, Rebalance
from kcoord.group.state.groups.classic_member import ClassicMember
from kcoord.group.state.groups.classic_states import ClassicState
from kcoord.protocol.records import GroupMetadataKey, GroupMetadataValue, MemberMetadata, Record

NOTHING = b""


def creation(group_id: str, wall_ms: int) -> Record:
    """A group is created, without members yet."""
    value = GroupMetadataValue(
        protocol=None, leader=None, current_state_timestamp=wall_ms, state=ClassicState.EMPTY.label
    )
    return Record(GroupMetadataKey(group_id), value)


def next_generation(group: ClassicGroup, rebalance: Rebalance, protocol: str, wall_ms: int) -> Record:
    """The join phase has ended. `group.members` will speak `protocol`; none of them has an assignment yet."""
    value = GroupMetadataValue(
        protocol_type=group.protocol_type,
        generation=group.generation + 1,
        protocol=protocol,
        leader=group.leader_id,
        current_state_timestamp=wall_ms,
        members=_members(group.members.values(), protocol, {}),
        state=ClassicState.COMPLETING.label,
        joined_members=[member.member_id for member in group.members.values() if member.parked_join is not None],
        reason=rebalance.tell(),
        reason_timestamp=rebalance.since_wall_ms,
        lowest_generation=group.record.lowest_generation,
    )
    return Record(GroupMetadataKey(group.group_id), value)


def emptied(group: ClassicGroup, rebalance: Rebalance, wall_ms: int) -> Record:
    """The join phase has ended, and no members are left."""
    value = GroupMetadataValue(
        protocol_type=group.protocol_type,
        generation=group.generation + 1,
        protocol=None,
        leader=None,
        current_state_timestamp=wall_ms,
        state=ClassicState.EMPTY.label,
        reason=rebalance.tell(),
        reason_timestamp=rebalance.since_wall_ms,
    )
    return Record(GroupMetadataKey(group.group_id), value)


def assigned(group: ClassicGroup, assignments: Mapping[str, bytes], wall_ms: int) -> Record:
    """The leader has sent the assignments; a member that it left out gets an empty one."""
    before = group.record
    value = GroupMetadataValue(
        protocol_type=before.protocol_type,
        generation=before.generation,
        protocol=before.protocol,
        leader=before.leader,
        current_state_timestamp=wall_ms,
        members=_members(group.members.values(), before.protocol or "", assignments),
        state=ClassicState.STABLE.label,
        synced_members=[member_id for member_id in group.members if member_id not in group.unsynced],
        reason=before.reason,
        reason_timestamp=before.reason_timestamp,
    )
    return Record(GroupMetadataKey(group.group_id), value)


def replaced(group: ClassicGroup) -> Record:
    """A static member has been replaced in a stable group: the generation stays, the member's id changes."""
    held = {member.member_id: member.assignment for member in group.members.values()}
    record = assigned(group, held, group.record.current_state_timestamp)
    assert isinstance(record.value, GroupMetadataValue)
    record.value.leader = None if group.leader_is_unknown else group.leader_id
    return record


def tombstone(group_id: str) -> Record:
    """The group is gone."""
    return Record(GroupMetadataKey(group_id), None)


def _members(members: Iterable[ClassicMember], protocol: str, assignments: Mapping[str, bytes]) -> list[MemberMetadata]:
    return [
        MemberMetadata(
            member.member_id,
            member.instance_id,
            member.client_id,
            member.client_host,
            member.rebalance_timeout_ms,
            member.session_timeout_ms,
            member.metadata(protocol),
            assignments.get(member.member_id, NOTHING),
        )
        for member in members
    ]
