"""The judge of placement: whether the coordinator places by the rules, a few moves at a time, and reports what it cannot do.

It checks each step of a run that sets rules. It reads the rules by itself (`demands`) and does not rely on the engine's
placing: if the engine reports that something is not met, the judge checks that.

| invariant | meaning |
| --- | --- |
| cordon | a cordoned worker gets nothing new, and loses nothing unless it is drained or a hard rule forbids it there |
| moves | a rebalance takes no more than `max-moves` from cordoned workers, and not many more from others that may not run it |
| pace | with rules besides cordons it moves no more than `max-moves`, except what a worker gets that had nothing |
| stopped | nothing that a worker is to run goes to nobody |
| placed | a hard rule is broken, or something is placed nowhere, only if that is reported; and then no place was free |
| reported | what is reported is so |
| asked | rules cause a rebalance when they have changed, after a load, or when more has to move, and never otherwise |

Rules are judged only where the coordinator places. A worker that computes the assignment does not know them.
"""  # noqa: E501

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import attrs

from kcoord.assign import Resource
from kcoord.group.apis.connect_group_describe import PlacementState
from kcoord.group.connect.reasons import Reason
from kcoord.group.connect.selection import ClientSide, select
from kcoord.group.state.classic_workers.embedded_protocol import DEFAULT
from kcoord.group.state.connect_settings import PLACEMENT
from kcoord.group.state.groups.connect_group import ConnectGroup, Resources, Target
from kcoord.group.state.shard_state import ShardState
from kcoord.group.state.step import Step
from kcoord.protocol.messages import ConnectGroupDescribeRequest, ConnectGroupDescribeResponse
from kcoord.protocol.records import (
    ConnectWorkerGroupCurrentMemberAssignmentKey,
    ConnectWorkerGroupMetadataKey,
    ConnectWorkerGroupTargetAssignmentKey,
    ConnectWorkerGroupTargetAssignmentMemberKey,
)
from kcoord.protocol.resources import unpack
from kcoord.sim.basis.trace import names
from kcoord.sim.basis.violation import Violation
from kcoord.sim.context import RunContext
from kcoord.sim.coordinator import UP, Coordinator
from kcoord.sim.fleet import GROUP
from kcoord.sim.placement.demands import Demands, Worker
from kcoord.sim.process import SimulatedProcess

AREA = "placement"
NOTHING: Resources = frozenset()
FORCED_MOVES = 2
"""Workers that may not run it lose at most this many times `max-moves`: what rules move unbalances other workers."""
Reported = Mapping[Resource, str]


@attrs.frozen
class Past:
    """The group as it was after the previous step."""

    group: ConnectGroup
    assignment_epoch: int
    targets: Mapping[str, Target]
    participants: frozenset[str]
    has_more: bool


@attrs.frozen
class Layout:
    """Who is to run what, or runs it."""

    runs: Mapping[Worker, Resources]
    counts: Mapping[Worker, Mapping[str, int]]
    """How many of each connector each worker has."""

    @classmethod
    def of(cls, runs: Mapping[Worker, Resources]) -> Layout:
        """The layout in which these workers have these resources."""
        return cls(runs, {worker: Counter([name for name, _ in each]) for worker, each in runs.items()})

    def without(self, worker: Worker, connector: str) -> Mapping[str, int]:
        """What the worker runs, by connector, without one of this connector."""
        return {name: count - (name == connector) for name, count in self.counts[worker].items()}


