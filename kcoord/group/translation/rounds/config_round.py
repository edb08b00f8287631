"""The config round: a bounded barrier while a changed connector or task stops on all classic workers (CM-25).

Connect relies on it that every worker has stopped the reconfigured tasks before any worker starts them again.

1. A round opens when a worker joins by itself with a config offset above that of the installed assignment, or above
   that of others that hold something. The round is for that offset.
2. While the round is open, SyncGroups wait.
3. It ends when every worker that holds something has joined with at least that offset and the leader has installed at
   least that, or after 10 s.
4. Workers that have not joined after 0.7 s are called (CM-22).
5. A worker that was called for another reason and has a higher offset may have read a change as well. Then SyncGroups
   wait 0.7 s for others to come by themselves.

No round waits for workers between JoinGroup and SyncGroup. A higher offset alone opens no round: a session key moves it
too. What belonged to absent workers is not given back to them any more (CM-21).
"""

from __future__ import annotations

import attrs

from kcoord.group.state.classic_workers.embedded_protocol import DEFAULT
from kcoord.group.state.classic_workers.phases import Phase
from kcoord.group.state.classic_workers.session import ConfigRound
from kcoord.group.state.deadlines import NEVER_MS
from kcoord.group.state.groups.connect_group import NO_OFFSET, Configured, ConnectGroup, ConnectMember
from kcoord.group.state.records import connect_records as records
from kcoord.group.state.transition import Transition
from kcoord.group.translation.answers import ask_to_rejoin, session_of
from kcoord.group.translation.embedded_join import Spoken
from kcoord.group.translation.rounds.look_policy import highest_offset

LONGEST_MS = 10_000
"""The longest time that a round stays open."""
NUDGE_MS = 700


def is_opened_by(transition: Transition, group: ConnectGroup, member: ConnectMember, spoken: Spoken) -> bool:
    """Whether this JoinGroup, with its config offset, reports a change of configuration: the worker joins by itself,
    not because it has stopped what it was told to or because a delay is over.
    """
    classic = member.metadata.classic
    assert classic is not None
    if group.classic.protocol == DEFAULT or not comes_by_itself(member):
        return False
    known = group.classic.round
    open_already = known.offset if known is not None and known.is_certain else NO_OFFSET
    if spoken.config_offset <= open_already or spoken.config_offset < classic.config_offset:
        return False
    is_new = spoken.config_offset > classic.config_offset  # else it was called just when it had read the change
    return (is_new and spoken.config_offset > group.computed_offset) or _is_awaited_by_others(group, member, spoken)


def comes_by_itself(member: ConnectMember) -> bool:
    """Whether the worker joins by itself: no answer has called it, and it has nothing to release. After a load it may
    have been called before the load; the coordinator still treats what it reports as news.
    """
    session = session_of(member)
    is_joining = session.phase is Phase.COMPLETING
    return not session.was_called and not is_joining and not member.releasing and session.has_synced


def _is_awaited_by_others(group: ConnectGroup, member: ConnectMember, spoken: Spoken) -> bool:
    """Whether other workers that hold something are still below this offset. Then the leader was faster: a worker of
    the new protocol has installed by then, or the leader was called just when it had read the change. A worker that was
    away for so long that it has stopped everything reports no change.
    """
    was_away = bool(member.current) and not spoken.reported
    return not was_away and any(each is not member for each in holders_below(group, spoken.config_offset))


def may_be_opened_by(group: ConnectGroup, member: ConnectMember, spoken: Spoken) -> bool:
    """Whether a worker that was called may have read a change of tasks. A new session key moves the offset too; after a
    real change, the others that run those tasks soon come by themselves. The worker must have read further than all
    others; the leader of a look only further than it had read before.
    """
    classic, look = member.metadata.classic, group.classic.look
    assert classic is not None
    if group.classic.protocol == DEFAULT or group.classic.round is not None:
        return False
    looks = look is not None and look.leader == member.member_id
    if member.releasing and not looks:
        return False  # it joins at once when it has stopped that, and once more for a change
    known = classic.config_offset if looks else highest_offset(group)
    is_new = spoken.config_offset > max(known, group.computed_offset)
    return is_new and _is_awaited_by_others(group, member, spoken)


