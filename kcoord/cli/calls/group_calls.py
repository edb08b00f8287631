"""The requests of `kcoord groups`.

Every broker lists the groups that it coordinates. A group is described and deleted at its coordinator. If that serves
connect groups, it is first asked whether the group is one.
"""

import asyncio
from typing import Any

import attrs

from kcoord.cli.calls.connect_groups import (
    NO_REPEATS,
    ClassicPart,
    ConnectGroup,
    Repeats,
    address_of,
    describe_connect_group,
)
from kcoord.cli.calls.consumer_groups import ConsumerGroup, describe_consumer_group
from kcoord.cli.calls.group_ownership import (
    AT_THIS_KCOORD,
    CLUSTER,
    KCOORD,
    UNKNOWN,
    Ownership,
    check_is_kcoords,
    owners,
    tells_owners,
)
from kcoord.cli.output.assignments import assignment_text
from kcoord.client import Broker, ClientError, Cluster
from kcoord.client.connection import error_name
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.messages import (
    DeleteGroupsRequest,
    DeleteGroupsResponse,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
    ListGroupsRequest,
    ListGroupsResponse,
)


@attrs.frozen
class GroupLine:
    """One group of a list."""

    group: str
    type: str
    protocol_type: str
    state: str
    coordinator: str

    def as_json(self) -> dict[str, Any]:
        return attrs.asdict(self)


@attrs.frozen
class OwnedGroup:
    """A group of a list, and who coordinates it."""

    line: GroupLine
    ownership: Ownership
    is_told: bool = True
    """Whether its server says who coordinates groups."""

    def as_json(self) -> dict[str, Any]:
        return self.line.as_json() | self.ownership.as_json()


@attrs.frozen
class DescribedMember:
    """One member of a described group."""

    member: str
    instance: str | None
    client: str
    host: str
    assignment: str

    def as_json(self) -> dict[str, Any]:
        return attrs.asdict(self)


@attrs.frozen
class DescribedClassicGroup:
    """A group of the classic protocol; `exists` is False for a group that its coordinator does not know."""

    group: str
    exists: bool
    state: str
    protocol_type: str
    protocol: str
    coordinator: str
    members: list[DescribedMember]
    note: str = ""
    """Why the group does not exist; or, for a group in quarantine, that it is in quarantine."""
    classic: ClassicPart | None = None
    """For a group of Connect workers at kcoord: why they all join together."""
    repeats: Repeats = NO_REPEATS
    ownership: Ownership = UNKNOWN

    def as_json(self) -> dict[str, Any]:
        first = {"group": self.group, "exists": self.exists, "type": "classic" if self.exists else None}
        told = {**first, **attrs.asdict(self), **self.ownership.as_json()}
        del told["ownership"]
        told["legacy"] = told["classic"]
        ways = self.ownership.ways()
        for each in told["members"]:
            each["connects"] = ways.get(each["member"])
        return told


@attrs.frozen
class Deletion:
    """The result of deleting one group, as one line."""

    text: str
    failed: bool


async def list_all(cluster: Cluster, states: list[str], types: list[str]) -> list[GroupLine]:
    """The groups of all brokers, sorted by name. Raises ClientError."""
    request = ListGroupsRequest(states_filter=states, types_filter=types)

    async def of(broker: Broker) -> list[GroupLine]:
        connection = await cluster.to(broker)
        response = await connection.send(request, ListGroupsResponse)
        if response.error_code:
            raise _refused(broker, "does not list its groups", response.error_code)
        return [
            GroupLine(each.group_id, each.group_type, each.protocol_type, each.group_state, address_of(broker))
            for each in response.groups
        ]

    lists = await asyncio.gather(*map(of, await cluster.brokers()))
    return sorted((line for lines in lists for line in lines), key=lambda line: line.group)


