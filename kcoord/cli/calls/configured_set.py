"""The configured set of a group, and the config offset it comes from: shown, and forgotten.

To forget, the command deletes a setting that does not exist (`group_configs.CONFIGURED`), so rights, gateways and
instances need nothing new. A kcoord of release 0.1.0 accepts that and does nothing. So the command looks at the group
again.
"""

from datetime import UTC, datetime
from typing import Any

from kcoord.cli.calls.config_calls import DELETE, Change, alter
from kcoord.cli.calls.connect_groups import ConnectGroup
from kcoord.cli.calls.group_calls import CONFIGURED as CONFIGURED_SET
from kcoord.cli.calls.group_calls import connect_group
from kcoord.cli.output.resource_texts import resources_json, resources_text
from kcoord.client import ClientError, Cluster
from kcoord.group.group_configs import CONFIGURED
from kcoord.printable import printable
from kcoord.protocol.config_source import ConfigSource, is_of_file

_NO_OFFSET = -1


async def configured_group(cluster: Cluster, group: str) -> ConnectGroup:
    """The group. Raises ClientError, also if it is not a connect group."""
    not_served = "only a kcoord with group.connect.enable knows what exists"
    return await connect_group(cluster, group, not_served, CONFIGURED_SET)


async def forget(cluster: Cluster, group: str) -> ConnectGroup:
    """Let the group forget where its configured set comes from. Returns the group after that. Raises ClientError."""
    await configured_group(cluster, group)  # checks that it is a connect group
    await alter(cluster, group, [Change(CONFIGURED, DELETE, None)], False)
    found = await configured_group(cluster, group)
    if found.config_offset != _NO_OFFSET:
        raise ClientError(
            f"{group}: its configured set still, or again, comes from {_origin(found)}: a worker has just "
            "reported it, or kcoord is release 0.1.0, which cannot forget"
        )
    return found


def as_json(group: ConnectGroup) -> dict[str, Any]:
    """The configured set for programs."""
    return {
        "group": group.group,
        "configured": None if group.configured is None else resources_json(group.configured),
        "config_offset": group.config_offset,
        "config_source": _source(group),
    }


def as_text(group: ConnectGroup) -> str:
    """The configured set for people."""
    if group.configured is None:
        return printable(f"{group.group}: no worker has said which connectors and tasks exist") + "\n"
    return printable(f"{group.group}, as of {_origin(group)}: ") + resources_text(group.configured, "nothing") + "\n"


def _origin(group: ConnectGroup) -> str:
    match _source(group):
        case "file":
            changed = datetime.fromtimestamp(group.config_offset / 1e9, UTC).isoformat(" ", "seconds")
            return f"a file of {changed} (offset {group.config_offset})"
        case "topic":
            return f"offset {group.config_offset} of Connect's configuration topic"
        case "unsaid":
            return f"offset {group.config_offset}"
        case _:
            return "no offset: what a worker says next counts"


def _source(group: ConnectGroup) -> str | None:
    if group.config_offset == _NO_OFFSET:
        return None
    if is_of_file(group.config_source, group.config_offset):
        return "file"
    return "topic" if group.config_source == ConfigSource.TOPIC else "unsaid"
