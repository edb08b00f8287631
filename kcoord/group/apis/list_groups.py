"""ListGroups (16): the groups of a shard, filtered by state and type.

v0 to v2 differ only in the throttle time. v3: flexible. v4: filter by state (KIP-518). v5: filter by type (KIP-848).
Filters ignore case. A filter that names only unknown states or types matches no group. A connect group that has only
classic members is listed as they see it: as a classic group.
"""

from __future__ import annotations

from collections.abc import Iterable

from kcoord.group.conversion.kind_policy import is_all_classic
from kcoord.group.state.groups import consumer_group
from kcoord.group.state.groups.connect_group import PROTOCOL_TYPE
from kcoord.group.state.metrics import CLASSIC, CONNECT, CONSUMER
from kcoord.group.state.shard_state import ShardState
from kcoord.group.state.step import RequestContext, Token
from kcoord.group.state.transition import Transition
from kcoord.group.translation.classic_description import classic_state
from kcoord.protocol.generated.list_groups_response import ListedGroup
from kcoord.protocol.messages import ListGroupsRequest, ListGroupsResponse


def list_groups(transition: Transition, request: ListGroupsRequest, context: RequestContext, token: Token) -> None:
    """Handle a ListGroups for the groups of this shard."""
    state = transition.state
    transition.answer(token, listed_among(state, request, [*state.groups, *state.connect, *state.consumer]))


def listed_among(shard_state: ShardState, request: ListGroupsRequest, group_ids: Iterable[str]) -> ListGroupsResponse:
    """The answer for those of `group_ids` that are here and that the request's filters match."""
    states = {state.strip().lower() for state in request.states_filter}
    types = {group_type.lower() for group_type in request.types_filter}
    here = [group for group_id in group_ids if (group := _listed(shard_state, group_id)) is not None]
    return ListGroupsResponse(
        groups=[
            group
            for group in here
            if (not states or group.group_state.lower() in states) and (not types or group.group_type in types)
        ]
    )


def _listed(state: ShardState, group_id: str) -> ListedGroup | None:
    group = state.groups.get(group_id)
    if group is not None:
        return ListedGroup(group_id, group.protocol_type, group.state.label, CLASSIC)
    consumer = state.consumer.get(group_id)
    if consumer is not None:
        return ListedGroup(group_id, consumer_group.PROTOCOL_TYPE, consumer.shown_state.label, CONSUMER)
    connect = state.connect.get(group_id)
    if connect is None:
        return None
    if is_all_classic(connect):
        return ListedGroup(group_id, PROTOCOL_TYPE, classic_state(connect).label, CLASSIC)
    return ListedGroup(group_id, PROTOCOL_TYPE, connect.state.label, CONNECT)
