"""Looks: Connect's leader is asked which connectors and tasks exist, and nothing else.

A look is one JoinGroup and SyncGroup of the leader. The leader is shown a picture in which nothing is to be moved
(`state/classic_workers/leader_picture.py`). The coordinator itself computes who runs what, what waits for whom, and for
how long. No other worker has to join for a look.

Every look but the last is answered with a low offset that no worker has. So the leader joins again before it starts
anything, and its memory stays (CM-38, CM-53).
"""

from __future__ import annotations

from collections.abc import Mapping

from kcoord.group.connect.departed_workers import know_workers_delay
from kcoord.group.connect.install import NotValid
from kcoord.group.connect.reasons import Reason, bump
from kcoord.group.state.classic_workers.leader_picture import Look, Shown, draw, read_answer
from kcoord.group.state.classic_workers.look_verdicts import Asking, Verdict
from kcoord.group.state.classic_workers.session import OpenLook
from kcoord.group.state.deadlines import NEVER_MS
from kcoord.group.state.groups.connect_group import Configured, ConnectGroup, ConnectMember, Resources
from kcoord.group.state.records import connect_records as records
from kcoord.group.state.step import Token
from kcoord.group.state.transition import Transition
from kcoord.group.translation.answers import answer_join, answer_sync, low_assignment, session_of
from kcoord.group.translation.rounds.leader_view import list_slices
from kcoord.protocol.embedded import EmbeddedError, WorkerAssignment, decode_assignment

NOTHING: Resources = frozenset()
AGAIN_MS = 3_000
"""A leader that has not read as far as others is asked again after this time, unless it joins by itself."""


def new_look(group: ConnectGroup, leader: ConnectMember) -> OpenLook:
    """A look of this leader, which has not been shown anything yet."""
    return OpenLook(leader.member_id, Asking(_remembers(group, leader)))


def _remembers(group: ConnectGroup, leader: ConnectMember) -> bool:
    """Whether the last look was this leader's, and it has received the answer (CM-40)."""
    return group.classic.remembered_by == leader.member_id and group.classic.remembers


def doubt_memory(group: ConnectGroup, member: ConnectMember, is_other_connection: bool) -> None:
    """A worker joins again. If it is the leader of a look, and its SyncGroup or the answer to it may be lost, its
    assignor may have forgotten (CM-40).
    """
    look = group.classic.look
    if look is not None and look.leader == member.member_id and (look.picture is not None or is_other_connection):
        look.asking.remembers = False


def open_look(transition: Transition, group: ConnectGroup, member: ConnectMember, token: Token) -> None:
    """Answer the leader's JoinGroup: show it the picture."""
    fleet, classic = group.classic, member.metadata.classic
    assert classic is not None
    if fleet.look is None:
        fleet.look = new_look(group, member)
    look = fleet.look
    if look.existing is None and not _known(group) <= fleet.remembered:
        look.asking.remembers = False  # it does not notice the deletion of what it has not seen before (CM-52)
    workers = _workers(group, member, look)
    waiting = _to_show(group, look) - NOTHING.union(*[each.target for each in workers])
    look.has_left_out = look.learns and look.asking.remembers
    if look.has_left_out:
        workers, waiting = _leave_out(workers, waiting)
    look.picture = draw(workers, workers[0], waiting)
    look.offset = classic.config_offset
    fleet.remembered_by, fleet.remembers, fleet.map_due_ms = None, False, NEVER_MS
    session_of(member).computes = True
    answer_join(transition, group, member, token, list_slices(group, look.picture, look.offset), member.member_id)


def _leave_out(workers: list[Shown], waiting: Resources) -> tuple[list[Shown], Resources]:
    """Leave something out of the picture: what is waiting, if anything is; else the worker that has the least to run,
    with its work, but not the leader.
    """
    able = [each for each in workers[1:] if each.target]
    if waiting or not able:
        return workers, NOTHING
    out = min(able, key=lambda each: (len(each.target), each.member_id))
    return [each for each in workers if each is not out], waiting


def _to_show(group: ConnectGroup, look: OpenLook) -> Resources:
    return _known(group) if look.existing is None else look.existing


def _known(group: ConnectGroup) -> Resources:
    """What exists, and what targets name although it may not exist."""
    targets = NOTHING.union(*[each.resources for each in group.targets.values()])
    return targets if group.configured is None else targets | group.configured.resources


