"""Fingerprints of the input and the result of a connect group's assignment, to notice repetition (`repetition`).

Not part of the input: a worker that asks for a new assignment (the reason of its assignor), timeouts, epochs, the time
that remains of a delay, and what workers hold on the way to their targets.
"""

from __future__ import annotations

from kcoord.assign.placement import Rules
from kcoord.group.state.groups.connect_group import NO_DEADLINE, PASSED_DEADLINE, ConnectGroup, ConnectMember
from kcoord.group.state.repetition import Given, fingerprint


def rebalance_input(group: ConnectGroup, rules: Rules) -> Given:
    """The fingerprints of the input of the next assignment, as it is now, with these placement rules."""
    configured = None if group.configured is None else group.configured.resources
    scope = fingerprint(frozenset([_metadata(member) for member in group.members.values()]), configured, rules)
    state = fingerprint(
        _targets(group),
        _delayed(group),
        group.computed_by,
    )
    return Given(scope, state)


def rebalance_answer(group: ConnectGroup) -> int:
    """The fingerprint of the installed assignment."""
    return fingerprint(_targets(group), _delayed(group))


def _targets(group: ConnectGroup) -> frozenset[object]:
    return frozenset([(member_id, target.resources) for member_id, target in group.targets.items()])


def _delayed(group: ConnectGroup) -> bool:
    return group.delay_deadline_wall_ms not in (NO_DEADLINE, PASSED_DEADLINE)


def _metadata(member: ConnectMember) -> object:
    metadata, classic = member.metadata, member.metadata.classic
    speaks = None if classic is None else (tuple(classic.protocols), classic.config_offset)
    assignors = [
        (at.name, at.minimum_version, at.maximum_version, at.version, at.metadata) for at in metadata.assignors
    ]
    return member.member_id, member.evicted, metadata.url, metadata.server_assignor, tuple(assignors), speaks
