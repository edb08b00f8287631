"""Computing rounds of a classic leader under `default`: its JoinGroup shows it all members, its SyncGroup assigns.

Every JoinGroup of the leader is such a round (CM-3), and freezes the input. Its answer counts even if the group has
moved on since; then the next round follows (CM-8). The assignment defines what is configured, as of the leader's config
offset, unless another worker has read further. Leaders that speak more than `default` are only asked what exists
(`existence_looks.py`).
"""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from kcoord.assign.model import Assignment, MemberAssignment
from kcoord.group.connect.computing import freeze, give_up_chosen
from kcoord.group.connect.install import NotValid, check, install
from kcoord.group.state.groups.computation import Computation
from kcoord.group.state.groups.connect_group import (
    NO_OFFSET,
    Configured,
    ConnectGroup,
    ConnectMember,
    Frozen,
    Resources,
)
from kcoord.group.state.records import connect_records as records
from kcoord.group.state.step import Token
from kcoord.group.state.transition import Transition
from kcoord.group.translation.answers import answer_join, session_of
from kcoord.group.translation.rounds.leader_view import list_members
from kcoord.protocol.embedded import EmbeddedError, WorkerAssignment, decode_assignment

NOTHING: Resources = frozenset()


@attrs.frozen(slots=True)
class Computed:
    """What the leader's SyncGroup says."""

    targets: dict[str, Resources]
    config_offset: int
    error: int


def leads(group: ConnectGroup, member: ConnectMember) -> bool:
    """Whether the worker is to compute the next assignment."""
    return group.computation is not None and group.computation.chosen == member.member_id


def open_round(transition: Transition, group: ConnectGroup, member: ConnectMember, token: Token) -> None:
    """Answer the leader's JoinGroup: show it the group."""
    computation = group.computation
    assert computation is not None
    classic = member.metadata.classic
    assert classic is not None
    frozen = freeze(transition, group, computation.assignor, transition.state.effective(group.group_id))
    given = attrs.evolve(frozen.input, configured=None, config_offset=classic.config_offset)
    computation.frozen = attrs.evolve(frozen, input=given)
    computation.epoch = group.epoch
    session_of(member).computes = True
    answer_join(transition, group, member, token, list_members(group, member, given.members), member.member_id)


def close_round(
    transition: Transition, group: ConnectGroup, member: ConnectMember, assignments: Mapping[str, bytes]
) -> int:
    """Install what the leader has computed. Returns the error that the leader itself reports, 0 if there is none. Only
    the leader is told that error.

    Raises NotValid if the assignment makes no sense: nothing is installed, and another worker is to compute.
    """
    computation = group.computation
    assert computation is not None
    assert computation.frozen is not None
    frozen = computation.frozen
    session_of(member).computes = False
    try:
        computed = _read(frozen, member, assignments)
        if computed.error:
            computation.frozen = None
            return computed.error
        members = tuple([MemberAssignment(each, resources) for each, resources in computed.targets.items()])
        assignment = Assignment(members)
        check(frozen.input, assignment)
    except NotValid:
        give_up_chosen(transition, group)
        raise
    _install(transition, group, computation, frozen, computed, assignment)
    return 0


def _read(frozen: Frozen, leader: ConnectMember, assignments: Mapping[str, bytes]) -> Computed:
    """Decode the assignments. Raises NotValid for what cannot be read, and for members that were not shown."""
    shown = [each.member_id for each in frozen.input.members]
    strangers = assignments.keys() - shown
    if strangers:
        raise NotValid(f"{min(strangers)} was not among the members that leader {leader.member_id} was shown")
    given: dict[str, WorkerAssignment] = {}
    for member_id, data in assignments.items():
        try:
            given[member_id] = decode_assignment(data)
        except EmbeddedError as fault:
            raise NotValid(f"the assignment of {member_id} cannot be read: {fault}") from None
    own = given.get(leader.member_id)
    return Computed(
        {each: given[each].assigned if each in given else NOTHING for each in shown},
        config_offset=frozen.input.config_offset if own is None else own.config_offset,
        error=0 if own is None else own.error,
    )


def _install(
    transition: Transition,
    group: ConnectGroup,
    computation: Computation[Frozen],
    frozen: Frozen,
    computed: Computed,
    assignment: Assignment,
) -> None:
    assigned = NOTHING.union(*computed.targets.values())
    _define_configured(transition, group, assigned | _of_newcomers(group, frozen, computed), computed.config_offset)
    known = attrs.evolve(frozen, input=attrs.evolve(frozen.input, config_offset=computed.config_offset))
    install(transition, group, known, assignment, computation.chosen, computation.assignor)
    group.touched.update(group.unconverged)


def _of_newcomers(group: ConnectGroup, frozen: Frozen, computed: Computed) -> Resources:
    """The targets of members that have come since the leader was shown the group; they may have got back what they
    had.
    """
    return NOTHING.union(
        *[
            target.resources
            for member_id, target in group.targets.items()
            if member_id not in computed.targets and member_id not in frozen.merged and group.takes_part(member_id)
        ]
    )


def _define_configured(transition: Transition, group: ConnectGroup, existing: Resources, offset: int) -> None:
    """Record what exists, as of just before `offset` (CG-21). What a worker of the new protocol says about that offset
    is better, and wins or replaces this: resources that came with newcomers may be deleted.
    """
    known, now = group.configured, Configured(existing, max(offset - 1, NO_OFFSET))
    if known is None or (known.rank <= now.rank and known != now):
        transition.write(records.configured_set(group, now))
