"""The group that a worker of the new protocol joins: a classic group of Connect workers becomes a connect group for it.

Nothing changes before it is known that the worker may join; until then the checks use a preview.
"""

from __future__ import annotations

from kcoord.group.connect.group_lookup import Refused, group_to_join
from kcoord.group.conversion.to_connect import preview, to_connect
from kcoord.group.conversion.workers import NotConvertible
from kcoord.group.state.connect_settings import MIGRATION_POLICY
from kcoord.group.state.groups.classic_group import GenericGroup
from kcoord.group.state.groups.connect_group import PROTOCOL_TYPE, ConnectGroup
from kcoord.group.state.replaced_groups import replace_classic
from kcoord.group.state.transition import Turn
from kcoord.protocol.errors import ErrorCode


def group_for(turn: Turn, group_id: str) -> ConnectGroup:
    """The group that a worker is about to join, as the worker would find it. Raises Refused if it cannot join any."""
    generic = turn.contents.groups.get(group_id)
    if generic is None or not generic.members:
        if generic is not None and generic.protocol_type == PROTOCOL_TYPE and not generic.pending:
            return ConnectGroup(group_id)  # offsets that Connect workers have left there do no harm
        return group_to_join(turn, group_id)
    _check_policy(turn, generic)
    try:
        return preview(turn, generic)
    except NotConvertible as why:
        raise Refused(ErrorCode.GROUP_ID_NOT_FOUND, f"it stays a group of the generic protocol: {why}") from None


def take_name(turn: Turn, group: ConnectGroup) -> ConnectGroup:
    """Give the name to a connect group, before the first record about the worker is written: convert the classic group,
    or remove it if it has no members.
    """
    generic = turn.contents.groups.get(group.group_id)
    if generic is not None and generic.members:
        return to_connect(turn, generic)
    replace_classic(turn, group.group_id)
    return turn.contents.connect.get(group.group_id, group)


def _check_policy(turn: Turn, generic: GenericGroup) -> None:
    policy = turn.contents.effective(generic.group_id).migration_policy
    if generic.protocol_type == PROTOCOL_TYPE and not policy.upgrades:
        raise Refused(
            ErrorCode.GROUP_ID_NOT_FOUND,
            f"{generic.group_id} is a group of the generic protocol with {len(generic.members)} workers, and its "
            f"{MIGRATION_POLICY} is {policy}: set it to bidirectional or upgrade, or stop those workers first",
        )
