"""The group that a worker of the new protocol names, and what becomes of a classic group that has the name (CG-29).

A classic group of Connect workers becomes a connect group when such a worker joins. One without members and offsets
makes room. Nothing changes before it is known that the worker may join; until then the checks use a preview.
"""

from __future__ import annotations

from kcoord.group.conversion.classic_holdings import NotConvertible
from kcoord.group.conversion.to_connect import preview, to_connect
from kcoord.group.modern.refusal import Refused
from kcoord.group.state.connect_settings import MIGRATION_POLICY
from kcoord.group.state.groups.classic_group import ClassicGroup
from kcoord.group.state.groups.connect_group import PROTOCOL_TYPE, ConnectGroup
from kcoord.group.state.replaced_groups import replace_by_connect
from kcoord.group.state.transition import Transition
from kcoord.protocol.errors import ErrorCode


def group_for(transition: Transition, group_id: str) -> ConnectGroup:
    """The group that a worker is about to join, as the worker would find it. Raises Refused if it cannot join any."""
    classic = transition.state.groups.get(group_id)
    if group_id in transition.state.consumer:
        _check_consumers_gone(transition, group_id)
    if classic is None or not classic.members:
        if classic is not None and classic.protocol_type == PROTOCOL_TYPE and not classic.pending:
            return ConnectGroup(group_id)  # offsets that Connect workers have left there do no harm
        if classic is not None and (classic.pending or transition.state.offsets.of_group(group_id)):
            existing(transition, group_id)  # raises Refused if that is no connect group
        return transition.state.connect.get(group_id) or ConnectGroup(group_id)
    _check_policy(transition, classic)
    try:
        return preview(transition, classic)
    except NotConvertible as why:
        raise Refused(ErrorCode.GROUP_ID_NOT_FOUND, f"it stays a group of the classic protocol: {why}") from None


def existing(transition: Transition, group_id: str) -> ConnectGroup | None:
    """The connect group of that name, or None if it does not exist. Raises Refused if a group of another kind has the
    name.
    """
    group = transition.state.connect.get(group_id)
    if group_id in transition.state.consumer:
        raise Refused(ErrorCode.GROUP_ID_NOT_FOUND, f"{group_id} is a consumer group")
    if group is None and group_id in transition.state.groups:
        raise Refused(ErrorCode.GROUP_ID_NOT_FOUND, f"{group_id} is a group of the classic protocol")
    return group


def _check_consumers_gone(transition: Transition, group_id: str) -> None:
    """Raise Refused unless a consumer group of that name has neither members nor offsets."""
    if transition.state.consumer[group_id].members or transition.state.offsets.of_group(group_id):
        existing(transition, group_id)


def take_name(transition: Transition, group: ConnectGroup) -> ConnectGroup:
    """Give the name to a connect group, before the first record about the worker is written: convert the classic group,
    or remove it if it has no members.
    """
    classic = transition.state.groups.get(group.group_id)
    if classic is not None and classic.members:
        return to_connect(transition, classic)
    replace_by_connect(transition, group.group_id)
    return transition.state.connect.get(group.group_id, group)


def _check_policy(transition: Transition, classic: ClassicGroup) -> None:
    policy = transition.state.effective(classic.group_id).migration_policy
    if classic.protocol_type == PROTOCOL_TYPE and not policy.upgrades:
        raise Refused(
            ErrorCode.GROUP_ID_NOT_FOUND,
            f"{classic.group_id} is a group of the classic protocol with {len(classic.members)} workers, and its "
            f"{MIGRATION_POLICY} is {policy}: set it to bidirectional or upgrade, or stop those workers first",
        )
