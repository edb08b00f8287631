"""The classic side of a connect group: what the floors below ask of translation and conversion."""

from __future__ import annotations

from kcoord.group.conversion.policy import belongs_to_classic
from kcoord.group.conversion.to_classic import to_classic
from kcoord.group.state.groups.connect_group import ConnectGroup
from kcoord.group.state.transition import Transition
from kcoord.group.translation.answers import flush_held_heartbeat, refuse_waiting
from kcoord.group.translation.classic_settle import settle_classic
from kcoord.group.translation.config_round import keep_change_together
from kcoord.group.translation.leader import is_free_to_lead
from kcoord.group.translation.leader_view import own_state
from kcoord.group.translation.looks import ensure_look, is_frozen
from kcoord.group.translation.rejoin_policy import notify_classic
from kcoord.group.translation.sessions import open_classic_sessions
from kcoord.group.translation.sweep import next_ms, sweep_classic_members


class _TranslatedSide:
    """See `ClassicSide` in `state/transition.py`."""

    flush_held_reply = staticmethod(flush_held_heartbeat)
    refuse_all = staticmethod(refuse_waiting)
    tell = staticmethod(notify_classic)
    open_sessions = staticmethod(open_classic_sessions)
    sweep = staticmethod(sweep_classic_members)
    next_ms = staticmethod(next_ms)
    settle = staticmethod(settle_classic)
    may_lead = staticmethod(is_free_to_lead)
    ensure_look = staticmethod(ensure_look)
    is_frozen = staticmethod(is_frozen)
    keep_change_together = staticmethod(keep_change_together)
    own_state = staticmethod(own_state)

    @staticmethod
    def convert(transition: Transition, group: ConnectGroup) -> None:
        """Make the group a classic group if it is to be one now."""
        if belongs_to_classic(transition.state, group):
            to_classic(transition, group)


CLASSIC_SIDE = _TranslatedSide()
"""The one that all shards use: it has no state."""
