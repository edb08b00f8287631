"""How does a legacy worker compute? Its JoinGroup shows it all members, its SyncGroup brings what each is to do.

1. Every JoinGroup of the leader is such a round (legacy rule 3). It is shown targets, as of now, less what has to move
   (`levelling`): the input is frozen.
2. A member's new target is what was shown of it, less what it is to stop, and what it is to start; under `default` what
   it is to run. It counts also if the group has moved on since: then the next round follows (legacy rule 8).
3. What was taken from somebody and given to nobody is handed out in one more round, when it is free (legacy rule 10).
4. A leader that has not made the last assignment remembers nothing: what was deleted since that one it takes for good
   when it sees it running, and for deleted in the next round. So it computes once more (legacy rule 11).
5. Where the same round comes again and again (`repetition`), what the leader takes away and gives to nobody stays with
   whom it is: then nothing is left to be asked for.
6. The assignment defines what is configured, as of the leader's config offset, unless somebody has read further.
"""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from kcoord.assign.model import Assignment, MemberAssignment
from kcoord.assign.model import Member as AssignorMember
from kcoord.group.connect import records
from kcoord.group.connect.computing import freeze, give_up_chosen
from kcoord.group.connect.group import NO_OFFSET, Computation, Configured, ConnectGroup, Frozen, Member, Resources
from kcoord.group.connect.install import NotValid, check, install
from kcoord.group.step import Token
from kcoord.group.translation.answers import answer_join, session_of
from kcoord.group.translation.levelling import withheld
from kcoord.group.translation.shown import list_members
from kcoord.group.translation.spoken import version
from kcoord.group.translation.syncing import GRACE_MS
from kcoord.group.turn import Turn
from kcoord.protocol.embedded import EAGER, EmbeddedError, WorkerAssignment, decode_assignment

NOTHING: Resources = frozenset()


@attrs.frozen(slots=True)
class Computed:
    """What the leader's SyncGroup says."""

    targets: dict[str, Resources]
    revoked: Resources
    """All that anybody is to stop, also what the same answer has just given to it: Connect hands out what was lost and
    then levels, in one round.
    """
    config_offset: int
    delay_ms: int
    error: int


def leads(group: ConnectGroup, member: Member) -> bool:
    """Whether the worker is to compute the next assignment."""
    return group.computation is not None and group.computation.chosen == member.member_id


def open_round(turn: Turn, group: ConnectGroup, member: Member, token: Token) -> None:
    """Answer the leader's JoinGroup: show it the group."""
    computation = group.computation
    assert computation is not None
    legacy = member.said.legacy
    assert legacy is not None
    frozen = freeze(turn, group, computation.assignor, turn.contents.effective(group.group_id))
    group.legacy.withheld = withheld(group, member)
    shown = _without(frozen.input.members, group.legacy.withheld)
    given = attrs.evolve(frozen.input, members=shown, configured=None, config_offset=legacy.config_offset)
    computation.frozen = attrs.evolve(frozen, input=given)
    computation.epoch = group.epoch
    session_of(member).computes = True
    answer_join(turn, group, member, token, list_members(group, member, shown), member.member_id)


def _without(members: tuple[AssignorMember, ...], withheld: Mapping[str, Resources]) -> tuple[AssignorMember, ...]:
    return tuple(
        [
            attrs.evolve(each, target=each.target - withheld[each.member_id]) if each.member_id in withheld else each
            for each in members
        ]
    )


def close_round(turn: Turn, group: ConnectGroup, member: Member, assignments: Mapping[str, bytes]) -> int:
    """Install what the leader has computed. Returns the error that it found itself, which only it is to hear; 0: none.

    Raises NotValid where the assignment makes no sense: nothing is installed, and somebody else is to compute.
    """
    computation = group.computation
    assert computation is not None
    assert computation.frozen is not None
    frozen = computation.frozen
    try:
        computed = _read(frozen, group, member, assignments)
        if computed.error:
            computation.frozen = None
            session_of(member).computes = False
            return computed.error
        members = tuple([MemberAssignment(each, resources) for each, resources in computed.targets.items()])
        delay_ms = computed.delay_ms + GRACE_MS if computed.delay_ms > 0 else 0
        assignment = Assignment(members, delay_ms)
        check(frozen.input, assignment)
    except NotValid:
        session_of(member).computes = False
        give_up_chosen(turn, group)
        raise
    session_of(member).computes = False
    _install(turn, group, computation, frozen, computed, assignment)
    return 0


