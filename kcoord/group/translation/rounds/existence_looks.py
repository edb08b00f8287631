"""Looks: Connect's leader is asked which connectors and tasks exist, and nothing else.

A look is one JoinGroup and SyncGroup of the leader. The leader is shown a picture in which nothing is to be moved
(`picture`). The coordinator itself computes who runs what, what waits for whom, and for how long. No other worker has
to join for a look.

| a look is wanted when | why |
| --- | --- |
| a worker has read further than the last look | what exists may have changed (CM-32, CM-44) |
| nobody leads, unless the leader has just stopped in order | workers forward requests to the leader, and fence by it (CM-33, CM-48) |
| the leader is drained, and runs nothing any more | another one must lead before it is stopped (CM-48) |
| the leader joins by itself | answered as a follower, it would forget what it knows (CM-3) |
| what was deleted has stopped everywhere, and nothing is to move | the leader clears the status of deleted tasks in its next look (CM-41) |
| a worker is lost, and it is not known how long its work is to wait | the workers' own setting counts, and their leader can show it (CM-36) |
| nothing has happened for a minute since something was placed, or since the group became a connect group | the leader forwards REST requests by the picture that it was shown last (CM-35, CM-49); a new leader also shows that delay |

Every look but the last is answered with a low offset that no worker has. So the leader joins again before it starts
anything, and its memory stays (CM-38, CM-53). While a worker has read further than the last look, nothing is placed,
for ten seconds at most (CM-44).
"""  # noqa: E501

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kcoord.group.connect.departed_workers import know_workers_delay, rebalance_delay
from kcoord.group.connect.install import NotValid
from kcoord.group.connect.reasons import Reason, bump
from kcoord.group.connect.repetition_brake import has_to_wait
from kcoord.group.state.classic_workers.embedded_protocol import DEFAULT
from kcoord.group.state.classic_workers.leader_picture import Look, Shown, draw, read_answer
from kcoord.group.state.classic_workers.look_verdicts import Asking, Verdict
from kcoord.group.state.classic_workers.session import QUIET_MS, OpenLook
from kcoord.group.state.deadlines import NEVER_MS
from kcoord.group.state.groups.connect_group import (
    NO_OFFSET,
    UNKNOWN_DELAY,
    Configured,
    ConnectGroup,
    ConnectMember,
    Resources,
)
from kcoord.group.state.records import connect_records as records
from kcoord.group.state.step import Token
from kcoord.group.state.transition import Transition
from kcoord.group.translation.answers import answer_join, answer_sync, low_assignment, session_of
from kcoord.group.translation.rounds.leader import is_free_to_lead, live_classic_leader
from kcoord.group.translation.rounds.leader_view import as_named, list_slices
from kcoord.protocol.config_source import ConfigSource, is_of_file
from kcoord.protocol.embedded import EmbeddedError, WorkerAssignment, decode_assignment

NOTHING: Resources = frozenset()
LONGEST_MS = 10_000
"""How long, at most, nothing is placed because the leader has not read as far as others."""
AGAIN_MS = 3_000
"""A leader that has not read as far as others is asked again after this time, unless it joins by itself."""


def asks_leader(group: ConnectGroup) -> bool:
    """Whether a Connect leader says what exists. Under `default` it also says who runs what."""
    fleet = group.classic
    return bool(fleet.members) and fleet.protocol is not None and fleet.protocol != DEFAULT


def is_shown_pictures(group: ConnectGroup, member: ConnectMember) -> bool:
    """Whether the worker's JoinGroup is a look: the worker is asked, or it leads and joins by itself."""
    look = group.classic.look
    if look is not None:
        return look.leader == member.member_id
    is_free = group.computation is None and group.classic.retiring is None
    return member.member_id == group.computed_by and is_free


# -- when -------------------------------------------------------------------------------------------------------------


