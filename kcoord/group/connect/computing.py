"""The computation of the next assignment: who computes, and what happens if nobody can (CG-14, CG-16, CG-17, CG-20).

| situation | what happens |
| --- | --- |
| group epoch = assignment epoch | nothing |
| a server-side assignor is selected | the coordinator runs it in the same step |
| a client-side assignor is selected | a worker is chosen and asked by COMPUTE_ASSIGNMENT; it has its rebalance timeout from then |
| classic members, and no worker of the new protocol reads their version | the coordinator, once their leader has said what exists (`existence_looks`) |
| these classic members speak `default` | one of them leads: the answer to its next JoinGroup shows it the group |
| the same assignment is computed again and again | nobody computes before the back-off is over (`repeated_rebalances`) |
| a classic member led, and another member is to lead | nobody computes before the old leader has joined and waits (CM-14) |
| an empty group has just got its first classic member | the group waits for more members, as a classic group does |
| the chosen worker fails | it is excluded for this input, and the next one is chosen at once |
| beside classic members, all workers fail again and again | a classic member leads until the next change |
| the group is loaded before that member leads | the assignment is computed again |
| all workers that could compute are away for a while | nothing, until they are back or their sessions end |
| all have failed, or a server-side assignor fails | the error is recorded and the target stays; the group tries again later |
| the configured set is needed and not known | the same, but the group does not try again before it changes |

A recorded error counts as the assignment of its epoch.
"""  # noqa: E501

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum

from kcoord.assign.interface import ServerAssignor
from kcoord.assign.model import Assignment, Departed
from kcoord.assign.model import Group as AssignorInput
from kcoord.assign.model import Member as AssignorMember
from kcoord.assign.placement import Placement, Rules, place
from kcoord.group.connect.departed_workers import left_of, rebalance_delay, reunited
from kcoord.group.connect.install import NotValid, check, install
from kcoord.group.connect.reasons import Reason, bump
from kcoord.group.connect.repetition_brake import has_to_wait
from kcoord.group.connect.selection import (
    FALLBACK,
    Absent,
    ClassicMembers,
    ClientSide,
    Nobody,
    Qualified,
    Selection,
    ServerSide,
    classic_side,
    select,
)
from kcoord.group.modern.client_assignors import first_able
from kcoord.group.state.classic_workers.embedded_protocol import DEFAULT
from kcoord.group.state.connect_settings import Effective
from kcoord.group.state.deadlines import NEVER_MS
from kcoord.group.state.groups.computation import Computation
from kcoord.group.state.groups.connect_group import (
    NO_DEADLINE,
    NO_OFFSET,
    NOT_PLACED,
    ConnectGroup,
    ConnectMember,
    Frozen,
    Placed,
    Resources,
)
from kcoord.group.state.records import connect_records as records
from kcoord.group.state.transition import Transition

BACK_OFF_MS = 1_000
MAX_BACK_OFF_MS = 60_000
PATIENCE = 2
"""Consecutive failed computations before a classic member leads in place of the workers of the new protocol."""


class AssignmentError(IntEnum):
    """Why there is no new target."""

    NONE = 0
    NO_WORKER_LEFT = 1
    NOTHING_CONFIGURED = 2
    NO_WORKER_QUALIFIES = 3
    ASSIGNOR_FAILED = 4


TRIED_AGAIN = (AssignmentError.NO_WORKER_LEFT, AssignmentError.ASSIGNOR_FAILED)
"""The errors that the group tries again. The other errors end when the group changes, which bumps the epoch anyway."""


def ensure_placed(transition: Transition, group: ConnectGroup) -> None:
    """Bump the group epoch if the placement rules have changed, or if the members have reached their targets and more
    is to move. After an assignment error nothing is needed: the next assignment follows the rules anyway.
    """
    if group.epoch != group.assignment_epoch or group.computation is not None or not group.has_participants():
        return
    if group.error:
        return
    if group.placed is NOT_PLACED:
        recall_placed(transition, group)
    rules, placed = transition.state.effective(group.group_id).placement, group.placed
    is_changed = rules is not placed.rules and rules != placed.rules
    if is_changed or (placed.has_more and not group.unconverged):
        bump(transition, group, Reason.PLACEMENT)


