"""ConnectGroupDescribe (32103): the state of a connect group, and its history.

For each member: what it may be running, its target, what it waits for, what it must release, and the protocol that it
speaks. For the group: its epochs, who computes, whose resources wait, and its history. The server or the gateway fills
in the authorized operations. A group in quarantine has an error message that says so, and no error code.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import IntEnum
from typing import cast

from kcoord.assign import Resource
from kcoord.group.connect.computing import remaining_delay_ms
from kcoord.group.connect.departed_workers import rebalance_delay
from kcoord.group.conversion.barrier_reason import why_barrier, why_barrier_among_classic
from kcoord.group.modern.grants_and_releases import standing
from kcoord.group.state.bounded_text import bounded_name, bounded_text
from kcoord.group.state.classic_workers.embedded_protocol import DEFAULT
from kcoord.group.state.classic_workers.session import NO_GENERATION
from kcoord.group.state.connect_settings import Effective
from kcoord.group.state.groups.connect_group import NO_OFFSET, PROTOCOL_TYPE, ConnectGroup, ConnectMember, Resources
from kcoord.group.state.step import RequestContext, Token
from kcoord.group.state.transition import Transition
from kcoord.group.translation.rounds.leader_view import best
from kcoord.protocol.config_source import ConfigSource
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.connect_group_describe_response import (
    ConnectorsAndTasks,
    ConnectorTaskId,
    Departed,
    DescribedGroup,
    HistoryEntry,
    Member,
    Misplaced,
    Move,
)
from kcoord.protocol.generated.connect_worker_group_history_value import Move as RecordedMove
from kcoord.protocol.messages import ConnectGroupDescribeRequest, ConnectGroupDescribeResponse
from kcoord.protocol.records import ConnectWorkerGroupHistoryValue
from kcoord.protocol.resources import Entry, pack
from kcoord.protocol.sliced_encoding import DeferredArray

CONNECT = "connect"
"""The protocol of members that are not classic."""


class PlacementState(IntEnum):
    """Whether the group's assignment follows placement rules."""

    NO_RULES = 0
    FOLLOWED = 1
    MOVING = 2
    NOT_FOLLOWED = 3
    NO_RULES_AND_COMPUTED = 4
    """There are no rules, and rules would not be followed because workers compute."""


def connect_group_describe(
    transition: Transition, request: ConnectGroupDescribeRequest, context: RequestContext, token: Token
) -> None:
    """Handle a ConnectGroupDescribe for groups of this shard."""
    described = [_describe(transition, group_id) for group_id in request.group_ids]
    transition.answer(token, ConnectGroupDescribeResponse(groups=described))


def _describe(transition: Transition, group_id: str) -> DescribedGroup:
    group = transition.state.connect.get(group_id)
    if group is None:
        return _no_connect_group(transition, group_id)
    configured, limits = group.configured, transition.state.effective(group_id)
    known = transition.state.quarantine.get(group_id)
    delay_ms, delay_source = rebalance_delay(transition, group, limits)
    return DescribedGroup(
        error_message=None if known is None else known.text(),
        group_id=group_id,
        group_state=group.state.label,
        group_epoch=group.epoch,
        assignment_epoch=group.assignment_epoch,
        assignor_name=group.assignor if group.computation is None else group.computation.assignor,
        members=[_member(group, member) for member in group.members.values()],
        computing_member_id=group.chosen(),
        config_offset=NO_OFFSET if configured is None else configured.offset,
        config_source=ConfigSource.UNSAID if configured is None else configured.source,
        configured=None if configured is None else _packed(configured.resources),
        departed=[
            Departed(member_id, target.instance_id, target.url, _packed(target.resources))
            for member_id, target in group.departed()
        ],
        remaining_delay_ms=remaining_delay_ms(group, transition.now_ms),
        assignment_error=group.error,
        assignment_error_message=group.error_message,
        history=[_entry(epoch, entry) for epoch, entry in group.history.items()],
        classic_mode=limits.classic_mode,
        barrier=why_barrier_among_classic(group),
        embedded_protocol=group.classic.protocol,
        migration_policy=limits.migration_policy,
        repeated_rebalances=group.repetition.times,
        computes_in_ms=group.repetition.remaining_ms(transition.now_ms),
        rebalance_delay_ms=delay_ms,
        rebalance_delay_source=delay_source,
        placement_state=_placement_state(group, limits),
        misplaced=[*_misplaced(group.placed.unplaced, False), *_misplaced(group.placed.unmet, True)],
    )


def _placement_state(group: ConnectGroup, limits: Effective) -> PlacementState:
    is_computed = _is_computed_by_workers(group)
    if not limits.placement:
        return PlacementState.NO_RULES_AND_COMPUTED if is_computed else PlacementState.NO_RULES
    if is_computed:
        return PlacementState.NOT_FOLLOWED
    is_done = group.placed.rules == limits.placement and not group.placed.has_more
    return PlacementState.FOLLOWED if is_done else PlacementState.MOVING


