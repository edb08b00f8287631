"""The handing over of groups, from the cluster to kcoord and back: the requests of `kcoord groups adopt` and `release`.

Both set `gateway.owner` of a group. kcoord does the rest, even if no command waits for it. Rules:

1. Nothing is set for a group that does not exist: its name may be mistyped. `kcoord config set` sets it beforehand.
   A group for which that was done is handed over like one without members.
2. Nothing is set for a group of the cluster that kcoord cannot coordinate, either.
3. kcoord does not say how far a release has come. A release is under way if kcoord has the group and `gateway.owner`
   says that the cluster shall have it.
4. A command that waits goes on with another server, or with the same one after a restart, until its time is over.
"""

import asyncio
from collections.abc import Callable, Sequence

import attrs

from kcoord.cli.calls import config_calls
from kcoord.cli.calls.config_calls import Change
from kcoord.cli.calls.connect_groups import PUT_OUT, ConnectGroup
from kcoord.cli.calls.consumer_groups import ConsumerGroup
from kcoord.cli.calls.group_calls import (
    Described,
    DescribedClassicGroup,
    GroupLine,
    describe,
    list_all,
    list_owned,
)
from kcoord.cli.calls.group_ownership import CLUSTER, KCOORD, NAMED, UNKNOWN, Ownership, owners, tells_owners
from kcoord.client import ClientError, Cluster
from kcoord.client.errors import Refused
from kcoord.group.group_configs import Operation
from kcoord.group.state.owner_setting import OWNER, Owner

LOOK_EVERY_S = 0.5
TAKEN_BACK_S = 5.0
"""How long kcoord must still have a group whose release is taken back: the release may be about to end."""
CONNECT_TYPE, CONSUMER_TYPE, EAGER_PROTOCOL, EMPTY = "connect", "consumer", "default", "Empty"
KCOORDS_TYPES = ("classic", "connect", "")
"""The types of groups that kcoord coordinates, as ListGroups gives them; brokers before 3.8 give none."""
UNSAID = "kcoord does not say who has it now: the coordinator may be loading its groups; try again"
WHOSE = {Owner.KCOORD: "kcoord", Owner.CLUSTER: "the cluster"}
UNDER_WAY = "kcoord still has it; its release is under way"
TAKES_BACK = (
    "its release was under way. kcoord takes it back, unless a member has joined at the cluster already: then the "
    "release ends first, and kcoord adopts the group after it"
)
WOULD_TAKE_BACK = (
    "it is to go to the cluster (gateway.owner=cluster), so its release may be under way. kcoord would keep it, unless "
    "a member has joined at the cluster already: then the release would end first, and kcoord would adopt it after that"
)
STAYS_SET = "gateway.owner is set, and kcoord goes on by itself: kcoord groups list shows who has the groups"
Tell = Callable[[str], None]


@attrs.frozen
class Standing:
    """A group before it is handed over."""

    now: Ownership
    hindrance: str = ""
    """Why it cannot be handed over. Empty: it can."""
    is_so_already: str = ""
    """Why nothing is to be done, and nothing is to be set."""
    exists: bool = True
    wanted: str = Owner.AUTO
    """Its `gateway.owner`."""

    @property
    def is_in_release(self) -> bool:
        """Whether its release may be under way (rule 3 above)."""
        return self.now.by == KCOORD and self.wanted == Owner.CLUSTER


@attrs.define
class Handover:
    """A group that is being handed over, and what was told about it last."""

    group: str
    owner: Owner
    exists: bool
    takes_back: bool
    """Whether a release that may be under way is taken back."""
    told: str = ""

    def news(self, now: Ownership) -> str:
        """What there is to say of it."""
        if now.is_nobodys:
            return _nobodys(self.owner, self.exists)
        if self.owner == Owner.CLUSTER and now.by == KCOORD:
            return UNDER_WAY
        return now.told() if now.by else UNSAID