class PlacementJudge:
    """Watches the placement of one run."""

    def __init__(self, context: RunContext, coordinator: Coordinator) -> None:
        self._context = context
        self._coordinator = coordinator
        self._demands = Demands("")
        self._past: Past | None = None
        self._state: ShardState | None = None
        self._computed = 0
        """How many assignments the coordinator has computed, in this shard."""
        self._is_due = False
        """Whether rules ask for a new assignment: they have changed, or it is unknown how the last one was placed."""
        self._drained: set[str] = set()
        """Members that run something and are being drained."""

    # -- what happens -------------------------------------------------------------------------------------------------

    def loaded(self, state: ShardState) -> None:
        """The log has been replayed."""
        self._state, self._computed, self._is_due = state, 0, True
        self._demands = Demands(_document(state))
        group = state.connect.get(GROUP)
        self._past = None if group is None else _snapshot(group)

    def gone(self, state: ShardState) -> None:
        """The group does not exist any more, or is of another kind. The same step may have placed before."""
        self._past, self._computed = None, _computed(state)
        self._drained.clear()

    def look(self, group: ConnectGroup, step: Step, state: ShardState) -> None:
        """A step has changed the group, or may have."""
        self._hear(state)
        past, self._past = self._past, _snapshot(group)
        if past is None or past.group is not group or step.faults:
            self._is_due = True  # it is no longer known how the last assignment was placed
        self._asked(past, step)
        computed, self._computed = self._computed, _computed(state)
        is_new = past is None or group.assignment_epoch != past.assignment_epoch
        if is_new and not group.error and group.assignment_epoch:
            self._is_due = False
            if self._computed > computed and group.configured is not None:
                self._installed(past, group, step, self._computed - computed)
        self._follow_drains(group)

    def died(self, process: SimulatedProcess) -> None:
        """A process has ended."""
        if process.member_id in self._drained and process.running:
            self._drained.discard(process.member_id)
            self._met("a worker dies while it is drained")
        group = None if self._past is None else self._past.group
        if group is not None and group.classic.members and process.member_id == group.computed_by and self.moves():
            self._met("the leader dies while rules move work")

    def moves(self) -> bool:
        """Whether rules are moving work: more has to move, or what they have moved has not arrived."""
        group = None if self._past is None else self._past.group
        if group is None or not self._demands:
            return False
        return group.placed.has_more or any(each in group.unconverged for each in self._drained)

    def _hear(self, state: ShardState) -> None:
        """The group's setting may have changed."""
        document = _document(state)
        if document != self._demands.document:
            if not document:
                self._met("all rules are taken away")
            self._demands = Demands(document)
            self._is_due = True

    def _asked(self, past: Past | None, step: Step) -> None:
        """Rules cause a rebalance for a reason, and only once. After an assignment in this step it is unknown whether
        it left more to move.
        """
        may_have_more = past is None or past.has_more
        for record in step.records:
            if isinstance(record.key, ConnectWorkerGroupTargetAssignmentKey):
                may_have_more = True
            elif isinstance(record.key, ConnectWorkerGroupMetadataKey):
                if not getattr(record.value, "reason", "").startswith(Reason.PLACEMENT):
                    continue
                if not self._is_due and not may_have_more:
                    raise Violation(
                        "placement asked", "a rebalance for rules that have not changed, and nothing is to move"
                    )
                self._is_due = False

    def _follow_drains(self, group: ConnectGroup) -> None:
        for member in group.members.values():
            is_drained = self._demands.is_drained(_worker(group, member.member_id))
            if is_drained and member.current:
                self._drained.add(member.member_id)
            elif member.member_id in self._drained:
                self._drained.discard(member.member_id)
                if is_drained and not group.target_of(member):
                    leads = bool(group.classic.members) and member.member_id == group.computed_by
                    self._met("a drained leader is empty" if leads else "a drained worker is empty")
        self._drained &= group.members.keys()

    def _met(self, what: str) -> None:
        self._context.sightings.met(AREA, what)

    # -- a new assignment ---------------------------------------------------------------------------------------------

    def _installed(self, past: Past | None, group: ConnectGroup, step: Step, installs: int) -> None:
        """The coordinator has computed an assignment, `installs` times in this step."""
        if past is not None and len(_assignment_epochs(step, past)) <= installs:  # else a worker has computed one too
            self._changed(past, group, step, installs)
        placed = group.placed
        layout = Layout.of({_worker(group, each.member_id): _target(group.targets, each.member_id)
                            for each in group.participants()})  # fmt: skip
        waits = NOTHING.union(*[target.resources for _, target in group.departed()])
        assert group.configured is not None
        nowhere = group.configured.resources.difference(waits, *layout.runs.values())
        found = self._broken(layout, nowhere, placed.unplaced, placed.unmet, has_more=placed.has_more)
        if found is not None:
            raise Violation("placement", found)
        if placed.has_more:
            if not self._demands:
                raise Violation("placement", "there are no rules, and more is to move")
            self._met("a rebalance leaves more to move")
        if self._demands and all(self._demands.is_cordoned(worker) for worker in layout.runs):
            self._met("all workers are cordoned")

    def _changed(self, past: Past, group: ConnectGroup, step: Step, installs: int) -> None:
        """Compare the workers' new targets with their previous ones."""
        assert group.configured is not None
        exists, demands = group.configured.resources, self._demands
        reported = _reported(past, step)
        moved = 0
        for member in group.participants():
            worker = _worker(group, member.member_id)
            had, has = _target(past.targets, member.member_id), _target(group.targets, member.member_id)
            lost = (had & exists) - has if member.member_id in past.participants else NOTHING
            stopped = lost - group.claimants.keys()
            if stopped:
                raise Violation("placement stopped", f"{worker.member_id} ran {names(stopped)}, and nobody does now")
            if demands.is_cordoned(worker):
                moved += len(lost)
                self._may_lose(worker, (had | _waiting_for(past, group, worker)) & exists, lost)
            new = has.difference(had, _waiting_for(past, group, worker), reported.get(worker.member_id, NOTHING))
            if demands.is_cordoned(worker) and new:
                raise Violation("placement cordon", f"{worker.member_id} is cordoned and gets {names(new)}")
        forced = self._forced(past, group)
        if moved > demands.max_moves * installs or forced > FORCED_MOVES * demands.max_moves * installs:
            raise Violation(
                "placement moves",
                f"{moved} are taken from cordoned workers, {forced} from others that may not run them, in {installs} "
                f"rebalances of {demands.max_moves} moves",
            )

        paced = self._paced(past, group, reported, _emptied(step))
        if demands.replace_balance and paced > demands.max_moves * installs:
            raise Violation("placement pace", f"{paced} move in {installs} rebalances of {demands.max_moves} moves")

    def _paced(
        self, past: Past, group: ConnectGroup, reported: Mapping[str, Resources], emptied: frozenset[str]
    ) -> int:
        """How much goes from workers that are still here to workers that had something. `emptied`: had nothing between
        two assignments of the step.
        """
        assert group.configured is not None
        here = past.participants & {each.member_id for each in group.participants()}
        givers = {resource: each for each in here for resource in _target(past.targets, each)}
        return sum(
            resource in givers
            and givers[resource] != taker
            and resource not in reported.get(taker, NOTHING)
            and bool(_target(past.targets, taker) & group.configured.resources)
            and taker not in emptied
            for resource, taker in group.claimants.items()
        )

    def _forced(self, past: Past, group: ConnectGroup) -> int:
        """How much has left workers that are not cordoned and may not run it, although balance did not ask for that: it
        went to a worker that carried no less of its kind, in a group that nobody has joined or left. What was deleted
        is no load any more.
        """
        assert group.configured is not None
        exists = group.configured.resources
        if past.participants != {each.member_id for each in group.participants()}:
            return 0
        found = 0
        for resource, taker in group.claimants.items():
            giver = next((each for each in past.participants if resource in _target(past.targets, each)), taker)
            if giver == taker:
                continue
            worker = _worker(group, giver)
            if not self._demands.is_allowed(resource.connector, worker) and not self._demands.is_cordoned(worker):
                loads = [self._load(_target(past.targets, each) & exists, resource) for each in (giver, taker)]
                found += loads[0] <= loads[1]
        return found

    def _load(self, resources: Resources, like: Resource) -> int:
        """The weight of those resources that are of the same kind as `like`: connectors, or tasks."""
        return sum(self._demands.weight(each.connector) for each in resources if each.is_connector == like.is_connector)

    def _may_lose(self, worker: Worker, had: Resources, lost: Resources) -> None:
        """A worker that is cordoned and not drained loses only what a hard rule forbids there."""
        if self._demands.is_drained(worker):
            return
        layout = Layout.of({worker: had})
        for name in {name for name, _ in lost}:
            if self._demands.why_not(name, worker, layout.without(worker, name)) is None:
                raise Violation("placement cordon", f"{worker.member_id} is cordoned and loses some of {name}")

    # -- the layout --------------------------------------------------------------------------------------------------

    def _broken(
        self, layout: Layout, nowhere: Resources, unplaced: Reported, unmet: Reported, *, has_more: bool
    ) -> str | None:
        """What is wrong with a layout of which this is reported. `nowhere`: what no worker has. None:
        nothing is wrong.
        """
        running = NOTHING.union(*layout.runs.values())
        if false := unmet.keys() - running:
            return f"{names(false)} are said to run where no rule wants them, and do not run"
        if false := unplaced.keys() - nowhere:
            return f"{names(false)} are said to be placed nowhere, and are"
        if missing := nowhere - unplaced.keys():
            return f"{names(missing)} are placed nowhere, and nobody says so"
        if not all((*unplaced.values(), *unmet.values())):
            return "something is reported without a reason"
        for worker, runs in layout.runs.items():
            for resource in sorted(runs):
                found = self._misplaced(layout, worker, resource, is_told=resource in unmet, has_more=has_more)
                if found is not None:
                    return found
        if not has_more:
            for resource in sorted(nowhere):
                place = self._demands.place_for(resource.connector, layout.counts, None)
                if place is not None:
                    return f"{names([resource])} is placed nowhere, and {place.member_id} may run it"
        return None

    def _misplaced(
        self, layout: Layout, worker: Worker, resource: Resource, *, is_told: bool, has_more: bool
    ) -> str | None:
        demands, what = self._demands, names([resource])
        why = demands.why_not(resource.connector, worker, layout.without(worker, resource.connector))
        if demands.is_drained(worker):
            why = f"{worker.member_id} is drained"
        if why is None:
            return f"{what} is said to run where no rule wants it, on {worker.member_id}" if is_told else None
        if has_more:
            return None
        if not is_told:
            return f"{what} runs on {worker.member_id}, and nobody says that rules are broken: {why}"
        place = demands.place_for(resource.connector, layout.counts, worker)
        return None if place is None else f"{what} stays on {worker.member_id}, and {place.member_id} may run it: {why}"

    # -- at the end ---------------------------------------------------------------------------------------------------

    def nowhere(self) -> Resources:
        """What nobody runs because of the rules, according to the coordinator."""
        return frozenset(self._told()[1]) if self._demands and self._past is not None else NOTHING

    def wrong(self, processes: list[SimulatedProcess]) -> str | None:
        """What is not yet as the rules want it, at rest. None: nothing."""
        group = None if self._past is None else self._past.group
        if group is None or not self._demands:
            return None
        state, unplaced, unmet = self._told()
        if state is PlacementState.MOVING:
            return "rules move work"
        assert self._state is not None
        if state is not PlacementState.FOLLOWED:
            return self._not_followed(group, self._state)
        layout = Layout.of({_worker(group, each.member_id): frozenset(each.running) for each in processes})
        nowhere = self._context.configured.difference(*layout.runs.values())
        found = self._broken(layout, nowhere, unplaced, unmet, has_more=False)
        if found is None:
            self._met("at rest by rules")
            for reported, what in ((unplaced, "at rest with work that is placed nowhere"),
                                   (unmet, "at rest with work where no rule wants it")):  # fmt: skip
                if reported:
                    self._met(what)
        return found

    def _not_followed(self, group: ConnectGroup, state: ShardState) -> str | None:
        """Whether rules are not followed although they could be."""
        order = [each.name for each in state.effective(GROUP).assignors]
        if group.classic.protocol == DEFAULT:
            self._met("rules that workers of `default` do not follow")
            return None
        if isinstance(select(group, order), ClientSide):
            self._met("rules that a worker which computes does not follow")
            return None
        return "rules are not followed, and the coordinator places"

    def _told(self) -> tuple[PlacementState, Reported, Reported]:
        """What the coordinator says about the rules: their state, what is placed nowhere, what runs against them."""
        coordinator = self._coordinator
        if coordinator.stage is not UP:
            return PlacementState.NO_RULES, {}, {}
        question = ConnectGroupDescribeRequest(group_ids=[GROUP])
        step = coordinator.shard.handle(question, coordinator.request_context(0), None, self._context.events.now_ms)
        answer = step.replies[0].response
        assert isinstance(answer, ConnectGroupDescribeResponse)
        [group] = answer.groups
        told: tuple[dict[Resource, str], dict[Resource, str]] = ({}, {})
        for each in group.misplaced:
            told[each.is_running].update(dict.fromkeys(unpack(each.connectors_and_tasks), each.reason))
        return PlacementState(group.placement_state), *told


