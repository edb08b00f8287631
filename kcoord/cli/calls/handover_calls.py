"""The handing over of groups, from the cluster to kcoord and back: the requests of `kcoord groups adopt` and `release`.

Both set `gateway.owner` of a group. kcoord does the rest, even if no command waits for it.
"""

import asyncio
from collections.abc import Callable, Sequence

from kcoord.cli.calls import config_calls
from kcoord.cli.calls.config_calls import Change
from kcoord.cli.calls.connect_groups import PUT_OUT, ConnectGroup
from kcoord.cli.calls.consumer_groups import ConsumerGroup
from kcoord.cli.calls.group_calls import Described, DescribedClassicGroup, describe, list_all, list_owned
from kcoord.cli.calls.group_ownership import CLUSTER, KCOORD, NAMED, UNKNOWN, Ownership, owners, tells_owners
from kcoord.client import ClientError, Cluster
from kcoord.group.group_configs import Operation
from kcoord.group.state.owner_setting import OWNER, Owner

LOOK_EVERY_S = 0.5
CONNECT_TYPE, EAGER_PROTOCOL = "connect", "default"
KCOORDS_TYPES = ("classic", "connect", "")
"""The types of groups that kcoord coordinates, as ListGroups gives them; brokers before 3.8 give none."""
UNSAID = "kcoord does not say who has it now: the coordinator may be loading its groups; try again"
WHOSE = {Owner.KCOORD: "kcoord", Owner.CLUSTER: "the cluster"}
Tell = Callable[[str], None]


async def hand_over(cluster: Cluster, groups: Sequence[str], owner: Owner, patience_s: float, tell: Tell) -> bool:
    """Set who is to have the groups, and wait until they have them. Raises ClientError.

    False: after `patience_s` some do not, or cannot have them. `tell` gets the reasons.
    """
    last: dict[str, str] = {}
    for group in groups:
        await _check_asked(cluster, group)
        if hindrance := await _hindrance(cluster, group, owner, await _owner(cluster, group)):
            tell(f"{group}: {hindrance}")
            continue
        await config_calls.alter(cluster, group, [Change(OWNER, Operation.SET, owner)], dry_run=False)
        last[group] = ""
    is_whole = len(last) == len(groups)
    loop = asyncio.get_running_loop()
    until_s = loop.time() + patience_s
    while last:
        for group in list(last):
            now = await _owner(cluster, group)
            told = _nobodys(owner) if now.is_nobodys else now.told()
            before, last[group] = last[group], told
            if _is_so(now, owner):
                del last[group]
            if told != before:
                tell(f"{group}: {told}")
        if last and loop.time() >= until_s:
            for group in last:
                await _tell_why(cluster, group, owner, tell)
            return False
        await asyncio.sleep(LOOK_EVERY_S if last else 0)
    return is_whole


def _is_so(now: Ownership, owner: Owner) -> bool:
    """Whether `owner` has the group, or will have it as soon as it has members: nobody has a group without members."""
    return now.is_nobodys or now.by == (KCOORD if owner == Owner.KCOORD else CLUSTER)


async def _hindrance(cluster: Cluster, group: str, owner: Owner, now: Ownership) -> str:
    """Why `owner` cannot have the group as it is `now`; empty if it can. Raises ClientError."""
    if owner == Owner.CLUSTER:
        return _of_the_new_protocol((await describe(cluster, [group]))[0]) if now.by == KCOORD else ""
    if now.by == CLUSTER and not now.members:
        return now.why
    kinds = [each.type for each in await list_all(cluster, [], []) if each.group == group] if now.is_nobodys else []
    if kinds and kinds[0].lower() not in KCOORDS_TYPES:
        return f"it is a {kinds[0]} group of the cluster, and kcoord coordinates classic and connect groups only"
    return ""


def _of_the_new_protocol(found: Described) -> str:
    """That the cluster cannot have the group because of these members; empty if there are none."""
    if isinstance(found, ConnectGroup):
        native = [each.client for each in found.workers if not each.is_classic]
        why, which = "the cluster does not know the new protocol", "workers with the classic protocol"
    elif isinstance(found, ConsumerGroup):
        native = [each.client for each in found.workers if not each.is_classic]
        why = "no rebalance brings consumers of the new protocol to the cluster"
        which = "consumers with group.protocol=classic"
    else:
        return ""
    return f"it cannot be released, because {why}. Restart these {which} first: {_named(native)}" if native else ""


def _named(clients: Sequence[str]) -> str:
    more = f" and {len(clients) - NAMED} more" if len(clients) > NAMED else ""
    return f"{', '.join(clients[:NAMED])}{more}"


def _waited_for(found: Described) -> str:
    """That a release waits for workers that kcoord still counts on although they have left; empty if it does not."""
    if not isinstance(found, ConnectGroup):
        return ""
    gone = [each.client for each in found.workers if each.state == PUT_OUT]
    if not gone:
        return ""
    return (
        f"it waits for workers that have left, and did not say that they have stopped their work: {_named(gone)}. "
        "kcoord keeps the work for as long as they may run it, or until they join again"
    )


async def _tell_why(cluster: Cluster, group: str, owner: Owner, tell: Tell) -> None:
    for line in (await _owner(cluster, group)).lines():
        tell(f"{group}: {line}")
    if owner == Owner.CLUSTER and (waits := _waited_for((await describe(cluster, [group]))[0])):
        tell(f"{group}: {waits}")


async def plan(cluster: Cluster, group: str, owner: Owner) -> list[str]:
    """Lines about what `hand_over` would do. Raises ClientError."""
    await _check_asked(cluster, group)
    now = await _owner(cluster, group)
    if hindrance := await _hindrance(cluster, group, owner, now):
        return [f"{group}: {hindrance}"]
    if now.is_nobodys:
        return [f"{group}: {_nobodys(owner)}"]
    if _is_so(now, owner):
        return [f"{group}: nothing to do, coordinated by {now.told()}"]
    if owner == Owner.KCOORD:
        return [f"{group}: {line}" for line in now.lines()] or [f"{group}: {UNSAID}"]
    [found] = await describe(cluster, [group])
    waits = [f"{group}: {told}" for told in [_waited_for(found)] if told]
    count = _joining(found)
    if not count:
        return waits or [f"{group}: {_nobodys(owner)}"]
    joins = f"{count} member{'' if count == 1 else 's'} would join once more, at the cluster. {_cost(found)}"
    return [f"{group}: {joins}", *waits]


def _joining(found: Described) -> int:
    """How many members would join at the cluster."""
    if isinstance(found, DescribedClassicGroup):
        return len(found.members)
    return sum(each.state != PUT_OUT for each in found.workers)


def _nobodys(owner: Owner) -> str:
    return f"it has no members; {WHOSE[owner]} has it as soon as one joins"


def _cost(found: Described) -> str:
    """The cost of the one rebalance."""
    if isinstance(found, ConsumerGroup) or (
        isinstance(found, DescribedClassicGroup) and found.protocol_type != CONNECT_TYPE
    ):
        return "Consumers keep their positions; with an eager assignor they stand still during one rebalance"
    spoken = found.protocol if isinstance(found, DescribedClassicGroup) else found.classic.protocol
    if spoken == EAGER_PROTOCOL:
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
