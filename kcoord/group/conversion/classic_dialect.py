"""The classic side of a connect group: what the floors below ask of translation and conversion."""

from __future__ import annotations

from kcoord.group.conversion.kind_policy import belongs_to_classic
from kcoord.group.conversion.to_classic import to_classic
from kcoord.group.state.groups.connect_group import ConnectGroup, ConnectMember
from kcoord.group.state.transition import Transition
from kcoord.group.translation.answers import flush_held_heartbeat, refuse_waiting, session_of
from kcoord.group.translation.classic_settle import settle_classic
from kcoord.group.translation.delivery.rejoin_policy import notify_classic
from kcoord.group.translation.rounds.config_round import keep_change_together
from kcoord.group.translation.rounds.leader import is_free_to_lead
from kcoord.group.translation.rounds.leader_view import assignor_input
from kcoord.group.translation.rounds.look_policy import ensure_look, is_frozen
from kcoord.group.translation.sessions import go_on_after_load, open_session
from kcoord.group.translation.sweep import next_ms, sweep_classic_members
from kcoord.protocol.errors import ErrorCode


class _TranslatedSide:
    """See `ClassicSide` in `state/transition.py`."""

    evicted_error = ErrorCode.UNKNOWN_MEMBER_ID
    inherits_by_url = False
    open_session = staticmethod(open_session)
    flush_held_reply = staticmethod(flush_held_heartbeat)
    refuse_all = staticmethod(refuse_waiting)
    notify = staticmethod(notify_classic)
    assignor_input = staticmethod(assignor_input)
    go_on_after_load = staticmethod(go_on_after_load)
    sweep = staticmethod(sweep_classic_members)
    next_ms = staticmethod(next_ms)
    settle = staticmethod(settle_classic)
    may_lead = staticmethod(is_free_to_lead)
    ensure_look = staticmethod(ensure_look)
    is_frozen = staticmethod(is_frozen)
    keep_change_together = staticmethod(keep_change_together)

    @staticmethod
    def is_waiting(member: ConnectMember) -> bool:
        """A JoinGroup or SyncGroup that is parked keeps its session."""
        return session_of(member).is_waiting

    @staticmethod
    def needs_no_record(_transition: Transition, _group: ConnectGroup, _member: ConnectMember) -> bool:
        """An answer to its heartbeat writes nothing."""
        return True

    @staticmethod
    def convert(transition: Transition, group: ConnectGroup) -> None:
        """Make the group a classic group if it is to be one now."""
        if belongs_to_classic(transition.state, group):
            to_classic(transition, group)


CLASSIC_SIDE = _TranslatedSide()
"""The one that all shards use: it has no state."""
