"""The brake of a connect group whose rebalances repeat themselves: the next one waits for a back-off, whose length
`repeated_rebalances` says.

Whether one repeats another is told by fingerprints of the input and of the assignment. Not part of the input: a worker
that asks for a new assignment (the reason of its assignor), timeouts, epochs, the time that remains of a delay, and
what workers hold on the way to their targets.
"""

from __future__ import annotations

from kcoord.assign.placement import Rules
from kcoord.group.state.deadlines import NEVER_MS
from kcoord.group.state.groups.connect_group import NO_DEADLINE, PASSED_DEADLINE, ConnectGroup, ConnectMember
from kcoord.group.state.metrics import CONNECT
from kcoord.group.state.repeated_rebalances import FREE, Given, fingerprint
from kcoord.group.state.step import Slowed
from kcoord.group.state.transition import Transition


def has_to_wait(transition: Transition, group: ConnectGroup) -> bool:
    """Whether the next rebalance must wait because it would repeat earlier ones. If not, the rebalance begins here."""
    repetition, now_ms = group.repetition, transition.now_ms
    if repetition.is_awaited(group.epoch, now_ms):
        return True  # nothing has changed since the last check
    given = rebalance_input(group, transition.state.effective(group.group_id).placement)
    due_ms = repetition.due(given, now_ms)
    if due_ms <= now_ms:
        repetition.begin(given, now_ms)
        return False
    if repetition.due_ms == NEVER_MS:
        transition.state.counters.slowed[CONNECT] += 1
        transition.step.slowed.append(Slowed(group.group_id, repetition.times, repetition.times == FREE))
    repetition.due_ms, repetition.waits_for = due_ms, group.epoch
    transition.wake(group, due_ms)
    return True


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
