"""DescribeConfigs (32): the settings of groups.

The shell around the shard answers it (`kcoord/server/shards/shard_host.py`), because it knows the settings of the
server; `kcoord/group/group_configs.py` has the rules.
"""

from __future__ import annotations

from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated.describe_configs_response import DescribeConfigsResult
from kcoord.protocol.messages import DescribeConfigsRequest, DescribeConfigsResponse


def refuse_describe_configs(request: DescribeConfigsRequest, error: ErrorCode) -> DescribeConfigsResponse:
    """The answer with the same error for each resource."""
    return DescribeConfigsResponse(
        results=[
            DescribeConfigsResult(
                error_code=error,
                error_message=None,
                resource_type=resource.resource_type,
                resource_name=resource.resource_name,
            )
            for resource in request.resources
        ]
    )
