"""Sessions of a classic group after a load.

1. After a load every member has a fresh session, from the moment when the log has been read.
2. A group that was between JoinGroup and SyncGroup is in CompletingRebalance again, and all members are expected to
   sync within a fresh rebalance timeout (GW-24).
3. In a stable group the members that have not synced, according to the record, are expected to do so too. Then a
   heartbeat counts as a sync: a client whose SyncGroup was lost with the previous coordinator sends a SyncGroup or
   JoinGroup again, and a client that sends heartbeats has its assignment.
4. A group above `group.max.size` rebalances (GW-23).
5. So does a group that was a connect group until its last record (`conversion/to_generic.py`).
"""

from __future__ import annotations

from sys import intern

from kcoord.group.classic.state_table import CONVERTED, OVER_MAX_SIZE
from kcoord.group.state.groups.classic_group import ClassicGroup, recorded_state, weight_of
from kcoord.group.state.groups.classic_member import ClassicMember
from kcoord.group.state.groups.classic_reasons import Reason, tell
from kcoord.group.state.groups.classic_states import ClassicState
from kcoord.group.state.transition import Transition


def open_sessions(transition: Transition, group: ClassicGroup) -> None:
    """Give a group that was loaded its session state."""
    record, now_ms = group.record, transition.now_ms
    protocol = intern(record.protocol or "")
    shortest_ms = None
    for recorded in record.members:
        session_timeout_ms = recorded.session_timeout
        member = ClassicMember(
            recorded.member_id,
            recorded.group_instance_id,
            intern(recorded.client_id),
            intern(recorded.client_host),
            recorded.rebalance_timeout if recorded.rebalance_timeout != -1 else session_timeout_ms,
            session_timeout_ms,
            ((protocol, recorded.subscription),),
            recorded.assignment,
            now_ms,
            from_record=True,
        )
        group.members[recorded.member_id] = member
        group.weight += weight_of(member)
        if recorded.group_instance_id is not None:
            group.static_ids[recorded.group_instance_id] = recorded.member_id
        if shortest_ms is None or session_timeout_ms < shortest_ms:
            shortest_ms = session_timeout_ms
    group.leader_id = record.leader or next(iter(group.members), None)
    group.protocol_type = record.protocol_type
    group.move(recorded_state(record))
    if shortest_ms is None:
        return
    group.support = {protocol: len(group.members)}
    transition.wake(group, now_ms + shortest_ms)
    _expect_syncs(transition, group)
    if group.was_converted:
        CONVERTED[group.state](transition, group, record.reason or "")
    elif len(group.members) > transition.state.settings.max_size:
        OVER_MAX_SIZE[group.state](transition, group, tell(Reason.OVER_MAX_SIZE, [f"{len(group.members)} members"]))


def _expect_syncs(transition: Transition, group: ClassicGroup) -> None:
    if group.state is ClassicState.COMPLETING:
        group.unsynced.update(group.members)
    elif (
        group.record.state == ClassicState.STABLE.label
    ):  # else it is a record of Kafka, which does not say who has synced
        group.unsynced.update(group.members.keys() - set(group.record.synced_members))
        group.heartbeat_is_sync = True
    if group.unsynced:
        group.sync_due_ms = transition.now_ms + group.rebalance_timeout_ms()
        transition.wake(group, group.sync_due_ms)
