"""What is always true of the classic workers of a connect group between two steps."""

from __future__ import annotations

from collections import Counter

from kcoord.group.state.classic_workers.embedded_protocol import elect
from kcoord.group.state.classic_workers.phases import Phase
from kcoord.group.state.classic_workers.session import ClassicSession
from kcoord.group.state.deadlines import NEVER_MS
from kcoord.group.state.groups.connect_group import ConnectGroup, ConnectMember
from kcoord.group.translation.sweep import next_ms


def check_classic_member(group: ConnectGroup, now_ms: int) -> None:
    """Raise AssertionError where the group contradicts itself."""
    fleet = group.classic
    workers = {each.member_id: each for each in group.members.values() if each.metadata.classic is not None}
    assert {each for each, member in group.members.items() if member.classic is not None} == workers.keys()
    assert {each: tuple(said) for each, member in workers.items() if (said := _protocols(member))} == fleet.members
    assert fleet.offers == Counter(fleet.members.values())
    assert fleet.protocol == elect(fleet.offers)
    parked = {each for each, member in workers.items() if _session(member).parked_join is not None}
    assert fleet.joining.keys() == parked, "every parked JoinGroup is looked at, and nothing else"
    if fleet.round is not None:
        assert fleet.round.until_ms > now_ms, "a config round is bounded"
    for member in workers.values():
        _check_worker(group, member)
    assert group.wake_ms <= max(next_ms(group, now_ms), now_ms + 1)


def _check_worker(group: ConnectGroup, member: ConnectMember) -> None:
    session = _session(member)
    assert session.generation <= group.epoch, "CM-2"
    if session.parked_sync is not None:
        assert session.phase is Phase.COMPLETING
        assert session.parked_join is None, "a worker waits for one answer at a time"
        assert session.parked_until_ms < NEVER_MS
    waits = session.parked_join is not None or session.parked_sync is not None
    if session.phase is not Phase.STABLE and not waits and not member.evicted:
        assert session.due_ms < NEVER_MS, "who must come has a time for it"
    if member.evicted:
        assert session.parked_join is None
        assert session.parked_sync is None
        assert member.held is None
    if session.computes and session.parked_sync is None and not member.evicted:
        look, computation = group.classic.look, group.computation
        asked = look.leader if look is not None else None if computation is None else computation.chosen
        assert asked == member.member_id, "CM-14: what the leader was shown is waited for"


def may_wait_for_leader(group: ConnectGroup) -> bool:
    """Whether nobody need compute now: workers are gathered, who leads is to join first (CM-14), or is asked
    what exists.
    """
    fleet = group.classic
    is_asked = fleet.look is not None or fleet.frozen_until_ms != NEVER_MS
    return fleet.gathering_due_ms != NEVER_MS or fleet.retiring is not None or is_asked


def _session(member: ConnectMember) -> ClassicSession:
    assert member.classic is not None
    return member.classic


def _protocols(member: ConnectMember) -> list[str]:
    classic = member.metadata.classic
    return [] if classic is None else classic.protocols