def _read(frozen: Frozen, group: ConnectGroup, leader: Member, assignments: Mapping[str, bytes]) -> Computed:
    """Raises NotValid for what cannot be read, and for members that were not shown."""
    shown = {each.member_id: each.target for each in frozen.input.members}
    strangers = assignments.keys() - shown.keys()
    if strangers:
        raise NotValid(f"{min(strangers)} was not among the members that leader {leader.member_id} was shown")
    given: dict[str, WorkerAssignment] = {}
    for member_id, data in assignments.items():
        try:
            given[member_id] = decode_assignment(data)
        except EmbeddedError as fault:
            raise NotValid(f"the assignment of {member_id} cannot be read: {fault}") from None
    whole = version(group.legacy.protocol) == EAGER
    targets = {each: _target(shown[each], given.get(each), whole) for each in shown}
    if group.legacy.withheld:
        _keep(targets, group.legacy.withheld)
    if group.repetition.goes_round() and not whole:
        _keep(targets, shown)
    own = given.get(leader.member_id)
    return Computed(
        targets,
        NOTHING.union(*[each.revoked for each in given.values()]),
        config_offset=frozen.input.config_offset if own is None else own.config_offset,
        delay_ms=max((each.delay_ms for each in given.values()), default=0),
        error=0 if own is None else own.error,
    )


def _target(shown: Resources, given: WorkerAssignment | None, whole: bool) -> Resources:
    if given is None:
        return NOTHING if whole else shown
    return given.assigned if whole else (shown - given.revoked) | given.assigned


def _keep(targets: dict[str, Resources], withheld: Mapping[str, Resources]) -> None:
    """What the leader has given to nobody stays with whom it is."""
    dealt = NOTHING.union(*targets.values())
    for member_id, resources in withheld.items():
        targets[member_id] |= resources - dealt


def _install(
    turn: Turn,
    group: ConnectGroup,
    computation: Computation,
    frozen: Frozen,
    computed: Computed,
    assignment: Assignment,
) -> None:
    shown = NOTHING.union(*[each.target for each in frozen.input.members])
    assigned = NOTHING.union(*computed.targets.values())
    waiting = _not_shown(group, frozen, computed) - assigned
    unhanded = (shown | computed.revoked) - assigned - waiting
    _define_configured(turn, group, assigned, waiting | unhanded, computed.config_offset)
    known = attrs.evolve(frozen, input=attrs.evolve(frozen.input, config_offset=computed.config_offset))
    group.legacy.unsure = bool(shown) and _is_new_to(group, computation.chosen, computed.config_offset)
    group.legacy.once_more = group.legacy.unsure
    group.legacy.unseen = any(each not in assigned for each in _of_newcomers(group, computed))
    install(turn, group, known, assignment, computation.chosen, computation.assignor)
    group.legacy.unhanded, group.legacy.withheld, group.legacy.is_fetched = unhanded, {}, False
    group.legacy.seen_last = computation.chosen, frozenset([each.member_id for each in frozen.input.members])
    group.touched.update(group.unconverged)


def _is_new_to(group: ConnectGroup, leader_id: str, config_offset: int) -> bool:
    """Whether the leader cannot know what has been deleted since the last assignment, which it has not made or never
    got, or before that, if who made it could not know either. Nobody knows it of what workers have that came while that
    was made.
    """
    last = group.legacy.seen_last
    is_another = last is None or last[0] != leader_id or not group.legacy.is_fetched
    return group.legacy.unseen or (is_another and (group.legacy.unsure or config_offset != group.computed_offset))


def _of_newcomers(group: ConnectGroup, computed: Computed) -> Resources:
    """What those have who have come since the leader was shown the group. As of its offset that may be deleted."""
    newcomers = [each for each in group.participants() if each.member_id not in computed.targets]
    return NOTHING.union(*[group.target_of(each) or NOTHING for each in newcomers])


def _not_shown(group: ConnectGroup, frozen: Frozen, computed: Computed) -> Resources:
    """What exists that the leader did not see: of those who have come since, perhaps back to what they had, and of
    the departed while a delay runs.
    """
    return NOTHING.union(
        *[
            target.resources
            for member_id, target in group.targets.items()
            if member_id not in computed.targets
            and member_id not in frozen.merged
            and (computed.delay_ms > 0 or group.takes_part(member_id))
        ]
    )


def _define_configured(
    turn: Turn, group: ConnectGroup, assigned: Resources, unassigned: Resources, offset: int
) -> None:
    """What a worker of the new protocol says of that offset itself is better, and stands or replaces this: a leader
    that remembers nothing may have left in what was deleted. So this is as of just before (connect-groups rule 21).
    """
    known, now = group.configured, Configured(assigned | unassigned, max(offset - 1, NO_OFFSET))
    if known is None or (known.rank <= now.rank and known != now):
        turn.write(records.configured_set(group, now))


def unhanded_after_load(group: ConnectGroup) -> Resources:
    """What the last legacy leader had taken away and given to nobody, as far as the records tell."""
    if group.configured is None or group.computed_by is None or group.configured.offset == NO_OFFSET:
        return NOTHING
    leader = group.members.get(group.computed_by)
    if leader is None or leader.legacy is None:
        return NOTHING
    return group.configured.resources.difference(group.claimants)
