"""What is a consumer told that may not be a member: the coordinator's reason, and what to do about it."""

from __future__ import annotations

import pytest

from kcoord.consumer.errors import refusal
from kcoord.consumer.setup import Setup
from kcoord.gateway.handlers.consumer_groups import HELD_BY_CLUSTER, NOT_SERVED
from kcoord.gateway.handlers.other_protocols import HINT, OTHERS
from kcoord.protocol.errors import ErrorCode

PLAIN = Setup("g", "c1", topics=("work",))
WITH_ASSIGNORS = Setup("g", "c1", topics=("work",), client_assignors=("most", "least"))
POLICY = "the group speaks the classic protocol: its migration policy is disabled"
STOP = "top the members of the classic protocol first, or use another group"


@pytest.mark.parametrize("setup", [PLAIN, WITH_ASSIGNORS], ids=["plain", "with assignors"])
@pytest.mark.parametrize(
    ("code", "message", "text"),
    [
        (
            ErrorCode.GROUP_ID_NOT_FOUND,
            POLICY,
            f"{POLICY}. Set consumer.migration.policy of the group to bidirectional or upgrade, or s{STOP}",
        ),
        (
            ErrorCode.UNSUPPORTED_VERSION,
            f"{POLICY}: {HINT}",
            f"{POLICY}. Set consumer.migration.policy of the group to bidirectional or upgrade, or s{STOP}",
        ),
        (
            ErrorCode.GROUP_ID_NOT_FOUND,
            "the group speaks the classic protocol: its members are no consumers",
            f"the group speaks the classic protocol: its members are no consumers. S{STOP}",
        ),
        (
            ErrorCode.UNSUPPORTED_VERSION,
            f"{OTHERS}: {HINT}",
            f"{OTHERS}. S{STOP}",
        ),
        (
            ErrorCode.UNSUPPORTED_VERSION,
            HELD_BY_CLUSTER,
            f"the cluster behind kcoord has this group, with members of the classic protocol. S{STOP}",
        ),
        (
            ErrorCode.UNSUPPORTED_VERSION,
            NOT_SERVED,
            "kcoord does not coordinate this group, and the cluster behind it has no consumer groups of the new "
            "protocol. Add it to the groups that kcoord may have (its setting groups), or use another group",
        ),
    ],
)
def test_the_reason_comes_first_and_the_advice_fits_it(setup: Setup, code: ErrorCode, message: str, text: str) -> None:
    assert str(refusal(setup, code, message)) == f"group g: {code.name}: {text}"


@pytest.mark.parametrize(
    ("code", "message", "text"),
    [
        (ErrorCode.GROUP_MAX_SIZE_REACHED, "the group has 2 members already.", "the group has 2 members already. The "),
        (ErrorCode.GROUP_MAX_SIZE_REACHED, None, "the group has as many members as it may. Raise "),
        (ErrorCode.GROUP_ID_NOT_FOUND, "", "the group is of another kind. Use another group"),
        (ErrorCode.UNSUPPORTED_VERSION, "b:1 has no ConsumerGroupHeartbeat", "b:1 has no ConsumerGroupHeartbeat. The "),
        (-1, "odd", "odd. The coordinator refuses this consumer"),
    ],
)
def test_where_no_reason_is_known_the_error_code_counts(code: int, message: str | None, text: str) -> None:
    assert f": {text}" in str(refusal(PLAIN, code, message))
