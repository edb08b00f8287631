"""The handing over of groups, from the cluster to kcoord and back: the requests of `kcoord groups adopt` and `release`.

Both set `gateway.owner` of a group. kcoord does the rest, even if no command waits for it.
"""

import asyncio
from collections.abc import Callable, Sequence

from kcoord.cli import config_calls
from kcoord.cli.config_calls import Change
from kcoord.cli.group_calls import ClassicGroup, describe, list_owned
from kcoord.cli.group_ownership import KCOORD, UNKNOWN, Ownership, owners, tells_owners
from kcoord.client import ClientError, Cluster
from kcoord.group.group_configs import OWNER, Operation, Owner

LOOK_EVERY_S = 0.5
CONNECT_TYPE, EAGER_PROTOCOL = "connect", "default"
Tell = Callable[[str], None]


async def hand_over(cluster: Cluster, groups: Sequence[str], owner: Owner, patience_s: float, tell: Tell) -> bool:
    """Set who is to have the groups, and wait until they have them. False if they do not after `patience_s`.

    Raises ClientError.
    """
    for group in groups:
        await _check_asked(cluster, group)
        await config_calls.alter(cluster, group, [Change(OWNER, Operation.SET, owner)], dry_run=False)
    loop = asyncio.get_running_loop()
    until_s = loop.time() + patience_s
    last = dict.fromkeys(groups, "")
    while last:
        for group in list(last):
            now = await _owner(cluster, group)
            if _is_so(now, owner):
                del last[group]
            if now.told() != last.get(group):
                tell(f"{group}: {now.told()}")
                last |= {group: now.told()} if group in last else {}
        if last and loop.time() >= until_s:
            for group in last:
                await _tell_why(cluster, group, tell)
            return False
        await asyncio.sleep(LOOK_EVERY_S if last else 0)
    return True


def _is_so(now: Ownership, owner: Owner) -> bool:
    """Whether `owner` has the group. A group without members that nobody has counts as the cluster's."""
    return now.by == KCOORD if owner == Owner.KCOORD else now.by != KCOORD


async def _tell_why(cluster: Cluster, group: str, tell: Tell) -> None:
    for line in (await _owner(cluster, group)).lines():
        tell(f"{group}: {line}")


async def plan(cluster: Cluster, group: str, owner: Owner) -> list[str]:
    """Lines about what `hand_over` would do. Raises ClientError."""
    await _check_asked(cluster, group)
    now = await _owner(cluster, group)
    if _is_so(now, owner):
        return [f"{group}: nothing to do, coordinated by {now.told()}"]
    if owner == Owner.KCOORD:
        return [f"{group}: {line}" for line in now.lines()] or [f"{group}: nobody coordinates it now"]
    [found] = await describe(cluster, [group])
    count = len(found.members) if isinstance(found, ClassicGroup) else len(found.workers)
    return [f"{group}: {count} member{'' if count == 1 else 's'} would join once more, at the cluster. {_cost(found)}"]


def _cost(found: object) -> str:
    """The cost of the one rebalance."""
    if isinstance(found, ClassicGroup) and found.protocol_type != CONNECT_TYPE:
        return "Consumers keep their positions; with an eager assignor they stand still during one rebalance"
    if isinstance(found, ClassicGroup) and found.protocol == EAGER_PROTOCOL:
        return "Its workers speak the eager protocol: each stops all its tasks for the rebalance, and starts them again"
    return "Its workers go on running what they run"


async def of_kcoord(cluster: Cluster) -> Sequence[str]:
    """All groups that kcoord has. Raises ClientError."""
    return [each.line.group for each in await list_owned(cluster, [], []) if each.ownership.by == KCOORD]


async def _owner(cluster: Cluster, group: str) -> Ownership:
    connection = await cluster.to(await cluster.coordinator(group))
    return (await owners(connection, [group])).get(group, UNKNOWN)


async def _check_asked(cluster: Cluster, group: str) -> None:
    """Raises ClientError if the server does not know about owners."""
    connection = await cluster.to(await cluster.coordinator(group))
    if not tells_owners(connection):
        raise ClientError(
            f"{group}: the server that was asked is not a kcoord in front of a cluster, or has "
            "group.connect.enable=false: give kcoord's address with --bootstrap-server"
        )