def _is_computed_by_workers(group: ConnectGroup) -> bool:
    """Whether workers compute the assignment; they know no placement rules. The log tells this after a failover too."""
    if group.classic.members:
        return not group.placed.is_followed or group.classic.protocol == DEFAULT
    return not group.placed.is_followed or group.computed_by is not None


def _misplaced(resources: Mapping[Resource, str], is_running: bool) -> Iterator[Misplaced]:
    """The resources, grouped by reason."""
    by_reason: dict[str, set[Resource]] = {}
    for resource, reason in resources.items():
        by_reason.setdefault(reason, set()).add(resource)
    for reason, found in sorted(by_reason.items()):
        yield Misplaced(bounded_text(reason), is_running, _packed(frozenset(found)))


def _no_connect_group(transition: Transition, group_id: str) -> DescribedGroup:
    """The answer for a group that is not a connect group. For a classic group of Connect workers it says why it has the
    barrier.
    """
    state = transition.state
    classic = state.groups.get(group_id)
    why = "not found" if classic is None else "is a group of the classic protocol"
    described = DescribedGroup(
        ErrorCode.GROUP_ID_NOT_FOUND, f"Group {bounded_name(group_id)} {why}.", group_id, group_state="Dead"
    )
    if classic is not None and classic.protocol_type == PROTOCOL_TYPE:
        limits = state.effective(group_id)
        described.classic_mode, described.migration_policy = limits.classic_mode, limits.migration_policy
        described.barrier = why_barrier(state, classic)
    if classic is not None:
        described.repeated_rebalances = classic.repetition.times
        described.computes_in_ms = classic.repetition.remaining_ms(transition.now_ms)
    return described


def _packed(resources: Resources) -> list[ConnectorsAndTasks]:
    """The resources for the wire. They are packed only when the answer is written, in slices if it is large."""
    packed = DeferredArray(len(resources), lambda: pack(resources, ConnectorsAndTasks, ConnectorTaskId))
    return cast(list[ConnectorsAndTasks], packed)


def _member(group: ConnectGroup, member: ConnectMember) -> Member:
    metadata, now = member.metadata, standing(group, member)
    target = group.target_of(member) or frozenset()
    return Member(
        member_id=member.member_id,
        instance_id=metadata.instance_id,
        client_id=metadata.client_id,
        client_host=metadata.client_host,
        url=metadata.url,
        member_epoch=member.epoch,
        state=_member_state(group, member),
        rebalance_timeout_ms=metadata.rebalance_timeout_ms,
        session_timeout_ms=member.session_timeout_ms,
        owned=_packed(member.current),
        target=_packed(target),
        waiting_for=_packed(target - member.current),
        to_release=_packed(now.to_release),
        protocol=CONNECT if metadata.classic is None else best(metadata.classic.protocols),
        generation=NO_GENERATION if member.classic is None else member.classic.generation,
        leads=bool(group.classic.members) and member.member_id == group.computed_by,
        trouble=metadata.trouble,
    )


def _member_state(group: ConnectGroup, member: ConnectMember) -> str:
    """The member's state in one word, for people."""
    if member.evicted:
        return "PutOut"
    if member.away:
        return "Away"
    now = standing(group, member)
    if now.to_release:
        return "Releasing"
    return "Stable" if member.member_id not in group.unconverged else "Waiting"


def _entry(epoch: int, entry: ConnectWorkerGroupHistoryValue) -> HistoryEntry:
    return HistoryEntry(
        epoch=epoch,
        reason=entry.reason,
        timestamp_ms=entry.timestamp,
        installed_ms=entry.installed_timestamp,
        converged_ms=entry.converged_timestamp,
        moved_count=entry.moved_count,
        moves=_moves(entry.moves),
    )


def _moves(recorded: Sequence[RecordedMove]) -> list[Move]:
    """The moves for the wire, made only when the answer is written."""
    entries = [each for move in recorded for each in move.connectors_tasks]
    count = len(recorded) + sum([len(each.connectors) + len(each.tasks) for each in entries])
    made = DeferredArray(
        count, lambda: [Move(move.from_, move.to, list(map(_copied, move.connectors_tasks))) for move in recorded]
    )
    return cast(list[Move], made)


def _copied(entry: Entry) -> ConnectorsAndTasks:
    tasks = [ConnectorTaskId(task.connector_id, task.task_id) for task in entry.tasks]
    return ConnectorsAndTasks(list(entry.connectors), tasks)


def refuse_connect_group_describe(
    request: ConnectGroupDescribeRequest, error: ErrorCode
) -> ConnectGroupDescribeResponse:
    """The answer with the same error for each group."""
    groups = [DescribedGroup(group_id=group, error_code=error) for group in request.group_ids]
    return ConnectGroupDescribeResponse(groups=groups)