async def list_owned(cluster: Cluster, states: list[str], types: list[str]) -> list[OwnedGroup]:
    """As `list_all`, each with who coordinates it, as far as the brokers say so. Raises ClientError."""
    lines = await list_all(cluster, states, types)

    async def of(broker: Broker) -> list[OwnedGroup]:
        there = [each for each in lines if each.coordinator == address_of(broker)]
        connection = await cluster.to(broker)
        if not tells_owners(connection):
            return [OwnedGroup(each, UNKNOWN, is_told=False) for each in there]
        found = await owners(connection, [each.group for each in there if _may_be_anybodys(each)])
        others = CLUSTER if connection.keeps_data else KCOORD
        return [OwnedGroup(each, _owner_of(each, found.get(each.group), others)) for each in there]

    owned = await asyncio.gather(*map(of, await cluster.brokers()))
    return sorted((each for some in owned for each in some), key=lambda each: each.line.group)


def _may_be_anybodys(line: GroupLine) -> bool:
    """Whether its type does not say who coordinates it. Connect groups with members are not asked about: descriptions
    of them are long.
    """
    return line.type.lower() in ("classic", CONSUMER, "") or (line.type.lower() == CONNECT and line.state == "Empty")


def _owner_of(line: GroupLine, told: Ownership | None, others: str) -> Ownership:
    """The ownership of a group. `told`: what the server says; None: it was not asked, or does not say. `others`: who
    coordinates the groups of other types than connect that kcoord does not have.

    A consumer group of the cluster is nobody's to kcoord, which sees no members of it.
    """
    kind = line.type.lower()
    if kind == CONSUMER and told is not None:
        return Ownership(others) if told.is_nobodys else told
    if told is not None or kind in ("classic", ""):
        return told or UNKNOWN
    return AT_THIS_KCOORD if kind == CONNECT else Ownership(others)


Described = DescribedClassicGroup | ConnectGroup | ConsumerGroup


async def describe(cluster: Cluster, groups: list[str]) -> list[Described]:
    """Each group as its coordinator describes it. Raises ClientError."""
    return [await _describe(cluster, group) for group in groups]


async def _describe(cluster: Cluster, group: str) -> Described:
    broker = await cluster.coordinator(group)
    found = await describe_connect_group(cluster, broker, group)
    if isinstance(found, ConnectGroup):
        return found
    consumers = await describe_consumer_group(cluster, broker, group)
    if consumers is not None:
        return attrs.evolve(consumers, ownership=found.ownership)
    classic = await _describe_classic(cluster, broker, group)
    return attrs.evolve(classic, classic=found.classic, repeats=found.repeats, ownership=found.ownership)


async def history_of(cluster: Cluster, group: str) -> ConnectGroup | ConsumerGroup:
    """A group with its history. Raises ClientError, also if the group has none."""
    broker = await cluster.coordinator(group)
    consumers = await describe_consumer_group(cluster, broker, group)
    if consumers is None:
        who, enabled = "connect groups and consumer groups of the new protocol", "group.connect.enable"
        return await connect_group(cluster, group, f"only a kcoord with {enabled} can explain a group", HISTORY, who)
    if not consumers.has_history:
        raise ClientError(
            f"{consumers.coordinator} keeps no history of {group}: only kcoord keeps one, of the groups that it "
            "coordinates"
        )
    return consumers


async def connect_group(
    cluster: Cluster, group: str, not_served: str, what: str, who: str = "connect groups"
) -> ConnectGroup:
    """A connect group. Raises ClientError, also if the group is not one: it then says that the group lacks `what`, and
    `who` has it.
    """
    broker = await cluster.coordinator(group)
    found = await describe_connect_group(cluster, broker, group)
    if isinstance(found, ConnectGroup):
        return found
    if not found.served:
        raise ClientError(f"{found.why}: {not_served}")
    if (classic := await _describe_classic(cluster, broker, group)).exists:
        check_is_kcoords(found.ownership, group)
        kind = classic.protocol_type or "classic"
        why = f" ({found.classic.barrier})" if found.classic is not None and found.classic.barrier else ""
        raise ClientError(
            f"{group} is a group of the classic protocol ({kind}): only {who} have {what}{why}"
            + (how_to_be_individual(group, found.classic) if what == RULES else "")
        )
    if await describe_consumer_group(cluster, broker, group) is not None:
        raise ClientError(f"{group} is a consumer group: only {who} have {what}")
    raise ClientError(f"{group}: there is no such group")


