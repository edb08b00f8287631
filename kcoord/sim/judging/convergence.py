"""The state at the end of a run: what must be so once nothing goes wrong any more, and that the log agrees.

| invariant | rules |
| --- | --- |
| replay: the log gives the state that is running, whole or compacted | |
| liveness: when nothing goes wrong any more, all is well within a bounded time | CG-1 to CG-32 |
| rest: after the last event, work moves in two epochs at most | CG-13, CM-33 |
"""

from __future__ import annotations

from collections.abc import Callable

from kcoord.assign import Resource
from kcoord.assign.placement.rules import NO_RULES
from kcoord.group.connect.reasons import Reason
from kcoord.group.shard import Shard
from kcoord.group.state.deadlines import NEVER_MS
from kcoord.group.state.groups.connect_group import ConnectGroup
from kcoord.group.state.groups.modern_states import ModernState
from kcoord.group.state.records.connect_replay import settle_load
from kcoord.sim.basis.trace import names
from kcoord.sim.basis.violation import Violation
from kcoord.sim.context import RunContext
from kcoord.sim.coordinator import UP, Coordinator
from kcoord.sim.fleet import GROUP, Fleet
from kcoord.sim.worker import Process
from kcoord.worker.state import Phase

MOST_REBALANCES = 2
CONSEQUENCES = (Reason.LEADER_JOINED, Reason.RETRY, Reason.DELAY_OVER)
"""Reasons for an epoch that follow from what has happened before. Every other reason is an event."""
UNANSWERED_MS = 10_000
"""At the end no request waits longer than this for its response."""


def wrong(
    context: RunContext,
    coordinator: Coordinator,
    fleet: Fleet,
    processes: list[Process],
    nowhere: Callable[[], frozenset[Resource]],
) -> str | None:
    """What is not well yet. `nowhere` says what nobody has to run. None: all is well."""
    if coordinator.stage is not UP:
        return "the coordinator is not there"
    group = coordinator.shard.state.connect.get(GROUP)
    if fleet.is_starting():
        return "a worker is to start yet"
    if group is None or group.state is not ModernState.STABLE or group.epoch != group.assignment_epoch:
        return f"the group is {'not there' if group is None else group.state.label}"
    if group.error or group.retry_due_ms != NEVER_MS:
        return f"assignment error {group.error}: {group.error_message}"
    if set(group.members) != {process.member_id for process in processes}:
        ids = sorted(process.member_id for process in processes)
        return f"members are {sorted(group.members)}, workers are {ids}"
    for process in processes:
        member = group.members[process.member_id]
        epochs = (process.member.epoch, member.epoch)
        if process.member.phase is not Phase.MEMBER or epochs != (group.epoch, group.epoch):
            return f"{process.name} is {process.member.phase.name} at {epochs} of {group.epoch}"
        if not process.running == process.member.owned == member.current == group.target_of(member):
            return f"{process.name} runs {names(process.running)}, may run {names(member.current)}"
    running = sorted(resource for process in processes for resource in process.running)
    configured = sorted(context.configured - nowhere())
    if running != configured or (context.plan.tells and sorted(group.owners) != configured):
        return f"{names(configured)} are to run, {names(running)} run"
    return None


def is_at_rest(group: ConnectGroup, healed_epoch: int) -> None:
    """Check that the group has not moved work again and again since the last event: since faults ended at
    `healed_epoch`, or since something new came later. An epoch in which nothing moves from one member to another
    disturbs nobody: what nobody had is new, and what nobody gets is deleted. A group with placement rules moves a few
    resources at a time, as often as it takes (`PlacementJudge`).
    """
    if group.placed.rules != NO_RULES:
        return
    restless: list[str] = []
    for epoch in sorted(group.history, reverse=True):
        entry = group.history[epoch]
        if epoch <= healed_epoch or not entry.reason.startswith(CONSEQUENCES):
            break
        moves = [move for move in entry.moves if move.from_ and move.to]
        if moves:
            restless.append(f"{epoch}: {entry.reason}, {entry.moved_count} moved")
    if len(restless) > MOST_REBALANCES:
        raise Violation("rest", f"nothing new has happened, and work moves: {'; '.join(reversed(restless))}")


def unanswered(context: RunContext) -> None:
    """Check that every request was answered in time."""
    now_ms = context.events.now_ms
    for link in context.network.links:
        if link.server_open and link.call is not None and now_ms - link.call.began_ms > UNANSWERED_MS:
            raise Violation("liveness", f"a request of {link.client.name} was not answered for {UNANSWERED_MS} ms")


def replays(coordinator: Coordinator, *, compacted: bool) -> None:
    """Check that the log, with what is on its way, gives the state that is running."""
    if coordinator.stage is not UP:
        return
    replayed = coordinator.replayed(compacted=compacted, everything=True)
    settle_load(replayed.state)
    found, running = durable(replayed), durable(coordinator.shard)
    if found != running:
        how = "compacted" if compacted else "whole"
        raise Violation("replay", f"the {how} log gives {found}, running is {running}")


def durable(shard: Shard) -> object:
    """The state that a load must restore."""
    state = shard.state
    return (
        state.configurations,
        {group_id: group.record for group_id, group in state.groups.items()},
        {
            group_id: (
                group.epoch,
                group.reason,
                group.reason_wall_ms,
                group.assignment_epoch,
                group.targets,
                group.static_ids,
                group.owners,
                group.claimants,
                group.unconverged,
                group.configured,
                (group.computed_by, group.computed_by_url, group.computed_offset, group.config_round),
                group.assignor,
                (group.delay_deadline_wall_ms, group.delay_ms),
                (group.error, group.error_message),
                group.history,
                {
                    member.member_id: (
                        member.metadata,
                        member.current,
                        member.recorded_epoch,
                        member.recorded_previous,
                        member.evicted,
                        member.doubtful,
                    )
                    for member in group.members.values()
                },
            )
            for group_id, group in state.connect.items()
        },
    )
