"""Can no handler of the gateway reach a group but by what checks the client's rights first?"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import kcoord.gateway
from kcoord.gateway.interfaces import GroupReader, GroupService
from kcoord.gateway.ownership.access.guarded_groups import ASKED_OTHERWISE, NEEDED
from kcoord.group.api_handlers_and_rights import ALONE_TABLE
from kcoord.instances.relayed_calls import RELAYED
from kcoord.protocol.messages import AdoptGroupRequest, OffsetCommitRequest, OffsetDeleteRequest, OffsetFetchRequest

FILES = sorted(Path(kcoord.gateway.__file__).parent.rglob("*.py"))
ALLOWED = {"guarded_groups.py", "paused_sessions.py"}
"""Who has the groups themselves; `gateway.py` hands them to these two."""
UPSTREAM_KEEPS = {OffsetCommitRequest, OffsetDeleteRequest, OffsetFetchRequest}
"""Offsets are upstream's: what is asked here of a commit is `GuardedGroups.check_commit`."""
OF_KCOORD = {AdoptGroupRequest}
"""What kcoord asks for by itself, and passes on for no client: no client session reads it
(`test_nobody_else_can_adopt`).
"""


def test_every_request_of_a_group_has_its_right() -> None:
    """What instances pass on to each other is all that a group can be asked to do."""
    alone = {row.request for row in ALONE_TABLE}
    assert set(NEEDED) | ASKED_OTHERWISE | UPSTREAM_KEEPS | OF_KCOORD == set(RELAYED.values()) - alone
    assert not set(NEEDED) & ASKED_OTHERWISE


def test_all_of_the_gateway_is_looked_at() -> None:
    assert {"gateway.py", "client_session.py", "group_calls.py", *ALLOWED} <= {file.name for file in FILES}


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_only_the_guard_moves_groups_and_sessions(file: Path) -> None:
    steps = {each for each in vars(GroupService) if not each.startswith("_")} - set(vars(GroupReader))
    assert steps == {"call", "check_commit", "pause_session", "resume_session"}
    used = {
        node.attr
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.Attribute)
        and node.attr in steps
        and isinstance(node.value, ast.Attribute)
        and node.value.attr in ("groups", "_groups")
    }
    assert not used or file.name in ALLOWED