def _document(state: ShardState) -> str:
    return state.configurations.get(GROUP, {}).get(PLACEMENT, "")


def _snapshot(group: ConnectGroup) -> Past:
    return Past(
        group,
        group.assignment_epoch,
        dict(group.targets),
        frozenset([each.member_id for each in group.participants()]),
        group.placed.has_more,
    )


def _computed(state: ShardState) -> int:
    """How many assignments the coordinator has computed without failing."""
    return state.counters.computations["server"] - state.counters.errors["assignor failed"]


def _worker(group: ConnectGroup, member_id: str) -> Worker:
    said = group.members[member_id].metadata
    return Worker(member_id, said.instance_id, said.url)


def _target(targets: Mapping[str, Target], member_id: str) -> Resources:
    target = targets.get(member_id)
    return NOTHING if target is None else target.resources


def _waiting_for(past: Past, group: ConnectGroup, worker: Worker) -> Resources:
    """What waited for this worker: a worker with its url or its instance id had it and takes no part any more."""
    found = [
        target.resources for member_id, target in past.targets.items()
        if not group.takes_part(member_id)
        and ((worker.url is not None and target.url == worker.url)
             or (worker.instance_id is not None and target.instance_id == worker.instance_id))
    ]  # fmt: skip
    return NOTHING.union(*found)


