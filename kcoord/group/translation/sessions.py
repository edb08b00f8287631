"""Opening the sessions of classic workers: after a load (CM-28), and in a group that was converted.

After a load a worker may know any generation from the recorded one on. The log does not say whether the worker heard
what it must stop, so it is told again. A leader that had been shown the group is shown it again, and counts as a leader
that remembers nothing.
"""

from __future__ import annotations

from kcoord.group.connect.departed_workers import runs_on_ms
from kcoord.group.state.classic_workers.phases import Phase
from kcoord.group.state.groups.connect_group import NO_OFFSET, ConnectGroup, ConnectMember
from kcoord.group.state.transition import Transition
from kcoord.group.translation.answers import ask_to_rejoin, session_of
from kcoord.group.translation.rounds.config_round import open_config_round
from kcoord.group.translation.rounds.leader import leader_known_as


def open_session(transition: Transition, group: ConnectGroup, member: ConnectMember) -> None:
    """Open the session of a worker that was loaded."""
    session = session_of(member)
    session.generation, session.generation_unsure = member.recorded_epoch, True
    session.protocol = group.classic.protocol
    if member.evicted:  # perhaps it left without having stopped: wait for as long as that may take
        member.session_holds_ms = transition.now_ms + runs_on_ms(transition, group)
    session.has_synced = member.metadata.classic is not None and member.metadata.classic.known_leader is not None
    _know_leader(group, member)


def go_on_after_load(transition: Transition, group: ConnectGroup) -> None:
    """Go on with what all classic workers of a loaded group do together, once their sessions are open."""
    if group.config_round != NO_OFFSET and group.classic.members:
        open_config_round(transition, group, group.config_round)
    group.touched.update(group.classic.members)


def begin(transition: Transition, group: ConnectGroup, member: ConnectMember, generation: int, rejoin: bool) -> None:
    """Open the session of a worker that comes from a classic group, at the generation that it knows. `rejoin`: it had
    not finished a rebalance, and must join again.
    """
    session = session_of(member)
    session.generation, session.has_synced = generation, not rejoin
    session.protocol = group.classic.protocol
    member.epoch = generation
    _know_leader(group, member)
    if rejoin:
        session.phase = Phase.STABLE
        ask_to_rejoin(transition, group, member)


def _know_leader(group: ConnectGroup, member: ConnectMember) -> None:
    """A leader that knows that it leads has its assignment."""
    classic = member.metadata.classic
    if classic is not None and member.member_id == group.computed_by and classic.known_leader == leader_known_as(group):
        group.classic.ready_leader = member.member_id
