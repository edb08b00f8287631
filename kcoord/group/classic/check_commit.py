"""The check whether a member may commit offsets now.

OffsetCommit here asks for it, and the gateway before it passes a commit on (GW-12, GW-22).
"""

from __future__ import annotations

from kcoord.group.classic.member_checks import check_member
from kcoord.group.classic.state_table import COMMIT, COMMIT_NOBODY
from kcoord.group.state.groups.classic_states import ClassicState
from kcoord.group.state.shard_state import ShardState
from kcoord.protocol.errors import ErrorCode

NAMES_MISSING_GROUP_VERSION = 9
"""From this version of OffsetCommit on, a group that does not exist has an error of its own; before, the error was
ILLEGAL_GENERATION.
"""


def check_commit(
    shard_state: ShardState,
    group_id: str,
    member_id: str,
    instance_id: str | None,
    generation: int,
    transactional: bool,
    now_ms: int,
    api_version: int,
) -> ErrorCode:
    """NONE, or the error. A plain commit that is accepted refreshes the session. A transactional commit ignores the
    group's state.

    A plain commit without a member (no id, generation -1) comes from an admin, or from a consumer that uses no groups.
    It needs a group without members. A transactional one comes from a client older than KIP-447, which cannot name its
    member, and is accepted.
    """
    if group_id in shard_state.connect:  # it has no offsets
        return ErrorCode.GROUP_ID_NOT_FOUND
    group = shard_state.groups.get(group_id)
    state = ClassicState.DEAD if group is None else group.state
    if generation < 0 and state in (ClassicState.EMPTY, ClassicState.DEAD):
        return COMMIT_NOBODY[state]
    if group is None:
        new = api_version >= NAMES_MISSING_GROUP_VERSION and not transactional
        return ErrorCode.GROUP_ID_NOT_FOUND if new else ErrorCode.ILLEGAL_GENERATION
    if generation < 0 and not member_id and instance_id is None:
        return ErrorCode.NONE if transactional else COMMIT_NOBODY[state]
    error = check_member(group, member_id, instance_id)
    if error:
        return error
    if not group.may_know(generation):
        return ErrorCode.ILLEGAL_GENERATION
    if transactional:
        return ErrorCode.NONE
    verdict = COMMIT[state]
    if not verdict:
        group.members[member_id].last_seen_ms = now_ms
    return verdict
