"""Conversion of a connect group, all of whose members are classic workers, back to a classic group.

The generation is the group epoch, and each worker's assignment is all that it may be running. Then all join again, so
that the leader sees what each reports. No worker stops anything for that (`compatible`, `sessioned`). What waited for
another worker's release, or for a worker's return, is the leader's to give out again.

Each worker knows the generation at which it joined last. So until they have joined again, any generation up to the
group's is valid, and is answered REBALANCE_IN_PROGRESS: ILLEGAL_GENERATION would reset the workers. That must outlast a
load. So the record says PreparingRebalance, as no other record does, and `classic/sessions.py` starts the rebalance
from it again.

What a connect group has beyond its members is removed: the configured set, the targets of departed members, the
history. Its settings stay.
"""

from __future__ import annotations

from kcoord.group.classic.sessions import open_sessions
from kcoord.group.connect.reasons import Reason
from kcoord.group.modern.held_replies import refuse_all
from kcoord.group.state.classic_workers.embedded_protocol import DEFAULT, version
from kcoord.group.state.groups.classic_group import ClassicGroup
from kcoord.group.state.groups.classic_member import Protocols
from kcoord.group.state.groups.classic_states import ClassicState
from kcoord.group.state.groups.connect_group import PROTOCOL_TYPE, ConnectGroup, ConnectMember
from kcoord.group.state.records import connect_records as records
from kcoord.group.state.transition import Transition
from kcoord.protocol.embedded import EAGER, NAMES, WorkerAssignment, WorkerState, encode_assignment, encode_state
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.records import GroupMetadataKey, GroupMetadataValue, MemberMetadata, Record

WHY = f"{Reason.MIGRATED}: only workers of the classic protocol are left, and they join all together"


def to_classic(transition: Transition, group: ConnectGroup) -> ClassicGroup:
    """Convert the group; all its members must be classic workers. Evicted members are left out."""
    group_id = group.group_id
    members = group.participants()
    for member in group.members.values():
        refuse_all(transition, group, member, ErrorCode.REBALANCE_IN_PROGRESS)
    record = _record(group, members, transition.wall_ms)
    offers = {each.member_id: _offers(group, each) for each in members}
    _close(transition, group)
    transition.write(Record(GroupMetadataKey(group_id), record))
    classic = transition.state.groups[group_id]
    open_sessions(transition, classic)
    for member in members:
        now = classic.members[member.member_id]
        classic.offer(now, offers[member.member_id])
        now.last_seen_ms = member.last_seen_ms
        now.connection, now.opened = member.connection, member.opened
    transition.wake(classic, transition.now_ms + 1)  # some session may end before the group's next look
    transition.state.counters.conversions["to classic"] += 1
    return classic


def _record(group: ConnectGroup, members: list[ConnectMember], wall_ms: int) -> GroupMetadataValue:
    """The record, under the lowest protocol that all workers speak. So after a load no worker that joins is refused
    because of what the record cannot say.
    """
    protocol = _lowest(group, members)
    number = version(protocol)
    leader = group.computed_by if any(each.member_id == group.computed_by for each in members) else members[0].member_id
    return GroupMetadataValue(
        protocol_type=PROTOCOL_TYPE,
        generation=group.epoch,
        protocol=protocol,
        leader=leader,
        current_state_timestamp=wall_ms,
        members=[
            MemberMetadata(
                member_id=each.member_id,
                group_instance_id=None,
                client_id=each.metadata.client_id,
                client_host=each.metadata.client_host,
                rebalance_timeout=each.metadata.rebalance_timeout_ms,
                session_timeout=each.metadata.session_timeout_ms,
                subscription=_state(group, each, number),
                assignment=encode_assignment(_assignment(group, each, number)),
            )
            for each in members
        ],
        state=ClassicState.PREPARING.label,
        reason=WHY,
        reason_timestamp=wall_ms,
    )


def _lowest(group: ConnectGroup, members: list[ConnectMember]) -> str:
    spoken = [set(group.classic.members[each.member_id]) for each in members]
    return min(set.intersection(*spoken), key=NAMES.index, default=group.classic.protocol or DEFAULT)


def _offers(group: ConnectGroup, member: ConnectMember) -> Protocols:
    """What the worker would offer if it joined now."""
    assert member.metadata.classic is not None
    return tuple((name, _state(group, member, version(name))) for name in member.metadata.classic.protocols)


def _state(group: ConnectGroup, member: ConnectMember, number: int) -> bytes:
    metadata, classic = member.metadata, member.metadata.classic
    assert classic is not None
    allocation = _assignment(group, member, number) if number > EAGER and member.current else None
    return encode_state(WorkerState(number, metadata.url or "", classic.config_offset, allocation))


def _assignment(group: ConnectGroup, member: ConnectMember, number: int) -> WorkerAssignment:
    """All that the worker may be running, as if its last assignment had been exactly that."""
    return WorkerAssignment(
        number,
        0,
        group.computed_by or "",
        group.computed_by_url or "",
        group.computed_offset,
        assigned=member.current,
    )


def _close(transition: Transition, group: ConnectGroup) -> None:
    """Write tombstones for everything that the connect group has, except its settings."""
    for member in list(group.members.values()):
        if member.recorded:
            transition.write(records.no_current(group.group_id, member.member_id))
        transition.write(records.member_metadata(group.group_id, member.member_id, None))
    for record in records.deletion(group):
        transition.write(record)
