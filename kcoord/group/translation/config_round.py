"""What keeps a change of configuration together? A bounded barrier among the legacy workers (CM-25).

Connect relies on it: every worker has stopped the reconfigured tasks before any starts them anew. So when a worker
comes by itself with a higher config offset than the installed assignment's, or than that of others that hold something,
a round opens at that offset. While it is open SyncGroups are kept back. It ends when every worker that holds something
has come with an offset at least that high and the leader has installed at least that, or after 10 s. Those that have
not come after 0.7 s are told to (CM-22). One that was called for something else and has a higher offset may
have read a change as well: SyncGroups wait 0.7 s for others to come by themselves.

Nobody waits for others between JoinGroup and SyncGroup, and an offset alone opens nothing: a session key moves it too.
What belonged to workers that are away is given back to none of them any more (CM-21).
"""

from __future__ import annotations

import attrs

from kcoord.group.connect import records
from kcoord.group.connect.group import NO_OFFSET, Configured, ConnectGroup, Member
from kcoord.group.deadlines import NEVER_MS
from kcoord.group.translation.answers import session_of
from kcoord.group.translation.asking import ask_to_rejoin
from kcoord.group.translation.looks import highest_offset
from kcoord.group.translation.phases import Phase
from kcoord.group.translation.reading import Spoken
from kcoord.group.translation.session import ConfigRound
from kcoord.group.translation.spoken import DEFAULT
from kcoord.group.turn import Turn

LONGEST_MS = 10_000
"""The longest time that a round lasts."""
NUDGE_MS = 700


def is_opened_by(turn: Turn, group: ConnectGroup, member: Member, spoken: Spoken) -> bool:
    """Whether the JoinGroup of this worker, with its offset, tells of a change of configuration: it comes by itself,
    neither because it has stopped what it was told to nor because a delay is over.
    """
    legacy = member.said.legacy
    assert legacy is not None
    if group.legacy.protocol == DEFAULT or not comes_by_itself(member):
        return False
    known = group.legacy.round
    open_already = known.offset if known is not None and known.is_certain else NO_OFFSET
    if spoken.config_offset <= open_already or spoken.config_offset < legacy.config_offset:
        return False
    is_new = spoken.config_offset > legacy.config_offset  # else it was called when it had read the change
    return (is_new and spoken.config_offset > group.computed_offset) or _is_awaited_by_others(group, member, spoken)


def comes_by_itself(member: Member) -> bool:
    """Whether a JoinGroup of this worker now is its own idea: no answer has called it, and it has nothing to release.
    After a load that may be one that was called before; its news is news here all the same.
    """
    session = session_of(member)
    is_joining = session.phase is Phase.COMPLETING
    return not session.was_called and not is_joining and not member.releasing and session.has_synced


def _is_awaited_by_others(group: ConnectGroup, member: Member, spoken: Spoken) -> bool:
    """Whether the leader was faster, and others are slower: one of the new protocol has installed by then, or one that
    was called just when it had read the change. Who was away for so long that it has stopped everything tells of none.
    """
    was_away = bool(member.current) and not spoken.reported
    return not was_away and any(each is not member for each in holders_below(group, spoken.config_offset))


def may_be_opened_by(group: ConnectGroup, member: Member, spoken: Spoken) -> bool:
    """Whether a worker that was called may have read a change of tasks. A new session key moves the offset too; after
    a change, the others that run those tasks soon come by themselves. The worker must have read further than all
    others; the leader of a look only further than it had read before.
    """
    legacy, look = member.said.legacy, group.legacy.look
    assert legacy is not None
    if group.legacy.protocol == DEFAULT or group.legacy.round is not None:
        return False
    looks = look is not None and look.leader == member.member_id
    if member.releasing and not looks:
        return False  # it comes at once when it has stopped that, and for a change once more
    known = legacy.config_offset if looks else highest_offset(group)
    is_new = spoken.config_offset > max(known, group.computed_offset)
    return is_new and _is_awaited_by_others(group, member, spoken)


