"""May this member commit offsets now? Asked by OffsetCommit here, and by the gateway before it passes a commit on
(GW-12, GW-22).
"""

from __future__ import annotations

from kcoord.group.contents import Contents
from kcoord.group.generic.states import State
from kcoord.group.generic.table import COMMIT, COMMIT_NOBODY
from kcoord.group.generic.who import check_member
from kcoord.protocol.errors import ErrorCode

NAMES_MISSING_GROUP_VERSION = 9
"""OffsetCommit from which on a group that is not there is named as such; before it was a wrong generation."""


def check_commit(
    contents: Contents,
    group_id: str,
    member_id: str,
    instance_id: str | None,
    generation: int,
    transactional: bool,
    now_ms: int,
    api_version: int,
) -> ErrorCode:
    """NONE, or why not. A plain commit refreshes the session where it is accepted; a transactional one ignores the
    group's state.

    A commit without member (no id, generation -1) is an admin's, or of a consumer that uses no groups, and needs a
    group without members; a transactional one is of a client older than KIP-447, which cannot name its member, and
    passes.
    """
    if group_id in contents.connect:  # a group without offsets
        return ErrorCode.GROUP_ID_NOT_FOUND
    group = contents.groups.get(group_id)
    state = State.DEAD if group is None else group.state
    if generation < 0 and state in (State.EMPTY, State.DEAD):
        return COMMIT_NOBODY[state]
    if group is None:
        new = api_version >= NAMES_MISSING_GROUP_VERSION and not transactional
        return ErrorCode.GROUP_ID_NOT_FOUND if new else ErrorCode.ILLEGAL_GENERATION
    if generation < 0 and not member_id and instance_id is None:
        return ErrorCode.NONE if transactional else COMMIT_NOBODY[state]
    error = check_member(group, member_id, instance_id)
    if error:
        return error
    if generation != group.generation:
        return ErrorCode.ILLEGAL_GENERATION
    if transactional:
        return ErrorCode.NONE
    verdict = COMMIT[state]
    if not verdict:
        group.members[member_id].last_seen_ms = now_ms
    return verdict
