"""Who computes the next assignment, and what if nobody can? (CG-14, CG-16, CG-17, CG-20)

| situation | what happens |
| --- | --- |
| group epoch = assignment epoch | nothing |
| a server-side assignor is selected | it computes in this very step |
| a client-side one is | a worker is chosen, and told by COMPUTE_ASSIGNMENT; from then on it has its rebalance timeout |
| there are legacy workers, and no other reads theirs | the same, once their leader has said what exists (`looks`) |
| they speak `default` | one of them leads: its next JoinGroup shows it the group |
| the same is computed again and again | nobody computes before its back-off is over (`repetition`) |
| a legacy worker led, and somebody else is to | nobody computes before it has joined, and waits (CM-14) |
| an empty group has just got its first legacy worker | it waits for more, as in the generic protocol |
| the chosen one fails | it is excluded for this input, the next is chosen at once |
| beside legacy workers they fail again and again | a legacy worker leads, until the next change |
| the group is loaded before that one leads | the assignment is made anew |
| those who could are away for a while | nothing, until they are back or gone |
| all have failed, or the assignor gives nonsense | the error is recorded, the target stays; tried again later |
| nobody knows what is configured | the same, but not tried again before the group changes |

A recorded error counts as the assignment of its epoch.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum

from kcoord.assign.interface import ServerAssignor
from kcoord.assign.model import Assignment, Departed
from kcoord.assign.model import Group as AssignorInput
from kcoord.assign.model import Member as AssignorMember
from kcoord.assign.placement import Placement, Rules, place
from kcoord.group.connect import epochs, records
from kcoord.group.connect.delays import rebalance_delay
from kcoord.group.connect.group import (
    NO_DEADLINE,
    NO_OFFSET,
    NOT_PLACED,
    Computation,
    ConnectGroup,
    Frozen,
    Member,
    Placed,
    Resources,
)
from kcoord.group.connect.install import NotValid, check, install
from kcoord.group.connect.reasons import Reason
from kcoord.group.connect.returning import left_of, reunited
from kcoord.group.connect.selection import (
    FALLBACK,
    LEGACY_VERSION,
    Absent,
    ClientSide,
    LegacySide,
    Nobody,
    Qualified,
    Selection,
    ServerSide,
    legacy_side,
    select,
)
from kcoord.group.connect.settings import Effective
from kcoord.group.connect.slowing import has_to_wait
from kcoord.group.deadlines import NEVER_MS
from kcoord.group.translation.leader import is_free_to_lead
from kcoord.group.translation.looks import ensure_look, is_frozen
from kcoord.group.translation.shown import own_state
from kcoord.group.translation.spoken import DEFAULT
from kcoord.group.turn import Turn

BACK_OFF_MS = 1_000
MAX_BACK_OFF_MS = 60_000
PATIENCE = 2
"""So often in a row all workers of the new protocol may fail before legacy workers compute in their place."""


class AssignmentError(IntEnum):
    """Why there is no new target. What a worker reports stands as it came."""

    NONE = 0
    NO_WORKER_LEFT = 1
    NOTHING_CONFIGURED = 2
    NO_WORKER_QUALIFIES = 3
    ASSIGNOR_FAILED = 4


TRIED_AGAIN = (AssignmentError.NO_WORKER_LEFT, AssignmentError.ASSIGNOR_FAILED)
"""The others end when the group changes, which asks for a new assignment by itself."""


def ensure_placed(turn: Turn, group: ConnectGroup) -> None:
    """Have the group assigned by the placement rules that hold now, and on as long as more is to move. After a failure
    the next assignment follows them too; it is tried again when its back-off is over.
    """
    if group.epoch != group.assignment_epoch or group.computation is not None or not group.has_participants():
        return
    if group.error:
        return
    if group.placed is NOT_PLACED:
        recall_placed(turn, group)
    rules, placed = turn.contents.effective(group.group_id).placement, group.placed
    is_changed = rules is not placed.rules and rules != placed.rules
    if is_changed or (placed.has_more and not group.unconverged):
        epochs.bump(turn, group, Reason.PLACEMENT)


def recall_placed(turn: Turn, group: ConnectGroup) -> None:
    """After a load, find out how the installed target follows the rules: by computing it again, which changes nothing
    where nothing is to move. Rules that cannot be asked so are left to the next assignment.
    """
    limits = turn.contents.effective(group.group_id)
    rules, selection = limits.placement, _select(group, limits)
    name = _coordinators_own(group, limits, selection)
    if not rules or name is None:
        group.placed = Placed(rules, is_followed=name is not None)
        return
    assignor = limits.assignor(name)
    if assignor is None or group.configured is None:
        return
    given = freeze(turn, group, name, limits).input
    placement, _ = _ask(assignor, given, rules)
    if placement is not None:
        group.placed = _recalled(given, placement, rules)


def _coordinators_own(group: ConnectGroup, limits: Effective, selection: Selection) -> str | None:
    """The assignor that the coordinator runs for this group; None: a worker computes."""
    match selection:
        case ServerSide(name):
            return name
        case LegacySide() if group.legacy.protocol != DEFAULT:
            return limits.placing
        case Nobody():
            return FALLBACK
    return None


def _recalled(given: AssignorInput, placement: Placement, rules: Rules) -> Placed:
    """How a target follows the rules from which they make this placement."""
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


def ensure_computing(turn: Turn, group: ConnectGroup) -> None:
    """Have the next assignment computed, unless it is being computed already."""
    if group.epoch <= group.assignment_epoch or not group.has_participants():
        group.end_computation()
        return
    computation = group.computation
    if computation is not None and computation.assignor == DEFAULT and group.legacy.protocol != DEFAULT:
        group.touched.add(computation.chosen)
        group.end_computation()  # its leader is asked what exists, from now on
        computation = None
    if computation is not None and computation.frozen is not None and computation.chosen in group.members:
        return  # the group has moved on since: the next computation starts when this one is installed
    if computation is not None and computation.epoch == group.epoch and computation.chosen in group.members:
        return
    if group.legacy.gathering_due_ms != NEVER_MS:
        return
    if computation is None and group.legacy.look is None and has_to_wait(turn, group):
        return  # where the leader is being asked it has waited before that
    limits = turn.contents.effective(group.group_id)
    selection = _select(group, limits)
    excluded = computation.excluded if computation is not None and computation.epoch == group.epoch else set()
    if computation is None and group.legacy.failed[0] == group.epoch:
        excluded = set(group.legacy.failed[1])
    _compute(turn, group, limits, selection, excluded)


def _select(group: ConnectGroup, limits: Effective) -> Selection:
    """What is to compute. Legacy workers can, whatever becomes of those that read their metadata."""
    selection = select(group, [each.name for each in limits.assignors])
    if isinstance(selection, ClientSide) and group.failures >= PATIENCE:
        return legacy_side(group) or selection
    return selection


def _compute(turn: Turn, group: ConnectGroup, limits: Effective, selection: Selection, excluded: set[str]) -> None:
    match selection:
        case ClientSide(name, qualified):
            _choose(turn, group, name, qualified, excluded)
        case ServerSide(name):
            _compute_here(turn, group, limits, name)
        case Nobody(name):
            if group.configured is not None and limits.assignor(FALLBACK) is not None:
                _compute_here(turn, group, limits, FALLBACK)
            else:
                why = f"no worker reads all versions of assignor {name}, and nobody has said what is configured"
                _fail(turn, group, AssignmentError.NO_WORKER_QUALIFIES, why)
        case Absent():
            group.end_computation()
        case LegacySide(workers):
            if group.legacy.protocol == DEFAULT:
                _choose(turn, group, DEFAULT, workers, excluded)
            elif is_frozen(turn, group):
                group.end_computation()
            else:
                _compute_here(turn, group, limits, limits.placing)


def ask_what_exists(turn: Turn, group: ConnectGroup) -> None:
    """Have the leader of the classic workers asked, if it has to be."""
    if not group.legacy.members:
        return
    selection = _select(group, turn.contents.effective(group.group_id))
    computes = group.computation is not None and group.computation.frozen is not None  # it may be needless by now
    ensure_look(turn, group, is_led_by_others=computes or not isinstance(selection, LegacySide))
    if isinstance(selection, ClientSide) and _is_led_by_nobody(group):
        epochs.bump(turn, group, Reason.RETRY)


def _is_led_by_nobody(group: ConnectGroup) -> bool:
    """Whether the leader has gone, and nobody is to be the next: a classic worker was asked in place of workers that
    had failed, the coordinator placed what it told of, and the group was loaded before that worker led.
    """
    is_done = group.epoch == group.assignment_epoch and not group.error
    is_asked = group.computation is not None or group.legacy.look is not None
    return is_done and not is_asked and group.computed_by is not None and group.computed_by not in group.members


def _choose(turn: Turn, group: ConnectGroup, name: str, qualified: Qualified, excluded: set[str]) -> None:
    """Choose a worker: the one that computed before while it qualifies, else the first by member id."""

    def can(member_id: str | None) -> bool:
        return member_id is not None and member_id in qualified and member_id not in excluded

    before = group.computation
    if before is not None and before.assignor == name and can(before.chosen):
        before.epoch, before.excluded = group.epoch, excluded
        return
    chosen = group.computed_by
    if not can(chosen):
        # One whose connection is closed may be dead: only if nobody else can.
        able = (each for each in qualified if each not in excluded)
        chosen = min(
            able, key=lambda each: (turn.contents.is_closed(group.members[each].connection), each), default=None
        )
    if chosen is None:
        why = f"every worker that could run assignor {name} has failed: {', '.join(sorted(excluded)[:3])}"
        _fail(turn, group, AssignmentError.NO_WORKER_LEFT, why)
        return
    if not is_free_to_lead(group, chosen):
        group.end_computation()  # who was to compute before is not to, also if it comes first
        group.legacy.failed = group.epoch, frozenset(excluded)
        return
    turn.contents.counters.computations["client"] += 1
    group.computation = Computation(group.epoch, name, chosen, excluded)
    group.forget(group.members[chosen])
    group.touched.add(chosen)
    if before is not None:
        group.touched.add(before.chosen)


def give_up_chosen(turn: Turn, group: ConnectGroup) -> None:
    """The chosen worker failed at this input: exclude it, and let the next one compute (CG-20). If the group has
    moved on, the input is another: the worker may try that one if nobody else can.
    """
    computation = group.computation
    assert computation is not None
    chosen = computation.chosen
    turn.contents.counters.given_up += 1
    limits = turn.contents.effective(group.group_id)
    selection = _select(group, limits)
    excluded = {*computation.excluded, chosen}
    if computation.epoch != group.epoch:
        others = any(each != chosen for each in _able(selection))
        excluded = {chosen} if others else set()
    group.end_computation()
    _compute(turn, group, limits, selection, excluded)


def _able(selection: Selection) -> Iterable[str]:
    """The members that could compute."""
    match selection:
        case ClientSide(_, workers) | LegacySide(workers):
            return workers
    return ()


def unchoose(group: ConnectGroup, member_id: str) -> None:
    """The member computes no more, for no fault of the input's: it is gone, or away."""
    if group.chosen() == member_id:
        group.end_computation()