def _workers(group: ConnectGroup, leader: ConnectMember, look: OpenLook) -> list[Shown]:
    """All members that take part, the leader first, each with its target; no resource is shown twice."""
    left = set(_to_show(group, look))
    shown = []
    for member in [leader, *(each for each in group.participants() if each is not leader)]:
        target = (group.target_of(member) or NOTHING) & left
        left -= target
        shown.append(Shown(member.member_id, member.metadata.url or "", target))
    return shown


def close_look(
    transition: Transition, group: ConnectGroup, member: ConnectMember, assignments: Mapping[str, bytes]
) -> tuple[Verdict, int]:
    """Take in the leader's answer. Returns the verdict, and the error that the leader reports. Raises NotValid if the
    answer makes no sense: then the leader is asked again.
    """
    fleet = group.classic
    look = fleet.look
    assert look is not None
    assert look.picture is not None
    session_of(member).computes = False
    try:
        seen = read_answer(look.picture, _read(look, assignments), member.member_id, look.offset)
    except NotValid:
        fleet.look = None
        fleet.ask_again_ms = transition.now_ms + AGAIN_MS
        transition.wake(group, fleet.ask_again_ms)
        raise
    if look.learns and look.has_left_out and not seen.error:
        _learn_delay(transition, group, look, seen)
        look.asking.remembers = False  # it does not remember what was left out: that must be shown once more
        return Verdict.AGAIN, 0
    verdict = look.asking.judge(seen, look.picture.shown)
    look.picture = None
    if verdict is Verdict.AGAIN:
        look.existing = seen.existing
    elif verdict is Verdict.KNOWN:
        _learn(transition, group, member, seen)
    return verdict, seen.error


def _learn_delay(transition: Transition, group: ConnectGroup, look: OpenLook, seen: Look) -> None:
    """Learn the delay from the answer: what was left out waits for that long, or not at all. The next picture is whole
    again, and ends the leader's wait.
    """
    look.picture, look.learns = None, False
    group.classic.learned_by = look.leader
    has_missed_it = seen.delay_ms or seen.given
    if has_missed_it and group.workers_delay_ms != seen.delay_ms:
        know_workers_delay(transition, group, seen.delay_ms)


def _read(look: OpenLook, assignments: Mapping[str, bytes]) -> dict[str, WorkerAssignment]:
    assert look.picture is not None
    strangers = assignments.keys() - {each.member_id for each in look.picture.slices}
    if strangers:
        raise NotValid(f"{min(strangers)} was not among the members that leader {look.leader} was shown")
    given = {}
    for member_id, data in assignments.items():
        try:
            given[member_id] = decode_assignment(data)
        except EmbeddedError as fault:
            raise NotValid(f"the assignment of {member_id} cannot be read: {fault}") from None
    return given


def _learn(transition: Transition, group: ConnectGroup, leader: ConnectMember, seen: Look) -> None:
    """Record what exists, and who leads, unless a worker of the new protocol has been chosen to compute meanwhile."""
    fleet, known = group.classic, group.configured
    now = Configured(seen.existing, seen.config_offset)
    fleet.look, fleet.leader_due_ms = None, NEVER_MS
    fleet.remembered_by, fleet.remembered = leader.member_id, seen.existing
    fleet.ask_again_ms = transition.now_ms + AGAIN_MS
    transition.wake(group, fleet.ask_again_ms)
    gone = (NOTHING if known is None else known.resources) - seen.existing
    fleet.deleted = frozenset([each for each in fleet.deleted | gone if each in group.owners]) - seen.existing
    changed = known is None or known.resources != now.resources
    if known is None or (known.rank <= now.rank and known != now):
        transition.write(records.configured_set(group, now))
    if group.computation is None:
        _lead(transition, group, leader, seen.config_offset)
    if changed and group.epoch == group.assignment_epoch:
        bump(transition, group, Reason.RESOURCES_CHANGED)


def _lead(transition: Transition, group: ConnectGroup, leader: ConnectMember, offset: int) -> None:
    known = (group.computed_by, group.computed_by_url, group.computed_offset)
    if group.computed_by != leader.member_id:
        group.touched.update(group.classic.members)  # they must learn who leads them (CM-11)
    if known != (leader.member_id, leader.metadata.url, offset):
        transition.write(records.led_by(group, leader.member_id, leader.metadata.url, offset))


def ask_again(transition: Transition, member: ConnectMember, token: Token) -> None:
    """Answer the SyncGroup of a look that is not the last one."""
    answer_sync(transition, member, token, low_assignment(member))