def recall_placed(transition: Transition, group: ConnectGroup) -> None:
    """Find out after a load how the installed target follows the placement rules: compute the assignment again, and
    compare. If the coordinator cannot compute now, the next assignment tells.
    """
    limits = transition.state.effective(group.group_id)
    rules, selection = limits.placement, _select(group, limits)
    name = _coordinators_own(group, limits, selection)
    if not rules or name is None:
        group.placed = Placed(rules, is_followed=name is not None)
        return
    assignor = limits.assignor(name)
    if assignor is None or group.configured is None:
        return
    given = freeze(transition, group, name, limits).input
    placement, _ = _ask(assignor, given, rules)
    if placement is not None:
        group.placed = _recalled(given, placement, rules)


def _coordinators_own(group: ConnectGroup, limits: Effective, selection: Selection) -> str | None:
    """The name of the assignor that the coordinator runs for this group; None: a worker computes."""
    match selection:
        case ServerSide(name):
            return name
        case ClassicMembers() if group.classic.protocol != DEFAULT:
            return limits.placing
        case Nobody():
            return FALLBACK
    return None


def _recalled(given: AssignorInput, placement: Placement, rules: Rules) -> Placed:
    """How the members' targets follow the rules; `placement` is what the rules make of the same input now."""
    targets = {each.member_id: each.resources for each in placement.assignment.members}
    is_same = all(targets.get(each.member_id, frozenset()) == each.target for each in given.members)
    running = frozenset().union(*[each.target for each in given.members])
    return Placed(
        rules,
        True,
        {resource: why for resource, why in placement.unplaced.items() if resource not in running},
        {resource: why for resource, why in placement.unmet.items() if resource in running},
        placement.has_more or not is_same,
    )


def ensure_computing(transition: Transition, group: ConnectGroup) -> None:
    """Start the computation of the next assignment if one is needed and none is under way."""
    if group.epoch <= group.assignment_epoch or not group.has_participants():
        group.end_computation()
        return
    computation = group.computation
    if computation is not None and computation.assignor == DEFAULT and group.classic.protocol != DEFAULT:
        group.touched.add(computation.chosen)
        group.end_computation()  # the group has left `default`: from now on its leader is only asked what exists
        computation = None
    if computation is not None and computation.frozen is not None and computation.chosen in group.members:
        return  # if the group has moved on, the next computation starts when this one is installed
    if computation is not None and computation.epoch == group.epoch and computation.chosen in group.members:
        return
    if group.classic.gathering_due_ms != NEVER_MS:
        return
    if computation is None and group.classic.look is None and has_to_wait(transition, group):
        return  # while the leader is asked what exists, this wait is already over
    limits = transition.state.effective(group.group_id)
    selection = _select(group, limits)
    excluded = computation.excluded if computation is not None and computation.epoch == group.epoch else set()
    if computation is None and group.classic.failed[0] == group.epoch:
        excluded = set(group.classic.failed[1])
    _compute(transition, group, limits, selection, excluded)


def _select(group: ConnectGroup, limits: Effective) -> Selection:
    """Who is to compute. After `PATIENCE` failures of workers that read the classic members' metadata, the classic
    members' side is selected.
    """
    selection = select(group, [each.name for each in limits.assignors])
    if isinstance(selection, ClientSide) and group.failures >= PATIENCE:
        return classic_side(group) or selection
    return selection


def _compute(
    transition: Transition, group: ConnectGroup, limits: Effective, selection: Selection, excluded: set[str]
) -> None:
    match selection:
        case ClientSide(name, qualified):
            _choose(transition, group, name, qualified, excluded)
        case ServerSide(name):
            _compute_here(transition, group, limits, name)
        case Nobody(name):
            if group.configured is not None and limits.assignor(FALLBACK) is not None:
                _compute_here(transition, group, limits, FALLBACK)
            else:
                why = f"no worker reads all versions of assignor {name}, and nobody has said what is configured"
                _fail(transition, group, AssignmentError.NO_WORKER_QUALIFIES, why)
        case Absent():
            group.end_computation()
        case ClassicMembers(workers):
            if group.classic.protocol == DEFAULT:
                _choose(transition, group, DEFAULT, workers, excluded)
            elif transition.connect.classic.is_frozen(transition, group):
                group.end_computation()
            else:
                _compute_here(transition, group, limits, limits.placing)


