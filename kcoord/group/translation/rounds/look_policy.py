"""The reasons for a look (`existence_looks.py`), and which worker is asked as the leader.

| a look is wanted when | why |
| --- | --- |
| a worker has read further than the last look | what exists may have changed (CM-32, CM-44) |
| nobody leads, unless the leader has just stopped in order | workers forward requests to the leader, and fence by it (CM-33, CM-48) |
| the leader is drained, and runs nothing any more | another one must lead before it is stopped (CM-48) |
| the leader joins by itself | answered as a follower, it would forget what it knows (CM-3) |
| what was deleted has stopped everywhere, and nothing is to move | the leader clears the status of deleted tasks in its next look (CM-41) |
| a worker is lost, and it is not known how long its work is to wait | the workers' own setting counts, and their leader can show it (CM-36) |
| nothing has happened for a minute since something was placed, or since the group became a connect group | the leader forwards REST requests by the picture that it was shown last (CM-35, CM-49); a new leader also shows that delay |

While a worker has read further than the last look, nothing is placed, for ten seconds at most (CM-44).
"""  # noqa: E501

from __future__ import annotations

from collections.abc import Sequence

from kcoord.group.connect.departed_workers import rebalance_delay
from kcoord.group.connect.repetition_brake import has_to_wait
from kcoord.group.state.classic_workers.embedded_protocol import DEFAULT
from kcoord.group.state.classic_workers.session import QUIET_MS
from kcoord.group.state.deadlines import NEVER_MS
from kcoord.group.state.groups.connect_group import NO_OFFSET, UNKNOWN_DELAY, ConnectGroup, ConnectMember
from kcoord.group.state.transition import Transition
from kcoord.group.translation.answers import session_of
from kcoord.group.translation.rounds.existence_looks import new_look
from kcoord.group.translation.rounds.leader import is_free_to_lead, live_classic_leader
from kcoord.group.translation.rounds.leader_view import as_named
from kcoord.protocol.config_source import ConfigSource, is_of_file

LONGEST_MS = 10_000
"""How long, at most, nothing is placed because the leader has not read as far as others."""


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


def ensure_look(transition: Transition, group: ConnectGroup, *, is_led_by_others: bool) -> None:
    """Call the leader if a look is wanted. `is_led_by_others`: a worker of the new protocol computes, and leads."""
    fleet = group.classic
    if not is_led_by_others and fleet.protocol != DEFAULT:
        fleet.retiring = None  # nobody else is to lead now
    look = fleet.look if asks_leader(group) else None
    if look is not None and group.takes_part(look.leader) and (look.picture is not None or not is_led_by_others):
        return
    fleet.look = None
    if is_led_by_others or not asks_leader(group):
        return
    tidies = _map_is_due(transition, group)
    is_wanted = fleet.gathering_due_ms == NEVER_MS and (tidies or _is_wanted(transition, group))
    leader = _who(transition, group) if is_wanted and not has_to_wait(transition, group) else None
    if leader is not None and is_free_to_lead(group, leader.member_id):
        fleet.look = new_look(group, leader)
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