def _compute_here(turn: Turn, group: ConnectGroup, limits: Effective, name: str) -> None:
    """Run a server-side assignor (CG-23). Whatever it raises is an assignment error, not a fault of the shard."""
    group.end_computation()
    assignor = limits.assignor(name)
    assert assignor is not None
    if group.configured is None:
        why = f"assignor {name} needs to know what is configured, and no worker has said so"
        _fail(turn, group, AssignmentError.NOTHING_CONFIGURED, why)
        return
    turn.contents.counters.computations["server"] += 1
    frozen = freeze(turn, group, name, limits)
    placement, why = _ask(assignor, frozen.input, limits.placement)
    if placement is None:
        _fail(turn, group, AssignmentError.ASSIGNOR_FAILED, why)
        return
    group.placed = Placed(limits.placement, True, placement.unplaced, placement.unmet, placement.has_more)
    install(turn, group, frozen, placement.assignment, computed_by=None, assignor=name)


class HasFailed(Exception):
    """An assignor reports an error."""


def _ask(assignor: ServerAssignor, given: AssignorInput, rules: Rules) -> tuple[Placement | None, str]:
    """The placement, or None and why there is none. What the assignor gives is checked before rules change it: they
    would hide that it is not valid.
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


def freeze(turn: Turn, group: ConnectGroup, assignor: str, limits: Effective) -> Frozen:
    """The input of an assignor, as of now (CG-18)."""
    configured, heirs = group.configured, reunited(group)
    inherited: dict[str, Resources] = {}
    for elder_id, heir_id in heirs.items():
        inherited[heir_id] = inherited.get(heir_id, frozenset()) | left_of(group, elder_id)
    return Frozen(
        group.epoch,
        AssignorInput(
            members=tuple(
                [
                    _member_input(member, group, assignor, inherited.get(member.member_id))
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
            remaining_delay_ms=remaining_delay_ms(group, turn.now_ms),
            rebalance_delay_ms=rebalance_delay(turn, group, limits)[0],
        ),
        turn.now_ms,
        frozenset(heirs),
    )


def _member_input(member: Member, group: ConnectGroup, assignor: str, inherited: Resources | None) -> AssignorMember:
    said = member.said
    target: Resources = group.target_of(member) or frozenset()
    if inherited is not None:
        target |= inherited
    if said.legacy is not None:
        return AssignorMember(
            member.member_id, None, said.url, target, LEGACY_VERSION, metadata=own_state(group, member)
        )
    for each in said.assignors:
        if each.name == assignor:
            return AssignorMember(
                member.member_id,
                said.instance_id,
                said.url,
                target,
                each.version,
                each.reason,
                each.metadata,
                member.epoch,
            )
    return AssignorMember(member.member_id, said.instance_id, said.url, target, epoch=member.epoch)


def remaining_delay_ms(group: ConnectGroup, now_ms: int) -> int:
    """How long resources of departed members wait yet: -1 no delay is running, 0 it is over (CG-22)."""
    if group.delay_deadline_wall_ms == NO_DEADLINE:
        return -1
    return 0 if group.delay_due_ms == NEVER_MS else max(0, group.delay_due_ms - now_ms)


def _fail(turn: Turn, group: ConnectGroup, error: AssignmentError, why: str) -> None:
    """No new target: the old one stays and counts for this epoch (CG-20)."""
    group.end_computation()
    turn.contents.counters.errors[error.name.lower().replace("_", " ")] += 1
    turn.write(records.assignment_failed(group, error, why))
    if error in TRIED_AGAIN:
        back_off_ms = min(BACK_OFF_MS << min(group.failures, 10), MAX_BACK_OFF_MS)
        group.failures += 1
        group.retry_due_ms = turn.now_ms + back_off_ms
        turn.wake(group, group.retry_due_ms)


def retry(turn: Turn, group: ConnectGroup) -> None:
    """The back-off after an assignment error is over."""
    group.retry_due_ms = NEVER_MS
    if group.error and group.epoch == group.assignment_epoch and group.members:
        epochs.bump(turn, group, Reason.RETRY)