def ask_what_exists(transition: Transition, group: ConnectGroup) -> None:
    """Ask the classic leader what exists, if that is needed."""
    if not group.classic.members:
        return
    selection = _select(group, transition.state.effective(group.group_id))
    computes = group.computation is not None and group.computation.frozen is not None  # perhaps no longer needed
    transition.connect.classic.ensure_look(
        transition, group, is_led_by_others=computes or not isinstance(selection, ClassicMembers)
    )
    if isinstance(selection, ClientSide) and _is_led_by_nobody(group):
        bump(transition, group, Reason.RETRY)


def _is_led_by_nobody(group: ConnectGroup) -> bool:
    """Whether the leader has gone and nobody is about to lead. This happens when workers had failed, a classic member
    was asked in their place, the coordinator placed what it named, and the group was loaded before that member led.
    """
    is_done = group.epoch == group.assignment_epoch and not group.error
    is_asked = group.computation is not None or group.classic.look is not None
    return is_done and not is_asked and group.computed_by is not None and group.computed_by not in group.members


def _choose(transition: Transition, group: ConnectGroup, name: str, qualified: Qualified, excluded: set[str]) -> None:
    """Choose a worker: the one that computed last if it still qualifies, else the first by member id (CG-16)."""

    def can(member_id: str | None) -> bool:
        return member_id is not None and member_id in qualified and member_id not in excluded

    before = group.computation
    if before is not None and before.assignor == name and can(before.chosen):
        before.epoch, before.excluded = group.epoch, excluded
        return
    chosen = group.computed_by
    if not can(chosen):
        chosen = first_able(transition, group, (each for each in qualified if each not in excluded))
    if chosen is None:
        why = f"every worker that could run assignor {name} has failed: {', '.join(sorted(excluded)[:3])}"
        _fail(transition, group, AssignmentError.NO_WORKER_LEFT, why)
        return
    if not transition.connect.classic.may_lead(group, chosen):
        group.end_computation()  # the worker that was chosen before must not compute now, even if it asks first
        group.classic.failed = group.epoch, frozenset(excluded)
        return
    transition.state.counters.computations["client"] += 1
    group.computation = Computation(group.epoch, name, chosen, excluded)
    group.forget(group.members[chosen])
    group.touched.add(chosen)
    if before is not None:
        group.touched.add(before.chosen)


def give_up_chosen(transition: Transition, group: ConnectGroup) -> None:
    """Exclude the chosen worker, which failed at this input, and let the next one compute (CG-20). If the group has
    moved on, the next input is another one: this worker may compute that if nobody else can.
    """
    computation = group.computation
    assert computation is not None
    chosen = computation.chosen
    transition.state.counters.given_up += 1
    limits = transition.state.effective(group.group_id)
    selection = _select(group, limits)
    excluded = {*computation.excluded, chosen}
    if computation.epoch != group.epoch:
        others = any(each != chosen for each in _able(selection))
        excluded = {chosen} if others else set()
    group.end_computation()
    _compute(transition, group, limits, selection, excluded)


def _able(selection: Selection) -> Iterable[str]:
    """The ids of the members that could compute."""
    match selection:
        case ClientSide(_, workers) | ClassicMembers(workers):
            return workers
    return ()


def unchoose(group: ConnectGroup, member_id: str) -> None:
    """End the computation if this member is chosen. For a member that is gone, away or excluded."""
    if group.chosen() == member_id:
        group.end_computation()


def _compute_here(transition: Transition, group: ConnectGroup, limits: Effective, name: str) -> None:
    """Run a server-side assignor (CG-23). Any exception that it raises is an assignment error, not a fault of the
    shard.
    """
    group.end_computation()
    assignor = limits.assignor(name)
    assert assignor is not None
    if group.configured is None:
        why = f"assignor {name} needs to know what is configured, and no worker has said so"
        _fail(transition, group, AssignmentError.NOTHING_CONFIGURED, why)
        return
    transition.state.counters.computations["server"] += 1
    frozen = freeze(transition, group, name, limits)
    placement, why = _ask(assignor, frozen.input, limits.placement)
    if placement is None:
        _fail(transition, group, AssignmentError.ASSIGNOR_FAILED, why)
        return
    group.placed = Placed(limits.placement, True, placement.unplaced, placement.unmet, placement.has_more)
    install(transition, group, frozen, placement.assignment, computed_by=None, assignor=name)


