"""FindCoordinator (10): which node coordinates a group.

No shard handles this request. A kcoord that runs alone answers it from its nodes, the gateway from the cluster's answer
and its own ports.
"""

from __future__ import annotations

from typing import Any

from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.find_coordinator_response import Coordinator
from kcoord.protocol.messages import FindCoordinatorRequest, FindCoordinatorResponse


def refuse_find_coordinator(request: FindCoordinatorRequest, error: ErrorCode) -> FindCoordinatorResponse:
    """The answer with the same error for each key; before v4 at the top. It names no node."""
    nowhere: dict[str, Any] = {"node_id": -1, "host": "", "port": -1, "error_code": error, "error_message": None}
    if request.coordinator_keys:
        return FindCoordinatorResponse(
            coordinators=[Coordinator(key=key, **nowhere) for key in request.coordinator_keys]
        )
    return FindCoordinatorResponse(**nowhere)
