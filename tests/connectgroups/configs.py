"""How does a test say what is to be set for a group?"""

from __future__ import annotations

from collections.abc import Mapping

from kcoord.group.group_configs import GROUP, Operation
from kcoord.protocol.generated.describe_configs_request import DescribeConfigsResource
from kcoord.protocol.generated.incremental_alter_configs_request import AlterableConfig, AlterConfigsResource


def change(
    group_id: str, values: Mapping[str, str | None], operation: int = Operation.SET, kind: int = GROUP
) -> AlterConfigsResource:
    """Changes of one resource, all of one operation."""
    return AlterConfigsResource(
        resource_type=kind,
        resource_name=group_id,
        configs=[AlterableConfig(name, operation, value) for name, value in values.items()],
    )


def asked(group_id: str, *names: str, kind: int = GROUP) -> DescribeConfigsResource:
    """One resource of a DescribeConfigs: these settings, or all."""
    return DescribeConfigsResource(kind, group_id, list(names) or None)
