"""How does a worker become a member, come back, and go? (CG-5 to CG-9, CG-22, CG-28)

Every function here changes the group through records; who calls it has made sure that it may.
"""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from kcoord.group.connect import records
from kcoord.group.connect.computing import unchoose
from kcoord.group.connect.epochs import bump
from kcoord.group.connect.group import (
    NO_DEADLINE,
    NO_OFFSET,
    UNKNOWN_DELAY,
    ConnectGroup,
    Member,
    Resources,
    Said,
    Target,
)
from kcoord.group.connect.reasons import Reason
from kcoord.group.connect.returning import departed_like, take_over_target
from kcoord.group.connect.telling import refuse_all
from kcoord.group.deadlines import NEVER_MS
from kcoord.group.modern.member import AWAY_EPOCH, JOINING_EPOCH, NO_EPOCH
from kcoord.group.turn import Turn
from kcoord.protocol.errors import ErrorCode

NOTHING: Resources = frozenset()


def join(turn: Turn, group: ConnectGroup, member_id: str, said: Said) -> ConnectGroup:
    """A worker that the group does not know. One that departed gets the target that waits for it at once (CG-22).
    Returns the group: the first member's record founds it.
    """
    returned = departed_like(turn, group, member_id, said)
    if said.instance_id is not None and group.fenced.get(said.instance_id) == member_id:
        del group.fenced[said.instance_id]
    turn.write(records.member_said(group.group_id, member_id, attrs.evolve(said, group_epoch=group.epoch + 1)))
    group = turn.contents.connect[group.group_id]
    group.failures = 0
    if returned is not None:
        take_over_target(turn, group, returned, member_id, said)
    bump(turn, group, Reason.JOINED, [member_id])
    turn.contents.counters.members["joined"] += 1
    return group


def succeed(turn: Turn, group: ConnectGroup, elder: Member, member_id: str, said: Said) -> None:
    """A static member is back under another id: one write, and no bump unless it says something else (CG-28), or was
    put out before it went: then it takes part again (CG-7).
    """
    instance_id = said.instance_id
    assert instance_id is not None
    changed = differs(elder.said, said)
    target = group.targets.get(elder.member_id)
    _write_gone(turn, group, elder, elder.doubtful)
    epoch = elder.said.group_epoch if changed is None else group.epoch + 1
    turn.write(records.member_said(group.group_id, member_id, attrs.evolve(said, group_epoch=epoch)))
    if target is not None:
        turn.write(records.member_target(group.group_id, elder.member_id, None))
        turn.write(records.member_target(group.group_id, member_id, _of(target, said)))
    if group.computed_by == elder.member_id:
        turn.write(records.computed_by_successor(group, member_id))
    group.fenced[instance_id] = elder.member_id
    turn.contents.counters.members["replaced"] += 1
    if changed is not None:
        bump(turn, group, Reason.STATIC_REPLACED, [member_id])
    elif elder.put_out:
        bump(turn, group, Reason.JOINED, [member_id])


def _of(target: Target, said: Said) -> Target:
    return attrs.evolve(target, instance_id=said.instance_id, url=said.url)


def rejoin(turn: Turn, group: ConnectGroup, member: Member, said: Said) -> None:
    """A known member begins anew, owning nothing: what it may have been running is free, its target kept (CG-6)."""
    was_put_out = member.put_out
    turn.contents.counters.members["rejoined"] += 1
    if member.current or member.put_out or member.recorded_epoch != JOINING_EPOCH:
        turn.write(records.current_assignment(group, member, NOTHING, JOINING_EPOCH, NO_EPOCH))
    _forget_session(member)
    group.forget(member)
    if was_put_out:
        update(turn, group, member, said, quietly=True)
        bump(turn, group, Reason.JOINED, [member.member_id])
    else:
        update(turn, group, member, said)


def _forget_session(member: Member) -> None:
    """Nothing of what the member was told holds any more."""
    member.epoch, member.previous_epoch = JOINING_EPOCH, NO_EPOCH
    _forget_told(member)


def _forget_told(member: Member) -> None:
    member.answer, member.reported, member.epoch_unsure = None, None, False
    member.releasing, member.release_due_ms = NOTHING, NEVER_MS


def update(turn: Turn, group: ConnectGroup, member: Member, said: Said, quietly: bool = False) -> None:
    """What a member says of itself; bumps the group epoch only for what CG-13 lists."""
    elder = member.said
    said = records.with_session_timeout(said, elder.session_timeout_ms)
    if said == attrs.evolve(elder, group_epoch=said.group_epoch):
        return
    reason = differs(elder, said)
    if reason is not None:
        said = attrs.evolve(said, group_epoch=group.epoch + 1)
    turn.write(records.member_said(group.group_id, member.member_id, said))
    if reason is not None and not quietly:
        bump(turn, group, reason, [member.member_id])