def expect_config_round(turn: Turn, group: ConnectGroup, offset: int) -> None:
    """SyncGroups wait for as long as a worker takes to come by itself that has read as far."""
    group.legacy.round = ConfigRound(offset, turn.now_ms + NUDGE_MS, NEVER_MS, is_certain=False)
    turn.wake(group, turn.now_ms + NUDGE_MS)


def open_config_round(turn: Turn, group: ConnectGroup, offset: int) -> None:
    """From now on SyncGroups wait. While one is open the next one waits for its end: answered before that, those that
    wait in it would start again what others run as it was.
    """
    now_ms = turn.now_ms
    known = group.legacy.round
    if known is not None and known.is_certain:
        known.next_offset = max(known.next_offset, offset)
        return
    if known is not None:
        offset = max(known.offset, offset)
    group.legacy.round = ConfigRound(offset, now_ms + LONGEST_MS, now_ms + NUDGE_MS)
    turn.wake(group, now_ms + NUDGE_MS)
    if group.config_round != offset:
        turn.write(records.config_round(group, offset))  # a load in between must not let anybody start
    for member_id, target in group.departed():
        if target.url is not None or target.instance_id is not None:
            nameless = attrs.evolve(target, url=None, instance_id=None)
            turn.write(records.member_target(group.group_id, member_id, nameless))


def keep_change_together(turn: Turn, group: ConnectGroup, known: Configured | None) -> None:
    """Somebody says that other connectors and tasks exist than `known`. Who is called just now for another reason opens
    no round with its own join, and would start as they are now what slower workers may be running as they were.
    """
    now = group.configured
    if known is None or now is None or known.resources == now.resources:
        return
    if group.legacy.protocol != DEFAULT and holders_below(group, now.topic_offset):
        open_config_round(turn, group, now.topic_offset)


def nudge(turn: Turn, group: ConnectGroup) -> None:
    """Tell those to join that hold something and have not come."""
    config_round = group.legacy.round
    assert config_round is not None
    config_round.nudge_ms = NEVER_MS
    turn.wake(group, config_round.until_ms)
    for member in holders_below(group, config_round.offset):
        if session_of(member).phase is Phase.STABLE:
            ask_to_rejoin(turn, group, member)


def end_if_complete(turn: Turn, group: ConnectGroup) -> bool:
    """Let the SyncGroups go if everybody has come and the leader has installed, or the time is over."""
    config_round = group.legacy.round
    if config_round is None:
        return False
    is_known = _installed_offset(group) >= config_round.offset and group.legacy.look is None
    complete = is_known and not holders_below(group, config_round.offset)
    if not complete and turn.now_ms < config_round.until_ms:
        return False
    group.legacy.round = None
    if config_round.next_offset > config_round.offset:
        open_config_round(turn, group, config_round.next_offset)
    elif config_round.is_certain:
        turn.write(records.config_round(group, NO_OFFSET))
    group.touched.update(group.legacy.members)
    return True


def _installed_offset(group: ConnectGroup) -> int:
    """Up to where the installed assignment is right. Where no legacy worker leads, changed task configurations alone
    make nobody compute: what the leader's kind says of the configuration is the same set at a higher offset.
    """
    leads = group.members.get(group.computed_by or "")
    if leads is None or leads.legacy is not None or group.configured is None or group.epoch > group.assignment_epoch:
        return group.computed_offset
    return max(group.computed_offset, group.configured.topic_offset)


def holders_below(group: ConnectGroup, offset: int) -> list[Member]:
    """Legacy workers that hold something and have not joined with that offset."""
    found = []
    for member_id in group.legacy.members:
        member = group.members[member_id]
        legacy = member.said.legacy
        if member.current and not member.put_out and legacy is not None and legacy.config_offset < offset:
            found.append(member)
    return found
