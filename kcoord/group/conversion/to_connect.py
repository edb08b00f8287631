"""Conversion of a classic group of Connect workers to a connect group.

1. The group epoch is the generation. Each member's current and target are what it runs (`classic_holdings.py`).
2. A member whose assignment stays is not disturbed: the generation that it knows stays valid.
3. A member that waits for an answer, or has joined and has no assignment yet, is told to join again, and then says what
   it runs.
4. A generation without assignments counts as one that must still be computed: the group epoch is one more, since a
   generation's number is never used twice (CM-2). So does a generation whose leader has taken something away that it
   has not given to others yet.
5. If the group was a connect group just before, and its members have not joined since, each member knows a generation
   of its own. Any up to the group's generation is valid, also after a load.

The conversion is one step: a log that is cut anywhere shows the one group or the other.
"""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from kcoord.group.classic.answers import release_join, release_sync
from kcoord.group.connect.reasons import Reason
from kcoord.group.conversion.classic_holdings import Worker, last_leader, read_workers
from kcoord.group.modern import history
from kcoord.group.state.classic_workers.embedded_protocol import DEFAULT
from kcoord.group.state.classic_workers.session import QUIET_MS
from kcoord.group.state.deadlines import NEVER_MS
from kcoord.group.state.groups.classic_group import ClassicGroup
from kcoord.group.state.groups.classic_states import ClassicState
from kcoord.group.state.groups.connect_group import (
    NO_DEADLINE,
    NO_OFFSET,
    ConnectGroup,
    ConnectMember,
    Metadata,
    Target,
)
from kcoord.group.state.groups.modern_member import JOINING_EPOCH, NO_EPOCH
from kcoord.group.state.records import connect_records as records
from kcoord.group.state.records.classic_records import tombstone
from kcoord.group.state.replay import replay
from kcoord.group.state.shard_state import ShardState
from kcoord.group.state.transition import Transition
from kcoord.group.translation.answers import session_of
from kcoord.group.translation.rounds.config_round import holders_below, open_config_round
from kcoord.group.translation.rounds.leader import known_as
from kcoord.group.translation.sessions import begin
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.connect_worker_group_member_metadata_value import ClassicMemberMetadata
from kcoord.protocol.records import Record


@attrs.frozen
class Plan:
    """The connect group that is to be made."""

    classic: ClassicGroup
    workers: list[Worker]
    epoch: int
    records: list[Record]


def plan(transition: Transition, classic: ClassicGroup) -> Plan:
    """Plan the conversion; nothing is changed yet. Raises NotConvertible."""
    workers = read_workers(classic)
    is_complete = classic.state is ClassicState.STABLE and not any(_releases(each) for each in workers)
    epoch = classic.generation if is_complete else classic.generation + 1
    return Plan(classic, workers, epoch, list(_records(transition, classic, workers, epoch)))


def preview(transition: Transition, classic: ClassicGroup) -> ConnectGroup:
    """The connect group that `classic` would become, for checks. Raises NotConvertible."""
    scratch = ShardState(transition.state.settings, transition.state.ids)
    for record in plan(transition, classic).records:
        replay(scratch, record)
    return scratch.connect[classic.group_id]


def to_connect(transition: Transition, classic: ClassicGroup) -> ConnectGroup:
    """Convert the group. The caller settles it. Raises NotConvertible, and then has changed nothing."""
    planned = plan(transition, classic)
    for worker in planned.workers:
        member = worker.member
        release_join(transition, classic, member, ErrorCode.REBALANCE_IN_PROGRESS, member.member_id)
        release_sync(transition, member, ErrorCode.REBALANCE_IN_PROGRESS)
    transition.write(tombstone(classic.group_id))
    for record in planned.records:
        transition.write(record)
    group = transition.state.connect[classic.group_id]
    group.classic.map_due_ms = transition.now_ms + QUIET_MS  # makes up for a look that the conversion has ended
    history.began(transition, group)
    if planned.epoch == classic.generation:
        history.installed(transition, group, {})
    transition.state.counters.rebalances[Reason.MIGRATED] += 1
    transition.state.counters.conversions["to connect"] += 1
    for worker in planned.workers:
        _open_session(transition, group, worker, classic.generation)
    if classic.state is not ClassicState.STABLE:
        _keep_together(transition, group)
    return group