async def hand_over(cluster: Cluster, groups: Sequence[str], owner: Owner, patience_s: float, tell: Tell) -> bool:
    """Set who is to have the groups, and wait until they have them. Raises ClientError.

    False: after `patience_s` some do not, or cannot have them. `tell` gets the reasons.
    """
    is_whole = True
    waiting: list[Handover] = []
    for group in dict.fromkeys(groups):
        found = await _standing(cluster, group, owner)
        if found.hindrance or found.is_so_already:
            tell(f"{group}: {found.hindrance or found.is_so_already}")
            is_whole = is_whole and not found.hindrance
            continue
        await config_calls.alter(cluster, group, [Change(OWNER, Operation.SET, owner)], dry_run=False)
        takes_back = owner == Owner.KCOORD and found.is_in_release
        if takes_back:
            tell(f"{group}: {TAKES_BACK}")
        waiting.append(Handover(group, owner, found.exists, takes_back))
    return await _all_done(cluster, waiting, patience_s, tell) and is_whole


async def _all_done(cluster: Cluster, waiting: list[Handover], patience_s: float, tell: Tell) -> bool:
    """Wait until these groups have been handed over. False: some have not, when the time is over. Raises ClientError if
    nobody can be asked then.
    """
    loop = asyncio.get_running_loop()
    until_s, taken_back_s = loop.time() + patience_s, loop.time() + min(TAKEN_BACK_S, patience_s)
    is_lost = False
    while waiting:
        is_over = loop.time() >= until_s
        is_early = loop.time() < taken_back_s
        try:
            done = [
                each for each in waiting if await _is_done(cluster, each, tell) and not (is_early and each.takes_back)
            ]
            waiting = [each for each in waiting if each not in done]
            is_lost = False
            if is_over and waiting:
                for each in waiting:
                    await _tell_why(cluster, each, tell)
                return False
        except Refused:
            raise
        except ClientError as error:
            if is_over:
                raise ClientError(f"{error}. {STAYS_SET}") from error
            if not is_lost:
                tell(f"{error}; asking again until the time of --wait is over")
            is_lost = True
        if waiting:
            await asyncio.sleep(LOOK_EVERY_S)
    return True


async def _is_done(cluster: Cluster, each: Handover, tell: Tell) -> bool:
    """Whether `owner` has a group now. `tell` gets what is new about it. Raises ClientError."""
    now = await _owner(cluster, each.group)
    news = each.news(now)
    if news != each.told:
        tell(f"{each.group}: {news}")
        each.told = news
    return _is_so(now, each.owner)


def _is_so(now: Ownership, owner: Owner) -> bool:
    """Whether `owner` has the group, or will have it as soon as it has members: nobody has a group without members."""
    return now.is_nobodys or now.by == (KCOORD if owner == Owner.KCOORD else CLUSTER)


async def _standing(cluster: Cluster, group: str, owner: Owner) -> Standing:
    """The group as it is now, and whether `owner` can have it. Raises ClientError."""
    await _check_asked(cluster, group)
    now = await _owner(cluster, group)
    wanted, serves = await _settings_of(cluster, group)
    if not now.is_nobodys and not (now.by == CLUSTER and not now.members):
        hindrance = ""
        if owner == Owner.CLUSTER and now.by == KCOORD:
            hindrance = _of_the_new_protocol((await describe(cluster, [group]))[0])
        return Standing(now, hindrance, wanted=wanted or Owner.AUTO)
    line = next((each for each in await list_all(cluster, [], []) if each.group == group), None)
    if now.by == CLUSTER:  # kcoord never coordinates it
        if owner == Owner.KCOORD:
            return Standing(now, now.why)
        return Standing(now, "", now.why) if line else Standing(now, _no_such_group(group))
    if line is None and wanted is None:
        return Standing(now, _no_such_group(group, owner))
    if line is not None and (why := _of_another_type(line, owner, serves)):
        return Standing(now, is_so_already=why) if owner == Owner.CLUSTER else Standing(now, why)
    return Standing(now, exists=line is not None, wanted=wanted or Owner.AUTO)


async def _settings_of(cluster: Cluster, group: str) -> tuple[str | None, bool]:
    """The group's own `gateway.owner`, None if it has none; and whether kcoord serves consumer groups. For a client
    that may not see the settings: none, and no.
    """
    try:
        settings = {each.name: each for each in await config_calls.describe(cluster, group)}
    except ClientError:
        return None, False
    owner = settings.get(OWNER)
    return owner.value if owner is not None and owner.is_own else None, config_calls.serves_consumers(settings)