def expect_config_round(transition: Transition, group: ConnectGroup, offset: int) -> None:
    """Let SyncGroups wait for as long as it takes a worker that has read as far to join by itself."""
    group.classic.round = ConfigRound(offset, transition.now_ms + NUDGE_MS, NEVER_MS, is_certain=False)
    transition.wake(group, transition.now_ms + NUDGE_MS)


def open_config_round(transition: Transition, group: ConnectGroup, offset: int) -> None:
    """Open a round: from now on SyncGroups wait. If a round is open already, the next one starts at its end: workers
    that wait in the open round, answered before that, would start again with the old configuration what others run.
    """
    now_ms = transition.now_ms
    known = group.classic.round
    if known is not None and known.is_certain:
        known.next_offset = max(known.next_offset, offset)
        return
    if known is not None:
        offset = max(known.offset, offset)
    group.classic.round = ConfigRound(offset, now_ms + LONGEST_MS, now_ms + NUDGE_MS)
    transition.wake(group, now_ms + NUDGE_MS)
    if group.config_round != offset:
        transition.write(records.config_round(group, offset))  # a load in between must not let anybody start
    for member_id, target in group.departed():
        if target.url is not None or target.instance_id is not None:
            nameless = attrs.evolve(target, url=None, instance_id=None)
            transition.write(records.member_target(group.group_id, member_id, nameless))


def keep_change_together(transition: Transition, group: ConnectGroup, known: Configured | None) -> None:
    """Open a round if a worker says that other connectors and tasks exist than `known`. A worker that is called just
    now for another reason opens no round by its own join, and would start with the new configuration what slower
    workers may still run with the old one.
    """
    now = group.configured
    if known is None or now is None or known.resources == now.resources:
        return
    if group.classic.protocol != DEFAULT and holders_below(group, now.topic_offset):
        open_config_round(transition, group, now.topic_offset)


def nudge(transition: Transition, group: ConnectGroup) -> None:
    """Call the workers that hold something and have not joined."""
    config_round = group.classic.round
    assert config_round is not None
    config_round.nudge_ms = NEVER_MS
    transition.wake(group, config_round.until_ms)
    for member in holders_below(group, config_round.offset):
        if session_of(member).phase is Phase.STABLE:
            ask_to_rejoin(transition, group, member)


def end_if_complete(transition: Transition, group: ConnectGroup) -> bool:
    """End the round, and with it the wait of the SyncGroups, if all have joined and the leader has installed, or the
    time is over.
    """
    config_round = group.classic.round
    if config_round is None:
        return False
    is_known = _installed_offset(group) >= config_round.offset and group.classic.look is None
    complete = is_known and not holders_below(group, config_round.offset)
    if not complete and transition.now_ms < config_round.until_ms:
        return False
    group.classic.round = None
    if config_round.next_offset > config_round.offset:
        open_config_round(transition, group, config_round.next_offset)
    elif config_round.is_certain:
        transition.write(records.config_round(group, NO_OFFSET))
    group.touched.update(group.classic.members)
    return True


def _installed_offset(group: ConnectGroup) -> int:
    """The config offset up to which the installed assignment is right. If no classic worker leads, changed task
    configurations alone make nobody compute: the workers of the new protocol then report the same set at a higher
    offset.
    """
    leads = group.members.get(group.computed_by or "")
    if leads is None or leads.classic is not None or group.configured is None or group.epoch > group.assignment_epoch:
        return group.computed_offset
    return max(group.computed_offset, group.configured.topic_offset)


def holders_below(group: ConnectGroup, offset: int) -> list[ConnectMember]:
    """Classic workers that hold something and have not joined with that offset."""
    found = []
    for member_id in group.classic.members:
        member = group.members[member_id]
        classic = member.metadata.classic
        if member.current and not member.evicted and classic is not None and classic.config_offset < offset:
            found.append(member)
    return found