def _keep_together(transition: Transition, group: ConnectGroup) -> None:
    """Open a config round. The conversion came in the middle of a rebalance, which may be for a change of configuration
    that only some have read. It needs the barrier that the classic group had. The last assignment may be as new as the
    change: if the group was converted from a connect group in the middle of a config round, the leader has computed,
    and others have not come yet.
    """
    metadata = [group.members[each].metadata.classic for each in group.classic.members]
    newest = max([each.config_offset for each in metadata if each is not None], default=NO_OFFSET)
    if group.classic.protocol != DEFAULT and (newest > group.computed_offset or holders_below(group, newest)):
        open_config_round(transition, group, newest)


def _records(transition: Transition, classic: ClassicGroup, workers: list[Worker], epoch: int) -> Iterator[Record]:
    group_id = classic.group_id
    scratch = ConnectGroup(group_id, epoch)
    yield records.group_epoch(scratch, epoch, Reason.MIGRATED, transition.wall_ms)
    leader, offset = last_leader(classic, workers)
    urls = {each.member.member_id: each.spoken.url or None for each in workers}
    for worker in workers:
        member_id = worker.member.member_id
        metadata = _metadata(worker, epoch, classic.protocol_name)
        yield records.member_metadata(group_id, member_id, metadata)
        known = classic.generation if worker.knows_generation else JOINING_EPOCH
        member = ConnectMember(member_id, metadata)
        yield records.current_assignment(scratch, member, worker.current, known, NO_EPOCH, doubtful=worker.doubtful)
        yield records.member_target(group_id, member_id, Target(worker.target, url=worker.spoken.url or None))
    yield records.target_assignment(
        scratch,
        leader,
        classic.protocol_name or "",
        NO_DEADLINE,
        epoch=classic.generation,
        computed_by_url=urls.get(leader or ""),
        computed_offset=offset,
    )


def _releases(worker: Worker) -> bool:
    """Whether the worker was told to stop something, and has not yet reported that it has stopped."""
    return worker.is_settled and bool(worker.current - worker.target)


def _metadata(worker: Worker, epoch: int, protocol: str | None) -> Metadata:
    member, spoken, told = worker.member, worker.spoken, worker.told
    is_told = worker.is_settled and told is not None
    return Metadata(
        group_epoch=epoch,
        client_id=member.client_id,
        client_host=member.client_host,
        url=spoken.url or None,
        rebalance_timeout_ms=member.rebalance_timeout_ms,
        session_timeout_ms=member.session_timeout_ms,
        classic=ClassicMemberMetadata(
            list(spoken.protocols),
            spoken.config_offset,
            known_as(told.leader, told.leader_url) if is_told and told is not None else None,
            protocol if is_told else None,
        ),
    )


def _open_session(transition: Transition, group: ConnectGroup, worker: Worker, generation: int) -> None:
    """Carry on the worker's session. Its last assignment says what it must stop, and it joins by itself when it has."""
    classic, member = worker.member, group.members[worker.member.member_id]
    waited = classic.is_new or not worker.is_settled
    member.last_seen_ms = max(classic.last_seen_ms, transition.now_ms) if waited else classic.last_seen_ms
    member.session_timeout_ms = classic.session_timeout_ms
    member.connection, member.opened = classic.connection, classic.opened
    transition.wake(group, max(member.last_seen_ms + member.session_timeout_ms, transition.now_ms + 1))
    begin(
        transition,
        group,
        member,
        generation if worker.knows_generation else JOINING_EPOCH,
        rejoin=not worker.is_settled,
    )
    session_of(member).generation_unsure = worker.knows_some_generation
    if _releases(worker):
        member.releasing = worker.current - worker.target
        member.release_due_ms = transition.now_ms + classic.rebalance_timeout_ms
        transition.wake(group, member.release_due_ms)
    elif not worker.is_settled:
        member.releasing, member.release_due_ms = frozenset(), NEVER_MS
