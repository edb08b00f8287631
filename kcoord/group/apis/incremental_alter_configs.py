"""IncrementalAlterConfigs (44): changes the settings of groups.

The shell around the shard checks the change (`kcoord/server/shards/shard_host.py`), because it knows the settings of
the server, and lets the shard make it; `kcoord/group/group_configs.py` has the rules.
"""

from __future__ import annotations

from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.incremental_alter_configs_response import AlterConfigsResourceResponse
from kcoord.protocol.messages import IncrementalAlterConfigsRequest, IncrementalAlterConfigsResponse


def refuse_incremental_alter_configs(
    request: IncrementalAlterConfigsRequest, error: ErrorCode
) -> IncrementalAlterConfigsResponse:
    """The answer with the same error for each resource."""
    return IncrementalAlterConfigsResponse(
        responses=[
            AlterConfigsResourceResponse(
                error_code=error,
                error_message=None,
                resource_type=resource.resource_type,
                resource_name=resource.resource_name,
            )
            for resource in request.resources
        ]
    )