def _is_newer(assignment: object, past: Past) -> bool:
    return getattr(assignment, "assignment_epoch", past.assignment_epoch) != past.assignment_epoch


def _assignment_epochs(step: Step, past: Past) -> set[int]:
    """The epochs of the assignments that this step has installed."""
    values = [each.value for each in step.records if isinstance(each.key, ConnectWorkerGroupTargetAssignmentKey)]
    return {getattr(each, "assignment_epoch", 0) for each in values if _is_newer(each, past)}


def _emptied(step: Step) -> frozenset[str]:
    """The workers that one of this step's assignments gives nothing."""
    return frozenset(
        record.key.member_id
        for record in step.records
        if isinstance(record.key, ConnectWorkerGroupTargetAssignmentMemberKey)
        and not unpack(getattr(record.value, "connectors_tasks", ()))
    )


def _reported(past: Past, step: Step) -> Mapping[str, Resources]:
    """What workers have reported in this step that they run, before there was a new assignment."""
    found: dict[str, Resources] = {}
    for record in step.records:
        if isinstance(record.key, ConnectWorkerGroupTargetAssignmentKey) and _is_newer(record.value, past):
            break
        if isinstance(record.key, ConnectWorkerGroupCurrentMemberAssignmentKey) and record.value is not None:
            found[record.key.member_id] = unpack(getattr(record.value, "connectors_tasks", ()))
    return found
