"""Which coordinators does kcoord remember from the cluster's answers? Those of groups, and of nothing else."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kcoord.gateway.topology.coordinators import Coordinators, group_keys
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.find_coordinator_response import Coordinator
from kcoord.protocol.messages import FindCoordinatorRequest, FindCoordinatorResponse

GROUP, TRANSACTION, SHARE = 0, 1, 2


def one(key_type: int) -> tuple[FindCoordinatorRequest, FindCoordinatorResponse]:
    """Version 3 and older: one key."""
    return FindCoordinatorRequest(key="a", key_type=key_type), FindCoordinatorResponse(node_id=2)


def many(key_type: int) -> tuple[FindCoordinatorRequest, FindCoordinatorResponse]:
    """Version 4 and newer."""
    found = [
        Coordinator(key="a", node_id=2),
        Coordinator(key="b", node_id=-1, error_code=ErrorCode.COORDINATOR_NOT_AVAILABLE),
    ]
    return FindCoordinatorRequest(coordinator_keys=["a", "b"], key_type=key_type), FindCoordinatorResponse(
        coordinators=found
    )


@pytest.mark.parametrize("asked", [one, many])
@pytest.mark.parametrize(("key_type", "at"), [(GROUP, 2), (TRANSACTION, 1), (SHARE, 1)])
def test_a_name_that_is_a_transactional_id_as_well_leaves_the_group_where_it_is(
    asked: Callable[[int], tuple[FindCoordinatorRequest, FindCoordinatorResponse]], key_type: int, at: int
) -> None:
    coordinators = Coordinators()
    coordinators.learn("a", 1)
    request, response = asked(key_type)
    learnt = coordinators.learn_from(group_keys(request), response)
    assert coordinators.of("a") == at
    assert learnt == ({"a"} if key_type == GROUP else set())
    assert coordinators.of("b") is None