def how_to_be_individual(group: str, classic: ClassicPart | None) -> str:
    """What to set so that workers that all join together are managed one by one. Empty if no setting does that."""
    if classic is None or classic.barrier is None:
        return ""
    if classic.mode == "barrier":
        return f". Let kcoord manage them one by one: kcoord config set {group} connect.classic.mode=individual"
    if any(each in classic.barrier for each in _ONLY_DEFAULT):
        return ". Set connect.protocol=sessioned in the configuration of such workers, and restart them"
    return ""


_ONLY_DEFAULT = ("only the embedded protocol default", "no embedded protocol but default")
"""What the coordinator's reason for a barrier says if some worker has connect.protocol=eager."""


async def _describe_classic(cluster: Cluster, broker: Broker, group: str) -> DescribedClassicGroup:
    connection = await cluster.to(broker)
    response = await connection.send(DescribeGroupsRequest(groups=[group]), DescribeGroupsResponse)
    for each in response.groups:
        if each.error_code not in (ErrorCode.NONE, ErrorCode.GROUP_ID_NOT_FOUND):
            raise _refused(broker, f"does not describe {group}", each.error_code)
        exists = not each.error_code and each.group_state != "Dead"
        return DescribedClassicGroup(
            group,
            exists,
            each.group_state,
            each.protocol_type,
            each.protocol_data,
            address_of(broker),
            [
                DescribedMember(
                    member.member_id,
                    member.group_instance_id,
                    member.client_id,
                    member.client_host.removeprefix("/"),
                    assignment_text(each.protocol_type, bytes(member.member_assignment), bytes(member.member_metadata)),
                )
                for member in sorted(each.members, key=lambda member: member.member_id)
            ],
            each.error_message or ("" if exists else "there is no such group, or it is not a classic group"),
        )
    raise _refused(broker, f"says nothing of {group}", ErrorCode.UNKNOWN_SERVER_ERROR)


async def delete(cluster: Cluster, groups: list[str]) -> list[Deletion]:
    """Delete each group at its coordinator. Raises ClientError."""
    return [await _delete(cluster, group) for group in groups]


async def _delete(cluster: Cluster, group: str) -> Deletion:
    broker = await cluster.coordinator(group)
    connection = await cluster.to(broker)
    response = await connection.send(DeleteGroupsRequest(groups_names=[group]), DeleteGroupsResponse)
    (code,) = [each.error_code for each in response.results if each.group_id == group]
    if not code:
        return Deletion(f"{group}: deleted", failed=False)
    return Deletion(f"{group}: not deleted: {_WHY_NOT.get(code) or error_name(code)}", failed=True)


CONNECT, CONSUMER = "connect", "consumer"
"""The type of groups that only kcoord has; and the type of consumer groups of the new protocol."""
RULES, HISTORY, CONFIGURED = "placement rules", "a history", "a configured set"
"""Values for `what` in `connect_group`."""
_WHY_NOT: dict[int, str] = {
    ErrorCode.NON_EMPTY_GROUP: "it has members; stop them first",
    ErrorCode.GROUP_ID_NOT_FOUND: "there is no such group",
    ErrorCode.GROUP_AUTHORIZATION_FAILED: "you are not allowed to",
}


def _refused(broker: Broker, what: str, code: int) -> ClientError:
    return ClientError(f"{address_of(broker)} {what}: {_WHY_NOT.get(code) or error_name(code)}")