def ensure_look(transition: Transition, group: ConnectGroup, *, is_led_by_others: bool) -> None:
    """Call the leader if a look is wanted. `is_led_by_others`: a worker of the new protocol computes, and leads."""
    fleet = group.classic
    if not is_led_by_others and fleet.protocol != DEFAULT:
        fleet.retiring = None  # nobody else is to lead now
    is_shown = fleet.look is not None and fleet.look.picture is not None
    if not asks_leader(group) or (is_led_by_others and not is_shown):
        fleet.look = None
        return
    if fleet.look is not None and group.takes_part(fleet.look.leader):
        return
    fleet.look = None
    tidies = _map_is_due(transition, group)
    is_wanted = fleet.gathering_due_ms == NEVER_MS and (tidies or _is_wanted(transition, group))
    leader = _who(transition, group) if is_wanted and not has_to_wait(transition, group) else None
    if leader is not None and is_free_to_lead(group, leader.member_id):
        fleet.look = OpenLook(leader.member_id, Asking(_remembers(group, leader)))
        fleet.look.learns = (tidies or _lacks_delay(group)) and _may_show_delay(transition, group, leader)
        group.touched.add(leader.member_id)


def _is_wanted(transition: Transition, group: ConnectGroup) -> bool:
    fleet = group.classic
    if group.configured is None and group.epoch > group.assignment_epoch:
        return True  # if nothing is to be placed, as after a conversion, what exists need not be known
    leader = live_classic_leader(group)
    if leader is None:
        return not _leader_may_be_back(transition, group) or _is_behind(group)
    if fleet.deleted and not group.unconverged and not any(each in group.owners for each in fleet.deleted):
        return True
    if _hands_over(transition, group, leader):
        return True
    if _lacks_delay(group) and _may_show_delay(transition, group, leader):
        return True
    return _is_behind(group) and _may_ask_for_offset(transition, group)


def keep_lead(transition: Transition, group: ConnectGroup, leaving: Sequence[ConnectMember]) -> None:
    """Workers have stopped in order and leave. If the leader is one of them, nobody else leads for a while: it may be
    restarted and have its place back (CM-48). This lasts no longer than its work waits for it.
    """
    limits = transition.state.effective(group.group_id)
    delay_ms, _ = rebalance_delay(transition, group, limits)
    wait_ms = min(limits.leader_wait_ms, delay_ms)
    if wait_ms and asks_leader(group) and any(each.member_id == group.computed_by for each in leaving):
        group.classic.leader_due_ms = transition.now_ms + wait_ms
        transition.wake(group, group.classic.leader_due_ms)


def _leader_may_be_back(transition: Transition, group: ConnectGroup) -> bool:
    if transition.now_ms >= group.classic.leader_due_ms or group.classic.leader_due_ms == NEVER_MS:
        return False
    return not any(group.members[each].metadata.url == group.computed_by_url for each in group.classic.members)


def _map_is_due(transition: Transition, group: ConnectGroup) -> bool:
    fleet = group.classic
    if transition.now_ms < fleet.map_due_ms:
        return False
    if not group.unconverged and fleet.round is None and group.epoch == group.assignment_epoch:
        return True
    fleet.map_due_ms = transition.now_ms + QUIET_MS
    transition.wake(group, fleet.map_due_ms)
    return False


def _may_show_delay(transition: Transition, group: ConnectGroup, leader: ConnectMember) -> bool:
    """Whether the leader can show how long lost work is to wait, and has not shown it yet. Not needed if the group sets
    the delay itself.
    """
    has_own = transition.state.effective(group.group_id).has_own_delay
    return not has_own and group.classic.learned_by != leader.member_id


def _lacks_delay(group: ConnectGroup) -> bool:
    """Whether work is lost, and it is not known how long the work is to wait."""
    return group.workers_delay_ms == UNKNOWN_DELAY and any(target.resources for _, target in group.departed())


