"""The ownership of a group: whether kcoord or the cluster behind it coordinates it, and which members keep it there.

kcoord says so when it is asked to describe a group as a connect group and the group is not one
(`kcoord/group_owner_words.py`). Kafka's brokers do not know that request, so the ownership of their groups is unknown.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import attrs

from kcoord.client import ClientError
from kcoord.client.connection import Connection
from kcoord.group_owner_words import AT_CLUSTER, AT_KCOORD, DIRECT, ELSEWHERE, THROUGH_INSTANCE, THROUGH_KCOORD
from kcoord.protocol.errors import ErrorCode
from kcoord.protocol.generated import connect_group_describe_response as wire
from kcoord.protocol.messages import ConnectGroupDescribeRequest, ConnectGroupDescribeResponse

KCOORD, CLUSTER = "kcoord", "cluster"
WAYS = {
    THROUGH_KCOORD: "through kcoord",
    DIRECT: "directly",
    THROUGH_INSTANCE: "through this instance",
    ELSEWHERE: "elsewhere",
}
"""The way by which a member of a group at the cluster connects."""
NAMED = 20
"""How many members a line names. The table of members has all of them."""
_AT_ONCE = 50
"""How many groups one request names."""


@attrs.frozen
class Ownership:
    """Who coordinates a group."""

    by: str | None = None
    """`kcoord` or `cluster`. None: the server that was asked does not say, or nobody coordinates the group yet."""
    why: str = ""
    """For a group at the cluster: the reason, in kcoord's words."""
    members: tuple[wire.Member, ...] = ()
    """The members of a group at the cluster. Empty if kcoord would not take the group in any case."""
    is_nobodys: bool = False
    """Whether the server says that the group has no members and that nobody coordinates it yet."""

    @property
    def direct(self) -> list[wire.Member]:
        """The members that do not come through the kcoord that was asked."""
        return [each for each in self.members if each.state in (DIRECT, ELSEWHERE)]

    @property
    def is_of_instance(self) -> bool:
        """Whether this is one instance's own view of several: a `direct` member may come through another instance."""
        return any(each.state in (THROUGH_INSTANCE, ELSEWHERE) for each in self.members)

    @property
    def through(self) -> int:
        """How many members come through the kcoord that was asked."""
        return len(self.members) - len(self.direct)

    def told(self) -> str:
        """The ownership in a few words, for people."""
        if self.by != CLUSTER:
            return self.by or "-"
        if not self.members:
            return "the cluster"
        verb = "comes" if self.through == 1 else "come"
        way = "this instance of kcoord" if self.is_of_instance else "kcoord"
        return f"the cluster, {self.through} of {len(self.members)} members {verb} through {way}"

    def lines(self) -> Iterator[str]:
        """For a group at the cluster, lines for people: the reason, and the members that keep it there."""
        if self.by != CLUSTER:
            return
        yield self.why
        if direct := self.direct:
            named = [f"{each.client_id} ({each.client_host.removeprefix('/')})" for each in direct[:NAMED]]
            more = f" and {len(direct) - NAMED} more" if len(direct) > NAMED else ""
            others = " or through another instance" if self.is_of_instance else ""
            yield f"connected directly{others}: {', '.join(named)}{more}"

    def ways(self) -> dict[str, str]:
        """How each member connects, by member id, as far as that is known."""
        return {each.member_id: WAYS.get(each.state, each.state) for each in self.members}

    def as_json(self) -> dict[str, Any]:
        """The ownership for programs, to merge into the group's JSON."""
        is_counted = bool(self.members)
        return {
            "coordinated_by": self.by,
            "members_through_kcoord": self.through if is_counted else None,
            "direct_members": len(self.direct) if is_counted else None,
            "counted_by_one_instance": self.is_of_instance if is_counted else None,
        }


UNKNOWN = Ownership()
NOBODYS = Ownership(is_nobodys=True)
AT_THIS_KCOORD = Ownership(KCOORD)


def tells_owners(connection: Connection) -> bool:
    """Whether the server can say who coordinates a group."""
    return connection.serves(ConnectGroupDescribeRequest)


def owner_of(told: wire.DescribedGroup, connection: Connection) -> Ownership:
    """The ownership of the group that `told`, a response on `connection`, describes."""
    if told.error_code == ErrorCode.NONE or told.group_state == AT_KCOORD:
        return AT_THIS_KCOORD
    if told.group_state == AT_CLUSTER:
        return Ownership(CLUSTER, told.error_message or "", tuple(told.members))
    if told.error_code != ErrorCode.GROUP_ID_NOT_FOUND:
        return UNKNOWN
    return NOBODYS if connection.keeps_data else AT_THIS_KCOORD


async def owners(connection: Connection, groups: Sequence[str]) -> dict[str, Ownership]:
    """Who coordinates these groups, as far as the server says. Raises ClientError."""
    found: dict[str, Ownership] = {}
    for at in range(0, len(groups), _AT_ONCE):
        request = ConnectGroupDescribeRequest(group_ids=[*groups[at : at + _AT_ONCE]])
        response = await connection.send(request, ConnectGroupDescribeResponse)
        found |= {each.group_id: owner_of(each, connection) for each in response.groups}
    return found


def no_effect(ownership: Ownership, group: str) -> str:
    """A line: settings of kcoord's that were set for a group at the cluster have no effect now, and why."""
    return f"{group}: no effect now; kcoord keeps the setting until it has the group: {ownership.why}"


def check_is_kcoords(ownership: Ownership, group: str) -> None:
    """Raises ClientError with the reason if the cluster has the group."""
    if ownership.by == CLUSTER:
        raise ClientError(f"{group}: {ownership.why}")
