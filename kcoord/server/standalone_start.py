"""The start of what a kcoord without a cluster answers."""

from __future__ import annotations

import asyncio
import contextlib

from kcoord.server.shards.coordinator import Coordinator
from kcoord.server.standalone import GroupSteps, Standalone
from kcoord.server.standalone_nodes import Nodes
from kcoord.server.startup.configured_request_limits import request_limits
from kcoord.server.startup.served_groups import serves_consumer_groups
from kcoord.settings_sources import Settings


def stand_alone(
    settings: Settings,
    coordinator: Coordinator,
    nodes: Nodes,
    stack: contextlib.AsyncExitStack,
    shared: GroupSteps | None = None,
) -> Standalone:
    """Make the `Standalone` that the settings describe, and let it look for topics until `stack` ends. `shared`: the
    groups of all instances, if there are several.
    """
    has_topics = serves_consumer_groups(settings)
    alone = Standalone(
        coordinator,
        nodes,
        connect_groups=settings.group_connect_enable,
        shared=shared,
        limits=request_limits(settings),
        consumer_groups=has_topics,
        declared=settings.topics,
    )
    if has_topics:
        stack.callback(asyncio.create_task(alone.topics.follow()).cancel)
    return alone