def _no_such_group(group: str, owner: Owner | None = None) -> str:
    """That nothing is set for a group that does not exist. `owner`: who can be set to have it."""
    beforehand = f". To set it beforehand: kcoord config set {group} {OWNER}={owner}" if owner else ""
    return f"there is no such group, neither at kcoord nor at the cluster, so nothing is set{beforehand}"


def _of_another_type(line: GroupLine, owner: Owner, serves: bool) -> str:
    """For a group that kcoord does not have: why `owner` cannot have it, or has it, by its type. Empty: its type does
    not decide that. `serves`: whether kcoord serves consumer groups.
    """
    kind, is_empty = line.type.lower(), line.state == EMPTY
    if kind in KCOORDS_TYPES or (kind == CONSUMER_TYPE and is_empty and (serves or owner == Owner.CLUSTER)):
        return ""
    if owner == Owner.CLUSTER:
        speak = ", and its consumers speak the new protocol" if kind == CONSUMER_TYPE else ""
        return f"nothing to do: it is a {kind} group of the cluster already{speak}"
    if kind == CONSUMER_TYPE and serves:
        return (
            "its consumers speak the new protocol and are members at the cluster, and kcoord adopts classic groups "
            "only. kcoord can have it once they have all stopped"
        )
    return f"it is a {kind} group of the cluster, and kcoord coordinates classic and connect groups only"


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


async def _tell_why(cluster: Cluster, each: Handover, tell: Tell) -> None:
    """Tell why a group has not been handed over in time. Raises ClientError."""
    now = await _owner(cluster, each.group)
    for line in now.lines():
        tell(f"{each.group}: {line}")
    if each.owner == Owner.CLUSTER and now.by == KCOORD:
        [found] = await describe(cluster, [each.group])
        tell(f"{each.group}: {_waited_for(found) or _not_come_yet(found)}")


def _not_come_yet(found: Described) -> str:
    """That a release goes on, and for whom it waits."""
    members = found.members if isinstance(found, DescribedClassicGroup) else found.workers
    goes_on = "its release goes on, also without this command"
    if not members:
        return f"{goes_on}; no member is missing"
    named = _named([f"{each.client} ({each.host})" for each in members])
    whom = "its member has" if len(members) == 1 else f"all its {len(members)} members have"
    return (
        f"{goes_on}: kcoord waits until {whom} joined once more, at the cluster: {named}. A member that does not come "
        "holds it up until its session ends or the rebalance is over"
    )


async def plan(cluster: Cluster, group: str, owner: Owner) -> list[str]:
    """Lines about what `hand_over` would do. Raises ClientError."""
    found = await _standing(cluster, group, owner)
    now = found.now
    if told := found.hindrance or found.is_so_already:
        return [f"{group}: {told}"]
    if now.is_nobodys:
        return [f"{group}: {_nobodys(owner, found.exists)}"]
    if _is_so(now, owner):
        to_do = WOULD_TAKE_BACK if found.is_in_release else f"nothing to do, coordinated by {now.told()}"
        return [f"{group}: {to_do}"]
    if owner == Owner.KCOORD:
        return [f"{group}: {line}" for line in now.lines()] or [f"{group}: {UNSAID}"]
    return [f"{group}: {line}" for line in _release_plan((await describe(cluster, [group]))[0], found.is_in_release)]


def _release_plan(found: Described, is_in_release: bool) -> list[str]:
    """Lines about a release of a group that kcoord has."""
    waits = [UNDER_WAY] if is_in_release else []
    waits += [told for told in [_waited_for(found)] if told]
    count = _joining(found)
    if not count:
        return waits or [_nobodys(Owner.CLUSTER)]
    joins = f"{count} member{'' if count == 1 else 's'} would join once more, at the cluster. {_cost(found)}"
    return [joins, *waits]


def _joining(found: Described) -> int:
    """How many members would join at the cluster."""
    if isinstance(found, DescribedClassicGroup):
        return len(found.members)
    return sum(each.state != PUT_OUT for each in found.workers)


def _nobodys(owner: Owner, exists: bool = True) -> str:
    if exists:
        return f"it has no members; {WHOSE[owner]} has it as soon as one joins"
    return f"there is no such group now; {WHOSE[owner]} has it as soon as it begins"


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