def _may_ask_for_offset(transition: Transition, group: ConnectGroup) -> bool:
    """Whether it is time to call the leader for its offset. Workers join by themselves when the configuration has
    changed, so the leader is given the time for that first.
    """
    fleet, now_ms = group.classic, transition.now_ms
    if fleet.round is not None and fleet.round.nudge_ms != NEVER_MS and now_ms < fleet.round.nudge_ms:
        return False
    if now_ms < fleet.ask_again_ms != NEVER_MS:
        transition.wake(group, fleet.ask_again_ms)
        return False
    return True


def is_awaited(group: ConnectGroup) -> bool:
    """Whether the leader is being asked, and its answer may change what exists."""
    return group.classic.look is not None and (group.configured is None or _is_behind(group))


def _is_behind(group: ConnectGroup) -> bool:
    """Whether a classic member has read further than what is known. Offsets of a file and of the topic are not
    compared.
    """
    highest, configured = highest_offset(group), group.configured
    of_file = is_of_file(ConfigSource.UNSAID, highest)
    known = NO_OFFSET
    if is_of_file(ConfigSource.UNSAID, group.computed_offset) is of_file:
        known = group.computed_offset
    if configured is not None and configured.is_of_file is of_file:
        known = max(known, configured.offset)
    return highest > known


def highest_offset(group: ConnectGroup) -> int:
    """The highest config offset that a classic member has reported."""
    members = [group.members[each] for each in group.classic.members]
    return max(
        [
            each.metadata.classic.config_offset
            for each in members
            if each.metadata.classic is not None and not each.evicted
        ],
        default=NO_OFFSET,
    )


def is_frozen(transition: Transition, group: ConnectGroup) -> bool:
    """Whether nothing may be placed yet: what exists is not known, or some worker has read further than what is
    known.
    """
    fleet = group.classic
    if group.configured is None:
        return True
    if not _is_behind(group):
        fleet.frozen_until_ms = NEVER_MS
        return False
    if fleet.frozen_until_ms == NEVER_MS:
        fleet.frozen_until_ms = transition.now_ms + LONGEST_MS
        transition.wake(group, fleet.frozen_until_ms)
    return transition.now_ms < fleet.frozen_until_ms


def _who(transition: Transition, group: ConnectGroup) -> ConnectMember | None:
    """The worker to ask: the present leader; else a worker that is back at the leader's url; else one whose JoinGroup
    waits; else the first. A worker whose connection is closed comes last. A drained worker leads only if all are
    drained.
    """
    leader = live_classic_leader(group)
    if leader is not None and not _hands_over(transition, group, leader):
        return leader
    members = [group.members[each] for each in group.classic.members if not group.members[each].evicted]

    rules = transition.state.effective(group.group_id).placement

    def rank(member: ConnectMember) -> tuple[bool, bool, bool, bool, bool, str]:
        named = as_named(member)
        return (
            transition.state.is_closed(member.connection),
            rules.retires(named),
            member.metadata.url != group.computed_by_url,
            rules.cordon_of(named) is not None,
            session_of(member).parked_join is None,
            member.member_id,
        )

    return min(members, key=rank, default=None)


def _hands_over(transition: Transition, group: ConnectGroup, leader: ConnectMember) -> bool:
    """Whether the leader is drained and has nothing any more, and another worker can lead (CM-48)."""
    if leader.current or group.target_of(leader):
        return False
    rules = transition.state.effective(group.group_id).placement
    if not rules.cordons or not rules.retires(as_named(leader)):
        return False
    others = [group.members[each] for each in group.classic.members if each != leader.member_id]
    return any(
        not each.evicted and not transition.state.is_closed(each.connection) and rules.cordon_of(as_named(each)) is None
        for each in others
    )


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


# -- a look -----------------------------------------------------------------------------------------------------------


def open_look(transition: Transition, group: ConnectGroup, member: ConnectMember, token: Token) -> None:
    """Answer the leader's JoinGroup: show it the picture."""
    fleet, classic = group.classic, member.metadata.classic
    assert classic is not None
    if fleet.look is None:
        fleet.look = OpenLook(member.member_id, Asking(_remembers(group, member)))
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