class HasFailed(Exception):
    """A server-side assignor reported an error."""


def _ask(assignor: ServerAssignor, given: AssignorInput, rules: Rules) -> tuple[Placement | None, str]:
    """The placement, or None and the reason. The assignor's own assignment is checked before the rules change it: the
    rules could hide that it is not valid.
    """

    def assign(asked: AssignorInput) -> Assignment:
        assignment = assignor.assign(asked)
        if assignment.error:
            raise HasFailed(f"assignor {assignor.name} reported error {assignment.error}")
        check(asked, assignment)
        return assignment

    try:
        placement = place(given, assign, rules)
        if rules:
            check(given, placement.assignment, placement.unplaced)
    except HasFailed as fault:
        return None, str(fault)
    except NotValid as fault:
        return None, f"assignor {assignor.name} gave an assignment that is not valid: {fault}"
    except Exception as fault:
        return None, f"assignor {assignor.name} failed: {type(fault).__name__}: {fault}"
    return placement, ""


def freeze(transition: Transition, group: ConnectGroup, assignor: str, limits: Effective) -> Frozen:
    """Freeze the input of an assignor as it is now (CG-18)."""
    configured, heirs = group.configured, reunited(transition, group)
    inherited: dict[str, Resources] = {}
    for predecessor_id, heir_id in heirs.items():
        inherited[heir_id] = inherited.get(heir_id, frozenset()) | left_of(group, predecessor_id)
    return Frozen(
        group.epoch,
        AssignorInput(
            members=tuple(
                [
                    _member_input(transition, member, group, assignor, inherited.get(member.member_id))
                    for member in group.participants()
                ]
            ),
            configured=None if configured is None else configured.resources,
            config_offset=NO_OFFSET if configured is None else configured.topic_offset,
            departed=tuple(
                [
                    Departed(member_id, target.instance_id, target.url, target.resources)
                    for member_id, target in group.departed()
                    if member_id not in heirs
                ]
            ),
            remaining_delay_ms=remaining_delay_ms(group, transition.now_ms),
            rebalance_delay_ms=rebalance_delay(transition, group, limits)[0],
        ),
        transition.now_ms,
        frozenset(heirs),
    )


def _member_input(
    transition: Transition, member: ConnectMember, group: ConnectGroup, assignor: str, inherited: Resources | None
) -> AssignorMember:
    target: Resources = group.target_of(member) or frozenset()
    if inherited is not None:
        target |= inherited
    return transition.connect.dialect(member).assignor_input(group, member, assignor, target)


def remaining_delay_ms(group: ConnectGroup, now_ms: int) -> int:
    """How much longer resources of departed members wait; -1: no delay runs; 0: the delay is over (CG-22)."""
    if group.delay_deadline_wall_ms == NO_DEADLINE:
        return -1
    return 0 if group.delay_due_ms == NEVER_MS else max(0, group.delay_due_ms - now_ms)


def _fail(transition: Transition, group: ConnectGroup, error: AssignmentError, why: str) -> None:
    """Record an assignment error: the old target stays and counts for this epoch (CG-20)."""
    group.end_computation()
    transition.state.counters.errors[error.name.lower().replace("_", " ")] += 1
    transition.write(records.assignment_failed(group, error, why))
    if error in TRIED_AGAIN:
        back_off_ms = min(BACK_OFF_MS << min(group.failures, 10), MAX_BACK_OFF_MS)
        group.failures += 1
        group.retry_due_ms = transition.now_ms + back_off_ms
        transition.wake(group, group.retry_due_ms)


def retry(transition: Transition, group: ConnectGroup) -> None:
    """Bump the group epoch when the back-off after an assignment error is over."""
    group.retry_due_ms = NEVER_MS
    if group.error and group.epoch == group.assignment_epoch and group.members:
        bump(transition, group, Reason.RETRY)
