"""DeleteGroups (42): an admin deletes groups without members, and their offsets. v0 and v1 are equal; v2 is flexible.

A connect group's configuration survives it (CG-29).
"""

from __future__ import annotations

from kcoord.group.classic.state_table import DELETE
from kcoord.group.state.committed_offsets import tombstones
from kcoord.group.state.groups.classic_states import ClassicState
from kcoord.group.state.replaced_groups import deletion_of
from kcoord.group.state.shard_state import ShardState
from kcoord.group.state.step import RequestContext, Token
from kcoord.group.state.transition import Transition
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.delete_groups_response import DeletableGroupResult
from kcoord.protocol.messages import DeleteGroupsRequest, DeleteGroupsResponse


def check_delete(state: ShardState, group_id: str) -> ErrorCode:
    """The error for deleting the group: NONE, NON_EMPTY_GROUP or GROUP_ID_NOT_FOUND."""
    modern = state.modern_group(group_id)
    if modern is not None:
        return ErrorCode.NON_EMPTY_GROUP if modern.members else ErrorCode.NONE
    group = state.groups.get(group_id)
    return DELETE[ClassicState.DEAD if group is None else group.state]


def delete_groups(transition: Transition, request: DeleteGroupsRequest, context: RequestContext, token: Token) -> None:
    """Handle a DeleteGroups for groups of this shard. Each group has its own result."""
    results = [
        DeletableGroupResult(group_id, _delete(transition, group_id))
        for group_id in dict.fromkeys(request.groups_names)
    ]
    transition.answer(token, DeleteGroupsResponse(results=results))


def _delete(transition: Transition, group_id: str) -> ErrorCode:
    verdict = check_delete(transition.state, group_id)
    if verdict:
        return verdict
    for record in [*tombstones(transition.state.offsets, group_id), *deletion_of(transition.state, group_id)]:
        transition.write(record)
    return verdict


def refuse_delete_groups(request: DeleteGroupsRequest, error: ErrorCode) -> DeleteGroupsResponse:
    """The answer with the same error for each group."""
    results = [DeletableGroupResult(group_id=group, error_code=error) for group in request.groups_names]
    return DeleteGroupsResponse(results=results)