def differs(elder: Said, said: Said) -> Reason | None:
    """Why what a member says makes the group assign anew; None where it does not (CG-13)."""
    if said.server_assignor != elder.server_assignor or _ranges(said) != _ranges(elder):
        return Reason.ASSIGNORS_CHANGED
    for before, now in zip(elder.assignors, said.assignors, strict=True):
        if now.reason != before.reason and now.reason != 0:
            return Reason.ASSIGNOR_REASON
        if (now.version, now.metadata) != (before.version, before.metadata):
            return Reason.ASSIGNORS_CHANGED
    return None


def _ranges(said: Said) -> list[tuple[str, int, int]]:
    return [(each.name, each.minimum_version, each.maximum_version) for each in said.assignors]


def go_away(turn: Turn, group: ConnectGroup, member: Member) -> None:
    """A static member leaves for a while: all is free at once, its target is kept, nothing is bumped (CG-28)."""
    turn.write(records.current_assignment(group, member, NOTHING, AWAY_EPOCH, NO_EPOCH, member.put_out))
    _forget_told(member)
    unchoose(group, member.member_id)
    refuse_all(turn, group, member, ErrorCode.UNKNOWN_MEMBER_ID)
    turn.contents.counters.members["away"] += 1


def remove(turn: Turn, group: ConnectGroup, members: Sequence[Member], reason: Reason) -> None:
    """Members are gone and run nothing any more (CG-8, CG-9). Their targets wait for them, unless nobody is left."""
    for member in members:
        _write_gone(turn, group, member, member.doubtful)
    turn.contents.counters.members["left" if reason is Reason.LEFT else "expired"] += len(members)
    bump(turn, group, reason, [member.member_id for member in members])
    if not group.members:
        _forget_all(turn, group)


def drop_dead(turn: Turn, group: ConnectGroup, member: Member, runs: Resources) -> None:
    """A member's place is taken by another that comes in the same step, and says what of it `runs` yet: its target
    waits for that one.
    """
    _write_gone(turn, group, member, member.doubtful & runs)
    turn.contents.counters.members["replaced"] += 1


def _write_gone(turn: Turn, group: ConnectGroup, member: Member, doubtful: Resources) -> None:
    """Its target waits, but for what is `doubtful`: it had not been given that yet."""
    refuse_all(turn, group, member, ErrorCode.UNKNOWN_MEMBER_ID)
    unchoose(group, member.member_id)
    if member.recorded:
        turn.write(records.no_current(group.group_id, member.member_id))
    turn.write(records.member_said(group.group_id, member.member_id, None))
    target = group.targets.get(member.member_id)
    if target is not None and doubtful:
        kept = attrs.evolve(target, resources=target.resources - doubtful)
        turn.write(records.member_target(group.group_id, member.member_id, kept))


def _forget_all(turn: Turn, group: ConnectGroup) -> None:
    """Nobody is left who could wait for anybody: the next one who joins gets everything (CG-21)."""
    for member_id in list(group.targets):
        turn.write(records.member_target(group.group_id, member_id, None))
    if group.configured is not None:
        turn.write(records.no_configured_set(group.group_id))
    turn.write(
        records.target_assignment(group, None, "", NO_DEADLINE, config_round=NO_OFFSET, workers_delay_ms=UNKNOWN_DELAY)
    )
    group.delay_due_ms = group.retry_due_ms = NEVER_MS
    group.failures = 0


def put_out(
    turn: Turn, group: ConnectGroup, members: Sequence[Member], reason: Reason = Reason.REBALANCE_TIMEOUT
) -> None:
    """Members did not let go in time, or went without having let go: their targets wait as those of departed members
    do, and what they may be running stays reserved until they join anew or their session ends (CG-7).
    """
    for member in members:
        turn.write(
            records.current_assignment(
                group, member, member.current, member.recorded_epoch, member.recorded_previous, put_out=True
            )
        )
        member.releasing, member.release_due_ms = NOTHING, NEVER_MS
        unchoose(group, member.member_id)
        gone = ErrorCode.FENCED_MEMBER_EPOCH if member.legacy is None else ErrorCode.UNKNOWN_MEMBER_ID
        refuse_all(turn, group, member, gone)
    turn.contents.counters.members["put out"] += len(members)
    bump(turn, group, reason, [member.member_id for member in members])
